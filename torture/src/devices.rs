//! Hostile devices on a serial port × every command that opens one: no panic, no hang, and exit 0 only where all is well.
//!
//! A script sees what an honest device would send and what the host asked, and decides what really goes over the wire.

mod scripts;

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use stribeck_core::device::config::Config;
use stribeck_core::device::{Device, Identity};
use stribeck_core::model::sim::Simulation;
use stribeck_core::wire::{Command, ConfigOrigin, Decoder, Frame, MAX_FRAME};

use crate::child;
use crate::commands::{OPEN_A_PORT, Opener};
use crate::port::Port;
use crate::score::{Effort, Ending, Row};
use scripts::{Harm, SCRIPTS, Script};

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    // Every eighth pair in the short form: all commands and every other script are met.
    let step = if effort.full || effort.until.is_some() {
        1
    } else {
        8
    };
    let pairs: Vec<_> = SCRIPTS
        .iter()
        .flat_map(|script| OPEN_A_PORT.iter().map(move |command| (script, command)))
        .step_by(step)
        .collect();
    let row = Mutex::new(Row::default());
    let next = Mutex::new(pairs.iter());
    // They wait most of the time.
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| -> anyhow::Result<()> {
                    loop {
                        let Some((script, command)) = next.lock().ok().and_then(|mut n| n.next())
                        else {
                            return Ok(());
                        };
                        let (ending, words) = meet(script, command)?;
                        if let Ok(mut row) = row.lock() {
                            row.count(ending, || {
                                format!(
                                    "{} with a device that {}: {words}",
                                    command.name, script.name
                                )
                            });
                        }
                    }
                })
            })
            .collect();
        for worker in workers {
            worker
                .join()
                .unwrap_or_else(|_| anyhow::bail!("a thread of this program panicked"))?;
        }
        anyhow::Ok(())
    })?;
    let mut row = row.into_inner().unwrap_or_default();
    row.note = format!(
        "{} hostile devices × {} commands that open a port",
        SCRIPTS.len(),
        OPEN_A_PORT.len()
    );
    Ok(row)
}

fn meet(script: &Script, command: &Opener) -> anyhow::Result<(Ending, String)> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("rig.toml"), "")?;
    let mut stage = Stage::open(script)?;
    let port = stage.path().to_string_lossy().into_owned();
    let args: Vec<&str> = command
        .args
        .iter()
        .map(|a| if *a == "PORT" { port.as_str() } else { a })
        .collect();
    let output = match command.screen {
        true => child::run_on_screen(&args, folder.path(), || stage.act())?,
        false => {
            let child = child::start(&args, folder.path())?;
            child::finish(child, || stage.act())?
        }
    };
    let says = |text: &[u8]| output.stdout.windows(text.len()).any(|w| w == text);
    let ending = match output.disaster() {
        Some(ending) => ending,
        // What a device says is shown, never executed by the terminal.
        None if command.screen && says(b"\x1b]0;owned") => Ending::SilentlyWrong,
        None if command.screen => Ending::Good,
        None if output.code == Some(0) && script.harm.hurts(command) => Ending::SilentlyWrong,
        None if output.stderr.contains('\u{1b}') || says(b"\x1b") => Ending::SilentlyWrong,
        None => Ending::Good,
    };
    Ok((ending, output.last_words()))
}

impl Harm {
    fn hurts(self, command: &Opener) -> bool {
        match self {
            Harm::None => false,
            Harm::Stream => command.records,
            Harm::Talk => command.orders,
            Harm::Everything => true,
            Harm::Pull => command.trusts,
            Harm::OnlyHello => !command.hello_is_enough,
            Harm::Gone => command.listens,
        }
    }
}

/// A port with the device behind it.
struct Stage<'a> {
    port: Option<Port>,
    path: std::path::PathBuf,
    script: &'a Script,
    honest: Device,
    rig: Simulation,
    ticks: u64,
    begun: Instant,
    /// When the host first spoke: the scripts' clock.
    heard: Option<Instant>,
    from_host: Decoder,
    memory: scripts::Memory,
}

impl<'a> Stage<'a> {
    fn open(script: &'a Script) -> anyhow::Result<Self> {
        let port = Port::open()?;
        Ok(Stage {
            path: port.path.clone(),
            port: Some(port),
            script,
            honest: Device::new(
                Identity::new("twin"),
                &Config::default(),
                ConfigOrigin::Default,
            ),
            rig: Simulation::reference(0.0, 3),
            ticks: 0,
            begun: Instant::now(),
            heard: None,
            from_host: Decoder::new(),
            memory: scripts::Memory::default(),
        })
    }

    fn path(&self) -> &Path {
        &self.path
    }

    /// What is due by now.
    fn act(&mut self) {
        let Some(port) = &mut self.port else { return };
        let heard = port.read();
        let mut commands: Vec<Command> = Vec::new();
        self.from_host.feed(&heard, |raw| {
            if let Ok(Ok(Frame::Command(command))) = raw.map(|raw| raw.decode()) {
                commands.push(command);
            }
        });
        self.honest.command(&heard);
        let due = (self.begun.elapsed().as_secs_f64() * 10_000.0) as u64;
        let mut frames = Vec::new();
        let mut bytes = [0; MAX_FRAME];
        let mut decoder: Decoder = Decoder::new();
        while self.ticks < due {
            self.ticks += 1;
            let sample = self.rig.tick();
            self.honest.tick(sample.counts);
            while let n @ 1.. = self.honest.next_frame(&mut bytes) {
                decoder.feed(&bytes[..n], |raw| {
                    if let Ok(Ok(frame)) = raw.map(|raw| raw.decode()) {
                        frames.push(frame);
                    }
                });
            }
        }
        if !heard.is_empty() && self.heard.is_none() {
            self.heard = Some(Instant::now());
        }
        self.memory.seconds = self.heard.map_or(0.0, |at| at.elapsed().as_secs_f64());
        let mut out = Vec::new();
        let stays = (self.script.act)(&mut self.memory, frames, &commands, &mut out);
        port.write(&out);
        if !stays {
            self.port = None;
        }
    }
}
