//! Busy waiting: a load that finds the same value in the same register again and again, without sleeping in between.
//!
//! The usual end of a program on hardware that is not quite what its author had in mind. Reported once it has gone on for [`LIMIT`].

use crate::time::{MS, Time, US, to_secs};

/// Reported when it has lasted this long.
pub const LIMIT: Time = 10 * MS;
/// Two loads further apart than this are not the same wait: longer than an interrupt in between, shorter than the period of a fast one.
const GAP: Time = 80 * US;
/// Fewer loads than this are not busy.
const LOADS: u64 = 500;

/// One busy wait.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Spin {
    pub address: u32,
    pub pc: u32,
    /// What was read all the time.
    pub value: u32,
    pub from_s: f64,
    /// How long it lasted [s], so far.
    pub for_s: f64,
    #[serde(skip)]
    last: Time,
    #[serde(skip)]
    since: Time,
    #[serde(skip)]
    loads: u64,
    #[serde(skip)]
    reported: Option<usize>,
}

/// Loads that may be part of one, by a hash of their place.
pub struct Spins {
    watched: Vec<Spin>,
    /// Those that lasted.
    pub found: Vec<Spin>,
    /// How many of them were told by [`Spins::take_new`].
    told: usize,
}

impl Default for Spins {
    fn default() -> Self {
        let none = Spin {
            address: 0,
            pc: 0,
            value: 0,
            from_s: 0.0,
            for_s: 0.0,
            last: 0,
            since: 0,
            loads: 0,
            reported: None,
        };
        Spins {
            watched: vec![none; 64],
            found: Vec::new(),
            told: 0,
        }
    }
}

impl Spins {
    /// Those found since the last call.
    pub fn take_new(&mut self) -> Vec<Spin> {
        let new = self.found[self.told..].to_vec();
        self.told = self.found.len();
        new
    }

    /// The instruction at `pc` read `value`.
    pub fn read(&mut self, address: u32, pc: u32, value: u32, now: Time) {
        let n = self.watched.len();
        let s = &mut self.watched[(pc / 2) as usize % n];
        let same = (s.address, s.pc, s.value) == (address, pc, value);
        if !same || now.saturating_sub(s.last) > GAP {
            *s = Spin {
                address,
                pc,
                value,
                from_s: to_secs(now),
                for_s: 0.0,
                last: now,
                since: now,
                loads: 1,
                reported: None,
            };
            return;
        }
        s.last = now;
        s.loads += 1;
        if now - s.since < LIMIT || s.loads < LOADS {
            return;
        }
        s.for_s = to_secs(now - s.since);
        match s.reported {
            Some(i) => self.found[i].for_s = s.for_s,
            None => {
                s.reported = Some(self.found.len());
                self.found.push(s.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_milliseconds_of_the_same_value_are_reported_once() {
        let mut spins = Spins::default();
        for i in 0..30_000 {
            spins.read(0x5802_4400, 0x0800_1234, 3, i * US);
            assert_eq!(spins.take_new().len(), usize::from(i * US == LIMIT));
        }
        assert_eq!(spins.found.len(), 1);
        assert!((spins.found[0].for_s - 0.029999).abs() < 1e-9);
    }

    #[test]
    fn a_changing_value_or_a_pause_is_no_busy_wait() {
        let mut spins = Spins::default();
        for i in 0..100_000u32 {
            spins.read(0xe000_1004, 0x0800_1234, i, Time::from(i) * US);
            spins.read(0x4000_0024, 0x0800_2000, 1, Time::from(i) * 100 * US);
        }
        assert!(spins.found.is_empty());
    }
}
