//! Do both encoders count every edge, in both directions, through the wrap of the counter?
//!
//! Needs four jumpers (docs/bench.md, "Test jumpers") from GPIO outputs to the encoder inputs, and no
//! encoder connected: PC6 to PA15, PB15 to PB3, PC7 to PA0, PB5 to PA1.
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use embassy_stm32::gpio::{Level, Output, Speed};
    use embassy_stm32::timer::GeneralInstance32bit4Channel;
    use stribeck_firmware::board::{self, CPU_HZ, ENCODER_FILTER_NS, Encoders, TestOutputs};
    use stribeck_firmware::encoder::Encoder;

    /// Longer than the input filter, so that every edge passes: 4 times.
    const EDGE_CYCLES: u32 = 4 * ENCODER_FILTER_NS * (CPU_HZ / 1_000_000) / 1_000;
    /// Shorter than the filter: a tenth of it.
    const GLITCH_CYCLES: u32 = EDGE_CYCLES / 40;

    /// Two outputs 90° apart.
    struct Quadrature {
        a: Output<'static>,
        b: Output<'static>,
        phase: u32,
    }

    impl Quadrature {
        fn new(a: Output<'static>, b: Output<'static>) -> Self {
            let mut quadrature = Self { a, b, phase: 0 };
            quadrature.set();
            quadrature
        }

        /// A leads B when the phase grows: counts up.
        fn set(&mut self) {
            let (a, b) = [(false, false), (true, false), (true, true), (false, true)]
                [self.phase as usize % 4];
            self.a.set_level(Level::from(a));
            self.b.set_level(Level::from(b));
            cortex_m::asm::delay(EDGE_CYCLES);
        }

        fn turn(&mut self, counts: i32) {
            for _ in 0..counts.unsigned_abs() {
                self.phase = self.phase.wrapping_add_signed(counts.signum());
                self.set();
            }
        }
    }

    struct Rig {
        encoders: Encoders,
        turn: [Quadrature; 2],
    }

    #[init]
    fn init() -> Rig {
        let board = board::init();
        let TestOutputs { base, pendulum } = board.test_outputs;
        let output = |pin| Output::new(pin, Level::Low, Speed::Low);
        Rig {
            encoders: board.encoders,
            turn: [base, pendulum].map(|[a, b]| Quadrature::new(output(a), output(b))),
        }
    }

    fn counts_and_wraps<T: GeneralInstance32bit4Channel>(
        encoder: &Encoder<'_, T>,
        turn: &mut Quadrature,
    ) {
        encoder.preset(0);
        turn.turn(1000);
        assert_eq!(encoder.count(), 1000, "forward");
        turn.turn(-1000);
        assert_eq!(encoder.count(), 0, "back again");
        turn.turn(-3);
        assert_eq!(encoder.count() as i32, -3, "down through zero");
        turn.turn(5);
        assert_eq!(encoder.count(), 2, "up through zero");
        // The counter's sign change, where a 32-bit signed program would stumble.
        encoder.preset(i32::MAX as u32);
        turn.turn(2);
        assert_eq!(encoder.count(), 0x8000_0001, "up through the sign");
        turn.turn(-4);
        assert_eq!(encoder.count(), 0x7FFF_FFFD, "down through the sign");
    }

    #[test]
    fn base_counts_and_wraps(mut rig: Rig) {
        counts_and_wraps(&rig.encoders.base, &mut rig.turn[0]);
    }

    #[test]
    fn pendulum_counts_and_wraps(mut rig: Rig) {
        counts_and_wraps(&rig.encoders.pendulum, &mut rig.turn[1]);
    }

    #[test]
    fn one_encoder_does_not_move_the_other(mut rig: Rig) {
        let before = [rig.encoders.base.count(), rig.encoders.pendulum.count()];
        rig.turn[0].turn(40);
        rig.turn[1].turn(-16);
        let after = [rig.encoders.base.count(), rig.encoders.pendulum.count()];
        assert_eq!(after[0].wrapping_sub(before[0]) as i32, 40);
        assert_eq!(after[1].wrapping_sub(before[1]) as i32, -16);
    }

    #[test]
    fn the_filter_ignores_glitches(mut rig: Rig) {
        let before = rig.encoders.base.count();
        for _ in 0..100 {
            rig.turn[0].a.toggle();
            cortex_m::asm::delay(GLITCH_CYCLES);
            rig.turn[0].a.toggle();
            cortex_m::asm::delay(EDGE_CYCLES);
        }
        assert_eq!(rig.encoders.base.count(), before);
    }
}
