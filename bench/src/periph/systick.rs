//! SysTick (ARMv7-M B3.3): 24-bit down counter on the processor clock (or an eighth of it).

use crate::time::{NEVER, Time};

pub struct SysTick {
    ctrl: u32,
    load: u32,
    /// Units of one processor cycle.
    clock: Time,
    started: Time,
    /// Wraps already reported.
    wraps: u64,
    count_flag: bool,
}

impl SysTick {
    pub fn new(clock: Time) -> Self {
        SysTick {
            ctrl: 0,
            load: 0,
            clock,
            started: 0,
            wraps: 0,
            count_flag: false,
        }
    }

    fn tick(&self) -> Time {
        if self.ctrl & 4 != 0 {
            self.clock
        } else {
            8 * self.clock
        }
    }

    fn period(&self) -> Time {
        self.tick() * (Time::from(self.load) + 1)
    }

    /// True when the exception must be pended.
    pub fn sync(&mut self, now: Time) -> bool {
        if self.ctrl & 1 == 0 || self.load == 0 {
            return false;
        }
        let wraps = (now - self.started) / self.period();
        let wrapped = wraps > self.wraps;
        self.wraps = wraps;
        self.count_flag |= wrapped;
        wrapped && self.ctrl & 2 != 0
    }

    pub fn next(&self) -> Time {
        if self.ctrl & 3 != 3 || self.load == 0 {
            return NEVER;
        }
        self.started + (self.wraps + 1) * self.period()
    }

    /// It stood still for `time` while the core was halted.
    pub fn stand_still(&mut self, time: Time) {
        self.started += time;
    }

    pub fn set_clock(&mut self, clock: Time, now: Time) {
        self.clock = clock;
        self.restart(now);
    }

    fn restart(&mut self, now: Time) {
        self.started = now;
        self.wraps = 0;
    }

    /// Registers 0xE000E010–0xE000E01C.
    pub fn read(&mut self, address: u32, now: Time) -> Option<u32> {
        self.sync(now);
        Some(match address {
            0xe000_e010 => self.ctrl | u32::from(std::mem::take(&mut self.count_flag)) << 16,
            0xe000_e014 => self.load,
            0xe000_e018 if self.ctrl & 1 == 0 || self.load == 0 => 0,
            0xe000_e018 => {
                self.load
                    - ((now - self.started) / self.tick() % (Time::from(self.load) + 1)) as u32
            }
            0xe000_e01c => 0x8000_0000,
            _ => return None,
        })
    }

    pub fn write(&mut self, address: u32, v: u32, now: Time) -> Option<()> {
        match address {
            0xe000_e010 => {
                if (v ^ self.ctrl) & 5 != 0 {
                    self.restart(now);
                }
                self.ctrl = v & 7;
            }
            0xe000_e014 => self.load = v & 0x00ff_ffff,
            0xe000_e018 => {
                self.restart(now);
                self.count_flag = false;
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{US, cycle};

    #[test]
    fn counts_down_and_pends_at_each_wrap() {
        let mut s = SysTick::new(cycle(400_000_000));
        s.write(0xe000_e014, 399, 0);
        s.write(0xe000_e010, 7, 0);
        assert_eq!(s.next(), US);
        assert_eq!(s.read(0xe000_e018, US / 4), Some(299));
        assert!(!s.sync(US - 1));
        assert!(s.sync(US));
        assert!(!s.sync(US), "once per wrap");
        assert_eq!(s.read(0xe000_e010, US).unwrap() >> 16, 1, "COUNTFLAG");
        assert_eq!(
            s.read(0xe000_e010, US).unwrap() >> 16,
            0,
            "cleared by reading"
        );
        assert_eq!(s.next(), 2 * US);
    }
}
