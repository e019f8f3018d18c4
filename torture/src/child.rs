//! One command of `stribeck` as a process of its own, with a deadline.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::unistd::setsid;

use crate::score::Ending;

/// No command on these small inputs takes this long, even on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// What a command left behind.
pub struct Output {
    /// `None`: it was killed, by us (`hung`) or by a signal.
    pub code: Option<i32>,
    pub hung: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Output {
    /// Panic or hang; otherwise `None`, and the caller judges the exit code.
    pub fn disaster(&self) -> Option<Ending> {
        if self.hung {
            Some(Ending::Hang)
        } else if self.code.is_none_or(|c| c == 101 || c == 134)
            || self.stderr.contains("panicked at")
        {
            Some(Ending::Panic)
        } else {
            None
        }
    }

    /// The last line of what it said, for findings.
    pub fn last_words(&self) -> String {
        let line = self.stderr.lines().rev().find(|l| !l.trim().is_empty());
        format!("exit {:?}: {}", self.code, line.unwrap_or("(nothing said)"))
    }
}

/// Start `stribeck` with these arguments in `folder`.
pub fn start(args: &[&str], folder: &Path) -> anyhow::Result<Child> {
    Command::new(std::env::current_exe()?)
        .arg("as-stribeck")
        .args(args)
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start this program as stribeck")
}

/// Wait for its end, at most [`DEADLINE`], doing `meanwhile` all the time.
pub fn finish(mut child: Child, mut meanwhile: impl FnMut()) -> anyhow::Result<Output> {
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let begun = Instant::now();
    let mut hung = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > DEADLINE {
            hung = true;
            child.kill()?;
            break child.wait()?;
        }
        meanwhile();
        std::thread::sleep(Duration::from_millis(2));
    };
    let join = |t: std::thread::JoinHandle<Vec<u8>>| t.join().unwrap_or_default();
    Ok(Output {
        code: status.code(),
        hung,
        stdout: join(stdout),
        stderr: String::from_utf8_lossy(&join(stderr)).into_owned(),
    })
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A pipe that breaks has said all it will say.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Run on a terminal of 120 × 40; `q` is typed after a while, again and again. What it drew is in `stdout`.
pub fn run_on_screen(
    args: &[&str],
    folder: &Path,
    mut meanwhile: impl FnMut(),
) -> anyhow::Result<Output> {
    let size = Winsize {
        ws_row: 40,
        ws_col: 120,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let terminal = openpty(&size, None).context("no pseudo-terminal to be had")?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("as-stribeck")
        .args(args)
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::from(terminal.slave.try_clone()?))
        .stdout(Stdio::from(terminal.slave.try_clone()?))
        .stderr(Stdio::from(terminal.slave));
    // SAFETY: between fork and exec only this system call is made; it is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            // Not the terminal this program was started from.
            setsid()?;
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    // The other copies of the slave must close with the child.
    drop(command);
    let mut master = File::from(terminal.master);
    fcntl(&master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    let (begun, mut drawn, mut hung) = (Instant::now(), Vec::new(), false);
    let mut quit = Duration::from_millis(1500);
    let status = loop {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = master.read(&mut bytes) {
            drawn.extend_from_slice(&bytes[..n]);
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > DEADLINE {
            hung = true;
            child.kill()?;
            break child.wait()?;
        }
        if begun.elapsed() > quit {
            quit += Duration::from_millis(200);
            // A terminal that is gone is seen above.
            let _ = master.write_all(b"q");
        }
        meanwhile();
        std::thread::sleep(Duration::from_millis(2));
    };
    Ok(Output {
        code: status.code(),
        hung,
        stderr: String::from_utf8_lossy(&drawn).into_owned(),
        stdout: drawn,
    })
}

/// Run to the end.
pub fn run(args: &[&str], folder: &Path) -> anyhow::Result<Output> {
    finish(start(args, folder)?, || {})
}
