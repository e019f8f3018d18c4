//! One method on one subject.

use std::time::Instant;

use crate::error::{Error, Result};

use super::model::{Coef, Rig};
use super::online::{self, Precision};
use super::outcome::{Estimate, Outcome};
use super::subject::Subject;
use super::{energy, greybox, kalman, logdec, singleshoot, terms};

/// How friction is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Method {
    Greybox,
    Energy,
    Logdec,
    Ekf,
    Uas,
    Singleshoot,
    /// Every method that suits the plant
    All,
}

/// Choices of a user.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Friction terms of the grey box; none: chosen by the tool.
    pub terms: Option<Vec<Coef>>,
    pub precision: Precision,
}

impl Method {
    /// What `All` stands for.
    pub fn expand(self, rig: &Rig) -> Vec<Method> {
        match (self, rig) {
            (Method::All, Rig::Pendulum { .. }) => vec![
                Method::Greybox,
                Method::Energy,
                Method::Logdec,
                Method::Ekf,
                Method::Singleshoot,
            ],
            (Method::All, Rig::Furuta(_)) => vec![
                Method::Greybox,
                Method::Energy,
                Method::Ekf,
                Method::Uas,
                Method::Singleshoot,
            ],
            (m, _) => vec![m],
        }
    }
}

/// A free run that fits worse than this [%] is not the recorded motion.
const POOR_FIT: f64 = 99.0;

/// Run one method.
pub fn run(subject: &Subject, method: Method, choices: &Choices) -> Result<Outcome> {
    let mut out = match method {
        Method::Greybox | Method::All => grey(subject, choices),
        Method::Energy => energy::identify(subject)?,
        Method::Logdec => decrement(subject)?,
        Method::Ekf => kalman::identify(subject, choices.precision)?,
        Method::Uas => online::uas(subject, choices.precision)?,
        Method::Singleshoot => singleshoot::identify(subject),
    };
    let mut notes = subject.notes.clone();
    notes.append(&mut out.notes);
    let judged = !matches!(method, Method::Uas | Method::Singleshoot);
    if judged && out.fit.iter().any(|f| *f < POOR_FIT) {
        notes.push(format!(
            "the model does not explain this record (fit below {POOR_FIT} %): estimates and intervals do not hold; look at --plot"
        ));
    }
    out.notes = notes;
    Ok(out)
}

fn grey(subject: &Subject, choices: &Choices) -> Outcome {
    let began = Instant::now();
    let (fitted, table) = match &choices.terms {
        Some(t) => (
            subject.fit(&subject.model(t), &greybox::Options::default()),
            Vec::new(),
        ),
        None => terms::choose(subject),
    };
    let mut out = subject.outcome(
        "greybox",
        &fitted.model,
        &fitted.start,
        &fitted.stderr,
        began,
    );
    if !fitted.converged {
        out.notes.push(format!(
            "not converged after {} iterations",
            fitted.iterations
        ));
    }
    out.choice = table
        .iter()
        .map(|c| {
            let held = c.held_out.map_or("–".to_string(), |h| format!("{h:.5}"));
            let fit: Vec<String> = c.fit.iter().map(|f| format!("{f:.4}")).collect();
            format!(
                "{} {:<58} BIC {:>9.1}  held-out RMS {held:>8} rad  fit {} %  {}",
                if c.chosen { "*" } else { " " },
                terms::name(&c.terms),
                c.bic,
                fit.join(" / "),
                c.why
            )
        })
        .collect();
    out
}

/// The logarithmic decrement takes a pendulum for a linear oscillator: its small swings only.
fn decrement(subject: &Subject) -> Result<Outcome> {
    let began = Instant::now();
    if subject.rig.joints() == 2 {
        return Err(Error::invalid(
            "the logarithmic decrement is for one joint",
            "use `--method energy` or `--method greybox`",
        ));
    }
    let record = &subject.record;
    // Below .5 rad a pendulum's frequency is within 1.6 % of a linear one.
    let last_large = record
        .q
        .iter()
        .rposition(|q| q[0].abs() > 0.5)
        .map_or(0, |i| i + 1);
    let x = record.joint(0);
    let tail = x.len() / 20 + 1;
    let rest = x[x.len() - tail..].iter().sum::<f64>() / tail as f64;
    let d = logdec::identify(&record.t[last_large..], &x[last_large..], rest)?;
    let w2 = d.omega0 * d.omega0;
    let e = d.stderr;
    let estimates = vec![
        Estimate::new("ω0²", w2, 2.0 * d.omega0 * e[0], "1/s²"),
        Estimate::new("c/J", w2 * d.x_mean, w2 * e[3], "rad/s²"),
        Estimate::new("Δc/J", w2 * d.x_delta, w2 * e[4], "rad/s²"),
        Estimate::new("b/J", d.c_mean, e[1], "1/s"),
        Estimate::new("Δb/J", d.c_delta, e[2], "1/s"),
    ];
    let seconds = began.elapsed().as_secs_f64();
    Ok(Outcome {
        method: "logdec",
        estimates,
        fit: vec![d.fit],
        rms: vec![d.rms],
        rms_counts: vec![(record.quantum[0] > 0.0).then(|| d.rms / record.quantum[0])],
        seconds,
        normalised: seconds / (record.duration() / record.dt()),
        notes: vec![format!(
            "{} turning points below 0.5 rad used; Δc cannot be told from an offset of the rest position",
            d.turns
        )],
        choice: Vec::new(),
        path: Vec::new(),
    })
}
