//! `stribeck info`: what is in a log.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::exit::Exit;
use crate::link::wording;
use crate::log::contents::{self, Contents};
use crate::log::damage::Damage;
use crate::log::text as words;

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
    /// Read the whole log even if it is large (up to 64 MB this is always done)
    #[arg(long)]
    scan: bool,
    /// Also print the device's configuration
    #[arg(long)]
    config: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Logs up to this size are read completely: damage anywhere in them is told [bytes], about 15 minutes.
const SCAN_UP_TO: u64 = 64 << 20;

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let size = std::fs::metadata(&args.log).map_or(0, |m| m.len());
    let contents = contents::read(&args.log, args.scan || size <= SCAN_UP_TO)?;
    if args.json {
        let value = json!({
            "log": args.log,
            "file_bytes": contents.file_bytes,
            "closed": contents.closed,
            "scanned": contents.scanned,
            "damage": contents.damage.iter().map(Damage::to_string).collect::<Vec<_>>(),
            "summary": contents.summary,
        });
        println!("{value}");
    } else {
        print!("{}", text(&args, &contents));
    }
    let s = &contents.summary;
    Ok(match Exit::of_log(&s.losses, &contents.damage) {
        Exit::Success => Exit::of_summary(s),
        damaged => match s.verdict.differing_blocks {
            0 => damaged,
            _ => Exit::Differs,
        },
    })
}

fn text(args: &Args, contents: &Contents) -> String {
    let a = &contents.summary;
    let mut text = format!(
        "{}: {:.2} s, {} ticks at {} Hz, {} segment(s), {:.2} MB, {}\n",
        args.log.display(),
        a.seconds(),
        words::grouped(a.ticks),
        a.tick_hz,
        a.segments,
        contents.file_bytes as f64 / 1e6,
        if contents.closed {
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
        text += &words::verdict(&a.verdict, a.not_verified.as_deref());
    } else {
        text += "not compared here: run `stribeck replay`\n";
    }
    for damage in &contents.damage {
        text += &format!("{damage}\n");
    }
    match words::losses(&a.losses) {
        none if none.is_empty() => text += "nothing lost\n",
        some => text += &some,
    }
    for problem in &a.problems {
        text += &format!("{problem}\n");
    }
    if !a.last_fault.is_empty() {
        text += &format!(
            "the device's previous program left: {}\n",
            wording::printable(&a.last_fault)
        );
    }
    for (name, value) in a.metadata.fields() {
        text += &format!("{name}: {}\n", wording::printable(&value));
    }
    if !contents.scanned {
        text += "not scanned: this is what the closing record says (--scan reads everything)\n";
    }
    for event in &a.events {
        text += &format!("tick {} {}\n", event.tick, event.text);
    }
    let more = a.events_total.saturating_sub(a.events.len() as u64);
    if more > 0 {
        text += &format!("… and {} more events in the log\n", words::grouped(more));
    }
    if args.config {
        text += &format!("\n{}", a.config);
    }
    text
}
