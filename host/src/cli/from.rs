//! `--from` and the options of the simulated bench, shared by every command that listens to a device.

use std::path::PathBuf;

use stribeck_core::device::config::Config;
use stribeck_core::model::joint::Joint;

use crate::cli::values;
use crate::config;
use crate::error::{Error, Result};
use crate::link::port::Port;
use crate::link::scenario::{Fault, Scenario, set_friction};
use crate::link::source::{self, Source};
use crate::link::twin::Twin;
use crate::log::source::LogSource;

#[derive(Debug, clap::Args)]
pub struct FromArgs {
    /// Where frames come from: `usb` (the board, found by its USB identity), a port path, `sim` (native twin, no hardware) or a log
    #[arg(long, default_value = "usb", value_name = "usb|PORT|sim|LOG")]
    pub from: String,
    #[command(flatten)]
    pub sim: SimArgs,
}

/// The simulated bench.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Simulated bench (--from sim, simulate)")]
pub struct SimArgs {
    /// Configuration of the device, TOML (default: the rig of paper 000, tilted 45°)
    #[arg(long, value_name = "TOML")]
    pub rig: Option<PathBuf>,
    /// Complete scenario, TOML: plant, friction, start, noise, faults; the options below override it
    #[arg(long, value_name = "TOML")]
    pub scenario: Option<PathBuf>,
    /// True friction of joint 0 (the arm), e.g. mu_d=4e-4,mu_v=2e-4 (also mu_s, vt, fnt, drag, delta_d, delta_v)
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    pub joint0: Vec<String>,
    /// True friction of joint 1 (the pendulum)
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    pub joint1: Vec<String>,
    /// Where it is let go: degrees, or metres of a joint that slides (default: 120° from hanging)
    #[arg(
        long,
        value_name = "JOINT0,JOINT1",
        value_delimiter = ',',
        value_parser = values::finite,
        allow_hyphen_values = true
    )]
    pub start: Vec<f64>,
    /// White noise of both encoders [counts RMS]
    #[arg(long, value_name = "COUNTS")]
    pub noise: Option<f64>,
    /// Seed of the noise and number of the boot
    #[arg(long)]
    pub seed: Option<u64>,
    /// How long the links are held before release, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub hold: Option<f64>,
    /// Something that goes wrong: jump, stuck, reversed, overrun, drop, duplicate, reorder, corrupt
    #[arg(long, value_name = "KIND@SECONDS[:N[:JOINT]]")]
    pub fault: Vec<Fault>,
}

impl SimArgs {
    /// Configuration of the simulated device.
    pub fn config(&self) -> Result<Config> {
        match &self.rig {
            Some(path) => config::load(path),
            None => Ok(Config::default()),
        }
    }

    pub fn scenario(&self) -> Result<Scenario> {
        let plant = self.config()?.plant;
        let mut scenario = match &self.scenario {
            None => Scenario::of(&plant),
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
                Scenario::from_toml(&text, &plant).map_err(|e| {
                    Error::invalid(
                        format!("{}: {}", path.display(), e.to_string().trim()),
                        "see `stribeck simulate --help` for the names",
                    )
                })?
            }
        };
        for (joint, values) in [&self.joint0, &self.joint1].into_iter().enumerate() {
            for value in values {
                set_friction(&mut scenario.friction[joint], value)?;
            }
        }
        match self.start[..] {
            [] => {}
            [first, second] => {
                let [a, b] = scenario.plant.unwrap_or(plant).joints();
                let place = |joint, x: f64| match joint {
                    Joint::Revolute => x.to_radians(),
                    Joint::Prismatic => x,
                };
                scenario.start = [place(a, first), place(b, second)];
            }
            _ => {
                return Err(Error::invalid(
                    format!("--start has {} values", self.start.len()),
                    "write two, in degrees (a sliding joint: in metres): --start 10,120",
                ));
            }
        }
        scenario.noise_counts = self.noise.unwrap_or(scenario.noise_counts);
        scenario.seed = self.seed.unwrap_or(scenario.seed);
        scenario.hold_s = self.hold.unwrap_or(scenario.hold_s);
        scenario.faults.extend(&self.fault);
        scenario.validate()?;
        Ok(scenario)
    }

    /// The twin.
    pub fn twin(&self, seconds: Option<f64>, paced: bool) -> Result<Twin> {
        Ok(Twin::new(
            &self.config()?,
            &self.scenario()?,
            seconds,
            paced,
        ))
    }
}

impl FromArgs {
    /// Open the source for someone who watches: a simulated pendulum is held until the device is armed.
    pub fn open_attended(&self) -> Result<Box<dyn Source>> {
        match self.from.parse()? {
            source::From::Sim => {
                let start = self.sim.scenario()?.start;
                Ok(Box::new(self.sim.twin(None, true)?.with_operator(start)))
            }
            _ => self.open(),
        }
    }

    /// Open the source; a simulated one keeps real time.
    pub fn open(&self) -> Result<Box<dyn Source>> {
        Ok(match self.from.parse()? {
            source::From::Usb => Box::new(Port::usb()?),
            source::From::Port(path) => Box::new(Port::path(&path)?),
            source::From::Sim => Box::new(self.sim.twin(None, true)?),
            source::From::File(path) => Box::new(LogSource::open(&path)?),
        })
    }
}
