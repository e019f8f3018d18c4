//! From a source's bytes to a log: what `capture`, `simulate`, `demo` and the recording of `live` have in common.
//!
//! In: bytes as they arrive. Out: the log, and its summary at the end. Times in the log are the device's
//! ticks laid on the wall clock of the moment its segment began, so jitter of USB and host does not enter.
//! The file is created with the first Hello: a port on which nobody answers leaves no file and destroys none.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use stribeck_core::wire::Hello;

use crate::config::axes::Axes;
use crate::error::Result;
use crate::file;
use crate::link::frames::FrameKind;
use crate::link::session::{Session, SessionEvent};
use crate::log::Topic;
use crate::log::metadata::Metadata;
use crate::log::summary::{Summary, Tally};
use crate::log::viewer::{self, Viewer};
use crate::log::write::{LogWriter, Stamp};

/// Where the wall clock of a log comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wall {
    /// This machine's clock.
    Now,
    /// Tick 0 is 1970-01-01: the same simulation gives the same file.
    Epoch,
}

/// The device's ticks on the wall clock.
#[derive(Clone, Copy, Debug)]
struct Clock {
    tick_hz: u64,
    anchor_tick: u64,
    anchor: Stamp,
}

impl Clock {
    fn ns(&self, tick: u64) -> u64 {
        (u128::from(tick) * 1_000_000_000 / u128::from(self.tick_hz)) as u64
    }

    fn stamp(&self, tick: u64) -> Stamp {
        let (now, anchor) = (self.ns(tick), self.ns(self.anchor_tick));
        let at = |from: u64| from.saturating_add(now).saturating_sub(anchor);
        Stamp {
            log_ns: at(self.anchor.log_ns),
            device_ns: at(self.anchor.device_ns),
        }
    }
}

pub struct Recorder<W: Write> {
    session: Session,
    sink: Sink<W>,
    tally: Tally,
}

/// Makes the log when it is needed.
type Open<W> = Box<dyn FnOnce() -> Result<LogWriter<W>>>;

struct Sink<W: Write> {
    /// `None` before the first Hello.
    log: Option<LogWriter<W>>,
    open: Option<Open<W>>,
    metadata: Metadata,
    viewer: Option<Viewer>,
    clock: Clock,
    /// The boot the clock belongs to, and the latest times written.
    boot: Option<u32>,
    latest: Stamp,
    /// A Hello that is about to be understood.
    hello_bytes: Vec<u8>,
    wall: Wall,
}

impl Recorder<BufWriter<File>> {
    /// Record into a new file; one that exists is refused.
    pub fn create(path: &Path, wall: Wall) -> Result<Self> {
        Self::create_with(path, wall, false, Metadata::default())
    }

    /// Record into a file, with `force` in place of an existing one; `metadata` goes into the log.
    pub fn create_with(path: &Path, wall: Wall, force: bool, metadata: Metadata) -> Result<Self> {
        file::may_write(path, force, &[])?;
        let path = path.to_owned();
        let open: Open<_> = Box::new(move || LogWriter::create(&path, force));
        Ok(Self::with(None, Some(open), wall, metadata))
    }
}

impl<W: Write> Recorder<W> {
    pub fn new(log: LogWriter<W>, wall: Wall) -> Self {
        Self::with(Some(log), None, wall, Metadata::default())
    }

