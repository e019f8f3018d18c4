//! Values of the command line that more than one command takes.

use std::path::PathBuf;

use chrono::{DateTime, Local};

use crate::log::metadata::Metadata;

/// A length of time \[s\]: finite and positive.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s.is_finite() && s > 0.0 => Ok(s),
        _ => Err("write a positive number of seconds, e.g. 12.5".into()),
    }
}

/// A finite number.
pub fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err("write a finite number".into()),
    }
}

/// A name that carries date and time, so that no recording is in the way of the next: `run-20260131-154502.mcap`.
pub fn dated(stem: &str, ending: &str) -> PathBuf {
    let now: DateTime<Local> = Local::now();
    PathBuf::from(format!("{stem}-{}.{ending}", now.format("%Y%m%d-%H%M%S")))
}

/// What people know about a recording.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "About the recording")]
pub struct MetadataArgs {
    /// A remark to keep with the log; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub note: Vec<String>,
    /// Who records
    #[arg(long, value_name = "NAME")]
    pub operator: Option<String>,
    /// Which rig is recorded
    #[arg(long, value_name = "ID")]
    pub rig_id: Option<String>,
    /// Room temperature [°C]
    #[arg(long, value_name = "CELSIUS", value_parser = finite, allow_hyphen_values = true)]
    pub temperature: Option<f64>,
}

impl MetadataArgs {
    /// As the log keeps it; the clock is added when the recording begins.
    pub fn metadata(&self) -> Metadata {
        Metadata {
            started: String::new(),
            operator: self.operator.clone().unwrap_or_default(),
            rig: self.rig_id.clone().unwrap_or_default(),
            temperature_c: self.temperature,
            notes: self.note.clone(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.metadata().is_empty()
    }
}
