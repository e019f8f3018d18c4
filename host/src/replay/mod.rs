//! A log through the shared code again: the same bits, or what another configuration would have found.
//!
//! In: a log. Out: [`Replayed`]: the verdict of the bit comparison, the estimates at the end, and those of a second run
//! with overrides. Knows no tolerance: a bit is equal or it differs.

pub(crate) mod overridden;

use std::path::Path;

use stribeck_core::wire::block::Params;

use crate::config;
use crate::config::axes::Axes;
use crate::error::{Error, Result};
use crate::link::compare::Verdict;
use crate::link::order::Losses;
use crate::link::session::{SessionEvent, refusal};
use crate::link::wording;
use crate::log::damage::Damage;
use crate::log::metadata::Metadata;
use crate::log::pass::Log;
use overridden::Overridden;

/// What to replay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Begin at the last snapshot before this tick.
    pub from_tick: Option<u64>,
    /// Settings of the second run, `path=value`.
    pub overrides: &'a [String],
}

/// What a replay found.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub verdict: Verdict,
    pub ticks: u64,
    /// Device time \[s\].
    pub seconds: f64,
    pub losses: Losses,
    pub damage: Vec<Damage>,
    /// What was said about the recording.
    pub recording: Metadata,
    /// Joints of the device.
    pub axes: Axes,
    /// Estimates at the end of the log.
    pub device: Option<Params>,
    /// The same with the overrides.
    pub overridden: Option<Params>,
}

/// Replay the log at `path`; `progress` is told the part of it that was read [0..1].
///
/// ```
/// use stribeck::{Config, ReplayOptions, Scenario, replay, simulate};
///
/// let folder = tempfile::tempdir()?;
/// let log = folder.path().join("run.mcap");
/// simulate(&log, &Config::default(), &Scenario::default(), 2.0)?;
/// // The same counts, and what a filter that estimates drag would have made of them.
/// let overrides = ["ekf.drag=true".to_string()];
/// let options = ReplayOptions { overrides: &overrides, ..ReplayOptions::default() };
/// let found = replay(&log, &options, |_| {})?;
/// assert_eq!((found.verdict.compared_ticks, found.verdict.differing_bits), (20_000, 0));
/// assert!(found.overridden.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replay(path: &Path, options: &Options<'_>, progress: impl FnMut(f64)) -> Result<Replayed> {
    let mut other: Option<Overridden> = None;
    let log = Log::open(path)?.verify(true).from_tick(options.from_tick);
    let pass = log.for_each(progress, |event| {
        match event {
            SessionEvent::Hello { hello, .. } => {
                if let Some(why) = refusal(hello) {
                    return Err(Error::refused(
                        format!("{} cannot be replayed: {why}", path.display()),
                        format!(
                            "replay it with the stribeck version that belongs to firmware {}",
                            wording::printable(&hello.build)
                        ),
                    ));
                }
                let config = hello.config().map_err(|e| {
                    Error::refused(
                        format!(
                            "{}: the device's configuration cannot be read: {e}",
                            path.display()
                        ),
                        "replay it with the stribeck version that wrote it",
                    )
                })?;
                if !options.overrides.is_empty() && other.is_none() {
                    let config = config::with_overrides(&config, options.overrides)?;
                    other = Some(Overridden::new(&config));
                }
            }
            SessionEvent::Block { block, .. } => {
                if let Some(other) = &mut other {
                    other.block(block);
                }
            }
            SessionEvent::Gap(_) => {
                if let Some(other) = &mut other {
                    other.gap();
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    let session = &pass.session;
    let tick_hz = session.hello().map_or(1, |h| h.tick_hz.max(1));
    let device = session.checker().and_then(|c| c.observers());
    Ok(Replayed {
        verdict: session.verdict(),
        ticks: session.ticks(),
        seconds: session.ticks() as f64 / f64::from(tick_hz),
        losses: session.losses().clone(),
        damage: pass.damage,
        recording: pass.recording,
        axes: session.hello().map(wording::axes).unwrap_or_default(),
        device: device.map(|o| o.params()),
        overridden: other
            .as_ref()
            .and_then(Overridden::observers)
            .map(|o| o.params()),
    })
}
