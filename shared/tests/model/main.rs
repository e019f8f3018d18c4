//! The plants are right: three derivations agree, energy is kept, RK4 has its order, friction has its shape.
//!
//! `cargo test -p stribeck-core --release --test model`

// The standard library's functions are the independent reference here.
#![allow(clippy::disallowed_methods)]

mod errata;
mod friction;
mod lagrange;
mod memory;
mod mismatch;
mod motion;
mod newton_euler;
mod sensitivity;

use stribeck_core::model::sim::Rng;

/// Random plants and states tried by each derivation.
const CASES: usize = 20_000;

/// Furuta geometry in the order of `furuta::Config`, every value different, far beyond any rig.
fn random_furuta(rng: &mut Rng) -> [f64; 11] {
    [
        rng.within(0.05, 2.0),  // m1
        rng.within(0.05, 2.0),  // m2
        rng.within(1e-4, 1e-2), // j1z
        rng.within(1e-4, 1e-2), // j2x
        rng.within(1e-4, 1e-2), // j2y
        rng.within(1e-6, 1e-2), // j2z
        rng.within(0.01, 0.5),  // l1
        rng.within(0.01, 0.5),  // l2
        rng.within(0.05, 0.6),  // L1
        rng.within(-3.1, 3.1),  // tilt
        rng.within(1.0, 20.0),  // g
    ]
}

/// In the order of `pendulum::Config`, with the reaction as normal force.
fn random_pendulum(rng: &mut Rng) -> [f64; 6] {
    [
        rng.within(0.05, 2.0),
        rng.within(0.01, 0.5),
        rng.within(1e-4, 0.5),
        rng.within(-3.1, 3.1),
        rng.within(1.0, 20.0),
        0.0,
    ]
}

/// Angles of several turns, velocities up to 20 rad/s.
fn random_state(rng: &mut Rng) -> ([f64; 2], [f64; 2]) {
    let mut pair = |a: f64| [rng.within(-a, a), rng.within(-a, a)];
    (pair(10.0), pair(20.0))
}

/// |a − b| ≤ 1e-12·scale.
#[track_caller]
fn assert_close(a: f64, b: f64, scale: f64, what: &str) {
    assert!(
        (a - b).abs() <= 1e-12 * scale,
        "{what}: {a:e} and {b:e} differ by {:e} of {scale:e}",
        (a - b).abs() / scale
    );
}
