//! One command of `stribeck` as a process of its own, with a deadline.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

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

/// Run to the end.
pub fn run(args: &[&str], folder: &Path) -> anyhow::Result<Output> {
    finish(start(args, folder)?, || {})
}
