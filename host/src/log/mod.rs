//! The log: an MCAP file (mcap.dev) that Foxglove and PlotJuggler open directly.
//!
//! | topic | encoding | what |
//! |---|---|---|
//! | `/wire/hello` `/wire/block` `/wire/status` `/wire/event` `/wire/reply` | `stribeck-wire` | every frame byte for byte as it came, delimiter included |
//! | `/wire/damaged` | `stribeck-wire` | bytes that are no frame (failed CRC, unknown kind), kept as evidence |
//! | `/angles` `/velocities` `/gain` `/parameters` `/health` `/event` | `json` | decimated copies for viewers; nothing is ever computed from them |
//!
//! One message is one frame: its bytes up to and including the 0x00 delimiter. Concatenating the
//! `/wire` messages in file order gives back the byte stream of the port, so reading a log and
//! reading a port are the same code. `publish_time` is the device's time (tick / tick rate of its first boot; over a
//! reset it goes on by the wall clock), `log_time` the same on the wall clock of the segment's beginning. Neither ever
//! runs back within a topic. Every topic has a schema: fields of the copies are named as the columns of `stribeck export`.
//!
//! Safety: chunks are closed and handed to the kernel every [`write::FLUSH_EVERY`], so `kill -9` loses less
//! than 100 ms. Chunks are not compressed: of a file cut anywhere, every frame whose bytes are
//! in it is recovered. A clean end adds the index and the metadata record `stribeck` (ticks,
//! losses, verification), which is what `stribeck info` prints without reading the rest.

pub mod angles;
pub mod capture;
pub mod closing;
pub mod contents;
pub(crate) mod copy;
pub mod damage;
pub mod export;
pub(crate) mod metadata;
pub(crate) mod pass;
pub mod read;
pub(crate) mod record;
pub mod recorder;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod simulate;
pub mod source;
pub(crate) mod summary;
pub(crate) mod text;
pub(crate) mod viewer;
pub mod write;

use crate::link::frames::FrameKind;

/// What a message in the log is, by its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    Hello,
    Block,
    Status,
    Event,
    Reply,
    Damaged,
    Angles,
    Velocities,
    Gain,
    Parameters,
    Health,
    EventText,
}

impl From<FrameKind> for Topic {
    fn from(kind: FrameKind) -> Topic {
        match kind {
            FrameKind::Hello => Topic::Hello,
            FrameKind::Block => Topic::Block,
            FrameKind::Status => Topic::Status,
            FrameKind::Event => Topic::Event,
            FrameKind::Reply => Topic::Reply,
            FrameKind::Damaged => Topic::Damaged,
        }
    }
}

impl Topic {
    pub const ALL: [Topic; 12] = [
        Topic::Hello,
        Topic::Block,
        Topic::Status,
        Topic::Event,
        Topic::Reply,
        Topic::Damaged,
        Topic::Angles,
        Topic::Velocities,
        Topic::Gain,
        Topic::Parameters,
        Topic::Health,
        Topic::EventText,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Topic::Hello => "/wire/hello",
            Topic::Block => "/wire/block",
            Topic::Status => "/wire/status",
            Topic::Event => "/wire/event",
            Topic::Reply => "/wire/reply",
            Topic::Damaged => "/wire/damaged",
            Topic::Angles => "/angles",
            Topic::Velocities => "/velocities",
            Topic::Gain => "/gain",
            Topic::Parameters => "/parameters",
            Topic::Health => "/health",
            Topic::EventText => "/event",
        }
    }

    pub fn from_name(name: &str) -> Option<Topic> {
        Topic::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Whether the messages are bytes of the wire (and not copies for viewers).
    pub const fn is_wire(self) -> bool {
        (self as u8) <= Topic::Damaged as u8
    }
}
