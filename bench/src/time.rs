//! Virtual time: one integer clock that every part of the bench shares.
//!
//! The unit is 1/38.4 GHz (26 ps), so a cycle of every clock the board uses is a whole number of units
//! (400 MHz: 96, 480 MHz: 80, 200 MHz: 192, 64 MHz: 600, 32 kHz: 1,200,000) and nothing ever drifts.
//! A u64 lasts 15 years.

/// Virtual time or duration, in units of 1/38.4 GHz.
pub type Time = u64;

/// Units per second.
pub const SECOND: Time = 38_400_000_000;
/// Units per millisecond.
pub const MS: Time = SECOND / 1_000;
/// Units per microsecond.
pub const US: Time = SECOND / 1_000_000;
/// Later than anything.
pub const NEVER: Time = Time::MAX;

/// Units of one cycle of a clock of `hz`; a clock that does not divide the time base is rounded.
pub fn cycle(hz: u64) -> Time {
    if hz == 0 {
        return NEVER;
    }
    (SECOND + hz / 2) / hz
}

/// `s` seconds, rounded to the nearest unit.
pub fn from_secs(s: f64) -> Time {
    (s * SECOND as f64).round() as Time
}

/// In seconds; for plants, logs and reports, never to decide an order of events.
pub fn to_secs(t: Time) -> f64 {
    t as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_the_board_are_whole_numbers_of_units() {
        for hz in [
            480_000_000u64,
            400_000_000,
            240_000_000,
            200_000_000,
            64_000_000,
            48_000_000,
            8_000_000,
            32_000,
        ] {
            assert_eq!(cycle(hz) * hz, SECOND, "{hz} Hz");
        }
        assert_eq!(cycle(0), NEVER);
    }
}
