//! DBGMCU: what the debug port keeps running (RM0433 §60.5.8), at 0x5C001000 for the processor and 0xE00E1000 for access port 2.
//!
//! Inputs: register writes of the program, and a debugger that attaches or detaches. Output: whether the processor's clock, and
//! with it the cycle counter, runs on in sleep. The register keeps its contents through every reset but power-on.
//!
//! A debugger sets these bits when it attaches and clears them when it detaches (probe-rs does both), whatever the program had
//! written: a program must not depend on them. The freeze bits of watchdog and timers take effect while a debugger halts the core
//! (`debug::halt`); those of other peripherals are stored. Not modelled: stop and standby modes, trace.

/// Clock of the processor in sleep.
const DBGSLEEP_D1: u32 = 1;
/// The bits a debugger sets and clears: sleep, stop and standby of D1, debug clocks of D1 and D3.
const BY_DEBUGGER: u32 = DBGSLEEP_D1 | 1 << 1 | 1 << 2 | 1 << 21 | 1 << 22;
/// Bits that exist in CR.
const CR_BITS: u32 = BY_DEBUGGER | 1 << 7 | 1 << 8 | 1 << 20 | 1 << 28;

/// Freeze registers: APB3FZ1, APB1LFZ1, APB1HFZ1, APB2FZ1, APB4FZ1.
const FREEZE: [u32; 5] = [0x34, 0x3c, 0x44, 0x4c, 0x54];
const APB1LFZ1: usize = 1;
const APB2FZ1: usize = 3;
const APB4FZ1: usize = 4;

#[derive(Clone, Debug, Default)]
pub struct Dbgmcu {
    cr: u32,
    freeze: [u32; FREEZE.len()],
}

impl Dbgmcu {
    /// Whether the processor's clock runs while it sleeps.
    pub fn clocked_in_sleep(&self) -> bool {
        self.cr & DBGSLEEP_D1 != 0
    }

    /// Whether a timer stands still while the core is halted; its bit is that of its clock gate.
    pub fn freezes_timer(&self, apb2: bool, bit: u32) -> bool {
        self.freeze[if apb2 { APB2FZ1 } else { APB1LFZ1 }] >> bit & 1 != 0
    }

    /// Whether the independent watchdog stands still while the core is halted.
    pub fn freezes_iwdg(&self) -> bool {
        self.freeze[APB4FZ1] >> 18 & 1 != 0
    }

    /// A debugger attaches or detaches.
    pub fn debugger(&mut self, attached: bool) {
        if attached {
            self.cr |= BY_DEBUGGER;
        } else {
            self.cr &= !BY_DEBUGGER;
        }
    }

    /// Offsets as in the manual; `None`: no such register.
    pub fn read(&self, off: u32) -> Option<u32> {
        Some(match off {
            0x00 => 0x2003_6450, // STM32H743, revision V
            0x04 => self.cr,
            _ => self.freeze[FREEZE.iter().position(|&f| f == off)?],
        })
    }

    pub fn write(&mut self, off: u32, v: u32) -> Option<()> {
        match off {
            0x00 => {}
            0x04 => self.cr = v & CR_BITS,
            _ => self.freeze[FREEZE.iter().position(|&f| f == off)?] = v,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detaching_debugger_clears_what_the_program_had_set() {
        let mut d = Dbgmcu::default();
        assert!(!d.clocked_in_sleep());
        d.write(4, 0xffff_ffff);
        assert_eq!(d.read(4), Some(0x1070_0187));
        assert!(d.clocked_in_sleep());
        d.debugger(false);
        assert!(!d.clocked_in_sleep());
        assert_eq!(d.read(4), Some(0x1010_0180), "the others stay");
        d.debugger(true);
        assert_eq!(d.read(4), Some(0x1070_0187));
    }

    #[test]
    fn freeze_bits_are_kept_and_unknown_offsets_are_not() {
        let mut d = Dbgmcu::default();
        assert_eq!(d.write(0x54, 1 << 18), Some(()));
        assert!(d.freezes_iwdg());
        assert_eq!((d.read(0x38), d.write(0x58, 0)), (None, None));
    }
}
