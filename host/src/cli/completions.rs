//! `stribeck completions`: the shell completion script.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::command::Cli;
use crate::exit::Exit;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck completions bash > ~/.local/share/bash-completion/completions/stribeck")]
pub struct Args {
    /// The shell to complete in
    shell: Shell,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    clap_complete::generate(
        args.shell,
        &mut Cli::command(),
        "stribeck",
        &mut io::stdout(),
    );
    Ok(Exit::Success)
}
