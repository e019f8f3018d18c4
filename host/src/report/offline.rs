//! The grey box on the run of a report: off-line, from the whole record, as a further candidate.
//!
//! In: a swing with its measured angles. Out: one [`Candidate`], or none where the grey box has nothing to say (a plant it does not know, a
//! record too short): the report then goes without it.

use stribeck_core::JOINTS;
use stribeck_core::model::friction::Friction;

use super::candidate::{self, Candidate, Estimate, Kind};
use super::swing::Swing;
use crate::identify::data::dataset::Dataset;
use crate::identify::data::free_motion::DEFAULT_VT;
use crate::identify::data::record::Record;
use crate::identify::method::greybox::Greybox;
use crate::identify::method::{Options, run};
use crate::identify::model::parametric::{Coef, Rig};
use crate::identify::outcome::Outcome;

/// With the Stribeck bump and its velocity: without them the law is too stiff at standstill, and that error lands in μd and μv.
pub const TERMS: [Coef; 4] = [
    Coef::Coulomb,
    Coef::Viscous,
    Coef::Stribeck,
    Coef::Transition,
];

/// The grey box's parameters of this run.
pub fn grey_box(swing: &Swing) -> Vec<Candidate> {
    if swing.joints() < JOINTS {
        return Vec::new();
    }
    let (t, q): (Vec<f64>, Vec<[f64; JOINTS]>) = swing.trace().into_iter().unzip();
    let begin = t.first().copied().unwrap_or(0.0);
    let record = Record {
        name: "this run".into(),
        t: t.into_iter().map(|t| t - begin).collect(),
        q,
        joints: swing.joints(),
        quantum: swing.quantum(),
    };
    let data = Dataset::passive(
        &record,
        Rig::of(&swing.config.plant).within(&swing.config.ekf.tolerance),
    );
    match run(&Greybox, &data, &Options::terms(&TERMS)) {
        Ok(outcome) => vec![candidate(&outcome, DEFAULT_VT)],
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
        for term in TERMS {
            let symbol = term.label().name;
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
                id: candidate::id(symbol, joint),
                joint,
                symbol,
                unit: e.unit.clone(),
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
