//! `stribeck drive`: arm the motor, keep it alive, record everything, and turn it off before anything else ends.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;
use stribeck_core::wire::{Drive, Mode, Shape, Signal};

use crate::cli::capture::{Display, stop_on_signal};
use crate::cli::exit::Exit;
use crate::cli::from::FromArgs;
use crate::cli::values::{self, MetadataArgs};
use crate::error::Error;
use crate::link::driver::Order;
use crate::log::capture::{self, End, Plan};
use crate::log::recorder::{Recorder, Wall};
use crate::log::text;

/// Drive the motor of a rig and record it (arms without asking; Ctrl-C turns the motor off first)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example, without hardware (driven.toml holds a plant and a [drive] section):
  $ stribeck drive --from sim --rig driven.toml --mode track --shape sine --amplitude 0.15 --low-hz 0.5 --seconds 10 -o driven.mcap

The device drives only if its configuration has a [drive] section; its limits are there, and --limit changes one for this session. The motor
is off when this program ends, however it ends: it is told so, and without heartbeats the device turns it off by itself. If the device
turned it off for a reason of its own, that is said, kept in the log, and the exit code is 8.")]
pub struct Args {
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    order: OrderArgs,
    /// The log to write (default: `drive-DATE-TIME.mcap`)
    #[arg(short, long, value_name = "LOG")]
    output: Option<PathBuf>,
    /// Overwrite the log if it exists
    #[arg(long)]
    force: bool,
    /// Turn the motor off after this much device time (default: until Ctrl-C)
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    seconds: Option<f64>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    about: MetadataArgs,
}

/// What the motor is to do.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Motor")]
pub struct OrderArgs {
    /// What control does
    #[arg(long, alias = "drive", value_enum)]
    pub mode: Option<ModeArg>,
    /// Course of the reference [rad] (track) or of the torque [N·m] (excite)
    #[arg(long, value_enum, default_value = "constant")]
    pub shape: ShapeArg,
    /// Its mean
    #[arg(long, default_value_t = 0.0, value_parser = values::finite, allow_hyphen_values = true)]
    pub offset: f64,
    /// Its amplitude
    #[arg(long, default_value_t = 0.0, value_parser = values::finite, allow_hyphen_values = true)]
    pub amplitude: f64,
    /// Lowest frequency [Hz]
    #[arg(long, default_value_t = 1.0, value_parser = values::finite)]
    pub low_hz: f64,
    /// Highest frequency of a chirp or multisine [Hz]
    #[arg(long, default_value_t = 3.0, value_parser = values::finite)]
    pub high_hz: f64,
    /// Length of a chirp [s]
    #[arg(long, default_value_t = 10.0, value_parser = values::seconds)]
    pub sweep: f64,
    /// Phases of a multisine
    #[arg(long, default_value_t = 1)]
    pub phases: u32,
    /// A limit for this session, e.g. duty=0.3, torque=0.05, angle=[1.0,0.0], speed=[10.0,60.0], heartbeat_ms=200
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModeArg {
    /// The signal is the torque: excitation for identification
    Excite,
    /// The driven joint follows the signal
    Track,
    /// Both joints are held at `drive.balance.at`
    Balance,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ShapeArg {
    Constant,
    Sine,
    Chirp,
    Multisine,
    Steps,
}

impl OrderArgs {
    /// `None` if no mode is given.
    pub fn order(&self) -> crate::error::Result<Option<Order>> {
        let Some(mode) = self.mode else {
            return Ok(None);
        };
        let signal = Signal {
            shape: match self.shape {
                ShapeArg::Constant => Shape::Constant,
                ShapeArg::Sine => Shape::Sine,
                ShapeArg::Chirp => Shape::Chirp,
                ShapeArg::Multisine => Shape::Multisine,
                ShapeArg::Steps => Shape::Steps,
            },
            offset: self.offset as f32,
            amplitude: self.amplitude as f32,
            low_hz: self.low_hz as f32,
            high_hz: self.high_hz as f32,
            seconds: self.sweep as f32,
            seed: self.phases,
        };
        let mode = match mode {
            ModeArg::Excite => Mode::Excite,
            ModeArg::Track => Mode::Track,
            ModeArg::Balance => Mode::Balance,
        };
        let mut overrides = Vec::new();
        for limit in &self.limit {
            let (name, value) = limit.split_once('=').ok_or_else(|| {
                Error::invalid(
                    format!("--limit {limit} is not of the form NAME=VALUE"),
                    "write e.g. --limit duty=0.3",
                )
            })?;
            overrides.push(match name.trim() {
                "torque" => format!("drive.motor.torque_limit={value}"),
                name => format!("drive.limits.{name}={value}"),
            });
        }
        Ok(Some(Order {
            drive: Drive { mode, signal },
            overrides,
        }))
    }
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let order = args.order.order()?.ok_or_else(|| {
        Error::invalid(
            "drive needs a mode".to_string(),
            "add --mode excite, track or balance",
        )
    })?;
    let output = args
        .output
        .unwrap_or_else(|| values::dated("drive", "mcap"));
    let metadata = args.about.metadata();
    let recorder = Recorder::create_with(&output, Wall::Now, args.force, metadata)?;
    let source = args.from.open()?;
    let plan = Plan {
        seconds: args.seconds,
        drive: Some(order),
        ..Plan::default()
    };
    let stop = stop_on_signal()?;
    let mut display = Display::new();
    let outcome = capture::run(source, recorder, plan, &stop, &mut |p| display.show(p))?;
    display.bar.finish_and_clear();
    match outcome.end {
        End::Asked => eprintln!("stopped by signal: the motor was turned off first"),
        End::Tripped(trip) => eprintln!("the device turned the motor off: {}", trip.text()),
        _ => {}
    }
    if args.json {
        let value = json!({ "log": output, "source": outcome.source, "summary": outcome.summary });
        println!("{value}");
    } else {
        print!(
            "{}",
            text::recording(&outcome.summary, &outcome.source, &output)
        );
    }
    Ok(Exit::of_summary(&outcome.summary))
}
