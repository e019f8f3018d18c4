//! A serial port: the board's CDC-ACM device, or the terminal (PTY) of the virtual bench.
//!
//! Speed and parity mean nothing on either, but the port must be raw and must not be shared. A PTY
//! refuses some of the requests a serial port accepts; those are tried and forgotten.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use serialport::SerialPort;

use super::source::{Arrival, Source};
use super::usb;
use crate::error::{Error, Result};

/// How long a read waits for the first byte. Also bounds how late a command is sent.
const WAIT: Duration = Duration::from_millis(10);
/// Bytes asked for at once.
const READ: usize = 64 * 1024;
/// CDC-ACM and PTYs ignore the speed; it must only be one every driver accepts.
const BAUD: u32 = 115_200;

pub struct Port {
    /// `None`: found by USB identity, so a replug may give it another path.
    path: Option<String>,
    open_path: String,
    port: Option<Box<dyn SerialPort>>,
    buffer: Vec<u8>,
}

impl Port {
    /// The board, wherever it is connected.
    pub fn usb() -> Result<Self> {
        Self::open(None, usb::find()?)
    }

    /// A port by its path.
    pub fn path(path: &Path) -> Result<Self> {
        let path = path.to_string_lossy().into_owned();
        Self::open(Some(path.clone()), path)
    }

    fn open(path: Option<String>, open_path: String) -> Result<Self> {
        let port = connect(&open_path)?;
        Ok(Port {
            path,
            open_path,
            port: Some(port),
            buffer: vec![0; READ],
        })
    }
}

impl Source for Port {
    fn name(&self) -> String {
        self.open_path.clone()
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival> {
        let Some(port) = &mut self.port else {
            return Ok(Arrival::Lost("not connected".into()));
        };
        match port.read(&mut self.buffer) {
            Ok(0) => {
                self.port = None;
                Ok(Arrival::Lost("the port reports its end".into()))
            }
            Ok(n) => {
                into.extend_from_slice(&self.buffer[..n]);
                Ok(Arrival::Bytes)
            }
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted
                ) =>
            {
                Ok(Arrival::Quiet)
            }
            Err(e) => {
                self.port = None;
                Ok(Arrival::Lost(e.to_string()))
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(port) = &mut self.port else {
            return Err(Error::source(
                format!("{} is not connected", self.open_path),
                "reconnect the board",
            ));
        };
        port.write_all(bytes).map_err(|e| {
            Error::source(
                format!("{} does not take commands: {e}", self.open_path),
                "reset the board; if it persists run `stribeck doctor`",
            )
        })
    }

    fn reopen(&mut self) -> bool {
        let path = match &self.path {
            Some(path) => Ok(path.clone()),
            None => usb::find(),
        };
        let Ok(path) = path else { return false };
        match connect(&path) {
            Ok(port) => {
                self.open_path = path;
                self.port = Some(port);
                true
            }
            Err(_) => false,
        }
    }
}

/// Open a port for reading frames: raw, alone, with the "host is here" line raised.
pub fn connect(path: &str) -> Result<Box<dyn SerialPort>> {
    let builder = serialport::new(path, BAUD).timeout(WAIT);
    let mut port = builder
        .clone()
        .open()
        .or_else(|e| unlocked(builder, e))
        .map_err(|e| explain(path, &e))?;
    // A PTY has no modem lines.
    let _ = port.write_data_terminal_ready(true);
    Ok(port)
}

#[cfg(not(windows))]
const NO_PERMISSION: &str = "add yourself to the port's group (`sudo usermod -aG dialout $USER`, then log in again); `stribeck doctor` shows the group";
/// Windows refuses a port that another program has open with "access denied".
#[cfg(windows)]
const NO_PERMISSION: &str =
    "close the other program that has the port open (another stribeck, a terminal)";

/// Some terminals cannot be locked; a busy or missing one fails again and says so.
#[cfg(unix)]
fn unlocked(
    builder: serialport::SerialPortBuilder,
    _: serialport::Error,
) -> serialport::Result<Box<dyn SerialPort>> {
    builder.exclusive(false).open()
}

/// Windows opens every port alone.
#[cfg(not(unix))]
fn unlocked(
    _: serialport::SerialPortBuilder,
    locked: serialport::Error,
) -> serialport::Result<Box<dyn SerialPort>> {
    Err(locked)
}

fn explain(path: &str, error: &serialport::Error) -> Error {
    let io = match error.kind() {
        serialport::ErrorKind::Io(kind) => Some(kind),
        _ => None,
    };
    let missing = !Path::new(path).exists() && !cfg!(windows);
    let text = error.to_string().to_lowercase();
    let (what, help) = if missing {
        (
            "there is no such port".into(),
            "connect the board; `stribeck doctor` lists the ports there are",
        )
    } else if io == Some(ErrorKind::PermissionDenied) || text.contains("denied") {
        (format!("no permission ({error})"), NO_PERMISSION)
    } else if text.contains("busy")
        || text.contains("lock")
        || text.contains("temporarily unavailable")
    {
        (
            format!("it is in use ({error})"),
            "close the other program (another stribeck, a terminal, ModemManager)",
        )
    } else {
        (
            error.to_string(),
            "is this a serial port? `stribeck doctor` lists the ports there are",
        )
    };
    Error::source(format!("cannot open {path}: {what}"), help)
}
