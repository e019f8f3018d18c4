//! Plain output-error optimisation from a cold start: one integration over the whole record, the angles compared.
//!
//! The baseline paper 000 compared with, kept honest: the same model, the same Gauss–Newton with halved steps, but a
//! single segment and the friction of a guess. On a long record it loses the phase and stops in a poor minimum.

use crate::error::Result;
use crate::identify::data::dataset::Dataset;
use crate::identify::fit::fitted::{self, fit};
use crate::identify::method::{Method, Options, greybox};
use crate::identify::model::parametric::{Coef, Param};
use crate::identify::outcome::{Knowledge, Outcome};

/// Cold guess: ten times the typical friction, as in paper 000 Table 3.
const GUESS: f64 = 10.0;

/// Corner of the friction law [rad/s] and the steepest friction over inertia [1/s] tried: wrong friction that holds the plant
/// all the time would otherwise cost minutes to integrate.
const CORNER: f64 = 0.1;
const STIFFEST: f64 = 500.0;

pub struct SingleShoot;

impl Method for SingleShoot {
    fn name(&self) -> &'static str {
        "singleshoot"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        greybox::Greybox.suits(data)
    }

    fn run(&self, data: &Dataset, _: &Options) -> Result<Outcome> {
        let motion = data.motion()?;
        let mut model = motion.model(&[Coef::Coulomb, Coef::Viscous]);
        for j in 0..model.joints() {
            for c in [Coef::Coulomb, Coef::Viscous] {
                model.set(
                    Param::Friction(c, j),
                    GUESS * model.rig.friction_scale(c, j),
                );
            }
            model.friction[j].vt = CORNER;
        }
        let mut prepared = motion.prepared.clone();
        prepared.segment = motion.record.duration() + 1.0;
        prepared.nodes.truncate(1);
        let options = fitted::Options {
            iterations: 12,
            stiffest: STIFFEST,
            ..fitted::Options::default()
        };
        let fitted = fit(
            &motion.record,
            &prepared,
            &model,
            &motion.freedom.priors,
            &options,
        );
        let known = Knowledge {
            model: &fitted.model,
            start: &fitted.start,
            stderr: &fitted.stderr,
            covariance: Some(&fitted.covariance),
            freedom: fitted.effective,
        };
        let verdict = greybox::verdict(motion, &fitted);
        let mut out = Outcome::of(self.name(), verdict, motion, &known);
        if !verdict.holds() {
            out.notes.push(
                "single shooting from a cold start ended in a poor minimum: do not use".into(),
            );
        }
        out.residuals = Some(fitted.residuals);
        Ok(out)
    }
}
