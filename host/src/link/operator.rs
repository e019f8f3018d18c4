//! The hand at the simulated bench: lifts the pendulum, waits for the device to be armed, lets go, and lifts it again after the run.
//!
//! In: the device's phase and the tick. Out: what the hand does to the bench. Used where a person watches
//! (`stribeck live`); scripted runs follow their scenario instead.

use stribeck_core::JOINTS;
use stribeck_core::device::run::Phase;
use stribeck_core::model::sim::Simulation;

/// Longer than any session: held until something else is ordered.
const UNTIL_FURTHER_NOTICE: u32 = u32::MAX;

#[derive(Debug)]
pub struct Operator {
    start: [f64; JOINTS],
    tick_hz: u64,
    doing: Doing,
    /// When that began.
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Holding,
    /// The device is armed: let go in a moment.
    AboutToRelease,
    Watching,
    /// The pendulum rests: pick it up in a moment.
    AboutToLift,
    Lifting,
}

impl Operator {
    /// Holds the pendulum at `start` \[rad\].
    pub fn new(start: [f64; JOINTS], tick_hz: u32, bench: &mut Simulation) -> Self {
        bench.hold(start, UNTIL_FURTHER_NOTICE);
        Operator {
            start,
            tick_hz: u64::from(tick_hz),
            doing: Doing::Holding,
            since: 0,
        }
    }

    /// Before tick `now`.
    pub fn tick(&mut self, now: u64, phase: Phase, bench: &mut Simulation) {
        let waited = |tenths: u64| now - self.since >= tenths * self.tick_hz / 10;
        let next = match self.doing {
            Doing::Holding if phase == Phase::Armed => Doing::AboutToRelease,
            Doing::AboutToRelease if phase != Phase::Armed => Doing::Holding,
            Doing::AboutToRelease if waited(10) => {
                bench.carry(self.start, 1);
                Doing::Watching
            }
            Doing::Watching if matches!(phase, Phase::AtRest | Phase::Idle) => Doing::AboutToLift,
            Doing::AboutToLift if waited(20) => {
                bench.carry(self.start, 2 * self.tick_hz as u32);
                Doing::Lifting
            }
            Doing::Lifting if waited(20) => {
                bench.hold(self.start, UNTIL_FURTHER_NOTICE);
                Doing::Holding
            }
            same => same,
        };
        if next != self.doing {
            (self.doing, self.since) = (next, now);
        }
    }
}
