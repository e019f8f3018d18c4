//! What is in a log: from its closing record when there is one, or by reading all of it.

use std::path::Path;

use crate::error::{Error, Result};
use crate::link::compare::Verdict;
use crate::log::closing;
use crate::log::damage::Damage;
use crate::log::pass::Log;
use crate::log::summary::{Summary, Tally};

/// A log's summary and the state of the file.
#[derive(Clone, Debug)]
pub struct Contents {
    pub summary: Summary,
    pub damage: Vec<Damage>,
    /// The file has its closing record.
    pub closed: bool,
    /// The whole file was read; otherwise only its closing record, and damage in between is not known.
    pub scanned: bool,
    pub file_bytes: u64,
}

/// Look at a log. `scan`: read all of it even if it was closed.
///
/// ```
/// use stribeck::{Config, Scenario, contents, simulate};
///
/// let folder = tempfile::tempdir()?;
/// let log = folder.path().join("run.mcap");
/// simulate(&log, &Config::default(), &Scenario::default(), 1.0)?;
/// let found = contents(&log, true)?;
/// assert!(found.closed && found.damage.is_empty());
/// assert_eq!((found.summary.ticks, found.summary.losses.lost_ticks), (10_000, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &Path, scan: bool) -> Result<Contents> {
    let log = Log::open(path)?;
    let file_bytes = std::fs::metadata(path)
        .map_err(|e| Error::read(path, e))?
        .len();
    let closing = closing::read(path)?;
    let recorded = closing.as_ref().and_then(Summary::from_closing);
    if let (false, Some(summary)) = (scan, recorded.clone()) {
        return Ok(Contents {
            summary,
            damage: Vec::new(),
            closed: true,
            scanned: false,
            file_bytes,
        });
    }
    let mut tally = Tally::default();
    let pass = log.for_each(
        |_| {},
        |event| {
            tally.take(event);
            Ok(())
        },
    )?;
    tally.bytes(pass.bytes as usize);
    let mut summary = tally.summary(&pass.session);
    summary.metadata = pass.recording;
    if let Some(recorded) = recorded {
        adopt(&mut summary, recorded);
    }
    Ok(Contents {
        summary,
        closed: !pass.damage.contains(&Damage::NotClosed),
        damage: pass.damage,
        scanned: true,
        file_bytes,
    })
}

/// What only the capture could know: whether every bit was equal, and what went wrong on its side.
fn adopt(summary: &mut Summary, recorded: Summary) {
    if summary.verdict == Verdict::default() {
        summary.verdict = recorded.verdict;
        summary.not_verified = recorded.not_verified;
    }
    for problem in recorded.problems {
        if !summary.problems.contains(&problem) {
            summary.problems.push(problem);
        }
    }
    summary.metadata = recorded.metadata;
}
