//! Crash dumps: registers, fault status in words, and a backtrace with function names.

use std::fmt;

use unicorn_engine::RegisterARM as R;

use crate::cpu::Cpu;
use crate::cpu::unwind::{Call, backtrace};
use crate::elf::Program;
use crate::time::to_secs;

#[derive(Clone, Debug, serde::Serialize)]
pub struct Crash {
    pub at_s: f64,
    /// Fault exception number; 0 = lock-up.
    pub exception: u32,
    /// R0–R12, SP, LR, PC.
    pub registers: [u32; 16],
    pub xpsr: u32,
    pub cfsr: u32,
    pub hfsr: u32,
    pub bfar: u32,
    pub mmfar: u32,
    pub calls: Vec<Call>,
}

/// Bits of CFSR in words.
const CAUSES: [(u32, &str); 9] = [
    (0, "instruction fetch from a forbidden region"),
    (1, "data access to a forbidden region"),
    (8, "instruction bus error"),
    (9, "precise data bus error"),
    (10, "imprecise data bus error"),
    (16, "undefined instruction"),
    (17, "invalid state"),
    (18, "invalid EXC_RETURN"),
    (25, "division by zero"),
];

impl Crash {
    pub fn record(cpu: &Cpu, program: &Program, exception: u32) -> Crash {
        let registers = cpu.registers();
        let chip = cpu.chip();
        Crash {
            at_s: to_secs(chip.now),
            exception,
            registers,
            xpsr: cpu.reg(R::XPSR),
            cfsr: chip.scb.cfsr,
            hfsr: chip.scb.hfsr,
            bfar: chip.scb.bfar,
            mmfar: chip.scb.mmfar,
            calls: backtrace(program, registers, |a| cpu.read_word(a)),
        }
    }

    /// The fault in words.
    pub fn cause(&self) -> String {
        let mut text: Vec<String> = CAUSES
            .iter()
            .filter(|c| self.cfsr >> c.0 & 1 != 0)
            .map(|c| c.1.to_string())
            .collect();
        if self.cfsr >> 15 & 1 != 0 {
            text.push(format!("address {:#010x}", self.bfar));
        }
        if self.cfsr >> 7 & 1 != 0 {
            text.push(format!("address {:#010x}", self.mmfar));
        }
        if text.is_empty() {
            text.push("no fault status".into());
        }
        text.join(", ")
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "fault at {:.6} s: {}", self.at_s, self.cause())?;
        const NAMES: [&str; 16] = [
            "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp",
            "lr", "pc",
        ];
        for (i, (name, v)) in NAMES.iter().zip(self.registers).enumerate() {
            write!(
                f,
                "  {name:>4} {v:08x}{}",
                if i % 4 == 3 { "\n" } else { "" }
            )?;
        }
        writeln!(
            f,
            "  xpsr {:08x}  cfsr {:08x}  hfsr {:08x}",
            self.xpsr, self.cfsr, self.hfsr
        )?;
        for (i, c) in self.calls.iter().enumerate() {
            let how = if c.interrupted && i > 0 {
                " (interrupted)"
            } else {
                ""
            };
            writeln!(f, "  #{i:<2} {:08x} {}{how}", c.pc, c.function)?;
        }
        Ok(())
    }
}
