//! A record made ready for any method: checked, cut to its free motion, with its model and smoothed states.

use stribeck_core::friction::Friction;

use crate::error::Result;

use super::balance::start_values;
use super::greybox::{Fitted, Options, Prepared, fit};
use super::model::{Coef, Model, Param, Rig};
use super::motion::free_run;
use super::onset::free_from;
use super::outcome::{Outcome, estimates};
use super::record::{MIN_SAMPLES, Record, fit_percent};

/// Transition velocity where nothing better is known [rad/s].
pub const DEFAULT_VT: f64 = 0.02;
/// A transition force so small that the viscous term is always on [N].
const ALWAYS_LOADED: f64 = 1e-2;

/// A start state need not be better than the friction it goes with.
const SETTLE: Options = Options {
    iterations: 15,
    tolerance: 0.2,
    stiffest: 5e4,
};

/// The record with everything derived from it once.
#[derive(Clone, Debug)]
pub struct Subject {
    pub record: Record,
    pub rig: Rig,
    /// Whether ω0² of a pendulum is to be found from the record.
    pub free_rig: Vec<Param>,
    pub prepared: Prepared,
    pub vt: f64,
    pub notes: Vec<String>,
}

impl Subject {
    /// `refine`: rig parameters to be estimated beside the friction. `trim`: cut to the free motion.
    pub fn new(record: &Record, rig: Rig, refine: &[Param], trim: bool) -> Result<Subject> {
        record.check()?;
        let mut notes = Vec::new();
        let whole = record.longest_stretch();
        let mut used = record.clone();
        if whole.len() < record.t.len() {
            let (from, to) = (record.t[whole.start], record.t[whole.end - 1]);
            notes.push(format!(
                "the record has gaps: its longest whole stretch is used, {from:.2} s to {to:.2} s of {:.2} s",
                record.duration()
            ));
            used = record.slice(whole);
            used.check()?;
        }
        let record = &used.clone();
        if trim {
            let moving = record.moving();
            let mut from = 0;
            if rig.joints() == 1 {
                from = free_from(&moving);
            }
            let rest = moving.t.len() - from;
            used = if rest >= MIN_SAMPLES {
                moving.slice(from..moving.t.len())
            } else {
                moving
            };
            let lost = record.t.len() - used.t.len();
            if lost > 0 {
                notes.push(format!(
                    "{:.2} s of {:.2} s used: the rest is not free motion (held start, rest at the end)",
                    used.duration(),
                    record.duration()
                ));
            }
        }
        used.check()?;
        let prepared = Prepared::new(&used);
        Ok(Subject {
            record: used,
            rig,
            free_rig: refine.to_vec(),
            prepared,
            vt: DEFAULT_VT,
            notes,
        })
    }

    /// A model with these friction terms free in every joint, started from the momentum balance.
    pub fn model(&self, terms: &[Coef]) -> Model {
        let mut free = self.free_rig.clone();
        for j in 0..self.rig.joints() {
            free.extend(terms.iter().map(|&c| Param::Friction(c, j)));
        }
        let friction = Friction {
            vt: self.vt,
            fnt: ALWAYS_LOADED,
            ..Friction::NONE
        };
        start_values(&self.record, &Model::new(self.rig, [friction; 2], &free))
    }

    pub fn fit(&self, model: &Model, options: &Options) -> Fitted {
        fit(&self.record, &self.prepared, model, &[], options)
    }

    /// Start state (and the rig's free parameters) that suit friction fixed at the model's values.
    pub fn settle(&self, model: &Model) -> Fitted {
        let mut fixed = model.clone();
        fixed.free = self.free_rig.clone();
        fixed.free.sort_by_key(|p| !p.is_dynamic());
        self.fit(&fixed, &SETTLE)
    }

    /// Fit and residuals of a free run of `model` from `start`.
    pub fn outcome(
        &self,
        method: &'static str,
        model: &Model,
        start: &[f64; 4],
        stderr: &[f64],
        began: std::time::Instant,
    ) -> Outcome {
        let path = free_run(model, start, &self.record.t);
        let joints = model.joints();
        let mut fit = Vec::new();
        let mut rms = Vec::new();
        for j in 0..joints {
            let measured = self.record.joint(j);
            let run: Vec<f64> = path.iter().map(|q| q[j]).collect();
            fit.push(fit_percent(&measured, &run));
            let sum: f64 = measured
                .iter()
                .zip(&run)
                .map(|(a, b)| (a - b).powi(2))
                .sum();
            rms.push((sum / measured.len() as f64).sqrt());
        }
        let rms_counts = (0..joints)
            .map(|j| (self.record.quantum[j] > 0.0).then(|| rms[j] / self.record.quantum[j]))
            .collect();
        let seconds = began.elapsed().as_secs_f64();
        Outcome {
            method,
            estimates: estimates(model, stderr),
            fit,
            rms,
            rms_counts,
            seconds,
            normalised: seconds / (self.record.duration() / self.record.dt()),
            notes: Vec::new(),
            choice: Vec::new(),
            path,
        }
    }
}
