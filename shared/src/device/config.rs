//! The complete configuration of a device: rig, encoders, observers, run logic, stream.
//!
//! One value decides everything that counts alone do not: it travels in every Hello, so a log replays without
//! any other file. f32 and integers only, exact on every machine. A configuration is accepted whole or
//! refused with the field, its value and the allowed range; a refused one changes nothing.
//!
//! Stored and sent as a [`Blob`]: postcard of [`Config`], whose first field is its version. A blob of another
//! version is refused by name, never misread. Whoever changes a field raises [`VERSION`] and keeps the old layout as a
//! struct of its own with `From`, read by [`Blob::open`]: old logs and stored configurations stay readable.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::model::friction::Friction;
use crate::model::plant::{Plant, PlantConfig, furuta};
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;
use crate::wire::block::MAX_TICKS;
use crate::wire::{Hello, Refusal, text};

pub use crate::wire::{BLOB_BYTES, Blob};

use crate::{
    control, device::config_v1, device::config_v2, device::run, model::stiffness, observer::ekf,
    observer::encoder, observer::tracker, observer::uas,
};

/// Layout version of [`Config`].
pub const VERSION: u16 = 4;

/// Everything that is set, nothing that is measured. The default is the rig of paper 000 at 45° tilt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// [`VERSION`].
    pub version: u16,
    /// Tick rate \[Hz\].
    pub tick_hz: u32,
    pub plant: PlantConfig,
    /// Of joint 0 and joint 1.
    pub encoders: [encoder::Config; JOINTS],
    /// Velocity filter of the UAS.
    pub tracker: tracker::Config,
    pub uas: uas::Config,
    pub ekf: ekf::Config,
    pub run: run::Config,
    pub stream: Stream,
    /// The motor and what controls it; none: a passive rig, which cannot drive at all.
    pub drive: Option<control::Config>,
}

/// How much of the observers is sent. Counts of every tick are always sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Ticks per block; a block ends earlier when its records fill it.
    pub block_ticks: u16,
    /// Angles and velocities of both observers every so many ticks; 0 = never.
    pub state_every: u16,
    /// Parameters, σ, gain and error every so many ticks; 0 = never.
    pub param_every: u16,
    /// A complete snapshot of the observers every so many ticks, at the next start of a block.
    pub snapshot_every: u32,
}

impl Stream {
    /// States of every tick.
    pub const FULL_RATE: Self = Stream {
        block_ticks: MAX_TICKS,
        state_every: 1,
        param_every: 100,
        snapshot_every: 10_000,
    };
}

impl Default for Stream {
    fn default() -> Self {
        Stream {
            block_ticks: MAX_TICKS,
            state_every: 50,
            param_every: 100,
            snapshot_every: 10_000,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            version: VERSION,
            tick_hz: 10_000,
            plant: PlantConfig::Furuta(furuta::Config::default()),
            encoders: encoder::Config::pair(),
            tracker: tracker::Config::default(),
            uas: uas::Config::default(),
            ekf: ekf::Config::default(),
            run: run::Config::default(),
            stream: Stream::default(),
            drive: None,
        }
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfigError {
    OutOfRange(OutOfRange),
    Version { found: u16, known: u16 },
    Unreadable,
}

impl From<OutOfRange> for ConfigError {
    fn from(e: OutOfRange) -> Self {
        ConfigError::OutOfRange(e)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::OutOfRange(e) => e.fmt(f),
            ConfigError::Version { found, known } => {
                write!(f, "configuration version {found}, this build knows {known}")
            }
            ConfigError::Unreadable => f.write_str("the configuration's bytes do not parse"),
        }
    }
}

impl core::error::Error for ConfigError {}

impl Config {
    /// The first thing wrong with it, if any.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.version != VERSION {
            return Err(ConfigError::Version {
                found: self.version,
                known: VERSION,
            });
        }
        check("tick_hz", self.tick_hz as f32, 100.0, 20_000.0)?;
        self.plant.validate()?;
        for (joint, encoder) in self.encoders.iter().enumerate() {
            encoder.validate().map_err(|e| OutOfRange {
                field: encoder_field(joint, e.field),
                ..e
            })?;
        }
        self.tracker.validate()?;
        self.uas.validate()?;
        self.check_stiffness()?;
        self.ekf.validate()?;
        self.run.validate()?;
        self.stream.validate()?;
        if let Some(drive) = &self.drive {
            drive.validate(&self.plant)?;
        }
        Ok(())
    }

    /// Bench mode must be able to integrate the friction it starts with and the one it ends with. (Paper mode is
    /// as printed: what is too stiff there is limited at run time and counted.)
    pub(super) fn check_stiffness(&self) -> Result<(), OutOfRange> {
        if self.uas.mode == uas::Mode::Paper {
            return Ok(());
        }
        let bounds = self.moved_plant().build::<f32>().bounds();
        let initial = self.uas.bounds.map(|b| b.initial);
        let ends = [
            (initial, ["uas.bounds[3].initial", "uas.bounds[8].initial"]),
            (
                self.uas.fixed_point(),
                ["uas.bounds[3] fixed point", "uas.bounds[8] fixed point"],
            ),
        ];
        for ([d0, s0, v0, t0, n0, d1, s1, v1, t1, n1], fields) in ends {
            let friction = [
                Friction::brown_mcphee([d0, s0, v0, t0, n0]),
                Friction::brown_mcphee([d1, s1, v1, t1, n1]),
            ];
            stiffness::check_configuration(fields, &friction, &bounds, self.dt_s())?;
        }
        Ok(())
    }

    /// One count of each encoder \[rad or m\].
    pub fn quantum<S: Scalar>(&self) -> [S; JOINTS] {
        let [e0, e1] = &self.encoders;
        let [j0, j1] = self.plant.joints();
        [e0.quantum(j0), e1.quantum(j1)]
    }

    /// The plant as it moves: with the motor's rotor on the driven joint.
    pub fn moved_plant(&self) -> PlantConfig {
        match &self.drive {
            Some(drive) => self.plant.with_rotor(drive.motor.reflected()),
            None => self.plant,
        }
    }

    /// Duration of a tick \[s\].
    pub fn dt_s(&self) -> f32 {
        1.0 / self.tick_hz as f32
    }
}

