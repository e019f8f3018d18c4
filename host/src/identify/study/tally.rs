//! What one record showed, and what many of them add up to.

use serde::Serialize;

use crate::identify::data::record::median;
use crate::identify::outcome::Outcome;

/// One parameter of one record.
#[derive(Clone, Debug)]
pub struct Judged {
    pub name: &'static str,
    /// Called identifiable.
    pub printed: bool,
    pub covered: bool,
    /// Distance from the truth in standard errors.
    pub sigmas: f64,
    /// Of the truth: half the interval, the error, and the Cramér–Rao bound of half the interval where it is known.
    pub half_width: f64,
    pub error: f64,
    pub bound: Option<f64>,
}

/// What one record showed.
#[derive(Clone, Debug)]
pub struct Mark {
    pub parameters: Vec<Judged>,
    /// The verdict withholds the intervals.
    pub flagged: bool,
    /// Free-run fit of the worst joint [%].
    pub fit: f64,
    /// In words.
    pub verdict: String,
}

/// What every record is asked for; other parameters count where they are printed.
const CORE: [&str; 8] = ["μd0", "μv0", "μd1", "μv1", "ω0²", "c/J", "b/J", "d/J"];

impl Mark {
    /// `truth`: names and true values of the parameters that are judged.
    pub fn new(outcome: &Outcome, truth: &[(&'static str, f64)]) -> Mark {
        let inflation = outcome.residuals.as_ref().map(|r| r.inflation);
        let judged = |&(name, value): &(&'static str, f64)| {
            let e = outcome.estimate(name)?;
            let ([lo, hi], total, record) = (e.interval?, e.stderr?, e.record_stderr?);
            let quantile = (hi - e.value) / total;
            let scale = if value == 0.0 { hi - lo } else { value.abs() };
            let core = CORE.contains(&name);
            // Of what is known by its logarithm and of what is not printed the distance means nothing.
            let counts = core || (e.identifiable && !name.starts_with("vt"));
            let bound = inflation.map(|v| {
                let hidden = (total * total - record * record).max(0.0);
                quantile * (record * record / v + hidden).sqrt() / scale
            });
            Some(Judged {
                name,
                printed: e.identifiable,
                covered: (lo..=hi).contains(&value),
                sigmas: if counts {
                    (e.value - value).abs() / total
                } else {
                    0.0
                },
                half_width: e.half_width()? / scale,
                error: (e.value - value).abs() / scale,
                bound,
            })
        };
        Mark {
            parameters: truth.iter().filter_map(judged).collect(),
            flagged: !outcome.verdict.holds(),
            fit: outcome.fit.iter().copied().fold(f64::INFINITY, f64::min),
            verdict: outcome.verdict.line(),
        }
    }

    fn missed(&self) -> bool {
        self.parameters.iter().any(|p| p.sigmas > 3.0)
    }
}

/// One parameter over all records of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    /// Intervals called identifiable, and those of them that hold the truth.
    pub printed: u64,
    pub covered: u64,
    /// Medians over the printed ones, in % of the truth.
    pub half_width_percent: f64,
    pub error_percent: f64,
    /// Median of half-width over its Cramér–Rao bound.
    pub over_bound: Option<f64>,
}

/// One row by one method.
#[derive(Clone, Debug, Serialize)]
pub struct Tally {
    pub row: String,
    pub clean: bool,
    pub method: &'static str,
    pub records: u64,
    /// Records the method refused.
    pub refused: u64,
    pub printed: u64,
    pub covered: u64,
    /// Records with an estimate more than three standard errors off, and those of them that are flagged.
    pub missed: u64,
    pub missed_flagged: u64,
    pub flagged: u64,
    pub parameters: Vec<Parameter>,
    pub median_fit_percent: f64,
    pub least_fit_percent: f64,
    /// What was said of each record.
    pub verdicts: Vec<String>,
}

impl Tally {
    pub fn new(
        row: &str,
        clean: bool,
        method: &'static str,
        records: u64,
        marks: &[Mark],
    ) -> Tally {
        let mut names: Vec<&'static str> = Vec::new();
        for p in marks.iter().flat_map(|m| &m.parameters) {
            if !names.contains(&p.name) {
                names.push(p.name);
            }
        }
        let place = |n: &&str| CORE.iter().position(|c| c == n).unwrap_or(CORE.len());
        names.sort_by_key(place);
        let parameters: Vec<Parameter> = names.iter().map(|n| parameter(n, marks)).collect();
        let count = |f: &dyn Fn(&Mark) -> bool| marks.iter().filter(|m| f(m)).count() as u64;
        let mut fits: Vec<f64> = marks.iter().map(|m| m.fit).collect();
        Tally {
            row: row.into(),
            clean,
            method,
            records,
            refused: records - marks.len() as u64,
            printed: parameters.iter().map(|p| p.printed).sum(),
            covered: parameters.iter().map(|p| p.covered).sum(),
            missed: count(&|m| m.missed()),
            missed_flagged: count(&|m| m.missed() && m.flagged),
            flagged: count(&|m| m.flagged),
            parameters,
            verdicts: marks.iter().map(|m| m.verdict.clone()).collect(),
            least_fit_percent: fits.iter().copied().fold(f64::INFINITY, f64::min),
            median_fit_percent: median(&mut fits),
        }
    }

    /// Share of the printed intervals that hold the truth; none where nothing was printed.
    pub fn coverage(&self) -> Option<f64> {
        (self.printed > 0).then(|| self.covered as f64 / self.printed as f64)
    }
}

fn parameter(name: &'static str, marks: &[Mark]) -> Parameter {
    let printed: Vec<&Judged> = marks
        .iter()
        .flat_map(|m| &m.parameters)
        .filter(|p| p.name == name && p.printed)
        .collect();
    let middle =
        |f: &dyn Fn(&Judged) -> f64| median(&mut printed.iter().map(|p| f(p)).collect::<Vec<_>>());
    let mut over: Vec<f64> = printed
        .iter()
        .filter_map(|p| Some(p.half_width / p.bound?))
        .collect();
    Parameter {
        name,
        printed: printed.len() as u64,
        covered: printed.iter().filter(|p| p.covered).count() as u64,
        half_width_percent: 100.0 * middle(&|p| p.half_width),
        error_percent: 100.0 * middle(&|p| p.error),
        over_bound: (!over.is_empty()).then(|| median(&mut over)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::outcome::Estimate;
    use crate::identify::verdict::{Pattern, Verdict};

    #[test]
    fn misses_flags_and_coverage_are_counted_apart() {
        let outcome = |value: f64, verdict: Verdict| {
            let mut e = Estimate::new("c/J", value, 0.01, "rad/s²");
            if !verdict.holds() {
                e.withdraw("not explained");
            }
            Outcome::bare("greybox", verdict, vec![e])
        };
        let truth = [("c/J", 1.0)];
        let not = Verdict::NotExplained {
            pattern: Pattern::Unnamed,
        };
        let marks = [
            Mark::new(&outcome(1.01, Verdict::Explained), &truth),
            Mark::new(&outcome(1.10, Verdict::Explained), &truth),
            Mark::new(&outcome(1.10, not), &truth),
        ];
        let t = Tally::new("row", false, "greybox", 4, &marks);
        assert_eq!((t.printed, t.covered), (2, 1));
        assert_eq!((t.missed, t.missed_flagged, t.flagged), (2, 1, 1));
        assert_eq!(t.refused, 1);
        assert_eq!(t.coverage(), Some(0.5));
    }
}
