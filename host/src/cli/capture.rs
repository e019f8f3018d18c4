//! `stribeck capture`: record a device until told to stop, verifying every bit on the way.

use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use stribeck_core::device::run::Phase;

use crate::cli::exit::Exit;
use crate::cli::from::FromArgs;
use crate::cli::values::{self, MetadataArgs};
use crate::file;
use crate::link::source::From;
use crate::link::wording;
use crate::log::capture::{self, End, Plan, Progress};
use crate::log::contents;
use crate::log::recorder::{Recorder, Wall};
use crate::log::text;

/// Record a device into a log and compare every bit on the way
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example, without hardware:
  $ stribeck capture --from sim --arm --seconds 5 -o run.mcap
  tick 121 idle → armed (ordered by the host)
  tick 5406 armed → swinging (the links moved), started at 0.01°, 119.97°
  recorded 5.01 s (50,106 ticks) from sim (native twin) to run.mcap
  0.37 MB in the log (4.43 MB/min), 41.0 kB/s on the wire, 1 segment(s)
  compared 50,106 ticks, 6 snapshots: 0 differing bits in 0 blocks
  lost nothing

Nothing is overwritten without --force. Stop with Ctrl-C: the log is closed properly. If the board is unplugged the capture goes on as a
new segment when it is back. A killed capture loses less than 100 ms.")]
pub struct Args {
    /// The log to write (default: `run-DATE-TIME.mcap`)
    #[arg(short, long, value_name = "LOG")]
    output: Option<PathBuf>,
    /// Overwrite the log if it exists
    #[arg(long)]
    force: bool,
    /// Stop after this much device time; by the clock (5 s later) if the device is silent
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    seconds: Option<f64>,
    /// Stop when the pendulum has come to rest
    #[arg(long)]
    until_rest: bool,
    /// Order the device to arm first
    #[arg(long)]
    arm: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    // Last: their headings hold for what follows.
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    about: MetadataArgs,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let output = args.output.unwrap_or_else(|| values::dated("run", "mcap"));
    let log = match args.from.from.parse()? {
        From::File(log) => Some(log),
        _ => None,
    };
    if let Some(log) = &log {
        file::may_write(&output, true, &[log])?;
    }
    let metadata = args.about.metadata();
    let recorder = Recorder::create_with(&output, Wall::Now, args.force, metadata)?;
    let source = args.from.open()?;
    let plan = Plan {
        seconds: args.seconds,
        until_rest: args.until_rest,
        arm: args.arm,
        drive: None,
    };
    let stop = stop_on_signal()?;
    let mut display = Display::new();
    let outcome = capture::run(source, recorder, plan, &stop, &mut |p| display.show(p))?;
    display.bar.finish_and_clear();
    if outcome.end == End::Asked {
        eprintln!("stopped by signal; the log is complete up to here");
    }
    if outcome.summary.segments == 0 {
        eprintln!("no device introduced itself: nothing was recorded, no file was written");
    }
    if args.json {
        let value = json!({
            "log": output,
            "source": outcome.source,
            "summary": outcome.summary,
        });
        println!("{value}");
    } else {
        print!(
            "{}",
            text::recording(&outcome.summary, &outcome.source, &output)
        );
    }
    // What is damaged in a log that was copied is missing in the copy.
    let damage = match &log {
        Some(log) => contents::read(log, true)?.damage,
        None => Vec::new(),
    };
    damage.iter().for_each(|damage| eprintln!("{damage}"));
    Ok(match Exit::of_summary(&outcome.summary) {
        Exit::Success | Exit::Device if !damage.is_empty() => Exit::Loss,
        exit => exit,
    })
}

/// A flag that Ctrl-C and termination signals set.
pub fn stop_on_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
    Ok(stop)
}

/// Progress on standard error.
pub struct Display {
    pub bar: ProgressBar,
    next: Instant,
    bytes: u64,
    since: Instant,
    rate: f64,
}

impl Display {
    pub fn new() -> Self {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new_spinner()
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        let now = Instant::now();
        Display {
            bar,
            next: now,
            bytes: 0,
            since: now,
            rate: 0.0,
        }
    }

    /// Events as lines, the rest as one line that changes.
    pub fn show(&mut self, p: Progress<'_, BufWriter<File>>) {
        if let Some(note) = p.note {
            self.bar.suspend(|| eprintln!("{note}"));
            return;
        }
        if let Some(event) = p.event {
            let axes = p.recorder.session().hello().map(wording::axes);
            let words = wording::event(event, &axes.unwrap_or_default());
            let line = format!("tick {} {words}", event.tick);
            self.bar.suspend(|| eprintln!("{line}"));
            return;
        }
        self.show_quietly(p);
    }

    /// Only the line that changes.
    pub fn show_quietly(&mut self, p: Progress<'_, BufWriter<File>>) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + Duration::from_millis(200);
        let a = p.recorder.summary();
        let elapsed = now.duration_since(self.since).as_secs_f64();
        if elapsed > 0.5 {
            self.rate = (a.bytes - self.bytes) as f64 / elapsed / 1e3;
            self.bytes = a.bytes;
            self.since = now;
        }
        let phase = match (p.connected, p.phase) {
            (false, _) => "disconnected, waiting",
            (true, None) => "waiting for the device",
            (true, Some(Phase::Idle)) => "idle (arm with the button or --arm)",
            (true, Some(phase)) => wording::phase(phase),
        };
        self.bar.set_message(format!(
            "{phase} · {:.1} s · {} ticks · {:.1} kB/s · lost {} · damaged {} · equal {} · differing {}",
            a.ticks as f64 / f64::from(a.tick_hz.max(1)),
            text::grouped(a.ticks),
            self.rate,
            text::grouped(a.losses.lost_ticks),
            a.losses.corrupted,
            text::grouped(a.verdict.equal_ticks),
            a.verdict.differing_blocks,
        ));
        self.bar.tick();
    }
}

impl Default for Display {
    fn default() -> Self {
        Self::new()
    }
}
