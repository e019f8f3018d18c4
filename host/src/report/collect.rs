//! One pass over a log, in bounded memory: its health, the list of its runs, and the data of one of them.
//!
//! The run kept is the longest swinging one, or the one asked for; at most two runs are in memory at a time (the best
//! so far and the one being read). A run is the stretch of blocks in phase *swinging*, together with the moments
//! before it since the device last captured its start. A reset of the device ends a run, a gap does not.

use std::collections::VecDeque;
use std::path::Path;

use serde::Serialize;
use stribeck_core::config::Config;
use stribeck_core::plant::JOINTS;
use stribeck_core::run::Phase;
use stribeck_core::wire::block::Record;
use stribeck_core::wire::{Block, Event, Hello, Initial, What};

use super::health::{Health, Verification};
use super::swing::{Observed, Swing};
use crate::angles::Angles;
use crate::error::{Error, Result};
use crate::ledger::Gap;
use crate::log::summary;
use crate::session::{Happening, Session};
use crate::source::file::LogSource;
use crate::source::{Arrival, Source};

/// A log that carries no verdict of its capture is compared here if it is not larger than this [bytes]: about 10 minutes.
const COMPARE_UP_TO: u64 = 64 << 20;
/// Runs listed; all are counted.
const RUNS: usize = 1000;

/// One run in the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    pub number: usize,
    pub from_tick: u64,
    pub to_tick: u64,
    pub seconds: f64,
    pub rested: bool,
    pub lost_ticks: u64,
}

/// What the pass found.
pub struct Collected {
    pub health: Health,
    pub runs: Vec<RunLine>,
    pub swing: Option<Swing>,
    /// The configuration in force at the end.
    pub config: Option<Config>,
}

/// Read the log at `path`, keeping run `wanted` (1 is the first) or the longest. `compare`: run the observers again even
/// if the capture has already compared every bit.
pub fn log(
    path: &Path,
    wanted: Option<usize>,
    compare: bool,
    mut progress: impl FnMut(f64),
) -> Result<Collected> {
    let mut source = LogSource::open(path)?;
    let closing = summary::read(path)?;
    let recorded = closing.as_ref().and_then(Verification::recorded);
    let size = std::fs::metadata(path).map_or(0, |m| m.len());
    let verify = compare || (recorded.is_none() && size <= COMPARE_UP_TO);

    let mut session = Session::log(verify);
    let mut collector = Collector::new(wanted);
    let mut bytes = Vec::new();
    let mut reads = 0u32;
    loop {
        bytes.clear();
        match source.read(&mut bytes)? {
            Arrival::Bytes => session.bytes(&bytes, |h| collector.take(h))?,
            Arrival::Quiet => {}
            Arrival::Lost(_) | Arrival::End => break,
        }
        reads += 1;
        if reads.is_multiple_of(1024) {
            progress(source.reader().progress());
        }
    }
    session.end(|h| collector.take(h))?;
    collector.finish_run(false);

    if session.hello().is_none() {
        return Err(Error::refused(
            format!(
                "{}: no introduction of a device (Hello) could be read from it",
                path.display()
            ),
            "without it counts have no meaning; `stribeck info` shows what is in the file",
        ));
    }
    let mut health = collector.health;
    // A simulation counts from 1970: its clock says nothing.
    let clock = closing.map(|s| s.start_ns);
    health.recorded_ns = clock.filter(|ns| *ns > 1_000_000_000_000_000_000);
    health.ticks = session.ticks();
    health.segments = session.segments();
    health.losses = session.losses().clone();
    health.damage(source.reader().damage());
    health.verification = match (verify, recorded) {
        (true, _) => Verification::here(&session.verdict(), session.not_verified()),
        (false, Some(recorded)) => recorded,
        (false, None) => Verification::nobody(),
    };
    Ok(Collected {
        health,
        runs: collector.runs,
        swing: collector.best,
        config: collector.config,
    })
}

struct Collector {
    wanted: Option<usize>,
    health: Health,
    config: Option<Config>,
    /// A configuration that comes into force at a tick.
    next: Option<(u64, Config)>,
    boot: Option<u32>,
    angles: Option<Angles>,
    /// Counters narrower than 32 bits cannot be unwrapped before the next snapshot.
    unsure: bool,
    /// Measured angles while armed: the start of a run lies in them.
    before: VecDeque<(u64, [f64; JOINTS])>,
    /// Starts the device reported, with the tick of the report.
    starts: VecDeque<(u64, Initial)>,
    /// End of the previous run: earlier starts are not those of the next.
    after: u64,
    current: Option<Swing>,
    best: Option<Swing>,
    runs: Vec<RunLine>,
    count: usize,
    lost: u64,
    ticks: Vec<(u64, [i32; JOINTS])>,
}

impl Collector {
    fn new(wanted: Option<usize>) -> Self {
        Collector {
            wanted,
            health: Health::default(),
            config: None,
            next: None,
            boot: None,
            angles: None,
            unsure: true,
            before: VecDeque::new(),
            starts: VecDeque::new(),
            after: 0,
            current: None,
            best: None,
            runs: Vec::new(),
            count: 0,
            lost: 0,
            ticks: Vec::new(),
        }
    }

