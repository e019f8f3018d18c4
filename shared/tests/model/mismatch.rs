//! The bench that is not the model: without a mismatch it is the model, and every mismatch shows in the counts.

use stribeck_core::model::friction::Friction;
use stribeck_core::model::mismatch::{Mismatch, NONE, ROWS, Row, SEVERAL, Truth};
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::{self, REFERENCE_FRICTION, Rng};

use crate::random_furuta;

const DT_S: f64 = 1e-4;
/// One count of 40,000 [rad].
const COUNT: f64 = core::f64::consts::TAU / 40_000.0;

/// Kane's equations here, Lagrange's closed form there: the same motion, for rigs of every shape.
#[test]
fn without_mismatch_it_is_the_model() {
    let mut rng = Rng::new(5);
    for case in 0..20 {
        let rig = furuta::Config::from_values(random_furuta(&mut rng).map(|x| x as f32));
        let friction = REFERENCE_FRICTION.map(Friction::brown_mcphee);
        let q = [rng.within(-3.0, 3.0), rng.within(-3.0, 3.0)];
        let mut here = Truth::new(&rig, friction, &NONE, q, DT_S, 1);
        let mut there = sim::Truth::new(&PlantConfig::Furuta(rig), friction, q, DT_S, 1);
        for _ in 0..5_000 {
            here.step();
            there.step();
        }
        for j in 0..2 {
            let apart = (here.q()[j] - there.q[j]).abs();
            assert!(apart < 1e-8, "case {case} joint {j}: {apart:e} rad apart");
        }
        assert_eq!(here.shown(), here.q());
    }
}

/// Largest difference of what the encoders show over 5 s [counts].
fn seen(mismatch: &Mismatch) -> f64 {
    let rig = furuta::Config::default();
    let friction = REFERENCE_FRICTION.map(Friction::brown_mcphee);
    let start = |m: &Mismatch| Truth::new(&rig, friction, m, [0.3, 2.0], DT_S, 2);
    let (mut with, mut without) = (start(mismatch), start(&NONE));
    let mut most = 0f64;
    for _ in 0..50_000 {
        for (a, b) in with.shown().into_iter().zip(without.shown()) {
            most = most.max((a - b).abs() / COUNT);
        }
        with.step();
        without.step();
    }
    most
}

#[test]
fn every_row_shows_in_the_counts() {
    for row in ROWS.iter().chain([&SEVERAL]) {
        let m = row.mismatch(2);
        let counts = seen(&m);
        let visible = m != NONE && m.noise_counts == 0.0 || *row.name == *SEVERAL.name;
        assert_eq!(counts > 3.0, visible, "{}: {counts} counts", row.name);
        assert!(counts.is_finite());
    }
}

#[test]
fn the_sign_turns_with_the_seed_and_draws_stay_within_the_tolerances() {
    let named = |name: &str| -> Row { *ROWS.iter().find(|r| r.name.starts_with(name)).unwrap() };
    assert_eq!(named("m2").mismatch(1).m2, -named("m2").mismatch(2).m2);
    let drawn = named("all rig");
    assert_ne!(drawn.mismatch(1), drawn.mismatch(3));
    for seed in 0..200 {
        let m = drawn.mismatch(seed);
        assert!(m.m2.abs() <= 0.01 && m.arm_length.abs() <= 0.005, "{m:?}");
        assert!(m.zero.iter().all(|z| z.abs() <= 0.0123), "{m:?}");
    }
}
