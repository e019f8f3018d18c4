//! Plans whose bits must be the same on the chip and on the machine that built the test: `build.rs` and `tests/plan.rs` both run it.

use stribeck_core::control::predict::driven::Driven;
use stribeck_core::control::predict::planner::Planner;
use stribeck_core::control::predict::recipe::{self, ROWS, WEIGHTS};
use stribeck_core::device::digest::Digest;
use stribeck_core::model::friction::Linear;
use stribeck_core::model::plant::furuta;

/// The Furuta pendulum with an upright axis and the friction of paper 000's Table 3, softened.
pub fn model() -> Driven<f32, furuta::Furuta<f32>> {
    let friction = [5e-4, 6e-4].map(|mu_d| Linear {
        mu_d,
        mu_v: 2.5e-4,
        drag: 0.0,
        steepness: 5.0,
    });
    Driven::new(furuta::Furuta::new(&rig()), friction)
}

fn rig() -> furuta::Config {
    furuta::Config {
        tilt: 0.0,
        ..furuta::Config::default()
    }
}

/// A planner for at most .1 N·m that has planned nothing.
pub fn planner() -> Planner<f32, WEIGHTS, ROWS> {
    Planner::new(recipe::furuta(&rig(), 0.1).settings)
}

/// Starts of the plans: hanging, swinging, nearly upright.
pub const STARTS: [[f32; 4]; 3] = [[0.0; 4], [0.3, 1.2, -2.0, 3.5], [-0.4, 3.0, 0.5, 0.2]];

/// Digest of the weights of three plans, each continued by a second one.
pub fn digest() -> u32 {
    let model = model();
    let mut digest = Digest::START;
    for start in STARTS {
        let mut planner = planner();
        for _ in 0..2 {
            let (weights, done) = planner.next(&model, start);
            weights.iter().for_each(|w| digest.word(w.to_bits()));
            digest.word(done.iterations);
            planner.play(weights);
        }
    }
    digest.finish()
}
