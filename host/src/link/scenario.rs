//! What the simulated bench swings: true friction, start, noise, and what goes wrong when.
//!
//! A [`Scenario`] is everything that decides a simulated run, so that two runs of the same scenario give the
//! same bytes. The device under test does not see it: it sees counts, like on a real bench.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::model::friction::Friction;
use stribeck_core::model::parameter::FRICTION;
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::{Encoder, Simulation, Truth};

use crate::error::{Error, Result};

/// Change one value of a joint's friction by name: `mu_d=4e-4`.
pub fn set_friction(friction: &mut Friction<f64>, assignment: &str) -> Result<()> {
    let bad = || {
        let names = FRICTION.map(|p| format!("{} [{}]", p.id, p.unit));
        Error::invalid(
            format!("\"{assignment}\" is not a friction value"),
            format!(
                "write e.g. mu_d=4e-4; names: {}; of a joint that slides m instead of rad, and Coulomb friction has no unit",
                names.join(", ")
            ),
        )
    };
    let (name, value) = assignment.split_once('=').ok_or_else(bad)?;
    let value: f64 = value.trim().parse().map_err(|_| bad())?;
    *friction.named(name.trim()).ok_or_else(bad)? = value;
    Ok(())
}

/// Everything that decides a simulated run.
///
/// ```
/// use stribeck::Scenario;
///
/// let mut scenario = Scenario { noise_counts: 3.0, seed: 7, ..Scenario::default() };
/// scenario.friction[1].mu_d = 4e-4;
/// scenario.faults.push("drop@1.5:3".parse()?);
/// scenario.validate()?;
/// # Ok::<(), stribeck::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// The true rig; absent: the one the device is configured for.
    pub plant: Option<PlantConfig>,
    /// True friction of joint 0 and joint 1.
    pub friction: [Friction<f64>; JOINTS],
    /// Angles at which the links are held before release \[rad\].
    pub start: [f64; JOINTS],
    /// How long they are held \[s\].
    pub hold_s: f64,
    /// White noise of the encoders [counts RMS].
    pub noise_counts: f64,
    pub seed: u64,
    /// What goes wrong, and when.
    pub faults: Vec<Fault>,
}

impl Default for Scenario {
    fn default() -> Self {
        Scenario::of(&PlantConfig::Furuta(furuta::Config::default()))
    }
}

impl Scenario {
    /// The reference run of a plant, which a device is configured for.
    pub fn of(plant: &PlantConfig) -> Self {
        Scenario {
            plant: None,
            friction: plant.reference_friction().map(Friction::brown_mcphee),
            start: plant.reference_start(),
            hold_s: 0.5,
            noise_counts: 0.0,
            seed: 1,
            faults: Vec::new(),
        }
    }
}

impl Scenario {
    /// From TOML; what it does not name is that of the reference run of its plant, or of `plant` if it names none.
    pub fn from_toml(
        text: &str,
        plant: &PlantConfig,
    ) -> std::result::Result<Self, toml::de::Error> {
        let given: toml::Table = toml::from_str(text)?;
        let plant = match given.get("plant") {
            Some(own) => own.clone().try_into()?,
            None => *plant,
        };
        let mut all = toml::Table::try_from(Scenario::of(&plant))
            .map_err(<toml::de::Error as serde::de::Error>::custom)?;
        all.extend(given);
        all.try_into()
    }

    /// The bench behind a device configured with `config`.
    pub fn bench(&self, config: &Config) -> Simulation {
        let rotor = config.drive.map_or(0.0, |d| d.motor.reflected());
        let plant = self.plant.unwrap_or(config.plant).with_rotor(rotor);
        let dt_s = 1.0 / f64::from(config.tick_hz);
        let truth = Truth::new(&plant, self.friction, self.start, dt_s, 2);
        let (joints, rest) = (plant.joints(), plant.rest());
        let encoders = std::array::from_fn(|j| {
            let e = &config.encoders[j];
            // The counter is 0 where it hangs at power-on.
            let hanging = e.counts_at(joints[j], rest[j]);
            Encoder {
                joint: joints[j],
                counts_per_rev: e.counts_per_rev,
                counter_bits: e.counter_bits,
                reversed: e.reversed,
                offset: if e.reversed { hanging } else { -hanging } as u32,
                noise_counts: self.noise_counts,
            }
        });
        let mut bench = Simulation::new(truth, encoders, self.seed);
        bench.hold(self.start, (self.hold_s / dt_s).round() as u32);
        bench
    }

