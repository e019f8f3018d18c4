//! The free motion of a dataset, ready for any method: checked, cut, with its model and smoothed states.

use stribeck_core::model::friction::Friction;

use crate::error::Result;

use crate::identify::data::dataset::Setup;
use crate::identify::data::onset::free_from;
use crate::identify::data::passive;
use crate::identify::data::record::{MIN_SAMPLES, Record};
use crate::identify::fit::balance::start_values;
use crate::identify::fit::fitted::{Fitted, Options, Prepared, fit};
use crate::identify::model::parametric::{Coef, Freedom, Model, Param, Rig};

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
pub struct FreeMotion {
    pub record: Record,
    /// The same, thinned to readings.
    readings: Record,
    pub rig: Rig,
    /// Rig parameters that are estimated beside the friction, and what is known of them.
    pub freedom: Freedom,
    pub prepared: Prepared,
    pub notes: Vec<String>,
}

impl FreeMotion {
    pub fn new(record: &Record, rig: Rig, setup: &Setup) -> Result<FreeMotion> {
        record.check()?;
        let mut notes = Vec::new();
        let whole = record.longest_stretch();
        let mut used = record.clone();
        if whole.len() < record.t.len() {
            let (from, to) = (record.t[whole.start], record.t[whole.end - 1]);
            notes.push(format!(
                "the record has gaps or jumps: its longest whole stretch is used, {from:.2} s to {to:.2} s of {:.2} s",
                record.duration()
            ));
            used = record.slice(whole);
            used.check()?;
        }
        let record = &used.clone();
        if setup.trim {
            let moving = record.moving();
            let from = if rig.joints() == 1 {
                free_from(&moving, rig, &setup.freedom)
            } else {
                let prepared = Prepared::new(&moving);
                let readings = thinned(&moving, &prepared);
                let plain = plain_model(rig, &setup.freedom.free, &[Coef::Coulomb, Coef::Viscous]);
                let until = passive::released(&readings, &plain, prepared.scale);
                until.map_or(0, |t| moving.index(t))
            };
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
        let mut prepared = Prepared::new(&used);
        let mut readings = thinned(&used, &prepared);
        let plain = plain_model(rig, &setup.freedom.free, &[Coef::Coulomb, Coef::Viscous]);
        let started = start_values(&readings, &plain);
        passive::check_wiring(&readings, &started, prepared.scale)?;
        if setup.trim
            && let Some((from, to)) = passive::without_push(&readings, &started, prepared.scale)
        {
            notes.push(format!(
                "the energy rises: something pushed; {from:.2} s to {to:.2} s of the free motion are used"
            ));
            used = used.slice(used.index(from)..used.index(to));
            used.check()?;
            prepared = Prepared::new(&used);
            readings = thinned(&used, &prepared);
        }
        Ok(FreeMotion {
            record: used,
            readings,
            rig,
            freedom: setup.freedom.clone(),
            prepared,
            notes,
        })
    }

    /// A model with these friction terms free in every joint, started from the momentum balance.
    pub fn model(&self, terms: &[Coef]) -> Model {
        let plain = plain_model(self.rig, &self.freedom.free, terms);
        start_values(&self.readings, &plain)
    }

    pub fn fit(&self, model: &Model, options: &Options) -> Fitted {
        fit(
            &self.record,
            &self.prepared,
            model,
            &self.freedom.priors,
            options,
        )
    }

    /// Standard errors of what [`FreeMotion::settle`] found, with those of the friction it was given: each coefficient is moved
    /// by one of its `stderr` (in the order of `model.free`) and the rest settled again.
    pub fn considered(&self, model: &Model, stderr: &[f64], settled: &Fitted) -> Vec<f64> {
        let mut variance: Vec<f64> = settled.stderr.iter().map(|s| s * s).collect();
        for (&p, &s) in model.free.iter().zip(stderr) {
            if !matches!(p, Param::Friction(..)) || !s.is_finite() || s == 0.0 {
                continue;
            }
            let mut moved = model.clone();
            moved.adopt(&settled.model, &settled.model.free);
            moved.set(p, model.get(p) + s);
            let again = self.settle(&moved);
            for (v, &q) in variance.iter_mut().zip(&settled.model.free) {
                let change = again.model.get(q) - settled.model.get(q);
                *v += change * change;
            }
        }
        variance.iter().map(|v| v.sqrt()).collect()
    }

    /// Start state (and the rig's free parameters) that suit friction fixed at the model's values.
    pub fn settle(&self, model: &Model) -> Fitted {
        let mut fixed = model.clone();
        fixed.release(&self.freedom.free);
        self.fit(&fixed, &SETTLE)
    }
}

/// A model with these friction terms of every joint and this of the rig free.
fn plain_model(rig: Rig, free: &[Param], terms: &[Coef]) -> Model {
    let mut free = free.to_vec();
    for j in 0..rig.joints() {
        free.extend(terms.iter().map(|&c| Param::Friction(c, j)));
    }
    let friction = Friction {
        vt: DEFAULT_VT,
        fnt: ALWAYS_LOADED,
        ..Friction::NONE
    };
    Model::new(rig, [friction; 2], &free)
}

/// The readings as a record.
fn thinned(record: &Record, prepared: &Prepared) -> Record {
    Record {
        t: prepared.data.t.clone(),
        q: prepared.data.y.clone(),
        ..record.clone()
    }
}
