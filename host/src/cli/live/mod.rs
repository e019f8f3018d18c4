//! `stribeck live`: full-screen view of a device, the native twin or a log.
//!
//! ```text
//! stribeck live                       the board
//! stribeck live --from sim            no hardware: a simulated pendulum
//! stribeck live --from run.mcap --speed 4
//! ```
//!
//! Keys are listed with `?`. Recording (`r`) writes `live-DATE-TIME.mcap`, the same log that `capture` writes. A recording that
//! fails (no such folder, a full disk) is said on the screen and at the end, and the view goes on.

pub mod feed;
pub mod screen;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use stribeck_core::wire::Ask;

use crate::cli::exit::Exit;
use crate::cli::from::FromArgs;
use crate::cli::live::feed::{Feed, HISTORY_S};
use crate::cli::live::screen::View;
use crate::cli::values;
use crate::error::Error;
use crate::link::command::Commands;
use crate::link::pump::{Packet, Pump};
use crate::link::session::Session;
use crate::log::recorder::{Recorder, Wall};

/// Redraw at this rate.
const FRAME: Duration = Duration::from_millis(50);

/// Watch a device, the native twin or a log on the full screen
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  $ stribeck live --from sim                 # a simulated pendulum, in real time
  $ stribeck live --from run.mcap --speed 4  # play a log four times as fast
  $ stribeck live                            # the board

Keys: a arm · s stop · z zero · r record · space pause · + - zoom · ? help · q quit")]
pub struct Args {
    /// Speed at which a log is played, 1 = as it happened
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub speed: f64,
    /// Seconds shown at the start
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub span: f64,
    /// Folder for recordings
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub record_to: PathBuf,
    // Last: its headings hold for what follows.
    #[command(flatten)]
    pub from: FromArgs,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    if !(args.speed > 0.0 && args.speed.is_finite()) {
        return Err(Error::invalid(
            format!("--speed {} is not a positive number", args.speed),
            "1 plays a log as it happened, 4 four times as fast",
        )
        .into());
    }
    if !std::io::stdout().is_terminal() {
        return Err(Error::invalid(
            "live draws on a terminal, and standard output is none",
            "use `stribeck capture` in scripts",
        )
        .into());
    }
    let pump = Pump::start(args.from.open_attended()?);
    let mut live = Live::new(pump, &args);
    live.ask(Ask::Hello);
    let mut terminal = ratatui::init();
    let result = live.run(&mut terminal);
    ratatui::restore();
    result?;
    live.close()
}

type Recording = Recorder<std::io::BufWriter<std::fs::File>>;

struct Live {
    pump: Pump,
    session: Session,
    feed: Feed,
    view: View,
    recording: Option<Recording>,
    folder: PathBuf,
    /// What was recorded, or why not: printed at the end.
    saved: Vec<String>,
    failed: bool,
    /// Logs are played at this speed; `None`: bytes come when they come.
    pace: Option<Pace>,
    commands: Commands,
}

/// Keeps a log's time in step with the clock.
struct Pace {
    speed: f64,
    /// Device seconds shown so far, since the beginning of the log.
    shown_s: f64,
    began_s: Option<f64>,
}

impl Live {
    fn new(pump: Pump, args: &Args) -> Self {
        let pace = (!pump.is_live()).then_some(Pace {
            speed: args.speed,
            shown_s: 0.0,
            began_s: None,
        });
        let session = if pump.is_live() {
            Session::live(true)
        } else {
            Session::log(true)
        };
        Live {
            view: View {
                span_s: args.span.clamp(0.5, HISTORY_S),
                paused: false,
                help: false,
                recording: None,
                source: pump.name().to_string(),
                lost: false,
            },
            session,
            feed: Feed::default(),
            recording: None,
            folder: args.record_to.clone(),
            saved: Vec::new(),
            failed: false,
            pace,
            commands: Commands::default(),
            pump,
        }
    }

    fn run(&mut self, terminal: &mut ratatui::DefaultTerminal) -> anyhow::Result<()> {
        let mut last = Instant::now();
        loop {
            let deadline = Instant::now() + FRAME;
            self.receive(deadline, last.elapsed().as_secs_f64())?;
            last = Instant::now();
            if !self.view.paused || self.view.help {
                terminal.draw(|frame| screen::draw(frame, &self.feed, &self.view))?;
            }
            while event::poll(deadline.saturating_duration_since(Instant::now()))? {
                if let Event::Key(key) = event::read()?
                    && key.kind == KeyEventKind::Press
                {
                    let interrupt = key.code == KeyCode::Char('c')
                        && key.modifiers.contains(KeyModifiers::CONTROL);
                    if interrupt || key.code == KeyCode::Char('q') {
                        return Ok(());
                    }
                    self.key(key.code)?;
                    terminal.draw(|frame| screen::draw(frame, &self.feed, &self.view))?;
                }
            }
        }
    }

