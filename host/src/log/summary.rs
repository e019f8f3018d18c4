//! What a cleanly closed log says about itself in its last bytes, without reading the rest.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::Topic;
use super::record::{self, Fields, HEAD, MAGIC, op};
use super::write::METADATA;
use crate::error::{Error, Result};

/// The index of a closed log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Messages per topic.
    pub messages: BTreeMap<Topic, u64>,
    /// Wall clock of the first and the last message [ns].
    pub start_ns: u64,
    pub end_ns: u64,
    pub chunks: u32,
    /// The `stribeck` metadata record.
    pub metadata: BTreeMap<String, String>,
}

/// Footer record and closing magic [bytes].
const TAIL: usize = HEAD + 20 + MAGIC.len();

/// The summary of the log at `path`; `None` if it was not closed or is damaged at its end.
pub fn read(path: &Path) -> Result<Option<Summary>> {
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
    let Some((mut summary, metadata)) = section(&get(start, end - start)?) else {
        return Ok(None);
    };
    if let Some((at, len)) = metadata {
        if len > end || at > end - len {
            return Ok(None);
        }
        let bytes = get(at, len)?;
        let Some(pairs) = bytes.get(HEAD..).and_then(metadata_record) else {
            return Ok(None);
        };
        summary.metadata = pairs;
    }
    Ok(Some(summary))
}

/// Where the summary section begins, if `tail` is a footer with its magic.
fn footer(tail: &[u8]) -> Option<u64> {
    let (op, len) = record::head(tail)?;
    (op == op::FOOTER && len == 20 && tail.ends_with(&MAGIC)).then_some(())?;
    Fields(&tail[HEAD..]).u64()
}

type Place = (u64, u64);

fn section(mut bytes: &[u8]) -> Option<(Summary, Option<Place>)> {
    let mut summary = Summary::default();
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

fn metadata_record(body: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut f = Fields(body);
    (f.text()? == METADATA).then_some(())?;
    Some(
        f.map()?
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect(),
    )
}
