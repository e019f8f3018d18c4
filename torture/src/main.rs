//! `torture`: everything that may go wrong, tried many times.
//!
//! ```text
//! cargo run --release -p stribeck-torture -- torture                  a short form, part of ./test
//! cargo run --release -p stribeck-torture -- torture --full           the counts of the scoreboard
//! cargo run --release -p stribeck-torture -- torture --rows logs,devices --seconds 60 --seed 7
//! ```
//!
//! Each row feeds hostile input to one boundary of the product and counts panics, hangs, and *wrong with exit 0*: a result
//! that differs from the truth although the program said all was well. Every column must be zero; the exit code is 1 if one is not,
//! and the first findings are printed with what reproduces them.
//!
//! The commands under test run as processes of their own: this program starts itself as `stribeck` (`torture as-stribeck …`).

mod child;
mod commands;
mod configs;
mod decoder;
mod devices;
mod disk;
mod elf;
mod frames;
mod interrupted;
mod logs;
mod parquet;
mod port;
mod score;
mod session;
mod tables;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};

use score::{Effort, Row};

#[derive(Parser)]
#[command(
    name = "stribeck-torture",
    about = "Everything that may go wrong, tried many times"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the rows and print the scoreboard
    Torture(Args),
    /// The `stribeck` program, for the rows that test commands
    #[command(hide = true, disable_help_flag = true)]
    AsStribeck {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

#[derive(clap::Args)]
struct Args {
    /// Only these rows: decoder, session, configurations, elf, tables, parquet, logs, devices, kills, replugs, full-disk, disk
    #[arg(long, value_delimiter = ',')]
    rows: Vec<String>,
    /// The counts of the scoreboard (10⁸ frames, 1,000 logs, every device × every command …) instead of a short form
    #[arg(long)]
    full: bool,
    /// Go on with fresh inputs until this much time has passed, per row
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Another seed gives other inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the scoreboard as JSON
    #[arg(long)]
    json: bool,
}

/// A row of the scoreboard: its name and what runs it.
type Run = fn(&Effort) -> anyhow::Result<Row>;

const ROWS: [(&str, Run); 12] = [
    ("decoder", decoder::run),
    ("session", session::run),
    ("configurations", configs::run),
    ("elf", elf::run),
    ("tables", tables::run),
    ("parquet", parquet::run),
    ("logs", logs::run),
    ("devices", devices::run),
    ("kills", interrupted::kills),
    ("replugs", interrupted::replugs),
    ("full-disk", interrupted::full_disk),
    ("disk", disk::run),
];

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::AsStribeck { args } => {
            let cli =
                stribeck::cli::Cli::parse_from(std::iter::once("stribeck".into()).chain(args));
            match cli.run() {
                Ok(exit) => exit.into(),
                Err(error) => stribeck::cli::exit::report(&error).into(),
            }
        }
        Command::Torture(args) => match torture(&args) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(2)
            }
        },
    }
}

/// Whether every column of every row is zero.
fn torture(args: &Args) -> anyhow::Result<bool> {
    for name in &args.rows {
        anyhow::ensure!(
            ROWS.iter().any(|(row, _)| row == name),
            "no row is called {name}; rows: {}",
            ROWS.map(|(row, _)| row).join(", ")
        );
    }
    let forgotten = commands::forgotten();
    if !forgotten.is_empty() {
        eprintln!(
            "in no list of torture/src/commands.rs, so not tortured: {}",
            forgotten.join(", ")
        );
    }
    let mut rows = Vec::new();
    for (name, run) in ROWS {
        if !args.rows.is_empty() && !args.rows.iter().any(|row| row == name) {
            continue;
        }
        let effort = Effort {
            full: args.full,
            until: args
                .seconds
                .map(|s| Instant::now() + Duration::from_secs_f64(s)),
            seed: args.seed,
        };
        eprintln!("{name} …");
        let row = run(&effort)?;
        for finding in &row.findings {
            eprintln!("  {finding}");
        }
        rows.push((name, row));
    }
    if args.json {
        println!("{}", score::json(&rows));
    } else {
        print!("{}", score::table(&rows));
    }
    Ok(rows.iter().all(|(_, row)| row.is_clean()))
}
