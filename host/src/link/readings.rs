//! What a board on the table says about itself, collected for `stribeck doctor --bench-report` (docs/first-power-on.md).
//!
//! In: a live source, and how long to listen. Out: [`Readings`]: who the device is, every Status it sent, the rate of its ticks against
//! this computer's clock, the time from a command to its answer, and what was lost on the way. Judges nothing: the document says what
//! to expect.

use std::time::{Duration, Instant};

use serde::Serialize;
use stribeck_core::wire::{
    Ask, ClockSource, ConfigOrigin, Event, Frame, Hello, ResetCause, Status,
};

use crate::error::Result;
use crate::link::command;
use crate::link::frames::{Content, Frames};
use crate::link::source::{Arrival, Source};
use crate::link::wording;

/// A command is sent this often.
const ASK_EVERY: Duration = Duration::from_millis(250);
/// Blocks of the first moments, which may have waited in buffers, do not count for the rate.
const SETTLE: Duration = Duration::from_secs(1);

/// Events kept.
const EVENTS: usize = 1000;

/// See the module header.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Readings {
    pub device: Option<Device>,
    /// Every Status, in order: tick and period in processor cycles, overruns, losses.
    pub statuses: Vec<Status>,
    /// Events, the first ones.
    pub events: Vec<Event>,
    /// Blocks received, and blocks missing by their sequence numbers.
    pub blocks: u64,
    pub blocks_missing: u64,
    /// Pieces of the stream that were no frame.
    pub bad_frames: u64,
    /// Rate of the device's ticks against this computer's clock, relative to what the device says \[ppm\].
    pub rate_ppm: Option<f64>,
    /// From sending a command to its answer \[ms\].
    pub latency_ms: Option<Latency>,
}

/// Of the Hello, what describes the board.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    pub build: String,
    pub board: String,
    pub boot: u32,
    pub uptime_ticks: u64,
    pub tick_hz: u32,
    pub clock: ClockSource,
    pub reset_cause: ResetCause,
    pub last_fault: String,
    pub config_origin: ConfigOrigin,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    pub min: f64,
    pub median: f64,
    pub max: f64,
    pub commands: usize,
}

impl Readings {
    /// Listen for `time`, asking now and then.
    pub fn take(source: &mut impl Source, time: Duration) -> Result<Self> {
        let mut readings = Readings::default();
        let mut frames = Frames::joining();
        let mut rate = Rate::default();
        let (mut next_seq, mut latencies) = (None, Vec::new());
        let begun = Instant::now();
        let mut asked: Option<Instant> = None;
        let mut ask_at = begun;
        let mut id = 0;
        while begun.elapsed() < time {
            if Instant::now() >= ask_at {
                id += 1;
                source.write(&command::frame(id, Ask::Hello))?;
                asked = Some(Instant::now());
                ask_at += ASK_EVERY;
            }
            let mut bytes = Vec::new();
            match source.read(&mut bytes)? {
                Arrival::Bytes | Arrival::Quiet => {}
                Arrival::Lost(_) | Arrival::End => break,
            }
            let now = begun.elapsed();
            frames.push::<crate::error::Error>(&bytes, |piece| {
                match piece.content {
                    Content::Frame(Frame::Hello(hello)) => {
                        if let Some(at) = asked.take() {
                            latencies.push(at.elapsed().as_secs_f64() * 1e3);
                        }
                        readings.device = Some(Device::from(&hello));
                    }
                    Content::Frame(Frame::Status(status)) => readings.statuses.push(status),
                    Content::Frame(Frame::Event(event)) => {
                        if readings.events.len() < EVENTS {
                            readings.events.push(event);
                        }
                    }
                    Content::Frame(Frame::Block(block)) => {
                        readings.blocks += 1;
                        let due = next_seq.unwrap_or(block.seq);
                        readings.blocks_missing += u64::from(block.seq.wrapping_sub(due));
                        next_seq = Some(block.seq.wrapping_add(1));
                        if now > SETTLE {
                            rate.add(now.as_secs_f64(), block.end_tick());
                        }
                    }
                    Content::Frame(_) | Content::Tail => {}
                    Content::Bad(_) => readings.bad_frames += 1,
                }
                Ok(())
            })?;
        }
        readings.latency_ms = latency(latencies);
        let tick_hz = readings.device.as_ref().map(|d| f64::from(d.tick_hz));
        readings.rate_ppm = tick_hz
            .zip(rate.per_second())
            .map(|(nominal, found)| (found / nominal - 1.0) * 1e6);
        Ok(readings)
    }
}

impl From<&Hello> for Device {
    fn from(hello: &Hello) -> Self {
        Device {
            build: wording::printable(&hello.build),
            board: wording::printable(&hello.board),
            boot: hello.boot,
            uptime_ticks: hello.uptime_ticks,
            tick_hz: hello.tick_hz,
            clock: hello.clock,
            reset_cause: hello.reset_cause,
            last_fault: hello.last_fault.to_string(),
            config_origin: hello.config_origin,
        }
    }
}

fn latency(mut all: Vec<f64>) -> Option<Latency> {
    all.sort_by(f64::total_cmp);
    Some(Latency {
        min: *all.first()?,
        median: all[all.len() / 2],
        max: *all.last()?,
        commands: all.len(),
    })
}

/// Slope of ticks over time by least squares, from sums about the first point.
#[derive(Default)]
struct Rate {
    first: Option<(f64, u64)>,
    n: f64,
    t: f64,
    k: f64,
    tt: f64,
    tk: f64,
}

impl Rate {
    fn add(&mut self, seconds: f64, tick: u64) {
        let (t0, k0) = *self.first.get_or_insert((seconds, tick));
        let (t, k) = (seconds - t0, tick as f64 - k0 as f64);
        self.n += 1.0;
        self.t += t;
        self.k += k;
        self.tt += t * t;
        self.tk += t * k;
    }

    /// [1/s]; none from less than a second.
    fn per_second(&self) -> Option<f64> {
        let spread = self.n * self.tt - self.t * self.t;
        (self.n > 10.0 && spread > self.n * self.n / 12.0)
            .then(|| (self.n * self.tk - self.t * self.k) / spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::scenario::Scenario;
    use crate::link::twin::Twin;
    use stribeck_core::device::config::Config;

    #[test]
    fn a_rate_is_found_through_jitter() {
        let mut rate = Rate::default();
        for i in 0..1500u64 {
            let late = 0.001 * ((i * 7919 % 13) as f64 / 13.0);
            rate.add(5.0 + 0.01 * i as f64 + late, 70_000 + 101 * i);
        }
        let found = rate.per_second().unwrap();
        assert!((found - 10_100.0).abs() < 0.2, "{found}");
        assert_eq!(Rate::default().per_second(), None);
    }

    #[test]
    fn a_paced_twin_is_read_without_loss() {
        let mut twin = Twin::new(&Config::default(), &Scenario::default(), None, true);
        let readings = Readings::take(&mut twin, Duration::from_millis(2_600)).unwrap();
        assert_eq!(readings.device.unwrap().board, "twin");
        assert!(readings.blocks > 0 && !readings.statuses.is_empty());
        assert_eq!((readings.blocks_missing, readings.bad_frames), (0, 0));
        assert!(readings.latency_ms.is_some() && readings.rate_ppm.is_some());
    }
}
