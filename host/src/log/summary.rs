//! The summary of a log: what is in it, what is missing, how it compares. Written into the log when it is closed, so that
//! `info` need not read the rest; computed by reading when it was not closed.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use stribeck_core::wire::Hello;

use crate::config;
use crate::config::axes::Axes;
use crate::error::{Error, Result};
use crate::link::compare::Verdict;
use crate::link::order::Losses;
use crate::link::session::{Session, SessionEvent};
use crate::link::wording;
use crate::log::closing::Closing;
use crate::log::metadata::Metadata;

/// Events kept in the summary; the log itself has all.
const EVENTS: usize = 1000;
/// Problems kept in the summary.
const PROBLEMS: usize = 1000;
/// Key of the metadata record, and what it was called in logs of 0.1.
const KEY: &str = "summary";
const OLD_KEY: &str = "accounts";
/// Checksum of the summary's text: a flipped bit in it must not change a configuration unnoticed.
const CRC: &str = "crc32";

/// Something that happened at a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    pub tick: u64,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub board: String,
    pub build: String,
    pub numerics: u16,
    pub protocol: u16,
    pub tick_hz: u32,
    /// The device's configuration, TOML.
    pub config: String,
    pub ticks: u64,
    /// First and last tick received.
    pub first_tick: u64,
    pub last_tick: u64,
    pub segments: u32,
    /// Bytes on the wire.
    pub bytes: u64,
    pub losses: Losses,
    pub verdict: Verdict,
    /// Why nothing was compared, if so.
    pub not_verified: Option<String>,
    /// Blocks the device itself discarded because the link was behind (its own count).
    pub device_dropped_blocks: u32,
    pub events: Vec<EventLine>,
    /// All events, listed or not.
    #[serde(default)]
    pub events_total: u64,
    /// Who recorded what.
    #[serde(default)]
    pub metadata: Metadata,
    /// Panic or fault text the device's previous program left behind, as first heard.
    #[serde(default)]
    pub last_fault: String,
    /// What went wrong beyond lost data: resets, orders without a reply, a capture that was ended.
    #[serde(default)]
    pub problems: Vec<String>,
}

impl Summary {
    /// As the log's metadata record.
    pub fn to_metadata(&self) -> Result<BTreeMap<String, String>> {
        let json = serde_json::to_string(self)
            .map_err(|e| Error::write(Path::new("log"), io::Error::other(e)))?;
        let crc = format!("{:08x}", crc32fast::hash(json.as_bytes()));
        Ok(BTreeMap::from([
            (KEY.to_string(), json),
            (CRC.to_string(), crc),
        ]))
    }

    /// From a closed log; `None` if it is of another version of this program, or damaged.
    pub fn from_closing(closing: &Closing) -> Option<Self> {
        let metadata = &closing.metadata;
        let Some(json) = metadata.get(KEY) else {
            return serde_json::from_str(metadata.get(OLD_KEY)?).ok();
        };
        let crc = format!("{:08x}", crc32fast::hash(json.as_bytes()));
        (*metadata.get(CRC)? == crc).then(|| serde_json::from_str(json).ok())?
    }

    /// What to answer the shell beyond losses: the device was reset, did not do as told, or the capture was ended.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Device time covered \[s\].
    pub fn seconds(&self) -> f64 {
        self.ticks as f64 / f64::from(self.tick_hz.max(1))
    }
}

/// Collects what the session itself does not keep.
#[derive(Default)]
pub struct Tally {
    bytes: u64,
    first_tick: Option<u64>,
    last_tick: u64,
    events: Vec<EventLine>,
    events_total: u64,
    axes: Axes,
    boot: Option<u32>,
    last_fault: String,
    problems: Vec<String>,
}

impl Tally {
    pub fn bytes(&mut self, n: usize) {
        self.bytes += n as u64;
    }

    pub fn take(&mut self, event: &SessionEvent<'_>) {
        match event {
            SessionEvent::Block { block, .. } => {
                self.first_tick.get_or_insert(block.first_tick);
                self.last_tick = block.end_tick().saturating_sub(1);
            }
            SessionEvent::Event(event) => {
                self.events_total += 1;
                if self.events.len() < EVENTS {
                    self.events.push(EventLine {
                        tick: event.tick,
                        text: wording::event(event, &self.axes),
                    });
                }
            }
            SessionEvent::Hello { hello, .. } => self.hello(hello),
            _ => {}
        }
    }

    fn hello(&mut self, hello: &Hello) {
        self.axes = wording::axes(hello);
        match self.boot.replace(hello.boot) {
            None => self.last_fault = wording::printable(&hello.last_fault),
            Some(boot) if boot != hello.boot => {
                let last = self.last_tick;
                self.problem(format!(
                    "the device was reset after tick {last}: {}",
                    wording::reset(hello)
                ));
            }
            Some(_) => {}
        }
    }

    /// Something went wrong that is not lost data.
    pub fn problem(&mut self, text: String) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(text);
        }
    }

    pub fn summary(&self, session: &Session) -> Summary {
        let mut summary = Summary {
            ticks: session.ticks(),
            first_tick: self.first_tick.unwrap_or(0),
            last_tick: self.last_tick,
            segments: session.segments(),
            bytes: self.bytes,
            losses: session.losses().clone(),
            verdict: session.verdict(),
            not_verified: session.not_verified().map(str::to_owned),
            device_dropped_blocks: session.status().map_or(0, |s| s.dropped_blocks),
            events: self.events.clone(),
            events_total: self.events_total,
            last_fault: self.last_fault.clone(),
            problems: self.problems.clone(),
            ..Summary::default()
        };
        if let Some(hello) = session.hello() {
            summary.board = wording::printable(&hello.board);
            summary.build = wording::printable(&hello.build);
            summary.numerics = hello.numerics;
            summary.protocol = hello.protocol;
            summary.tick_hz = hello.tick_hz;
            let config = hello.config().ok();
            summary.config = config
                .and_then(|c| config::to_toml(&c).ok())
                .unwrap_or_default();
        }
        summary
    }
}
