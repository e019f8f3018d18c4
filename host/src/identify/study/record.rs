//! Records with known truths: two joints on a bench that is not the model, one joint with any encoder.

use stribeck_core::model::friction::Friction;
use stribeck_core::model::mismatch::{self, Kind, Truth};
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::{COUNTS_PER_REV, Rng};

use super::Row;
use crate::identify::data::dataset::Dataset;
use crate::identify::data::record::Record;
use crate::identify::model::motion::free_run;
use crate::identify::model::parametric::{Freedom, Model, Rig};
use crate::identify::model::plant::pendulum;
use crate::number;

/// A dataset and what is true of it.
pub struct Sample {
    pub data: Dataset,
    pub truth: Vec<(&'static str, f64)>,
}

/// Ticks per second of the bench.
const TICK_S: f64 = 1e-4;

/// Two joints, as the rig file says it: white noise on the counts, the rig known exactly or to its tolerances.
pub fn clean(seconds: f64, noise: f64, exact: bool) -> Row {
    let mismatch = mismatch::Mismatch {
        noise_counts: noise,
        ..mismatch::NONE
    };
    Row {
        name: format!("noise {noise} counts"),
        clean: true,
        make: Box::new(move |seed| {
            let mut sample = two_joints(seconds, &mismatch, seed);
            if exact {
                sample.data = sample.data.with(Freedom::none());
            }
            sample
        }),
    }
}

/// Two joints on every kind of bench that is not the model.
pub fn mismatched(seconds: f64) -> Vec<Row> {
    mismatch::ROWS
        .iter()
        .chain([&mismatch::SEVERAL])
        .map(|row| Row {
            name: row.name.into(),
            clean: row.kind == Kind::Clean,
            make: Box::new(move |seed| two_joints(seconds, &row.mismatch(seed), seed)),
        })
        .collect()
}

/// A random rig swinging: friction over a decade, tilt 15 to 65°, start angles ±0.5 rad and 60 to 160°, a Stribeck peak.
fn two_joints(seconds: f64, mismatch: &mismatch::Mismatch, seed: u64) -> Sample {
    let mut rng = Rng::new(seed);
    let tilt = rng.within(15.0, 65.0).to_radians();
    let config = furuta::Config {
        tilt: tilt as f32,
        ..furuta::Config::default()
    };
    let mut decade = |centre: f64| centre * number::powf(10f64, rng.within(-0.5, 0.5));
    let mu = [decade(5e-4), decade(2.5e-4), decade(6e-4), decade(2.5e-4)];
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, 1.2 * d, v, 5e-3, 1e-2]);
    let friction = [law(mu[0], mu[1]), law(mu[2], mu[3])];
    let start = [rng.within(-0.5, 0.5), rng.within(60.0, 160.0).to_radians()];
    let mut bench = Truth::new(&config, friction, mismatch, start, TICK_S, 1);
    let count = std::f64::consts::TAU / f64::from(COUNTS_PER_REV);
    let n = (seconds / TICK_S) as usize;
    let mut q = Vec::with_capacity(n);
    for _ in 0..n {
        // Counts are rounded down: the middle of the count is the best guess.
        q.push(bench.shown().map(|x| {
            let noise = if mismatch.noise_counts > 0.0 {
                mismatch.noise_counts * rng.normal()
            } else {
                0.0
            };
            ((x / count + noise).floor() + 0.5) * count
        }));
        bench.step();
    }
    let record = Record {
        name: format!("truth {seed}"),
        t: (0..n).map(|i| i as f64 * TICK_S).collect(),
        q,
        joints: 2,
        quantum: [count; 2],
    };
    let names = ["μd0", "μv0", "μd1", "μv1"];
    let mut truth: Vec<(&'static str, f64)> = names.into_iter().zip(mu).collect();
    truth.extend([("d0", 0.0), ("d1", mismatch.drag)]);
    // A law with memory has another peak, or none.
    if mismatch.memory == mismatch::Memory::None {
        let peak = |d: f64| 0.2 * d;
        truth.extend([("μs−μd 0", peak(mu[0])), ("vt0", 5e-3)]);
        truth.extend([("μs−μd 1", peak(mu[2])), ("vt1", 5e-3)]);
    }
    Sample {
        data: Dataset::passive(&record, Rig::of(&PlantConfig::Furuta(config))),
        truth,
    }
}

/// One joint with any encoder: 50 Hz to 1 kHz, 2,000 to 16,384 counts, friction over a decade and a half.
pub fn one_joint() -> Row {
    Row {
        name: "one joint".into(),
        clean: true,
        make: Box::new(single),
    }
}

fn single(seed: u64) -> Sample {
    let mut rng = Rng::new(!seed);
    let mut decade = |low: f64, high: f64| low * number::powf(high / low, rng.uniform());
    let omega0_sq = decade(15.0, 120.0);
    // Friction that lets it swing ten to eighty times.
    let coulomb = omega0_sq * decade(2e-3, 2e-2);
    let viscous = decade(0.01, 0.2);
    let drag = decade(1e-3, 1e-2);
    let rate = decade(50.0, 1000.0);
    let counts = decade(2000.0, 16384.0).round();
    let noise = decade(0.1, 3.0);
    let seconds = rng.within(8.0, 40.0);
    let first = rng.within(45.0, 170.0).to_radians();
    let friction = Friction {
        mu_d: coulomb,
        mu_v: viscous,
        drag,
        vt: 0.02,
        fnt: 1e-2,
        ..Friction::NONE
    };
    let rig = |w: Option<f64>| Rig::Pendulum(pendulum::Rig::unknown(w, None));
    let t: Vec<f64> = (0..(seconds * rate) as usize)
        .map(|i| i as f64 / rate)
        .collect();
    let model = Model::new(rig(Some(omega0_sq)), [friction; 2], &[]);
    let count = std::f64::consts::TAU / counts;
    let q = free_run(&model, &[first, 0.0, 0.0, 0.0], &t)
        .iter()
        .map(|q| {
            [
                ((q[0] / count + noise * rng.normal()).floor() + 0.5) * count,
                0.0,
            ]
        })
        .collect();
    let record = Record {
        name: format!("truth {seed}"),
        t,
        q,
        joints: 1,
        quantum: [count, 0.0],
    };
    Sample {
        data: Dataset::passive(&record, rig(None)),
        truth: vec![
            ("ω0²", omega0_sq),
            ("c/J", coulomb),
            ("b/J", viscous),
            ("d/J", drag),
        ],
    }
}
