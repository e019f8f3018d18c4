//! A log of this project as a record: counts of every tick, the rig from the device's own configuration.

use std::path::Path;

use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;

use crate::error::{Error, Result};
use crate::identify::data::dataset::Dataset;
use crate::identify::data::record::Record;
use crate::identify::model::parametric::Rig;
use crate::link::order::Losses;
use crate::link::session::SessionEvent;
use crate::log::damage::Damage;
use crate::log::metadata::Metadata;
use crate::log::pass::Log;
use crate::log::runs::{Cutter, Run, Step};

/// A record, the configuration it was made with, and the state of the log it comes from.
#[derive(Clone, Debug)]
pub struct Logged {
    pub record: Record,
    pub config: Config,
    /// The run of the log, if one was marked.
    pub run: Option<Run>,
    pub losses: Losses,
    pub damage: Vec<Damage>,
    /// What was said about the recording.
    pub recording: Metadata,
}

impl Logged {
    /// As a dataset, on the rig the device was configured for.
    pub fn dataset(&self) -> Dataset {
        Dataset::passive(
            &self.record,
            Rig::of(&self.config.plant).within(&self.config.ekf.tolerance),
        )
    }
}

/// Ticks and angles, in order.
#[derive(Clone, Debug, Default)]
struct Ticks(Vec<(u64, [f64; JOINTS])>);

impl Ticks {
    /// Ticks that run back under one boot are damage: the first reading of each counts.
    fn push(&mut self, tick: u64, q: [f64; JOINTS]) {
        if self.0.last().is_none_or(|(last, _)| *last < tick) {
            self.0.push((tick, q));
        }
    }
}

/// Keeps the longest run, and the longest stretch of one boot until there is a run.
#[derive(Default)]
struct Longest {
    current: Option<(Config, Ticks)>,
    run: Option<(Run, Config, Ticks)>,
    idle: Ticks,
    longest_idle: Ticks,
}

impl Longest {
    fn step(&mut self, step: Step<'_>) {
        match step {
            Step::Begin { config, .. } => self.current = Some((*config, Ticks::default())),
            Step::Tick { tick, q } => {
                if let Some((_, ticks)) = &mut self.current {
                    ticks.push(tick, q);
                }
            }
            Step::End(run) => {
                let Some((config, ticks)) = self.current.take() else {
                    return;
                };
                if self
                    .run
                    .as_ref()
                    .is_none_or(|(r, ..)| r.seconds < run.seconds)
                {
                    self.run = Some((run, config, ticks));
                }
            }
            Step::Idle { tick, q } => {
                if self.run.is_none() && self.current.is_none() {
                    self.idle.push(tick, q);
                } else {
                    self.idle = Ticks::default();
                    self.longest_idle = Ticks::default();
                }
            }
            Step::Reset => self.end_of_boot(),
            Step::Gap(_) | Step::Record { .. } => {}
        }
    }

    fn end_of_boot(&mut self) {
        let idle = std::mem::take(&mut self.idle);
        if idle.0.len() > self.longest_idle.0.len() {
            self.longest_idle = idle;
        }
    }
}

/// Read the longest swing of a log: from the links' first motion to rest, or the longest boot if no run was marked.
pub fn read_log(path: &Path) -> Result<Logged> {
    let mut cutter = Cutter::default();
    let mut longest = Longest::default();
    let pass = Log::open(path)?.for_each(
        |_| {},
        |event| {
            if let SessionEvent::Hello { hello, .. } = event {
                hello.config().map_err(|e| {
                    Error::invalid(
                        format!("the device's configuration cannot be read: {e}"),
                        "use the stribeck version that wrote the log",
                    )
                })?;
            }
            cutter.take(event, &mut |step| longest.step(step));
            Ok(())
        },
    )?;
    cutter.finish(&mut |step| longest.step(step));
    longest.end_of_boot();
    let (run, config, ticks) = match (longest.run, cutter.config()) {
        (Some((run, config, mut ticks)), _) => {
            let from = run.moved.unwrap_or(run.from_tick);
            let to = run.ended.unwrap_or(run.to_tick);
            ticks.0.retain(|(tick, _)| (from..=to).contains(tick));
            (Some(run), config, ticks)
        }
        (None, Some(config)) => (None, *config, longest.longest_idle),
        (None, None) => {
            return Err(Error::invalid(
                format!("{}: the log holds no ticks", path.display()),
                "nothing in it can be interpreted; capture again",
            ));
        }
    };
    let hz = f64::from(config.tick_hz);
    let first = ticks.0.first().map_or(0, |(tick, _)| *tick);
    let (t, q) = ticks
        .0
        .into_iter()
        .map(|(tick, q)| ((tick - first) as f64 / hz, q))
        .unzip();
    let record = Record {
        name: path
            .file_name()
            .map_or(String::new(), |n| n.to_string_lossy().into()),
        t,
        q,
        joints: config.plant.dof(),
        quantum: config.quantum(),
    };
    record.check()?;
    Ok(Logged {
        record,
        config,
        run,
        losses: pass.session.losses().clone(),
        damage: pass.damage,
        recording: pass.recording,
    })
}
