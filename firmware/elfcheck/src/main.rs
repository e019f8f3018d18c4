//! `cargo elfcheck [ELF]`: does the firmware's machine code keep the promises about the tick?
//!
//! Prints memory use and worst-case stack, then every broken promise. Needs no board, emulator or
//! disassembler. Exit code 0: all kept; 1: some broken (listed on stderr); 2: the file cannot be read.
//!
//! ```text
//! $ cargo fw && cargo elfcheck
//! flash      174288 of 262144 bytes   code 164064, constants 9908, data 316
//! …
//! ```

mod check;
mod program;
mod stack;
mod thumb;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use program::Program;
use stack::{Depth, Stack};

const DEFAULT: &str = "target/thumbv7em-none-eabihf/firmware/stribeck-firmware";
/// Exception frame with FPU registers and alignment [bytes].
const EXCEPTION: u32 = 104 + 4;
/// Nested indirect calls assumed for code outside the tick: task poll, then a driver or formatter.
const LEVELS: u32 = 2;
/// Interrupts that can be active at once, one per priority, besides the tick.
const INTERRUPTS: [&str; 2] = ["TIM3", "OTG_FS"];

fn main() -> ExitCode {
    let path = std::env::args()
        .nth(1)
        .map_or(DEFAULT.into(), PathBuf::from);
    let program = match Program::read(&path) {
        Ok(program) => program,
        Err(error) => {
            eprintln!("elfcheck: {error:#}");
            return ExitCode::from(2);
        }
    };
    print_sizes(&program);
    print_stack(&program);
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
        "flash {:>7} of {} bytes: code {}, constants {}, initial data {}",
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
}

fn print_stack(program: &Program) {
    let stack = Stack::new(program);
    let mut recursive = BTreeSet::new();
    let mut deepest = |name: &str, levels: u32| {
        let depth = program
            .find(name)
            .map_or(Depth::default(), |root| stack.deepest(root, levels));
        recursive.extend(depth.recursive);
        depth.bytes
    };
    let tick = deepest(check::TICK, 0);
    let thread = deepest("main", LEVELS);
    let others: u32 = INTERRUPTS
        .iter()
        .map(|i| deepest(i, LEVELS) + EXCEPTION)
        .sum();
    println!(
        "stack, worst case: tick {tick} + {EXCEPTION} (exact), other interrupts {others}, thread {thread}"
    );
    println!(
        "stack, all at once: {} of {} bytes ({LEVELS} levels of indirect calls assumed outside the tick)",
        tick + EXCEPTION + others + thread,
        program.sizes.stack
    );
    for name in recursive {
        println!("stack: counted once although it calls itself: {name}");
    }
    if let Some(root) = program.find(check::TICK) {
        println!("stack of the tick, function by function:");
        let mut rows: Vec<(u32, u32, &str)> = program
            .reachable(root, |f| check::forbidden(f).is_some())
            .keys()
            .map(|&at| {
                let function = &program.functions[&at];
                let total = stack.deepest(at, 0).bytes;
                (total, function.frame, function.name.as_str())
            })
            .collect();
        rows.sort_by(|a, b| b.cmp(a));
        println!("  {:>7} {:>7}  function", "deepest", "own");
        for (total, own, name) in rows {
            println!("  {total:>7} {own:>7}  {name}");
        }
    }
}
