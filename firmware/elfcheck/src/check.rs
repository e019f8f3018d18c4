//! The promises, each checked on the machine code.
//!
//! | promise                                             | where       |
//! |-----------------------------------------------------|-------------|
//! | no fused multiply-add (its bits differ from x86-64) | everywhere  |
//! | no panic, no formatting, no log                     | in the tick |
//! | no f64 arithmetic, no soft-float call               | in the tick |
//! | no interrupt masking (no critical section)          | in the tick |
//! | no indirect call: the call graph is complete        | in the tick |
//! | no recursion: the stack is bounded                  | in the tick |
//! | flash ≤ 256 KiB, RAM with stack ≤ 64 KiB            | program     |
//! | worst-case stack ≤ what memory.x reserves           | program     |
//!
//! "In the tick" means every function reachable from the interrupt handler.

use std::collections::BTreeMap;

use crate::program::{Function, Program, Sizes};
use crate::stack::{Reach, Stack, Total};
use crate::thumb::Op;

/// Handler of the tick timer's interrupt.
pub const TICK: &str = "TIM7";
pub const FLASH_LIMIT: u32 = 256 * 1024;
pub const RAM_LIMIT: u32 = 64 * 1024;

/// Parts of names that must not be reachable from the tick, and what they are.
const FORBIDDEN: [(&str, &str); 9] = [
    ("core::panicking", "panic"),
    ("rust_begin_unwind", "panic"),
    ("unwrap_failed", "panic"),
    ("expect_failed", "panic"),
    ("core::slice::index", "panic"),
    ("core::fmt", "formatting"),
    ("defmt", "log"),
    ("__aeabi_d", "soft-float f64"),
    ("__aeabi_f2d", "soft-float f64"),
];

/// Everything wrong with the program, in words.
pub fn violations(program: &Program) -> Vec<String> {
    let mut found = Vec::new();
    for (address, function) in &program.functions {
        for (at, op) in &function.marked {
            if *op == Op::Fused {
                found.push(format!(
                    "fused multiply-add at {at:#010x} in {} ({address:#010x})",
                    function.name
                ));
            }
        }
    }
    match program.find(TICK) {
        Some(root) => tick(program, root, &mut found),
        None => found.push(format!("no function {TICK}: nothing to check")),
    }
    limits(&program.sizes, Total::of(program, TICK).bytes(), &mut found);
    found
}

/// What is wrong with being this function in the tick.
pub fn forbidden(function: &Function) -> Option<&'static str> {
    FORBIDDEN
        .iter()
        .find_map(|(part, what)| function.name.contains(part).then_some(*what))
}

fn tick(program: &Program, root: u32, found: &mut Vec<String>) {
    let from = program.reachable(root, |f| forbidden(f).is_some());
    for &address in from.keys() {
        let function = &program.functions[&address];
        let mut report = |what: String| {
            found.push(format!("{what}, in {}", path(program, &from, address)));
        };
        if forbidden(function).is_some() {
            continue;
        }
        for (callee, site) in &function.callees {
            match program.functions.get(callee) {
                Some(called) => {
                    if let Some(what) = forbidden(called) {
                        report(format!(
                            "{what} in the tick: {} called at {site:#010x}",
                            called.name
                        ));
                    }
                }
                None => report(format!("call at {site:#010x} to no known function")),
            }
        }
        for at in &function.indirect {
            report(format!("indirect call in the tick at {at:#010x}"));
        }
        for (at, op) in &function.marked {
            let what = match op {
                Op::Double => "f64 arithmetic",
                Op::Mask => "interrupt masking",
                Op::Trap => "abort",
                Op::StackDynamic => "stack of unknown size",
                _ => continue,
            };
            report(format!("{what} in the tick at {at:#010x}"));
        }
    }
    for name in Stack::new(program).deepest(root, Reach::Nothing).recursive {
        found.push(format!("recursion in the tick through {name}"));
    }
}

