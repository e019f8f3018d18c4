//! `stribeck config`: the device's configuration as a file: show, check, change, push, pull.

use std::path::{Path, PathBuf};

use serde_json::json;
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::wire::Ask;

use crate::cli::exit::Exit;
use crate::cli::from::FromArgs;
use crate::config;
use crate::error::{Error, Result};
use crate::file;
use crate::link::client::Client;
use crate::link::wording;

/// Show, check, change, push or pull a configuration
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck config show > rig.toml          # every name with its default
  $ stribeck config edit rig.toml --set plant.Furuta.tilt=0.5236 --set run.auto_arm=true
  rig.toml is valid
  $ stribeck config push rig.toml --store    # put in force and keep over a reset
  in force from tick 81204, stored

A file names only what differs from the default; unknown names and values out of range are refused with their
path and the allowed range, and the device keeps what it had.")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print a complete configuration: the default, a file's, or a log's
    Show {
        /// TOML file or log; absent: the default
        file: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a file: every name and every value
    Validate {
        /// TOML file
        file: PathBuf,
    },
    /// Change values in a file (created if absent) and check it
    Edit {
        /// TOML file; its comments stay
        file: PathBuf,
        /// A value to set; may be repeated
        #[arg(long, value_name = "PATH=VALUE", required = true)]
        set: Vec<String>,
    },
    /// Send a file to the device and put it in force
    Push {
        /// TOML file
        file: PathBuf,
        /// Also keep it over a reset
        #[arg(long)]
        store: bool,
        #[command(flatten)]
        from: FromArgs,
    },
    /// Read the configuration in force from the device
    Pull {
        /// File to write; absent: standard output
        #[arg(short, long)]
        output: Option<PathBuf>,
        /// Overwrite the file if it exists
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        from: FromArgs,
    },
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Show { file, json } => {
            let config = match file {
                None => Config::default(),
                Some(path) => of_file(&path)?,
            };
            if json {
                println!("{}", json!(config));
            } else {
                print!("{}", config::to_toml(&config)?);
            }
        }
        Action::Validate { file } => {
            config::load(&file)?;
            println!("{} is valid", file.display());
        }
        Action::Edit { file, set } => {
            let before = if file.exists() {
                config::load(&file)?
            } else {
                Config::default()
            };
            let after = config::with_overrides(&before, &set)?;
            let text = match file.exists() {
                true => edited(&file, &after, &set)?,
                false => config::to_toml(&after)?,
            };
            file::replace(&file, text)?;
            println!("{} is valid", file.display());
        }
        Action::Push { file, store, from } => {
            let config = config::load(&file)?;
            let mut device = Client::connect(from.open()?)?;
            device.same_protocol()?;
            let blob = Blob::seal(&config);
            let reply = device.request(Ask::SetConfig {
                store,
                config: blob.clone(),
            })?;
            if let Some(why) = reply.refusal {
                let why = wording::printable(&why.to_string());
                return Err(Error::refused(
                    format!("the device refused the configuration: {why}"),
                    "it keeps what it had; correct the file and push again",
                )
                .into());
            }
            device.request(Ask::Hello)?;
            if device.hello().config != blob {
                return Err(Error::refused(
                    "the device accepted the configuration, and its Hello still tells another",
                    "reset the board and push again; do not trust what it records until then",
                )
                .into());
            }
            println!(
                "in force from tick {}{}",
                reply.tick,
                if store { ", stored" } else { "" }
            );
        }
        Action::Pull {
            output,
            force,
            from,
        } => {
            if let Some(path) = &output {
                file::may_write(path, force, &[])?;
            }
            let device = Client::connect(from.open()?)?;
            device.same_protocol()?;
            let config = device.hello().config().map_err(|e| {
                Error::refused(
                    format!("the device's configuration cannot be read: {e}"),
                    "use the stribeck version of the firmware",
                )
            })?;
            config.validate().map_err(|e| {
                Error::refused(
                    format!("the device's configuration is not valid: {e}"),
                    "push a valid one: stribeck config push rig.toml",
                )
            })?;
            match output {
                None => print!("{}", config::to_toml(&config)?),
                Some(path) => {
                    write(&path, &config)?;
                    println!("{} written", path.display());
                }
            }
        }
    }
    Ok(Exit::Success)
}

/// The file's text with these values set, its comments kept; a file in which they cannot be set alone is written anew.
fn edited(path: &Path, after: &Config, set: &[String]) -> Result<String> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
    let complete = config::to_toml(after)?;
    match config::edit::with_assignments(&text, &complete, set) {
        Ok(text) if config::from_toml(&text).is_ok_and(|read| read == *after) => Ok(text),
        _ => {
            eprintln!("{} is written anew, without its comments", path.display());
            Ok(complete)
        }
    }
}

fn write(path: &Path, config: &Config) -> Result<()> {
    file::replace(path, config::to_toml(config)?)
}

/// From a TOML file or from the Hello of a log.
fn of_file(path: &Path) -> Result<Config> {
    if path.extension().is_some_and(|e| e == "mcap") {
        let contents = crate::log::contents::read(path, false)?;
        return config::from_toml(&contents.summary.config);
    }
    config::load(path)
}
