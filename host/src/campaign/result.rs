//! What one run came to: one line of a chunk's file, and later some rows of the dataset.

use serde::{Deserialize, Serialize};

use crate::identify::outcome::Outcome;
use crate::identify::study::tally::{Judged, Mark};

/// How a run ended under one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Ok,
    /// Nothing was identified; the reason is said.
    Failed,
    /// The same bytes as an earlier input: not identified again, so that it counts once.
    Duplicate,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Failed => "failed",
            Status::Duplicate => "duplicate",
        }
    }
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// ASCII name, and as printed.
    pub id: String,
    pub name: String,
    pub unit: String,
    /// None where it is not finite.
    pub value: Option<f64>,
    pub stderr: Option<f64>,
    pub record_stderr: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub identifiable: bool,
    pub why: String,
    pub truth: Option<f64>,
}

/// One method on one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub method: String,
    pub status: Status,
    pub reason: Option<String>,
    /// In kebab case, as `identify --json` has it.
    pub verdict: Option<String>,
    /// The verdict lets intervals hold.
    pub holds: bool,
    /// Of the worst joint [%].
    pub fit_percent: Option<f64>,
    pub chi2_reduced: Option<f64>,
    pub inflation: Option<f64>,
    pub estimates: Vec<Estimated>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    pub run: u64,
    /// SHA-256 of what decided it; none where it could not be read.
    pub input_sha256: Option<String>,
    /// What is lost or damaged in its log.
    pub damage: Vec<String>,
    pub judgements: Vec<Judgement>,
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl Judgement {
    /// Nothing identified.
    pub fn none(method: &str, status: Status, reason: String) -> Judgement {
        Judgement {
            method: method.into(),
            status,
            reason: Some(reason),
            verdict: None,
            holds: false,
            fit_percent: None,
            chi2_reduced: None,
            inflation: None,
            estimates: Vec::new(),
        }
    }

    pub fn of(outcome: &Outcome, truth: &[(&'static str, f64)]) -> Judgement {
        let estimates = outcome.estimates.iter().map(|e| Estimated {
            id: e.id.clone(),
            name: e.name.clone(),
            unit: e.unit.to_string(),
            value: finite(e.value),
            stderr: e.stderr.and_then(finite),
            record_stderr: e.record_stderr.and_then(finite),
            low: e.interval.and_then(|i| finite(i[0])),
            high: e.interval.and_then(|i| finite(i[1])),
            identifiable: e.identifiable,
            why: e.why.clone(),
            truth: truth.iter().find(|(n, _)| *n == e.name).map(|t| t.1),
        });
        let residuals = outcome.residuals.as_ref();
        let worst = outcome.fit.iter().copied().fold(f64::INFINITY, f64::min);
        let verdict = serde_json::to_value(outcome.verdict).ok();
        let verdict = verdict.and_then(|v| v["verdict"].as_str().map(String::from));
        Judgement {
            method: outcome.method.into(),
            status: Status::Ok,
            reason: None,
            verdict,
            holds: outcome.verdict.holds(),
            fit_percent: finite(worst),
            chi2_reduced: residuals.and_then(|r| finite(r.chi2)),
            inflation: residuals.and_then(|r| finite(r.inflation)),
            estimates: estimates.collect(),
        }
    }

    /// As the study counts it; only parameters whose truth is known.
    pub fn mark(&self) -> Mark {
        let judged = |e: &Estimated| {
            let (value, truth) = (e.value?, e.truth?);
            let (total, record, low, high) = (e.stderr?, e.record_stderr?, e.low?, e.high?);
            let half = 0.5 * (high - low);
            let bound = self.inflation.map(|v| {
                let hidden = (total * total - record * record).max(0.0);
                half / total * (record * record / v + hidden).sqrt() / truth.abs()
            });
            Some(Judged {
                name: name_of(&e.name)?,
                printed: e.identifiable,
                covered: (low..=high).contains(&truth),
                sigmas: (value - truth).abs() / total,
                half_width: half / truth.abs(),
                error: (value - truth).abs() / truth.abs(),
                bound,
            })
        };
        Mark {
            parameters: self.estimates.iter().filter_map(judged).collect(),
            flagged: !self.holds,
            fit: self.fit_percent.unwrap_or(f64::NAN),
            verdict: self.verdict.clone().unwrap_or_default(),
        }
    }
}

/// The parameters a simulation knows the truth of.
fn name_of(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 8] = ["μd0", "μv0", "μd1", "μv1", "ω0²", "c/J", "b/J", "d/J"];
    NAMES.into_iter().find(|n| *n == name)
}