    /// Refuse what cannot be simulated.
    pub fn validate(&self) -> Result<()> {
        let numbers = [
            ("start[0]", self.start[0]),
            ("start[1]", self.start[1]),
            ("hold_s", self.hold_s),
            ("noise_counts", self.noise_counts),
        ];
        if let Some((name, value)) = numbers.iter().find(|(_, x)| !x.is_finite()) {
            return Err(invalid(format!("{name} = {value} is not a number")));
        }
        if self.hold_s < 0.0 || self.noise_counts < 0.0 {
            return Err(invalid(
                "hold_s and noise_counts must not be negative".into(),
            ));
        }
        for (joint, f) in self.friction.iter().enumerate() {
            let ok = [f.mu_d, f.mu_s, f.mu_v, f.drag]
                .iter()
                .all(|x| x.is_finite() && *x >= 0.0);
            if !(ok && f.vt > 0.0 && f.fnt > 0.0 && f.vt.is_finite() && f.fnt.is_finite()) {
                return Err(invalid(format!(
                    "friction of joint {joint}: coefficients must be ≥ 0, vt and fnt > 0"
                )));
            }
        }
        Ok(())
    }
}

fn invalid(what: String) -> Error {
    Error::invalid(
        what,
        "correct the scenario (see `stribeck simulate --help`)",
    )
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The encoder loses `n` counts at once.
    Jump,
    /// The encoder's counter stands still for `n` ticks.
    Stuck,
    /// From now on the encoder counts backwards.
    Reversed,
    /// `n` ticks never happen (the processor was busy).
    Overrun,
    /// `n` frames vanish on the link.
    Drop,
    /// `n` frames arrive twice.
    Duplicate,
    /// `n` times two neighbouring frames change places.
    Reorder,
    /// `n` frames arrive with a flipped bit.
    Corrupt,
}

/// Something that goes wrong at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: FaultKind,
    /// When \[s\].
    pub at_s: f64,
    /// How many counts, ticks or frames.
    #[serde(default = "one")]
    pub n: u32,
    /// Which joint's encoder.
    #[serde(default)]
    pub joint: usize,
}

fn one() -> u32 {
    1
}

impl FromStr for Fault {
    type Err = Error;

    /// `KIND@SECONDS[:N[:JOINT]]`, as in `drop@5:3` or `jump@2.5:200:1`.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(
                format!("\"{text}\" is not a fault"),
                "write KIND@SECONDS[:N[:JOINT]], e.g. drop@5:3 or jump@2.5:200:1; kinds: jump, stuck, reversed, overrun, drop, duplicate, reorder, corrupt",
            )
        };
        let (kind, rest) = text.split_once('@').ok_or_else(bad)?;
        let kind = match kind {
            "jump" => FaultKind::Jump,
            "stuck" => FaultKind::Stuck,
            "reversed" => FaultKind::Reversed,
            "overrun" => FaultKind::Overrun,
            "drop" => FaultKind::Drop,
            "duplicate" => FaultKind::Duplicate,
            "reorder" => FaultKind::Reorder,
            "corrupt" => FaultKind::Corrupt,
            _ => return Err(bad()),
        };
        let mut parts = rest.split(':');
        let at_s: f64 = parts.next().and_then(|p| p.parse().ok()).ok_or_else(bad)?;
        let n = parts.next().map_or(Ok(1), str::parse).map_err(|_| bad())?;
        let joint = parts.next().map_or(Ok(0), str::parse).map_err(|_| bad())?;
        if parts.next().is_some() || joint >= JOINTS || !at_s.is_finite() || at_s < 0.0 {
            return Err(bad());
        }
        Ok(Fault {
            kind,
            at_s,
            n,
            joint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_parse_or_are_explained() {
        let fault: Fault = "jump@2.5:200:1".parse().unwrap();
        assert_eq!(
            (fault.kind, fault.at_s, fault.n, fault.joint),
            (FaultKind::Jump, 2.5, 200, 1)
        );
        for bad in [
            "jump",
            "jump@",
            "jump@x",
            "fly@1",
            "jump@1:1:2",
            "jump@-1",
            "jump@1:2:0:9",
        ] {
            assert!(bad.parse::<Fault>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_scenario_survives_its_file() {
        let mut scenario = Scenario::default();
        set_friction(&mut scenario.friction[1], "mu_d=4e-4").unwrap();
        scenario.faults.push("drop@5:3".parse().unwrap());
        let text = toml::to_string(&scenario).unwrap();
        assert_eq!(toml::from_str::<Scenario>(&text).unwrap(), scenario);
        let wrong = set_friction(&mut scenario.friction[0], "mu_x=1").unwrap_err();
        assert!(
            wrong.help().is_some_and(|h| h.contains("mu_v [N·m·s]")),
            "{wrong:?}"
        );
    }
}
