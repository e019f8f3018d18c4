//! Reading a log, whole or not: a file cut anywhere, damaged in the middle, or still being written.
//!
//! In: a file. Out: the messages in file order, one chunk in memory at a time, and a list of
//! [`Damage`] telling what could not be read. Never fails for the content of a file that begins
//! like an MCAP file; only for what the operating system refuses.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Topic;
use super::damage::Damage;
use super::metadata::Metadata;
use super::record::{self, CHUNK_HEAD, Chunk, HEAD, MAGIC, Message, op};
use super::write::{RECORDING, Stamp, WIRE_ENCODING};
use crate::error::{Error, Result};

/// Larger records are taken for damage [bytes].
const LARGEST: u64 = 64 << 20;
/// Step of the search for the next chunk after damage [bytes].
const WINDOW: usize = 1 << 16;
/// Read at least this much at once [bytes].
const AHEAD: usize = 1 << 17;

/// The search for chunks checks at most this many times the size of the file.
const SEARCH: u64 = 4;

/// The records of a compressed chunk, if they are as many bytes as it says and not more than can be right.
fn decompress(stored: &[u8], claimed: u64) -> Option<Vec<u8>> {
    if claimed > LARGEST {
        return None;
    }
    let mut records = Vec::new();
    let decoder = zstd::Decoder::new(stored).ok()?;
    decoder.take(claimed + 1).read_to_end(&mut records).ok()?;
    (records.len() as u64 == claimed).then_some(records)
}

/// One message of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    pub topic: Topic,
    pub at: Stamp,
    pub data: &'a [u8],
}

pub struct LogReader<R> {
    input: R,
    path: PathBuf,
    size: u64,
    /// Next byte of the file to be interpreted.
    offset: u64,
    /// The records being read, and where in them the next one begins.
    records: Vec<u8>,
    next: usize,
    /// Topic and place in `records` of the message being looked at.
    at_message: Option<(Topic, Range<usize>)>,
    /// File offset of `records`, to tell where a cut message begins.
    records_offset: u64,
    /// `records` are the beginning of a chunk the file does not hold completely.
    partial: bool,
    topics: HashMap<u16, Topic>,
    damage: Vec<Damage>,
    /// Who recorded what, from the log's beginning.
    recording: Metadata,
    /// Bytes checked in the search for chunks: bounded, so that false heads cost linear time.
    searched: u64,
    closed: bool,
    done: bool,
    /// Bytes read ahead of need, and where in the file they begin.
    ahead: Vec<u8>,
    ahead_at: u64,
}

impl LogReader<File> {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        let size = file.metadata().map_err(|e| Error::read(path, e))?;
        if size.is_dir() {
            return Err(Error::invalid(
                format!("{} is a folder", path.display()),
                "name the log file itself",
            ));
        }
        Self::new(file, size.len(), path)
    }
}

