//! The one cutter of runs: which ticks of a log belong to which swing.
//!
//! In: the events of a session, in order. Out: [`Step`]s: a run begins, its ticks with their angles \[rad\], the device's
//! records, gaps, and its end. A run is the stretch of blocks in phase *swinging*, together with the moments before it
//! since the device last captured its start. A reset of the device ends a run, a gap does not: two boots are never
//! one run, whatever their tick numbers. Used by `identify` and by `report`, so both see the same runs.

use std::collections::VecDeque;

use serde::Serialize;
use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::device::run::Phase;
use stribeck_core::wire::block::Record;
use stribeck_core::wire::{Block, Event, Hello, Initial, What};

use crate::link::order::Gap;
use crate::link::session::SessionEvent;
use crate::log::angles::Angles;

/// Starts and ends the device told that are remembered until their run is over.
const TOLD: usize = 16;

/// One run in the list of a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// 1 is the first of the log.
    pub number: usize,
    /// First tick of the first swinging block, and the last tick of the last one.
    pub from_tick: u64,
    pub to_tick: u64,
    pub seconds: f64,
    /// It ended because both links came to rest.
    pub rested: bool,
    pub lost_ticks: u64,
    /// The start the device captured, if the log has it.
    #[serde(skip)]
    pub initial: Option<Initial>,
    /// The tick at which the device saw the links move, and the one at which it saw the run end.
    #[serde(skip)]
    pub moved: Option<u64>,
    #[serde(skip)]
    pub ended: Option<u64>,
}

/// What the cutter says, in order.
pub enum Step<'a> {
    /// A run begins. Its first ticks are those before the motion, back to where the links were held.
    Begin {
        number: usize,
        config: &'a Config,
        from_tick: u64,
    },
    /// One tick: measured angles \[rad\].
    Tick {
        tick: u64,
        q: [f64; JOINTS],
    },
    /// A record of the observers, and what was measured at its tick.
    Record {
        tick: u64,
        record: Record,
        measured: Option<[f64; JOINTS]>,
    },
    /// Ticks of this run are lost.
    Gap(&'a Gap),
    End(Run),
    /// A tick outside of any run.
    Idle {
        tick: u64,
        q: [f64; JOINTS],
    },
    /// The device was reset: ticks begin again.
    Reset,
}

/// Follows a session and cuts it.
#[derive(Default)]
pub struct Cutter {
    config: Option<Config>,
    /// Configurations that come into force at a tick.
    next: VecDeque<(u64, Config)>,
    boot: Option<u32>,
    angles: Option<Angles>,
    /// Counters of 32 bits need no snapshot to be unwrapped.
    sure: bool,
    /// Measured angles while armed: the start of a run lies in them.
    before: VecDeque<(u64, [f64; JOINTS])>,
    /// Starts the device reported, and ends, with the tick of the report.
    starts: VecDeque<(u64, Initial)>,
    ends: VecDeque<u64>,
    /// End of the previous run: earlier starts are not those of the next.
    after: u64,
    current: Option<Current>,
    count: usize,
    ticks: Vec<(u64, [f64; JOINTS])>,
}

/// The run being read.
struct Current {
    from: u64,
    to: u64,
    lost: u64,
    tick_hz: u32,
}

impl Cutter {
    /// The configuration in force at the last block.
    pub fn config(&self) -> Option<&Config> {
        self.config.as_ref()
    }

