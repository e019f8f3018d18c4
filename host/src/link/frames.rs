//! Bytes to frames, keeping the bytes: what goes into the log is what came, not what was understood.
//!
//! In: bytes in any portions. Out: one [`Piece`] per delimiter, with its bytes (delimiter included) and either
//! the decoded frame or the reason it is none. Does not know sequence numbers: see [`crate::link::order`].

use stribeck_core::wire::{Bad, Decoder, Frame, MAX_FRAME};

/// Bytes without a delimiter are given up at this length; a frame is far shorter.
const HOPELESS: usize = 64 * 1024;

/// What the bytes up to a delimiter are.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // Handed over by reference and at once.
pub enum Content {
    Frame(Frame),
    /// Not a frame.
    Bad(Reason),
    /// The end of something that began before we listened, or was already reported: not damage.
    Tail,
}

/// What the bytes of one frame are, as far as the link can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Hello,
    Block,
    Status,
    Event,
    /// A reply, or a pattern that was asked for.
    Reply,
    /// No frame of ours.
    Damaged,
}

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Longer than any frame.
    TooLong,
    /// COBS codes do not fit.
    Stuffing,
    /// Shorter than any frame.
    TooShort,
    /// The CRC differs.
    Crc,
    /// The CRC is right, the body cannot be understood: a kind or layout of another version.
    Body,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::TooLong => "no delimiter",
            Reason::Stuffing => "bad stuffing",
            Reason::TooShort => "too short",
            Reason::Crc => "wrong CRC",
            Reason::Body => "unknown kind or layout",
        })
    }
}

/// The bytes up to and including one delimiter.
pub struct Piece<'a> {
    pub bytes: &'a [u8],
    pub content: Content,
}

/// Splits a byte stream at its delimiters.
pub struct Frames {
    pending: Vec<u8>,
    decoder: Decoder,
    /// The next delimiter ends something whose beginning was not seen or was already reported.
    inside: bool,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            pending: Vec::with_capacity(2 * MAX_FRAME),
            decoder: Decoder::new(),
            inside: false,
        }
    }
}

impl Frames {
    /// A stream that may begin in the middle of a frame (a port just opened).
    pub fn joining() -> Self {
        Frames {
            inside: true,
            ..Frames::default()
        }
    }

    /// The connection broke: forget a half frame; the next one may begin in its middle.
    pub fn rejoin(&mut self) {
        self.pending.clear();
        self.inside = true;
    }

    /// Bytes waiting for their delimiter.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Take bytes and hand every completed piece to `each`.
    pub fn push<E>(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = bytes.iter().position(|&b| b == 0) {
            let (head, rest) = bytes.split_at(end + 1);
            bytes = rest;
            let result = if self.pending.is_empty() {
                self.piece(head, &mut each)
            } else {
                self.pending.extend_from_slice(head);
                let whole = std::mem::take(&mut self.pending);
                let result = self.piece(&whole, &mut each);
                self.pending = whole;
                self.pending.clear();
                result
            };
            result?;
        }
        self.pending.extend_from_slice(bytes);
        if self.pending.len() > HOPELESS {
            let content = match self.inside {
                true => Content::Tail,
                false => Content::Bad(Reason::TooLong),
            };
            self.inside = true;
            let bytes = std::mem::take(&mut self.pending);
            each(Piece {
                bytes: &bytes,
                content,
            })?;
        }
        Ok(())
    }

    fn piece<E>(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(content) = self.content(bytes) else {
            return Ok(());
        };
        let content = match content {
            Content::Bad(_) if self.inside => Content::Tail,
            other => other,
        };
        self.inside = false;
        each(Piece { bytes, content })
    }

    /// `None`: a lone delimiter, which is nothing.
    fn content(&mut self, bytes: &[u8]) -> Option<Content> {
        let mut content = None;
        self.decoder.feed(bytes, |result| {
            content = Some(match result {
                Ok(raw) => match raw.decode() {
                    Ok(Frame::Unknown { .. }) | Err(_) => Content::Bad(Reason::Body),
                    Ok(frame) => Content::Frame(frame),
                },
                Err(Bad::TooLong) => Content::Bad(Reason::TooLong),
                Err(Bad::Stuffing) => Content::Bad(Reason::Stuffing),
                Err(Bad::TooShort) => Content::Bad(Reason::TooShort),
                Err(Bad::Crc) => Content::Bad(Reason::Crc),
            });
        });
        content
    }
}
