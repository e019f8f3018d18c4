//! Does the chip plan the same bits as the machine that built this test, and what does an iteration cost?
//!
//! Interrupts are on but idle. On the virtual bench a cycle is an instruction, unless it is told otherwise (`--cycles`).
#![no_std]
#![no_main]

#[path = "cases/plan.rs"]
mod cases;

use defmt_rtt as _;
// For its critical section and interrupt handlers.
use stribeck_firmware as _;

/// Computed on the host by build.rs.
mod expected {
    include!(concat!(env!("OUT_DIR"), "/plan.rs"));
}

#[embedded_test::tests]
mod tests {
    use super::{cases, expected};
    use core::hint::black_box;
    use cortex_m::peripheral::DWT;
    use stribeck_core::control::predict::eigen::Inverse;
    use stribeck_core::control::predict::search::Problem;

    #[init]
    fn init() {
        let _ = stribeck_firmware::board::init();
    }

    /// Cycles of `work`.
    fn cycles<T>(work: impl FnOnce() -> T) -> (u32, T) {
        let began = DWT::cycle_count();
        let result = black_box(work());
        (DWT::cycle_count().wrapping_sub(began), result)
    }

    #[test]
    fn plans_have_the_hosts_bits() {
        assert_eq!(cases::digest(), expected::PLANS);
    }

    /// Ten iterations of a plan fit half of its interval of .1 s.
    #[test]
    fn cost_of_an_iteration() {
        let (model, planner) = (cases::model(), cases::planner());
        let start = black_box(cases::STARTS[1]);
        let weights = black_box([0.1f32; 8]);
        let horizon = planner.horizon(&model, start);
        let (with, normal) = cycles(|| horizon.linearised(&weights));
        let (without, _) = cycles(|| horizon.cost(&weights));
        let (solve, inverse) = cycles(|| Inverse::new(&normal.matrix));
        let (apply, _) = cycles(|| inverse.solve(&normal.gradient, 1e-6, 1e-3));
        let (whole, (_, done)) = cycles(|| planner.next(&model, start));
        let (tick, _) = cycles(|| planner.input_at(black_box(0.0371)));
        defmt::info!(
            "sensitivities {}, cost {}, eigenvalues {}, step {} cycles; a plan of {} iterations and {} passes {}; played {}",
            with,
            without,
            solve,
            apply,
            done.iterations,
            done.passes,
            whole,
            tick
        );
        defmt::info!("planner {} bytes", size_of_val(&planner));
        let iteration = with + 2 * without + solve + 2 * apply;
        // .1 s at 400 MHz.
        assert!(10 * iteration < 20_000_000, "{} cycles", iteration);
        assert!(size_of_val(&planner) < 6 * 1024);
    }
}
