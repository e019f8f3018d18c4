//! What protects the outputs of an advanced timer (RM0433 §38.3.16, §38.4.18): break input, main output enable, lock, idle levels.
//!
//! An active break input clears MOE at once, whatever the software does, and keeps it cleared. With MOE clear the channels are at
//! their idle level (OSSI = 1) or not driven at all. LOCK freezes the protection until the timer's reset. While a debugger halts the core
//! and DBGMCU freezes the timer, the outputs are as with MOE clear. Not modelled: the second break input, filters, dead time, automatic
//! output enable.

use super::Tim;

const MOE: u32 = 1 << 15;
const BKP: u32 = 1 << 13;
const BKE: u32 = 1 << 12;
const OSSR: u32 = 1 << 11;
const OSSI: u32 = 1 << 10;
/// Break, and break by the chip itself.
const BIF: u32 = 1 << 7;
const SBIF: u32 = 1 << 13;

/// What a channel does with its pin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// The timer does not drive it.
    Floating,
    /// Part of the period it is high.
    High(f64),
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Guard {
    /// 0 to 3, frozen with the first write to BDTR.
    lock: u32,
    written: bool,
    /// Level of the break input.
    pin: bool,
    /// The chip itself asks for a break (lock-up).
    system: bool,
    /// Flags that cannot be cleared now.
    standing: u32,
    /// The core is halted and the timer with it.
    halted: bool,
}

impl Guard {
    /// The timer was reset; what is connected to it stays.
    pub(super) fn after_reset(self) -> Self {
        Guard {
            pin: self.pin,
            system: self.system,
            ..Guard::default()
        }
    }

    pub(super) fn standing(&self) -> u32 {
        self.standing
    }

    /// CR2: idle levels are frozen from level 1 on.
    pub(super) fn cr2(&self, old: u32, new: u32) -> u32 {
        self.frozen(1, 0x3f00, old, new)
    }

    /// CCER: polarities from level 2 on.
    pub(super) fn ccer(&self, old: u32, new: u32) -> u32 {
        self.frozen(2, 0xaaaa, old, new)
    }

    /// CCMR: modes and preloads from level 3 on.
    pub(super) fn ccmr(&self, old: u32, new: u32) -> u32 {
        self.frozen(3, 0x0101_7878, old, new)
    }

    fn frozen(&self, level: u32, bits: u32, old: u32, new: u32) -> u32 {
        if self.lock >= level {
            new & !bits | old & bits
        } else {
            new
        }
    }
}

impl Tim {
    /// OCxPE.
    pub(super) fn preloads(&self, channel: usize) -> bool {
        self.ccmr[channel / 2] >> (8 * (channel % 2)) & 1 << 3 != 0
    }

    pub(super) fn write_protection(&mut self, v: u32) {
        let old = self.bdtr;
        // LOCK itself is written once.
        let lock = if self.guard.written {
            old & 0x300
        } else {
            v & 0x300
        };
        let guard = &self.guard;
        let mut new = guard.frozen(1, 0xff | BKE | BKP | 1 << 14, old, v & !0x300);
        new = guard.frozen(2, OSSR | OSSI, old, new);
        self.bdtr = new | lock;
        self.guard.lock = lock >> 8;
        self.guard.written = true;
        self.look_at_break();
    }

    /// What is connected to the break input; `system`: the chip itself asks for a break.
    pub fn break_inputs(&mut self, pin: bool, system: bool) {
        self.guard.pin = pin;
        self.guard.system = system;
        self.look_at_break();
    }

    fn look_at_break(&mut self) {
        let enabled = self.bdtr & BKE != 0;
        let by_pin = enabled && self.guard.pin == (self.bdtr & BKP != 0);
        let by_chip = enabled && self.guard.system;
        self.guard.standing = if by_pin { BIF } else { 0 } | if by_chip { SBIF } else { 0 };
        self.sr |= self.guard.standing;
        if self.guard.standing != 0 {
            self.bdtr &= !MOE;
        }
    }

    /// The core halts or goes on, and the timer with it.
    pub fn freeze_outputs(&mut self, halted: bool) {
        self.guard.halted = halted;
    }

