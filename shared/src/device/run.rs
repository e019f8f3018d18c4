//! The run: idle → armed → swinging → at rest, decided from counts alone.
//!
//! | phase | observers | leaves it |
//! |---|---|---|
//! | idle | held at the measured angles, ω = 0 | order: arm |
//! | armed | started again every `hold_ms` while the links are held still | motion → swinging; order: stop |
//! | swinging | run | both links still for `rest_ms` → at rest; order: stop |
//! | driving | run; started at its beginning unless they ran already | order: stop → idle; control gives up → swinging |
//! | at rest | frozen: the final estimate stays readable | order: arm, stop; after another `rest_ms` with `auto_arm` → armed |
//!
//! Motion and rest are judged on counts smoothed over 64 ticks, so that noise of a few counts neither starts nor
//! prolongs a run. The observers already run when motion is noticed: the run's initial state is the last hold,
//! at most `hold_ms` before, when both velocities were zero.
//!
//! Inputs: unwrapped counts, tick number, orders. Output: what the observers do this tick, and the transition if one happened.
//! Does not know observers, time or buttons.

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::number::range::{OutOfRange, check};

pub use crate::wire::{Cause, Phase};

/// When a run starts and ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Smoothed motion since the last hold that starts a run \[counts\].
    pub motion_counts: u16,
    /// While armed, the observers start again this often \[ms\].
    pub hold_ms: u16,
    /// A link within ± this is still \[counts\].
    pub rest_counts: u16,
    /// Both links still for this long ends the run \[ms\].
    pub rest_ms: u16,
    /// Arm at power-up and again after each run, without button or command.
    pub auto_arm: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            motion_counts: 32,
            hold_ms: 250,
            rest_counts: 16,
            rest_ms: 2000,
            auto_arm: false,
        }
    }
}

impl Config {
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check(
            "run.motion_counts",
            self.motion_counts as f32,
            1.0,
            10_000.0,
        )?;
        check("run.hold_ms", self.hold_ms as f32, 20.0, 5000.0)?;
        check("run.rest_counts", self.rest_counts as f32, 1.0, 10_000.0)?;
        check("run.rest_ms", self.rest_ms as f32, 100.0, 60_000.0)
    }
}

/// Bits below a count in the smoothed values; also the smoothing time, 2^6 ticks.
const FRACTION: u32 = 6;

/// [`Config`] in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    motion: u32,
    hold_ticks: u32,
    rest: u32,
    rest_ticks: u32,
    auto_arm: bool,
}

/// What the run logic remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    pub phase: Phase,
    /// The smoothed counts are valid; otherwise the next tick's counts are where they start.
    primed: bool,
    /// Counts · 2^6, smoothed.
    smooth: [i32; JOINTS],
    /// Where the smoothed counts were at the last hold (armed) or still point (swinging).
    anchor: [i32; JOINTS],
    /// Ticks since the anchor was set.
    since: u32,
    /// Tick and counts of the last start of the observers.
    start_tick: u64,
    start_counts: [i32; JOINTS],
}
crate::impl_words!(State {
    phase,
    primed,
    smooth,
    anchor,
    since,
    start_tick,
    start_counts
});

/// What the observers do this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Start from this tick's angles with ω = 0.
    Start,
    /// One step.
    Step,
    /// Nothing.
    Freeze,
}

/// A change of phase made by the run logic itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    pub from: Phase,
    pub to: Phase,
    pub cause: Cause,
}

impl Run {
    pub fn new(config: &Config, tick_hz: u32) -> Self {
        // At most 65,535 ms · 20,000 Hz: fits.
        let ticks = |ms: u16| (ms as u32 * tick_hz / 1000).max(1);
        Run {
            motion: (config.motion_counts as u32) << FRACTION,
            hold_ticks: ticks(config.hold_ms),
            rest: (config.rest_counts as u32) << FRACTION,
            rest_ticks: ticks(config.rest_ms),
            auto_arm: config.auto_arm,
        }
    }

