//! The observers of the chip, run over a record: the same code, in f32 as on chip or in f64. Here the UAS observer and
//! what it shares with the joint EKF ([`crate::identify::method::kalman`]).
//!
//! Both need evenly spaced samples: an uneven record is interpolated to its median rate. A pendulum is given per unit of
//! inertia with a constant normal force of 1, its ω0² from the record when it is not known.

use stribeck_core::model::friction::Friction;
use stribeck_core::model::parameter::{self, Parameter};
use stribeck_core::model::plant::PlantConfig;
use stribeck_core::number::scalar::Scalar;
use stribeck_core::observer::tracker;
use stribeck_core::observer::uas::{self, Uas};

use crate::error::Result;

use crate::identify::data::dataset::Dataset;
use crate::identify::data::free_motion::FreeMotion;
use crate::identify::data::smooth::local;
use crate::identify::method::{Method, Options, Precision};
use crate::identify::model::parametric::{Coef, Model, model_friction};
use crate::identify::outcome::{Estimate, Knowledge, Outcome};
use crate::identify::verdict::Verdict;

/// Angles at a constant rate, less the model's offset; the time between them [s].
pub(super) fn even(motion: &FreeMotion, model: &Model) -> (f64, Vec<[f64; 2]>) {
    let r = &motion.record;
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
    let half = (3.0 * dt).min(0.2 * motion.prepared.scale);
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

/// The UAS observer over the record. Its parameters are a prior: each is printed beside the fixed point of its law.
pub struct UasObserver;

impl Method for UasObserver {
    fn name(&self) -> &'static str {
        "uas"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        if data.is_passive(2) {
            Ok(())
        } else {
            Err("it is for the angles of two joints".into())
        }
    }

    fn run(&self, data: &Dataset, options: &Options) -> Result<Outcome> {
        let motion = data.motion()?;
        let base = motion.model(&[Coef::Coulomb, Coef::Viscous]);
        let config = uas::Config {
            mode: uas::Mode::Bench,
            ..uas::Config::default()
        };
        let (dt, q) = even(motion, &base);
        let rig = base.rig.config();
        let z = match options.precision {
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
        let settled = motion.settle(&model);
        model.adopt(&settled.model, &settled.model.free);
        let known = Knowledge {
            model: &model,
            start: &settled.start,
            stderr: &[],
            covariance: None,
            freedom: 0.0,
        };
        let mut out = Outcome::of(self.name(), Verdict::Prior, motion, &known);
        out.estimates = priors(&config, &rig, &z);
        out.notes.push(
            "the UAS parameter law contains no measurement: it ends at its fixed point on any record"
                .into(),
        );
        Ok(out)
    }
}

/// Each parameter with the fixed point of its law and how far it has come.
fn priors(config: &uas::Config, plant: &PlantConfig, z: &[f64; 10]) -> Vec<Estimate> {
    let joints = plant.joints();
    let fixed = config.fixed_point();
    let one = |(i, p): (usize, &Parameter)| {
        let (initial, end) = (f64::from(config.bounds[i].initial), f64::from(fixed[i]));
        let moved = if initial == end {
            0.0
        } else {
            (z[i] - initial) / (end - initial)
        };
        let why = format!(
            "prior: fixed point {end:.4e}, {:.1} % of the way",
            100.0 * moved
        );
        Estimate::prior(p.symbol, z[i], p.unit_at(joints[i / 5]), why)
    };
    parameter::UAS.iter().enumerate().map(one).collect()
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