    pub fn take(&mut self, event: &SessionEvent<'_>, each: &mut dyn FnMut(Step<'_>)) {
        match event {
            SessionEvent::Hello { hello, .. } => self.hello(hello, each),
            SessionEvent::Block { block, .. } => self.block(block, each),
            SessionEvent::Gap(gap) => self.gap(gap, each),
            SessionEvent::Event(event) => self.event(event),
            _ => {}
        }
    }

    /// The log is over.
    pub fn finish(&mut self, each: &mut dyn FnMut(Step<'_>)) {
        self.end_run(false, each);
    }

    fn hello(&mut self, hello: &Hello, each: &mut dyn FnMut(Step<'_>)) {
        if self.boot.is_some_and(|boot| boot != hello.boot) {
            self.end_run(false, each);
            *self = Cutter {
                count: self.count,
                ..Cutter::default()
            };
            each(Step::Reset);
        }
        self.boot = Some(hello.boot);
        if let (Phase::Swinging, Some(initial)) = (hello.phase, hello.initial) {
            self.started(hello.uptime_ticks, initial);
        }
        let Ok(config) = hello.config() else {
            self.angles = None;
            return;
        };
        match &mut self.angles {
            Some(angles) => {
                angles.set_config(&config, hello.config_since);
                self.next.push_back((hello.config_since, config));
            }
            None => {
                self.angles = Some(Angles::new(&config));
                self.config = Some(config);
            }
        }
    }

    fn event(&mut self, event: &Event) {
        let What::Run {
            from, to, initial, ..
        } = event.what
        else {
            return;
        };
        if let (Phase::Swinging, Some(initial)) = (to, initial) {
            self.started(event.tick, initial);
        }
        if from == Phase::Swinging {
            self.ends.push_back(event.tick);
            if self.ends.len() > TOLD {
                self.ends.pop_front();
            }
        }
    }

    fn started(&mut self, told: u64, initial: Initial) {
        self.starts.push_back((told, initial));
        if self.starts.len() > TOLD {
            self.starts.pop_front();
        }
    }

    fn gap(&mut self, gap: &Gap, each: &mut dyn FnMut(Step<'_>)) {
        self.sure = false;
        self.before.clear();
        if let Some(current) = &mut self.current {
            current.lost += gap.ticks();
            each(Step::Gap(gap));
        }
    }

    fn block(&mut self, block: &Block, each: &mut dyn FnMut(Step<'_>)) {
        while let Some((_, config)) = self
            .next
            .pop_front_if(|(since, _)| *since <= block.first_tick)
        {
            self.config = Some(config);
        }
        let (Some(angles), Some(config)) = (&mut self.angles, self.config) else {
            return;
        };
        self.ticks.clear();
        let ticks = &mut self.ticks;
        angles.block(block, |c, q| ticks.push((c.tick, q)));
        let wide = config.encoders.iter().all(|e| e.counter_bits == 32);
        self.sure |= wide || block.snapshot_words > 0;
        if block.phase != Phase::Swinging {
            self.end_run(block.phase == Phase::AtRest, each);
        }
        if !self.sure {
            return;
        }
        if block.phase == Phase::Swinging {
            self.swing(block, &config, each);
            return;
        }
        for (tick, q) in &self.ticks {
            each(Step::Idle { tick: *tick, q: *q });
        }
        if block.phase == Phase::Armed {
            self.wait(&config);
        } else {
            self.before.clear();
        }
    }

    /// Armed: remember the last `hold_ms`, in which the run's start will turn out to lie.
    fn wait(&mut self, config: &Config) {
        let keep = u64::from(config.run.hold_ms) * u64::from(config.tick_hz) / 1000 + 200;
        self.before.extend(&self.ticks);
        while self.before.len() as u64 > keep {
            self.before.pop_front();
        }
    }

    fn swing(&mut self, block: &Block, config: &Config, each: &mut dyn FnMut(Step<'_>)) {
        let from = block.first_tick;
        if self.current.is_none() {
            self.count += 1;
            each(Step::Begin {
                number: self.count,
                config,
                from_tick: from,
            });
            for (tick, q) in self.before.drain(..) {
                each(Step::Tick { tick, q });
            }
        }
        let current = self.current.get_or_insert(Current {
            from,
            to: from,
            lost: 0,
            tick_hz: config.tick_hz,
        });
        current.to = current.to.max(block.end_tick());
        for (tick, q) in &self.ticks {
            each(Step::Tick { tick: *tick, q: *q });
        }
        for (tick, record) in block.records() {
            let at = tick.saturating_sub(block.first_tick) as usize;
            each(Step::Record {
                tick,
                record,
                measured: self.ticks.get(at).map(|(_, q)| *q),
            });
        }
    }

    /// The run that was being read is over.
    fn end_run(&mut self, rested: bool, each: &mut dyn FnMut(Step<'_>)) {
        let Some(run) = self.current.take() else {
            return;
        };
        // The latest start told between the end of the previous run and the end of this one.
        let belongs = |(told, initial): &&(u64, Initial)| {
            *told <= run.to && initial.tick >= self.after && initial.tick <= run.from
        };
        let start = self.starts.iter().rfind(belongs);
        let ended = self.ends.iter().rfind(|t| (run.from..=run.to).contains(*t));
        each(Step::End(Run {
            number: self.count,
            from_tick: run.from,
            to_tick: run.to.saturating_sub(1),
            seconds: (run.to - run.from) as f64 / f64::from(run.tick_hz.max(1)),
            rested,
            lost_ticks: run.lost,
            initial: start.map(|(_, initial)| *initial),
            // A Hello repeats the start later: the first who told it saw the motion.
            moved: self
                .starts
                .iter()
                .find(|(_, i)| start.is_some_and(|(_, s)| i.tick == s.tick))
                .map(|(told, _)| *told)
                .filter(|told| *told <= run.from),
            ended: ended.copied(),
        }));
        self.after = run.to;
    }
}
