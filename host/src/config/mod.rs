//! The device's configuration as a TOML file people can write.
//!
//! A file names only what differs from the default (the rig of paper 000 at 45° tilt); unknown names and values
//! out of range are refused with their path. Numbers are the device's f32: writing a configuration and reading it back
//! gives the same bits. The encoder of a joint that slides states `counts_per_metre` where others state `counts_per_rev`. A value of the
//! plant may bring its tolerance, `m2 = "0.128 ± 1 %"` (`tolerance`).

pub mod axes;
pub(crate) mod edit;
mod tolerance;
mod units;

use std::path::Path;

use stribeck_core::device::config::Config;
use stribeck_core::model::joint::Joint;
use stribeck_core::model::plant::PlantConfig;
use toml::{Table, Value};

use crate::error::{Error, Result};

/// The complete configuration as TOML text.
pub fn to_toml(config: &Config) -> Result<String> {
    let mut table = table(config)?;
    shorten(&mut table);
    let text = toml::to_string(&table)
        .map_err(|e| invalid(format!("the configuration cannot be written: {e}")))?;
    Ok(units::comment(&text, &config.plant))
}

/// Read a file, complete it with the defaults, and check it.
pub fn load(path: &Path) -> Result<Config> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
    from_toml(&text).map_err(|e| match e {
        Error::Invalid { what, help } => Error::Invalid {
            what: format!("{}: {what}", path.display()),
            help,
        },
        other => other,
    })
}

/// As [`load`], from text.
pub fn from_toml(text: &str) -> Result<Config> {
    let mut given: Table =
        toml::from_str(text).map_err(|e| invalid(e.to_string().trim().to_owned()))?;
    let mut all = base(&given)?;
    tolerance::separate(&mut given, &mut all)?;
    merge(&mut all, &given, "")?;
    read(&all)
}

/// Change values by path: `ekf.drag=true`, `encoders[0].counts_per_rev=4096`.
pub fn with_overrides(config: &Config, overrides: &[String]) -> Result<Config> {
    let mut config = *config;
    if config.drive.is_none() && overrides.iter().any(|o| o.trim().starts_with("drive.")) {
        config.drive = Some(Default::default());
    }
    let mut all = table(&config)?;
    for assignment in overrides {
        let (path, text) = assignment
            .split_once('=')
            .ok_or_else(|| invalid(format!("\"{assignment}\" is not of the form path=value")))?;
        let value = toml::from_str::<Table>(&format!("v = {text}"))
            .ok()
            .and_then(|mut t| t.remove("v"))
            .ok_or_else(|| invalid(format!("\"{text}\" is not a TOML value (in {assignment})")))?;
        set(&mut all, path.trim(), value)?;
    }
    read(&all)
}

/// The value to begin from: the default, with the plant that the file names.
fn base(given: &Table) -> Result<Table> {
    let mut config = Config::default();
    if let Some(Value::Table(plant)) = given.get("plant") {
        let name = plant.keys().next().map_or("Furuta", String::as_str);
        let plant = PlantConfig::named(name).ok_or_else(|| {
            invalid(format!(
                "there is no plant {name}; known: {}",
                PlantConfig::NAMES.join(", ")
            ))
        })?;
        config = Config::of_plant(plant);
    }
    if given.contains_key("drive") {
        config.drive = Some(Default::default());
    }
    table(&config)
}

/// Name of an encoder's scale on the wire, whatever its joint.
const SCALE: &str = Joint::Revolute.units().encoder_scale;

fn table(config: &Config) -> Result<Table> {
    let mut all = Table::try_from(config).map_err(|e| invalid(e.to_string()))?;
    let joints = config.plant.joints();
    for (encoder, joint) in encoders(&mut all).zip(joints) {
        rename(encoder, SCALE, joint.units().encoder_scale);
    }
    Ok(all)
}

