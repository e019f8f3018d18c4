//! One pass over a log, in bounded memory: its health, the list of its runs, and the data of one of them.
//!
//! The run kept is the longest swinging one, or the one asked for; at most two runs are in memory at a time (the best
//! so far and the one being read). What a run is, [`crate::log::runs`] says.

use std::path::Path;

use stribeck_core::device::config::Config;
use stribeck_core::wire::block::Record;

use super::health::{Health, Verification};
use super::swing::{Observed, Swing};
use crate::error::Result;
use crate::link::session::SessionEvent;
use crate::log::closing;
use crate::log::metadata::Metadata;
use crate::log::pass::Log;
use crate::log::runs::{Cutter, Run, Step};

/// A log that carries no verdict of its capture is compared here if it is not larger than this [bytes]: about 10 minutes.
const COMPARE_UP_TO: u64 = 64 << 20;
/// Runs listed; all are counted.
const RUNS: usize = 1000;

/// What the pass found.
pub struct Collected {
    pub health: Health,
    pub runs: Vec<Run>,
    pub swing: Option<Swing>,
    /// The configuration in force at the end.
    pub config: Option<Config>,
    /// What was said about the recording.
    pub recording: Metadata,
}

/// Read the log at `path`, keeping run `wanted` (1 is the first) or the longest. `compare`: run the observers again even
/// if the capture has already compared every bit.
pub fn log(
    path: &Path,
    wanted: Option<usize>,
    compare: bool,
    progress: impl FnMut(f64),
) -> Result<Collected> {
    let closing = closing::read(path)?;
    let recorded = closing.as_ref().and_then(Verification::recorded);
    let size = std::fs::metadata(path).map_or(0, |m| m.len());
    let verify = compare || (recorded.is_none() && size <= COMPARE_UP_TO);

    let mut health = Health::default();
    let mut cutter = Cutter::default();
    let mut collector = Collector {
        wanted,
        ..Collector::default()
    };
    let pass = Log::open(path)?
        .verify(verify)
        .for_each(progress, |event| {
            match event {
                SessionEvent::Hello { hello, .. } => health.hello(hello),
                SessionEvent::Event(event) => health.event(event),
                SessionEvent::Status(status) => health.status(status),
                _ => {}
            }
            cutter.take(event, &mut |step| {
                health.resets += u32::from(matches!(step, Step::Reset));
                collector.step(step);
            });
            Ok(())
        })?;
    cutter.finish(&mut |step| collector.step(step));

    let session = &pass.session;
    // A simulation counts from 1970: its clock says nothing.
    let clock = closing.map(|s| s.start_ns);
    health.recorded_ns = clock.filter(|ns| *ns > 1_000_000_000_000_000_000);
    health.ticks = session.ticks();
    health.segments = session.segments();
    health.losses = session.losses().clone();
    health.damage(&pass.damage);
    health.verification = match (verify, recorded) {
        (true, _) => Verification::here(&session.verdict(), session.not_verified()),
        (false, Some(recorded)) => recorded,
        (false, None) => Verification::nobody(),
    };
    Ok(Collected {
        health,
        runs: collector.runs,
        swing: collector.best,
        config: cutter.config().copied(),
        recording: pass.recording,
    })
}

/// Keeps the run that is reported.
#[derive(Default)]
struct Collector {
    wanted: Option<usize>,
    current: Option<Swing>,
    best: Option<Swing>,
    runs: Vec<Run>,
}

impl Collector {
    fn step(&mut self, step: Step<'_>) {
        if let Step::Begin {
            number,
            config,
            from_tick,
        } = step
        {
            self.current = Some(Swing::new(number, config, from_tick));
            return;
        }
        let Some(swing) = &mut self.current else {
            return;
        };
        match step {
            Step::Tick { tick, q } => swing.measured.push(tick, q),
            Step::Record {
                tick,
                record: Record::States(states),
                measured: Some(measured),
            } => swing.observed.push(tick, Observed { measured, states }),
            Step::Record {
                tick,
                record: Record::Params(params),
                ..
            } => {
                swing.params.push(tick, params);
                swing.last = Some(params);
            }
            Step::Gap(gap) => swing.gap(gap),
            Step::End(run) => self.end(run),
            Step::Record { .. } | Step::Begin { .. } | Step::Idle { .. } | Step::Reset => {}
        }
    }

    fn end(&mut self, run: Run) {
        let Some(mut swing) = self.current.take() else {
            return;
        };
        swing.to = run.to_tick + 1;
        swing.close(run.initial, run.rested);
        if self.runs.len() < RUNS {
            self.runs.push(run);
        }
        let better = match self.wanted {
            Some(number) => swing.number == number,
            None => self.best.as_ref().is_none_or(|b| b.ticks() < swing.ticks()),
        };
        if better {
            self.best = Some(swing);
        }
    }
}
