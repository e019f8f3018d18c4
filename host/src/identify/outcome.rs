//! What a method found, in one form for all methods: numbers with their uncertainty, and how well they fit.

use super::model::{Coef, Model, Param, Rig};

/// One estimated quantity.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Estimate {
    pub name: String,
    pub value: f64,
    /// Standard error; absent where the method has none.
    pub stderr: Option<f64>,
    pub unit: &'static str,
    pub identifiable: bool,
    /// Why (not), or what else must be known about the number.
    pub why: String,
}

impl Estimate {
    /// Identifiable when the 95 % interval excludes zero and is narrower than the estimate itself.
    pub fn new(name: impl Into<String>, value: f64, stderr: f64, unit: &'static str) -> Estimate {
        let relative = stderr / value.abs().max(1e-300);
        let (identifiable, why) = if !stderr.is_finite() || stderr > 1e100 {
            (false, "the record has no sensitivity to it".to_string())
        } else if relative > 0.5 {
            (
                false,
                format!(
                    "standard error is {:.0} % of the estimate",
                    100.0 * relative.min(1e6)
                ),
            )
        } else {
            (true, String::new())
        };
        Estimate {
            name: name.into(),
            value,
            stderr: Some(stderr),
            unit,
            identifiable,
            why,
        }
    }

    /// The 95 % interval.
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.stderr
            .map(|s| [self.value - 1.96 * s, self.value + 1.96 * s])
    }
}

/// Result of one method on one record.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub method: &'static str,
    pub estimates: Vec<Estimate>,
    /// Free-run fit per joint [%].
    pub fit: Vec<f64>,
    /// RMS of the free-run residual per joint [rad].
    pub rms: Vec<f64>,
    /// The same in encoder counts, where the size of a count is known.
    pub rms_counts: Vec<Option<f64>>,
    /// Time taken [s].
    pub seconds: f64,
    /// Time per second of record and sample [1], eq. (54) of paper 000.
    pub normalised: f64,
    /// What the reader must know.
    pub notes: Vec<String>,
    /// Lines of a table that shows how terms were chosen.
    pub choice: Vec<String>,
    /// Free run at the record's times, for plots.
    pub path: Vec<[f64; 2]>,
}

/// Name and unit of a parameter of `model`, and the factor from the model's value to the printed one.
pub fn label(model: &Model, p: Param) -> (String, &'static str, f64) {
    let one = model.joints() == 1;
    let (torque, factor) = match model.rig {
        Rig::Pendulum {
            inertia: Some(j), ..
        } => (true, j),
        Rig::Pendulum { .. } => (false, 1.0),
        Rig::Furuta(_) => (true, 1.0),
    };
    let index = |j: usize| if one { String::new() } else { j.to_string() };
    match p {
        Param::Friction(c, j) => {
            let i = index(j);
            let (symbol, per_j, unit, normalised) = match (c, one) {
                (Coef::Coulomb, true) => ("c", "c/J", "N·m", "rad/s²"),
                (Coef::Coulomb, false) => ("μd", "", "m", ""),
                (Coef::Stribeck, true) => ("s−c", "(s−c)/J", "N·m", "rad/s²"),
                (Coef::Stribeck, false) => ("μs−μd ", "", "m", ""),
                (Coef::Viscous, true) => ("b", "b/J", "N·m·s", "1/s"),
                (Coef::Viscous, false) => ("μv", "", "N·m·s", ""),
                (Coef::Transition, _) => return (format!("vt{i}"), "rad/s", 1.0),
                (Coef::Drag, true) => ("d", "d/J", "N·m·s²", "1"),
                (Coef::Drag, false) => ("d", "", "N·m·s²", ""),
                (Coef::DeltaCoulomb, true) => ("Δc", "Δc/J", "N·m", "rad/s²"),
                (Coef::DeltaCoulomb, false) => ("Δd", "", "m", ""),
                (Coef::DeltaViscous, true) => ("Δb", "Δb/J", "N·m·s", "1/s"),
                (Coef::DeltaViscous, false) => ("Δv", "", "N·m·s", ""),
            };
            if torque {
                (format!("{symbol}{i}"), unit, factor)
            } else {
                (per_j.into(), normalised, 1.0)
            }
        }
        Param::Omega0Squared => ("ω0²".into(), "1/s²", 1.0),
        Param::Tilt => ("tilt".into(), "rad", 1.0),
        Param::ArmInertia => ("j1z".into(), "kg·m²", 1.0),
        Param::LinkInertia => ("j2".into(), "kg·m²", 1.0),
        Param::LinkCentre => ("l2".into(), "m", 1.0),
        Param::Offset(j) => (format!("offset{}", index(j)), "rad", 1.0),
    }
}

/// Estimates of all free parameters of `model`. An offset of zero is a finding, not a lack of data.
pub fn estimates(model: &Model, stderr: &[f64]) -> Vec<Estimate> {
    model
        .free
        .iter()
        .zip(stderr)
        .map(|(&p, &s)| {
            let (name, unit, factor) = label(model, p);
            let mut e = Estimate::new(name, factor * model.get(p), factor * s, unit);
            let null = matches!(
                p,
                Param::Offset(_) | Param::Friction(Coef::DeltaCoulomb | Coef::DeltaViscous, _)
            );
            if null && s.is_finite() && s < 1e100 {
                e.identifiable = true;
                e.why = String::new();
            }
            e
        })
        .collect()
}
