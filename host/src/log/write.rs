//! Writing a log so that a crash costs at most the last instant.
//!
//! In: frames and JSON values with their times \[ns\]. Out: an MCAP file. Each chunk reaches the
//! kernel in one write at most [`FLUSH_EVERY`] after its first message; the index is written by
//! [`LogWriter::finish`]. The writer does not sync to disk: a process may be killed at any
//! moment, a power cut may cost what the kernel had not yet written.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use mcap::records::{MessageHeader, Metadata};
use mcap::write::NoSeek;

use super::Topic;
use super::read::Item;
use crate::config::axes::Axes;
use crate::error::{Error, Result};
use crate::file;
use crate::log::metadata::Metadata as Recording;

/// Longest time a message waits in memory.
pub const FLUSH_EVERY: Duration = Duration::from_millis(40);
/// A chunk is also closed at this size, for sources that run faster than real time [bytes].
const CHUNK_BYTES: u64 = 64 * 1024;
/// Name of the metadata record written at a clean end.
pub const METADATA: &str = "stribeck";
/// Name of the metadata record at the beginning: who recorded what.
pub const RECORDING: &str = "stribeck.recording";
/// Encoding of the `/wire` topics.
pub const WIRE_ENCODING: &str = "stribeck-wire";

/// The two clocks of a message \[ns\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Wall clock (Unix time).
    pub log_ns: u64,
    /// Device time since its tick 0; over a reset it goes on by the wall clock.
    pub device_ns: u64,
}

pub struct LogWriter<W: Write> {
    mcap: mcap::Writer<NoSeek<W>>,
    channels: BTreeMap<Topic, u16>,
    sequence: BTreeMap<Topic, u32>,
    /// Last times of each topic: they never run back.
    latest: BTreeMap<Topic, Stamp>,
    /// When the oldest message still in memory was written.
    axes: Axes,
    waiting_since: Option<Instant>,
    name: std::path::PathBuf,
}

impl LogWriter<BufWriter<File>> {
    /// Create the log at `path`, with `force` in place of an existing one; nobody else can while it is written.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        let file = file::create_alone(path, force)?;
        Self::new(
            BufWriter::with_capacity(CHUNK_BYTES as usize * 2, file),
            path,
        )
    }
}

impl<W: Write> LogWriter<W> {
    /// Write a log to `out`; `name` is only used in error messages.
    pub fn new(out: W, name: &Path) -> Result<Self> {
        let mcap = mcap::WriteOptions::new()
            .compression(None)
            .chunk_size(Some(CHUNK_BYTES))
            .disable_seeking(true)
            .calculate_data_section_crc(false)
            .profile("stribeck")
            .library(concat!("stribeck ", env!("CARGO_PKG_VERSION")))
            .create(NoSeek::new(out))
            .map_err(|e| fail(name, e))?;
        let mut log = LogWriter {
            mcap,
            channels: BTreeMap::new(),
            sequence: BTreeMap::new(),
            latest: BTreeMap::new(),
            waiting_since: None,
            axes: Axes::default(),
            name: name.into(),
        };
        log.flush()?;
        Ok(log)
    }

    /// What the joints of the device are: names and units of the viewer topics that begin from here on.
    pub fn joints(&mut self, axes: Axes) {
        self.axes = axes;
    }

    /// Say who recorded what; also kept by a log that is never closed.
    pub fn recording(&mut self, metadata: &Recording) -> Result<()> {
        if metadata.is_empty() {
            return Ok(());
        }
        let record = Metadata {
            name: RECORDING.into(),
            metadata: metadata.fields().into_iter().collect(),
        };
        self.mcap
            .write_metadata(&record)
            .map_err(|e| fail(&self.name, e))?;
        self.flush()
    }

    /// Append one frame, byte for byte.
    pub fn frame(&mut self, topic: Topic, at: Stamp, bytes: &[u8]) -> Result<()> {
        debug_assert!(topic.is_wire());
        self.message(topic, at, bytes)
    }

    /// Append one value for viewers.
    pub fn json(&mut self, topic: Topic, at: Stamp, value: &serde_json::Value) -> Result<()> {
        debug_assert!(!topic.is_wire());
        let text =
            serde_json::to_vec(value).map_err(|e| Error::write(&self.name, io::Error::other(e)))?;
        self.message(topic, at, &text)
    }

    /// Append a message of another log as it is.
    pub fn copy(&mut self, item: &Item<'_>) -> Result<()> {
        self.put(item.topic, item.at, item.data)
    }

    fn message(&mut self, topic: Topic, mut at: Stamp, data: &[u8]) -> Result<()> {
        let last = self.latest.entry(topic).or_default();
        at.log_ns = at.log_ns.max(last.log_ns);
        at.device_ns = at.device_ns.max(last.device_ns);
        *last = at;
        self.put(topic, at, data)
    }

    fn put(&mut self, topic: Topic, at: Stamp, data: &[u8]) -> Result<()> {
        let channel_id = self.channel(topic)?;
        let sequence = self.sequence.entry(topic).or_default();
        let header = MessageHeader {
            channel_id,
            sequence: *sequence,
            log_time: at.log_ns,
            publish_time: at.device_ns,
        };
        *sequence += 1;
        self.mcap
            .write_to_known_channel(&header, data)
            .map_err(|e| fail(&self.name, e))?;
        self.waiting_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    fn channel(&mut self, topic: Topic) -> Result<u16> {
        if let Some(&id) = self.channels.get(&topic) {
            return Ok(id);
        }
        let name = &self.name;
        // Also for the wire: viewers look every channel's schema up, and some end at one that is not there.
        let schema = super::schema::of(topic, &self.axes);
        let title = topic.name().trim_start_matches('/').replace('/', ".");
        let schema = self
            .mcap
            .add_schema(
                &format!("stribeck.{title}"),
                schema.encoding,
                schema.text.as_bytes(),
            )
            .map_err(|e| fail(name, e))?;
        let encoding = if topic.is_wire() {
            WIRE_ENCODING
        } else {
            "json"
        };
        let id = self
            .mcap
            .add_channel(schema, topic.name(), encoding, &BTreeMap::new())
            .map_err(|e| fail(name, e))?;
        self.channels.insert(topic, id);
        Ok(id)
    }

    /// Hand what is in memory to the kernel if it has waited long enough. Call often.
    pub fn flush_if_due(&mut self) -> Result<()> {
        match self.waiting_since {
            Some(since) if since.elapsed() >= FLUSH_EVERY => self.flush(),
            _ => Ok(()),
        }
    }

    /// Hand everything to the kernel now.
    pub fn flush(&mut self) -> Result<()> {
        self.waiting_since = None;
        self.mcap.flush().map_err(|e| fail(&self.name, e))
    }

    /// Close the log: metadata for `info`, then the index.
    pub fn finish(mut self, metadata: BTreeMap<String, String>) -> Result<()> {
        let record = Metadata {
            name: METADATA.into(),
            metadata,
        };
        self.mcap
            .write_metadata(&record)
            .map_err(|e| fail(&self.name, e))?;
        self.mcap.finish().map_err(|e| fail(&self.name, e))?;
        let name = std::mem::take(&mut self.name);
        self.mcap
            .into_inner()
            .into_inner()
            .flush()
            .map_err(|e| Error::write(&name, e))
    }
}

fn fail(name: &Path, error: mcap::McapError) -> Error {
    let source = match error {
        mcap::McapError::Io(e) => e,
        other => io::Error::other(other),
    };
    Error::write(name, source)
}
