//! Grey box: friction, rig and first state fitted to the whole record by multiple shooting ([`crate::identify::fit`]).
//!
//! The friction terms are chosen by the record unless they are given; terms that would drive are held at zero. The verdict
//! comes from the residuals of the free run against the noise of the readings.

use crate::error::Result;
use crate::identify::data::dataset::Dataset;
use crate::identify::data::free_motion::FreeMotion;
use crate::identify::data::smooth::local;
use crate::identify::fit::fitted::{self, Fitted};
use crate::identify::fit::profile;
use crate::identify::method::{Method, Options};
use crate::identify::model::parametric::{Load, Param};
use crate::identify::model::terms;
use crate::identify::outcome::{Knowledge, Outcome};
use crate::identify::verdict::{EXPLAINED, Left, Pattern, Verdict, judge, pattern};

/// Misfit of one joint that inflation covers, in χ² per degree of freedom: the law has fewer terms than a bearing, and
/// the terms are chosen by the record. Two joints show so much of the rig that what is left is a wrong model.
const BENIGN: f64 = 100.0;

pub struct Greybox;

impl Method for Greybox {
    fn name(&self) -> &'static str {
        "greybox"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        match data.rig {
            Some(_) => Ok(()),
            None => Err("it needs the angles of a passive plant".into()),
        }
    }

    fn run(&self, data: &Dataset, options: &Options) -> Result<Outcome> {
        let motion = data.motion()?;
        let (fitted, table) = match &options.terms {
            Some(t) => {
                let first = motion.fit(&motion.model(t), &fitted::Options::default());
                (first, Vec::new())
            }
            None => terms::choose(motion),
        };
        let (fitted, held) = dissipative(motion, fitted);
        let driving = held.iter().any(|h| h.driving);
        let verdict = match verdict(motion, &fitted) {
            v if driving && v.holds() => Verdict::NotExplained {
                pattern: Pattern::Driving,
            },
            v => v,
        };
        let known = Knowledge {
            model: &fitted.model,
            start: &fitted.start,
            stderr: &fitted.stderr,
            covariance: Some(&fitted.covariance),
            freedom: fitted.effective - fitted.stderr.len() as f64,
        };
        let mut out = Outcome::of(self.name(), verdict, motion, &known);
        if verdict.holds() {
            profile::judge(motion, &fitted, &mut out);
        }
        for h in &held {
            out.notes.push(h.line(&fitted));
        }
        if fitted.model.load != motion.rig.load() {
            let line = match fitted.model.load {
                Load::Constant => {
                    "Coulomb friction does not follow the joint's load: μd is per newton of the weight carried"
                }
                Load::Reaction => {
                    "Coulomb friction follows the joint's load: c is that at the weight carried"
                }
            };
            out.notes.push(line.into());
        }
        if !fitted.converged {
            out.notes.push(format!(
                "not converged after {} iterations",
                fitted.iterations
            ));
        }
        out.choice = table.iter().map(terms::Candidate::line).collect();
        out.residuals = Some(fitted.residuals);
        Ok(out)
    }
}

/// A coefficient that came out negative and is held at zero.
struct Held {
    param: Param,
    /// Beyond its interval: something drove.
    driving: bool,
}

impl Held {
    fn line(&self, fitted: &Fitted) -> String {
        let (name, ..) = fitted.model.label(self.param);
        if self.driving {
            format!(
                "{name} would have to be negative, beyond its interval: friction does not drive"
            )
        } else {
            format!("{name} is not seen: it is held at 0")
        }
    }
}

/// Friction takes energy: terms that come out negative are held at zero one after the other, the most negative first.
fn dissipative(motion: &FreeMotion, mut fitted: Fitted) -> (Fitted, Vec<Held>) {
    let mut held = Vec::new();
    while fitted.converged {
        let worst = (0..fitted.model.free.len())
            .map(|i| (fitted.model.free[i], fitted.stderr[i]))
            .filter(|(p, _)| p.dissipates() && fitted.model.get(*p) < 0.0)
            .map(|(p, s)| (p, fitted.model.get(p) / s))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((param, sigmas)) = worst else { break };
        held.push(Held {
            param,
            driving: sigmas < -3.0,
        });
        let mut model = fitted.model.clone();
        model.set(param, 0.0);
        let free: Vec<Param> = model.free.iter().copied().filter(|p| *p != param).collect();
        model.release(&free);
        let mut prepared = motion.prepared.clone();
        prepared.nodes = fitted.nodes.clone();
        fitted = fitted::fit(
            &motion.record,
            &prepared,
            &model,
            &motion.freedom.priors,
            &fitted::Options::default(),
        );
    }
    (fitted, held)
}

/// From the residuals of a fit.
pub fn verdict(motion: &FreeMotion, fitted: &Fitted) -> Verdict {
    if !fitted.converged {
        return Verdict::NotConverged;
    }
    let benign = if motion.rig.joints() == 1 {
        BENIGN
    } else if fitted.explained(&motion.record) {
        f64::INFINITY
    } else {
        EXPLAINED
    };
    judge(fitted.residuals.chi2, fitted.inflation, benign, || {
        named(motion, fitted)
    })
}

/// The pattern that the residuals leave.
fn named(motion: &FreeMotion, fitted: &Fitted) -> Pattern {
    let t = &fitted.residuals.t;
    let record = &motion.record;
    let half = (0.5 * motion.prepared.scale).max(4.0 * record.dt());
    let joints: Vec<[Vec<f64>; 3]> = (0..record.joints)
        .map(|j| {
            let x = record.joint(j);
            let states: Vec<_> = t.iter().map(|&t| local(&record.t, &x, t, half)).collect();
            [
                states.iter().map(|s| s.q).collect(),
                states.iter().map(|s| s.w).collect(),
                fitted.residuals.r.iter().map(|r| r[j]).collect(),
            ]
        })
        .collect();
    let left: Vec<Left> = joints.iter().map(|[q, w, r]| Left { t, q, w, r }).collect();
    pattern(&left)
}
