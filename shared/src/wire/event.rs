//! Things that happen at a tick: run transitions, faults.

use serde::{Deserialize, Serialize};

use super::{Cause, Mode, Phase, Trip};
use crate::JOINTS;

/// Something that happened at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The first tick after it.
    pub tick: u64,
    pub what: What,
}

/// New variants only at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum What {
    /// The run changed phase. `initial` is set when it became swinging.
    Run {
        from: Phase,
        to: Phase,
        cause: Cause,
        initial: Option<Initial>,
    },
    /// The present position became zero, or (cause: device) stays so under a new configuration: the encoders' `zero`
    /// now in force.
    Zeroed {
        cause: Cause,
        zero: [i32; JOINTS],
    },
    /// A new configuration is in force from this tick on.
    Configured,
    /// Ticks that never happened: the previous one took too long.
    Overrun {
        missed: u32,
    },
    /// New encoder faults of a joint (bits of `encoder::Faults`).
    EncoderFault {
        joint: u8,
        flags: u8,
    },
    /// An observer met a NaN, an infinity or a runaway gain and started again.
    UasRestart {
        total: u32,
    },
    EkfRestart {
        total: u32,
    },
    /// Ticks took longer than the device's limit for too long: the run was stopped (its own event follows).
    Overloaded {
        /// Processor cycles of the last of them, and the limit.
        cycles: u32,
        limit: u32,
    },
    /// The drive's mode changed; `trip` says why if the device did it by itself.
    Drive {
        mode: Mode,
        trip: Trip,
    },
}

/// The state a run started from: held still, so both velocities are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Initial {
    /// The observers were started at this tick.
    pub tick: u64,
    /// Unwrapped counts, sign and zero applied.
    pub counts: [i32; JOINTS],
    /// The same as angles \[rad\].
    pub q: [f32; JOINTS],
}
