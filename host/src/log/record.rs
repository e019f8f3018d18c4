//! MCAP records as byte slices, without trusting any of them.
//!
//! Only what reading needs: record framing, the chunk header, messages, channels. Everything
//! returns `None` instead of failing, because the caller decides what a malformed record means.

use std::collections::BTreeMap;

/// File magic, at the beginning and at the end.
pub const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";
/// Operation code and length in front of every record \[bytes\].
pub const HEAD: usize = 9;

pub mod op {
    pub const HEADER: u8 = 0x01;
    pub const FOOTER: u8 = 0x02;
    pub const CHANNEL: u8 = 0x04;
    pub const MESSAGE: u8 = 0x05;
    pub const CHUNK: u8 = 0x06;
    pub const STATISTICS: u8 = 0x0B;
    pub const METADATA: u8 = 0x0C;
    pub const METADATA_INDEX: u8 = 0x0D;
    pub const DATA_END: u8 = 0x0F;
}

/// A reader over a slice whose every step can fail.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    pub fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes(2)?.try_into().ok()?))
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    pub fn text(&mut self) -> Option<&'a str> {
        let n = self.u32()? as usize;
        std::str::from_utf8(self.bytes(n)?).ok()
    }

    /// A map of text to text, as in metadata records.
    pub fn map(&mut self) -> Option<Vec<(&'a str, &'a str)>> {
        let n = self.u32()? as usize;
        let mut inner = Fields(self.bytes(n)?);
        let mut pairs = Vec::new();
        while !inner.0.is_empty() {
            pairs.push((inner.text()?, inner.text()?));
        }
        Some(pairs)
    }
}

/// Operation code and body length of the record that `bytes` begin with.
pub fn head(bytes: &[u8]) -> Option<(u8, u64)> {
    let mut f = Fields(bytes);
    let op = *f.bytes(1)?.first()?;
    Some((op, f.u64()?))
}

/// Whether a record of this operation code can exist (reserved codes are damage).
pub fn known(op: u8) -> bool {
    (op::HEADER..=op::DATA_END).contains(&op) || op >= 0x80
}

/// The fixed part of a chunk record.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    pub start_ns: u64,
    pub end_ns: u64,
    pub uncompressed: u64,
    pub crc: u32,
    pub compression: &'a str,
    /// Length of the records that follow \[bytes\].
    pub records: u64,
}

/// Longest possible chunk header \[bytes\].
pub const CHUNK_HEAD: usize = 8 + 8 + 8 + 4 + 4 + 4 + 8;

impl<'a> Chunk<'a> {
    /// The chunk header at the beginning of `body`, and its own length.
    pub fn parse(body: &'a [u8]) -> Option<(Chunk<'a>, usize)> {
        let mut f = Fields(body);
        let chunk = Chunk {
            start_ns: f.u64()?,
            end_ns: f.u64()?,
            uncompressed: f.u64()?,
            crc: f.u32()?,
            compression: f.text()?,
            records: f.u64()?,
        };
        matches!(chunk.compression, "" | "zstd" | "lz4").then_some((chunk, body.len() - f.0.len()))
    }
}

/// A message record.
pub struct Message<'a> {
    pub channel: u16,
    pub log_ns: u64,
    pub device_ns: u64,
    pub data: &'a [u8],
}

impl<'a> Message<'a> {
    pub fn parse(body: &'a [u8]) -> Option<Message<'a>> {
        let mut f = Fields(body);
        let channel = f.u16()?;
        f.u32()?;
        Some(Message {
            channel,
            log_ns: f.u64()?,
            device_ns: f.u64()?,
            data: f.0,
        })
    }
}

/// The map of a metadata record of this name.
pub fn metadata(body: &[u8], name: &str) -> Option<BTreeMap<String, String>> {
    let mut f = Fields(body);
    (f.text()? == name).then_some(())?;
    let pairs = f.map()?.into_iter();
    Some(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
}

/// Identifier, topic and encoding of a channel record.
pub fn channel(body: &[u8]) -> Option<(u16, &str, &str)> {
    let mut f = Fields(body);
    let id = f.u16()?;
    f.u16()?;
    Some((id, f.text()?, f.text()?))
}
