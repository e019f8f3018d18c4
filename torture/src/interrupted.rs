//! Captures that are interrupted: killed at any moment, unplugged again and again, or out of disk at any write.
//!
//! What was received up to 100 ms before a kill is in the file; a replugged device goes on as a new segment with its gap
//! named; of a recording that could not be written to its end everything before the failed write is read back, and it is
//! never taken for a closed one.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Child;
use std::rc::Rc;
use std::time::{Duration, Instant};

use stribeck::link::command;
use stribeck::link::frames::{Content, Frames};
use stribeck::link::scenario::Scenario;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck::log::contents;
use stribeck::log::damage::Damage;
use stribeck::log::recorder::{Recorder, Wall};
use stribeck::log::write::LogWriter;
use stribeck_core::device::config::Config;
use stribeck_core::model::sim::Rng;
use stribeck_core::wire::{Ask, Frame};

use crate::child::{self, DEADLINE};
use crate::port::Port;
use crate::score::{Effort, Ending, Row};

/// Largest loss of a killed capture [ticks of 0.1 ms].
const MOST: u64 = 1000;

/// A twin in real time behind a port.
struct Board {
    port: Port,
    twin: Twin,
    frames: Frames,
    /// The tick after the last one sent.
    sent: u64,
}

impl Board {
    fn new(seed: u64) -> anyhow::Result<Board> {
        let scenario = Scenario {
            seed,
            ..Scenario::default()
        };
        Ok(Board {
            port: Port::open()?,
            twin: Twin::new(&Config::default(), &scenario, None, true),
            frames: Frames::default(),
            sent: 0,
        })
    }

    /// Serve the port until `done`; `false`: it never was.
    fn serve(&mut self, mut done: impl FnMut() -> bool) -> anyhow::Result<bool> {
        let begun = Instant::now();
        while !done() {
            if begun.elapsed() > DEADLINE {
                return Ok(false);
            }
            let asked = self.port.read();
            if !asked.is_empty() {
                self.twin.write(&asked)?;
            }
            let mut bytes = Vec::new();
            self.twin.read(&mut bytes)?;
            self.port.write(&bytes);
            let sent = &mut self.sent;
            let _: Result<(), ()> = self.frames.push(&bytes, |piece| {
                if let Content::Frame(Frame::Block(block)) = piece.content {
                    *sent = block.end_tick();
                }
                Ok(())
            });
        }
        Ok(true)
    }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |m| m.len())
}

fn capture(port: &Path, folder: &Path, more: &[&str]) -> anyhow::Result<Child> {
    let port = port.to_string_lossy();
    let mut args = vec!["capture", "--from", &port, "--arm", "-o", "run.mcap"];
    args.extend(more);
    child::start(&args, folder)
}

/// `kill -9` at any moment.
pub fn kills(effort: &Effort) -> anyhow::Result<Row> {
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let mut worst = 0;
    while effort.wants(row.inputs, 3, 100) {
        let folder = tempfile::tempdir()?;
        let log = folder.path().join("run.mcap");
        let mut board = Board::new(rng.bits())?;
        let mut child = capture(&board.port.path.clone(), folder.path(), &[])?;
        let began = board.serve(|| size(&log) > 4000)?;
        let (delay, begun) = (Duration::from_micros(rng.bits() % 600_000), Instant::now());
        board.serve(|| begun.elapsed() > delay)?;
        child.kill()?;
        child.wait()?;
        let ending = match contents::read(&log, true) {
            _ if !began => Ending::Hang,
            Ok(c) if c.damage == [Damage::NotClosed] && c.summary.losses.is_clean() => {
                let lost = board.sent.saturating_sub(c.summary.last_tick + 1);
                worst = worst.max(lost);
                match lost <= MOST {
                    true => Ending::Good,
                    false => Ending::SilentlyWrong,
                }
            }
            _ => Ending::SilentlyWrong,
        };
        row.count(ending, || {
            format!(
                "killed {delay:?} after its first bytes; worst loss {:.1} ms",
                worst as f64 / 10.0
            )
        });
    }
    row.note = format!(
        "captures killed; at most {:.1} ms lost",
        worst as f64 / 10.0
    );
    Ok(row)
}

