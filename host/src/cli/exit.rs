//! What the process tells the shell. The table is part of the interface: scripts rely on it.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | everything asked for was done, nothing was lost |
//! | 1 | failure that has no code of its own (a full disk, a bug) |
//! | 2 | the command line is wrong |
//! | 3 | data were lost or damaged: frames missing, duplicated, corrupted; a log cut short |
//! | 4 | replay or self check: at least one bit differs |
//! | 5 | nothing could be compared or identified, or the log was refused |
//! | 6 | the source could not be opened: no board, no permission, busy, no such file |
//! | 7 | a configuration or a data file is not valid |

use std::process::ExitCode;

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
  7  configuration or data file not valid";

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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
