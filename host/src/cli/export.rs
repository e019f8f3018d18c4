//! `stribeck export`: a log as a table for other programs.

use std::path::PathBuf;

use indicatif::ProgressBar;
use serde_json::json;

use crate::cli::exit::Exit;
use crate::file;
use crate::log::export::{self, Kind};
use crate::log::text;

/// Write a log as CSV or Parquet
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck export run.mcap -o run.parquet
  350,000 rows of ticks to run.parquet
  $ stribeck export run.mcap --table parameters -o parameters.csv
  3,500 rows of parameters to parameters.csv

Tables: ticks (counts and angles of every tick), states (both observers), parameters, events. Numbers keep every bit.
Units (unit.<column>), configuration, source and notes are in Parquet's key-value metadata; a CSV is one line of names
and the rows, and has them beside it in NAME.csv-metadata.json.")]
pub struct Args {
    /// The log
    log: PathBuf,
    /// The file to write; .csv or .parquet
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    /// What to write
    #[arg(long, value_enum, default_value = "ticks")]
    table: Kind,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    for file in export::files(&args.output) {
        file::may_write(&file, args.force, &[&args.log])?;
    }
    let bar = ProgressBar::new(1000);
    let exported = export::export(&args.log, &args.output, args.table, &mut |part| {
        bar.set_position((part * 1000.0) as u64);
    })?;
    bar.finish_and_clear();
    let table = format!("{:?}", args.table).to_lowercase();
    if args.json {
        let damage: Vec<String> = exported.damage.iter().map(ToString::to_string).collect();
        println!(
            "{}",
            json!({
                "file": args.output,
                "table": table,
                "rows": exported.rows,
                "lost_ticks": exported.losses.lost_ticks,
                "damage": damage,
                "metadata": exported.recording,
            })
        );
    } else {
        println!(
            "{} rows of {table} to {}",
            text::grouped(exported.rows),
            args.output.display()
        );
    }
    for damage in &exported.damage {
        eprintln!("{damage}");
    }
    if exported.losses.lost_ticks > 0 {
        eprintln!(
            "{} ticks are missing in the log: their rows are absent",
            text::grouped(exported.losses.lost_ticks)
        );
    }
    Ok(Exit::of_log(&exported.losses, &exported.damage))
}
