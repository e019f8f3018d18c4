//! A board made of a pseudo-terminal and the native twin: what `stribeck` sees is a serial port.
#![allow(dead_code)] // Each test program uses its own part.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::Pid;
use stribeck::link::frames::{Content, Frames};
use stribeck::link::scenario::Scenario;
use stribeck::link::source::Source;
use stribeck::link::twin::Twin;
use stribeck_core::device::config::Config;
use stribeck_core::wire::Frame;

/// Both ends of a pseudo-terminal; the slave end is kept open so that the master survives readers that come and go.
pub struct Terminal {
    master: PtyMaster,
    _slave: File,
    /// What the terminal had no room for yet. A terminal holds about 12 kB (0.3 s of stream), a USB port of Linux 64 kB: this is the
    /// difference.
    backlog: Vec<u8>,
    pub path: PathBuf,
}

impl Terminal {
    pub fn open() -> Terminal {
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = PathBuf::from(ptsname_r(&master).unwrap());
        let slave = File::options().read(true).write(true).open(&path).unwrap();
        let mut raw = tcgetattr(&slave).unwrap();
        cfmakeraw(&mut raw);
        tcsetattr(&slave, SetArg::TCSANOW, &raw).unwrap();
        fcntl(&master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        Terminal {
            master,
            _slave: slave,
            backlog: Vec::new(),
            path,
        }
    }

    /// Write all, waiting while the terminal is full.
    pub fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.master.write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_micros(200));
                }
                Err(e) => panic!("terminal: {e}"),
            }
        }
    }

    /// Write without waiting, as a USB port does.
    pub fn offer(&mut self, bytes: &[u8]) {
        // Nobody reads: the oldest is lost.
        if self.backlog.len() > 52_000 {
            self.backlog.clear();
        }
        self.backlog.extend_from_slice(bytes);
        while !self.backlog.is_empty() {
            match self.master.write(&self.backlog) {
                Ok(n) => drop(self.backlog.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => panic!("terminal: {e}"),
            }
        }
    }

    /// What the host sent.
    pub fn read(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        match self.master.read(&mut bytes) {
            Ok(n) => bytes.truncate(n),
            Err(_) => bytes.clear(),
        }
        bytes
    }
}

/// A twin in real time.
pub fn twin(seed: u64) -> Twin {
    let scenario = Scenario {
        seed,
        ..Scenario::default()
    };
    Twin::new(&Config::default(), &scenario, None, true)
}

/// Nothing in these tests takes so long, on any machine: a test that hangs fails instead.
const DEADLINE: Duration = Duration::from_secs(120);

/// Let the twin live on the terminal until `done`; returns the tick after the last one sent.
pub fn serve(terminal: &mut Terminal, twin: &mut Twin, mut done: impl FnMut() -> bool) -> u64 {
    let mut frames = Frames::default();
    let mut end_tick = 0;
    let begun = Instant::now();
    while !done() {
        assert!(
            begun.elapsed() < DEADLINE,
            "what was waited for did not happen within {DEADLINE:?}"
        );
        let commands = terminal.read();
        if !commands.is_empty() {
            twin.write(&commands).unwrap();
        }
        let mut bytes = Vec::new();
        twin.read(&mut bytes).unwrap();
        terminal.offer(&bytes);
        frames
            .push::<()>(&bytes, |piece| {
                if let Content::Frame(Frame::Block(block)) = piece.content {
                    end_tick = block.end_tick();
                }
                Ok(())
            })
            .unwrap();
    }
    end_tick
}

/// `stribeck` with these arguments, output kept for [`output`].
pub fn stribeck(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_stribeck"))
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Exit code, standard output, standard error.
pub fn output(child: Child) -> (i32, String, String) {
    let out = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        out.status.code().unwrap_or(-1),
        text(out.stdout),
        text(out.stderr),
    )
}

/// Run `stribeck` to its end.
pub fn run(args: &[&str]) -> (i32, String, String) {
    output(stribeck(args))
}

pub fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// A path as an argument.
pub fn arg(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Size of a file, 0 if it does not exist yet.
pub fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}
