//! `stribeck-bench`: run firmware, or on-target tests, without a board.
//!
//! Exit codes: 0 = ran to its end; 1 = the program crashed, or tests failed; 2 = wrong arguments or files.

mod cmd;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "stribeck-bench",
    version,
    about = "The virtual bench: an emulated board, pendulum and USB host"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a firmware ELF on a simulated pendulum
    Run(cmd::run::Args),
    /// Run the tests in embedded-test ELF files, each after a reset
    Test(cmd::test::Args),
    /// Try configurations from standard input on a firmware ELF, one verdict each
    Configurations(cmd::configurations::Args),
    /// Build the firmware's on-target tests and run all of them
    Vhil(cmd::vhil::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => cmd::run::run(&args),
        Command::Test(args) => cmd::test::run(&args),
        Command::Configurations(args) => cmd::configurations::run(&args),
        Command::Vhil(args) => cmd::vhil::run(&args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::from(2)
        }
    }
}
