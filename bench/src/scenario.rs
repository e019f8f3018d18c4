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

mod action;
mod check;

pub use action::{Action, Channel, Event, FlashOperation};

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use stribeck_core::JOINTS;
use stribeck_core::model::friction::Friction as Law;
use stribeck_core::model::motor::Motor;
use stribeck_core::model::parameter::FRICTION;
use stribeck_core::model::plant::{PlantConfig, furuta};

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
    /// Factor on the processor's time; 1 unless a slower one is to be imitated.
    pub cycles_per_instruction: f64,
    /// Estimate processor cycles (caches, wait states, dual issue: `cost`) instead of taking an instruction as one.
    pub cycles: bool,
    pub plant: PlantSetup,
    /// Bridge and motor; without them the rig is passive and the fault line is not connected.
    pub drive: Option<DriveSetup>,
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
            cycles: false,
            plant: PlantSetup::default(),
            drive: None,
            host: HostSetup::default(),
            board: Board::default(),
            events: Vec::new(),
        }
    }
}

/// The pendulum and the operator's hand: at power-on it hangs at rest (where the encoders start at 0), then it is lifted to
/// `angles` \[rad, or m for a sliding joint\] between `lift_s[0]` and `lift_s[1]` and let go at `release_s`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlantSetup {
    pub geometry: PlantConfig,
    pub friction: [Friction; JOINTS],
    pub angles: [f64; JOINTS],
    pub lift_s: [f64; 2],
    pub release_s: f64,
    /// Counts of one revolution, or of one metre of a sliding joint.
    pub counts_per_turn: [u32; JOINTS],
    /// Noise of every reading [counts RMS], and the start of its random stream.
    pub noise_counts: f64,
    pub noise_seed: u64,
}

/// The bridge and the motor on the driven joint.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DriveSetup {
    pub motor: Motor,
    /// Inductance of the armature [H]; 0: the current follows the voltage at once.
    pub inductance: f64,
}

/// Where the bridge is connected.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BridgeWiring {
    pub in1: PinName,
    pub in2: PinName,
    /// High = enabled; pulled down on the bridge board.
    pub enable: PinName,
    /// Fault line and limit switches, low = off; pulled up on the bridge board.
    pub fault: PinName,
}

impl Default for BridgeWiring {
    fn default() -> Self {
        let pin = |s: &str| PinName(s.parse().expect("a pin name"));
        BridgeWiring {
            in1: pin("PE9"),
            in2: pin("PE11"),
            enable: pin("PE13"),
            fault: pin("PE15"),
        }
    }
}

impl Default for PlantSetup {
    fn default() -> Self {
        PlantSetup {
            geometry: PlantConfig::Furuta(furuta::Config::default()),
            friction: [Friction::of(5e-4, 6e-4), Friction::of(6e-4, 7.2e-4)],
            angles: [10f64.to_radians(), 120f64.to_radians()],
            lift_s: [0.1, 0.4],
            release_s: 1.0,
            counts_per_turn: [40_000; JOINTS],
            noise_counts: 0.0,
            noise_seed: 1,
        }
    }
}

/// True friction of one joint by the names of its parameters, units as in stribeck_core::model::friction; what is not named is the
/// reference arm's.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>")]
pub struct Friction(pub Law<f64>);

impl Friction {
    /// Coulomb and static friction [m], the rest as in the reference run.
    fn of(mu_d: f64, mu_s: f64) -> Self {
        Friction(Law::brown_mcphee([mu_d, mu_s, 2.5e-4, 5e-3, 1e-2]))
    }
}

impl TryFrom<BTreeMap<String, f64>> for Friction {
    type Error = String;

    fn try_from(named: BTreeMap<String, f64>) -> Result<Self, String> {
        let Friction(mut law) = Friction::of(5e-4, 6e-4);
        for (name, value) in named {
            let known = FRICTION.map(|p| p.id).join(", ");
            let unknown =
                || format!("unknown friction parameter `{name}`, expected one of {known}");
            *law.named(&name).ok_or_else(unknown)? = value;
        }
        Ok(Friction(law))
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
    /// External clock [Hz]: the ST-LINK's 8 MHz; 0 = the ST-LINK has no power or its bridge is open.
    pub hse_hz: u64,
    /// Error of the internal 64 MHz oscillator [ppm]; the data sheet allows 10,000.
    pub hsi_error_ppm: i64,
    /// Error of the untrimmed internal 48 MHz oscillator [ppm]; the data sheet allows 10,000 and more when warm.
    pub hsi48_error_ppm: i64,
    /// PA9 is connected to the 5 V of the USB connector.
    pub vbus_wired: bool,
    /// Pins of channels A and B of each encoder.
    pub encoders: [[PinName; 2]; JOINTS],
    /// User button, high when pressed.
    pub button: PinName,
    /// LEDs to report, high when lit.
    pub leds: Vec<PinName>,
    /// Jumper wires, from an output pin to an input pin.
    pub jumpers: Vec<[PinName; 2]>,
    pub bridge: BridgeWiring,
}

impl Default for Board {
    fn default() -> Self {
        let pin = |s: &str| PinName(s.parse().expect("a pin name"));
        Board {
            hse_hz: 8_000_000,
            hsi_error_ppm: 0,
            hsi48_error_ppm: 10_000,
            vbus_wired: true,
            encoders: [[pin("PA15"), pin("PB3")], [pin("PA0"), pin("PA1")]],
            button: pin("PC13"),
            leds: vec![pin("PB0"), pin("PE1"), pin("PB14")],
            jumpers: Vec::new(),
            bridge: BridgeWiring::default(),
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
