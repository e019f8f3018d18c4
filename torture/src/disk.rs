//! A disk that fills up at any write, a reader of messages that goes away, and kills: nothing that was recorded is lost silently.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};
use stribeck_core::model::sim::Rng;

use crate::child::{self, Output};
use crate::commands::WRITE_A_FILE;
use crate::score::{Effort, Ending, Row};

/// Some pendulums by a quick method.
const CAMPAIGN: &str = "output = \"results\"
[simulation]
bench = \"one-joint\"
seeds = 4
[identify]
methods = [\"energy\"]
";

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("campaign.toml"), CAMPAIGN)?;
    let made: [&[&str]; 2] = [
        &["simulate", "--seconds", "1", "-o", "sound.mcap"],
        &["campaign", "run", "campaign.toml"],
    ];
    for args in made {
        let output = child::run(args, folder.path())?;
        anyhow::ensure!(
            output.code == Some(0),
            "{args:?} fails: {}",
            output.last_words()
        );
    }
    let mut writers = Vec::new();
    for (args, file) in WRITE_A_FILE {
        let output = child::run(args, folder.path())?;
        anyhow::ensure!(
            output.code == Some(0),
            "{args:?} does not even work with room: {}",
            output.last_words()
        );
        let size = fs::metadata(folder.path().join(file))?.len();
        writers.push((*args, *file, size));
        fs::remove_file(folder.path().join(file))?;
    }
    while effort.wants(row.inputs, 28, 350) {
        let (args, file, size) = writers[row.inputs as usize % writers.len()];
        // The first byte, the last one, and any between.
        let room = match row.inputs as usize / writers.len() {
            0 => 0,
            1 => size - 1,
            _ => rng.bits() % size.max(2),
        };
        let output = with_room(args, folder.path(), room)?;
        let ending = match output.disaster() {
            Some(ending) => ending,
            None if output.code == Some(0) => Ending::SilentlyWrong,
            None => Ending::Good,
        };
        row.count(ending, || {
            format!(
                "{} with room for {room} of {size} bytes: {}",
                args[0],
                output.last_words()
            )
        });
        let _ = fs::remove_file(folder.path().join(file));
    }
    let full = streams(&mut row, folder.path())?;
    row.note = format!(
        "files larger than the disk, and {full} commands with closed or full standard streams"
    );
    Ok(row)
}

/// The command with room for so many bytes in any file it writes.
fn with_room(args: &[&str], folder: &Path, room: u64) -> anyhow::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("as-stribeck")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // SAFETY: between fork and exec only these two system calls are made; both are async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            // The write fails with EFBIG, as it fails with ENOSPC on a full disk, instead of a signal.
            signal(Signal::SIGXFSZ, SigHandler::SigIgn)?;
            setrlimit(Resource::RLIMIT_FSIZE, room, room)?;
            Ok(())
        });
    }
    child::finish(command.spawn()?, || {})
}

/// Every command with its standard streams closed or full; returns how many were tried.
fn streams(row: &mut Row, folder: &Path) -> anyhow::Result<u64> {
    let commands: [&[&str]; 8] = [
        &["info", "sound.mcap"],
        &["replay", "sound.mcap"],
        &["identify", "sound.mcap", "--method", "ekf"],
        &["export", "sound.mcap", "--force", "-o", "streams.csv"],
        &["report", "sound.mcap", "--force", "-o", "streams.html"],
        &[
            "simulate",
            "--seconds",
            "0.5",
            "--force",
            "-o",
            "streams.mcap",
        ],
        &["config", "show"],
        &["doctor", "--port", "nowhere"],
    ];
    let mut tried = 0;
    for args in commands {
        for (out, err) in [(false, true), (true, false), (true, true)] {
            let full = || -> anyhow::Result<Stdio> {
                Ok(fs::File::options().write(true).open("/dev/full")?.into())
            };
            let mut command = Command::new(std::env::current_exe()?);
            command
                .arg("as-stribeck")
                .args(args)
                .current_dir(folder)
                .stdin(Stdio::null());
            command.stdout(if out { full()? } else { Stdio::piped() });
            command.stderr(if err { full()? } else { Stdio::piped() });
            let output = child::finish(command.spawn()?, || {})?;
            for file in ["streams.csv", "streams.html", "streams.mcap"] {
                let _ = fs::remove_file(folder.join(file));
            }
            tried += 1;
            let ending = output.disaster().unwrap_or(Ending::Good);
            row.count(ending, || {
                format!(
                    "{args:?}, stdout full {out}, stderr full {err}: {}",
                    output.last_words()
                )
            });
        }
    }
    Ok(tried)
}
