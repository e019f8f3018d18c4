//! `cargo elfcheck [--all] [ELF]`: does the firmware's machine code keep the promises about the tick?
//!
//! `--all`: print the stack of every function, not only of those in the tick.
//!
//! Prints memory use and worst-case stack, then every broken promise. Needs no board, emulator or
//! disassembler. Exit code 0: all kept; 1: some broken (listed on stderr); 2: the file cannot be read.
//!
//! ```text
//! $ cargo fw && cargo elfcheck
//! flash  175876 of 262144 bytes: code 164536, constants 664, copied to RAM 10676
//! RAM     83932 of 114688 bytes: static 59356, stack 24576
//! ITCM    54208 of 64512 bytes; from flash, and not every tick: …::configure, …::begin, …::bridge
//! stack   14744 of 24576 bytes: tick 2988 (exact), other interrupts 3112, thread 8644 (bound; …)
//! …
//! all promises kept (34 functions in the tick, 198 in all)
//! ```

mod check;
mod program;
mod stack;
mod thumb;

use std::path::PathBuf;
use std::process::ExitCode;

use program::Program;
use stack::{Reach, Stack, Total};

const DEFAULT: &str = "target/thumbv7em-none-eabihf/firmware/stribeck-firmware";

fn main() -> ExitCode {
    let (options, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with('-'));
    let all = options.iter().any(|o| o == "--all");
    if paths.len() > 1 || options.iter().any(|o| o != "--all") {
        eprintln!("usage: cargo elfcheck [--all] [ELF]");
        return ExitCode::from(2);
    }
    let path = paths.first().map_or(DEFAULT.into(), PathBuf::from);
    let program = match Program::read(&path) {
        Ok(program) => program,
        Err(error) => {
            eprintln!("elfcheck: {error:#}");
            return ExitCode::from(2);
        }
    };
    print_sizes(&program);
    print_stack(&program, all);
    let found = check::violations(&program);
    for violation in &found {
        eprintln!("elfcheck: {violation}");
    }
    if found.is_empty() {
        let tick = program
            .find(check::TICK)
            .map_or(0, |root| program.reachable(root, |_| false).len());
        println!(
            "all promises kept ({tick} functions in the tick, {} in all)",
            program.functions.len()
        );
        ExitCode::SUCCESS
    } else {
        eprintln!("elfcheck: {} broken promises", found.len());
        ExitCode::FAILURE
    }
}

fn print_sizes(program: &Program) {
    let s = &program.sizes;
    println!(
        "flash {:>7} of {} bytes: code {}, constants {}, copied to RAM {}",
        s.flash(),
        check::FLASH_LIMIT,
        s.code,
        s.constants,
        s.data
    );
    println!(
        "RAM   {:>7} of {} bytes: static {}, stack {}",
        s.ram(),
        check::RAM_LIMIT,
        s.data + s.bss,
        s.stack
    );
    println!(
        "ITCM  {:>7} of {} bytes; from flash, and not every tick: {}",
        s.hot,
        check::HOT_LIMIT,
        check::cold(program).join(", ")
    );
}

fn print_stack(program: &Program, all: bool) {
    let stack = Stack::new(program);
    let total = Total::of(program, check::TICK);
    println!(
        "stack {:>7} of {} bytes: tick {} (exact), other interrupts {}, thread {} (bound; assumption in elfcheck/src/stack.rs)",
        total.bytes(),
        program.sizes.stack,
        total.tick,
        total.interrupts,
        total.thread
    );
    for name in total.recursive {
        println!("stack: counted once although it calls itself: {name}");
    }
    let listed: Vec<u32> = match program.find(check::TICK) {
        Some(root) if !all => program
            .reachable(root, |f| check::forbidden(f).is_some())
            .into_keys()
            .collect(),
        _ => program.functions.keys().copied().collect(),
    };
    let mut rows: Vec<(u32, u32, &str)> = listed
        .iter()
        .map(|at| {
            let function = &program.functions[at];
            let deepest = stack.deepest(*at, Reach::Nothing).bytes;
            (deepest, function.frame, function.name.as_str())
        })
        .collect();
    rows.sort_by(|a, b| b.cmp(a));
    let which = if all { "all" } else { "in the tick" };
    println!("stack of functions ({which}) (bytes), with direct calls and alone:");
    for (deepest, own, name) in rows {
        println!("  {deepest:>7} {own:>7}  {name}");
    }
}
