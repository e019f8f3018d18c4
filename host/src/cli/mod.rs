//! The command line: one file per subcommand, each with its arguments, its manual and `run`.
//!
//! To add a command: write `cli/name.rs` with `pub struct Args` (clap) and
//! `pub fn run(args: Args) -> anyhow::Result<Exit>`, add it to `Command` and to [`Cli::run`].
//! Results go to standard output (JSON with `--json`), progress and notes to standard error.

use clap::{Parser, Subcommand};

use crate::cli::exit::Exit;

// First: its macros stand in for the standard ones in all that follow.
#[macro_use]
pub(crate) mod output;

pub(crate) mod bond;
#[cfg(feature = "campaign")]
pub(crate) mod campaign;
pub(crate) mod capture;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod derive;
pub(crate) mod doctor;
pub(crate) mod drive;
pub mod exit;
pub(crate) mod export;
pub(crate) mod from;
pub(crate) mod identify;
pub(crate) mod info;
pub mod live;
pub(crate) mod note;
pub(crate) mod paper;
pub(crate) mod recover;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod simulate;
pub(crate) mod study;
pub(crate) mod values;

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
    Drive(drive::Args),
    Replay(replay::Args),
    Report(report::Args),
    Identify(identify::Args),
    Derive(derive::Args),
    Paper(paper::Args),
    Study(study::Args),
    #[cfg(feature = "campaign")]
    Campaign(campaign::Args),
    Info(info::Args),
    Note(note::Args),
    Recover(recover::Args),
    Export(export::Args),
    Bond(bond::Args),
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
            Command::Drive(args) => drive::run(args),
            Command::Replay(args) => replay::run(args),
            Command::Report(args) => report::run(args),
            Command::Identify(args) => identify::run(args),
            Command::Derive(args) => derive::run(args),
            Command::Paper(args) => paper::run(args),
            Command::Study(args) => study::run(args),
            #[cfg(feature = "campaign")]
            Command::Campaign(args) => campaign::run(args),
            Command::Info(args) => info::run(args),
            Command::Note(args) => note::run(args),
            Command::Recover(args) => recover::run(args),
            Command::Export(args) => export::run(args),
            Command::Bond(args) => bond::run(args),
            Command::Live(args) => live::run(args),
            Command::Simulate(args) => simulate::run(args),
            Command::Config(args) => config::run(args),
            Command::Doctor(args) => doctor::run(args),
            Command::Completions(args) => completions::run(args),
        }
    }
}
