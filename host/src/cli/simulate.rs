//! `stribeck simulate`: a simulated pendulum through the device's own code into a log, as fast as the machine allows.

use std::path::PathBuf;

use serde_json::json;
use stribeck_core::wire::Ask;

use crate::cli::capture::Display;
use crate::cli::drive::OrderArgs;
use crate::cli::exit::Exit;
use crate::cli::from::SimArgs;
use crate::cli::values::{self, MetadataArgs};
use crate::config;
use crate::error::Error;
use crate::link::twin::Twin;
use crate::log::recorder::{Recorder, Wall};
use crate::log::{simulate, text};

/// Simulate a pendulum and write the same log a board would
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck simulate --seconds 10 --joint1 mu_d=4e-4 --noise 2 --fault drop@5:3 -o run.mcap
  recorded 9.97 s (99,700 ticks) from sim (native twin) to run.mcap
  0.68 MB in the log (4.12 MB/min), 40.6 kB/s on the wire, 1 segment(s)
  compared 89,800 ticks, 8 snapshots: 0 differing bits in 0 blocks
  9,900 ticks could not be compared: no snapshot to start from before them
  lost 300 ticks in 3 blocks:
    ticks 49899 to 50198: 3 blocks

The same options and seed give the same file, byte for byte. A scenario file holds all of them:
  noise_counts = 2.0
  start = [0.0, 2.0943951]
  [[friction]]
  mu_d = 5e-4
  mu_s = 6e-4
  mu_v = 2.5e-4
  vt = 5e-3
  fnt = 1e-2
  [[friction]]
  …")]
pub struct Args {
    /// Length of the run
    #[arg(long, default_value_t = 35.0, value_parser = values::seconds)]
    seconds: f64,
    /// The log to write (default: `run-DATE-TIME.mcap`)
    #[arg(short, long, value_name = "LOG")]
    output: Option<PathBuf>,
    /// Overwrite the log if it exists
    #[arg(long)]
    force: bool,
    /// Do not arm: the observers stay idle
    #[arg(long)]
    idle: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    // Last: their headings hold for what follows.
    #[command(flatten)]
    sim: SimArgs,
    #[command(flatten)]
    order: OrderArgs,
    #[command(flatten)]
    about: MetadataArgs,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let (first, mut config) = (args.order.order()?, args.sim.config()?);
    let first = match first {
        Some(order) => {
            config = config::with_overrides(&config, &order.overrides)?;
            if config.drive.is_none() {
                return Err(Error::invalid(
                    "--mode drives a motor, and the rig is passive".to_string(),
                    "give a --rig with a [drive] section",
                )
                .into());
            }
            Some(Ask::Drive(order.drive))
        }
        None => (!args.idle).then_some(Ask::Start),
    };
    let scenario = args.sim.scenario()?;
    let mut twin = Twin::new(&config, &scenario, Some(args.seconds), false);
    if matches!(first, Some(Ask::Drive(_))) {
        twin = twin.with_heartbeats();
    }
    let output = args.output.unwrap_or_else(|| values::dated("run", "mcap"));
    let metadata = args.about.metadata();
    let recorder = Recorder::create_with(&output, Wall::Epoch, args.force, metadata)?;
    let mut display = Display::new();
    let outcome = simulate::record(twin, recorder, first, &mut |p| display.show(p))?;
    display.bar.finish_and_clear();
    if args.json {
        println!("{}", json!({ "log": output, "summary": outcome.summary }));
    } else {
        print!(
            "{}",
            text::recording(&outcome.summary, &outcome.source, &output)
        );
    }
    Ok(Exit::of_summary(&outcome.summary))
}
