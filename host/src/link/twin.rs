//! The native twin as a source: the device's own code with a simulated pendulum, no hardware.
//!
//! Paced, it keeps real time like a board; unpaced, it runs as fast as the machine allows. The bytes are the
//! same in both cases.

use std::time::{Duration, Instant};

use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::device::{Device, Identity, Input};
use stribeck_core::model::motor::{Applied, Bridge};
use stribeck_core::model::sim::Simulation;
use stribeck_core::wire::{Ask, ConfigOrigin, Kind, MAX_FRAME, ResetCause};

use super::source::{Arrival, Source};
use crate::error::Result;
use crate::link::command;
use crate::link::operator::Operator;
use crate::link::scenario::{Fault, FaultKind, Scenario};

/// Ticks per read: one block.
const SLICE: u64 = 100;
/// How far a paced twin may run ahead of the clock.
const NAP: Duration = Duration::from_millis(5);

/// The device without hardware: a [`Source`] that speaks the same bytes.
///
/// ```
/// use stribeck::{Arrival, Config, Scenario, Source, Twin};
///
/// let mut twin = Twin::new(&Config::default(), &Scenario::default(), Some(0.5), false);
/// let mut bytes = Vec::new();
/// while twin.read(&mut bytes)? != Arrival::End {}
/// assert!(bytes.len() > 10_000, "{}", bytes.len());
/// # Ok::<(), stribeck::Error>(())
/// ```
pub struct Twin {
    device: Box<Device>,
    bench: Simulation,
    /// Bridge and motor of a driven rig.
    bridge: Option<Bridge<f64>>,
    /// Ticks between two heartbeats of its own; 0: none.
    beats: u64,
    tick_hz: u32,
    /// Ticks so far.
    now: u64,
    /// Where it ends; `None`: never.
    end: Option<u64>,
    started: Option<Instant>,
    finished: bool,
    faults: Faults,
    /// The hand at the bench, where a person watches.
    operator: Option<Operator>,
    frame: Box<[u8; MAX_FRAME]>,
}

impl Twin {
    /// A twin of `config` on the bench of `scenario`, ending after `seconds` if given. `paced`: in real time.
    pub fn new(config: &Config, scenario: &Scenario, seconds: Option<f64>, paced: bool) -> Self {
        let identity = Identity {
            board: "twin".try_into().unwrap_or_default(),
            build: concat!("stribeck ", env!("CARGO_PKG_VERSION"))
                .try_into()
                .unwrap_or_default(),
            boot: scenario.seed as u32,
            reset_cause: ResetCause::PowerOn,
            last_fault: Default::default(),
            tick_hz: None,
            clock: Default::default(),
            tick_budget: None,
        };
        Twin {
            device: Box::new(Device::new(identity, config, ConfigOrigin::Default)),
            bench: scenario.bench(config),
            bridge: config
                .drive
                .map(|drive| Bridge::new(&drive.motor, &config.plant)),
            beats: 0,
            tick_hz: config.tick_hz,
            now: 0,
            end: seconds.map(|s| (s * f64::from(config.tick_hz)).round() as u64),
            started: paced.then(Instant::now),
            finished: false,
            faults: Faults::new(&scenario.faults, config.tick_hz),
            operator: None,
            frame: Box::new([0; MAX_FRAME]),
        }
    }

    /// With a hand that lifts the pendulum to `start` \[rad\] and lets go when the device is armed, again and again.
    pub fn with_operator(mut self, start: [f64; JOINTS]) -> Self {
        self.operator = Some(Operator::new(start, self.tick_hz, &mut self.bench));
        self
    }

    /// With heartbeats of its own: nobody else is there while it runs unpaced.
    pub fn with_heartbeats(mut self) -> Self {
        self.beats = u64::from(self.tick_hz) / 10;
        self
    }

    /// The true pendulum, for whoever may know it.
    pub fn bench(&self) -> &Simulation {
        &self.bench
    }

    fn tick(&mut self) {
        if let Some(operator) = &mut self.operator {
            operator.tick(self.now, self.device.engine().phase(), &mut self.bench);
        }
        if self.beats > 0 && self.now.is_multiple_of(self.beats) {
            self.device.command(&command::frame(0, Ask::Beat));
        }
        let applied = match (&self.bridge, self.device.output()) {
            (Some(bridge), Some(duty)) => bridge.apply(duty),
            _ => Applied::NONE,
        };
        let input = self.faults.tick(self.now, &mut self.bench, &applied);
        self.now += 1 + u64::from(input.missed);
        self.device.tick_with(input);
    }

    /// Move everything the device wants to say to `into`.
    fn collect(&mut self, into: &mut Vec<u8>) {
        loop {
            let n = self.device.next_frame(&mut self.frame[..]);
            if n == 0 {
                return;
            }
            self.faults.frame(self.now, &self.frame[..n], into);
        }
    }

    /// Bring out the block that is still being filled: an order ends it, and takes effect with a tick that is never sent.
    fn finish(&mut self, into: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.finished, true) {
            self.device.command(&command::frame(0, Ask::Hello));
            self.tick();
            self.collect(into);
            self.faults.release(into);
        }
    }

    /// Ticks that are due now.
    fn due(&self) -> u64 {
        let Some(started) = self.started else {
            return SLICE;
        };
        let target = started.elapsed().as_secs_f64() * f64::from(self.tick_hz);
        (target as u64).saturating_sub(self.now)
    }
}

