//! The configuration as version 2 had it, before rigs could be driven, for logs and stored configurations of that time.

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
    ekf: ekf::Config,
    run: run::Config,
    stream: Stream,
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
            ekf: c.ekf,
            run: c.run,
            stream: c.stream,
            drive: None,
        }
    }
}
