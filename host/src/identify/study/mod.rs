//! Monte Carlo: do the intervals cover as often as they say, and is it said when they do not?
//!
//! A study has rows ([`Row`]): kinds of records, each with many truths. Every record is identified by the default command's code;
//! what is counted ([`tally::Tally`]) is coverage of the intervals called identifiable, records with an estimate more than three
//! standard errors off and how many of these are flagged, false alarms, and half-widths against the Cramér–Rao bound with the
//! same priors.
//!
//! The result depends on the seed, not on the number of threads.

pub(crate) mod record;
pub(crate) mod tally;

use rayon::prelude::*;

use crate::error::Result;
use crate::identify::method::{self, Method, Options};
use record::Sample;
use tally::{Mark, Tally};

/// A kind of record: its name, and how the record of each seed is made.
pub struct Row {
    pub name: String,
    /// The model is exactly right: every flag is a false alarm.
    pub clean: bool,
    pub make: Box<dyn Fn(u64) -> Sample + Sync>,
}

/// What is run.
pub struct Plan<'a> {
    pub rows: &'a [Row],
    pub methods: &'a [&'static dyn Method],
    pub options: Options,
    /// Truths per row, and the first seed.
    pub truths: u64,
    pub seed: u64,
}

/// Run all rows; `progress` is called after every record. One tally per row and method.
pub fn run(plan: &Plan, progress: &(dyn Fn() + Sync)) -> Result<Vec<Tally>> {
    let mut out = Vec::new();
    for row in plan.rows {
        let seeds: Vec<u64> = (plan.seed..plan.seed + plan.truths).collect();
        let marks: Vec<Vec<Option<Mark>>> = seeds
            .par_iter()
            .map(|&seed| {
                let sample = (row.make)(seed);
                let marks = plan.methods.iter().map(|m| one(*m, &sample, &plan.options));
                let marks = marks.collect();
                progress();
                marks
            })
            .collect();
        for (k, m) in plan.methods.iter().enumerate() {
            let of_method: Vec<Mark> = marks.iter().filter_map(|r| r[k].clone()).collect();
            out.push(Tally::new(
                &row.name,
                row.clean,
                m.name(),
                plan.truths,
                &of_method,
            ));
        }
    }
    Ok(out)
}

/// One method on one record; none where the method refuses it, which is no wrong number.
fn one(method: &dyn Method, sample: &Sample, options: &Options) -> Option<Mark> {
    method.suits(&sample.data).ok()?;
    let outcome = method::run(method, &sample.data, options).ok()?;
    Some(Mark::new(&outcome, &sample.truth))
}
