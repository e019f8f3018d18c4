//! Who the device is and everything a log needs to be read and replayed on its own.

use heapless::String;
use serde::{Deserialize, Serialize};

use super::{Blob, Initial, Phase};
use crate::JOINTS;

/// Sent on connect, on request and after every change of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`super::PROTOCOL`].
    pub protocol: u16,
    /// [`super::NUMERICS`].
    pub numerics: u16,
    /// [`super::SCHEMA_HASH`].
    pub schema: u32,
    /// Version and source revision of the build.
    pub build: String<40>,
    /// Board or "twin".
    pub board: String<24>,
    /// Tick rate \[Hz\].
    pub tick_hz: u32,
    /// Random or counted number of this boot: a change means the device was reset in between.
    pub boot: u32,
    /// Ticks since reset.
    pub uptime_ticks: u64,
    pub reset_cause: ResetCause,
    /// Panic or hard-fault text of the previous run of the program; empty if it ended well.
    pub last_fault: String<64>,
    pub config_origin: ConfigOrigin,
    /// Run phase at this moment.
    pub phase: Phase,
    /// Where the present or last run started.
    pub initial: Option<Initial>,
    /// Unwrapped counts that are angle zero now: as configured, or as last zeroed.
    pub zero: [i32; JOINTS],
    /// First tick the configuration was in force for: blocks before it ran under an earlier one.
    pub config_since: u64,
    /// The complete configuration as it was given, bit-exact (`device::config` opens it).
    pub config: Blob,
    /// What the tick's rate rests on. Since revision 2.
    pub clock: ClockSource,
}

/// Why the processor started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResetCause {
    #[default]
    Unknown,
    PowerOn,
    /// Reset pin (button, probe).
    Pin,
    /// Supply dipped.
    BrownOut,
    /// Requested by software (the reset command).
    Software,
    /// Watchdog: tick or main loop hung.
    Watchdog,
    /// Panic or hard fault; see `last_fault`.
    Fault,
}

/// What the processor, its timers and so the tick run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClockSource {
    /// An older device, or the twin.
    #[default]
    Unknown,
    /// A crystal: rates are right within 0.01 %.
    Crystal,
    /// The internal oscillator, because no crystal gave a clock: every rate is off by up to 1 %.
    Internal,
}

/// Where the configuration in force came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConfigOrigin {
    #[default]
    Default,
    /// Read from flash at reset.
    Stored,
    /// Sent by the host since reset.
    Host,
    /// Flash held a damaged or unreadable configuration: the defaults are in force.
    StoredWasBad,
}