fn read(all: &Table) -> Result<Config> {
    let mut wire = all.clone();
    for encoder in encoders(&mut wire) {
        rename(encoder, Joint::Prismatic.units().encoder_scale, SCALE);
    }
    let config: Config = wire
        .try_into()
        .map_err(|e: toml::de::Error| invalid(e.message().to_owned()))?;
    config.validate().map_err(|e| {
        let mut text = e.to_string();
        for (j, joint) in config.plant.joints().into_iter().enumerate() {
            let own = format!("encoders[{j}].{}", joint.units().encoder_scale);
            text = text.replace(&format!("encoders[{j}].{SCALE}"), &own);
        }
        invalid(text)
    })?;
    Ok(config)
}

fn encoders(all: &mut Table) -> impl Iterator<Item = &mut Table> {
    let list = all.get_mut("encoders").and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_table_mut)
}

fn rename(table: &mut Table, from: &str, to: &str) {
    if let Some(value) = table.remove(from) {
        table.insert(to.into(), value);
    }
}

/// Lay `given` over `all`; every name must already exist.
fn merge(all: &mut Table, given: &Table, path: &str) -> Result<()> {
    for (key, value) in given {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        let known = all.keys().cloned().collect::<Vec<_>>().join(", ");
        let Some(slot) = all.get_mut(key) else {
            return Err(invalid(format!("unknown name {path}; known here: {known}")));
        };
        lay(slot, value, &path)?;
    }
    Ok(())
}

fn lay(slot: &mut Value, value: &Value, path: &str) -> Result<()> {
    match (slot, value) {
        (Value::Table(slot), Value::Table(value)) => merge(slot, value, path),
        (Value::Array(slots), Value::Array(values)) if slots.len() == values.len() => {
            for (i, (slot, value)) in slots.iter_mut().zip(values).enumerate() {
                lay(slot, value, &format!("{path}[{i}]"))?;
            }
            Ok(())
        }
        (Value::Array(slots), Value::Array(values)) => Err(invalid(format!(
            "{path} has {} entries, {} are expected",
            values.len(),
            slots.len()
        ))),
        (slot, value) => {
            *slot = fit(slot, value).ok_or_else(|| {
                invalid(format!(
                    "{path} is a {}, found a {}",
                    slot.type_str(),
                    value.type_str()
                ))
            })?;
            Ok(())
        }
    }
}

/// A value of the slot's type: whole numbers are numbers too.
fn fit(slot: &Value, value: &Value) -> Option<Value> {
    match (slot, value) {
        (Value::Float(_), Value::Integer(i)) => Some(Value::Float(*i as f64)),
        (a, b) if a.same_type(b) => Some(b.clone()),
        _ => None,
    }
}

/// Replace the value at a path like `a.b[1].c`.
pub(crate) fn set(all: &mut Table, path: &str, value: Value) -> Result<()> {
    let unknown = || invalid(format!("there is no {path} in the configuration"));
    let mut steps = path.split(['.', '[']).map(|s| s.trim_end_matches(']'));
    let first = steps.next().ok_or_else(unknown)?;
    let mut slot = all.get_mut(first).ok_or_else(unknown)?;
    for step in steps {
        slot = match slot {
            Value::Table(t) => t.get_mut(step),
            Value::Array(a) => step.parse().ok().and_then(|i: usize| a.get_mut(i)),
            _ => None,
        }
        .ok_or_else(unknown)?;
    }
    lay(slot, &value, path)
}

/// Print every f32 with the digits it needs, not with those of the f64 it is stored in.
fn shorten(table: &mut Table) {
    for (_, value) in table.iter_mut() {
        shorten_value(value);
    }
}