    fn with(
        log: Option<LogWriter<W>>,
        open: Option<Open<W>>,
        wall: Wall,
        metadata: Metadata,
    ) -> Self {
        Recorder {
            session: Session::live(true),
            sink: Sink {
                log,
                open,
                metadata,
                viewer: None,
                clock: Clock {
                    tick_hz: 10_000,
                    anchor_tick: 0,
                    anchor: Stamp::default(),
                },
                boot: None,
                latest: Stamp::default(),
                hello_bytes: Vec::new(),
                wall,
            },
            tally: Tally::default(),
        }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Bytes arrived: log them, and show `each` what they mean.
    pub fn bytes(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&SessionEvent<'_>) -> Result<()>,
    ) -> Result<()> {
        self.tally.bytes(bytes.len());
        let (sink, tally) = (&mut self.sink, &mut self.tally);
        self.session.bytes(bytes, |event| {
            sink.take(&event)?;
            tally.take(&event);
            each(&event)
        })?;
        self.health()?;
        self.idle()
    }

    /// The connection broke.
    pub fn unplugged(
        &mut self,
        mut each: impl FnMut(&SessionEvent<'_>) -> Result<()>,
    ) -> Result<()> {
        let (sink, tally) = (&mut self.sink, &mut self.tally);
        self.session.unplugged(|event| {
            sink.take(&event)?;
            tally.take(&event);
            each(&event)
        })?;
        self.sink.log.as_mut().map_or(Ok(()), LogWriter::flush)
    }

    /// Something went wrong that is not lost data: it stands in the log where it happened, and in the closing record.
    pub fn problem(&mut self, text: String) -> Result<()> {
        let tick = self.session.end_tick();
        let at = self.sink.clock.stamp(tick);
        if let Some(log) = &mut self.sink.log {
            log.json(
                Topic::EventText,
                at,
                &json!({ "tick": tick, "event": text }),
            )?;
        }
        self.tally.problem(text);
        Ok(())
    }

    /// Hand to the kernel what has waited long enough; a simulation's chunks must not depend on the clock.
    pub fn idle(&mut self) -> Result<()> {
        match (self.sink.wall, &mut self.sink.log) {
            (Wall::Now, Some(log)) => log.flush_if_due(),
            _ => Ok(()),
        }
    }

    /// Close the log.
    pub fn finish(
        mut self,
        mut each: impl FnMut(&SessionEvent<'_>) -> Result<()>,
    ) -> Result<Summary> {
        let (sink, tally) = (&mut self.sink, &mut self.tally);
        self.session.end(|event| {
            sink.take(&event)?;
            tally.take(&event);
            each(&event)
        })?;
        let summary = self.summary();
        if let Some(log) = self.sink.log {
            log.finish(summary.to_metadata()?)?;
        }
        Ok(summary)
    }

    /// The summary so far.
    pub fn summary(&self) -> Summary {
        Summary {
            metadata: self.sink.metadata.clone(),
            ..self.tally.summary(&self.session)
        }
    }

    fn health(&mut self) -> Result<()> {
        let tick = self.session.end_tick();
        let Sink {
            log: Some(log),
            viewer: Some(viewer),
            clock,
            ..
        } = &mut self.sink
        else {
            return Ok(());
        };
        let verdict = self.session.checker().map(|c| c.verdict());
        viewer.health(tick, self.session.losses(), verdict, log, clock.stamp(tick))
    }
}

impl<W: Write> Sink<W> {
    fn take(&mut self, event: &SessionEvent<'_>) -> Result<()> {
        match event {
            // A Hello sets the clock for itself and what follows; it is logged when understood.
            SessionEvent::Bytes { kind, bytes, .. } if *kind == FrameKind::Hello => {
                self.hello_bytes.clear();
                self.hello_bytes.extend_from_slice(bytes);
                Ok(())
            }
            SessionEvent::Bytes { kind, bytes, tick } => {
                self.frame(Topic::from(*kind), *tick, bytes)
            }
            SessionEvent::Hello { hello, begins } => self.hello(hello, *begins),
            SessionEvent::Block { block, .. } => {
                let clock = self.clock;
                match (&mut self.viewer, &mut self.log) {
                    (Some(viewer), Some(log)) => viewer.block(block, log, |tick| clock.stamp(tick)),
                    _ => Ok(()),
                }
            }
            SessionEvent::Event(event) => {
                let at = self.clock.stamp(event.tick);
                let axes = self.viewer.as_ref().map(Viewer::axes);
                let text = viewer::event(event, &axes.unwrap_or_default());
                match &mut self.log {
                    Some(log) => log.json(Topic::EventText, at, &text),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Log one frame at its time.
    fn frame(&mut self, topic: Topic, tick: u64, bytes: &[u8]) -> Result<()> {
        self.begin()?;
        let at = self.clock.stamp(tick);
        self.latest.log_ns = self.latest.log_ns.max(at.log_ns);
        self.latest.device_ns = self.latest.device_ns.max(at.device_ns);
        match &mut self.log {
            Some(log) => log.frame(topic, at, bytes),
            None => Ok(()),
        }
    }

    /// Open the log and say who recorded it, before its first message.
    fn begin(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let mut log = open()?;
        if self.wall == Wall::Now && self.metadata.started.is_empty() {
            self.metadata.started = Metadata::now();
        }
        log.recording(&self.metadata)?;
        self.log = Some(log);
        Ok(())
    }

    fn hello(&mut self, hello: &Hello, begins: bool) -> Result<()> {
        self.clock.tick_hz = u64::from(hello.tick_hz.max(1));
        let before = self.boot.replace(hello.boot);
        if begins {
            self.anchor_at(hello.uptime_ticks, before == Some(hello.boot));
            if before.is_some_and(|boot| boot != hello.boot) {
                self.go_on();
            }
        }
        let bytes = std::mem::take(&mut self.hello_bytes);
        self.frame(Topic::Hello, hello.uptime_ticks, &bytes)?;
        let Ok(config) = hello.config() else {
            return Ok(());
        };
        if let Some(log) = &mut self.log {
            log.joints(Axes::of(&config.plant));
        }
        match &mut self.viewer {
            Some(viewer) => {
                if begins {
                    *viewer = Viewer::new(&config);
                } else {
                    viewer.set_config(&config, hello.config_since);
                }
            }
            None => self.viewer = Some(Viewer::new(&config)),
        }
        Ok(())
    }

    /// Lay this tick on the wall clock; the device time of a boot that is known goes on.
    fn anchor_at(&mut self, tick: u64, known: bool) {
        let device_ns = match known {
            true => self.clock.stamp(tick).device_ns,
            false => self.clock.ns(tick),
        };
        let log_ns = match self.wall {
            Wall::Now => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| d.as_nanos() as u64),
            Wall::Epoch if known => self.clock.stamp(tick).log_ns,
            Wall::Epoch => self.clock.ns(tick),
        };
        self.clock.anchor_tick = tick;
        self.clock.anchor = Stamp { log_ns, device_ns };
    }

    /// Another boot counts its ticks from 0 again: its times follow on the last ones by the wall clock, and never run back.
    fn go_on(&mut self) {
        let latest = self.latest;
        let anchor = &mut self.clock.anchor;
        let passed = anchor.log_ns.saturating_sub(latest.log_ns);
        anchor.log_ns = latest.log_ns.saturating_add(passed);
        anchor.device_ns = latest.device_ns.saturating_add(passed);
    }
}
