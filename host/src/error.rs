//! Errors a user can meet: what was expected, what was found, and what to do about it.
//!
//! Library functions return [`Error`]; commands add context with `anyhow`; the command line prints the
//! whole chain once, on standard error, with the way out on its own `help:` line.

use std::io;
use std::path::{Path, PathBuf};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and what to do about it.
///
/// ```
/// let error = stribeck::read_log("nowhere.mcap".as_ref()).unwrap_err();
/// assert!(error.to_string().contains("nowhere.mcap"));
/// assert!(error.help().is_some_and(|way_out| way_out.contains("check the path")));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// A file that would have been overwritten.
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    /// A file, configuration or record whose content is not valid. `help` says what to do.
    #[error("{what}")]
    Invalid { what: String, help: String },
    /// The source of frames cannot be opened or went away.
    #[error("{what}")]
    Source { what: String, help: String },
    /// The log is sound but must not be used for what was asked.
    #[error("{what}")]
    Refused { what: String, help: String },
}

impl Error {
    /// A format this program was built without: the cargo feature that brings it, and what to use instead.
    #[cfg(not(all(feature = "png", feature = "parquet")))]
    pub fn left_out(path: &Path, feature: &str, instead: &str) -> Self {
        Error::invalid(
            format!(
                "{}: this program was built without {feature}",
                path.display()
            ),
            format!("build it with `--features {feature}`, or use {instead}"),
        )
    }

    pub fn read(path: &Path, source: io::Error) -> Self {
        Error::Read {
            path: path.into(),
            source,
        }
    }

    pub fn write(path: &Path, source: io::Error) -> Self {
        Error::Write {
            path: path.into(),
            source,
        }
    }

    pub fn invalid(what: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Invalid {
            what: what.into(),
            help: help.into(),
        }
    }

    pub fn source(what: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Source {
            what: what.into(),
            help: help.into(),
        }
    }

    pub fn refused(what: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Refused {
            what: what.into(),
            help: help.into(),
        }
    }

    /// The way out, if there is one worth printing.
    pub fn help(&self) -> Option<&str> {
        match self {
            Error::Read { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Some("check the path; logs end in .mcap by convention"),
                io::ErrorKind::PermissionDenied => {
                    Some("the file exists but may not be read: check its owner and mode")
                }
                _ => None,
            },
            Error::Write { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => Some(
                    "free some space or write elsewhere with -o; what was written before is readable",
                ),
                io::ErrorKind::PermissionDenied => {
                    Some("the folder may not be written to: choose another with -o")
                }
                io::ErrorKind::NotFound => {
                    Some("the folder does not exist: create it or choose another with -o")
                }
                _ => None,
            },
            Error::Exists(_) => Some("choose another name with -o, or overwrite it with --force"),
            Error::Invalid { help, .. }
            | Error::Source { help, .. }
            | Error::Refused { help, .. } => Some(help),
        }
    }
}
