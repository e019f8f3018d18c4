//! A serial port that is a pseudo-terminal: the hostile device's end of it.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::Context;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

pub struct Port {
    master: PtyMaster,
    /// Kept open, so that the terminal survives readers that come and go.
    _slave: File,
    pub path: PathBuf,
    /// What the terminal had no room for; bounded, the oldest is lost.
    waiting: Vec<u8>,
}

impl Port {
    pub fn open() -> anyhow::Result<Port> {
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC)
            .context("no pseudo-terminal to be had")?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = PathBuf::from(ptsname_r(&master)?);
        let slave = File::options().read(true).write(true).open(&path)?;
        let mut raw = tcgetattr(&slave)?;
        cfmakeraw(&mut raw);
        tcsetattr(&slave, SetArg::TCSANOW, &raw)?;
        fcntl(&master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Port {
            master,
            _slave: slave,
            path,
            waiting: Vec::new(),
        })
    }

    /// Send what fits now; the rest with the next call.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.waiting.len() > 60_000 {
            self.waiting.clear();
        }
        self.waiting.extend_from_slice(bytes);
        while !self.waiting.is_empty() {
            match self.master.write(&self.waiting) {
                Ok(n) if n > 0 => drop(self.waiting.drain(..n)),
                _ => break,
            }
        }
    }

    /// What the host sent.
    pub fn read(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        let n = self.master.read(&mut bytes).unwrap_or(0);
        bytes.truncate(n);
        bytes
    }
}
