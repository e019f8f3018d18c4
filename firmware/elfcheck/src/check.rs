//! The rules of the tick and of the program, each checked on the machine code.
//!
//! | rule                                                | where       |
//! |-----------------------------------------------------|-------------|
//! | no fused multiply-add (its bits differ from x86-64) | everywhere  |
//! | no panic, no formatting, no log                     | in the tick |
//! | no f64 arithmetic, no soft-float call               | in the tick |
//! | no interrupt masking (no critical section)          | in the tick |
//! | no indirect call: the call graph is complete        | in the tick |
//! | no recursion: the stack is bounded                  | in the tick |
//! | runs from ITCM, but for what memory.x names as cold | in the tick |
//! | no constant in flash                                | in the tick |
//! | flash ≤ 320 KiB, RAM with stack ≤ 112 KiB           | program     |
//! | worst-case stack ≤ what memory.x reserves           | program     |
//!
//! "In the tick" means every function reachable from the interrupt handler; for the last two of the tick, without those
//! that are reached through cold ones only.

use std::collections::BTreeMap;

use crate::program::{Function, Place, Program, Sizes};
use crate::stack::{Reach, Stack, Total};
use crate::thumb::Op;

/// Handler of the tick timer's interrupt.
pub const TICK: &str = "TIM7";
pub const FLASH_LIMIT: u32 = 320 * 1024;
pub const RAM_LIMIT: u32 = 112 * 1024;
/// Room for code in ITCM, by memory.x.
pub const HOT_LIMIT: u32 = 63 * 1024;
const FLASH: std::ops::Range<u32> = 0x0800_0000..0x0820_0000;

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
        Some(root) => {
            tick(program, root, &mut found);
            placement(program, root, &mut found);
        }
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

/// What a tick executes without leaving ITCM through a cold function, each with the function it was reached from.
fn every_tick(program: &Program, root: u32) -> BTreeMap<u32, Option<u32>> {
    program.reachable(root, |f| f.place == Place::Cold || forbidden(f).is_some())
}

/// Cold functions that the tick can call, by name.
pub fn cold(program: &Program) -> Vec<&str> {
    let root = program.find(TICK);
    let reached = root.map_or_else(BTreeMap::new, |root| every_tick(program, root));
    let functions = reached.keys().map(|at| &program.functions[at]);
    let cold = functions.filter(|f| f.place == Place::Cold);
    cold.map(|f| f.name.as_str()).collect()
}

fn placement(program: &Program, root: u32, found: &mut Vec<String>) {
    let from = every_tick(program, root);
    for &address in from.keys() {
        let function = &program.functions[&address];
        if function.place == Place::Cold || forbidden(function).is_some() {
            continue;
        }
        if function.place == Place::Flash {
            let way = path(program, &from, address);
            found.push(format!(
                "runs from flash, at {address:#010x}: {way} (place it in memory.x, .hot or .cold)"
            ));
        }
        for word in &function.words {
            let code = program.functions.contains_key(&(word & !1));
            if FLASH.contains(word) && !code {
                let way = path(program, &from, address);
                found.push(format!("constant in flash, at {word:#010x}, used in {way}"));
            }
        }
    }
}

fn limits(sizes: &Sizes, stack: u32, found: &mut Vec<String>) {
    for (what, used, limit) in [
        ("flash", sizes.flash(), FLASH_LIMIT),
        ("RAM", sizes.ram(), RAM_LIMIT),
        ("ITCM", sizes.hot, HOT_LIMIT),
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
            let mut function = read_function(name, start, code, &BTreeMap::new());
            function.place = Place::Hot;
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

    /// movw r12, #0x1201; movt r12, #0; bx r12: to the third function.
    const THUNK: [u8; 10] = [0x41, 0xF2, 0x01, 0x2C, 0xC0, 0xF2, 0x00, 0x0C, 0x60, 0x47];

    #[test]
    fn the_tick_runs_from_itcm_but_for_what_is_named_cold() {
        let mut p = program(&[
            ("TIM7", &CALL_NEXT),
            ("__Thumbv7ABSLongThunk_begin", &THUNK),
            ("begin", &CALL_NEXT),
            ("helper", &RETURN),
        ]);
        for start in [0x1200, 0x1300] {
            p.functions.get_mut(&start).unwrap().place = Place::Flash;
        }
        let found = violations(&p);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("TIM7 → way to begin → begin (place"),
            "{found:?}"
        );
        p.functions.get_mut(&0x1200).unwrap().place = Place::Cold;
        assert_eq!(violations(&p), Vec::<String>::new());
        assert_eq!(cold(&p), ["begin"]);
    }

    #[test]
    fn a_constant_in_flash_is_found() {
        // movw r0, #0x5678; movt r0, #0x0801; bx lr
        let code = [0x45, 0xF2, 0x78, 0x60, 0xC0, 0xF6, 0x01, 0x00, 0x70, 0x47];
        let found = violations(&program(&[("TIM7", &code)]));
        assert_eq!(found, ["constant in flash, at 0x08015678, used in TIM7"]);
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
