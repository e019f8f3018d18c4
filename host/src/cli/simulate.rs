//! `stribeck simulate`: a simulated pendulum through the device's own code into a log, as fast as the machine allows.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde_json::json;
use stribeck_core::wire::Ask;

use super::accounts;
use super::capture::Display;
use super::from::SimArgs;
use crate::ask;
use crate::capture::{self, Plan};
use crate::exit::Exit;
use crate::recorder::{Recorder, Wall};
use crate::source::Source;

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
    #[arg(long, default_value_t = 35.0)]
    seconds: f64,
    /// The log to write
    #[arg(short, long, default_value = "run.mcap", value_name = "LOG")]
    output: PathBuf,
    #[command(flatten)]
    sim: SimArgs,
    /// Do not arm: the observers stay idle
    #[arg(long)]
    idle: bool,
    /// Print the accounts as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let mut twin = args.sim.twin(Some(args.seconds), false)?;
    if !args.idle {
        twin.write(&ask::frame(1, Ask::Start))?;
    }
    let recorder = Recorder::create(&args.output, Wall::Epoch)?;
    let mut display = Display::new();
    let never = AtomicBool::new(false);
    let outcome = capture::run(
        Box::new(twin),
        recorder,
        Plan::default(),
        &never,
        &mut |p| display.show(p),
    )?;
    display.bar.finish_and_clear();
    if args.json {
        println!(
            "{}",
            json!({ "log": args.output, "accounts": outcome.accounts })
        );
    } else {
        print!(
            "{}",
            accounts::recording(&outcome.accounts, &outcome.source, &args.output)
        );
    }
    Ok(accounts::exit(
        &outcome.accounts.losses,
        &outcome.accounts.verdict,
    ))
}
