//! `stribeck info`: what is in a log.

use std::path::PathBuf;

use serde_json::json;

use super::accounts;
use crate::exit::Exit;
use crate::log::damage::Damage;
use crate::survey::{Overview, survey};

/// Tell what is in a log, what is missing, and whether it was verified
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck info run.mcap
  run.mcap: 35.00 s, 350,000 ticks at 10000 Hz, 1 segment(s), 2.42 MB, closed
  device twin, firmware stribeck 0.1.0, numerics 1, protocol 1
  compared 350,000 ticks, 35 snapshots: 0 differing bits in 0 blocks
  nothing lost
  tick 0 idle → armed (ordered by the host)
  tick 5395 armed → swinging (the links moved), started at 0.00°, 120.00°
  tick 330271 swinging → at rest (the links stopped)

A log that was killed or cut is read as far as it is whole; the exit code is then 3.")]
pub struct Args {
    /// The log
    log: PathBuf,
    /// Read the whole log instead of trusting its closing record
    #[arg(long)]
    scan: bool,
    /// Also print the device's configuration
    #[arg(long)]
    config: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let overview = survey(&args.log, args.scan)?;
    if args.json {
        let value = json!({
            "log": args.log,
            "file_bytes": overview.file_bytes,
            "closed": overview.closed,
            "damage": overview.damage.iter().map(Damage::to_string).collect::<Vec<_>>(),
            "accounts": overview.accounts,
        });
        println!("{value}");
    } else {
        print!("{}", text(&args, &overview));
    }
    let a = &overview.accounts;
    let damaged = !overview.damage.is_empty();
    Ok(match accounts::exit(&a.losses, &a.verdict) {
        Exit::Success if damaged => Exit::Loss,
        exit => exit,
    })
}

fn text(args: &Args, overview: &Overview) -> String {
    let a = &overview.accounts;
    let mut text = format!(
        "{}: {:.2} s, {} ticks at {} Hz, {} segment(s), {:.2} MB, {}\n",
        args.log.display(),
        a.seconds(),
        accounts::grouped(a.ticks),
        a.tick_hz,
        a.segments,
        overview.file_bytes as f64 / 1e6,
        if overview.closed {
            "closed"
        } else {
            "not closed"
        }
    );
    text += &format!(
        "device {}, firmware {}, numerics {}, protocol {}\n",
        a.board, a.build, a.numerics, a.protocol
    );
    if a.verdict.compared_ticks > 0 || a.not_verified.is_some() {
        text += &accounts::verdict(&a.verdict, a.not_verified.as_deref());
    } else {
        text += "not compared here: run `stribeck replay`\n";
    }
    for damage in &overview.damage {
        text += &format!("{damage}\n");
    }
    match accounts::losses(&a.losses) {
        none if none.is_empty() => text += "nothing lost\n",
        some => text += &some,
    }
    for event in &a.events {
        text += &format!("tick {} {}\n", event.tick, event.text);
    }
    if args.config {
        text += &format!("\n{}", a.config);
    }
    text
}
