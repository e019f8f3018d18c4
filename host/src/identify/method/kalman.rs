//! The joint EKF of the chip, run over a record: the same code, in f32 as on chip or in f64.
//!
//! A Furuta pendulum gets the chip's one pass with the chip's configuration. A pendulum is given per unit of inertia, so
//! its configuration follows from the record: noise levels scale with ω0², the reading's variance is what a fit of the
//! whole record leaves unexplained, and the filter takes its rig (ω0², offset) from that fit.
//!
//! One pass starts about friction found in the first seconds, and early corrections are made about a poor estimate. The
//! pendulum's record is therefore passed again, started from the last estimate with a wide prior (so nothing is counted
//! twice), once with little and once with more torque noise: which of the two suits depends on how far the friction law
//! is from the truth. The better free run decides.

use stribeck_core::ekf::{self, Ekf};
use stribeck_core::plant::PlantConfig;
use stribeck_core::scalar::Scalar;

use crate::error::{Error, Result};

use super::greybox::{Fitted, Options};
use super::model::{Coef, Model, Param, Rig};
use super::online::{Precision, even, plant};
use super::outcome::Outcome;
use super::subject::Subject;

/// Friction terms of the filter, in the order of its parameters.
const TERMS: [Coef; 3] = [Coef::Coulomb, Coef::Viscous, Coef::Drag];
/// Torque noise densities tried, per ω0³ of a pendulum of unit inertia.
const TORQUE_NOISE: [f64; 2] = [1e-9, 1e-7];
/// Passes with each of them.
const PASSES: usize = 2;
/// Longest integration step [s].
const STEP_S: f64 = 1e-3;

/// A record and the filter's constants for it.
struct Passage {
    plant: PlantConfig,
    config: ekf::Config,
    precision: Precision,
    dt: f64,
    count: [f64; 2],
    q: Vec<[f64; 2]>,
}

/// What one pass over the record leaves.
#[derive(Clone, Copy)]
struct Passed {
    p: [f64; ekf::PARAMETERS],
    sigma: [f64; ekf::PARAMETERS],
    stage: u8,
    /// Standard deviation the filter took a reading for [rad].
    noise: [f64; 2],
}

/// Where a pass starts in stage C.
struct Known {
    w: [f64; 2],
    p: [f64; ekf::PARAMETERS],
    sigma: [f64; ekf::PARAMETERS],
}

impl Passage {
    fn pass(&self, from: Option<&Known>) -> Passed {
        match self.precision {
            Precision::F32 => self.pass_in::<f32>(from),
            Precision::F64 => self.pass_in::<f64>(from),
        }
    }

    fn pass_in<S: Scalar>(&self, from: Option<&Known>) -> Passed {
        let filter = Ekf::<S>::new(
            &self.plant,
            &self.config,
            S::lit(self.dt),
            self.count.map(S::lit),
        );
        let first = self.q[0].map(S::lit);
        let mut state = match from {
            None => filter.start(first),
            Some(k) => filter.resume(first, k.w.map(S::lit), k.p.map(S::lit), k.sigma.map(S::lit)),
        };
        for q in &self.q[1..] {
            filter.step(&mut state, q.map(S::lit));
        }
        let e = filter.estimate(&state);
        Passed {
            p: e.p.map(S::to_f64),
            sigma: e.sigma.map(S::to_f64),
            stage: e.stage,
            noise: filter.noise(&state).map(S::to_f64),
        }
    }

    fn validate(&self) -> Result<()> {
        self.config
            .validate()
            .map_err(|e| Error::invalid(e.to_string(), "change the record or the rig"))
    }
}

/// The joint EKF over the record.
pub fn identify(subject: &Subject, precision: Precision) -> Result<Outcome> {
    match subject.rig {
        Rig::Furuta(_) => furuta(subject, precision),
        Rig::Pendulum { .. } => pendulum(subject, precision),
    }
}

/// One covariance cycle per sample and short integration steps, for records sampled slower than the chip.
fn paced(mut config: ekf::Config, dt: f64) -> ekf::Config {
    if dt > 0.5 * STEP_S {
        config.cycle = 1;
        config.substeps = (dt / STEP_S).ceil().min(100.0) as u8;
    }
    config
}

fn furuta(subject: &Subject, precision: Precision) -> Result<Outcome> {
    let began = std::time::Instant::now();
    let model = subject.model(&TERMS[..2]);
    let (dt, q) = even(subject, &model);
    let passage = Passage {
        plant: plant(&model.rig),
        config: paced(ekf::Config::default(), dt),
        precision,
        dt,
        count: std::array::from_fn(|j| subject.record.resolution(j).max(1e-6)),
        q,
    };
    passage.validate()?;
    let passed = passage.pass(None);
    let taken = Taken::new(subject, &model, &passage.config, &passed);
    let mut out = taken.outcome(subject, [1.0; 2], began);
    if passed.stage != ekf::STAGE_JOINT {
        out.notes
            .push("the joint stage never started: the record is too short or too quiet".into());
    }
    Ok(out)
}

