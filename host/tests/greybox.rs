//! The grey box on simulated Furuta pendulums: start values that are far off, rigs that are not what they seem.

// Signals are made with the platform's mathematics.
#![allow(clippy::disallowed_methods)]

use stribeck::identify::data::dataset::Dataset;
use stribeck::identify::data::record::Record;
use stribeck::identify::fit::fitted::{Options, Prepared, fit};
use stribeck::identify::method::{self, greybox::Greybox};
use stribeck::identify::model::motion::free_run;
use stribeck::identify::model::parametric::{Coef, Freedom, Model, Param, Rig, model_friction};
use stribeck::identify::outcome::Outcome;
use stribeck_core::model::friction::Friction;
use stribeck_core::model::mismatch::{self, Mismatch};
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::{COUNTS_PER_REV, Encoder, Rng, Simulation, Truth};

const COUNT: f64 = std::f64::consts::TAU / COUNTS_PER_REV as f64;

/// Counts at 10 kHz of a pendulum with friction (μd0, μv0, μd1, μv1) and no Stribeck peak.
fn swing(mu: [f64; 4], start: [f64; 2], seconds: f64) -> Record {
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, d, v, 0.02, 1e-2]);
    let friction = [law(mu[0], mu[1]), law(mu[2], mu[3])];
    let plant = PlantConfig::Furuta(furuta::Config::default());
    let truth = Truth::new(&plant, friction, start, 1e-4, 2);
    let mut bench = Simulation::new(truth, [Encoder::default(); 2], 1);
    let n = (seconds * 1e4) as usize;
    let q = (0..n).map(|_| {
        let counts = bench.tick().counts;
        counts.map(|c| (f64::from(c as i32) + 0.5) * COUNT)
    });
    Record {
        name: "swing".into(),
        q: q.collect(),
        t: (0..n).map(|i| i as f64 * 1e-4).collect(),
        joints: 2,
        quantum: [COUNT; 2],
    }
}

fn rig(c: &furuta::Config) -> Rig {
    Rig::of(&PlantConfig::Furuta(*c))
}

/// The record with these parameters of the rig free and nothing known of them.
fn dataset(record: &Record, believed: &furuta::Config, free: &[Param]) -> Dataset {
    Dataset::passive(record, rig(believed)).with(Freedom::of(free))
}

/// Places in the table of the Furuta pendulum.
const TILT: Param = Param::Rig(0);
const ARM: Param = Param::Rig(1);

fn lean() -> Vec<Param> {
    let terms = [Coef::Coulomb, Coef::Viscous];
    (0..2)
        .flat_map(|j| terms.map(|c| Param::Friction(c, j)))
        .collect()
}

#[test]
fn start_values_five_times_off_are_forgiven() {
    let mut rng = Rng::new(11);
    let decade = |rng: &mut Rng, centre: f64| centre * 10f64.powf(rng.within(-0.4, 0.4));
    for run in 0..6 {
        let mu = [5e-4, 2.5e-4, 6e-4, 2.5e-4].map(|c| decade(&mut rng, c));
        let start = [rng.within(-0.5, 0.5), rng.within(1.2, 2.6)];
        let record = swing(mu, start, 10.0);
        let friction = Friction {
            vt: 0.02,
            fnt: 1e-2,
            ..Friction::NONE
        };
        let rig = rig(&furuta::Config::default());
        let mut model = Model::new(rig, [friction; 2], &lean());
        for (p, m) in lean().into_iter().zip(mu) {
            model.set(p, m * 5f64.powf(rng.within(-1.0, 1.0)));
        }
        let found = fit(
            &record,
            &Prepared::new(&record),
            &model,
            &[],
            &Options::default(),
        );
        assert!(found.converged, "run {run}");
        for ((p, m), s) in lean().into_iter().zip(mu).zip(&found.stderr) {
            let error = found.model.get(p) - m;
            assert!(
                error.abs() < 4.0 * s,
                "run {run}, {p:?}: {error} with σ {s}"
            );
        }
        for p in [0, 2] {
            let ratio = found.model.get(lean()[p]) / mu[p];
            assert!((ratio - 1.0).abs() < 2e-3, "run {run}: {ratio}");
        }
    }
}

