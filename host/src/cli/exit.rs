//! What the process tells the shell. The table is part of the interface: scripts rely on it.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | everything asked for was done, nothing was lost |
//! | 1 | failure that has no code of its own (a full disk, a file that would be overwritten, a bug) |
//! | 2 | the command line is wrong |
//! | 3 | data were lost or damaged: frames missing, duplicated, corrupted; a log cut short |
//! | 4 | replay or self check: at least one bit differs |
//! | 5 | nothing could be compared or identified, or the log was refused |
//! | 6 | the source could not be opened: no board, no permission, busy, no such file |
//! | 7 | a configuration or a data file is not valid |
//! | 8 | the device was reset, did not do as told, or a timed capture ended without it |

use std::process::ExitCode;

use crate::cli::output;
use crate::error::Error;
use crate::link::compare::Verdict;
use crate::link::order::Losses;
use crate::log::damage::Damage;
use crate::log::summary::Summary;

/// The table above, printed at the end of `stribeck --help`.
pub const HELP: &str = "\
Exit codes:
  0  done, nothing lost
  1  failure without a code of its own
  2  wrong command line
  3  data lost or damaged (places are printed)
  4  bits differ
  5  nothing compared or identified, or log refused
  6  source could not be opened
  7  configuration or data file not valid
  8  the device was reset or did not do as told";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Success = 0,
    Failure = 1,
    Loss = 3,
    Differs = 4,
    Nothing = 5,
    NoSource = 6,
    Invalid = 7,
    Device = 8,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// What the losses and the verdict of a recording call for.
    pub fn of_recording(losses: &Losses, verdict: &Verdict) -> Exit {
        match verdict.differing_blocks {
            0 => Exit::of_log(losses, &[]),
            _ => Exit::Differs,
        }
    }

    /// What the whole summary of a recording calls for.
    pub fn of_summary(summary: &Summary) -> Exit {
        match Exit::of_recording(&summary.losses, &summary.verdict) {
            Exit::Success if summary.has_problems() => Exit::Device,
            exit => exit,
        }
    }

    /// A result that could not be written is a failure.
    pub fn after_output(self) -> Exit {
        match self {
            Exit::Success if output::result_lost() => Exit::Failure,
            exit => exit,
        }
    }

    /// What the state of a log calls for: every command that reads one returns the same.
    pub fn of_log(losses: &Losses, damage: &[Damage]) -> Exit {
        match losses.is_clean() && damage.is_empty() {
            true => Exit::Success,
            false => Exit::Loss,
        }
    }

    /// The code of an error.
    pub fn of(error: &Error) -> Exit {
        match error {
            Error::Read { .. } | Error::Source { .. } => Exit::NoSource,
            Error::Write { .. } | Error::Exists(_) => Exit::Failure,
            Error::Invalid { .. } => Exit::Invalid,
            Error::Refused { .. } => Exit::Nothing,
        }
    }
}

/// Print an error with its causes and the way out; returns the exit code.
pub fn report(error: &anyhow::Error) -> Exit {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
    let known = error.chain().find_map(|e| e.downcast_ref::<Error>());
    if let Some(help) = known.and_then(Error::help) {
        eprintln!("  help: {help}");
    }
    known.map_or(Exit::Failure, Exit::of)
}