fn limits(sizes: &Sizes, stack: u32, found: &mut Vec<String>) {
    for (what, used, limit) in [
        ("flash", sizes.flash(), FLASH_LIMIT),
        ("RAM", sizes.ram(), RAM_LIMIT),
        ("stack", stack, sizes.stack),
    ] {
        if used > limit {
            found.push(format!("{what}: {used} bytes used, limit {limit}"));
        }
    }
}

/// "TIM7 → a → b".
fn path(program: &Program, from: &BTreeMap<u32, Option<u32>>, mut at: u32) -> String {
    let mut names = vec![program.functions[&at].name.as_str()];
    while let Some(Some(caller)) = from.get(&at) {
        at = *caller;
        names.push(&program.functions[&at].name);
    }
    names.reverse();
    names.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::read_function;
    use std::collections::BTreeMap;

    /// A program of functions at 0x1000, 0x1100, … with these instructions.
    fn program(functions: &[(&str, &[u8])]) -> Program {
        let mut program = Program::default();
        for (i, (name, code)) in functions.iter().enumerate() {
            let start = 0x1000 + 0x100 * i as u32;
            let function = read_function(name.to_string(), start, code, &BTreeMap::new());
            program.functions.insert(start, function);
        }
        program.sizes.stack = 1024;
        program
    }

    /// bl from offset 0 of one function to the next one.
    const CALL_NEXT: [u8; 6] = [0x00, 0xF0, 0x7E, 0xF8, 0x70, 0x47];
    const RETURN: [u8; 2] = [0x70, 0x47];

    #[test]
    fn a_clean_program_passes() {
        let p = program(&[("TIM7", &CALL_NEXT), ("step", &RETURN)]);
        assert_eq!(violations(&p), Vec::<String>::new());
    }

    #[test]
    fn a_panic_behind_a_call_is_found_with_its_path() {
        let p = program(&[
            ("TIM7", &CALL_NEXT),
            ("step", &CALL_NEXT),
            ("core::panicking::panic_fmt", &RETURN),
        ]);
        let found = violations(&p);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("core::panicking::panic_fmt called at 0x00001100, in TIM7 → step"),
            "{found:?}"
        );
    }

    #[test]
    fn a_panic_elsewhere_is_not_the_ticks_business() {
        let p = program(&[("TIM7", &RETURN), ("core::panicking::panic_fmt", &RETURN)]);
        assert!(violations(&p).is_empty());
    }

    #[test]
    fn each_forbidden_instruction_is_found() {
        let cases: [(&[u8], &str); 6] = [
            (&[0xA0, 0xEE, 0x81, 0x0A], "fused"),
            (&[0x31, 0xEE, 0x02, 0x0B], "f64"),
            (&[0x98, 0x47], "indirect"),
            (&[0x80, 0xF3, 0x11, 0x88], "masking"),
            (&[0xFE, 0xDE], "abort"),
            (&[0xFF, 0xF7, 0xFE, 0xFF], "recursion"),
        ];
        for (code, what) in cases {
            let found = violations(&program(&[("TIM7", code)]));
            assert!(found.iter().any(|f| f.contains(what)), "{what}: {found:?}");
        }
    }

    #[test]
    fn a_missing_tick_or_too_much_memory_is_a_violation() {
        assert!(violations(&Program::default())[0].contains("no function TIM7"));
        let mut p = program(&[("TIM7", &RETURN)]);
        p.sizes.bss = RAM_LIMIT + 1;
        assert!(violations(&p)[0].starts_with("RAM"));
        // push.w {r8-r11} and the exception frames of three interrupts need more than 64 bytes.
        let mut p = program(&[("TIM7", &[0x2D, 0xE9, 0x00, 0x0F, 0x70, 0x47])]);
        p.sizes.stack = 64;
        assert!(
            violations(&p)[0].starts_with("stack: 340 bytes"),
            "{:?}",
            violations(&p)
        );
    }
}
