//! What a cleanly closed log says about itself in its last bytes, without reading the rest.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::Topic;
use crate::error::{Error, Result};
use crate::log::record::{self, Fields, HEAD, MAGIC, op};
use crate::log::summary::Summary;
use crate::log::write::METADATA;

/// The index of a closed log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// Messages per topic.
    pub messages: BTreeMap<Topic, u64>,
    /// Wall clock of the first and the last message \[ns\].
    pub start_ns: u64,
    pub end_ns: u64,
    pub chunks: u32,
    /// The `stribeck` metadata record.
    pub metadata: BTreeMap<String, String>,
}

/// Footer record and closing magic [bytes].
const TAIL: usize = HEAD + 20 + MAGIC.len();

/// The summary of the log at `path`; `None` if it was not closed or is damaged at its end.
pub fn read(path: &Path) -> Result<Option<Closing>> {
    let mut file = File::open(path).map_err(|e| Error::read(path, e))?;
    let size = file.metadata().map_err(|e| Error::read(path, e))?.len();
    if size < (MAGIC.len() + TAIL) as u64 {
        return Ok(None);
    }
    let mut get = |at: u64, len: u64| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at))
            .map_err(|e| Error::read(path, e))?;
        (&mut file)
            .take(len)
            .read_to_end(&mut bytes)
            .map_err(|e| Error::read(path, e))?;
        Ok(bytes)
    };
    let tail = get(size - TAIL as u64, TAIL as u64)?;
    let Some(start) = footer(&tail) else {
        return Ok(None);
    };
    let end = size - TAIL as u64;
    if start == 0 || start >= end {
        return Ok(None);
    }
    let index = get(start, end - start)?;
    if !checksum_fits(&index, &tail) {
        return Ok(None);
    }
    let Some((mut summary, metadata)) = section(&index) else {
        return Ok(None);
    };
    if let Some((at, len)) = metadata {
        if len > end || at > end - len {
            return Ok(None);
        }
        let bytes = get(at, len)?;
        let Some(pairs) = bytes
            .get(HEAD..)
            .and_then(|b| record::metadata(b, METADATA))
        else {
            return Ok(None);
        };
        summary.metadata = pairs;
    }
    Ok(Some(summary))
}

/// Whether a closed log has the closing record it should have: index whole, checksum right.
pub fn is_sound(path: &Path) -> Result<bool> {
    Ok(read(path)?.is_some_and(|closing| {
        closing.metadata.is_empty() || Summary::from_closing(&closing).is_some()
    }))
}

/// Where the summary section begins, if `tail` is a footer with its magic.
fn footer(tail: &[u8]) -> Option<u64> {
    let (op, len) = record::head(tail)?;
    (op == op::FOOTER && len == 20 && tail.ends_with(&MAGIC)).then_some(())?;
    Fields(&tail[HEAD..]).u64()
}

/// The footer's checksum over the index and its own beginning; 0 means that none was taken.
fn checksum_fits(index: &[u8], tail: &[u8]) -> bool {
    let covered = HEAD + 16;
    let (Some(head), Some(crc)) = (
        tail.get(..covered),
        tail.get(covered..).and_then(|rest| Fields(rest).u32()),
    ) else {
        return false;
    };
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(index);
    hasher.update(head);
    crc == 0 || crc == hasher.finalize()
}

type Place = (u64, u64);

fn section(mut bytes: &[u8]) -> Option<(Closing, Option<Place>)> {
    let mut summary = Closing::default();
    let mut topics = BTreeMap::new();
    let mut counts = Vec::new();
    let mut place = None;
    while !bytes.is_empty() {
        let (op, len) = record::head(bytes)?;
        let body = bytes.get(HEAD..)?.get(..usize::try_from(len).ok()?)?;
        bytes = &bytes[HEAD + body.len()..];
        let mut f = Fields(body);
        match op {
            op::CHANNEL => {
                let (id, name, _) = record::channel(body)?;
                topics.insert(id, Topic::from_name(name));
            }
            op::STATISTICS => {
                f.bytes(8 + 2 + 4 + 4 + 4)?;
                summary.chunks = f.u32()?;
                summary.start_ns = f.u64()?;
                summary.end_ns = f.u64()?;
                let n = f.u32()? as usize;
                let mut map = Fields(f.bytes(n)?);
                while !map.0.is_empty() {
                    counts.push((map.u16()?, map.u64()?));
                }
            }
            op::METADATA_INDEX => {
                let at = (f.u64()?, f.u64()?);
                if f.text()? == METADATA {
                    place = Some(at);
                }
            }
            _ => {}
        }
    }
    for (id, count) in counts {
        if let Some(&Some(topic)) = topics.get(&id) {
            summary.messages.insert(topic, count);
        }
    }
    Some((summary, place))
}
