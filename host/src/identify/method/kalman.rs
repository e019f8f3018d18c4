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

use stribeck_core::model::plant::PlantConfig;
use stribeck_core::model::plant::tolerance::Tolerance;
use stribeck_core::number::scalar::Scalar;
use stribeck_core::number::verdict::Verdict as Judged;
use stribeck_core::observer::ekf::{self, Ekf};

use crate::error::{Error, Result};

use crate::identify::data::dataset::Dataset;
use crate::identify::data::free_motion::FreeMotion;
use crate::identify::fit::fitted::{self, Fitted};
use crate::identify::method::online::even;
use crate::identify::method::{Method, Options, Precision, energy, greybox};
use crate::identify::model::parametric::{Coef, Model, Param};
use crate::identify::model::plant::pendulum::OMEGA0_SQ;
use crate::identify::outcome::{Knowledge, Outcome};
use crate::identify::verdict::{Pattern, Verdict};

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
    /// As the record has them: the rig's tolerances are added to every method's results in one place.
    sigma: [f64; ekf::PARAMETERS],
    stage: u8,
    /// The filter's own judgement, and how far its estimates moved [σ] per joint.
    verdict: Judged,
    drift: [f64; 2],
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
            sigma: filter.record_sigma(&state).map(S::to_f64),
            stage: e.stage,
            verdict: e.verdict,
            drift: e.drift.map(S::to_f64),
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
pub struct Kalman;

impl Method for Kalman {
    fn name(&self) -> &'static str {
        "ekf"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        greybox::Greybox.suits(data)
    }

    fn run(&self, data: &Dataset, options: &Options) -> Result<Outcome> {
        let motion = data.motion()?;
        if motion.rig.joints() == 1 {
            pendulum(motion, options.precision)
        } else {
            as_on_chip(motion, options.precision)
        }
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

fn as_on_chip(motion: &FreeMotion, precision: Precision) -> Result<Outcome> {
    let model = motion.model(&TERMS[..2]);
    let (dt, q) = even(motion, &model);
    let passage = Passage {
        plant: model.rig.config(),
        config: paced(
            ekf::Config {
                tolerance: model.rig.tolerance(),
                ..ekf::Config::default()
            },
            dt,
        ),
        precision,
        dt,
        count: std::array::from_fn(|j| motion.record.resolution(j).max(1e-6)),
        q,
    };
    passage.validate()?;
    let passed = passage.pass(None);
    let end = End::new(motion, &model, &passage.config, &passed);
    let joint = passed.stage == ekf::STAGE_JOINT;
    let verdict = match passed.verdict {
        _ if !joint => Verdict::NotConverged,
        Judged::NotConverged => Verdict::NotConverged,
        Judged::Explained => Verdict::Explained,
        Judged::Inflated => Verdict::Inflated {
            variance: passed.drift[0].max(passed.drift[1]).powi(2),
        },
        // Colour and drift say that something is left, not what: the grey box's residuals name it.
        Judged::NotExplained => Verdict::NotExplained {
            pattern: Pattern::Unnamed,
        },
    };
    let mut out = end.outcome(motion, verdict, [1.0; 2]);
    if !joint {
        out.notes
            .push("the joint stage never started: the record is too short or too quiet".into());
    }
    Ok(out)
}

fn pendulum(motion: &FreeMotion, precision: Precision) -> Result<Outcome> {
    let rig = dissipative(motion);
    let mut model = motion.model(&TERMS);
    model.adopt(&rig.model, &motion.freedom.free);
    let (dt, q) = even(motion, &model);
    let w2 = model.get(OMEGA0_SQ);
    let w0 = w2.sqrt();
    let length = motion.record.duration();
    let scale = motion.prepared.scale;
    // The filter takes count²/3 for the variance of a reading: at least what the fit left unexplained.
    let count = motion
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
        // The rig is that of the fit: per unit of inertia, with its own ω0² and offset.
        tolerance: Tolerance::EXACT,
        start_spread: 0.0,
        // The fit has already judged the readings; what it left must not cost the filter its turning points.
        gate: 1e6,
        start_s,
        start_max_s: 2.0 * start_s,
        window_s: (0.4 * scale).max(4.0 * dt) as f32,
        ..defaults
    };
    let mut passage = Passage {
        plant: model.rig.config(),
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
    let mut best = End::new(motion, &model, &passage.config, &first);
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
        let end = End::new(motion, &model, &passage.config, &passed);
        if end.settled.fit[0] > best.settled.fit[0] {
            best = end;
        }
    }
    // Residuals of a law that is nearly right hang together: so many readings are worth fewer independent ones.
    let spread = rig.rms[0] * (motion.record.t.len() as f64 / rig.effective).sqrt();
    let inflation = (spread / best.passed.noise[0]).max(1.0);
    let verdict = match greybox::verdict(motion, &rig) {
        Verdict::Explained if inflation > 1.5 => Verdict::Inflated {
            variance: inflation * inflation,
        },
        v => v,
    };
    let mut out = best.outcome(motion, verdict, [inflation, 1.0]);
    out.notes.push(format!(
        "the filter ran {} times over the record, each time from the last estimate",
        1 + PASSES
    ));
    Ok(out)
}

/// Coulomb, viscous and quadratic friction fitted to the whole record; a term that would drive is left out.
fn dissipative(motion: &FreeMotion) -> Fitted {
    let options = fitted::Options {
        iterations: 15,
        tolerance: 0.1,
        ..fitted::Options::default()
    };
    let mut model = motion.model(&TERMS);
    let mut terms = TERMS.to_vec();
    loop {
        let fitted = motion.fit(&model, &options);
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
                model = motion.model(&terms);
                for &p in &model.free.clone() {
                    model.set(p, fitted.model.get(p));
                }
            }
            _ => return fitted,
        }
    }
}

/// A pass's friction in the model, and the start state (and rig) that suit it.
struct End {
    model: Model,
    stderr: Vec<f64>,
    settled: Fitted,
    passed: Passed,
}

impl End {
    fn new(motion: &FreeMotion, model: &Model, config: &ekf::Config, passed: &Passed) -> End {
        let mut model = model.clone();
        let mut stderr = vec![0.0; model.free.len()];
        for (k, (p, sigma)) in passed.p.iter().zip(passed.sigma).enumerate() {
            let param = Param::Friction(TERMS[k % 3], k / 3);
            if let Some(i) = model.place(param) {
                model.set(param, if p.is_finite() { *p } else { 0.0 });
                stderr[i] = if sigma > 0.0 { sigma } else { f64::INFINITY };
            }
        }
        for j in 0..2 {
            model.friction[j].vt = f64::from(config.vt[j]);
        }
        let settled = motion.settle(&model);
        End {
            model,
            stderr,
            settled,
            passed: *passed,
        }
    }

    /// `inflation`: factor on the filter's standard deviations, per joint.
    fn outcome(mut self, motion: &FreeMotion, verdict: Verdict, inflation: [f64; 2]) -> Outcome {
        for (s, &p) in self.stderr.iter_mut().zip(&self.model.free) {
            if let Param::Friction(_, j) = p {
                *s *= inflation[j];
            }
        }
        energy::settle(motion, &mut self.model, &mut self.stderr, &self.settled);
        let known = Knowledge {
            model: &self.model,
            start: &self.settled.start,
            stderr: &self.stderr,
            covariance: None,
            freedom: 0.0,
        };
        Outcome::of("ekf", verdict, motion, &known)
    }
}