    fn take(&mut self, happening: Happening<'_>) -> Result<()> {
        match happening {
            Happening::Hello { hello, .. } => self.hello(hello),
            Happening::Block { block, .. } => self.block(block),
            Happening::Gap(gap) => self.gap(gap),
            Happening::Event(event) => self.event(event),
            Happening::Status(status) => self.health.status(status),
            Happening::Bytes { .. } | Happening::Reply(_) | Happening::Pattern(_) => {}
        }
        Ok(())
    }

    fn hello(&mut self, hello: &Hello) {
        self.health.hello(hello);
        if self.boot.is_some_and(|boot| boot != hello.boot) {
            self.health.resets += 1;
            self.finish_run(false);
            self.angles = None;
            self.unsure = true;
            self.before.clear();
            self.starts.clear();
            self.after = 0;
        }
        self.boot = Some(hello.boot);
        if let (Phase::Swinging, Some(initial)) = (hello.phase, hello.initial) {
            self.start(hello.uptime_ticks, initial);
        }
        let Ok(config) = hello.config() else {
            self.angles = None;
            return;
        };
        match &mut self.angles {
            Some(angles) => {
                angles.set_config(&config, hello.config_since);
                self.next = Some((hello.config_since, config));
            }
            None => {
                self.angles = Some(Angles::new(&config));
                self.config = Some(config);
            }
        }
    }

    fn event(&mut self, event: &Event) {
        self.health.event(event);
        if let What::Run {
            to: Phase::Swinging,
            initial: Some(initial),
            ..
        } = event.what
        {
            self.start(event.tick, initial);
        }
    }

    fn start(&mut self, told: u64, initial: Initial) {
        self.starts.push_back((told, initial));
        if self.starts.len() > 16 {
            self.starts.pop_front();
        }
    }

    fn gap(&mut self, gap: &Gap) {
        self.unsure = true;
        self.before.clear();
        if let Some(swing) = &mut self.current {
            swing.gap(gap);
            self.lost += gap.ticks();
        }
    }

    fn block(&mut self, block: &Block) {
        if let Some((_, config)) = self.next.take_if(|(since, _)| *since <= block.first_tick) {
            self.config = Some(config);
        }
        let (Some(angles), Some(config)) = (&mut self.angles, self.config) else {
            return;
        };
        self.ticks.clear();
        let ticks = &mut self.ticks;
        angles.block(block, |c| ticks.push((c.tick, c.counts)));
        let wide = config.encoders.iter().all(|e| e.counter_bits == 32);
        if wide || block.snapshot_words > 0 {
            self.unsure = false;
        }
        if block.phase != Phase::Swinging {
            self.finish_run(block.phase == Phase::AtRest);
        }
        if self.unsure {
            return;
        }
        match block.phase {
            Phase::Swinging => self.swing(block, &config),
            Phase::Armed => self.wait(&config),
            Phase::Idle | Phase::AtRest => self.before.clear(),
        }
    }

    /// Armed: remember the last `hold_ms`, in which the run's start will turn out to lie.
    fn wait(&mut self, config: &Config) {
        let Some(angles) = &self.angles else { return };
        let keep = u64::from(config.run.hold_ms) * u64::from(config.tick_hz) / 1000 + 200;
        self.before.extend(
            self.ticks
                .iter()
                .map(|(tick, counts)| (*tick, angles.radians(*counts))),
        );
        while self.before.len() as u64 > keep {
            self.before.pop_front();
        }
    }

    fn swing(&mut self, block: &Block, config: &Config) {
        let Some(angles) = &self.angles else { return };
        let before = &mut self.before;
        let count = &mut self.count;
        let swing = self.current.get_or_insert_with(|| {
            *count += 1;
            let mut swing = Swing::new(*count, config, block.first_tick);
            for (tick, q) in before.drain(..) {
                swing.measured.push(tick, q);
            }
            swing
        });
        swing.to = block.end_tick();
        for (tick, counts) in &self.ticks {
            swing.measured.push(*tick, angles.radians(*counts));
        }
        for (tick, record) in block.records() {
            let at = (tick - block.first_tick) as usize;
            match record {
                Record::States(states) => {
                    if let Some((_, counts)) = self.ticks.get(at) {
                        let measured = angles.radians(*counts);
                        swing.observed.push(tick, Observed { measured, states });
                    }
                }
                Record::Params(params) => {
                    swing.params.push(tick, params);
                    swing.last = Some(params);
                }
            }
        }
    }

    /// The run that was being read is over.
    fn finish_run(&mut self, rested: bool) {
        let Some(mut swing) = self.current.take() else {
            return;
        };
        // The latest start told between the end of the previous run and the end of this one.
        let belongs = |(told, initial): &&(u64, Initial)| {
            *told <= swing.to && initial.tick >= self.after && initial.tick <= swing.from
        };
        let initial = self.starts.iter().rfind(belongs).map(|(_, i)| *i);
        self.after = swing.to;
        swing.close(initial, rested);
        if self.runs.len() < RUNS {
            self.runs.push(RunLine {
                number: swing.number,
                from_tick: swing.from,
                to_tick: swing.to.saturating_sub(1),
                seconds: swing.ticks() as f64 * swing.tick_s(),
                rested,
                lost_ticks: self.lost,
            });
        }
        self.lost = 0;
        let better = match self.wanted {
            Some(number) => swing.number == number,
            None => self.best.as_ref().is_none_or(|b| b.ticks() < swing.ticks()),
        };
        if better {
            self.best = Some(swing);
        }
    }
}
