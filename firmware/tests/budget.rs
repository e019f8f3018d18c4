//! How long does a tick take at worst, with both observers in every stage and the stream at full rate?
//!
//! Steps the engine in a loop, with interrupts off, on the counts of a simulated swing, and measures each
//! step with the cycle counter. On the virtual bench a cycle is an instruction.
#![no_std]
#![no_main]

#[allow(dead_code)] // The digests are for tests/bits.rs.
mod cases;

use defmt_rtt as _;

/// Computed on the host by build.rs.
mod expected {
    #![allow(dead_code)] // The digests are for tests/bits.rs.
    include!(concat!(env!("OUT_DIR"), "/expected.rs"));
}

#[embedded_test::tests]
mod tests {
    use super::{cases, expected};
    use cortex_m::peripheral::DWT;
    use stribeck_core::config::{Config, Stream};
    use stribeck_core::device::{Engine, Input, Note, Outbox, Request, Setup};
    use stribeck_core::run::{Cause, Phase};
    use stribeck_core::wire::Block;
    use stribeck_firmware::board::{self, CYCLES_PER_TICK};

    /// Takes every block and forgets it.
    struct Sink(Block, u32);

    impl Outbox for Sink {
        fn block(&mut self) -> &mut Block {
            &mut self.0
        }
        fn submit(&mut self) -> bool {
            self.1 += 1;
            true
        }
        fn note(&mut self, _note: Note) -> bool {
            true
        }
    }

    #[init]
    fn init() {
        let _ = board::init();
    }

    /// Longest tick of the swing [cycles].
    fn worst(config: &Config) -> u32 {
        let mut engine = Engine::new(Setup::new(config));
        let mut sink = Sink(Block::EMPTY, 0);
        let arm = Request::Arm {
            id: 1,
            cause: Cause::Host,
        };
        engine.apply(arm, &mut sink);
        let mut counts = expected::START;
        let mut worst = 0;
        let mut total = 0u64;
        let (steps, _) = expected::COUNTS.as_chunks::<2>();
        for step in steps {
            for (count, &s) in counts.iter_mut().zip(step) {
                *count = count.wrapping_add_signed(s as i8 as i32);
            }
            let input = Input {
                counts,
                ..Input::default()
            };
            let cycles = cortex_m::interrupt::free(|_| {
                let start = DWT::cycle_count();
                engine.tick(input, &mut sink);
                DWT::cycle_count().wrapping_sub(start)
            });
            worst = worst.max(cycles);
            total += cycles as u64;
        }
        defmt::info!(
            "worst tick {} cycles, mean {}, {} blocks",
            worst,
            total / cases::STEPS as u64,
            sink.1
        );
        assert_eq!(engine.phase(), Phase::Swinging, "the swing was not seen");
        assert!(
            engine.observers().params().stage > 0,
            "the joint EKF did not start"
        );
        worst
    }

    #[test]
    fn default_stream() {
        assert!(worst(&cases::configuration()) <= CYCLES_PER_TICK * 4 / 10);
    }

    #[test]
    fn full_rate_stream() {
        let mut config = cases::configuration();
        config.stream = Stream::FULL_RATE;
        assert!(worst(&config) <= CYCLES_PER_TICK);
    }

    #[test]
    fn with_drag_estimated_too() {
        let mut config = cases::configuration();
        config.ekf.drag = true;
        assert!(worst(&config) <= CYCLES_PER_TICK);
    }
}
