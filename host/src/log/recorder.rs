//! From a source's bytes to a log: what `capture`, `simulate`, `demo` and the recording of `live` have in common.
//!
//! In: bytes as they arrive. Out: the log, and the accounts at the end. Times in the log are the device's
//! ticks laid on the wall clock of the moment its segment began, so jitter of USB and host does not enter.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use stribeck_core::wire::Hello;

use crate::accounts::{Accounts, Survey};
use crate::error::Result;
use crate::log::Topic;
use crate::log::viewer::{self, Viewer};
use crate::log::write::{LogWriter, Stamp};
use crate::session::{Happening, Session};

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
    anchor_ns: u64,
}

impl Clock {
    fn stamp(&self, tick: u64) -> Stamp {
        let ns = |tick: u64| (u128::from(tick) * 1_000_000_000 / u128::from(self.tick_hz)) as u64;
        let device_ns = ns(tick);
        let log_ns = (self.anchor_ns + device_ns).saturating_sub(ns(self.anchor_tick));
        Stamp { log_ns, device_ns }
    }
}

pub struct Recorder<W: Write> {
    session: Session,
    sink: Sink<W>,
    survey: Survey,
}

struct Sink<W: Write> {
    log: LogWriter<W>,
    viewer: Option<Viewer>,
    clock: Clock,
    wall: Wall,
}

impl Recorder<BufWriter<File>> {
    /// Record into a new file.
    pub fn create(path: &Path, wall: Wall) -> Result<Self> {
        Ok(Self::new(LogWriter::create(path)?, wall))
    }
}

impl<W: Write> Recorder<W> {
    pub fn new(log: LogWriter<W>, wall: Wall) -> Self {
        Recorder {
            session: Session::live(true),
            sink: Sink {
                log,
                viewer: None,
                clock: Clock {
                    tick_hz: 10_000,
                    anchor_tick: 0,
                    anchor_ns: 0,
                },
                wall,
            },
            survey: Survey::default(),
        }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Bytes arrived: log them, and show `each` what they mean.
    pub fn bytes(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&Happening<'_>) -> Result<()>,
    ) -> Result<()> {
        self.survey.bytes(bytes.len());
        let (sink, survey) = (&mut self.sink, &mut self.survey);
        self.session.bytes(bytes, |happening| {
            sink.take(&happening)?;
            survey.take(&happening);
            each(&happening)
        })?;
        self.health()?;
        self.idle()
    }

    /// The connection broke.
    pub fn unplugged(&mut self, mut each: impl FnMut(&Happening<'_>) -> Result<()>) -> Result<()> {
        let (sink, survey) = (&mut self.sink, &mut self.survey);
        self.session.unplugged(|happening| {
            sink.take(&happening)?;
            survey.take(&happening);
            each(&happening)
        })?;
        self.sink.log.flush()
    }

    /// Hand to the kernel what has waited long enough; a simulation's chunks must not depend on the clock.
    pub fn idle(&mut self) -> Result<()> {
        match self.sink.wall {
            Wall::Now => self.sink.log.flush_if_due(),
            Wall::Epoch => Ok(()),
        }
    }

    /// Close the log.
    pub fn finish(
        mut self,
        mut each: impl FnMut(&Happening<'_>) -> Result<()>,
    ) -> Result<Accounts> {
        let (sink, survey) = (&mut self.sink, &mut self.survey);
        self.session.end(|happening| {
            sink.take(&happening)?;
            survey.take(&happening);
            each(&happening)
        })?;
        let accounts = self.accounts();
        self.sink.log.finish(accounts.to_metadata()?)?;
        Ok(accounts)
    }

    /// The accounts so far.
    pub fn accounts(&self) -> Accounts {
        self.survey.accounts(&self.session)
    }

    fn health(&mut self) -> Result<()> {
        let tick = self.session.end_tick();
        let Sink {
            log, viewer, clock, ..
        } = &mut self.sink;
        let Some(viewer) = viewer else {
            return Ok(());
        };
        let verdict = self.session.checker().map(|c| c.verdict());
        viewer.health(tick, self.session.losses(), verdict, log, clock.stamp(tick))
    }
}

impl<W: Write> Sink<W> {
    fn take(&mut self, happening: &Happening<'_>) -> Result<()> {
        match happening {
            Happening::Bytes { topic, bytes, tick } => {
                // A Hello sets the clock for itself and what follows; it is logged when understood.
                if *topic == Topic::Hello && self.viewer.is_none() {
                    self.anchor_at(*tick);
                }
                self.log.frame(*topic, self.clock.stamp(*tick), bytes)
            }
            Happening::Hello { hello, begins } => self.hello(hello, *begins),
            Happening::Block { block, .. } => {
                let clock = self.clock;
                match &mut self.viewer {
                    Some(viewer) => viewer.block(block, &mut self.log, |tick| clock.stamp(tick)),
                    None => Ok(()),
                }
            }
            Happening::Event(event) => {
                let at = self.clock.stamp(event.tick);
                self.log.json(Topic::EventText, at, &viewer::event(event))
            }
            _ => Ok(()),
        }
    }

    fn hello(&mut self, hello: &Hello, begins: bool) -> Result<()> {
        self.clock.tick_hz = u64::from(hello.tick_hz.max(1));
        if begins {
            self.anchor_at(hello.uptime_ticks);
        }
        let Ok(config) = hello.config() else {
            return Ok(());
        };
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

    fn anchor_at(&mut self, tick: u64) {
        self.clock.anchor_tick = tick;
        self.clock.anchor_ns = match self.wall {
            Wall::Now => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| d.as_nanos() as u64),
            Wall::Epoch => {
                self.clock.anchor_tick = 0;
                0
            }
        };
    }
}
