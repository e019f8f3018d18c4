//! The grey box by its default command on benches with another friction law, or with more than the plant's equations.

// Signals are made with the platform's mathematics.
#![allow(clippy::disallowed_methods)]

use stribeck::identify::data::dataset::Dataset;
use stribeck::identify::data::record::Record;
use stribeck::identify::method::{self, greybox::Greybox};
use stribeck::identify::model::parametric::Rig;
use stribeck::identify::outcome::Outcome;
use stribeck_core::model::friction::Friction;
use stribeck_core::model::mismatch::{Mismatch, NONE, Truth};
use stribeck_core::model::plant::tolerance::Tolerance;
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::COUNTS_PER_REV;

const COUNT: f64 = std::f64::consts::TAU / COUNTS_PER_REV as f64;
const MU: [f64; 4] = [5e-4, 2.5e-4, 6e-4, 2.5e-4];
const NAMES: [&str; 4] = ["μd0", "μv0", "μd1", "μv1"];
const START: [f64; 2] = [0.4, 2.2];

/// Readings over 20 s at 10 kHz of a bench with a mismatch.
fn bench(mismatch: &Mismatch) -> Record {
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, 1.2 * d, v, 0.01, 1e-2]);
    let friction = [law(MU[0], MU[1]), law(MU[2], MU[3])];
    let mut truth = Truth::new(
        &furuta::Config::default(),
        friction,
        mismatch,
        START,
        1e-4,
        1,
    );
    let q = (0..200_000).map(|_| {
        let shown = truth.shown();
        truth.step();
        shown.map(counted)
    });
    record(q.collect())
}

fn counted(x: f64) -> f64 {
    ((x / COUNT).floor() + 0.5) * COUNT
}

fn record(q: Vec<[f64; 2]>) -> Record {
    Record {
        name: "bench".into(),
        t: (0..q.len()).map(|i| i as f64 * 1e-4).collect(),
        q,
        joints: 2,
        quantum: [COUNT; 2],
    }
}

fn rig() -> Rig {
    Rig::of(&PlantConfig::Furuta(furuta::Config::default()))
}

fn identified(record: &Record, rig: Rig) -> Outcome {
    let data = Dataset::passive(record, rig);
    method::run(&Greybox, &data, &method::Options::default()).unwrap()
}

/// Explained, the friction within three standard errors, and `name` within four of `truth`.
fn found(mismatch: &Mismatch, expected: &[(&str, f64)]) {
    let o = identified(&bench(mismatch), rig());
    let table = o.choice.join("\n");
    assert!(o.verdict.holds(), "{}\n{table}", o.verdict.line());
    let truths = NAMES.into_iter().zip(MU);
    for (name, truth) in truths.chain(expected.iter().copied()) {
        let e = o
            .estimate(name)
            .unwrap_or_else(|| panic!("no {name}\n{table}"));
        let off = (e.value - truth).abs() / e.stderr.unwrap();
        assert!(
            off < 4.0 && e.identifiable,
            "{name}: {off} σ, {}\n{table}",
            e.why
        );
    }
}

#[test]
fn an_eccentric_disc_is_found_with_its_phase() {
    let (e, phase) = (0.9e-3, 0.7f64);
    let mismatch = Mismatch {
        eccentricity: [e; 2],
        phase,
        ..NONE
    };
    found(
        &mismatch,
        &[
            ("disc1 sin", e * phase.cos()),
            ("disc1 cos", e * phase.sin()),
        ],
    );
}

#[test]
fn friction_that_varies_over_the_angle_is_found() {
    let mismatch = Mismatch {
        position: 0.3,
        ..NONE
    };
    found(&mismatch, &[("sin 2θ0", 0.3)]);
}

#[test]
fn a_preload_is_told_from_load() {
    let mismatch = Mismatch {
        preload: true,
        ..NONE
    };
    found(&mismatch, &[("preload0", 1.0), ("preload1", 1.0)]);
}

#[test]
fn an_asymmetry_is_found() {
    let mismatch = Mismatch {
        asymmetry: 0.1,
        ..NONE
    };
    found(&mismatch, &[("Δd0", -0.1 * MU[0]), ("Δd1", -0.1 * MU[2])]);
}

/// A hand lifts both links for 1.5 s before it lets go.
#[test]
fn a_hand_at_the_beginning_is_cut_off() {
    let free = bench(&NONE);
    let hand = (0..15_000).map(|i| {
        let s = f64::from(i) / 15_000.0;
        let eased = s * s * (3.0 - 2.0 * s);
        START.map(|x| counted(0.4 * x + 0.6 * x * eased))
    });
    let o = identified(&record(hand.chain(free.q.iter().copied()).collect()), rig());
    assert!(
        o.notes.iter().any(|n| n.contains("not free motion")),
        "{:?}",
        o.notes
    );
    assert!(o.verdict.holds(), "{}", o.verdict.line());
    for (name, truth) in NAMES.into_iter().zip(MU) {
        let e = o.estimate(name).unwrap();
        assert!((e.value - truth).abs() < 3.0 * e.stderr.unwrap(), "{name}");
    }
    // Without a hand nothing is cut off at the beginning.
    let data = Dataset::passive(&free, rig());
    let used = data.motion().unwrap().record.q[0];
    assert_eq!(used, free.q[0]);
}

#[test]
fn intervals_follow_the_stated_tolerances() {
    let record = bench(&NONE);
    let tight = Tolerance {
        m1: 2e-3,
        m2: 2e-3,
        l2: 1e-3,
        ..Tolerance::default()
    };
    let usual = identified(&record, rig());
    let known = identified(&record, rig().within(&tight));
    for name in NAMES {
        let stderr = |o: &Outcome| o.estimate(name).unwrap().stderr.unwrap();
        let ratio = stderr(&known) / stderr(&usual);
        assert!(ratio < 0.2, "{name}: {ratio}");
    }
    // What is exact is not estimated, what is not stated stays as it was.
    let exact = rig().within(&Tolerance::EXACT).freedom();
    assert!(exact.free.is_empty(), "{:?}", exact.free);
    assert_eq!(
        rig().within(&Tolerance::default()).freedom(),
        rig().freedom()
    );
}
