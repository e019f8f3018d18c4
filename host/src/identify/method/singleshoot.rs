//! Plain output-error optimisation from a cold start: one integration over the whole record, the angles compared.
//!
//! The baseline paper 000 compared with, kept honest: the same model, the same Gauss–Newton with halved steps, but a
//! single segment and the friction of a guess. On a long record it loses the phase and stops in a poor minimum.

use super::greybox::{Options, fit};
use super::model::{Coef, Param, Rig};
use super::outcome::Outcome;
use super::subject::Subject;

/// Cold guess: ten times the typical friction, as in paper 000 Table 3.
const GUESS: [f64; 2] = [5e-3, 2.5e-3];

/// Corner of the friction law [rad/s] and the steepest friction over inertia [1/s] tried: wrong friction that holds the plant
/// all the time would otherwise cost minutes to integrate.
const CORNER: f64 = 0.1;
const STIFFEST: f64 = 500.0;

/// A free run that fits worse than this [%] has missed the measurement.
const POOR: f64 = 99.0;

pub fn identify(subject: &Subject) -> Outcome {
    let began = std::time::Instant::now();
    let mut model = subject.model(&[Coef::Coulomb, Coef::Viscous]);
    let factor = if matches!(subject.rig, Rig::Furuta(_)) {
        1.0
    } else {
        200.0
    };
    for j in 0..model.joints() {
        model.set(Param::Friction(Coef::Coulomb, j), factor * GUESS[0]);
        model.set(Param::Friction(Coef::Viscous, j), factor * GUESS[1]);
        model.friction[j].vt = CORNER;
    }
    let mut prepared = subject.prepared.clone();
    prepared.segment = subject.record.duration() + 1.0;
    prepared.nodes.truncate(1);
    let options = Options {
        iterations: 12,
        stiffest: STIFFEST,
        ..Options::default()
    };
    let fitted = fit(&subject.record, &prepared, &model, &[], &options);
    let mut out = subject.outcome(
        "singleshoot",
        &fitted.model,
        &fitted.start,
        &fitted.stderr,
        began,
    );
    if fitted.fit.iter().any(|f| *f < POOR) {
        out.notes
            .push("single shooting from a cold start ended in a poor minimum: do not use".into());
        for e in &mut out.estimates {
            e.identifiable = false;
            e.why = "the optimisation did not reach the measurement".into();
        }
    } else if !fitted.converged {
        out.notes.push(format!(
            "not converged after {} iterations",
            fitted.iterations
        ));
    }
    out
}
