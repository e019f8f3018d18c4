//! What the host may ask, and the device's one reply to each.

use core::fmt;

use heapless::String;
use serde::{Deserialize, Serialize};

use super::{Blob, Bytes, Drive, Plan};

/// A question or order; `id` comes back in the [`Reply`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    pub id: u16,
    pub ask: Ask,
}

/// New variants only at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)]
pub enum Ask {
    /// Send a Hello, then reply. The next block carries a snapshot.
    Hello,
    /// Arm: hold the links still, then release them; motion starts the run.
    Start,
    /// Back to idle.
    Stop,
    /// The present position is zero (links hanging at rest). Refused while swinging.
    Zero,
    /// Validate, put in force, and with `store` also keep over a reset. Refused while swinging.
    SetConfig { store: bool, config: Blob },
    /// Reply with a Hello (which carries the configuration).
    GetConfig,
    /// Send `frames` [`Pattern`] frames of `bytes` bytes each.
    SelfTest { seed: u32, frames: u16, bytes: u16 },
    /// Restart the processor (after the reply was sent).
    Reset,
    /// Arm the motor in a mode, or change it. Refused by a device whose configuration has no drive.
    Drive(Drive),
    /// A plan for mode plan.
    Plan(Plan),
    /// The host is alive: what a motor that is driven wants to hear. No reply.
    Beat,
}

/// The one answer to a command: accepted, or refused and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub id: u16,
    /// Tick at which it took effect.
    pub tick: u64,
    /// Ack is `None`.
    pub refusal: Option<Refusal>,
}

/// Why a command was not carried out; nothing changed. New variants only at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Refusal {
    /// Not possible while swinging: stop first.
    Swinging,
    /// Too many commands at once: ask again.
    Busy,
    /// The frame was whole but this build cannot read the command.
    NotUnderstood,
    /// A configuration value is outside its range.
    OutOfRange {
        field: String<40>,
        value: f32,
        min: f32,
        max: f32,
    },
    /// The configuration is of another version.
    ConfigVersion { found: u16, known: u16 },
    /// The configuration's bytes do not parse.
    ConfigUnreadable,
    /// The configuration has no drive, or the signal cannot be played.
    NotDrivable,
    /// Not possible while the motor drives: stop first.
    Driving,
    /// A plan is for mode plan.
    NotPlanning,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Swinging => f.write_str("not while the pendulum swings; stop the run first"),
            Refusal::Busy => f.write_str("the device is busy with earlier commands; ask again"),
            Refusal::NotUnderstood => f.write_str("the firmware does not know this command"),
            Refusal::OutOfRange {
                field,
                value,
                min,
                max,
            } => {
                write!(f, "{field} = {value} is outside {min} … {max}")
            }
            Refusal::ConfigVersion { found, known } => {
                write!(
                    f,
                    "configuration version {found}, the firmware knows {known}"
                )
            }
            Refusal::ConfigUnreadable => f.write_str("the configuration's bytes do not parse"),
            Refusal::NotDrivable => f.write_str(
                "the configuration has no [drive] section, or the signal is out of range; nothing moves",
            ),
            Refusal::Driving => f.write_str("not while the motor drives; stop it first"),
            Refusal::NotPlanning => f.write_str("a plan needs mode plan; ask for it first"),
        }
    }
}

/// Self-test of the link: bytes both sides can compute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    pub seed: u32,
    /// 0, 1, … `of − 1`.
    pub index: u16,
    pub of: u16,
    pub bytes: Bytes<{ Pattern::MAX_BYTES }>,
}

impl Pattern {
    pub const MAX_BYTES: usize = 1024;

    /// Frame `index` of `of` with `len` bytes (at most [`Pattern::MAX_BYTES`]).
    pub fn new(seed: u32, index: u16, of: u16, len: u16) -> Self {
        // xorshift32, started from seed and index; never from 0, its fixed point.
        let mut x = (seed ^ (index as u32).wrapping_mul(0x9E37_79B9)).max(1);
        let mut bytes = Bytes::new();
        for _ in 0..len.min(Self::MAX_BYTES as u16) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            bytes.push(x as u8);
        }
        Pattern {
            seed,
            index,
            of,
            bytes,
        }
    }

    /// Whether the bytes are those that seed and index call for.
    pub fn is_right(&self) -> bool {
        Self::new(self.seed, self.index, self.of, self.bytes.len() as u16) == *self
    }
}
