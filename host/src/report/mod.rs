//! The report of a log: everything a lab wants to file about a run, as numbers ([`Report`]) and as one HTML page
//! ([`page::html`]).
//!
//! ```text
//! log ─► collect (one pass, bounded memory) ─► health, list of runs, one Swing
//!                                               Swing ─► candidates ─► free runs and fits
//!                                                     ─► residuals, spectra, measured friction torque
//! ```
//!
//! In: a log, whole or not. Out: [`Report`]; times \[s\], angles \[rad\], torques [N·m]. A log in which nothing swung still
//! gives its health. It identifies nothing itself: parameter sets come from the device's records and from the caller.

pub mod candidate;
pub(crate) mod chart;
pub(crate) mod collect;
pub(crate) mod decimate;
pub(crate) mod figures;
pub(crate) mod free_run;
pub(crate) mod health;
mod health_section;
pub(crate) mod markup;
pub(crate) mod offline;
pub mod page;
pub(crate) mod residual;
mod result_section;
pub(crate) mod spectrum;
pub mod swing;
pub(crate) mod torque;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::log::metadata::Metadata;
use crate::log::runs::Run;
use candidate::{Candidate, Kind};
use collect::Collected;
use free_run::FreeRun;
use health::Health;
use swing::{Start, Swing};

/// What to report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Which run, counted from 1; the longest without it.
    pub run: Option<usize>,
    /// Run the observers again and compare every bit, even if the capture already did.
    pub compare: bool,
}

/// Parameter sets computed on the host from the run, beyond the device's own.
pub type Extra<'a> = dyn Fn(&Swing) -> Vec<Candidate> + 'a;

/// One parameter set and how its free run compares.
#[derive(Clone, Debug, Serialize)]
pub struct Validated {
    #[serde(flatten)]
    pub candidate: Candidate,
    #[serde(flatten)]
    pub free_run: FreeRun,
}

/// Everything about the reported run.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    pub number: usize,
    pub seconds: f64,
    pub rested: bool,
    pub start: Option<Start>,
    /// When the hand let go after the captured start \[s\]; validation begins here.
    pub release: f64,
    /// The run is longer than the validation.
    pub shortened: bool,
    pub validated: Vec<Validated>,
    pub residuals: Vec<residual::Residual>,
    pub torque: Vec<torque::Measured>,
    /// Strongest frequency of each joint \[Hz\].
    pub dominant_hz: Vec<Option<f64>>,
    #[serde(skip)]
    pub spectra: Vec<Vec<(f64, f64)>>,
    #[serde(skip)]
    pub measured: Option<free_run::Measured>,
    #[serde(skip)]
    pub swing: Swing,
}

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub log: PathBuf,
    /// What was said about the recording.
    pub metadata: Metadata,
    pub health: Health,
    pub runs: Vec<Run>,
    /// `None`: nothing swung.
    pub analysis: Option<Analysis>,
    #[serde(skip)]
    pub config: Option<stribeck_core::device::config::Config>,
}

impl Report {
    /// The page: one HTML file that needs nothing else.
    pub fn html(&self) -> String {
        page::html(self)
    }
}

/// Read the log at `path` and compute its report. `extra` adds parameter sets to the device's own, `progress` is told the
/// part of the file read [0..1].
///
/// ```
/// use stribeck::{Config, ReportOptions, Scenario};
///
/// let folder = tempfile::tempdir()?;
/// let log = folder.path().join("run.mcap");
/// stribeck::simulate(&log, &Config::default(), &Scenario::default(), 3.0)?;
/// let report = stribeck::report(&log, &ReportOptions::default(), &|_| Vec::new(), |_| {})?;
/// assert_eq!(report.runs.len(), 1);
/// assert!(report.html().to_lowercase().starts_with("<!doctype html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build(
    path: &Path,
    options: &Options,
    extra: &Extra<'_>,
    progress: impl FnMut(f64),
) -> Result<Report> {
    let Collected {
        health,
        runs,
        swing,
        config,
        recording,
    } = collect::log(path, options.run, options.compare, progress)?;
    if let (Some(number), None) = (options.run, &swing) {
        let help = match runs.last() {
            None => "leave --run away for a report of the log's health".to_string(),
            Some(last) => format!("choose --run 1 to {}", last.number),
        };
        let what = format!("{} has no run {number}", path.display());
        return Err(Error::refused(what, help));
    }
    Ok(Report {
        log: path.into(),
        metadata: recording,
        health,
        runs,
        analysis: swing.map(|swing| analyse(swing, extra)),
        config,
    })
}

fn analyse(swing: Swing, extra: &Extra<'_>) -> Analysis {
    let mut candidates = candidate::on_board(&swing);
    candidates.extend(extra(&swing));
    // The release is found with the law that explains the run best a priori: off line, then the Kalman filter's.
    let best = candidates
        .iter()
        .rfind(|c| matches!(c.kind, Kind::Ekf | Kind::Offline));
    let measured = best.and_then(|c| free_run::measured(&swing, c.friction));
    let validated = match &measured {
        None => Vec::new(),
        Some(measured) => candidates
            .into_iter()
            .map(|candidate| Validated {
                free_run: free_run::run(&swing, measured, candidate.friction),
                candidate,
            })
            .collect(),
    };
    let trace = measured
        .as_ref()
        .map_or_else(|| swing.trace(), |m| m.trace.clone());
    let spectra: Vec<_> = (0..swing.joints())
        .map(|j| spectrum::amplitude(&joint_of(&trace, j)))
        .collect();
    Analysis {
        number: swing.number,
        seconds: swing.duration(),
        rested: swing.rested,
        start: swing.start,
        release: measured.as_ref().map_or(0.0, |m| m.release),
        shortened: measured.as_ref().is_some_and(|m| m.shortened),
        validated,
        residuals: residual::residuals(&swing),
        torque: torque::measure(&swing, &trace),
        dominant_hz: spectra.iter().map(|s| spectrum::dominant(s)).collect(),
        spectra,
        measured,
        swing,
    }
}

/// One joint's (t, angle).
pub fn joint_of(trace: &[(f64, [f64; 2])], joint: usize) -> Vec<(f64, f64)> {
    trace.iter().map(|(t, q)| (*t, q[joint])).collect()
}
