//! The observers of the chip, run over a record: the same code, in f32 as on chip or in f64. Here the UAS observer and
//! what it shares with the joint EKF ([`super::kalman`]).
//!
//! Both need evenly spaced samples: an uneven record is interpolated to its median rate. A pendulum is given per unit of
//! inertia with a constant normal force of 1, its ω0² from the record when it is not known.

use stribeck_core::friction::Friction;
use stribeck_core::plant::{PlantConfig, furuta, pendulum};
use stribeck_core::scalar::Scalar;
use stribeck_core::tracker;
use stribeck_core::uas::{self, Uas};

use crate::error::Result;

use super::model::{Coef, Model, Rig, model_friction};
use super::outcome::{Estimate, Outcome};
use super::smooth::local;
use super::subject::Subject;

/// Arithmetic of the observers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Precision {
    /// As on chip
    F32,
    F64,
}

/// The rig as the observers are configured.
pub(super) fn plant(rig: &Rig) -> PlantConfig {
    match rig {
        Rig::Furuta(v) => PlantConfig::Furuta(furuta::Config::from_values(v.map(|x| x as f32))),
        Rig::Pendulum { omega0_sq, .. } => PlantConfig::Pendulum(pendulum::Config {
            mass: *omega0_sq as f32,
            length: 1.0,
            inertia: 1.0,
            tilt: 0.0,
            gravity: 1.0,
            load: 1.0,
        }),
    }
}

/// Angles at a constant rate, less the model's offset; the time between them [s].
pub(super) fn even(subject: &Subject, model: &Model) -> (f64, Vec<[f64; 2]>) {
    let r = &subject.record;
    let dt = r.dt();
    let uneven =
        r.t.windows(2)
            .any(|w| ((w[1] - w[0]) / dt - 1.0).abs() > 0.05);
    let offset = model.offset;
    if !uneven {
        let q =
            r.q.iter()
                .map(|q| [q[0] - offset[0], q[1] - offset[1]])
                .collect();
        return (dt, q);
    }
    let n = (r.duration() / dt).floor() as usize;
    let half = (3.0 * dt).min(0.2 * subject.prepared.scale);
    let joints: Vec<Vec<f64>> = (0..r.joints).map(|j| r.joint(j)).collect();
    let q = (0..n)
        .map(|i| {
            let mut q = [0.0; 2];
            for (j, x) in joints.iter().enumerate() {
                q[j] = local(&r.t, x, i as f64 * dt, half).q - offset[j];
            }
            q
        })
        .collect();
    (dt, q)
}

/// Names and units of the observer's ten parameters.
const UAS_LABELS: [(&str, &str); 10] = [
    ("μd0", "m"),
    ("μs0", "m"),
    ("μv0", "N·m·s"),
    ("vt0", "rad/s"),
    ("Fnt0", "N"),
    ("μd1", "m"),
    ("μs1", "m"),
    ("μv1", "N·m·s"),
    ("vt1", "rad/s"),
    ("Fnt1", "N"),
];

/// The UAS observer over the record. Its parameters are a prior: each is printed beside the fixed point of its law.
pub fn uas(subject: &Subject, precision: Precision) -> Result<Outcome> {
    let began = std::time::Instant::now();
    let base = subject.model(&[Coef::Coulomb, Coef::Viscous]);
    let config = uas::Config {
        mode: uas::Mode::Bench,
        ..uas::Config::default()
    };
    let (dt, q) = even(subject, &base);
    let rig = plant(&base.rig);
    let z = match precision {
        Precision::F32 => run_uas::<f32>(&rig, &config, dt, &q, |x| x as f32),
        Precision::F64 => run_uas::<f64>(&rig, &config, dt, &q, |x| x),
    };
    let mut model = base.clone();
    model.free = Vec::new();
    for j in 0..2 {
        let mut p: [f64; 5] = std::array::from_fn(|i| z[5 * j + i]);
        // A free run cannot follow a sharper corner than this in reasonable time.
        p[3] = p[3].max(5e-3);
        model.friction[j] = model_friction(&Friction::brown_mcphee(p));
    }
    let settled = subject.settle(&model);
    for &p in &settled.model.free {
        model.set(p, settled.model.get(p));
    }
    let mut out = subject.outcome("uas", &model, &settled.start, &[], began);
    let fixed = config.fixed_point();
    out.estimates = (0..5 * subject.rig.joints())
        .map(|i| {
            let (name, unit) = UAS_LABELS[i];
            let (initial, end) = (f64::from(config.bounds[i].initial), f64::from(fixed[i]));
            let moved = if initial == end {
                0.0
            } else {
                (z[i] - initial) / (end - initial)
            };
            Estimate {
                name: name.into(),
                value: z[i],
                stderr: None,
                unit,
                identifiable: false,
                why: format!(
                    "prior: fixed point {end:.4e}, {:.1} % of the way",
                    100.0 * moved
                ),
            }
        })
        .collect();
    out.notes.push(
        "the UAS parameter law contains no measurement: it ends at its fixed point on any record"
            .into(),
    );
    Ok(out)
}

fn run_uas<S: Scalar>(
    plant: &PlantConfig,
    config: &uas::Config,
    dt: f64,
    q: &[[f64; 2]],
    to: impl Fn(f64) -> S,
) -> [f64; 10] {
    let observer = Uas::<S>::new(plant, config, &tracker::Config::default(), to(dt));
    let mut state = observer.start(q[0].map(&to));
    for q in &q[1..] {
        observer.step(&mut state, q.map(&to));
    }
    state.z.map(S::to_f64)
}
