//! `stribeck note`: say more about a recording afterwards.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::values::MetadataArgs;
use crate::error::Error;
use crate::link::wording;
use crate::log::contents;
use crate::log::copy;

/// Add a remark, the operator, the rig or the temperature to a log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck note run.mcap --note \"new bearing\" --temperature 21.5
  temperature_c: 21.5
  note.000: new bearing

The log is written again beside itself and takes the old one's place when it is whole; every message stays as it was.
Without an option what has been said is printed. A damaged log is refused: recover it first.")]
pub struct Args {
    /// The log
    log: PathBuf,
    /// Print what is said about the log as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    about: MetadataArgs,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let metadata = if args.about.is_empty() {
        contents::read(&args.log, false)?.summary.metadata
    } else {
        let more = args.about.metadata();
        let before = contents::read(&args.log, true)?.summary.ticks;
        let copied = copy::copy(&args.log, &args.log, true, |said| {
            said.notes.extend(more.notes);
            for (old, new) in [
                (&mut said.operator, more.operator),
                (&mut said.rig, more.rig),
            ] {
                if !new.is_empty() {
                    *old = new;
                }
            }
            said.temperature_c = more.temperature_c.or(said.temperature_c);
        })?;
        if copied.summary.ticks != before {
            return Err(Error::invalid(
                format!("{} changed while it was written again", args.log.display()),
                "is a capture still writing to it? add the note when it has ended",
            )
            .into());
        }
        copied.summary.metadata
    };
    if args.json {
        println!("{}", json!({ "log": args.log, "metadata": metadata }));
    } else {
        for (name, value) in metadata.fields() {
            println!("{name}: {}", wording::printable(&value));
        }
    }
    Ok(Exit::Success)
}
