//! The device's health, once per second: counters since reset, statistics since the previous Status.

use serde::{Deserialize, Serialize};

use super::{ConfigOrigin, DriveHealth, Phase, ResetCause};
use crate::JOINTS;
use crate::number::verdict::Verdict;

/// See the module header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Ticks since reset.
    pub tick: u64,
    pub phase: Phase,
    /// What the firmware measured.
    pub health: Health,
    /// Blocks discarded because the link was behind, since reset.
    pub dropped_blocks: u32,
    /// Events and replies discarded because their queue was full, since reset.
    pub dropped_notes: u32,
    /// Encoder faults per joint, since reset.
    pub encoder_faults: [u32; JOINTS],
    /// Observer restarts, since reset.
    pub uas_restarts: u32,
    pub ekf_restarts: u32,
    /// Frames from the host that were refused (CRC, stuffing, length).
    pub bad_frames: u32,
    pub reset_cause: ResetCause,
    pub config_origin: ConfigOrigin,
    /// Times the ticks took too long and the run was stopped, since reset. From revision 2 on, like `wear`.
    pub overloads: u32,
    pub wear: Wear,
    /// Ticks in which friction too stiff for the step was limited in the model, since reset. From revision 3 on, like the rest.
    pub uas_floored: u32,
    pub ekf_floored: u32,
    /// Cycles the EKF left out because their innovation was no measurement of the motion, and how often it resumed after a jump, since
    /// reset.
    pub ekf_gated: u32,
    pub ekf_resumes: u32,
    /// Whether the EKF's model explains this run's data so far.
    pub ekf_verdict: Verdict,
    /// The motor. From revision 4 on.
    pub drive: DriveHealth,
}

/// What the stored configuration has cost the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// Configurations ever stored on this board; 0: none, or not known.
    pub stores: u32,
    /// Stores that failed, since reset: the configuration stored before is still the stored one.
    pub failures: u32,
}

/// What only the firmware can measure; it hands this to the link with every Status. The twin leaves it zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Processor cycles of a tick, from interrupt entry to its end.
    pub tick_cycles: Spread,
    /// Processor cycles between the starts of two ticks.
    pub period_cycles: Spread,
    /// Processor clock \[Hz\]: what the cycles count.
    pub clock_hz: u32,
    /// Ticks that came after missed ones, or whose work ended after the next was due, since reset.
    pub overruns: u32,
    /// Ticks that never happened, since reset.
    pub missed_ticks: u32,
    /// Most that ever waited for the host to read, and room for it \[64 bytes\].
    pub queue_high: u8,
    pub queue_size: u8,
    /// Writes to the host that timed out, since reset.
    pub write_timeouts: u32,
}

/// Statistics of a measured quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub min: u32,
    pub max: u32,
    pub mean: f32,
    /// Standard deviation σ.
    pub sigma: f32,
}
