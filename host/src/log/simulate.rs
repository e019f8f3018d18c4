//! A simulated pendulum through the device's own code into a log: the native twin at one end, the recorder at the other.
//!
//! In: a configuration, a scenario and how long \[s\], or a twin that was made elsewhere. Out: the log and its summary. The
//! same input gives the same file, byte for byte.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use stribeck_core::device::config::Config;
use stribeck_core::wire::Ask;

use crate::error::Result;
use crate::link::command;
use crate::link::scenario::Scenario;
use crate::link::source::Source;
use crate::link::twin::Twin;
use crate::log::capture::{self, Outcome, Plan, Progress};
use crate::log::recorder::{Recorder, Wall};
use crate::log::summary::Summary;

/// Simulate a swing of `seconds` into a new log at `path`; a file that exists is refused.
///
/// ```
/// use stribeck::{Config, Scenario, simulate};
///
/// let folder = tempfile::tempdir()?;
/// let log = folder.path().join("run.mcap");
/// let summary = simulate(&log, &Config::default(), &Scenario::default(), 2.0)?;
/// assert_eq!(summary.losses.lost_ticks, 0);
/// assert_eq!(summary.verdict.differing_bits, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(
    path: &Path,
    config: &Config,
    scenario: &Scenario,
    seconds: f64,
) -> Result<Summary> {
    scenario.validate()?;
    let twin = Twin::new(config, scenario, Some(seconds), false);
    let recorder = Recorder::create(path, Wall::Epoch)?;
    Ok(record(twin, recorder, Some(Ask::Start), &mut |_| {})?.summary)
}

/// Record everything a twin says until it ends; `first`: what it is asked before its first tick.
pub fn record<W: Write>(
    mut twin: Twin,
    recorder: Recorder<W>,
    first: Option<Ask>,
    watch: &mut dyn FnMut(Progress<'_, W>),
) -> Result<Outcome> {
    if let Some(ask) = first {
        twin.write(&command::frame(1, ask))?;
    }
    let never = AtomicBool::new(false);
    capture::run(Box::new(twin), recorder, Plan::default(), &never, watch)
}
