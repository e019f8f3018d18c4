//! What can happen in a scenario, and when.

use serde::Deserialize;

/// Something that happens at a time.
#[derive(Clone, Debug, Deserialize)]
pub struct Event {
    pub at_s: f64,
    #[serde(flatten)]
    pub action: Action,
}

/// Channels of an encoder.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    A,
    B,
    #[default]
    Both,
}

/// What can happen.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// The count of a joint is off by `counts` from now on.
    LostCounts {
        joint: usize,
        counts: i64,
    },
    /// `edges` disturbances of `width_ns` spread over `duration_s` on one channel, or on both in turn; those that pass the
    /// timer's input filter move the count by one, up or down.
    Noise {
        joint: usize,
        edges: u32,
        duration_s: f64,
        width_ns: f64,
        #[serde(default)]
        channel: Channel,
    },
    /// Channels A and B change places.
    SwapChannels {
        joint: usize,
    },
    /// A cable (or one of its wires) breaks.
    Cut {
        joint: usize,
        #[serde(default)]
        channel: Channel,
    },
    Reconnect {
        joint: usize,
    },
    UsbUnplug,
    UsbReplug,
    UsbReset,
    UsbSuspend,
    UsbResume,
    HostStops,
    HostReads,
    HostSlow {
        bytes_per_s: u32,
    },
    /// DTR low (port closed) or high.
    Dtr {
        on: bool,
    },
    /// Bytes to the device, as hexadecimal digits.
    Send {
        hex: String,
    },
    /// The user button, for `hold_s`.
    Button {
        hold_s: f64,
    },
    /// Reset pin.
    Reset,
    BrownOut,
    /// Reset pin while the flash is being programmed or erased next.
    ResetDuringFlash {
        operation: FlashOperation,
    },
    /// One bit of RAM at an address, or at a symbol plus offset.
    BitFlip {
        address: Option<u32>,
        symbol: Option<String>,
        #[serde(default)]
        offset: u32,
        bit: u32,
    },
    /// The processor stands still for so long (a debugger's halt, a stalled bus) while everything else goes on.
    Stall {
        duration_us: f64,
    },
    /// Adds to a joint's velocity [rad/s].
    Push {
        joint: usize,
        delta: f64,
    },
    /// The bridge finds an overload: off, its fault line low, for `hold_s`.
    BridgeFault {
        hold_s: f64,
    },
    /// The bridge's supply falls to `volts` for `hold_s`.
    SupplySag {
        volts: f64,
        hold_s: f64,
    },
    /// A limit switch opens for `hold_s`.
    LimitSwitch {
        hold_s: f64,
    },
    /// The driven joint is blocked where it is, for `hold_s`.
    MotorStalls {
        hold_s: f64,
    },
    /// A debugger sets the bits that keep the processor's clock running in sleep.
    DebuggerAttaches,
    /// It clears them again (Ctrl-C in `probe-rs run`): the cycle counter stands still in sleep from now on.
    DebuggerDetaches,
    /// Stops the pendulum where it is and lets go after `hold_s`.
    Hold {
        hold_s: f64,
    },
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum FlashOperation {
    Program,
    Erase,
}