impl Source for Twin {
    fn name(&self) -> String {
        "sim (native twin)".into()
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival> {
        let had = into.len();
        let left = self
            .end
            .map_or(u64::MAX, |end| end.saturating_sub(self.now));
        if left == 0 {
            self.finish(into);
            let more = into.len() > had;
            return Ok(if more { Arrival::Bytes } else { Arrival::End });
        }
        let due = self.due();
        if due == 0 {
            std::thread::sleep(NAP);
            return Ok(Arrival::Quiet);
        }
        // The device keeps few blocks: fetch them at least once per block.
        let stop = self.now + due.min(left);
        while self.now < stop {
            for _ in 0..SLICE.min(stop - self.now) {
                if self.now < stop {
                    self.tick();
                }
            }
            self.collect(into);
        }
        let more = into.len() > had;
        Ok(if more { Arrival::Bytes } else { Arrival::Quiet })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.device.command(bytes);
        Ok(())
    }

    fn is_live(&self) -> bool {
        self.started.is_some()
    }
}

/// Puts the scenario's faults into the counts and into the frames.
struct Faults {
    /// With the tick at which each begins; spent ones are removed.
    pending: Vec<(u64, Fault)>,
    /// Counts each encoder shows while it is stuck, and until when.
    stuck: [Option<(u32, u64)>; JOINTS],
    /// A block that waits for its successor to overtake it.
    overtaken: Option<Vec<u8>>,
}

impl Faults {
    fn new(faults: &[Fault], tick_hz: u32) -> Self {
        let tick = |f: &Fault| (f.at_s * f64::from(tick_hz)).round() as u64;
        Faults {
            pending: faults.iter().map(|f| (tick(f), *f)).collect(),
            stuck: [None; JOINTS],
            overtaken: None,
        }
    }

    /// What the hardware says at this tick.
    fn tick(&mut self, now: u64, bench: &mut Simulation, applied: &Applied<f64>) -> Input {
        let mut missed = 0;
        let mut freeze = [None; JOINTS];
        self.pending.retain(|(at, fault)| {
            if *at > now || is_link(fault.kind) {
                return true;
            }
            let encoder = &mut bench.encoders[fault.joint];
            match fault.kind {
                FaultKind::Jump => encoder.offset = encoder.offset.wrapping_add(fault.n),
                FaultKind::Reversed => encoder.reversed = !encoder.reversed,
                FaultKind::Overrun => missed += fault.n,
                FaultKind::Stuck => freeze[fault.joint] = Some(now + u64::from(fault.n)),
                _ => {}
            }
            false
        });
        // The pendulum goes on while the processor misses its ticks.
        for _ in 0..missed {
            bench.tick_driven(applied);
        }
        let mut counts = bench.tick_driven(applied).counts;
        for joint in 0..JOINTS {
            if let Some(until) = freeze[joint] {
                self.stuck[joint] = Some((counts[joint], until));
            }
            match self.stuck[joint] {
                Some((count, until)) if now < until => counts[joint] = count,
                _ => self.stuck[joint] = None,
            }
        }
        Input {
            counts,
            missed,
            button: false,
            ..Input::default()
        }
    }

    /// Pass a frame on, or not.
    fn frame(&mut self, now: u64, bytes: &[u8], into: &mut Vec<u8>) {
        // Only blocks: they are what the link is full of, and their loss is what must be noticed.
        if bytes.get(1) != Some(&(Kind::Block as u8)) {
            into.extend_from_slice(bytes);
            return;
        }
        if let Some(earlier) = self.overtaken.take() {
            into.extend_from_slice(bytes);
            into.extend_from_slice(&earlier);
            return;
        }
        let due = |(at, fault): &(u64, Fault)| *at <= now && is_link(fault.kind);
        let Some(place) = self.pending.iter().position(due) else {
            into.extend_from_slice(bytes);
            return;
        };
        let fault = &mut self.pending[place].1;
        let kind = fault.kind;
        fault.n = fault.n.saturating_sub(1);
        if fault.n == 0 {
            self.pending.remove(place);
        }
        match kind {
            FaultKind::Drop => {}
            FaultKind::Duplicate => {
                into.extend_from_slice(bytes);
                into.extend_from_slice(bytes);
            }
            FaultKind::Reorder => self.overtaken = Some(bytes.to_vec()),
            _ => {
                let at = into.len() + bytes.len() / 2;
                into.extend_from_slice(bytes);
                // Never to or from the delimiter.
                into[at] = if into[at] == 0x80 {
                    0x81
                } else {
                    into[at] ^ 0x80
                };
            }
        }
    }

    /// A block still waiting when the run ends.
    fn release(&mut self, into: &mut Vec<u8>) {
        if let Some(earlier) = self.overtaken.take() {
            into.extend_from_slice(&earlier);
        }
    }
}

fn is_link(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::Drop | FaultKind::Duplicate | FaultKind::Reorder | FaultKind::Corrupt
    )
}
