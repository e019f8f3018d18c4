//! One parameter over several runs: how far the runs scatter, and whether their own errors explain it.
//!
//! In: what one method found in each record. Out: per parameter the mean, the standard deviation between the runs, the
//! typical standard error within one, and whether the runs agree. Nothing is fitted here.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::identify::data::record::median;
use crate::identify::outcome::{Estimate, Outcome};

/// Runs that agree are called contradictory this often.
const FALSE_ALARM: f64 = 0.01;

/// One parameter of one method over the runs that show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Across {
    pub method: &'static str,
    pub id: String,
    pub name: String,
    pub unit: String,
    /// One per record; `None` where it is not identifiable.
    pub values: Vec<Option<f64>>,
    pub mean: f64,
    /// Standard deviation between the runs.
    pub scatter: f64,
    /// Median of the standard errors that the records leave; `None` if the method has none.
    pub stderr: Option<f64>,
    /// Whether the runs' own errors explain the scatter; `None` if the method has none.
    pub agree: Option<bool>,
}

/// Every parameter that at least two of these runs show, method by method. One list of outcomes per record.
pub fn across(runs: &[&[Outcome]]) -> Vec<Across> {
    let mut seen: Vec<(&'static str, &Estimate)> = Vec::new();
    for outcome in runs.iter().copied().flatten() {
        for estimate in outcome.estimates.iter().filter(|e| e.identifiable) {
            let known = |(m, e): &(&str, &Estimate)| *m == outcome.method && e.id == estimate.id;
            if !seen.iter().any(known) {
                seen.push((outcome.method, estimate));
            }
        }
    }
    let rows = seen.iter();
    rows.filter_map(|(method, like)| one(runs, method, like))
        .collect()
}

fn one(runs: &[&[Outcome]], method: &'static str, like: &Estimate) -> Option<Across> {
    let found: Vec<Option<&Estimate>> = runs
        .iter()
        .map(|outcomes| {
            let outcome = outcomes.iter().find(|o| o.method == method)?;
            let mut estimates = outcome.estimates.iter();
            estimates.find(|e| e.id == like.id && e.identifiable)
        })
        .collect();
    let shown: Vec<&Estimate> = found.iter().copied().flatten().collect();
    let n = shown.len() as f64;
    if shown.len() < 2 {
        return None;
    }
    let mean = shown.iter().map(|e| e.value).sum::<f64>() / n;
    let square = |e: &&Estimate| (e.value - mean) * (e.value - mean);
    let scatter = (shown.iter().map(square).sum::<f64>() / (n - 1.0)).sqrt();
    // The rig is the same in all runs: its tolerances do not make them differ, so only the record's own error counts.
    let errors: Option<Vec<f64>> = shown
        .iter()
        .map(|e| e.record_stderr.filter(|s| *s > 0.0))
        .collect();
    let agree = errors.as_ref().and_then(|errors| {
        let weights: f64 = errors.iter().map(|s| 1.0 / (s * s)).sum();
        let pairs = || shown.iter().zip(errors);
        let centre = pairs().map(|(e, s)| e.value / (s * s)).sum::<f64>() / weights;
        let chi2: f64 = pairs()
            .map(|(e, s)| (e.value - centre) * (e.value - centre) / (s * s))
            .sum();
        let law = ChiSquared::new(n - 1.0).ok()?;
        Some(law.cdf(chi2) < 1.0 - FALSE_ALARM)
    });
    Some(Across {
        method,
        id: like.id.clone(),
        name: like.name.clone(),
        unit: like.unit.to_string(),
        values: found.iter().map(|e| e.map(|e| e.value)).collect(),
        mean,
        scatter,
        stderr: errors.map(|mut errors| median(&mut errors)),
        agree,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::verdict::Verdict;

    fn run(value: f64, stderr: f64) -> Vec<Outcome> {
        let e = Estimate::new("c", value, stderr, "N·m");
        vec![Outcome::bare("a", Verdict::Explained, vec![e])]
    }

    fn table(runs: &[Vec<Outcome>]) -> Vec<Across> {
        across(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn scatter_is_judged_by_the_runs_own_errors() {
        let rows = table(&[run(1.0, 0.1), run(1.1, 0.1), run(0.9, 0.1)]);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert!((row.mean - 1.0).abs() < 1e-12 && (row.scatter - 0.1).abs() < 1e-12);
        assert_eq!((row.agree, row.stderr), (Some(true), Some(0.1)));
        // The same scatter with a tenth of the error.
        let rows = table(&[run(1.0, 0.01), run(1.1, 0.01), run(0.9, 0.01)]);
        assert_eq!(rows[0].agree, Some(false));
    }

    #[test]
    fn what_a_run_does_not_show_is_left_out() {
        let rows = table(&[run(1.0, 0.1), run(5.0, 50.0), run(1.2, 0.1)]);
        assert_eq!(rows[0].values, [Some(1.0), None, Some(1.2)]);
        assert!((rows[0].mean - 1.1).abs() < 1e-12);
        assert!(table(&[run(1.0, 0.1), run(5.0, 50.0)]).is_empty());
    }
}
