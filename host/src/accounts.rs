//! The accounts of a log: what is in it, what is missing, how it compares. Written into the log when it is closed, so that
//! `info` need not read the rest; computed by reading when it was not closed.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::check::Verdict;
use crate::config;
use crate::describe;
use crate::error::{Error, Result};
use crate::ledger::Losses;
use crate::log::summary::Summary;
use crate::session::{Happening, Session};

/// Events kept in the accounts; the log itself has all.
const EVENTS: usize = 1000;
/// Key of the metadata record.
const KEY: &str = "accounts";

/// Something that happened at a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    pub tick: u64,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accounts {
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
    pub events: Vec<Noted>,
}

impl Accounts {
    /// As the log's metadata record.
    pub fn to_metadata(&self) -> Result<BTreeMap<String, String>> {
        let json = serde_json::to_string(self)
            .map_err(|e| Error::write(Path::new("log"), io::Error::other(e)))?;
        Ok(BTreeMap::from([(KEY.to_string(), json)]))
    }

    /// From a closed log; `None` if they are of another version of this program.
    pub fn from_summary(summary: &Summary) -> Option<Self> {
        serde_json::from_str(summary.metadata.get(KEY)?).ok()
    }

    /// Device time covered [s].
    pub fn seconds(&self) -> f64 {
        self.ticks as f64 / f64::from(self.tick_hz.max(1))
    }
}

/// Collects what the session itself does not keep.
#[derive(Default)]
pub struct Survey {
    bytes: u64,
    first_tick: Option<u64>,
    last_tick: u64,
    events: Vec<Noted>,
}

impl Survey {
    pub fn bytes(&mut self, n: usize) {
        self.bytes += n as u64;
    }

    pub fn take(&mut self, happening: &Happening<'_>) {
        match happening {
            Happening::Block { block, .. } => {
                self.first_tick.get_or_insert(block.first_tick);
                self.last_tick = block.end_tick().saturating_sub(1);
            }
            Happening::Event(event) if self.events.len() < EVENTS => self.events.push(Noted {
                tick: event.tick,
                text: describe::event(event),
            }),
            _ => {}
        }
    }

    pub fn accounts(&self, session: &Session) -> Accounts {
        let mut accounts = Accounts {
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
            ..Accounts::default()
        };
        if let Some(hello) = session.hello() {
            accounts.board = hello.board.to_string();
            accounts.build = hello.build.to_string();
            accounts.numerics = hello.numerics;
            accounts.protocol = hello.protocol;
            accounts.tick_hz = hello.tick_hz;
            let config = hello.config().ok();
            accounts.config = config
                .and_then(|c| config::to_toml(&c).ok())
                .unwrap_or_default();
        }
        accounts
    }
}
