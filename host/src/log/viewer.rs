//! Decimated JSON copies of the stream, so that Foxglove and PlotJuggler plot a log without knowing the wire.
//!
//! Rates: angles and velocities [`STATES_HZ`], gain and parameters [`PARAMS_HZ`], health 2 Hz, events all.
//! Nothing in this project reads them back.

use std::io::Write;

use serde_json::{Value, json};
use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::wire::block::{Params, Record, States};
use stribeck_core::wire::{Block, Event};

use super::Topic;
use super::schema;
use super::write::{LogWriter, Stamp};
use crate::config::axes::Axes;
use crate::error::Result;
use crate::link::compare::Verdict;
use crate::link::order::Losses;
use crate::link::wording;
use crate::log::angles::Angles;

pub const STATES_HZ: u32 = 50;
pub const PARAMS_HZ: u32 = 10;
const HEALTH_HZ: u32 = 2;

/// Which ticks were last written.
pub struct Viewer {
    angles: Angles,
    axes: Axes,
    tick_hz: u32,
    next_states: u64,
    next_params: u64,
    next_health: u64,
}

impl Viewer {
    pub fn new(config: &Config) -> Self {
        Viewer {
            angles: Angles::new(config),
            axes: Axes::of(&config.plant),
            tick_hz: config.tick_hz,
            next_states: 0,
            next_params: 0,
            next_health: 0,
        }
    }

    pub fn set_config(&mut self, config: &Config, since: u64) {
        self.angles.set_config(config, since);
        self.axes = Axes::of(&config.plant);
        self.tick_hz = config.tick_hz;
    }

    /// The joints of the device.
    pub fn axes(&self) -> Axes {
        self.axes
    }

    /// Write what is due of this block; `stamp` gives the times of a tick.
    pub fn block<W: Write>(
        &mut self,
        block: &Block,
        log: &mut LogWriter<W>,
        stamp: impl Fn(u64) -> Stamp,
    ) -> Result<()> {
        let mut measured = [[0i32; JOINTS]; 128];
        self.angles.block(block, |c, _| {
            let i = (c.tick - block.first_tick) as usize % measured.len();
            measured[i] = c.counts;
        });
        for (tick, record) in block.records() {
            let at = stamp(tick);
            match record {
                Record::States(s) if tick >= self.next_states => {
                    self.next_states = tick + u64::from(self.tick_hz / STATES_HZ);
                    let i = (tick - block.first_tick) as usize % measured.len();
                    let q = self.angles.places(measured[i]);
                    let (angles, velocities) = states(&self.axes, q, &s);
                    log.json(Topic::Angles, at, &angles)?;
                    log.json(Topic::Velocities, at, &velocities)?;
                }
                Record::Params(p) if tick >= self.next_params => {
                    self.next_params = tick + u64::from(self.tick_hz / PARAMS_HZ);
                    log.json(
                        Topic::Gain,
                        at,
                        &named(schema::gain(&self.axes), [p.k, p.error]),
                    )?;
                    log.json(Topic::Parameters, at, &params(&self.axes, &p))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Write the state of the link twice a second.
    pub fn health<W: Write>(
        &mut self,
        tick: u64,
        losses: &Losses,
        verdict: Option<&Verdict>,
        log: &mut LogWriter<W>,
        at: Stamp,
    ) -> Result<()> {
        if tick < self.next_health {
            return Ok(());
        }
        self.next_health = tick + u64::from(self.tick_hz / HEALTH_HZ);
        let value = json!({
            "lost_ticks": losses.lost_ticks,
            "damaged_frames": losses.corrupted,
            "verified_ticks": verdict.map_or(0, |v| v.equal_ticks),
            "differing_blocks": verdict.map_or(0, |v| v.differing_blocks),
        });
        log.json(Topic::Health, at, &value)
    }
}

/// An event as text.
pub fn event(event: &Event, axes: &Axes) -> Value {
    json!({ "tick": event.tick, "event": wording::event(event, axes) })
}

fn states(axes: &Axes, q: [f64; JOINTS], s: &States) -> (Value, Value) {
    // Seven digits are all an f32 has; more would only fill the file.
    let measured = q.map(|x| x as f32);
    let angles = [measured, s.uas_q, s.ekf_q];
    let velocities = [s.uas_w, s.ekf_w];
    (
        named(schema::angles(axes), angles.into_iter().flatten()),
        named(schema::velocities(axes), velocities.into_iter().flatten()),
    )
}

fn params(axes: &Axes, p: &Params) -> Value {
    let numbers = p.z.iter().chain(&p.p).chain(&p.sigma).copied();
    let mut value = named(schema::parameters(axes), numbers);
    value[schema::STAGE] = json!(p.stage);
    for (i, name) in schema::identifiable(axes).enumerate() {
        value[name] = json!(p.identifiable >> i & 1 == 1);
    }
    value
}

/// Numbers under their names.
fn named(names: Vec<schema::Named>, numbers: impl IntoIterator<Item = f32>) -> Value {
    let fields = names.into_iter().zip(numbers);
    Value::Object(fields.map(|((name, _), x)| (name, json!(x))).collect())
}
