//! Where frames come from: a board, a terminal of the virtual bench, the native twin, a log. One trait, so
//! every command works with all of them.
//!
//! A source yields bytes, never frames: finding frames in bytes is the same work for all of them
//! ([`crate::link::frames`]). Reading happens in its own thread (`pump`), so a slow disk or a busy screen never
//! makes the kernel's small buffers overflow.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result};

/// What one call of [`Source::read`] brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Bytes were appended.
    Bytes,
    /// Nothing within the source's own short waiting time.
    Quiet,
    /// The connection broke, for this reason; [`Source::reopen`] may bring it back.
    Lost(String),
    /// There will be no more bytes.
    End,
}

/// A stream of bytes from a device, and commands to it.
pub trait Source: Send {
    /// What the source is, for people: a path, a port with its product name.
    fn name(&self) -> String;
    /// Append what has arrived to `into`, waiting a few milliseconds at most.
    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival>;
    /// Send a command frame.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
    /// After [`Arrival::Lost`]: try once to get the connection back.
    fn reopen(&mut self) -> bool {
        false
    }
    /// Whether [`Source::write`] leads anywhere.
    fn takes_commands(&self) -> bool {
        true
    }
    /// Whether the bytes arrive as they happen (a board, a paced twin) and waiting costs data.
    fn is_live(&self) -> bool {
        true
    }
}

/// The argument of `--from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// The board, found by its USB identity.
    Usb,
    /// A serial port or terminal by its path.
    Port(PathBuf),
    /// The native twin with a simulated pendulum.
    Sim,
    /// A log.
    File(PathBuf),
}

impl FromStr for From {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "usb" => Ok(From::Usb),
            "sim" => Ok(From::Sim),
            path => From::path(Path::new(path)),
        }
    }
}

impl From {
    /// Tell a port from a log by what the path is.
    fn path(path: &Path) -> Result<Self> {
        if cfg!(windows) && is_com_port(&path.to_string_lossy()) {
            return Ok(From::Port(path.into()));
        }
        match path.metadata() {
            Ok(m) if m.is_file() => Ok(From::File(path.into())),
            Ok(m) if m.is_dir() => Err(Error::source(
                format!("{} is a folder", path.display()),
                "give a port, a log file, `usb` or `sim`",
            )),
            Ok(_) => Ok(From::Port(path.into())),
            // A board that is unplugged right now: the port may come back.
            Err(_) if path.starts_with("/dev") => Ok(From::Port(path.into())),
            Err(e) => Err(Error::source(
                format!("{} is neither a port nor a log: {e}", path.display()),
                "give a port, a log file, `usb` or `sim`; `stribeck doctor` lists the ports",
            )),
        }
    }
}

/// `COM3`, as Windows names its ports; `combined.mcap` is a log.
fn is_com_port(name: &str) -> bool {
    let name = name.strip_prefix(r"\\.\").unwrap_or(name);
    match name.split_at_checked(3) {
        Some((com, number)) => {
            com.eq_ignore_ascii_case("com")
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        }
        None => false,
    }
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::Usb => f.write_str("usb"),
            From::Sim => f.write_str("sim"),
            From::Port(path) | From::File(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_com_port;

    #[test]
    fn ports_of_windows_are_told_from_files() {
        for port in ["COM3", "com12", r"\\.\COM10"] {
            assert!(is_com_port(port), "{port}");
        }
        for file in ["COM", "combined.mcap", "COM3.mcap", "a", "", "xCOM3"] {
            assert!(!is_com_port(file), "{file}");
        }
    }
}
