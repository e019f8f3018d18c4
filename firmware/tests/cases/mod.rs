//! Computations whose bits must be the same on the chip and on the machine that built the test.
//!
//! Included by `build.rs`, which runs them on the host, and by `tests/bits.rs`, which runs them on the
//! target and compares.

use stribeck_core::device::config::Config;
use stribeck_core::device::digest::Digest;
use stribeck_core::device::run::{Cause, Phase};
use stribeck_core::device::{Observers, Setup};
use stribeck_core::model::plant::PlantConfig;
use stribeck_core::number::math;

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

/// Ticks of each plant's case.
#[allow(dead_code)] // For build.rs.
pub const PLANT_STEPS: usize = 3_500;

/// The same for the plant of this number in the list.
pub fn configuration_of(plant: usize) -> Config {
    let named = PlantConfig::NAMES
        .get(plant)
        .and_then(|n| PlantConfig::named(n));
    let mut config = named.map_or_else(Config::default, Config::of_plant);
    config.ekf.start_s = 0.25;
    config.ekf.start_max_s = 0.3;
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

/// One device through all plants of the list, switched by configuration as a host does it; `compare` gets (plant, digest of its case).
pub fn switch_plants<I: Iterator<Item = [u32; 2]>>(
    counts: impl Fn(usize) -> I,
    mut compare: impl FnMut(usize, u32),
) {
    let mut observers = Observers::new(Setup::new(&configuration()));
    for plant in 0..PlantConfig::NAMES.len() {
        observers.configure(&mut Setup::new(&configuration_of(plant)));
        observers.go(Phase::Armed, Cause::Host);
        let mut digest = Digest::START;
        for (tick, raw) in counts(plant).enumerate() {
            observers.step(tick as u64, raw);
            digest.state(&observers.state);
        }
        compare(plant, digest.finish());
    }
}
