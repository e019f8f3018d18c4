//! From formulas to the fewest operations we can find, and from there to the Rust source of a plant.
//!
//! [`mod@program`]: outputs → straight-line program. [`mod@plant`]: program → source of a `Plant` of the core crate.

mod emit;
mod factor;
pub mod plant;
pub mod program;
mod share;
mod source;

pub use plant::{Source, plant};
pub use program::{Count, Program, compile};

use std::io::Write;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// The source as rustfmt of the toolchain lays it out: generated files look like all others.
pub fn rustfmt(source: &str) -> Result<String> {
    let failed = |what: String| {
        Error::Unsupported(format!(
            "rustfmt: {what}; `rustup component add rustfmt` installs it"
        ))
    };
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| failed(e.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        input
            .write_all(source.as_bytes())
            .map_err(|e| failed(e.to_string()))?;
    }
    let out = child
        .wait_with_output()
        .map_err(|e| failed(e.to_string()))?;
    if !out.status.success() {
        return Err(failed(String::from_utf8_lossy(&out.stderr).into_owned()));
    }
    String::from_utf8(out.stdout).map_err(|e| failed(e.to_string()))
}
