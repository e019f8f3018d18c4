//! The work: chunks that are not there yet, computed on all cores.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::identify::data::reading::Loaded;
use crate::identify::method;
use crate::identify::study::record::Sample;

use super::chunk;
use super::plan::{self, InputFile, Plan};
use super::result::{Judgement, RunResult, Status};

/// Which chunks: those whose number modulo `of` is `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub index: u64,
    pub of: u64,
}

impl Share {
    pub const ALL: Share = Share { index: 0, of: 1 };

    pub fn new(index: u64, of: u64) -> Result<Share> {
        if index < of {
            return Ok(Share { index, of });
        }
        Err(Error::invalid(
            format!("there is no shard {index} of {of}"),
            "shards are counted from 0: --index 0 to N−1 with --of N",
        ))
    }

    /// Runs of the share.
    pub fn runs(self, plan: &Plan) -> u64 {
        self.chunks(plan).map(|c| length(plan, c)).sum()
    }

    fn chunks(self, plan: &Plan) -> impl Iterator<Item = u64> + use<> {
        (self.index..plan.chunks()).step_by(self.of.max(1) as usize)
    }
}

fn length(plan: &Plan, chunk: u64) -> u64 {
    let runs = plan.chunk(chunk);
    runs.end - runs.start
}

/// Compute what is missing of a share; `done` is told how many runs were there before, then of each that is finished.
pub fn run(plan: &Plan, share: Share, threads: usize, done: &(dyn Fn(u64) + Sync)) -> Result<()> {
    let (there, missing): (Vec<u64>, Vec<u64>) = share.chunks(plan).partition(|c| plan.is_done(*c));
    done(there.iter().map(|c| length(plan, *c)).sum());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::source(format!("no threads: {e}"), "set --threads 1"))?;
    pool.install(|| {
        // One chunk at a time per thread: the order is that of the numbers, give or take the threads.
        missing.par_iter().with_max_len(1).try_for_each(|&index| {
            let mut results = Vec::new();
            for run in plan.chunk(index) {
                results.push(one(plan, run));
                done(1);
            }
            chunk::write(plan, index, &results)
        })
    })
}

/// One run by all methods. Whatever is wrong with it becomes its row.
pub fn one(plan: &Plan, run: u64) -> RunResult {
    let mut result = RunResult {
        run,
        input_sha256: None,
        damage: Vec::new(),
        judgements: Vec::new(),
    };
    let all = |status, reason: String| {
        let methods = plan.spec.identify.methods.iter();
        methods
            .map(|m| Judgement::none(m, status, reason.clone()))
            .collect::<Vec<_>>()
    };
    let made = match plan.frozen.files.get(run as usize) {
        Some(file) => {
            result.input_sha256 = file.sha256.clone();
            if let Some(why) = &file.unreadable {
                result.judgements = all(Status::Failed, why.clone());
                return result;
            }
            if let Some(first) = file.duplicate_of {
                let reason = format!("the same bytes as {}", plan.input(first));
                result.judgements = all(Status::Duplicate, reason);
                return result;
            }
            guarded(|| measured(plan, file)).map(|loaded| {
                result.damage = loaded.missing;
                Sample {
                    data: loaded.data,
                    truth: Vec::new(),
                }
            })
        }
        None => guarded(|| simulated(plan, run, &mut result.input_sha256)),
    };
    result.judgements = match made {
        Err(reason) => all(Status::Failed, reason),
        Ok(sample) => judge(plan, &sample),
    };
    result
}

fn judge(plan: &Plan, sample: &Sample) -> Vec<Judgement> {
    let options = plan.spec.options();
    let judged = plan.spec.methods().into_iter().map(|m| {
        let outcome = guarded(|| method::run(m, &sample.data, &options));
        match outcome {
            Ok(outcome) => Judgement::of(&outcome, &sample.truth),
            Err(reason) => Judgement::none(m.name(), Status::Failed, reason),
        }
    });
    judged.collect()
}

/// An error, also one that should never happen, as its text.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> std::result::Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(x)) => Ok(x),
        Ok(Err(e)) => Err(said(&e)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).into()));
            Err(format!(
                "a bug in this program: {}",
                text.unwrap_or_default()
            ))
        }
    }
}

/// The error with its causes, in one line.
fn said(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(c) = cause {
        text += &format!(": {c}");
        cause = c.source();
    }
    text
}

fn measured(plan: &Plan, file: &InputFile) -> Result<Loaded> {
    let path = plan.base.join(&file.path);
    let now = plan::file_sha256(&path).map_err(|e| Error::read(&path, e))?;
    if Some(&now) != file.sha256.as_ref() {
        return Err(Error::invalid(
            format!("{} changed after the campaign was planned", file.path),
            "set `output` to another folder for a campaign over the new file",
        ));
    }
    plan.readings[file.group].read(&path)
}

fn simulated(plan: &Plan, run: u64, hash: &mut Option<String>) -> Result<Sample> {
    let missing = || Error::invalid(format!("there is no run {run}"), "plan the campaign again");
    let design = plan.spec.simulation.as_ref().ok_or_else(missing)?;
    let reading = plan.readings.last().ok_or_else(missing)?;
    let point = design.point(run - plan.frozen.files.len() as u64);
    let text = design.describe(&point, plan.rig.as_ref())?;
    *hash = Some(plan::sha256(text.as_bytes()));
    design.sample(&point, plan.rig.as_ref(), reading)
}
