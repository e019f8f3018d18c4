//! What each name of the configuration means and its unit, written as comments into every configuration file.
//!
//! Geometry: as the plant states it. The rest is the list below, where `{velocity}` stands for the unit of the joints, or for both where they
//! differ.

use stribeck_core::model::joint::{Joint, Units};
use stribeck_core::model::plant::PlantConfig;

use super::axes::Axes;

/// Name and meaning.
const MEANINGS: &[(&str, &str)] = &[
    ("version", "layout of this file"),
    ("tick_hz", "Hz"),
    ("counter_bits", "16 or 32"),
    ("counts_per_rev", "four per encoder line"),
    ("counts_per_metre", "counts per metre of travel"),
    ("reversed", "the counter runs against the joint"),
    ("zero", "counts at {coordinate zero}"),
    ("max_jump", "counts per tick"),
    ("max_acceleration", "counts per window²"),
    ("stuck_travel", "counts of the other joint; 0: off"),
    ("bandwidth_hz", "Hz, velocity filter of the UAS"),
    ("mode", "Paper or Bench"),
    ("nussbaum", "MittagLeffler, CosSqrt, SquareCos or CosExp"),
    ("dead_zone", "{velocity}"),
    ("angle_rate", "1/s"),
    ("gain_max", "1/s"),
    ("lambda_lower", "1/{coordinate}"),
    ("lambda_upper", "1/{coordinate}"),
    ("vt", "{velocity}, of the filter's friction law"),
    ("drag", "estimate quadratic drag too"),
    ("cycle", "ticks per covariance cycle"),
    ("substeps", "integration steps per tick"),
    ("acceleration_noise", "({acceleration})²·s"),
    ("torque_noise", "({effort})²·s"),
    ("slip_noise", "s"),
    ("slip_torque", "{effort}"),
    ("slip_speed", "{velocity}"),
    ("still_speed", "{velocity}"),
    ("window_s", "s"),
    ("start_s", "s"),
    ("start_max_s", "s"),
    (
        "prior",
        "σ of μd [{coulomb}], μv [{viscous}], d [{drag}] before any data",
    ),
    (
        "lost",
        "{coordinate}, mean innovation that restarts the filter",
    ),
    ("identifiable", "95 % half-width relative to the estimate"),
    ("motion_counts", "counts"),
    ("hold_ms", "ms"),
    ("rest_counts", "counts"),
    ("rest_ms", "ms"),
    ("auto_arm", "arm without button or command"),
    ("block_ticks", "ticks"),
    ("state_every", "ticks; 0: never"),
    ("param_every", "ticks; 0: never"),
    ("snapshot_every", "ticks"),
];

/// A placeholder and what of a joint's units it stands for.
type Placeholder = (&'static str, fn(&Units) -> &'static str);
const PLACEHOLDERS: &[Placeholder] = &[
    ("{coordinate}", |u| u.coordinate),
    ("{velocity}", |u| u.velocity),
    ("{acceleration}", |u| u.acceleration),
    ("{effort}", |u| u.effort),
    ("{coulomb}", |u| u.coulomb),
    ("{viscous}", |u| u.viscous),
    ("{drag}", |u| u.drag),
];

/// Add the meaning behind every value of a TOML text.
pub fn comment(toml: &str, plant: &PlantConfig) -> String {
    let axes = Axes::of(plant);
    let mut text = String::new();
    // Which plain table the line is in, and which encoder.
    let (mut geometry, mut encoder) = (false, 0);
    for line in toml.lines() {
        text += line;
        if line.starts_with('[') {
            geometry = line.starts_with("[plant.");
            encoder += usize::from(line == "[[encoders]]");
        }
        let name = line.split_once(" = ").map(|(name, _)| name);
        let known = if geometry { plant.meanings() } else { MEANINGS };
        let meaning = name.and_then(|name| known.iter().find(|(n, _)| *n == name));
        if let Some((_, meaning)) = meaning {
            let meaning = filled(meaning, &axes, encoder.saturating_sub(1));
            let pad = 32usize.saturating_sub(line.chars().count());
            text += &format!("{:pad$}  # {meaning}", "");
        }
        text.push('\n');
    }
    text
}

/// The meaning with the units of this plant's joints.
fn filled(meaning: &str, axes: &Axes, encoder: usize) -> String {
    let zero = match axes.joints.get(encoder) {
        Some(Joint::Prismatic) => "x = 0",
        _ => "angle zero",
    };
    let mut text = meaning.replace("{coordinate zero}", zero);
    for (name, unit) in PLACEHOLDERS {
        text = text.replace(name, &axes.all(unit));
    }
    text
}
