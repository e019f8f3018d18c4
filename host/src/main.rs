//! `stribeck`: see `stribeck --help`.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = stribeck::command::Cli::parse();
    match cli.run() {
        Ok(exit) => exit.into(),
        Err(error) => stribeck::error::report(&error).into(),
    }
}
