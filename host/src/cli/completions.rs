//! `stribeck completions`: the shell completion script.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::cli::exit::Exit;

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
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "stribeck", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(Exit::Success)
}
