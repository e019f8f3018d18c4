//! Scenario files (TOML): the pendulum, the host's habits, and what goes wrong when.
//!
//! ```toml
//! seconds = 20.0            # virtual time to run
//! seed = 1                  # RAM at power-on, noise, torn writes
//!
//! [plant]
//! angles = [0.17, 2.09]     # [rad] where the operator lets go
//! release_s = 1.0
//!
//! [[event]]
//! at_s = 5.0
//! do = "usb-unplug"
//! ```
//!
//! Unknown keys, impossible values and events out of range are errors that name the key.

mod check;

use std::path::Path;

use serde::Deserialize;
use stribeck_core::friction::Friction as Law;
use stribeck_core::plant::{JOINTS, PlantConfig, furuta};

use crate::periph::gpio::Pin;

#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        path: String,
        source: std::io::Error,
    },
    #[error("{path}: {source}")]
    Syntax {
        path: String,
        source: Box<toml::de::Error>,
    },
    #[error("{path}: {key} = {found}, expected {expected}")]
    Value {
        path: String,
        key: String,
        found: String,
        expected: &'static str,
    },
}

/// A whole scenario; every key has a default.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Virtual time to run [s].
    pub seconds: f64,
    /// Start of the random stream.
    pub seed: u64,
    /// Processor cycles per instruction used for virtual time; 1 unless a slower processor is to be imitated.
    pub cycles_per_instruction: f64,
    pub plant: PlantSetup,
    pub host: HostSetup,
    pub board: Board,
    #[serde(rename = "event")]
    pub events: Vec<Event>,
}

impl Default for Scenario {
    fn default() -> Self {
        Scenario {
            seconds: 20.0,
            seed: 1,
            cycles_per_instruction: 1.0,
            plant: PlantSetup::default(),
            host: HostSetup::default(),
            board: Board::default(),
            events: Vec::new(),
        }
    }
}

/// The pendulum and the operator's hand: at power-on it hangs at rest (angle 0, where the encoders start), then it is lifted to
/// `angles` between `lift_s[0]` and `lift_s[1]` and let go at `release_s`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlantSetup {
    pub geometry: PlantConfig,
    pub friction: [Friction; JOINTS],
    pub angles: [f64; JOINTS],
    pub lift_s: [f64; 2],
    pub release_s: f64,
    pub counts_per_turn: [u32; JOINTS],
}

impl Default for PlantSetup {
    fn default() -> Self {
        PlantSetup {
            geometry: PlantConfig::Furuta(furuta::Config::default()),
            friction: [
                Friction {
                    mu_d: 5e-4,
                    mu_s: 6e-4,
                    ..Friction::default()
                },
                Friction {
                    mu_d: 6e-4,
                    mu_s: 7.2e-4,
                    ..Friction::default()
                },
            ],
            angles: [10f64.to_radians(), 120f64.to_radians()],
            lift_s: [0.1, 0.4],
            release_s: 1.0,
            counts_per_turn: [40_000; JOINTS],
        }
    }
}

/// True friction of one joint; units as in stribeck_core::friction.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Friction {
    pub mu_d: f64,
    pub mu_s: f64,
    pub mu_v: f64,
    pub vt: f64,
    pub fnt: f64,
    pub drag: f64,
    pub delta_d: f64,
    pub delta_v: f64,
}

impl Default for Friction {
    fn default() -> Self {
        Friction {
            mu_d: 5e-4,
            mu_s: 6e-4,
            mu_v: 2.5e-4,
            vt: 5e-3,
            fnt: 1e-2,
            drag: 0.0,
            delta_d: 0.0,
            delta_v: 0.0,
        }
    }
}

impl Friction {
    pub fn law(&self) -> Law<f64> {
        let &Friction {
            mu_d,
            mu_s,
            mu_v,
            vt,
            fnt,
            drag,
            delta_d,
            delta_v,
        } = self;
        Law {
            mu_d,
            mu_s,
            mu_v,
            vt,
            fnt,
            drag,
            delta_d,
            delta_v,
        }
    }
}

/// The program behind the USB port, when it is not a PTY client.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostSetup {
    pub reads: Reads,
    /// The cable is plugged in at power-on.
    pub plugged: bool,
}

impl Default for HostSetup {
    fn default() -> Self {
        HostSetup {
            reads: Reads::Fast,
            plugged: true,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    Fast,
    Never,
    /// Bytes per second.
    Slow(u32),
}

/// What is soldered and plugged where.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Board {
    /// External oscillator [Hz]: the ST-LINK's 8 MHz.
    pub hse_hz: u64,
    /// Pins of channels A and B of each encoder.
    pub encoders: [[PinName; 2]; JOINTS],
    /// User button, high when pressed.
    pub button: PinName,
    /// LEDs to report, high when lit.
    pub leds: Vec<PinName>,
    /// Jumper wires, from an output pin to an input pin.
    pub jumpers: Vec<[PinName; 2]>,
}

impl Default for Board {
    fn default() -> Self {
        let pin = |s: &str| PinName(s.parse().expect("a pin name"));
        Board {
            hse_hz: 8_000_000,
            encoders: [[pin("PA15"), pin("PB3")], [pin("PA0"), pin("PA1")]],
            button: pin("PC13"),
            leds: vec![pin("PB0"), pin("PE1"), pin("PB14")],
            jumpers: Vec::new(),
        }
    }
}

/// A pin written as "PA15".
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct PinName(pub Pin);

impl TryFrom<String> for PinName {
    type Error = String;
    fn try_from(s: String) -> Result<Self, String> {
        s.parse().map(PinName)
    }
}

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
    /// `edges` disturbances of `width_ns` spread over `duration_s`; those that pass the timer's input filter move
    /// the count by one, up or down.
    Noise {
        joint: usize,
        edges: u32,
        duration_s: f64,
        width_ns: f64,
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

impl Scenario {
    pub fn load(path: &Path) -> Result<Scenario, ScenarioError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Unreadable {
            path: name.clone(),
            source,
        })?;
        Scenario::parse(&name, &text)
    }

    /// Reads and checks the text of a scenario; `path` is used in messages only.
    pub fn parse(path: &str, text: &str) -> Result<Scenario, ScenarioError> {
        let mut s: Scenario = toml::from_str(text).map_err(|e| ScenarioError::Syntax {
            path: path.into(),
            source: Box::new(e),
        })?;
        s.check(path)?;
        s.events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        Ok(s)
    }
}

/// Bytes of a string of hexadecimal digits; spaces are ignored.
pub fn unhex(s: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = s
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(|d| (d[0] * 16 + d[1]) as u8).collect())
}

#[cfg(test)]
mod tests;
