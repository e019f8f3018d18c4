//! One run of the pendulum, from the moment it was let go until it came to rest, in bounded memory.
//!
//! Filled by `collect` while the log streams by; everything the report draws is computed from it.
//! Times are in seconds since the run's start ([`Start`]), coordinates in radians, or metres of a joint that slides.

use serde::Serialize;
use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::model::plant::AnyPlant;
use stribeck_core::wire::Initial;
use stribeck_core::wire::block::{Params, States};

use super::decimate::Decimated;
use crate::config::axes::Axes;
use crate::link::order::Gap;

/// Measured angles kept: 52 s of every tick, an hour of every 128th.
const MEASURED: usize = 1 << 19;
/// Observer records kept of each sort.
const RECORDS: usize = 1 << 17;
/// Gaps remembered; all are counted in the order.
const GAPS: usize = 1000;

/// Observer states and what was measured at the same tick.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    pub measured: [f64; JOINTS],
    pub states: States,
}

/// Where a free run may begin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Start {
    /// The device captured it: held still at these angles.
    Captured { tick: u64, q: [f64; JOINTS] },
    /// The beginning is not in the log: the Kalman filter's state at the first record after it.
    Joined {
        tick: u64,
        q: [f64; JOINTS],
        w: [f64; JOINTS],
    },
}

impl Start {
    pub fn tick(&self) -> u64 {
        match *self {
            Start::Captured { tick, .. } | Start::Joined { tick, .. } => tick,
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Swing {
    /// 1 is the first of the log.
    pub number: usize,
    pub config: Config,
    /// First swinging tick in the log and the one after the last.
    pub from: u64,
    pub to: u64,
    /// It ended because both links came to rest.
    pub rested: bool,
    pub start: Option<Start>,
    pub measured: Decimated<[f64; JOINTS]>,
    pub observed: Decimated<Observed>,
    pub params: Decimated<Params>,
    /// The last parameters of the run: its result.
    pub last: Option<Params>,
    pub gaps: Vec<Gap>,
}

impl Swing {
    pub fn new(number: usize, config: &Config, from: u64) -> Self {
        Swing {
            number,
            config: *config,
            from,
            to: from,
            rested: false,
            start: None,
            measured: Decimated::new(MEASURED),
            observed: Decimated::new(RECORDS),
            params: Decimated::new(RECORDS),
            last: None,
            gaps: Vec::new(),
        }
    }

    pub fn gap(&mut self, gap: &Gap) {
        if self.gaps.len() < GAPS {
            self.gaps.push(gap.clone());
        }
    }

    /// The run is over; `initial` is the start the device captured for it, if the log has it.
    pub fn close(&mut self, initial: Option<Initial>, rested: bool) {
        self.rested = rested;
        self.start = match initial {
            Some(initial) => Some(Start::Captured {
                tick: initial.tick,
                q: initial.q.map(f64::from),
            }),
            None => self
                .observed
                .samples()
                .first()
                .map(|(tick, o)| Start::Joined {
                    // A record holds what is expected of the next tick.
                    tick: *tick + 1,
                    q: o.states.ekf_q.map(f64::from),
                    w: o.states.ekf_w.map(f64::from),
                }),
        };
        let begin = self.start.map_or(self.from, |s| s.tick());
        self.measured.cut(begin);
        self.observed.cut(begin);
        self.params.cut(begin);
    }

    pub fn ticks(&self) -> u64 {
        self.to - self.from
    }

    /// Time of a tick since the start \[s\].
    pub fn seconds(&self, tick: u64) -> f64 {
        let begin = self.start.map_or(self.from, |s| s.tick());
        (tick as f64 - begin as f64) / f64::from(self.config.tick_hz.max(1))
    }

    /// Length of the run \[s\].
    pub fn duration(&self) -> f64 {
        self.seconds(self.to)
    }

    pub fn tick_s(&self) -> f64 {
        1.0 / f64::from(self.config.tick_hz.max(1))
    }

    /// Joints that move.
    pub fn joints(&self) -> usize {
        self.config.plant.dof().min(JOINTS)
    }

    /// What the joints are called and measured in.
    pub fn axes(&self) -> Axes {
        Axes::of(&self.config.plant)
    }

    pub fn plant(&self) -> AnyPlant<f64> {
        self.config.plant.build()
    }

    /// One encoder count \[rad or m\].
    pub fn quantum(&self) -> [f64; JOINTS] {
        self.config.quantum()
    }

    /// Measured angles over time: (t \[s\], q \[rad or m\]).
    pub fn trace(&self) -> Vec<(f64, [f64; JOINTS])> {
        let samples = self.measured.samples().iter();
        samples.map(|(tick, q)| (self.seconds(*tick), *q)).collect()
    }

    /// Part of the records in which each joint moves faster than the filter's `still_speed`.
    pub fn moving(&self) -> [f64; JOINTS] {
        let still = self.config.ekf.still_speed;
        let records = self.observed.samples();
        let count = records.len().max(1) as f64;
        std::array::from_fn(|j| {
            let fast = |o: &Observed| o.states.ekf_w[j].abs() > still;
            records.iter().filter(|(_, o)| fast(o)).count() as f64 / count
        })
    }
}
