//! Columns of the dataset: one row per run × method × parameter; the method is the partition.
//!
//! | column | type | what |
//! |---|---|---|
//! | `run`, `input`, `input_sha256` | integer, text | number of the run, its file or simulation, SHA-256 of what decided it |
//! | one per design variable | number or text | null where the run has none |
//! | `seed` | integer | of a simulated run |
//! | `status`, `reason`, `damage` | text | `ok`, `failed`, `duplicate`; why; what the log lost |
//! | `verdict`, `fit_percent`, `chi2_reduced`, `inflation` | | as `identify` has them; the fit of the worst joint |
//! | `parameter`, `unit`, `value`, `stderr`, `record_stderr`, `low`, `high` | text, numbers | an estimate with its 95 % interval; null where there is none |
//! | `identifiable`, `why` | flag, text | whether the record shows it, and why not |
//! | `truth` | number | of a simulated run |
//! | `program`, `numerics`, `campaign` | text, integer | version, NUMERICS, hash of the campaign |

use crate::error::{Error, Result};

use super::plan::Plan;
use super::result::{Judgement, RunResult};
use super::spec::Variable;

/// Values of a column that may be null.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Integer(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub values: Values,
}

/// Names that no design variable may have.
const TAKEN: [&str; 27] = [
    "run",
    "input",
    "input_sha256",
    "seed",
    "status",
    "reason",
    "damage",
    "verdict",
    "fit_percent",
    "chi2_reduced",
    "inflation",
    "parameter",
    "unit",
    "value",
    "stderr",
    "record_stderr",
    "low",
    "high",
    "identifiable",
    "why",
    "truth",
    "program",
    "numerics",
    "campaign",
    "method",
    "rows",
    "index",
];

/// A path of the scenario as the name of a column: `friction[1].mu_d` is `friction_1_mu_d`.
pub fn column_name(path: &str) -> String {
    let parts = path.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let parts: Vec<&str> = parts.filter(|p| !p.is_empty()).collect();
    parts.join("_")
}

/// Names of design variables become columns.
pub fn check_names(names: &[String]) -> Result<()> {
    for name in names {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain);
        if !word || TAKEN.contains(&name.as_str()) {
            return Err(Error::invalid(
                format!("{name:?} cannot be the name of a design variable"),
                format!(
                    "use letters, digits and _, and none of the dataset's own names: {}",
                    TAKEN.join(", ")
                ),
            ));
        }
    }
    Ok(())
}

/// One row, borrowed.
struct Row<'a> {
    result: &'a RunResult,
    judgement: &'a Judgement,
    /// Which estimate; none: nothing was identified.
    estimate: Option<usize>,
}

/// The rows of one method of these runs. `numeric`: which design variables are numbers in the whole campaign.
pub fn columns(plan: &Plan, results: &[RunResult], method: &str, numeric: &[bool]) -> Vec<Column> {
    let mut rows: Vec<Row> = Vec::new();
    for result in results {
        for judgement in result.judgements.iter().filter(|j| j.method == method) {
            let n = judgement.estimates.len();
            let row = |estimate| Row {
                result,
                judgement,
                estimate,
            };
            match n {
                0 => rows.push(row(None)),
                _ => rows.extend((0..n).map(|i| row(Some(i)))),
            }
        }
    }
    let text = |name: &str, f: &dyn Fn(&Row) -> Option<String>| Column {
        name: name.into(),
        values: Values::Text(rows.iter().map(f).collect()),
    };
    let number = |name: &str, f: &dyn Fn(&Row) -> Option<f64>| Column {
        name: name.into(),
        values: Values::Number(rows.iter().map(f).collect()),
    };
    let integer = |name: &str, f: &dyn Fn(&Row) -> Option<i64>| Column {
        name: name.into(),
        values: Values::Integer(rows.iter().map(f).collect()),
    };
    let estimate = |r: &Row| r.estimate.map(|i| r.judgement.estimates[i].clone());
    let some = |s: String| (!s.is_empty()).then_some(s);
    let mut out = vec![
        integer("run", &|r| Some(r.result.run as i64)),
        text("input", &|r| Some(plan.input(r.result.run))),
        text("input_sha256", &|r| r.result.input_sha256.clone()),
    ];
    for (v, name) in plan.frozen.variables.iter().enumerate() {
        let value = |r: &Row| plan.variables(r.result.run).swap_remove(v);
        out.push(match numeric[v] {
            true => number(name, &|r| match value(r) {
                Some(Variable::Number(x)) => Some(x),
                _ => None,
            }),
            false => text(name, &|r| value(r).map(|x| x.to_string())),
        });
    }
    let measured = plan.frozen.files.len() as u64;
    let seed = |r: &Row| {
        let index = r.result.run.checked_sub(measured)?;
        Some(plan.spec.simulation.as_ref()?.point(index).seed as i64)
    };
    out.extend([
        integer("seed", &seed),
        text("status", &|r| Some(r.judgement.status.word().into())),
        text("reason", &|r| r.judgement.reason.clone()),
        text("damage", &|r| some(r.result.damage.join("; "))),
        text("verdict", &|r| r.judgement.verdict.clone()),
        number("fit_percent", &|r| r.judgement.fit_percent),
        number("chi2_reduced", &|r| r.judgement.chi2_reduced),
        number("inflation", &|r| r.judgement.inflation),
        text("parameter", &|r| estimate(r).map(|e| e.id)),
        text("unit", &|r| estimate(r).map(|e| e.unit)),
        number("value", &|r| estimate(r)?.value),
        number("stderr", &|r| estimate(r)?.stderr),
        number("record_stderr", &|r| estimate(r)?.record_stderr),
        number("low", &|r| estimate(r)?.low),
        number("high", &|r| estimate(r)?.high),
        Column {
            name: "identifiable".into(),
            values: Values::Flag(
                rows.iter()
                    .map(|r| Some(estimate(r)?.identifiable))
                    .collect(),
            ),
        },
        text("why", &|r| some(estimate(r)?.why)),
        number("truth", &|r| estimate(r)?.truth),
        text("program", &|_| Some(plan.frozen.program.clone())),
        integer("numerics", &|_| Some(plan.frozen.numerics.into())),
        text("campaign", &|_| Some(plan.frozen.campaign.clone())),
    ]);
    out
}

/// Which design variables are numbers wherever they are given.
pub fn numeric(plan: &Plan) -> Vec<bool> {
    let mut out = vec![true; plan.frozen.variables.len()];
    let mut see = |values: &[Option<Variable>]| {
        for (all, value) in out.iter_mut().zip(values) {
            *all &= !matches!(value, Some(Variable::Text(_)));
        }
    };
    for file in &plan.frozen.files {
        see(&file.variables);
    }
    if let Some(s) = &plan.spec.simulation {
        // Every level of every variable is in some run; a text anywhere makes a column of texts.
        for (name, levels) in &s.vary {
            let at = plan
                .frozen
                .variables
                .iter()
                .position(|v| *v == column_name(name));
            if let Some(at) = at {
                out[at] &= levels.iter().all(|l| matches!(l, Variable::Number(_)));
            }
        }
    }
    out
}
