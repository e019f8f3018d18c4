//! Does the chip compute the same bits as the machine that built this test?
#![no_std]
#![no_main]

mod cases;

use defmt_rtt as _;
// For its critical section and interrupt handlers.
use stribeck_firmware as _;

/// Computed on the host by build.rs.
mod expected {
    include!(concat!(env!("OUT_DIR"), "/expected.rs"));

    /// Raw counts of both encoders, tick by tick.
    pub fn counts() -> impl Iterator<Item = [u32; 2]> {
        sum(START, COUNTS)
    }

    /// The same of a plant.
    pub fn of_plant(plant: usize) -> impl Iterator<Item = [u32; 2]> {
        let (start, steps) = PLANTS[plant];
        sum(start, steps)
    }

    fn sum(start: [u32; 2], steps: &'static [u8]) -> impl Iterator<Item = [u32; 2]> {
        let (steps, _) = steps.as_chunks::<2>();
        steps.iter().scan(start, |counts, step| {
            for (count, &s) in counts.iter_mut().zip(step) {
                *count = count.wrapping_add_signed(s as i8 as i32);
            }
            Some(*counts)
        })
    }
}

#[embedded_test::tests]
mod tests {
    use super::{cases, expected};

    #[init]
    fn init() {
        // Full clock, or the observers take minutes.
        let _ = stribeck_firmware::board::init();
    }

    #[test]
    fn mathematics() {
        assert_eq!(cases::math_digest(), expected::MATH);
    }

    /// Every plant, chosen at run time on one device.
    #[test]
    fn all_plants_by_configuration() {
        let mut compared = 0;
        cases::switch_plants(expected::of_plant, |plant, digest| {
            assert_eq!(digest, expected::PLANT_DIGESTS[plant], "plant {}", plant);
            compared += 1;
        });
        assert_eq!(compared, expected::PLANT_DIGESTS.len());
        let mut sorted = expected::PLANT_DIGESTS;
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|d| d[0] != d[1]), "they differ");
    }

    #[test]
    fn ten_thousand_observer_steps() {
        let mut compared = 0;
        cases::observe(expected::counts(), |tick, digest| {
            assert_eq!(
                digest,
                expected::OBSERVERS[compared],
                "first difference at or before tick {}",
                tick
            );
            compared += 1;
        });
        assert_eq!(compared * cases::EVERY, cases::STEPS);
    }
}
