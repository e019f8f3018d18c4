//! `stribeck`: see `stribeck --help`.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = stribeck::cli::Cli::parse();
    let exit = match cli.run() {
        Ok(exit) => exit,
        Err(error) => stribeck::cli::exit::report(&error),
    };
    exit.after_output().into()
}
