//! What the log says about device and link: who, how long, what was lost, how hard the processor worked.

use serde::Serialize;
use stribeck_core::wire::{Event, Hello, Status, What};

use super::decimate::Decimated;
use crate::config::axes::Axes;
use crate::link::compare::Verdict;
use crate::link::order::Losses;
use crate::link::wording;
use crate::log::closing::Closing;
use crate::log::damage::Damage;
use crate::log::summary::Summary;

/// Events listed; all are counted.
const EVENTS: usize = 40;
/// Status records kept for the chart of the tick load.
const LOADS: usize = 1 << 13;

/// The device that was recorded.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    pub board: String,
    pub build: String,
    pub protocol: u16,
    pub numerics: u16,
    pub reset_cause: &'static str,
    pub last_fault: String,
    pub config_origin: &'static str,
    pub tick_hz: u32,
}

impl Device {
    fn new(hello: &Hello) -> Self {
        Device {
            board: hello.board.to_string(),
            build: hello.build.to_string(),
            protocol: hello.protocol,
            numerics: hello.numerics,
            reset_cause: wording::reset_cause(hello.reset_cause),
            last_fault: hello.last_fault.to_string(),
            config_origin: wording::config_origin(hello.config_origin),
            tick_hz: hello.tick_hz,
        }
    }
}

/// Whether the observers were run again on the host and every bit compared, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// `capture` (while recording), `report` (just now) or `nobody`.
    pub by: &'static str,
    pub compared_ticks: u64,
    pub differing_blocks: u64,
    pub differing_bits: u64,
    /// Why nothing was compared, if so.
    pub not_compared: Option<String>,
}

impl Verification {
    fn new(by: &'static str, verdict: &Verdict, not_compared: Option<String>) -> Self {
        Verification {
            by,
            compared_ticks: verdict.compared_ticks,
            differing_blocks: verdict.differing_blocks,
            differing_bits: verdict.differing_bits,
            not_compared,
        }
    }

    /// What this report itself compared.
    pub fn here(verdict: &Verdict, not_compared: Option<&str>) -> Self {
        Self::new("report", verdict, not_compared.map(str::to_owned))
    }

    /// What the capture wrote into the closing record of its log.
    pub fn recorded(closing: &Closing) -> Option<Self> {
        let summary = Summary::from_closing(closing)?;
        let (verdict, not_compared) = (&summary.verdict, summary.not_verified.clone());
        Some(Self::new("capture", verdict, not_compared))
    }

    pub fn nobody() -> Self {
        Self::new("nobody", &Verdict::default(), None)
    }
}

/// Tick load over the whole log [% of the period].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    pub mean_percent: f64,
    pub max_percent: f64,
    /// Standard deviation of the period \[µs\].
    pub jitter_us: f64,
}

/// Counters of the last Status: since the device's reset.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counters {
    pub dropped_blocks: u32,
    pub encoder_faults: [u32; 2],
    pub uas_restarts: u32,
    pub ekf_restarts: u32,
    pub bad_frames: u32,
    pub overruns: u32,
    pub missed_ticks: u32,
    pub queue_high: u8,
    pub queue_size: u8,
    pub write_timeouts: u32,
}

/// One event, in words.
#[derive(Clone, Debug, Serialize)]
pub struct EventLine {
    pub tick: u64,
    pub text: String,
}

/// Everything about device and link.
#[derive(Clone, Debug, Serialize)]
pub struct Health {
    pub device: Option<Device>,
    /// Wall clock of the first message [ns since 1970]; `None` if the log was not closed or is simulated.
    pub recorded_ns: Option<u64>,
    pub ticks: u64,
    pub segments: u32,
    pub resets: u32,
    pub losses: Losses,
    /// What of the file could not be read.
    pub damage: Vec<String>,
    pub verification: Verification,
    /// `None`: not measured (simulated device, or no status in the log).
    pub load: Option<Load>,
    pub counters: Option<Counters>,
    pub events: Vec<EventLine>,
    pub events_total: u64,
    /// Joints of the device that said them.
    #[serde(skip)]
    axes: Axes,
    /// Mean and largest load [%] over received time in ticks.
    #[serde(skip)]
    pub loads: Decimated<(f64, f64)>,
    #[serde(skip)]
    weight: f64,
    #[serde(skip)]
    seconds: u64,
}

impl Default for Health {
    fn default() -> Self {
        Health {
            device: None,
            recorded_ns: None,
            ticks: 0,
            segments: 0,
            resets: 0,
            losses: Losses::default(),
            damage: Vec::new(),
            verification: Verification::nobody(),
            load: None,
            counters: None,
            events: Vec::new(),
            events_total: 0,
            axes: Axes::default(),
            loads: Decimated::new(LOADS),
            weight: 0.0,
            seconds: 0,
        }
    }
}

impl Health {
    pub fn hello(&mut self, hello: &Hello) {
        self.device = Some(Device::new(hello));
        self.axes = wording::axes(hello);
    }

    pub fn event(&mut self, event: &Event) {
        self.events_total += 1;
        // Overruns can come by the thousand; their number is in the counters.
        let noise = matches!(event.what, What::Overrun { .. }) && self.events.len() > EVENTS / 2;
        if self.events.len() < EVENTS && !noise {
            self.events.push(EventLine {
                tick: event.tick,
                text: wording::event(event, &self.axes),
            });
        }
    }

    pub fn status(&mut self, status: &Status) {
        let health = &status.health;
        self.counters = Some(Counters {
            dropped_blocks: status.dropped_blocks,
            encoder_faults: status.encoder_faults,
            uas_restarts: status.uas_restarts,
            ekf_restarts: status.ekf_restarts,
            bad_frames: status.bad_frames,
            overruns: health.overruns,
            missed_ticks: health.missed_ticks,
            queue_high: health.queue_high,
            queue_size: health.queue_size,
            write_timeouts: health.write_timeouts,
        });
        let tick_hz = self.device.as_ref().map_or(0, |d| d.tick_hz);
        let period = f64::from(health.clock_hz) / f64::from(tick_hz.max(1));
        if period <= 0.0 || health.tick_cycles.max == 0 {
            return;
        }
        let mean = 100.0 * f64::from(health.tick_cycles.mean) / period;
        let max = 100.0 * f64::from(health.tick_cycles.max) / period;
        let jitter_us =
            1e6 * f64::from(health.period_cycles.sigma) / f64::from(health.clock_hz.max(1));
        self.weight += 1.0;
        let load = self.load.get_or_insert_default();
        load.mean_percent += (mean - load.mean_percent) / self.weight;
        load.max_percent = load.max_percent.max(max);
        load.jitter_us = load.jitter_us.max(jitter_us);
        // Status comes once per second; its own count is the grid.
        self.loads.push(self.seconds, (mean, max));
        self.seconds += 1;
    }

    pub fn damage(&mut self, damage: &[Damage]) {
        self.damage = damage.iter().map(Damage::to_string).collect();
    }

    /// Nothing lost, nothing damaged, nothing different, no fault.
    pub fn is_sound(&self) -> bool {
        self.losses.is_clean()
            && self.losses.skipped_ticks == 0
            && self.damage.is_empty()
            && self.verification.differing_blocks == 0
            && self.counters.as_ref().is_none_or(|c| {
                c.dropped_blocks == 0 && c.encoder_faults == [0; 2] && c.missed_ticks == 0
            })
    }
}
