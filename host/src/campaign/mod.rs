//! Campaigns: many runs, identified alike, into one table that any tool reads.
//!
//! ```text
//! campaign.toml ─► spec ─► plan (inputs with their hashes, frozen) ─► chunks of runs, each a file, in any order, by anybody
//!                                                                      └► dataset (Parquet) ─► report (one page)
//! ```
//!
//! The plan divides the runs into chunks. What a chunk holds depends on the plan alone, so it does not matter who computes it,
//! when, or how often: a chunk's file appears whole or not at all, under a name that says which it is. Shards are nothing but
//! chunks taken modulo their number, a killed process loses the chunks it was at, and the dataset that is merged from the
//! chunks has the same bytes whoever computed them. No clock and no lock decides a result.
//!
//! | file of the output folder | what |
//! |---|---|
//! | `plan.json` | the campaign's hash, program, numerics, every input file with its SHA-256 |
//! | `chunks/000/000012.jsonl` | the results of one chunk, one run per line |
//! | `results/method=greybox/part-00000.parquet` | the dataset, Hive partitions by method; written once, never changed |
//!
//! In: a campaign file. Out: files as above, and a page of HTML ([`page`]). Units as `identify` prints them.

pub mod chunk;
pub mod dataset;
pub mod design;
pub mod page;
pub mod plan;
pub mod pool;
pub mod result;
pub mod slurm;
pub mod spec;
pub mod table;
pub mod work;

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};
use plan::Plan;
use work::Share;

/// What a whole campaign came to.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Summary {
    pub runs: u64,
    /// Runs by how they ended.
    pub ok: u64,
    pub failed: u64,
    pub duplicates: u64,
    /// Rows of the dataset.
    pub rows: u64,
}

/// Everything on this machine: what is missing is computed on `threads` threads (0: one per core), then merged. `done` is told
/// how many runs were finished before, and then of every run.
pub fn run(plan: &Plan, threads: usize, done: &(dyn Fn(u64) + Sync)) -> Result<Summary> {
    let _alone = alone(&plan.folder)?;
    work::run(plan, Share::ALL, threads, done)?;
    dataset::merge(plan)
}

/// One `campaign run` per folder: a second one would compute the same twice.
fn alone(folder: &Path) -> Result<File> {
    let path = folder.join("run.lock");
    let file = File::create(&path).map_err(|e| Error::write(&path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::invalid(
            format!("{} is being run by another process", folder.display()),
            "wait for it, or divide the work: `stribeck campaign shard --index I --of N`",
        )),
        // A file system without locks: chunks are whole or absent all the same.
        Err(std::fs::TryLockError::Error(_)) => Ok(file),
    }
}
