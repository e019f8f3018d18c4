//! The bench's own measurement of the pins to the bridge: when they drive, when they are off, and how long after its cause.
//!
//! Looks at the pins as an oscilloscope would: the timer's channels where the pins are switched to them, their level where they are
//! not (the bridge board pulls open inputs down). Says nothing about what the firmware believes.

use crate::chip::Chip;
use crate::motor::Levels;
use crate::periph::gpio::Pin;
use crate::periph::tim::guard::Output;
use crate::time::{Time, to_secs};

/// Alternate function of TIM1 on port E.
const TIM1_AF: u32 = 1;

/// The outputs went off.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Off {
    pub at_s: f64,
    /// What happened last while they were on, and when; none: the program's own decision.
    pub cause: Option<String>,
    pub cause_at_s: Option<f64>,
    /// From the cause to the pins [s].
    pub after_s: Option<f64>,
}

/// What was seen at the pins.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    levels: Levels,
    /// Since when they have been on.
    since: Time,
    on_time: Time,
    /// Largest |mean voltage| as a part of the supply.
    pub most: f64,
    cause: Option<(Time, String)>,
    pub offs: Vec<Off>,
}

impl Outputs {
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// Time with the outputs on until `now` [s].
    pub fn on_s(&self, now: Time) -> f64 {
        let running = if self.levels.on() {
            now.saturating_sub(self.since)
        } else {
            0
        };
        to_secs(self.on_time + running)
    }

    /// Something happens that may turn them off. The first since they are on, or since the last that was forgotten, counts.
    pub fn cause(&mut self, now: Time, what: &str) {
        if self.levels.on() {
            self.cause = Some((now, what.to_string()));
        }
    }

    fn see(&mut self, levels: Levels, now: Time) {
        let (was, is) = (self.levels.on(), levels.on());
        self.levels = levels;
        self.most = self.most.max(levels.duty().abs());
        if is && !was {
            self.since = now;
            self.cause = None;
        } else if was && !is {
            self.on_time += now.saturating_sub(self.since);
            let cause = self.cause.take();
            self.offs.push(Off {
                at_s: to_secs(now),
                cause_at_s: cause.as_ref().map(|c| to_secs(c.0)),
                after_s: cause.as_ref().map(|c| to_secs(now.saturating_sub(c.0))),
                cause: cause.map(|c| c.1),
            });
        }
    }
}

impl Chip {
    /// Break input, pins and bridge follow whatever has changed.
    pub fn follow_outputs(&mut self, now: Time) {
        let Some(i) = self.tims.iter().position(|t| t.kind.name == "TIM1") else {
            return;
        };
        let wiring = self.board.bridge;
        if let Some(motor) = self.rig.motor() {
            let fault = motor.signals_fault() || self.limit_switch_open;
            self.gpio.drive(wiring.fault.0, Some(!fault));
        }
        let connected = self.gpio.alternate(wiring.fault.0) == Some(TIM1_AF);
        let level = connected && self.gpio.level(wiring.fault.0);
        self.tims[i].break_inputs(level, self.locked_up && self.exti.lockup_breaks());
        let high = |pin: Pin, channel: usize| {
            if self.gpio.alternate(pin) == Some(TIM1_AF) {
                match self.tims[i].output(channel) {
                    Output::Floating => 0.0,
                    Output::High(part) => part,
                }
            } else {
                f64::from(u8::from(self.gpio.output(pin) == Some(true)))
            }
        };
        let levels = Levels {
            high: [high(wiring.in1.0, 0), high(wiring.in2.0, 1)],
            enable: self.gpio.output(wiring.enable.0) == Some(true),
        };
        if levels != self.outputs.levels {
            self.rig.drive(levels, now);
            self.outputs.see(levels, now);
        }
    }
}
