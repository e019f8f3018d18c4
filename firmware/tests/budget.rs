//! How long does a tick take, at worst and on average, with both observers in every stage, the stream at full rate, and
//! a command to obey?
//!
//! Steps the engine in a loop, with interrupts off, on the counts of a simulated swing, and measures each
//! step with the cycle counter: cycles on a board, estimated cycles on the virtual bench with `--cycles`, instructions there without.
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
    use stribeck_core::device::config::{Config, Stream};
    use stribeck_core::device::run::{Cause, Phase};
    use stribeck_core::device::{Engine, Input, Note, Outbox, Request, Setup, cost};
    use stribeck_core::observer::ekf::STAGE_JOINT;
    use stribeck_core::observer::uas;
    use stribeck_core::wire::Block;
    use stribeck_firmware::board::{self, CYCLES_PER_TICK};
    use stribeck_firmware::tick;

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

    /// Most that a tick may take, whatever it has to do: 30 % of the time until the next.
    const WORST: u32 = CYCLES_PER_TICK * 3 / 10;
    /// Most that it may take on average: a little more than 20 %, because a start is among these few ticks.
    const MEAN: u32 = CYCLES_PER_TICK * 21 / 100;

    /// The counter counts cycles, of which two instructions that need nothing of each other share one; otherwise instructions.
    fn counts_cycles() -> bool {
        // Once for the cache.
        hints();
        hints() < 64
    }

    /// What 64 instructions take that do nothing.
    #[inline(never)]
    fn hints() -> u32 {
        let start = DWT::cycle_count();
        // SAFETY: does nothing, 64 times.
        unsafe { core::arch::asm!(".rept 64", "nop", ".endr", options(nomem, nostack)) };
        DWT::cycle_count().wrapping_sub(start)
    }

    /// Of what is known before: what is counted here.
    fn counted(work: cost::Work) -> u32 {
        if counts_cycles() {
            work.cycles
        } else {
            work.instructions
        }
    }

    /// An engine on the counts of the simulated swing, and what its ticks took.
    struct Trial {
        engine: Engine,
        sink: Sink,
        counts: [u32; 2],
        worst: u32,
        total: u64,
        ticks: u32,
    }

    impl Trial {
        fn new(config: &Config) -> Self {
            Trial {
                engine: Engine::new(Setup::new(config)),
                sink: Sink(Block::EMPTY, 0),
                counts: expected::START,
                worst: 0,
                total: 0,
                ticks: 0,
            }
        }

        /// One tick as the interrupt does it: the request, if there is one, then the step [cycles].
        fn tick(&mut self, request: Option<Request<'_>>, moved: [i8; 2]) -> u32 {
            for (count, m) in self.counts.iter_mut().zip(moved) {
                *count = count.wrapping_add_signed(m as i32);
            }
            let input = Input {
                counts: self.counts,
                ..Input::default()
            };
            let cycles = cortex_m::interrupt::free(|_| {
                let start = DWT::cycle_count();
                if let Some(request) = request {
                    self.engine.apply(request, &mut self.sink);
                }
                self.engine.tick(input, &mut self.sink);
                DWT::cycle_count().wrapping_sub(start)
            });
            self.worst = self.worst.max(cycles);
            self.total += cycles as u64;
            self.ticks += 1;
            cycles
        }

        /// Arm, then the whole swing.
        fn swing(&mut self) {
            self.swing_of(expected::START, expected::COUNTS);
        }

        fn swing_of(&mut self, start: [u32; 2], steps: &[u8]) {
            self.counts = start;
            self.tick(Some(arm(1)), [0, 0]);
            let (steps, _) = steps.as_chunks::<2>();
            for step in steps {
                self.tick(None, step.map(|s| s as i8));
            }
            assert_eq!(
                self.engine.phase(),
                Phase::Swinging,
                "the swing was not seen"
            );
        }

        fn mean(&self) -> u32 {
            (self.total / self.ticks as u64) as u32
        }
    }

    fn arm(id: u16) -> Request<'static> {
        let cause = Cause::Host;
        Request::Arm { id, cause }
    }

    /// A swing under this configuration takes no longer than the core says when it accepts it, and no less than half of that:
    /// the estimate is of the costliest stream, the swing has the configuration's own.
    fn compare(config: &Config) -> Trial {
        let mut trial = Trial::new(config);
        trial.swing();
        let estimated = counted(cost::worst_tick(config));
        defmt::info!(
            "worst tick {} {=str} (known before: {}), mean {}, {} blocks",
            trial.worst,
            if counts_cycles() {
                "cycles"
            } else {
                "instructions"
            },
            estimated,
            trial.mean(),
            trial.sink.1
        );
        assert_eq!(
            trial.engine.observers().params().stage,
            STAGE_JOINT,
            "the joint EKF did not start"
        );
        let worst = trial.worst;
        assert!(
            worst <= estimated && estimated <= worst * 2,
            "worst tick {worst} cycles, estimated {estimated}"
        );
        trial
    }

    /// A swing under this configuration stays within the budget.
    fn within_budget(config: &Config) {
        let trial = compare(config);
        assert!(trial.worst <= WORST, "worst tick {} cycles", trial.worst);
        assert!(trial.mean() <= MEAN, "mean tick {} cycles", trial.mean());
    }

    #[test]
    fn default_stream() {
        within_budget(&cases::configuration());
    }

    /// Every plant of the list, on a swing of its own.
    #[test]
    fn every_plant() {
        for (plant, (start, steps)) in expected::PLANTS.iter().enumerate() {
            let mut config = cases::configuration_of(plant);
            config.stream = Stream::FULL_RATE;
            let mut trial = Trial::new(&config);
            trial.swing_of(*start, steps);
            let (worst, mean) = (trial.worst, trial.mean());
            let stage = trial.engine.observers().params().stage;
            defmt::info!(
                "{=str}: worst tick {} cycles, mean {}",
                config.plant.name(),
                worst,
                mean
            );
            assert_eq!(stage, STAGE_JOINT, "the joint EKF did not start");
            assert!(worst <= WORST && mean <= MEAN);
            let most = counted(cost::worst_tick(&config));
            assert!(worst <= most, "{} of {}", worst, most);
        }
    }

    #[test]
    fn full_rate_stream() {
        let mut config = cases::configuration();
        config.stream = Stream::FULL_RATE;
        within_budget(&config);
        config.stream.param_every = 10;
        within_budget(&config);
        config.stream.block_ticks = 1;
        within_budget(&config);
    }

    #[test]
    fn with_drag_estimated_too() {
        let mut config = cases::configuration();
        config.ekf.drag = true;
        within_budget(&config);
        config.ekf.cycle = 1;
        compare(&config);
    }

    #[test]
    fn with_more_integration_steps() {
        let mut config = cases::configuration();
        for substeps in [2, 4] {
            config.ekf.substeps = substeps;
            compare(&config);
        }
        config.ekf.cycle = 1;
        compare(&config);
    }

    #[test]
    fn in_paper_mode() {
        let mut config = cases::configuration();
        config.uas = uas::Config::paper();
        compare(&config);
    }

    /// The most expensive configuration that is accepted stays within the budget.
    #[test]
    fn whatever_is_accepted_fits() {
        let mut config = cases::configuration();
        config.stream = Stream::FULL_RATE;
        while cost::check(&config, tick::BUDGET).is_ok() {
            config.ekf.substeps += 1;
        }
        config.ekf.substeps -= 1;
        defmt::info!("{} substeps", config.ekf.substeps);
        let trial = compare(&config);
        let budget = counted(tick::BUDGET);
        assert!(trial.worst <= budget, "{} of {}", trial.worst, budget);
    }

    /// A request is obeyed in the interrupt, before that tick's step: together they must fit too.
    #[test]
    fn ticks_that_obey_a_request() {
        let config = cases::configuration();
        let cause = Cause::Host;
        let setup = &mut Setup::new(&config);
        let requests = [
            ("zero", Request::Zero { id: 2, cause }),
            ("configure", Request::Configure { id: 3, setup }),
            ("arm", arm(4)),
            ("snapshot", Request::Snapshot),
            ("stop", Request::Stop { id: 5, cause }),
        ];
        let mut trial = Trial::new(&config);
        for (name, request) in requests {
            // A block is under way: it must be closed first.
            for _ in 0..50 {
                trial.tick(None, [0, 0]);
            }
            let blocks = trial.sink.1;
            let cycles = trial.tick(Some(request), [0, 0]);
            defmt::info!("{=str}: {} cycles", name, cycles);
            assert!(trial.sink.1 > blocks, "the request was not obeyed: {name}");
            assert!(cycles <= WORST, "{name}: {cycles} cycles");
        }
    }
}
