//! One pass over a log: the only loop that turns a file back into what the device said.
//!
//! In: a path. Out: every [`SessionEvent`] in order, then a [`Pass`]: the session with its losses and verdict, and what
//! of the file could not be read. Everything that reads a log (info, replay, identify, report, export) goes through
//! [`Log::for_each`], so all of them agree on what is in it and on what is damaged.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::link::session::{Session, SessionEvent};
use crate::log::Topic;
use crate::log::closing;
use crate::log::damage::Damage;
use crate::log::metadata::Metadata;
use crate::log::read::LogReader;

/// Messages between two reports of progress.
const PROGRESS_EVERY: u32 = 1024;

/// A log that is about to be read.
///
/// ```no_run
/// use stribeck::{Log, SessionEvent};
///
/// let mut ticks = 0;
/// let pass = Log::open("run.mcap")?.for_each(|_| {}, |event| {
///     if let SessionEvent::Block { block, .. } = event {
///         ticks += u64::from(block.ticks);
///     }
///     Ok(())
/// })?;
/// assert_eq!(ticks, pass.session.ticks());
/// assert!(pass.damage.is_empty());
/// # Ok::<(), stribeck::Error>(())
/// ```
pub struct Log {
    path: PathBuf,
    reader: LogReader<File>,
    verify: bool,
    skip: Skip,
}

/// What a pass over a log leaves behind.
pub struct Pass {
    /// Losses, verdict, last Hello, ticks.
    pub session: Session,
    /// What of the file could not be read.
    pub damage: Vec<Damage>,
    /// Bytes of the wire.
    pub bytes: u64,
    /// Who recorded what.
    pub recording: Metadata,
}

impl Log {
    /// Fails if there is no such file or it does not begin like a log.
    pub fn open(path: impl AsRef<Path>) -> Result<Log> {
        let path = path.as_ref();
        Ok(Log {
            path: path.into(),
            reader: LogReader::open(path)?,
            verify: false,
            skip: Skip::default(),
        })
    }

    /// Run the observers again on the way and compare every bit with what the device said.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Leave out blocks before the last snapshot before this tick.
    pub fn from_tick(mut self, tick: Option<u64>) -> Self {
        self.skip.from = tick;
        self
    }

    /// Hand everything the device said to `each`, in order. `progress` is told the part of the file read [0..1].
    /// A log without a Hello is refused: nothing in it can be interpreted.
    pub fn for_each(
        mut self,
        mut progress: impl FnMut(f64),
        mut each: impl FnMut(&SessionEvent<'_>) -> Result<()>,
    ) -> Result<Pass> {
        let mut session = Session::log(self.verify);
        let skip = &mut self.skip;
        let (mut bytes, mut messages) = (0, 0u32);
        while let Some(item) = self.reader.read_next()? {
            if !item.topic.is_wire() || skip.skips(item.topic, item.at.device_ns) {
                continue;
            }
            skip.now = item.at.device_ns;
            bytes += item.data.len() as u64;
            session.bytes(item.data, |event| {
                skip.learn(&event);
                each(&event)
            })?;
            messages += 1;
            if messages.is_multiple_of(PROGRESS_EVERY) {
                progress(self.reader.progress());
            }
        }
        session.end(|event| each(&event))?;
        progress(1.0);
        if let Some(why) = session.no_hello() {
            return Err(Error::refused(
                format!("{} {why}", self.path.display()),
                "use the stribeck version that wrote it; a log cut before its first whole message is lost",
            ));
        }
        let mut damage = self.reader.damage().to_vec();
        if !damage.contains(&Damage::NotClosed) && !closing::is_sound(&self.path)? {
            damage.push(Damage::Closing);
        }
        Ok(Pass {
            session,
            damage,
            bytes,
            recording: self.reader.recording().clone(),
        })
    }
}

/// Leaves out blocks that lie before the last snapshot before the tick asked for.
#[derive(Default)]
struct Skip {
    from: Option<u64>,
    tick_hz: u64,
    lead: u64,
    /// Time of the message being read, and the last Hello's time and tick: over a reset times go on, ticks do not.
    now: u64,
    hello: (u64, u64),
}

impl Skip {
    fn learn(&mut self, event: &SessionEvent<'_>) {
        if let SessionEvent::Hello { hello, .. } = event
            && let Ok(config) = hello.config()
        {
            self.hello = (self.now, hello.uptime_ticks);
            self.tick_hz = u64::from(config.tick_hz);
            self.lead =
                u64::from(config.stream.snapshot_every) + 2 * u64::from(config.stream.block_ticks);
        }
    }

    fn skips(&self, topic: Topic, device_ns: u64) -> bool {
        let Some(from) = self.from else { return false };
        let (at, uptime) = self.hello;
        let ticks = |ns: u64| (u128::from(ns) * u128::from(self.tick_hz) / 1_000_000_000) as u64;
        let tick = match device_ns.checked_sub(at) {
            Some(later) => uptime.saturating_add(ticks(later)),
            None => uptime.saturating_sub(ticks(at - device_ns)),
        };
        topic == Topic::Block && tick.saturating_add(self.lead) < from
    }
}
