//! What the live view remembers: the last minutes of each curve, the latest of everything else.
//!
//! In: [`SessionEvent`]s of a session. Out: fields the screen reads. Memory is bounded: a curve keeps at most
//! [`HISTORY_S`] seconds at [`SAMPLES_HZ`], whatever the stream's rate, so an hour costs what a minute does.

use std::collections::VecDeque;

use stribeck_core::JOINTS;
use stribeck_core::device::run::Phase;
use stribeck_core::model::joint::Joint;
use stribeck_core::model::parameter;
use stribeck_core::wire::block::{Params, Record};
use stribeck_core::wire::{Block, Event, Hello, Status, What};

use crate::config::axes::Axes;
use crate::link::compare::Check;
use crate::link::session::SessionEvent;
use crate::log::angles::Angles;

/// Longest time a curve shows \[s\].
pub const HISTORY_S: f64 = 120.0;
/// Points kept per second of a curve.
pub const SAMPLES_HZ: f64 = 100.0;
/// Half a 95 % interval [σ].
const Z95: f64 = 1.96;
/// Lines of the event list.
const EVENTS: usize = 6;

/// One curve: (seconds since the device's reset, value), oldest first.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    points: VecDeque<(f64, f64)>,
}

impl Curve {
    /// Append, unless the last point is less than a sample ago; forget what is older than [`HISTORY_S`].
    fn push(&mut self, t_s: f64, value: f64) {
        if let Some(&(last, _)) = self.points.back() {
            if t_s < last {
                self.points.clear();
            } else if t_s - last < 0.999 / SAMPLES_HZ {
                return;
            }
        }
        self.points.push_back((t_s, value));
        while self.points.front().is_some_and(|p| t_s - p.0 > HISTORY_S) {
            self.points.pop_front();
        }
    }

    /// The points of the last `span_s` seconds before `now_s`, time relative to `now_s`.
    pub fn window(&self, now_s: f64, span_s: f64) -> Vec<(f64, f64)> {
        let from = self.points.partition_point(|p| p.0 < now_s - span_s);
        self.points
            .range(from..)
            .map(|p| (p.0 - now_s, p.1))
            .collect()
    }

    pub fn len(&self) -> usize {
        self.points.len()
    }

    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

/// An estimate and its 95 % interval over time.
#[derive(Clone, Debug, Default)]
pub struct Band {
    pub value: Curve,
    pub low: Curve,
    pub high: Curve,
}

impl Band {
    fn push(&mut self, t_s: f64, value: f64, half: f64) {
        self.value.push(t_s, value);
        self.low.push(t_s, value - half);
        self.high.push(t_s, value + half);
    }
}

/// Factor and unit in which a coordinate is drawn, so that both kinds fit one axis.
pub fn shown(joint: Joint) -> (f64, &'static str) {
    match joint {
        Joint::Revolute => (180.0 / std::f64::consts::PI, "deg"),
        Joint::Prismatic => (1e3, "mm"),
    }
}

/// Everything the screen shows.
#[derive(Default)]
pub struct Feed {
    /// Measured coordinates, from counts: degrees of a joint that turns, millimetres of one that slides.
    pub angle: [Curve; JOINTS],
    /// EKF velocities [rad/s or m/s].
    pub velocity: [Curve; JOINTS],
    /// UAS velocity error |e| [rad/s, m/s] and gain k.
    pub error: Curve,
    pub gain: Curve,
    /// Friction as the Kalman filter has it, in the order of [`parameter::EKF`], with its 95 % band.
    pub friction: [Band; parameter::EKF.len()],
    pub params: Option<Params>,
    pub status: Option<Status>,
    /// Device, build and board of the last Hello.
    pub device: String,
    pub axes: Axes,
    /// Most torque [N·m] and duty (part of full) of a driven rig.
    pub most: Option<[f32; 2]>,
    pub phase: Phase,
    /// Time of the last block [s since the device's reset].
    pub now_s: f64,
    pub ticks: u64,
    pub lost_ticks: u64,
    /// Blocks whose digest was compared, and those that differ.
    pub compared: u64,
    pub differing: u64,
    pub events: VecDeque<String>,
    angles: Option<Angles>,
    /// What a count is drawn as.
    per_count: [f64; JOINTS],
    tick_hz: f64,
}

impl Feed {
    pub fn take(&mut self, event: &SessionEvent<'_>) {
        match event {
            SessionEvent::Hello { hello, begins } => self.hello(hello, *begins),
            SessionEvent::Block { block, check } => self.block(block, check),
            SessionEvent::Gap(gap) => {
                self.lost_ticks += gap.ticks();
                let text = format!("{} ticks lost", gap.ticks());
                self.event(self.now_s, text);
            }
            SessionEvent::Status(status) => self.status = Some((*status).clone()),
            SessionEvent::Event(event) => self.happened(event),
            SessionEvent::Reply(reply) => {
                if let Some(refusal) = &reply.refusal {
                    let why = crate::link::wording::printable(&refusal.to_string());
                    self.event(self.seconds(reply.tick), format!("refused: {why}"));
                }
            }
            SessionEvent::Bytes { .. } | SessionEvent::Pattern(_) => {}
        }
    }

