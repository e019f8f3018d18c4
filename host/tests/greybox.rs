//! The grey box on simulated Furuta pendulums: start values that are far off, rigs that are not what they seem.

use stribeck::identify::greybox::{Options, Prepared, fit};
use stribeck::identify::model::{Coef, Model, Param, Rig};
use stribeck::identify::motion::free_run;
use stribeck::identify::record::Record;
use stribeck::identify::subject::Subject;
use stribeck_core::friction::Friction;
use stribeck_core::plant::{PlantConfig, furuta};
use stribeck_core::sim::{Bench, COUNTS_PER_REV, Encoder, Rng, Truth};

const COUNT: f64 = std::f64::consts::TAU / COUNTS_PER_REV as f64;

/// Counts at 10 kHz of a pendulum with friction (μd0, μv0, μd1, μv1) and no Stribeck peak.
fn swing(mu: [f64; 4], start: [f64; 2], seconds: f64) -> Record {
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, d, v, 0.02, 1e-2]);
    let friction = [law(mu[0], mu[1]), law(mu[2], mu[3])];
    let plant = PlantConfig::Furuta(furuta::Config::default());
    let truth = Truth::new(&plant, friction, start, 1e-4, 2);
    let mut bench = Bench::new(truth, [Encoder::default(); 2], 1);
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
        let rig = Rig::furuta(&furuta::Config::default());
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
    let refine = [Param::Tilt, Param::Offset(0), Param::Offset(1)];
    let subject = Subject::new(&record, Rig::furuta(&believed), &refine, true).unwrap();
    let terms = [Coef::Coulomb, Coef::Viscous];
    let found = subject.fit(&subject.model(&terms), &Options::default());
    assert!(found.converged);
    assert!(found.fit.iter().all(|f| *f > 99.999), "{:?}", found.fit);
    let tilt = found.model.get(Param::Tilt).to_degrees();
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
    let rigid = Subject::new(&record, Rig::furuta(&believed), &[], true).unwrap();
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
    let subject =
        Subject::new(&record, Rig::furuta(&believed), &[Param::ArmInertia], true).unwrap();
    let found = subject.fit(
        &subject.model(&[Coef::Coulomb, Coef::Viscous]),
        &Options::default(),
    );
    let ratio = found.model.get(Param::ArmInertia) / f64::from(truth.j1z);
    assert!(
        found.converged && (ratio - 1.0).abs() < 1e-3,
        "j1z {ratio} of the truth"
    );
}

#[test]
fn the_first_state_alone_can_be_fitted() {
    let mu = [5e-4, 2.5e-4, 6e-4, 2.5e-4];
    let record = swing(mu, [0.3, 2.0], 10.0);
    let rig = Rig::furuta(&furuta::Config::default());
    let subject = Subject::new(&record, rig, &[], true).unwrap();
    let mut model = subject.model(&[Coef::Coulomb, Coef::Viscous]);
    for (p, m) in lean().into_iter().zip(mu) {
        model.set(p, m);
    }
    let settled = subject.settle(&model);
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
    let rig = Rig::furuta(&config);
    let model = Model::new(
        rig,
        friction.map(|f| stribeck::identify::model::model_friction(&f)),
        &[],
    );
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
