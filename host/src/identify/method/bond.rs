//! Parameters and initial states of a bond graph from its inputs and outputs: the estimation of paper 003.
//!
//! In: a dataset with a [`Graphed`] and channels of its inputs and outputs at common times. The search is
//! [`crate::bond::estimate`]; here its end becomes estimates with intervals, and what the record does not show is said by name.

use crate::bond::estimate::{Found, Problem, Search};
use crate::bond::follow::Driving;
use crate::error::{Error, Result};
use crate::identify::data::dataset::{Channel, Dataset, Quantity};
use crate::identify::data::graphed::Graphed;
use crate::identify::data::record::fit_percent;
use crate::identify::method::{Method, Options};
use crate::identify::outcome::{Estimate, Outcome};
use crate::identify::verdict::{Verdict, by_whiteness};

/// An unknown that lies this far in directions the record does not show is not identifiable.
const HIDDEN: f64 = 0.5;

pub(crate) struct Bond;

impl Method for Bond {
    fn name(&self) -> &'static str {
        "bond"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        let Some(graph) = &data.graph else {
            return Err("it needs a bond graph with measured inputs and outputs (--graph)".into());
        };
        if graph.unknown.is_empty() {
            return Err("nothing of the graph is unknown (--estimate)".into());
        }
        if graph.outputs.is_empty() {
            return Err("no output of the graph was measured (--output)".into());
        }
        Ok(())
    }

    fn run(&self, data: &Dataset, _: &Options) -> Result<Outcome> {
        let missing = |what: String| {
            Error::invalid(
                format!("{}: {what}", data.name),
                "give --graph, --input, --output and --estimate",
            )
        };
        let graph = data
            .graph
            .as_ref()
            .ok_or_else(|| missing("no graph".into()))?;
        let channel = |quantity: Quantity, k: usize| {
            let what = || missing(format!("{} {k} has no channel", quantity.word()));
            data.channel(quantity, k).ok_or_else(what)
        };
        let mut measured = Vec::new();
        for (k, output) in graph.outputs.iter().enumerate() {
            measured.push((*output, channel(Quantity::Output, k)?.x.clone()));
        }
        let t = channel(Quantity::Output, 0)?.t.to_vec();
        let mut inputs = Vec::new();
        for (k, constant) in graph.constant.iter().enumerate() {
            inputs.push(match constant {
                Some(value) => vec![*value; t.len()],
                None => channel(Quantity::Input, k)?.x.clone(),
            });
        }
        let together = |c: &Channel| c.t.len() == t.len() && c.x.len() == t.len();
        if !data.channels.iter().all(together) || t.len() < 3 {
            return Err(missing(
                "inputs and outputs are not sampled together".into(),
            ));
        }
        let problem = Problem {
            system: &graph.system,
            driving: &Driving { t, inputs },
            measured: &measured,
            unknown: &graph.unknown,
            parameters: graph.system.graph.values(),
            initial: graph.initial.clone(),
        };
        let found = problem.solve(&Search::default()).map_err(|e| {
            Error::invalid(
                e.to_string(),
                "start the search nearer with --set and --initial, or check the columns and their units",
            )
        })?;
        Ok(outcome(self.name(), graph, &measured, &found))
    }
}

fn outcome(
    name: &'static str,
    graph: &Graphed,
    measured: &[(crate::bond::follow::Output, Vec<f64>)],
    found: &Found,
) -> Outcome {
    // The worst of the outputs decides.
    let judged = found.residuals.iter().map(|r| by_whiteness(r));
    let (mut verdict, inflation) = judged.fold((Verdict::Explained, 1.0), |worst, next| {
        if next.1 > worst.1 { next } else { worst }
    });
    if !found.converged {
        verdict = Verdict::NotConverged;
    }
    let labels: Vec<(String, String)> = graph.unknown.iter().map(|of| graph.label(of)).collect();
    let readings: usize = found.residuals.iter().map(Vec::len).sum();
    let freedom = readings as f64 / (readings as f64 - labels.len() as f64).max(1.0);
    let covariance = &found.covariance * (inflation * freedom);
    let estimates = found.unknown.iter().enumerate().map(|(i, u)| {
        let (name, unit) = labels[i].clone();
        let initial = name.starts_with("x0:");
        if u.hidden > HIDDEN {
            let mut e = Estimate::new(name, u.value, f64::INFINITY, unit);
            e.why = match u.partner {
                Some(j) => format!("the record shows it only together with {}", labels[j].0),
                None => "the record has no sensitivity to it".into(),
            };
            return e;
        }
        let e = Estimate::new(name, u.value, covariance[(i, i)].sqrt(), unit);
        // An initial state of zero is a finding.
        if initial { e.null() } else { e }
    });
    let mut out = Outcome::bare(name, verdict, estimates.collect());
    out.covariance = Some(covariance.clone());
    for ((_, y), model) in measured.iter().zip(&found.outputs) {
        out.fit.push(fit_percent(y, model));
    }
    for r in &found.residuals {
        let square: f64 = r.iter().map(|r| r * r).sum();
        out.rms.push((square / r.len().max(1) as f64).sqrt());
        out.rms_counts.push(None);
        out.rms_unit = "in the outputs' units".into();
    }
    let head: Vec<String> = labels.iter().map(|l| format!("{:>13}", l.0)).collect();
    out.choice
        .push(format!("iteration  {}   residual/spread", head.join(" ")));
    for (i, (values, rms)) in found.trace.iter().enumerate() {
        let cells: Vec<String> = values.iter().map(|v| format!("{v:>13.6}")).collect();
        out.choice
            .push(format!("{i:>9}  {}   {rms:.3e}", cells.join(" ")));
    }
    out.notes.push(format!(
        "inputs are held from sample to sample; {} implicit steps between samples",
        found.substeps
    ));
    out
}
