//! The wire: what device and host say to each other, defined once.
//!
//! ```text
//! frame  = COBS( kind u8 · rev u8 · body · crc32 u32 LE ) · 0x00
//! body   = postcard of the kind's struct: fields in order, no names;
//!          u8, bool 1 byte · u16…u64 varint (7 bits per byte, low first) · i32 zig-zag varint ·
//!          f32 4 bytes LE · enum varint of the variant, then its fields · bytes, str varint length + bytes ·
//!          Option 0 or 1 + value
//! crc32  = IEEE 802.3 (reflected 0xEDB88320) over kind, rev, body
//! ```
//!
//! | kind | frame | from | when | typical size on the wire |
//! |---|---|---|---|---|
//! | 1 | [`Hello`] | device | on connect, on request, when the configuration changed | 400 B |
//! | 2 | [`Block`] | device | every `block_ticks` (100 ticks = 10 ms) | 300–400 B |
//! | 3 | [`Status`] | device | 1 Hz | 90 B |
//! | 4 | [`Event`] | device | run transitions, faults | 20 B |
//! | 5 | [`Reply`] | device | once per command | 12 B |
//! | 6 | [`Pattern`] | device | self-test, on request | chosen |
//! | 64 | [`Command`] | host | – | 10–350 B |
//!
//! Growth rule: within a kind, fields are only ever appended at the end of the frame's struct, and `rev` goes
//! up by one; enums only get new variants at the end. A reader ignores trailing bytes of a newer rev,
//! and reads a body of an older rev as if zero bytes followed, so the all-zero encoding of a new field (0, false, None,
//! empty, first variant) must mean "not known". The configuration travels as a length-prefixed blob with its own
//! version, so it can grow without touching Hello. Anything else is a new kind or a new [`PROTOCOL`].
//!
//! Does not do: transport, retries, time-outs. Lost frames show as gaps in [`Block::seq`] and `first_tick`.

mod blob;
pub mod block;
mod bytes;
mod cobs;
mod command;
mod crc;
mod decode;
mod drive;
mod encode;
mod event;
mod hello;
mod phase;
mod status;

pub use crate::number::verdict::Verdict;
pub use blob::{BLOB_BYTES, Blob};
pub use block::Block;
pub use bytes::Bytes;
pub use command::{Ask, Command, Pattern, Refusal, Reply};
pub use crc::crc32;
pub use decode::{Bad, BadFrames, Decoder, Raw};
pub use drive::{Drive, DriveHealth, Driven, Mode, Plan, Shape, Signal, Trip, WEIGHTS};
pub use encode::{Full, encode};
pub use event::{Event, Initial, What};
pub use hello::{ClockSource, ConfigOrigin, Hello, ResetCause};
pub use phase::{Cause, Phase};
pub use status::{Health, Spread, Status, Wear};

use serde::{Deserialize, Serialize};

/// Version of the rules in this module's header. Another value: do not talk.
pub const PROTOCOL: u16 = 1;

/// Version of the observers' arithmetic: goes up whenever any bit of any observer's state may change for the same
/// counts and configuration. Replay refuses a log of another value.
pub const NUMERICS: u16 = 2;

/// Names and types of every field of every frame, written by the test `schema` from the types themselves.
pub const SCHEMA: &str = include_str!("schema.txt");

/// FNV-1a hash of [`SCHEMA`]: equal hashes mean that both sides know exactly the same fields.
pub const SCHEMA_HASH: u32 = fnv1a(SCHEMA.as_bytes());

/// Longest frame before COBS: kind, rev, body, CRC.
pub const MAX_PLAIN: usize = 3136;
/// Longest frame on the wire, with COBS overhead and delimiter: buffers of this size always suffice.
pub const MAX_FRAME: usize = MAX_PLAIN + MAX_PLAIN / 254 + 3;

/// A body that can be framed.
pub trait Body: Serialize {
    const KIND: Kind;
    /// Grows by one with every appended field.
    const REV: u8;
}

macro_rules! frames {
    ($($number:literal $kind:ident rev $rev:literal),+ $(,)?) => {
        /// What each frame is, in the first byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Kind {
            $($kind = $number),+
        }

        impl Kind {
            pub const ALL: &'static [Self] = &[$(Kind::$kind),+];

            pub fn from_u8(kind: u8) -> Option<Self> {
                match kind {
                    $($number => Some(Kind::$kind),)+
                    _ => None,
                }
            }
        }

        $(impl Body for $kind {
            const KIND: Kind = Kind::$kind;
            const REV: u8 = $rev;
        })+

        /// Any decoded frame.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant)] // A Block by value: no allocator here.
        pub enum Frame {
            $($kind($kind),)+
            /// A kind this build does not know: skip it, count it.
            Unknown { kind: u8, rev: u8 },
        }

        impl Raw<'_> {
            /// The body as its type. The CRC has been checked; an error here means a body this build cannot
            /// understand.
            pub fn decode(&self) -> Result<Frame, postcard::Error> {
                Ok(match Kind::from_u8(self.kind) {
                    $(Some(Kind::$kind) => Frame::$kind(self.body_as::<$kind>($rev)?),)+
                    None => Frame::Unknown { kind: self.kind, rev: self.rev },
                })
            }
        }

        impl Frame {
            /// Frame it again; [`Frame::Unknown`] has no bytes.
            pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
                match self {
                    $(Frame::$kind(body) => encode(body, out),)+
                    Frame::Unknown { .. } => Ok(0),
                }
            }
        }
    };
}

// Number, type, and how many times fields were appended plus one. The whole list: nothing else names the kinds.
frames! {
    1 Hello rev 2,
    2 Block rev 2,
    3 Status rev 4,
    4 Event rev 1,
    5 Reply rev 1,
    6 Pattern rev 1,
    64 Command rev 1,
}

/// A bounded string; what does not fit is cut at a character.
pub fn text<const N: usize>(s: &str) -> heapless::String<N> {
    let mut out = heapless::String::new();
    for c in s.chars() {
        if out.push(c).is_err() {
            break;
        }
    }
    out
}

/// 32-bit FNV-1a.
pub const fn fnv1a(bytes: &[u8]) -> u32 {
    let mut h = 0x811C_9DC5u32;
    let mut i = 0;
    while i < bytes.len() {
        h = (h ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    h
}
