//! Computations whose bits must be the same on the chip and on the machine that built the test.
//!
//! Included by `build.rs`, which runs them on the host, and by `tests/bits.rs`, which runs them on the
//! target and compares.

use stribeck_core::config::Config;
use stribeck_core::device::{Observers, Setup};
use stribeck_core::digest::Digest;
use stribeck_core::math;
use stribeck_core::run::{Cause, Phase};

/// Ticks of the observer case: 50 ms held, then swinging.
pub const STEPS: usize = 10_000;
/// The case is compared this often, so that a difference is located.
pub const EVERY: usize = 500;

/// The default configuration, except that the joint EKF starts after 0.3 s instead of 3 s: the case
/// covers all stages.
pub fn configuration() -> Config {
    let mut config = Config::default();
    config.ekf.start_s = 0.3;
    config.ekf.start_max_s = 0.4;
    config
}

/// Digest of every function of the core's mathematics over its useful range.
pub fn math_digest() -> u32 {
    let mut digest = Digest::START;
    for i in -5000i32..5000 {
        let x = i as f32 * 0.004_3;
        let (sin, cos) = math::sin_cos_f32(x);
        let results = [
            sin,
            cos,
            math::exp_f32(x),
            math::tanh_f32(x),
            math::ln_f32(x.abs() + 1e-3),
            math::sqrt_f32(x.abs()),
        ];
        results.iter().for_each(|y| digest.word(y.to_bits()));
    }
    digest.finish()
}

/// Feed both observers with `counts`; `compare` gets (tick, digest so far) every [`EVERY`] ticks.
pub fn observe(counts: impl Iterator<Item = [u32; 2]>, mut compare: impl FnMut(usize, u32)) {
    let mut observers = Observers::new(Setup::new(&configuration()));
    observers.go(Phase::Armed, Cause::Host);
    let mut digest = Digest::START;
    for (tick, raw) in counts.enumerate() {
        observers.step(tick as u64, raw);
        digest.state(&observers.state);
        if (tick + 1) % EVERY == 0 {
            compare(tick, digest.finish());
        }
    }
}
