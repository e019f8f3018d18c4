//! A byte stream back to frames: bounded memory, resynchronises at the next delimiter, counts what it refuses.

use serde::Deserialize;

use super::{MAX_FRAME, cobs, crc32};

/// A frame whose CRC is right, body not yet interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    pub kind: u8,
    pub rev: u8,
    pub body: &'a [u8],
}

/// Why bytes between two delimiters were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// No delimiter within [`MAX_FRAME`] bytes.
    TooLong,
    /// COBS codes do not fit.
    Stuffing,
    /// Shorter than kind, rev and CRC.
    TooShort,
    /// CRC differs.
    Crc,
}

/// Refused frames by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BadFrames {
    pub too_long: u32,
    pub stuffing: u32,
    pub too_short: u32,
    pub crc: u32,
}

impl BadFrames {
    pub fn total(&self) -> u32 {
        self.too_long + self.stuffing + self.too_short + self.crc
    }
}

/// Streaming decoder. Feed it bytes one by one; a frame appears with its delimiter.
#[derive(Clone)]
pub struct Decoder<const N: usize = MAX_FRAME> {
    buf: [u8; N],
    len: usize,
    /// Bytes are being skipped until the next delimiter.
    overflowed: bool,
    pub bad: BadFrames,
}

impl<const N: usize> Default for Decoder<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Decoder<N> {
    pub const fn new() -> Self {
        Decoder {
            buf: [0; N],
            len: 0,
            overflowed: false,
            bad: BadFrames {
                too_long: 0,
                stuffing: 0,
                too_short: 0,
                crc: 0,
            },
        }
    }

    /// Forget a half-received frame (after a reconnect).
    pub fn clear(&mut self) {
        self.len = 0;
        self.overflowed = false;
    }

    /// Bytes of a frame still waiting for its delimiter.
    pub fn pending(&self) -> usize {
        self.len
    }

    /// Take one byte. `None`: the frame goes on (or an empty one was skipped).
    pub fn push(&mut self, byte: u8) -> Option<Result<Raw<'_>, Bad>> {
        if byte != 0 {
            match self.buf.get_mut(self.len) {
                Some(slot) => {
                    *slot = byte;
                    self.len += 1;
                }
                None => self.overflowed = true,
            }
            return None;
        }
        let (len, overflowed) = (self.len, self.overflowed);
        self.clear();
        if len == 0 {
            return None;
        }
        let result = if overflowed {
            Err(Bad::TooLong)
        } else {
            unframe(&mut self.buf, len)
        };
        match result {
            Err(Bad::TooLong) => self.bad.too_long += 1,
            Err(Bad::Stuffing) => self.bad.stuffing += 1,
            Err(Bad::TooShort) => self.bad.too_short += 1,
            Err(Bad::Crc) => self.bad.crc += 1,
            Ok(_) => {}
        }
        Some(result)
    }

    /// Take many bytes, calling `each` for every frame or refusal.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Result<Raw<'_>, Bad>)) {
        for &byte in bytes {
            if let Some(result) = self.push(byte) {
                each(result);
            }
        }
    }
}

fn unframe(buf: &mut [u8], len: usize) -> Result<Raw<'_>, Bad> {
    let n = cobs::unstuff(buf, len).ok_or(Bad::Stuffing)?;
    let plain = buf.get(..n).ok_or(Bad::Stuffing)?;
    let (content, crc) = plain.split_last_chunk::<4>().ok_or(Bad::TooShort)?;
    let [kind, rev, body @ ..] = content else {
        return Err(Bad::TooShort);
    };
    if crc32(content) != u32::from_le_bytes(*crc) {
        return Err(Bad::Crc);
    }
    Ok(Raw {
        kind: *kind,
        rev: *rev,
        body,
    })
}

impl<'a> Raw<'a> {
    /// The body as `T`: trailing bytes of a newer rev are ignored, a body of an older rev than `known` reads as if zero
    /// bytes followed.
    pub fn body_as<T: Deserialize<'a>>(&self, known: u8) -> Result<T, postcard::Error> {
        let flavor = Body {
            rest: self.body,
            padding: self.rev < known,
        };
        let mut deserializer = postcard::Deserializer::from_flavor(flavor);
        T::deserialize(&mut deserializer)
    }
}

/// Source of body bytes, followed by zeros when the rev is older than ours.
struct Body<'a> {
    rest: &'a [u8],
    padding: bool,
}

/// Longest fixed-size item postcard asks for at once (f64, 16-byte integers).
static ZEROS: [u8; 16] = [0; 16];

impl<'a> postcard::de_flavors::Flavor<'a> for Body<'a> {
    type Remainder = &'a [u8];
    type Source = &'a [u8];

    fn pop(&mut self) -> postcard::Result<u8> {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                Ok(byte)
            }
            None if self.padding => Ok(0),
            None => Err(postcard::Error::DeserializeUnexpectedEnd),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }

    fn try_take_n(&mut self, n: usize) -> postcard::Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None if self.padding && self.rest.is_empty() => ZEROS
                .get(..n)
                .ok_or(postcard::Error::DeserializeUnexpectedEnd),
            None => Err(postcard::Error::DeserializeUnexpectedEnd),
        }
    }

    fn finalize(self) -> postcard::Result<&'a [u8]> {
        Ok(self.rest)
    }
}