    /// Take what has arrived until `deadline`; of a log, what `elapsed` seconds of the clock allow.
    fn receive(&mut self, deadline: Instant, elapsed: f64) -> anyhow::Result<()> {
        if let Some(pace) = &mut self.pace {
            if self.view.paused {
                return Ok(());
            }
            pace.shown_s += elapsed * pace.speed;
        }
        while Instant::now() < deadline {
            if let Some(pace) = &mut self.pace
                && let Some(began) = pace.began_s
                && self.feed.now_s - began > pace.shown_s
            {
                return Ok(());
            }
            match self.pump.next(Duration::from_millis(5))? {
                Packet::Bytes(bytes) => self.bytes(&bytes)?,
                Packet::Lost(why) => {
                    self.view.lost = true;
                    self.feed.say(format!("connection lost: {why}"));
                    self.session.unplugged(|h| -> anyhow::Result<()> {
                        self.feed.take(&h);
                        Ok(())
                    })?;
                    self.keep(|recording| recording.unplugged(|_| Ok(())));
                }
                Packet::NotSent(e) => self.feed.say(format!("not sent: {e}")),
                Packet::Opened(name) => {
                    self.view.lost = false;
                    self.feed.say(format!("connected: {name}"));
                    self.ask(Ask::Hello);
                }
                Packet::End => {
                    if self.pace.take().is_some() {
                        self.feed.say("end of the log");
                    }
                    std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
                }
                Packet::Quiet => self.keep(Recorder::idle),
            }
            if let Some(pace) = &mut self.pace
                && pace.began_s.is_none()
                && self.feed.ticks > 0
            {
                pace.began_s = Some(self.feed.now_s);
            }
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let feed = &mut self.feed;
        self.session.bytes(bytes, |h| -> anyhow::Result<()> {
            feed.take(&h);
            Ok(())
        })?;
        self.keep(|recording| recording.bytes(bytes, |_| Ok(())));
        Ok(())
    }

    /// Go on with the recording, if there is one; where that fails it ends here and says so, and the view goes on.
    fn keep(&mut self, go_on: impl FnOnce(&mut Recording) -> crate::error::Result<()>) {
        let Some(recording) = &mut self.recording else {
            return;
        };
        if let Err(error) = go_on(recording) {
            self.recording = None;
            self.fail(error.to_string());
        }
    }

    fn fail(&mut self, why: String) {
        let path = self.view.recording.take().unwrap_or_default();
        self.feed.say(format!("recording failed: {why}"));
        self.saved.push(format!("{path}: not complete: {why}"));
        self.failed = true;
    }

    fn key(&mut self, code: KeyCode) -> anyhow::Result<()> {
        match code {
            KeyCode::Char('a') => self.ask(Ask::Start),
            KeyCode::Char('s') => self.ask(Ask::Stop),
            KeyCode::Char('z') => self.ask(Ask::Zero),
            KeyCode::Char('r') => self.record(),
            KeyCode::Char(' ') | KeyCode::Char('p') => self.view.paused = !self.view.paused,
            KeyCode::Char('+') | KeyCode::Char('=') => {
                self.view.span_s = (self.view.span_s / 2.0).max(0.5)
            }
            KeyCode::Char('-') => self.view.span_s = (self.view.span_s * 2.0).min(HISTORY_S),
            KeyCode::Char('?') | KeyCode::Char('h') => self.view.help = !self.view.help,
            KeyCode::Esc => self.view.help = false,
            _ => {}
        }
        Ok(())
    }

    /// Send a command; the reply or refusal shows in the event list.
    fn ask(&mut self, ask: Ask) {
        if !self.pump.takes_commands() {
            if !matches!(ask, Ask::Hello) {
                self.feed.say("a log takes no commands");
            }
            return;
        }
        let (_, bytes) = self.commands.frame(ask);
        let sent = self.pump.send(bytes);
        if let Err(e) = sent {
            self.feed.say(format!("not sent: {e}"));
        }
    }

    fn record(&mut self) {
        if let Some(recording) = self.recording.take() {
            match recording.finish(|_| Ok(())) {
                Ok(summary) => {
                    let path = self.view.recording.take().unwrap_or_default();
                    let what = format!(
                        "recorded {:.2} s ({} ticks), {} lost",
                        summary.seconds(),
                        summary.ticks,
                        summary.losses.lost_ticks
                    );
                    self.feed.say(what.as_str());
                    self.saved.push(format!("{path}: {what}"));
                }
                Err(error) => self.fail(error.to_string()),
            }
            return;
        }
        let path = free_name(&self.folder);
        self.view.recording = Some(path.display().to_string());
        if !self.folder.is_dir() {
            return self.fail(format!("there is no folder {}", self.folder.display()));
        }
        match Recorder::create(&path, Wall::Now) {
            Ok(recording) => self.recording = Some(recording),
            Err(error) => return self.fail(error.to_string()),
        }
        // A log begins with a Hello.
        self.ask(Ask::Hello);
    }

    fn close(mut self) -> anyhow::Result<Exit> {
        if self.recording.is_some() {
            self.record();
        }
        for line in &self.saved {
            println!("{line}");
        }
        Ok(if self.failed {
            Exit::Failure
        } else if self.feed.differing > 0 {
            Exit::Differs
        } else if self.feed.lost_ticks > 0 {
            Exit::Loss
        } else {
            Exit::Success
        })
    }
}

/// A name with date and time that does not exist: a recording never overwrites another.
fn free_name(folder: &Path) -> PathBuf {
    let name = folder.join(values::dated("live", "mcap"));
    if !name.exists() {
        return name;
    }
    let again = |n: u32| name.with_extension(format!("{n}.mcap"));
    (2..)
        .map(again)
        .find(|p| !p.exists())
        .unwrap_or(name.clone())
}