/// Which of the two encoders an error is about.
fn encoder_field(joint: usize, field: &'static str) -> &'static str {
    macro_rules! fields {
        ($($name:literal)+) => {
            match (joint, field) {
                $((0, concat!("encoder.", $name)) => concat!("encoders[0].", $name),
                (1, concat!("encoder.", $name)) => concat!("encoders[1].", $name),)+
                _ => field,
            }
        };
    }
    fields!("counter_bits" "counts_per_rev" "max_jump" "max_acceleration" "stuck_travel")
}

impl Stream {
    pub fn validate(&self) -> Result<(), OutOfRange> {
        let max = MAX_TICKS as f32;
        check("stream.block_ticks", self.block_ticks as f32, 1.0, max)?;
        check("stream.state_every", self.state_every as f32, 0.0, 10_000.0)?;
        if self.param_every != 0 {
            check(
                "stream.param_every",
                self.param_every as f32,
                10.0,
                10_000.0,
            )?;
        }
        check(
            "stream.snapshot_every",
            self.snapshot_every as f32,
            1000.0,
            600_000.0,
        )
    }
}

impl Hello {
    /// The configuration, or why this build cannot read it.
    pub fn config(&self) -> Result<Config, ConfigError> {
        self.config.open()
    }
}

impl From<ConfigError> for Refusal {
    fn from(e: ConfigError) -> Self {
        match e {
            ConfigError::OutOfRange(r) => Refusal::OutOfRange {
                field: text(r.field),
                value: r.value,
                min: r.min,
                max: r.max,
            },
            ConfigError::Version { found, known } => Refusal::ConfigVersion { found, known },
            ConfigError::Unreadable => Refusal::ConfigUnreadable,
        }
    }
}

impl Blob {
    /// Encode. Always fits: [`BLOB_BYTES`] is checked against the largest value by a test.
    pub fn seal(config: &Config) -> Self {
        let mut buf = [0; BLOB_BYTES];
        let n = postcard::to_slice(config, &mut buf).map_or(0, |b| b.len());
        Blob::from_bytes(&buf[..n]).unwrap_or_default()
    }

    /// Decode; the values are not yet validated.
    pub fn open(&self) -> Result<Config, ConfigError> {
        let (version, _) = postcard::take_from_bytes::<u16>(self.as_bytes())
            .map_err(|_| ConfigError::Unreadable)?;
        match version {
            VERSION => whole(self.as_bytes()),
            2 | 3 => whole::<config_v2::Config>(self.as_bytes()).map(Config::from),
            1 => whole::<config_v1::Config>(self.as_bytes()).map(Config::from),
            found => Err(ConfigError::Version {
                found,
                known: VERSION,
            }),
        }
    }
}

/// A value that takes all bytes.
fn whole<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ConfigError> {
    match postcard::take_from_bytes::<T>(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(ConfigError::Unreadable),
    }
}
