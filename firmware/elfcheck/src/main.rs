//! `cargo elfcheck [--all] [ELF]`: does the firmware's machine code keep the rules of the tick?
//!
//! `--all`: print the stack of every function, not only of those in the tick.
//!
//! Prints memory use and worst-case stack, then every broken rule. Needs no board, emulator or
//! disassembler. Exit code 0: all kept; 1: some broken (listed on stderr); 2: the file cannot be read, or the result
//! not be written. A reader that has seen enough (`cargo elfcheck | head`) changes nothing.
//!
//! ```text
//! $ cargo fw && cargo elfcheck
//! flash  264110 of 327680 bytes: code 234766, constants 664, copied to RAM 28680
//! RAM    107992 of 114688 bytes: static 75224, stack 32768
//! ITCM    61176 of 64512 bytes; from flash, and not every tick: …::configure, …::begin, …
//! stack   29716 of 32768 bytes: tick 2572 (exact), other interrupts 4704, thread 22440 (bound; …)
//! …
//! all rules kept (99 functions in the tick, 285 in all)
//! ```

mod check;
mod program;
mod stack;
mod thumb;

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
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
    let mut text = sizes(&program) + &stack_use(&program, all);
    let found = check::violations(&program);
    for violation in &found {
        eprintln!("elfcheck: {violation}");
    }
    if found.is_empty() {
        let tick = program
            .find(check::TICK)
            .map_or(0, |root| program.reachable(root, |_| false).len());
        let _ = writeln!(
            text,
            "all rules kept ({tick} functions in the tick, {} in all)",
            program.functions.len()
        );
    } else {
        eprintln!("elfcheck: {} broken rules", found.len());
    }
    if let Err(error) = show(&mut io::stdout().lock(), &text) {
        eprintln!("elfcheck: standard output: {error}");
        return ExitCode::from(2);
    }
    if found.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Writes the result; a closed pipe is a reader that has seen enough.
fn show(out: &mut impl Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Memory use, in lines.
fn sizes(program: &Program) -> String {
    let s = &program.sizes;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "flash {:>7} of {} bytes: code {}, constants {}, copied to RAM {}",
        s.flash(),
        check::FLASH_LIMIT,
        s.code,
        s.constants,
        s.data
    );
    let _ = writeln!(
        out,
        "RAM   {:>7} of {} bytes: static {}, stack {}",
        s.ram(),
        check::RAM_LIMIT,
        s.data + s.bss,
        s.stack
    );
    let _ = writeln!(
        out,
        "ITCM  {:>7} of {} bytes; from flash, and not every tick: {}",
        s.hot,
        check::HOT_LIMIT,
        check::cold(program).join(", ")
    );
    out
}

/// Worst-case stack in all and of functions, in lines.
fn stack_use(program: &Program, all: bool) -> String {
    let mut out = String::new();
    let stack = Stack::new(program);
    let total = Total::of(program, check::TICK);
    let _ = writeln!(
        out,
        "stack {:>7} of {} bytes: tick {} (exact), other interrupts {}, thread {} (bound; assumption in elfcheck/src/stack.rs)",
        total.bytes(),
        program.sizes.stack,
        total.tick,
        total.interrupts,
        total.thread
    );
    for name in total.recursive {
        let _ = writeln!(out, "stack: counted once although it calls itself: {name}");
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
    let _ = writeln!(
        out,
        "stack of functions ({which}) (bytes), with direct calls and alone:"
    );
    for (deepest, own, name) in rows {
        let _ = writeln!(out, "  {deepest:>7} {own:>7}  {name}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output that fails in one way.
    struct Fails(ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        assert!(show(&mut Fails(ErrorKind::BrokenPipe), "all").is_ok());
        assert!(show(&mut Fails(ErrorKind::StorageFull), "all").is_err());
        let mut written = Vec::new();
        assert!(show(&mut written, "all").is_ok());
        assert_eq!(written, b"all");
    }
}