/// The board is unplugged and comes back, again and again, in one capture.
pub fn replugs(effort: &Effort) -> anyhow::Result<Row> {
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let folder = tempfile::tempdir()?;
    let (log, link) = (folder.path().join("run.mcap"), folder.path().join("port"));
    let mut board = Board::new(rng.bits())?;
    std::os::unix::fs::symlink(&board.port.path, &link)?;
    let child = capture(&link, folder.path(), &["--json"])?;
    let mut segments = 1;
    let mut went_on = board.serve(|| size(&log) > 4000)?;
    while went_on && effort.wants(row.inputs, 5, 1000) {
        fs::remove_file(&link)?;
        // The pendulum goes on while nobody listens.
        board.port = Port::open()?;
        std::thread::sleep(Duration::from_millis(rng.bits() % 60));
        let mut unheard = Vec::new();
        board.twin.read(&mut unheard)?;
        std::os::unix::fs::symlink(&board.port.path, &link)?;
        let grown = size(&log) + 2000;
        went_on = board.serve(|| size(&log) > grown)?;
        segments += 1;
        let ending = match went_on {
            true => Ending::Good,
            false => Ending::Hang,
        };
        row.count(ending, || {
            format!("replug {segments}: the capture does not go on")
        });
    }
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(child.id() as i32),
        nix::sys::signal::Signal::SIGINT,
    )?;
    let output = child::finish(child, || {
        let _ = board.serve(|| true);
    })?;
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let found = &summary["summary"];
    let sound = found["segments"] == segments
        && found["verdict"]["differing_blocks"] == 0
        && found["losses"]["corrupted"]
            .as_u64()
            .is_some_and(|n| n <= segments)
        && [Some(3), Some(0)].contains(&output.code);
    let ending = match output.disaster() {
        Some(ending) => ending,
        None if sound => Ending::Good,
        None => Ending::SilentlyWrong,
    };
    row.count(ending, || {
        format!(
            "{segments} segments made, {} found; {}",
            found["segments"],
            output.last_words()
        )
    });
    row.note = format!(
        "replugs in one capture and its log; {} ticks recorded, {} lost while unplugged",
        found["ticks"], found["losses"]["lost_ticks"]
    );
    Ok(row)
}

/// A file on a disk that has room for so many writes.
#[derive(Clone, Default)]
struct Disk {
    bytes: Rc<RefCell<Vec<u8>>>,
    writes: Rc<RefCell<u64>>,
    room: u64,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut writes = self.writes.borrow_mut();
        if *writes >= self.room {
            // As ENOSPC: a part may still fit.
            let part = bytes.len() / 2;
            if *writes == self.room && part > 0 {
                *writes += 1;
                self.bytes.borrow_mut().extend_from_slice(&bytes[..part]);
                return Ok(part);
            }
            return Err(io::ErrorKind::StorageFull.into());
        }
        *writes += 1;
        self.bytes.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A recording whose disk is full at its first, second, … last write.
pub fn full_disk(effort: &Effort) -> anyhow::Result<Row> {
    let mut row = Row::default();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("cut.mcap");
    let seconds = if effort.full { 2.0 } else { 0.3 };
    let sent = stream(seconds)?;
    let mut room = 0;
    loop {
        let disk = Disk {
            room,
            ..Disk::default()
        };
        let whole = record(&sent, disk.clone());
        let bytes = disk.bytes.borrow();
        fs::write(&path, &*bytes)?;
        let read = contents::read(&path, true);
        let closed = read.as_ref().is_ok_and(|c| c.closed && c.damage.is_empty());
        let clean = read.as_ref().is_ok_and(|c| c.summary.losses.is_clean());
        // Too early a cut holds no device yet and is refused; every later one is read up to the failed write.
        let refused = read.is_err() && bytes.len() < 8000;
        if whole.is_ok() {
            row.count(
                if closed && clean {
                    Ending::Good
                } else {
                    Ending::SilentlyWrong
                },
                || format!("{room} writes are enough and the log is not whole"),
            );
            break;
        }
        let ending = match !closed && (clean || refused) {
            true => Ending::Good,
            false => Ending::SilentlyWrong,
        };
        row.count(ending, || {
            format!(
                "disk full at write {room} of a recording: {:?}",
                read.map(|c| c.damage)
            )
        });
        room += 1;
    }
    row.note = format!("recordings of {seconds} s, the disk full at each of their {room} writes");
    Ok(row)
}

fn stream(seconds: f64) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut twin = Twin::new(
        &Config::default(),
        &Scenario::default(),
        Some(seconds),
        false,
    );
    twin.write(&command::frame(1, Ask::Start))?;
    let mut sent = Vec::new();
    loop {
        let mut bytes = Vec::new();
        let arrival = twin.read(&mut bytes)?;
        sent.push(bytes);
        if arrival == Arrival::End {
            return Ok(sent);
        }
    }
}

fn record(sent: &[Vec<u8>], disk: Disk) -> stribeck::error::Result<()> {
    let log = LogWriter::new(disk, Path::new("run.mcap"))?;
    let mut recorder = Recorder::new(log, Wall::Epoch);
    for bytes in sent {
        recorder.bytes(bytes, |_| Ok(()))?;
    }
    recorder.finish(|_| Ok(())).map(drop)
}
