//! The measured guard: ticks that on average take longer than their limit are noticed within milliseconds.
//!
//! A leaky bucket: every tick pours in the cycles the previous one took (at most twice the limit, so that a single long one,
//! a debugger's halt or a stalled bus, is no overload) and lets out the limit. It overflows at [`TICKS`] limits:
//! after 20 ticks of twice the limit, 200 of 1.1 times, never at or below it.
//!
//! In: cycles of the previous tick. Out: overloaded, told once per overflow. What is measured is in no log; what follows
//! from it (the order: stop) is, so replay needs no guard.

/// Limits the bucket holds.
pub const TICKS: u32 = 20;

/// See the module header.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    limit: u32,
    filled: u32,
}

impl Guard {
    /// Never overloaded: a device that measures nothing.
    pub const OFF: Self = Guard {
        limit: u32::MAX / (TICKS + 2),
        filled: 0,
    };

    /// Ticks are to take at most `limit` cycles on average.
    pub const fn new(limit: u32) -> Self {
        let off = Self::OFF.limit;
        Guard {
            limit: if limit < off { limit } else { off },
            filled: 0,
        }
    }

    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// One tick, after one that took `cycles`; true: overloaded.
    #[inline(always)]
    pub fn step(&mut self, cycles: u32) -> bool {
        let poured = self.filled + cycles.min(2 * self.limit);
        self.filled = poured.saturating_sub(self.limit);
        let over = self.filled >= TICKS * self.limit;
        if over {
            self.filled = 0;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of `cycles` until the guard speaks, up to 10,000.
    fn ticks_until(cycles: impl Fn(u32) -> u32) -> Option<u32> {
        let mut guard = Guard::new(1000);
        (0..10_000).find(|n| guard.step(cycles(*n)))
    }

    #[test]
    fn lasting_overload_is_noticed_and_a_single_long_tick_is_not() {
        assert_eq!(ticks_until(|_| 1000), None);
        assert_eq!(ticks_until(|_| 2000), Some(19));
        assert_eq!(ticks_until(|_| u32::MAX), Some(19));
        assert_eq!(ticks_until(|_| 1100), Some(199));
        // A cycle of ten with two heavy ticks: the mean counts.
        assert_eq!(ticks_until(|n| if n % 10 < 2 { 1900 } else { 500 }), None);
        assert!(ticks_until(|n| if n % 2 == 0 { 2000 } else { 300 }).is_some());
        let halted = |n| if n == 100 { 400_000_000 } else { 900 };
        assert_eq!(ticks_until(halted), None);
    }

    #[test]
    fn off_is_off() {
        let mut guard = Guard::OFF;
        assert!((0..1000).all(|_| !guard.step(40_000_000)));
        let mut huge = Guard::new(u32::MAX);
        assert!((0..1000).all(|_| !huge.step(40_000_000)));
    }
}
