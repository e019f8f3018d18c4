//! The methods: one file each, one line in [`METHODS`].
//!
//! | method | what it does |
//! |---|---|
//! | `greybox` | multiple shooting + Gauss–Newton through the shared model; chooses the friction terms |
//! | `energy` | energy lost per half swing or window: linear, global |
//! | `logdec` | extended logarithmic decrement of paper 004, corrected |
//! | `ekf` | the joint EKF of the chip over the record |
//! | `uas` | the observer of paper 000 over the record; its parameters are a prior |
//! | `singleshoot` | plain output error from a cold start: the baseline |
//! | `stage` | linear stage with known force: mass and friction by least squares |
//! | `bond` | any parameters and initial states of a bond graph from its inputs and outputs |

pub(crate) mod bond;
pub(crate) mod compare;
pub(crate) mod energy;
pub mod greybox;
pub(crate) mod kalman;
pub mod logdec;
pub(crate) mod online;
pub(crate) mod singleshoot;
pub mod stage;

use std::time::Instant;

use stribeck_core::model::plant::PlantConfig;

use crate::error::{Error, Result};
use crate::identify::data::dataset::Dataset;
use crate::identify::model::parametric::{Coef, Rig};
use crate::identify::outcome::Outcome;
use crate::identify::verdict::{Pattern, Verdict};

/// Arithmetic of the chip's observers.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// As on chip
    #[default]
    F32,
    F64,
}

/// Choices of a user. A method takes what concerns it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Friction terms of the grey box; none: chosen by the tool.
    pub terms: Option<Vec<Coef>>,
    pub precision: Precision,
    /// Stage: separate viscous friction per direction.
    pub asymmetric: bool,
}

impl Options {
    /// These friction terms, nothing else out of the ordinary.
    pub fn terms(terms: &[Coef]) -> Options {
        Options {
            terms: Some(terms.to_vec()),
            ..Options::default()
        }
    }
}

/// A way to find friction.
pub trait Method: Sync {
    fn name(&self) -> &'static str;

    /// Whether it has anything to say about a dataset; otherwise the reason, and what to use instead.
    fn suits(&self, data: &Dataset) -> std::result::Result<(), String>;

    /// Verdict, estimates and residuals. Called only where it suits.
    fn run(&self, data: &Dataset, options: &Options) -> Result<Outcome>;
}

/// Every method, in the order they are tried and printed.
pub static METHODS: &[&dyn Method] = &[
    &greybox::Greybox,
    &energy::Energy,
    &logdec::Logdec,
    &kalman::Kalman,
    &online::UasObserver,
    &singleshoot::SingleShoot,
    &stage::Stage,
    &bond::Bond,
];

/// The method of this name.
pub fn find(name: &str) -> Option<&'static dyn Method> {
    METHODS.iter().copied().find(|m| m.name() == name)
}

/// Those that suit a dataset.
pub fn suitable(data: &Dataset) -> Vec<&'static dyn Method> {
    let suits = |m: &&dyn Method| m.suits(data).is_ok();
    METHODS.iter().copied().filter(suits).collect()
}

/// A free run that fits worse than this [%] is not the recorded motion.
const POOR_FIT: f64 = 99.0;

/// Run one method: check that it suits, time it, and let the verdict decide what may be believed.
pub fn run(method: &dyn Method, data: &Dataset, options: &Options) -> Result<Outcome> {
    method.suits(data).map_err(|why| {
        Error::invalid(
            format!("{} does not suit {}: {why}", method.name(), data.name),
            "use `--method all` for every method that does",
        )
    })?;
    let began = Instant::now();
    let mut out = method.run(data, options)?;
    let mut notes = data.notes.clone();
    if let (Some(_), Ok(motion)) = (data.rig, data.motion()) {
        notes = motion.notes.clone();
        if motion.rig.joints() == 2 {
            notes.push(scale_rule(&motion.rig));
        }
        out = out.timed(began, motion.record.duration() / motion.record.dt());
    } else {
        let samples = data.channels.first().map_or(1, |c| c.x.len());
        out = out.timed(began, samples as f64);
    }
    notes.append(&mut out.notes);
    out.notes = notes;
    withhold(&mut out, data.rig.is_some());
    Ok(out)
}

/// Passive motion shows ratios only.
fn scale_rule(rig: &Rig) -> String {
    let (unit, known) = match rig.config() {
        PlantConfig::Furuta(_) => ("m2·g·l2 of the rig is the unit of mass", "masses and l2"),
        _ => ("the masses of the rig are the unit", "masses and levers"),
    };
    format!(
        "a passive record fixes friction only relative to inertia: {unit}, and the rig's tolerances of {known} are in the standard errors"
    )
}

/// Nothing is called identifiable that the verdict does not carry. `moves`: the fit is that of a motion.
fn withhold(out: &mut Outcome, moves: bool) {
    let lost = moves && out.fit.iter().any(|f| f.is_nan() || *f < POOR_FIT);
    if out.verdict.holds() && lost {
        out.verdict = Verdict::NotExplained {
            pattern: Pattern::Unnamed,
        };
    }
    if !out.verdict.holds() {
        let why = match out.verdict {
            Verdict::NotConverged => "the search did not converge",
            Verdict::Prior => "a prior",
            _ => "the model does not explain the record",
        };
        for e in &mut out.estimates {
            e.withdraw(why);
        }
    }
}