fn shorten_value(value: &mut Value) {
    match value {
        Value::Float(x) => {
            let single = *x as f32;
            if let Ok(short) = single.to_string().parse::<f64>()
                && short as f32 == single
            {
                *x = short;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten_value),
        Value::Table(table) => shorten(table),
        _ => {}
    }
}

fn invalid(what: String) -> Error {
    Error::invalid(
        what,
        "`stribeck config show` prints every name with its default; correct the file and run `stribeck config validate`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back_keeps_every_bit() {
        let mut config = Config::default();
        config.tracker.bandwidth_hz = 0.1 + 0.2;
        config.ekf.vt = [f32::MIN_POSITIVE.max(1e-3), 1.0 / 3.0];
        assert_eq!(from_toml(&to_toml(&config).unwrap()).unwrap(), config);
    }

    #[test]
    fn a_short_file_changes_only_what_it_names() {
        let config = from_toml("[plant.Furuta]\ntilt = 0.5\n[run]\nauto_arm = true\n").unwrap();
        let mut expected = Config::default();
        expected.run.auto_arm = true;
        if let PlantConfig::Furuta(rig) = &mut expected.plant {
            rig.tilt = 0.5;
        }
        assert_eq!(config, expected);
        let driven = from_toml("[drive.motor]\ngear = 3.7\n").unwrap();
        assert_eq!(driven.drive.unwrap().motor.gear, 3.7);
        assert_eq!(from_toml(&to_toml(&driven).unwrap()).unwrap(), driven);
        let pendulum = from_toml("[plant.Pendulum]\n").unwrap();
        assert!(matches!(pendulum.plant, PlantConfig::Pendulum(_)));
    }

    #[test]
    fn a_joint_that_slides_counts_per_metre() {
        let text = "[plant.Cartpole]\n[[encoders]]\ncounts_per_metre = 20000\n[[encoders]]\ncounts_per_rev = 8192\n";
        let config = from_toml(text).unwrap();
        assert_eq!(config.encoders.map(|e| e.counts_per_rev), [20_000, 8192]);
        let written = to_toml(&config).unwrap();
        assert!(
            written.contains("counts_per_metre = 20000 ")
                && written.contains("kg, mass of the cart")
        );
        assert!(
            written.contains("m/s, rad/s") && !written.contains("{"),
            "{written}"
        );
        assert_eq!(from_toml(&written).unwrap(), config);
        let refused = |text: &str| from_toml(text).unwrap_err().to_string();
        let turned = refused("[plant.Cartpole]\n[[encoders]]\ncounts_per_rev = 1\n[[encoders]]\n");
        assert!(
            turned.contains("encoders[0].counts_per_rev") && turned.contains("counts_per_metre")
        );
        let slid = refused("[plant.Furuta]\n[[encoders]]\ncounts_per_metre = 1\n[[encoders]]\n");
        assert!(slid.contains("encoders[0].counts_per_metre") && slid.contains("counts_per_rev"));
        let none = refused("[plant.Cartpole]\n[[encoders]]\ncounts_per_metre = 0\n[[encoders]]\n");
        assert!(none.contains("encoders[0].counts_per_metre"), "{none}");
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text: &str| from_toml(text).unwrap_err().to_string();
        assert!(message("[run]\nauto_am = true").contains("run.auto_am"));
        assert!(message("[run]\nhold_ms = \"long\"").contains("run.hold_ms"));
        assert!(message("[tracker]\nbandwidth_hz = -1.0").contains("tracker.bandwidth_hz"));
        assert!(message("tick_hz = [").contains("tick_hz"));
    }

    #[test]
    fn overrides_by_path() {
        let set = |o: &str| with_overrides(&Config::default(), &[o.to_string()]);
        assert!(set("ekf.drag=true").unwrap().ekf.drag);
        assert_eq!(
            set("encoders[1].counts_per_rev=4096").unwrap().encoders[1].counts_per_rev,
            4096
        );
        assert!(
            set("ekf.nonsense=1")
                .unwrap_err()
                .to_string()
                .contains("ekf.nonsense")
        );
        assert!(set("ekf.drag").is_err());
    }
}
