//! DWT cycle counter (ARMv7-M C1.8), gated by DEMCR.TRCENA.
//!
//! CYCCNT counts processor cycles of virtual time. It stands still while the processor sleeps (WFE, WFI) unless DBGMCU keeps
//! the clock running, as on the chip: `periph::dbgmcu`. One instruction is taken as one cycle: an estimate.

use crate::time::Time;

pub struct Dwt {
    demcr: u32,
    ctrl: u32,
    /// Cycles counted up to `counted_to`.
    cycles: u64,
    counted_to: Time,
    /// Units of one processor cycle.
    clock: Time,
    plain: [u32; 8],
}

impl Dwt {
    pub fn new(clock: Time) -> Self {
        Dwt {
            demcr: 0,
            ctrl: 0,
            cycles: 0,
            counted_to: 0,
            clock,
            plain: [0; 8],
        }
    }

    fn count(&mut self, now: Time) {
        if self.demcr >> 24 & 1 != 0 && self.ctrl & 1 != 0 {
            self.cycles += (now - self.counted_to) / self.clock;
            self.counted_to = now - (now - self.counted_to) % self.clock;
        } else {
            self.counted_to = now;
        }
    }

    /// DEMCR was written: its TRCENA gates the counter.
    pub fn enable(&mut self, demcr: u32, now: Time) {
        self.count(now);
        self.demcr = demcr;
    }

    /// The processor slept from `from` to `to`, with its clock running or not.
    pub fn slept(&mut self, from: Time, to: Time, clocked: bool) {
        if !clocked {
            self.count(from);
            self.counted_to = to;
        }
    }

    pub fn set_clock(&mut self, clock: Time, now: Time) {
        self.count(now);
        self.clock = clock;
        self.counted_to = now;
    }

    pub fn read(&mut self, address: u32, now: Time) -> Option<u32> {
        self.count(now);
        Some(match address {
            0xe000_1000 => 0x4000_0000 | self.ctrl,
            0xe000_1004 => self.cycles as u32,
            0xe000_1008..=0xe000_1024 => self.plain[(address as usize - 0xe000_1008) / 4],
            0xe000_1fb0 => 0xe0,
            0xe000_1fb4 => 0,
            _ => return None,
        })
    }

    pub fn write(&mut self, address: u32, v: u32, now: Time) -> Option<()> {
        self.count(now);
        match address {
            0xe000_1000 => self.ctrl = v & 0x00ff_ffff,
            0xe000_1004 => self.cycles = u64::from(v),
            0xe000_1008..=0xe000_1024 => self.plain[(address as usize - 0xe000_1008) / 4] = v,
            0xe000_1fb0 => {} // lock access register
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{US, cycle};

    fn counting() -> Dwt {
        let mut d = Dwt::new(cycle(400_000_000));
        d.enable(1 << 24, 0);
        d.write(0xe000_1000, 1, 0);
        d
    }

    #[test]
    fn counts_processor_cycles_only_when_enabled() {
        let mut off = Dwt::new(cycle(400_000_000));
        assert_eq!(off.read(0xe000_1004, US), Some(0));
        let mut d = counting();
        assert_eq!(d.read(0xe000_1004, US), Some(400));
        assert_eq!(d.read(0xe000_1004, US + 95), Some(400));
        assert_eq!(d.read(0xe000_1004, US + 96), Some(401));
    }

    #[test]
    fn sleep_stops_it_unless_the_clock_is_kept() {
        let mut d = counting();
        d.slept(US, 3 * US, false);
        assert_eq!(d.read(0xe000_1004, 4 * US), Some(800));
        d.slept(4 * US, 5 * US, true);
        assert_eq!(d.read(0xe000_1004, 5 * US), Some(1200));
    }
}