#[test]
fn a_wrong_tilt_and_wrong_zeros_are_found() {
    let mu = [5e-4, 2.5e-4, 6e-4, 2.5e-4];
    let mut record = swing(mu, [0.3, 2.0], 15.0);
    // The zeros were set 20 counts off, to either side.
    for q in &mut record.q {
        *q = [q[0] + 20.0 * COUNT, q[1] - 20.0 * COUNT];
    }
    let believed = furuta::Config {
        tilt: 46f32.to_radians(),
        ..furuta::Config::default()
    };
    let refine = [TILT, Param::Offset(0), Param::Offset(1)];
    let data = dataset(&record, &believed, &refine);
    let motion = data.motion().unwrap();
    let terms = [Coef::Coulomb, Coef::Viscous];
    let found = motion.fit(&motion.model(&terms), &Options::default());
    assert!(found.converged);
    assert!(found.fit.iter().all(|f| *f > 99.999), "{:?}", found.fit);
    let tilt = found.model.get(TILT).to_degrees();
    assert!((tilt - 45.0).abs() < 0.01, "tilt {tilt}°");
    for (j, counts) in [20.0, -20.0].into_iter().enumerate() {
        let offset = found.model.get(Param::Offset(j)) / COUNT;
        assert!(
            (offset - counts).abs() < 0.5,
            "offset of joint {j}: {offset} counts"
        );
    }
    for (p, m) in lean().into_iter().zip(mu) {
        let ratio = found.model.get(p) / m;
        assert!((ratio - 1.0).abs() < 5e-3, "{p:?}: {ratio}");
    }
    // The rig as believed explains the record worse by far.
    let rigid = dataset(&record, &believed, &[]);
    let rigid = rigid.motion().unwrap();
    let worse = rigid.fit(&rigid.model(&terms), &Options::default());
    assert!(
        worse.rms[1] > 20.0 * found.rms[1],
        "{:?} {:?}",
        worse.rms,
        found.rms
    );
}

#[test]
fn an_inertia_is_found_beside_the_friction() {
    let mu = [5e-4, 2.5e-4, 6e-4, 2.5e-4];
    let record = swing(mu, [0.3, 2.0], 15.0);
    let truth = furuta::Config::default();
    let believed = furuta::Config {
        j1z: 1.05 * truth.j1z,
        ..truth
    };
    let data = dataset(&record, &believed, &[ARM]);
    let motion = data.motion().unwrap();
    let found = motion.fit(
        &motion.model(&[Coef::Coulomb, Coef::Viscous]),
        &Options::default(),
    );
    // The arm's inertia group of the truth over that of the belief, less one.
    let group =
        |c: &furuta::Config| c.j1z + c.m1 * c.l1 * c.l1 + c.m2 * c.arm_length * c.arm_length;
    let truth = f64::from(group(&truth) / group(&believed)) - 1.0;
    let error = found.model.get(ARM) - truth;
    assert!(
        found.converged && error.abs() < 3e-4,
        "arm inertia {} for {truth}",
        found.model.get(ARM)
    );
}

#[test]
fn the_first_state_alone_can_be_fitted() {
    let mu = [5e-4, 2.5e-4, 6e-4, 2.5e-4];
    let record = swing(mu, [0.3, 2.0], 10.0);
    let data = dataset(&record, &furuta::Config::default(), &[]);
    let motion = data.motion().unwrap();
    let mut model = motion.model(&[Coef::Coulomb, Coef::Viscous]);
    for (p, m) in lean().into_iter().zip(mu) {
        model.set(p, m);
    }
    let settled = motion.settle(&model);
    assert!(settled.model.free.is_empty());
    assert!((settled.start[1] - 2.0).abs() < COUNT && settled.start[3].abs() < 1e-2);
    assert!(settled.fit.iter().all(|f| *f > 99.999), "{:?}", settled.fit);
}

/// The integrator against the simulation's own fixed steps of 50 µs, through every corner of a 10 s run.
#[test]
fn the_free_run_follows_the_simulation() {
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, 1.2 * d, v, 5e-3, 1e-2]);
    let friction = [law(5e-4, 2.5e-4), law(6e-4, 2.5e-4)];
    let config = furuta::Config::default();
    let start = [0.3, 2.0];
    let mut truth = Truth::new(&PlantConfig::Furuta(config), friction, start, 1e-3, 20);
    let model = Model::furuta(&config, friction.map(|f| model_friction(&f)));
    let t: Vec<f64> = (0..10_000).map(|i| f64::from(i) * 1e-3).collect();
    let mut largest = 0.0f64;
    for q in free_run(&model, &[start[0], start[1], 0.0, 0.0], &t) {
        for (ours, theirs) in q.iter().zip(truth.q) {
            largest = largest.max((ours - theirs).abs());
        }
        truth.step();
    }
    // A five-hundredth of a count.
    assert!(largest < 3e-7, "{largest} rad");
}

/// The default command on a record, rig within its tolerances.
fn default_command(record: &Record) -> Outcome {
    let data = Dataset::passive(record, rig(&furuta::Config::default()));
    method::run(&Greybox, &data, &method::Options::default()).unwrap()
}

fn off_by(o: &Outcome, name: &str, truth: f64) -> f64 {
    let e = o.estimate(name).unwrap();
    (e.value - truth).abs() / e.stderr.unwrap()
}

const MU: [f64; 4] = [5e-4, 2.5e-4, 6e-4, 2.5e-4];
const NAMES: [&str; 4] = ["μd0", "μv0", "μd1", "μv1"];

#[test]
fn a_rig_that_is_not_exact_is_estimated_and_nothing_is_flagged() {
    let mismatch = Mismatch {
        zero: [0.005, -0.005],
        tilt: 0.008,
        m2: 0.01,
        j1z: 0.03,
        arm_length: -0.005,
        ..mismatch::NONE
    };
    let o = default_command(&bench(&mismatch, 20.0));
    assert!(o.verdict.holds(), "{:?}", o.verdict);
    for (name, truth) in NAMES.into_iter().zip(MU) {
        assert!(off_by(&o, name, truth) < 3.0, "{name}");
    }
    // The record alone knows more than the rig's tolerances leave.
    let e = o.estimate("μd1").unwrap();
    assert!(e.record_stderr.unwrap() < 0.5 * e.stderr.unwrap());
}

