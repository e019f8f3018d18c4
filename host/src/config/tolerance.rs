//! `value ± tolerance` in a configuration file: `m2 = "0.128 ± 1 %"`, `tilt = "0.785 ± 0.5°"`.
//!
//! The value goes to the plant, the tolerance (half the width within which the value lies) to `ekf.tolerance`, where observer and grey box
//! take their priors from. What is not said keeps the default, "as weighed and measured". A tolerance of gravity is one of the unit of mass
//! and is added to that of m2.

use toml::{Table, Value};

use super::invalid;
use crate::error::Result;
use crate::number;

/// Names of plant values and of the tolerance each one has; of the first group in rad, of the others relative.
const ABSOLUTE: [(&str, &str); 1] = [("tilt", "tilt")];
const RELATIVE: [(&str, &str); 12] = [
    ("m1", "m1"),
    ("m2", "m2"),
    ("j1z", "j1z"),
    ("j2x", "j2"),
    ("j2y", "j2"),
    ("l1", "l1"),
    ("l2", "l2"),
    ("arm_length", "arm_length"),
    ("gravity", "m2"),
    ("mass", "m2"),
    ("length", "l2"),
    ("inertia", "j2"),
];

/// Take the tolerances out of `given`'s plant: values stay, tolerances are laid into `all`'s `ekf.tolerance`.
pub fn separate(given: &mut Table, all: &mut Table) -> Result<()> {
    let explicit: Vec<String> = given
        .get("ekf")
        .and_then(|e| e.get("tolerance"))
        .and_then(Value::as_table)
        .map_or_else(Vec::new, |t| t.keys().cloned().collect());
    let Some(Value::Table(plants)) = given.get_mut("plant") else {
        return Ok(());
    };
    let mut found: Vec<(&str, String, f64)> = Vec::new();
    for (plant, values) in plants.iter_mut() {
        let Value::Table(values) = values else {
            continue;
        };
        for (key, value) in values.iter_mut() {
            let path = format!("plant.{plant}.{key}");
            let Value::String(text) = value else { continue };
            let Some((x, tolerance, relative)) = parse(text) else {
                return Err(invalid(format!(
                    "{path} = {text:?} is neither a number nor \"value ± tolerance\" (in the value's unit, in % or °)"
                )));
            };
            let absolute = ABSOLUTE.iter().find(|n| n.0 == key);
            let name = absolute.or(RELATIVE.iter().find(|n| n.0 == key));
            let Some((_, name)) = name else {
                return Err(invalid(format!(
                    "{path} has no tolerance: write a plain number"
                )));
            };
            if explicit.iter().any(|e| e == name) {
                return Err(invalid(format!(
                    "{path} states a tolerance and so does ekf.tolerance.{name}: leave one out"
                )));
            }
            let size = match (absolute.is_some(), relative) {
                (true, true) => tolerance * x.abs(),
                (true, false) | (false, true) => tolerance,
                (false, false) => tolerance / x.abs(),
            };
            if !size.is_finite() {
                return Err(invalid(format!(
                    "{path} = {text:?}: a relative tolerance of zero"
                )));
            }
            *value = Value::Float(x);
            found.push((name, path, size));
        }
    }
    let slot = all.get_mut("ekf").and_then(|e| e.get_mut("tolerance"));
    let Some(Value::Table(slot)) = slot else {
        return Ok(());
    };
    // Independent errors of one tolerance add up; what is stated of a value alone replaces the default.
    let mut stated: Table = Table::new();
    for (name, path, size) in found {
        let default = slot.get(name).and_then(Value::as_float).unwrap_or(0.0);
        let gravity = path.ends_with(".gravity");
        let before = stated.get(name).and_then(Value::as_float);
        let base = before.unwrap_or(if gravity { default } else { 0.0 });
        let together = if name == "j2" {
            base.max(size)
        } else {
            number::hypot(base, size)
        };
        stated.insert(name.into(), Value::Float(together));
    }
    slot.extend(stated);
    Ok(())
}

/// Value, tolerance, and whether it is relative. Degrees become radians.
fn parse(text: &str) -> Option<(f64, f64, bool)> {
    let (value, tolerance) = text.split_once('±').or_else(|| text.split_once("+-"))?;
    let value: f64 = value.trim().parse().ok()?;
    let tolerance = tolerance.trim();
    let (number, factor, relative) = if let Some(t) = tolerance.strip_suffix('%') {
        (t, 0.01, true)
    } else if let Some(t) = tolerance.strip_suffix('°') {
        (t, std::f64::consts::PI / 180.0, false)
    } else {
        (tolerance, 1.0, false)
    };
    let size: f64 = number.trim().parse().ok()?;
    (value.is_finite() && size.is_finite() && size >= 0.0).then_some((
        value,
        factor * size,
        relative,
    ))
}

#[cfg(test)]
mod tests {
    use crate::config::from_toml;

    #[test]
    fn a_value_brings_its_tolerance() {
        let text = "[plant.Furuta]\nm2 = \"0.128 ± 1 %\"\nl2 = \"0.062 ± 0.00124\"\ntilt = \"0.5 ± 0.5°\"\nl1 = 0.06\n";
        let c = from_toml(text).unwrap();
        let t = c.ekf.tolerance;
        assert!((t.m2 - 0.01).abs() < 1e-7 && (t.l2 - 0.02).abs() < 1e-7);
        assert!((t.tilt - 0.5f32.to_radians()).abs() < 1e-7);
        // What is not said keeps its default.
        let usual = crate::config::from_toml("").unwrap().ekf.tolerance;
        assert_eq!((t.m1, t.j2, t.l1), (usual.m1, usual.j2, usual.l1));
        let again = crate::config::from_toml(&crate::config::to_toml(&c).unwrap()).unwrap();
        assert_eq!(again, c);
    }

    #[test]
    fn gravity_is_of_the_unit_of_mass_and_mistakes_are_named() {
        let c = from_toml("[plant.Furuta]\ngravity = \"9.81 ± 1 %\"\n").unwrap();
        let usual = from_toml("").unwrap().ekf.tolerance.m2;
        assert!(c.ekf.tolerance.m2 > 1.1 * usual && c.ekf.tolerance.m2 < 1.2 * usual);
        let message = |text: &str| from_toml(text).unwrap_err().to_string();
        assert!(message("[plant.Furuta]\nm2 = \"heavy\"\n").contains("plant.Furuta.m2"));
        assert!(message("[plant.Furuta]\nm2 = \"1 ± x\"\n").contains("plant.Furuta.m2"));
        let twice = "[plant.Furuta]\nm2 = \"0.1 ± 1 %\"\n[ekf.tolerance]\nm2 = 0.01\n";
        assert!(message(twice).contains("ekf.tolerance.m2"));
        assert!(message("[plant.Furuta]\nj2z = \"3e-6 ± 1 %\"\n").contains("no tolerance"));
        assert!(message("[plant.Furuta]\nm2 = \"0.1 ± 90 %\"\n").contains("ekf.tolerance.m2"));
    }
}
