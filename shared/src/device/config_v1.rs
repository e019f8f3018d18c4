//! The configuration as version 1 had it, for logs and stored configurations of that time.
//!
//! The EKF knew nothing of the rig's tolerances and had no gate: what is new takes its default, so a device that finds such a
//! configuration in its flash runs the present filter on it.

use serde::Deserialize;

use super::config::{self, Stream};
use super::run;
use crate::JOINTS;
use crate::model::plant::PlantConfig;
use crate::observer::{ekf, encoder, tracker, uas};

#[derive(Deserialize)]
pub struct Config {
    _version: u16,
    tick_hz: u32,
    plant: PlantConfig,
    encoders: [encoder::Config; JOINTS],
    tracker: tracker::Config,
    uas: uas::Config,
    ekf: Ekf,
    run: run::Config,
    stream: Stream,
}

#[derive(Deserialize)]
struct Ekf {
    vt: [f32; JOINTS],
    drag: bool,
    cycle: u8,
    substeps: u8,
    acceleration_noise: f32,
    torque_noise: f32,
    slip_noise: f32,
    slip_torque: f32,
    slip_speed: f32,
    still_speed: f32,
    window_s: f32,
    start_s: f32,
    start_max_s: f32,
    start_sigma: f32,
    balance_inflation: f32,
    doubt_s: f32,
    doubt: f32,
    prior: [f32; 3],
    quantum_inflation: f32,
    identifiable: f32,
    lost: f32,
}

impl From<Config> for config::Config {
    fn from(c: Config) -> Self {
        config::Config {
            version: config::VERSION,
            tick_hz: c.tick_hz,
            plant: c.plant,
            encoders: c.encoders,
            tracker: c.tracker,
            uas: c.uas,
            ekf: c.ekf.into(),
            run: c.run,
            stream: c.stream,
            drive: None,
        }
    }
}

impl From<Ekf> for ekf::Config {
    fn from(c: Ekf) -> Self {
        ekf::Config {
            vt: c.vt,
            drag: c.drag,
            cycle: c.cycle,
            substeps: c.substeps,
            acceleration_noise: c.acceleration_noise,
            torque_noise: c.torque_noise,
            slip_noise: c.slip_noise,
            slip_torque: c.slip_torque,
            slip_speed: c.slip_speed,
            still_speed: c.still_speed,
            window_s: c.window_s,
            start_s: c.start_s,
            start_max_s: c.start_max_s,
            start_sigma: c.start_sigma,
            balance_inflation: c.balance_inflation,
            doubt_s: c.doubt_s,
            doubt: c.doubt,
            prior: c.prior,
            quantum_inflation: c.quantum_inflation,
            identifiable: c.identifiable,
            lost: c.lost,
            ..ekf::Config::default()
        }
    }
}