    /// A line of the view's own (recording, connection).
    pub fn say(&mut self, text: impl Into<String>) {
        self.event(self.now_s, text.into());
    }

    fn seconds(&self, tick: u64) -> f64 {
        tick as f64 / self.tick_hz.max(1.0)
    }

    fn hello(&mut self, hello: &Hello, begins: bool) {
        self.tick_hz = f64::from(hello.tick_hz);
        let printable = crate::link::wording::printable;
        self.device = format!("{} · {}", printable(&hello.board), printable(&hello.build));
        self.phase = hello.phase;
        let Ok(config) = hello.config() else {
            self.say("this device's configuration cannot be read by this build");
            return;
        };
        self.axes = Axes::of(&config.plant);
        let quantum: [f64; JOINTS] = config.quantum();
        self.per_count = std::array::from_fn(|j| quantum[j] * shown(self.axes.joints[j]).0);
        self.most = config.drive.map(|d| [d.motor.torque_limit, d.limits.duty]);
        match &mut self.angles {
            Some(angles) if !begins => angles.set_config(&config, hello.config_since),
            angles => *angles = Some(Angles::new(&config)),
        }
        if !hello.last_fault.is_empty() && begins {
            self.event(
                self.seconds(hello.uptime_ticks),
                format!(
                    "before the reset: {}",
                    crate::link::wording::printable(&hello.last_fault)
                ),
            );
        }
    }

    fn block(&mut self, block: &Block, check: &Check) {
        self.ticks += u64::from(block.ticks);
        self.now_s = self.seconds(block.end_tick());
        self.phase = block.phase;
        match check {
            Check::Equal => self.compared += 1,
            Check::Differs => {
                self.compared += 1;
                self.differing += 1;
            }
            _ => {}
        }
        let hz = self.tick_hz.max(1.0);
        if let Some(angles) = &mut self.angles {
            let (curves, scale) = (&mut self.angle, self.per_count);
            angles.block(block, |c, _| {
                for joint in 0..JOINTS {
                    curves[joint].push(
                        c.tick as f64 / hz,
                        f64::from(c.counts[joint]) * scale[joint],
                    );
                }
            });
        }
        for (tick, record) in block.records() {
            let t = tick as f64 / hz;
            match record {
                Record::States(states) => {
                    for (curve, w) in self.velocity.iter_mut().zip(states.ekf_w) {
                        curve.push(t, f64::from(w));
                    }
                }
                Record::Params(params) => {
                    self.error.push(t, f64::from(params.error));
                    self.gain.push(t, f64::from(params.k));
                    let estimates = params.p.iter().zip(params.sigma);
                    for (band, (p, sigma)) in self.friction.iter_mut().zip(estimates) {
                        // Without σ it is not estimated (yet).
                        if sigma > 0.0 {
                            band.push(t, f64::from(*p), Z95 * f64::from(sigma));
                        }
                    }
                    self.params = Some(params);
                }
            }
        }
    }

    fn happened(&mut self, event: &Event) {
        if let What::Run { to, .. } = event.what {
            self.phase = to;
        }
        self.event(
            self.seconds(event.tick),
            crate::link::wording::event(event, &self.axes),
        );
    }

    fn event(&mut self, t_s: f64, text: String) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(format!("{t_s:9.3} s  {text}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_of_full_rate_samples_stays_bounded() {
        let mut curve = Curve::default();
        for i in 0..3_600_000u64 {
            curve.push(i as f64 * 1e-3, 1.0);
        }
        assert!(
            curve.len() as f64 <= HISTORY_S * SAMPLES_HZ + 2.0,
            "{}",
            curve.len()
        );
        let window = curve.window(3600.0, 10.0);
        assert!(window.iter().all(|p| (-10.0..=0.0).contains(&p.0)) && window.len() > 900);
    }

    #[test]
    fn a_reset_of_the_device_starts_the_curve_again() {
        let mut curve = Curve::default();
        curve.push(50.0, 1.0);
        curve.push(0.1, 2.0);
        assert_eq!(curve.window(0.1, 10.0), [(0.0, 2.0)]);
    }
}
