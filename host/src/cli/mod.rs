//! The command line: one file per subcommand, each with its arguments, its manual and `run`.
//!
//! To add a command: write `command/name.rs` with `pub struct Args` (clap) and
//! `pub fn run(args: Args) -> anyhow::Result<Exit>`, add it to `Command` and to [`Cli::run`].
//! Results go to standard output (JSON with `--json`), progress and notes to standard error.

use clap::{Parser, Subcommand};

use crate::exit::{self, Exit};

pub mod accounts;
pub mod capture;
pub mod completions;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod from;
pub mod identify;
pub mod info;
pub mod live;
pub mod paper;
pub mod replay;
pub mod report;
pub mod simulate;
pub mod study;

/// Identify the friction of a tilted Furuta pendulum: capture, replay bit for bit, identify, report.
#[derive(Debug, Parser)]
#[command(name = "stribeck", version, about, max_term_width = 100, after_help = exit::HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Capture(capture::Args),
    Replay(replay::Args),
    Report(report::Args),
    Identify(identify::Args),
    Paper(paper::Args),
    Study(study::Args),
    Info(info::Args),
    Export(export::Args),
    Live(live::Args),
    Simulate(simulate::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
}

impl Cli {
    pub fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            Command::Demo(args) => demo::run(args),
            Command::Capture(args) => capture::run(args),
            Command::Replay(args) => replay::run(args),
            Command::Report(args) => report::run(args),
            Command::Identify(args) => identify::run(args),
            Command::Paper(args) => paper::run(args),
            Command::Study(args) => study::run(args),
            Command::Info(args) => info::run(args),
            Command::Export(args) => export::run(args),
            Command::Live(args) => live::run(args),
            Command::Simulate(args) => simulate::run(args),
            Command::Config(args) => config::run(args),
            Command::Doctor(args) => doctor::run(args),
            Command::Completions(args) => completions::run(args),
        }
    }
}
