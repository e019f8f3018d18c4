//! Driving a motor over the link: configure its limits, arm it, keep it alive with heartbeats, and stop it before anything else ends.
//!
//! In: what the device says ([`Driver::introduced`], [`Driver::reply`], [`Driver::event`]) and when to end ([`Driver::stop`]). Out:
//! frames to send ([`Driver::speak`]). Whatever happens to this program, the device turns the motor off by itself when the heartbeats end.

use std::time::{Duration, Instant};

use stribeck_core::device::config::{Blob, Config};
use stribeck_core::wire::{Ask, Drive, Event, Mode, Reply, Trip, What};

use crate::config;
use crate::error::{Error, Result};
use crate::link::command::{self, Commands};

/// Heartbeats per longest silence.
const BEATS: u32 = 5;
/// Longest wait for the device to confirm that the motor is off.
const STOP_PATIENCE: Duration = Duration::from_secs(1);

/// What is asked of the motor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    pub drive: Drive,
    /// Values of the device's configuration to change first, not stored: `drive.limits.duty=0.3`.
    pub overrides: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// The device has not introduced itself.
    Waiting,
    Configuring(u16),
    Arming(u16),
    Driving,
    Stopping(Instant),
    Off,
}

/// One drive, from the first word to the motor being off.
#[derive(Debug)]
pub struct Driver {
    order: Order,
    step: Step,
    config: Option<Config>,
    beat: Option<Instant>,
    every: Duration,
    trip: Option<Trip>,
    /// What was armed, once it is.
    armed: Option<String>,
}

impl Driver {
    pub fn new(order: Order) -> Self {
        Driver {
            order,
            step: Step::Waiting,
            config: None,
            beat: None,
            every: Duration::from_millis(100),
            trip: None,
            armed: None,
        }
    }

    /// The device has told its configuration. A passive one cannot drive.
    pub fn introduced(&mut self, config: &Config) -> Result<()> {
        if self.step != Step::Waiting || self.config.is_some() {
            return Ok(());
        }
        let wanted = config::with_overrides(config, &self.order.overrides)?;
        let Some(drive) = &wanted.drive else {
            return Err(Error::invalid(
                "the device is configured as a passive rig and cannot drive".to_string(),
                "send a configuration with a [drive] section (motor and limits): `stribeck config --help`",
            ));
        };
        if drive.limits.heartbeat_ms > 0 {
            self.every = Duration::from_millis(u64::from(drive.limits.heartbeat_ms)) / BEATS;
        }
        self.config = Some(wanted);
        Ok(())
    }

    /// What is to be sent now.
    pub fn speak(&mut self, commands: &mut Commands) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        if let (Step::Waiting, Some(config)) = (self.step, &self.config) {
            if self.order.overrides.is_empty() {
                frames.push(self.arm(commands));
            } else {
                let ask = Ask::SetConfig {
                    store: false,
                    config: Blob::seal(config),
                };
                let (id, bytes) = commands.frame(ask);
                self.step = Step::Configuring(id);
                frames.push(bytes);
            }
        }
        let alive = matches!(self.step, Step::Arming(_) | Step::Driving);
        if alive && self.beat.is_none_or(|at| at.elapsed() >= self.every) {
            self.beat = Some(Instant::now());
            frames.push(command::frame(0, Ask::Beat));
        }
        frames
    }

    fn arm(&mut self, commands: &mut Commands) -> Vec<u8> {
        let (id, bytes) = commands.frame(Ask::Drive(self.order.drive));
        self.step = Step::Arming(id);
        bytes
    }

    /// A reply; the next frame, if one follows from it.
    pub fn reply(&mut self, reply: &Reply, commands: &mut Commands) -> Option<Vec<u8>> {
        match self.step {
            Step::Configuring(id) if reply.id == id && reply.refusal.is_none() => {
                Some(self.arm(commands))
            }
            Step::Arming(id) if reply.id == id && reply.refusal.is_none() => {
                self.step = Step::Driving;
                self.armed = self.config.as_ref().map(|c| told(&self.order.drive, c));
                None
            }
            _ => None,
        }
    }

    /// Something happened on the device.
    pub fn event(&mut self, event: &Event) {
        let What::Drive {
            mode: Mode::Off,
            trip,
        } = event.what
        else {
            return;
        };
        if !matches!(self.step, Step::Waiting | Step::Configuring(_)) {
            self.step = Step::Off;
            self.trip = Some(trip).filter(|t| *t != Trip::None);
        }
    }

    /// The run of the device is over: the motor is off.
    pub fn idle(&mut self) {
        if matches!(self.step, Step::Stopping(_) | Step::Driving) {
            self.step = Step::Off;
        }
    }

    /// Turn the motor off; the frame that asks for it, once.
    pub fn stop(&mut self, commands: &mut Commands) -> Option<Vec<u8>> {
        match self.step {
            Step::Arming(_) | Step::Driving => {
                self.step = Step::Stopping(Instant::now());
                Some(commands.frame(Ask::Stop).1)
            }
            _ => None,
        }
    }

    /// Nothing is driven any more, or the device does not say so in time.
    pub fn is_off(&self) -> bool {
        match self.step {
            Step::Waiting | Step::Configuring(_) | Step::Off => true,
            Step::Stopping(since) => since.elapsed() > STOP_PATIENCE,
            Step::Arming(_) | Step::Driving => false,
        }
    }

    /// It was asked to stop and never confirmed.
    pub fn unconfirmed(&self) -> bool {
        matches!(self.step, Step::Stopping(_))
    }

    /// The device itself has ended it.
    pub fn ended(&self) -> bool {
        self.step == Step::Off
    }

    /// Why the device turned the motor off by itself, if it did.
    pub fn trip(&self) -> Option<Trip> {
        self.trip
    }

    /// What was armed, in words, once.
    pub fn take_armed(&mut self) -> Option<String> {
        self.armed.take()
    }
}

/// What is armed and within which limits.
fn told(drive: &Drive, config: &Config) -> String {
    let Some(c) = &config.drive else {
        return String::new();
    };
    let (l, s) = (&c.limits, &drive.signal);
    let signal = match drive.mode {
        Mode::Balance => format!("holding {:.3?}", c.balance.at),
        Mode::Plan => "playing plans".to_string(),
        _ => format!(
            "{:?} offset {} amplitude {} at {} to {} Hz",
            s.shape, s.offset, s.amplitude, s.low_hz, s.high_hz
        ),
    };
    format!(
        "armed {:?}: {signal}; at most {} N·m and {:.0} % duty, angles {:?} (0: free), speeds {:?}, heartbeat {} ms, stall {} ms",
        drive.mode,
        c.motor.torque_limit,
        100.0 * l.duty,
        l.angle,
        l.speed,
        l.heartbeat_ms,
        l.stall_ms
    )
}