    /// What channel 0 to 3 does with its pin: PWM modes, edge-aligned.
    pub fn output(&self, channel: usize) -> Output {
        if self.ccer >> (4 * channel) & 1 == 0 {
            return Output::Floating;
        }
        if self.bdtr & MOE == 0 || self.guard.halted {
            return match self.bdtr & OSSI {
                0 => Output::Floating,
                _ => Output::High(f64::from(self.cr2 >> (8 + 2 * channel) & 1)),
            };
        }
        self.pwm(channel)
            .map_or(Output::High(0.0), |p| Output::High(p.duty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::periph::tim::TIMERS;
    use crate::time::cycle;

    const PERIOD: u64 = 5_000;

    /// 40 kHz, channel 1 at 2,000 of 5,000, preloaded, an update every fourth period.
    fn running(protection: u32) -> Tim {
        let kind = TIMERS.into_iter().find(|k| k.name == "TIM1").unwrap();
        let mut t = Tim::new(kind, cycle(200_000_000));
        t.write(0x2c, PERIOD as u32 - 1, 0);
        t.write(0x30, 3, 0);
        t.write(0x18, 6 << 4 | 1 << 3, 0);
        t.write(0x34, 2_000, 0);
        t.write(0x20, 1, 0);
        t.write(0x14, 1, 0);
        t.break_inputs(true, false);
        t.write(0x44, protection, 0);
        t.write(0x00, 1, 0);
        t
    }

    const LOCKED: u32 = MOE | BKE | OSSI | 3 << 8;

    #[test]
    fn a_compare_value_waits_for_the_update_after_four_periods() {
        let mut t = running(LOCKED);
        let count = cycle(200_000_000);
        t.write(0x34, 4_000, 10 * count);
        assert_eq!(t.output(0), Output::High(0.4));
        t.sync((4 * PERIOD - 1) * count);
        assert_eq!(t.output(0), Output::High(0.4));
        assert_eq!(t.next(), 4 * PERIOD * count);
        t.sync(4 * PERIOD * count);
        assert_eq!(t.output(0), Output::High(0.8));
        t.write(0x34, 1_000, 5 * PERIOD * count);
        t.sync(8 * PERIOD * count);
        assert_eq!(t.output(0), Output::High(0.2));
    }

    #[test]
    fn a_break_clears_the_outputs_and_keeps_them_cleared() {
        let mut t = running(LOCKED);
        t.break_inputs(false, false);
        assert_eq!(t.output(0), Output::High(0.0));
        t.write(0x44, LOCKED, 0);
        t.write(0x10, 0, 0);
        assert_eq!(t.output(0), Output::High(0.0), "while it is active");
        assert_ne!(t.read(0x10, 0).unwrap() & BIF, 0);
        t.break_inputs(true, false);
        assert_eq!(
            t.output(0),
            Output::High(0.0),
            "nothing comes back by itself"
        );
        t.write(0x10, 0, 0);
        t.write(0x44, LOCKED, 0);
        assert_eq!(t.output(0), Output::High(0.4));
        t.break_inputs(true, true);
        assert_eq!(t.output(0), Output::High(0.0), "a locked-up core");
        assert_ne!(t.read(0x10, 0).unwrap() & SBIF, 0);
    }

    #[test]
    fn the_lock_holds_until_reset() {
        let mut t = running(LOCKED);
        t.write(0x44, MOE, 0);
        t.write(0x04, 0x100, 0);
        t.write(0x20, 3, 0);
        t.write(0x18, 7 << 4, 0);
        assert_eq!(
            t.output(0),
            Output::High(0.4),
            "mode, polarity and preload stay"
        );
        t.break_inputs(false, false);
        assert_eq!(
            t.output(0),
            Output::High(0.0),
            "the break is still enabled, and idle still low"
        );
        t.reset();
        assert_eq!(t.output(0), Output::Floating);
    }

    #[test]
    fn a_halted_core_has_no_outputs() {
        let mut t = running(LOCKED);
        t.freeze_outputs(true);
        assert_eq!(t.output(0), Output::High(0.0));
        t.freeze_outputs(false);
        assert_eq!(t.output(0), Output::High(0.4));
    }
}