impl<R: Read + Seek> LogReader<R> {
    /// Read a log of `size` bytes; `path` is only used in messages.
    pub fn new(mut input: R, size: u64, path: &Path) -> Result<Self> {
        let mut magic = Vec::new();
        input
            .by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(|e| Error::read(path, e))?;
        if size == 0 {
            return Err(Error::invalid(
                format!("{} is empty (0 bytes)", path.display()),
                "nothing was ever recorded in it; capture again",
            ));
        }
        if !MAGIC.starts_with(&magic) {
            return Err(Error::invalid(
                format!(
                    "{} is not a log: an MCAP file begins with 89 4D 43 41 50, this one with {}",
                    path.display(),
                    magic
                        .iter()
                        .take(5)
                        .map(|b| format!("{b:02X}"))
                        .collect::<Vec<_>>()
                        .join(" ")
                ),
                "logs are written by `stribeck capture` and `stribeck simulate`",
            ));
        }
        Ok(LogReader {
            input,
            path: path.into(),
            size,
            offset: magic.len() as u64,
            records: Vec::new(),
            next: 0,
            at_message: None,
            records_offset: 0,
            partial: false,
            topics: HashMap::new(),
            damage: Vec::new(),
            recording: Metadata::default(),
            searched: 0,
            closed: false,
            done: false,
            ahead: Vec::new(),
            ahead_at: 0,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What could not be read so far; complete when [`LogReader::read_next`] has returned `None`.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Who recorded what, as far as read.
    pub fn recording(&self) -> &Metadata {
        &self.recording
    }

    /// Fraction of the file already read, for progress [0..1].
    pub fn progress(&self) -> f64 {
        if self.size == 0 {
            1.0
        } else {
            self.offset as f64 / self.size as f64
        }
    }

    /// The next message of a known topic, or `None` at the end of what can be read.
    pub fn read_next(&mut self) -> Result<Option<Item<'_>>> {
        Ok(match self.next_message()? {
            true => self.message(),
            false => None,
        })
    }

    /// Go on to the next message of a known topic; false at the end of what can be read.
    pub fn next_message(&mut self) -> Result<bool> {
        self.at_message = None;
        loop {
            match self.next_record() {
                Some((op::MESSAGE, body)) => {
                    let topic = Message::parse(&self.records[body.clone()])
                        .and_then(|m| self.topics.get(&m.channel).copied());
                    if let Some(topic) = topic {
                        self.at_message = Some((topic, body));
                        return Ok(true);
                    }
                }
                Some((op::CHANNEL, body)) => self.channel(body),
                Some(_) => {}
                None if self.done => return Ok(false),
                None => self.load().map_err(|e| Error::read(&self.path, e))?,
            }
        }
    }

    /// The message [`LogReader::next_message`] went on to.
    pub fn message(&self) -> Option<Item<'_>> {
        let (topic, range) = self.at_message.clone()?;
        Message::parse(&self.records[range]).map(|m| Item {
            topic,
            at: Stamp {
                log_ns: m.log_ns,
                device_ns: m.device_ns,
            },
            data: m.data,
        })
    }

    fn channel(&mut self, body: Range<usize>) {
        if let Some((id, name, encoding)) = record::channel(&self.records[body])
            && let Some(topic) = Topic::from_name(name)
            && topic.is_wire() == (encoding == WIRE_ENCODING)
        {
            self.topics.insert(id, topic);
        }
    }

    /// The next whole record in memory.
    fn next_record(&mut self) -> Option<(u8, Range<usize>)> {
        let rest = self.records.get(self.next..)?;
        if rest.is_empty() {
            return None;
        }
        let whole = record::head(rest)
            .filter(|&(op, len)| record::known(op) && len <= (rest.len() - HEAD) as u64);
        match whole {
            Some((op, len)) => {
                let begin = self.next + HEAD;
                self.next = begin + len as usize;
                Some((op, begin..self.next))
            }
            None => {
                let bytes = rest.len() as u64;
                let offset = self.records_offset + self.next as u64;
                // A whole chunk with a bad checksum has been reported already.
                if self.partial {
                    self.damage.push(Damage::CutShort { offset, bytes });
                }
                self.next = self.records.len();
                None
            }
        }
    }

    /// Bring the next top-level record, or the content of the next chunk, into memory.
    fn load(&mut self) -> io::Result<()> {
        self.records.clear();
        self.next = 0;
        self.partial = false;
        let at = self.offset;
        let left = self.size - at;
        if left == 0 || self.closed {
            return self.end();
        }
        let head = self.peek(at, HEAD)?;
        match record::head(&head) {
            None => self.cut(at),
            Some((op, len)) if record::known(op) && len <= (left - HEAD as u64).min(LARGEST) => {
                match op {
                    op::CHUNK => self.chunk(at, len)?,
                    // The index after it repeats what the data section said.
                    op::DATA_END | op::FOOTER => self.closed = true,
                    op::METADATA => {
                        let body = self.peek(at + HEAD as u64, len as usize)?;
                        if let Some(fields) = record::metadata(&body, RECORDING) {
                            self.recording = Metadata::from_fields(&fields);
                        }
                    }
                    op::CHANNEL | op::MESSAGE => {
                        self.records = self.peek(at, HEAD + len as usize)?;
                        self.records_offset = at;
                    }
                    _ => {}
                }
                self.offset = at + HEAD as u64 + len;
                Ok(())
            }
            Some((op, len)) => self.salvage(at, op, len),
        }
    }

    /// A chunk that the file holds completely.
    fn chunk(&mut self, at: u64, len: u64) -> io::Result<()> {
        let body = self.peek(at + HEAD as u64, len as usize)?;
        let Some((chunk, used)) = Chunk::parse(&body) else {
            self.damage.push(Damage::Garbage {
                offset: at,
                resumed: at + HEAD as u64 + len,
            });
            return Ok(());
        };
        let stored = &body[used..];
        let records = match chunk.compression {
            "" => Some(stored.to_vec()),
            "zstd" => decompress(stored, chunk.uncompressed),
            _ => None,
        };
        let Some(records) = records else {
            self.damage.push(Damage::Compression { offset: at });
            return Ok(());
        };
        if chunk.crc != 0 && crc32fast::hash(&records) != chunk.crc {
            self.damage.push(Damage::Checksum { offset: at });
        }
        self.records_offset = at + (HEAD + used) as u64;
        self.records = records;
        Ok(())
    }

    /// A record that does not fit into the file: cut short, or damaged. Keep its whole messages,
    /// then look for the next chunk.
    fn salvage(&mut self, at: u64, op: u8, len: u64) -> io::Result<()> {
        let begin = at + HEAD as u64;
        if op == op::CHUNK {
            let head = self.peek(begin, CHUNK_HEAD)?;
            if let Some((chunk, used)) = Chunk::parse(&head)
                && chunk.compression.is_empty()
                && chunk.records.saturating_add(used as u64) == len
            {
                let from = begin + used as u64;
                let have = (self.size - from).min(LARGEST) as usize;
                self.records = self.peek(from, have)?;
                self.records_offset = from;
                self.partial = true;
                self.offset = self.size;
                if have == 0 {
                    self.damage.push(Damage::CutShort {
                        offset: at,
                        bytes: self.size - at,
                    });
                }
                return Ok(());
            }
        }
        match self.find_chunk(at + 1)? {
            Some(resumed) => {
                self.damage.push(Damage::Garbage {
                    offset: at,
                    resumed,
                });
                self.offset = resumed;
                Ok(())
            }
            None => self.cut(at),
        }
    }

    /// The next place at or after `from` that begins a whole chunk with the right checksum.
    fn find_chunk(&mut self, from: u64) -> io::Result<Option<u64>> {
        let mut at = from;
        while at < self.size {
            let window = self.peek(at, WINDOW + HEAD + CHUNK_HEAD)?;
            for i in 0..window.len().min(WINDOW) {
                if window[i] == op::CHUNK && self.is_chunk(at + i as u64, &window[i..])? {
                    return Ok(Some(at + i as u64));
                }
            }
            at += WINDOW as u64;
        }
        Ok(None)
    }

    fn is_chunk(&mut self, at: u64, bytes: &[u8]) -> io::Result<bool> {
        let Some((_, len)) = record::head(bytes) else {
            return Ok(false);
        };
        if len > LARGEST || at + HEAD as u64 + len > self.size {
            return Ok(false);
        }
        let Some((chunk, used)) = bytes.get(HEAD..).and_then(Chunk::parse) else {
            return Ok(false);
        };
        if chunk.records.saturating_add(used as u64) != len {
            return Ok(false);
        }
        let (crc, plain) = (chunk.crc, chunk.compression.is_empty());
        self.searched += len;
        if self.searched > SEARCH * self.size + LARGEST {
            return Ok(false);
        }
        let stored = self.peek(at + (HEAD + used) as u64, len as usize - used)?;
        Ok(!plain || crc == 0 || crc32fast::hash(&stored) == crc)
    }

    fn cut(&mut self, at: u64) -> io::Result<()> {
        self.damage.push(Damage::CutShort {
            offset: at,
            bytes: self.size - at,
        });
        self.offset = self.size;
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        if !self.closed {
            self.damage.push(Damage::NotClosed);
        }
        self.offset = self.size;
        self.done = true;
        Ok(())
    }

    /// Up to `len` bytes from `at`; fewer at the end of the file.
    fn peek(&mut self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let len = len.min(self.size.saturating_sub(at) as usize);
        let begin = at.wrapping_sub(self.ahead_at) as usize;
        if let Some(bytes) = self.ahead.get(begin..).and_then(|rest| rest.get(..len)) {
            return Ok(bytes.to_vec());
        }
        self.ahead.clear();
        self.ahead_at = at;
        self.input.seek(SeekFrom::Start(at))?;
        let wanted = len.max(AHEAD) as u64;
        self.input
            .by_ref()
            .take(wanted)
            .read_to_end(&mut self.ahead)?;
        Ok(self.ahead[..len.min(self.ahead.len())].to_vec())
    }
}
