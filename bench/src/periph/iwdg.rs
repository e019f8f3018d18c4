//! IWDG1: the independent watchdog (RM0433 §48). It counts LSI at 32 kHz and really resets the chip.
//!
//! Once started it cannot be stopped. Prescaler and reload changes take five LSI cycles (SR shows them).

use crate::time::{NEVER, SECOND, Time};

const LSI: Time = SECOND / 32_000;

/// See the module text.
pub struct Iwdg {
    running: bool,
    unlocked: bool,
    prescaler: u32,
    reload: u32,
    window: u32,
    /// When the counter was last set to `reload`.
    fed_at: Time,
    updating_until: Time,
    /// Times it was fed since reset.
    pub feeds: u64,
}

impl Default for Iwdg {
    fn default() -> Self {
        Iwdg {
            running: false,
            unlocked: false,
            prescaler: 0,
            reload: 0xfff,
            window: 0xfff,
            fed_at: 0,
            updating_until: 0,
            feeds: 0,
        }
    }
}

impl Iwdg {
    fn count_time(&self) -> Time {
        LSI * (4 << self.prescaler.min(6))
    }

    /// When it will reset the chip unless it is fed before.
    pub fn expires_at(&self) -> Time {
        if self.running {
            self.fed_at + self.count_time() * (Time::from(self.reload) + 1)
        } else {
            NEVER
        }
    }

    /// It stood still for `time` while the core was halted.
    pub fn stand_still(&mut self, time: Time) {
        self.fed_at += time;
    }

    pub fn read(&self, off: u32, now: Time) -> Option<u32> {
        Some(match off {
            0x00 => 0,
            0x04 => self.prescaler,
            0x08 => self.reload,
            0x0c => u32::from(now < self.updating_until) * 7,
            0x10 => self.window,
            _ => return None,
        })
    }

    /// `Some(true)`: fed outside its window, which resets the chip.
    pub fn write(&mut self, off: u32, v: u32, now: Time) -> Option<bool> {
        match off {
            0x00 => return Some(self.key(v, now)),
            0x04 if self.unlocked => self.prescaler = v & 7,
            0x08 if self.unlocked => self.reload = v & 0xfff,
            0x10 if self.unlocked => self.window = v & 0xfff,
            0x04 | 0x08 | 0x0c | 0x10 => return Some(false),
            _ => return None,
        }
        self.updating_until = now + 5 * LSI;
        Some(false)
    }

    fn key(&mut self, v: u32, now: Time) -> bool {
        match v & 0xffff {
            0x5555 => self.unlocked = true,
            0xaaaa => {
                self.unlocked = false;
                let counter = u64::from(self.reload)
                    .saturating_sub(now.saturating_sub(self.fed_at) / self.count_time());
                let early = self.running && self.window < 0xfff && counter > u64::from(self.window);
                self.fed_at = now;
                self.feeds += 1;
                return early;
            }
            0xcccc => {
                self.running = true;
                self.unlocked = false;
                self.fed_at = now;
            }
            _ => self.unlocked = false,
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MS;

    fn started(prescaler: u32, reload: u32) -> Iwdg {
        let mut w = Iwdg::default();
        w.write(0, 0xcccc, 0);
        w.write(0, 0x5555, 0);
        w.write(4, prescaler, 0);
        w.write(8, reload, 0);
        w.write(0, 0xaaaa, 0);
        w
    }

    #[test]
    fn expires_after_prescaler_times_reload() {
        let w = started(0, 0xfff); // /4: 125 µs per count
        assert_eq!(w.expires_at(), 512 * MS);
        assert_eq!(started(3, 99).expires_at(), 100 * MS);
    }

    #[test]
    fn feeding_moves_the_deadline_and_locks_the_registers() {
        let mut w = started(3, 99);
        w.write(0, 0xaaaa, 60 * MS);
        assert_eq!(w.expires_at(), 160 * MS);
        w.write(8, 1, 60 * MS);
        assert_eq!(
            w.read(8, 60 * MS),
            Some(99),
            "locked again by the reload key"
        );
    }

    #[test]
    fn never_expires_before_it_is_started() {
        assert_eq!(Iwdg::default().expires_at(), NEVER);
    }

    #[test]
    fn feeding_before_the_window_opens_resets() {
        let mut w = started(3, 99);
        w.write(0, 0x5555, 0);
        w.write(0x10, 50, 0);
        assert_eq!(
            w.write(0, 0xaaaa, 10 * MS),
            Some(true),
            "counter 90 is above the window"
        );
        assert_eq!(w.write(0, 0xaaaa, 70 * MS), Some(false));
    }

    #[test]
    fn update_flags_clear_after_five_lsi_cycles() {
        let w = started(3, 99);
        assert_ne!(w.read(0x0c, 0), Some(0));
        assert_eq!(w.read(0x0c, 5 * LSI), Some(0));
    }
}
