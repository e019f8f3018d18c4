//! The grey box on the run of a report: off-line, from the whole record, as a further candidate.
//!
//! In: a swing with its measured angles. Out: one [`Candidate`], or none where the grey box has nothing to say (a plant it does not know, a record
//! too short): the report then goes without it.

use stribeck_core::friction::Friction;
use stribeck_core::plant::{JOINTS, PlantConfig};

use super::candidate::{Candidate, Estimate, Kind};
use super::swing::Swing;
use crate::identify::model::{Coef, Rig};
use crate::identify::online::Precision;
use crate::identify::outcome::Outcome;
use crate::identify::record::Record;
use crate::identify::run::{Choices, Method, run};
use crate::identify::subject::Subject;

/// With the Stribeck bump and its velocity: without them the law is too stiff at standstill, and that error lands in μd and μv.
pub const TERMS: [Coef; 4] = [
    Coef::Coulomb,
    Coef::Viscous,
    Coef::Stribeck,
    Coef::Transition,
];
/// Names of the parameters by joint, in the order of [`TERMS`], and their units.
const NAMES: [(&str, &str); 4] = [
    ("μd", "m"),
    ("μv", "N·m·s"),
    ("μs−μd ", "m"),
    ("vt", "rad/s"),
];

/// The grey box's parameters of this run.
pub fn grey_box(swing: &Swing) -> Vec<Candidate> {
    let PlantConfig::Furuta(rig) = &swing.config.plant else {
        return Vec::new();
    };
    let (t, q): (Vec<f64>, Vec<[f64; JOINTS]>) = swing.trace().into_iter().unzip();
    let begin = t.first().copied().unwrap_or(0.0);
    let record = Record {
        name: "this run".into(),
        t: t.into_iter().map(|t| t - begin).collect(),
        q,
        joints: swing.joints(),
        quantum: swing.quantum(),
    };
    let choices = Choices {
        terms: Some(TERMS.to_vec()),
        precision: Precision::F32,
    };
    let Ok(subject) = Subject::new(&record, Rig::furuta(rig), &[], true) else {
        return Vec::new();
    };
    match run(&subject, Method::Greybox, &choices) {
        Ok(outcome) => vec![candidate(&outcome, subject.vt)],
        Err(_) => Vec::new(),
    }
}

fn candidate(outcome: &Outcome, vt: f64) -> Candidate {
    let mut estimates = Vec::new();
    let mut friction = [Friction {
        vt,
        fnt: 1e-6,
        ..Friction::NONE
    }; JOINTS];
    for (joint, law) in friction.iter_mut().enumerate() {
        let mut bump = 0.0;
        for (term, (symbol, unit)) in TERMS.into_iter().zip(NAMES) {
            let name = format!("{symbol}{joint}");
            let Some(e) = outcome.estimates.iter().find(|e| e.name == name) else {
                continue;
            };
            match term {
                Coef::Coulomb => law.mu_d = e.value,
                Coef::Viscous => law.mu_v = e.value,
                Coef::Stribeck => bump = e.value,
                _ => law.vt = e.value,
            }
            estimates.push(Estimate {
                joint,
                symbol,
                unit,
                value: e.value,
                sigma: e.stderr,
                identifiable: e.identifiable,
                why: e.why.clone(),
                prior: None,
            });
        }
        law.mu_s = law.mu_d + bump;
    }
    Candidate {
        name: "grey box".into(),
        kind: Kind::Offline,
        friction,
        estimates,
    }
}