#[test]
fn a_friction_law_with_memory_is_not_explained() {
    let mismatch = Mismatch {
        memory: mismatch::Memory::LuGre(1e-3),
        ..mismatch::NONE
    };
    let o = default_command(&bench(&mismatch, 20.0));
    let wrong = NAMES
        .into_iter()
        .zip(MU)
        .any(|(name, truth)| off_by(&o, name, truth) > 3.0);
    assert!(!wrong || !o.verdict.holds(), "{:?}", o.verdict);
    if !o.verdict.holds() {
        assert!(o.estimates.iter().all(|e| !e.identifiable));
    }
}

/// Angles as the encoders show them on a bench with a mismatch.
fn bench(mismatch: &Mismatch, seconds: f64) -> Record {
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, 1.2 * d, v, 0.01, 1e-2]);
    let friction = [law(MU[0], MU[1]), law(MU[2], MU[3])];
    let config = furuta::Config::default();
    let mut truth = mismatch::Truth::new(&config, friction, mismatch, [0.3, 2.0], 1e-4, 1);
    let n = (seconds * 1e4) as usize;
    let mut rng = Rng::new(5);
    let q = (0..n).map(|_| {
        let shown = truth.shown();
        truth.step();
        shown.map(|x| ((x / COUNT + mismatch.noise_counts * rng.normal()).floor() + 0.5) * COUNT)
    });
    Record {
        name: "bench".into(),
        q: q.collect(),
        t: (0..n).map(|i| i as f64 * 1e-4).collect(),
        joints: 2,
        quantum: [COUNT; 2],
    }
}

#[test]
fn a_reversed_channel_is_an_error_and_a_gap_without_time_stamps_is_found() {
    let record = swing(MU, [0.3, 2.0], 12.0);
    let mut reversed = record.clone();
    for q in &mut reversed.q {
        q[1] = -q[1];
    }
    let data = Dataset::passive(&reversed, rig(&furuta::Config::default()));
    let e = method::run(&Greybox, &data, &method::Options::default()).unwrap_err();
    assert!(e.to_string().contains("reversed"), "{e}");
    // 40 ms are missing at 2 s, the time stamps go on as if nothing happened.
    let mut cut = record.clone();
    cut.q.drain(20_000..20_400);
    cut.t.truncate(cut.q.len());
    let data = Dataset::passive(&cut, rig(&furuta::Config::default()));
    let motion = data.motion().unwrap();
    assert!(motion.notes[0].contains("jumps"), "{:?}", motion.notes);
    assert!(
        (motion.record.duration() - 9.96).abs() < 0.05,
        "{}",
        motion.record.duration()
    );
}

#[test]
fn a_push_is_cut_out() {
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, d, v, 0.02, 1e-2]);
    let friction = [law(MU[0], MU[1]), law(MU[2], MU[3])];
    let plant = PlantConfig::Furuta(furuta::Config::default());
    let mut truth = Truth::new(&plant, friction, [0.3, 2.0], 1e-4, 2);
    let mut record = swing(MU, [0.3, 2.0], 0.01);
    record.q.clear();
    for i in 0..160_000 {
        if i == 40_000 {
            truth.w[1] += if truth.w[1] > 0.0 { 6.0 } else { -6.0 };
        }
        record
            .q
            .push(truth.q.map(|x| ((x / COUNT).floor() + 0.5) * COUNT));
        truth.step();
    }
    record.t = (0..record.q.len()).map(|i| i as f64 * 1e-4).collect();
    let o = default_command(&record);
    assert!(
        o.notes.iter().any(|n| n.contains("pushed")),
        "{:?}",
        o.notes
    );
    assert!(o.verdict.holds(), "{:?}", o.verdict);
    for (name, truth) in NAMES.into_iter().zip(MU) {
        assert!(off_by(&o, name, truth) < 4.0, "{name}");
    }
}

#[test]
fn light_friction_over_a_minute_and_fifty_counts_of_noise_converge() {
    let light = [1.5e-4, 0.8e-4, 2e-4, 0.8e-4];
    let o = default_command(&swing(light, [0.2, 2.2], 60.0));
    assert!(o.verdict.holds(), "{:?}", o.verdict);
    for (name, truth) in NAMES.into_iter().zip(light) {
        assert!(off_by(&o, name, truth) < 4.0, "{name}");
    }
    let noisy = Mismatch {
        noise_counts: 50.0,
        ..mismatch::NONE
    };
    let o = default_command(&bench(&noisy, 20.0));
    assert!(o.verdict.holds(), "{:?}", o.verdict);
    for (name, truth) in NAMES.into_iter().zip(MU) {
        assert!(off_by(&o, name, truth) < 4.0, "{name}");
    }
}