fn pendulum(subject: &Subject, precision: Precision) -> Result<Outcome> {
    let began = std::time::Instant::now();
    let rig = dissipative(subject);
    let mut model = subject.model(&TERMS);
    for &p in &subject.free_rig {
        model.set(p, rig.model.get(p));
    }
    let (dt, q) = even(subject, &model);
    let w2 = model.get(Param::Omega0Squared);
    let w0 = w2.sqrt();
    let length = subject.record.duration();
    let scale = subject.prepared.scale;
    // The filter takes count²/3 for the variance of a reading: at least what the fit left unexplained.
    let count = subject
        .record
        .resolution(0)
        .max(3f64.sqrt() * rig.rms[0])
        .max(1e-6);
    let defaults = ekf::Config::default();
    let start_s = (0.2 * length as f32).clamp(0.5, 3.0);
    let config = ekf::Config {
        // A term that the whole record does not support is not for the filter to find either.
        drag: rig.model.free.contains(&Param::Friction(Coef::Drag, 0)),
        vt: [(5e-3 * w0) as f32; 2],
        torque_noise: (TORQUE_NOISE[0] * w0.powi(3)) as f32,
        slip_torque: (2e-4 * w2) as f32,
        slip_speed: (0.012 * w0) as f32,
        still_speed: (5e-3 * w0) as f32,
        prior: [(0.1 * w2) as f32, (0.3 * w0) as f32, 0.3],
        start_s,
        start_max_s: 2.0 * start_s,
        window_s: (0.4 * scale).max(4.0 * dt) as f32,
        ..defaults
    };
    let mut passage = Passage {
        plant: plant(&model.rig),
        config: paced(config, dt),
        precision,
        dt,
        count: [count; 2],
        q,
    };
    passage.validate()?;
    let first = passage.pass(None);
    let mut from = first.p;
    if first.stage != ekf::STAGE_JOINT {
        // Too short for the chip's own start: the momentum balance of the whole record instead.
        for (x, c) in from.iter_mut().zip(TERMS) {
            *x = model.get(Param::Friction(c, 0)).max(0.0);
        }
    }
    passage.config.doubt = 1.0;
    let mut best = Taken::new(subject, &model, &passage.config, &first);
    for density in TORQUE_NOISE {
        passage.config.torque_noise = (density * w0.powi(3)) as f32;
        let mut p = from;
        let mut passed = first;
        for _ in 0..PASSES {
            let wide = [0.025 * w2 + p[0], 0.05 * w0 + p[1], 0.05 + p[2]];
            passed = passage.pass(Some(&Known {
                w: [rig.start[1], 0.0],
                p,
                sigma: [wide[0], wide[1], wide[2], 0.0, 0.0, 0.0],
            }));
            p = passed.p;
        }
        let taken = Taken::new(subject, &model, &passage.config, &passed);
        if taken.settled.fit[0] > best.settled.fit[0] {
            best = taken;
        }
    }
    // Residuals of a law that is nearly right hang together: so many readings are worth fewer independent ones.
    let worth = rig.rms[0] * (subject.record.t.len() as f64 / rig.effective).sqrt();
    let doubt = (worth / best.passed.noise[0]).max(1.0);
    let mut out = best.outcome(subject, [doubt, 1.0], began);
    out.notes.push(format!(
        "the filter ran {} times over the record, each time from the last estimate",
        1 + PASSES
    ));
    Ok(out)
}

/// Coulomb, viscous and quadratic friction fitted to the whole record; a term that would drive is left out.
fn dissipative(subject: &Subject) -> Fitted {
    let options = Options {
        iterations: 15,
        tolerance: 0.1,
        ..Options::default()
    };
    let mut model = subject.model(&TERMS);
    let mut terms = TERMS.to_vec();
    loop {
        let fitted = subject.fit(&model, &options);
        let worst = fitted
            .model
            .free
            .iter()
            .zip(&fitted.stderr)
            .filter_map(|(&p, s)| match p {
                Param::Friction(c, 0) => Some((c, fitted.model.get(p) / s)),
                _ => None,
            })
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match worst {
            Some((c, t)) if t < 0.0 && terms.len() > 1 => {
                terms.retain(|x| *x != c);
                model = subject.model(&terms);
                for &p in &model.free.clone() {
                    model.set(p, fitted.model.get(p));
                }
            }
            _ => return fitted,
        }
    }
}

/// A pass's friction in the model, and the start state (and rig) that suit it.
struct Taken {
    model: Model,
    stderr: Vec<f64>,
    settled: Fitted,
    passed: Passed,
}

impl Taken {
    fn new(subject: &Subject, model: &Model, config: &ekf::Config, passed: &Passed) -> Taken {
        let mut model = model.clone();
        let mut stderr = vec![0.0; model.free.len()];
        for (k, (p, sigma)) in passed.p.iter().zip(passed.sigma).enumerate() {
            let param = Param::Friction(TERMS[k % 3], k / 3);
            if let Some(i) = model.free.iter().position(|f| *f == param) {
                model.set(param, if p.is_finite() { *p } else { 0.0 });
                stderr[i] = if sigma > 0.0 { sigma } else { f64::INFINITY };
            }
        }
        for j in 0..2 {
            model.friction[j].vt = f64::from(config.vt[j]);
        }
        let settled = subject.settle(&model);
        Taken {
            model,
            stderr,
            settled,
            passed: *passed,
        }
    }

    /// `doubt`: factor on the filter's standard deviations, per joint.
    fn outcome(mut self, subject: &Subject, doubt: [f64; 2], began: std::time::Instant) -> Outcome {
        for (i, &p) in self.model.free.clone().iter().enumerate() {
            if let Some(k) = self.settled.model.free.iter().position(|s| *s == p) {
                self.model.set(p, self.settled.model.get(p));
                self.stderr[i] = self.settled.stderr[k];
            } else if let Param::Friction(_, j) = p {
                self.stderr[i] *= doubt[j];
            }
        }
        subject.outcome("ekf", &self.model, &self.settled.start, &self.stderr, began)
    }
}