    /// At power-up and after a change of configuration.
    pub fn start(&self) -> State {
        State {
            phase: if self.auto_arm {
                Phase::Armed
            } else {
                Phase::Idle
            },
            primed: false,
            smooth: [0; JOINTS],
            anchor: [0; JOINTS],
            since: 0,
            start_tick: 0,
            start_counts: [0; JOINTS],
        }
    }

    /// One tick.
    #[inline(always)]
    pub fn step(
        &self,
        s: &mut State,
        tick: u64,
        counts: [i32; JOINTS],
    ) -> (Drive, Option<Transition>) {
        for (smooth, count) in s.smooth.iter_mut().zip(counts) {
            let gap = (count << FRACTION).wrapping_sub(*smooth);
            *smooth = if s.primed {
                smooth.wrapping_add(gap >> FRACTION)
            } else {
                count << FRACTION
            };
        }
        s.primed = true;
        let first = s.since == 0;
        if first {
            s.anchor = s.smooth;
        }
        s.since = s.since.saturating_add(1);
        match s.phase {
            Phase::Idle => {
                s.since = 0;
                (Drive::Start, None)
            }
            Phase::Armed => {
                if first {
                    s.start_tick = tick;
                    s.start_counts = counts;
                    return (Drive::Start, None);
                }
                if self.moved(s, self.motion) {
                    return (Drive::Step, Some(s.go(Phase::Swinging, Cause::Motion)));
                }
                if s.since >= self.hold_ticks {
                    s.since = 0;
                }
                (Drive::Step, None)
            }
            Phase::Swinging => {
                if self.moved(s, self.rest) {
                    s.anchor = s.smooth;
                    s.since = 1;
                } else if s.since >= self.rest_ticks {
                    return (Drive::Step, Some(s.go(Phase::AtRest, Cause::Rest)));
                }
                (Drive::Step, None)
            }
            Phase::Driving => {
                if first {
                    s.start_tick = tick;
                    s.start_counts = counts;
                    return (Drive::Start, None);
                }
                (Drive::Step, None)
            }
            Phase::AtRest => {
                if self.auto_arm && s.since >= self.rest_ticks {
                    return (Drive::Freeze, Some(s.go(Phase::Armed, Cause::Device)));
                }
                (Drive::Freeze, None)
            }
        }
    }

    /// The counts were renumbered (zeroed): same phase, held from the next tick.
    pub fn rebase(&self, s: &mut State) {
        s.primed = false;
        s.since = 0;
    }

    /// Arm or stop; `None` if that changes nothing.
    pub fn order(&self, s: &mut State, to: Phase, cause: Cause) -> Option<Transition> {
        (s.phase != to).then(|| s.go(to, cause))
    }

    /// The motor is armed. Observers that run go on.
    pub fn drive(&self, s: &mut State, cause: Cause) -> Option<Transition> {
        let running = s.phase == Phase::Swinging && s.since > 0;
        let transition = self.order(s, Phase::Driving, cause);
        if running && transition.is_some() {
            s.since = 1;
        }
        transition
    }

    /// Control gave up: what moves swings on.
    pub fn release(&self, s: &mut State) -> Option<Transition> {
        (s.phase == Phase::Driving).then(|| s.go(Phase::Swinging, Cause::Device))
    }

    fn moved(&self, s: &State, limit: u32) -> bool {
        s.smooth
            .iter()
            .zip(&s.anchor)
            .any(|(x, a)| x.wrapping_sub(*a).unsigned_abs() > limit)
    }
}

impl State {
    fn go(&mut self, to: Phase, cause: Cause) -> Transition {
        let from = self.phase;
        self.phase = to;
        self.since = 0;
        Transition { from, to, cause }
    }

    /// Tick and counts of the last start of the observers.
    pub fn initial(&self) -> (u64, [i32; JOINTS]) {
        (self.start_tick, self.start_counts)
    }
}
