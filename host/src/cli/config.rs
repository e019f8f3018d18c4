//! `stribeck config`: the device's configuration as a file: show, check, change, push, pull.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use stribeck_core::config::{Blob, Config};
use stribeck_core::wire::{Ask, Hello, Reply};

use super::from::FromArgs;
use crate::ask;
use crate::config;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::session::{Happening, Session};
use crate::source::pump::{Packet, Pump};

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
    Validate { file: PathBuf },
    /// Change values in a file (created if absent) and check it
    Edit {
        file: PathBuf,
        /// A value to set; may be repeated
        #[arg(long, value_name = "PATH=VALUE", required = true)]
        set: Vec<String>,
    },
    /// Send a file to the device and put it in force
    Push {
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
            write(&file, &after)?;
            println!("{} is valid", file.display());
        }
        Action::Push { file, store, from } => {
            let config = config::load(&file)?;
            let mut device = Conversation::open(&from)?;
            let blob = Blob::seal(&config);
            let reply = device.order(Ask::SetConfig {
                store,
                config: blob,
            })?;
            if let Some(why) = reply.refusal {
                return Err(Error::refused(
                    format!("the device refused the configuration: {why}"),
                    "it keeps what it had; correct the file and push again",
                )
                .into());
            }
            println!(
                "in force from tick {}{}",
                reply.tick,
                if store { ", stored" } else { "" }
            );
        }
        Action::Pull { output, from } => {
            let hello = Conversation::open(&from)?.hello;
            let config = hello.config().map_err(|e| {
                Error::refused(
                    format!("the device's configuration cannot be read: {e}"),
                    "use the stribeck version of the firmware",
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

fn write(path: &Path, config: &Config) -> Result<()> {
    std::fs::write(path, config::to_toml(config)?).map_err(|e| Error::write(path, e))
}

/// From a TOML file or from the Hello of a log.
fn of_file(path: &Path) -> Result<Config> {
    if path.extension().is_some_and(|e| e == "mcap") {
        let overview = crate::survey::survey(path, false)?;
        return config::from_toml(&overview.accounts.config);
    }
    config::load(path)
}

/// Questions and answers with a device.
struct Conversation {
    pump: Pump,
    session: Session,
    hello: Hello,
}

const PATIENCE: Duration = Duration::from_secs(3);

impl Conversation {
    fn open(from: &FromArgs) -> Result<Self> {
        let mut pump = Pump::start(from.open()?);
        let mut session = Session::live(false);
        let mut greeted = None;
        let heard = listen(&mut pump, &mut session, Some(Ask::Hello), |h| {
            if let Happening::Hello { hello, .. } = h {
                greeted = Some((*hello).clone());
            }
            greeted.is_some()
        })?;
        match greeted {
            Some(hello) if heard => Ok(Conversation {
                pump,
                session,
                hello,
            }),
            _ => Err(Error::source(
                format!("no stribeck device answers on {}", pump.name()),
                "`stribeck doctor` tells why",
            )),
        }
    }

    fn order(&mut self, ask: Ask) -> Result<Reply> {
        let mut answer = None;
        listen(&mut self.pump, &mut self.session, Some(ask), |h| {
            if let Happening::Reply(reply) = h
                && reply.id == ORDER
            {
                answer = Some((*reply).clone());
            }
            answer.is_some()
        })?;
        answer.ok_or_else(|| {
            Error::source(
                "the device did not reply within 3 s",
                "`stribeck doctor` tells whether it is alive",
            )
        })
    }
}

/// Number of our commands.
const ORDER: u16 = 7;

/// Listen until `done` says so; false if it never did.
fn listen(
    pump: &mut Pump,
    session: &mut Session,
    ask: Option<Ask>,
    mut done: impl FnMut(&Happening<'_>) -> bool,
) -> Result<bool> {
    if let Some(ask) = ask.filter(|_| pump.takes_commands()) {
        pump.send(ask::frame(ORDER, ask))?;
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let mut finished = false;
        match pump.next(Duration::from_millis(20))? {
            Packet::Bytes(bytes, _) => session.bytes(&bytes, |h| {
                finished |= done(&h);
                Ok::<(), Error>(())
            })?,
            Packet::End | Packet::Lost(_) => return Ok(false),
            Packet::Quiet | Packet::Opened(_) => {}
        }
        if finished {
            return Ok(true);
        }
    }
    Ok(false)
}
