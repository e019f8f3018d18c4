//! What each name of the configuration means and its unit, written as comments into every configuration file.

/// Name and meaning.
const MEANINGS: &[(&str, &str)] = &[
    ("version", "layout of this file"),
    ("tick_hz", "Hz"),
    ("m1", "kg, arm"),
    ("m2", "kg, pendulum"),
    ("j1z", "kg·m², arm about its centre of gravity"),
    ("j2x", "kg·m², pendulum about its centre of gravity"),
    ("j2y", "kg·m²"),
    ("j2z", "kg·m²"),
    ("l1", "m, pivot to centre of gravity of the arm"),
    ("l2", "m, pivot to centre of gravity of the pendulum"),
    ("arm_length", "m"),
    ("tilt", "rad, from the vertical"),
    ("gravity", "m/s²"),
    ("mass", "kg"),
    ("length", "m, pivot to centre of gravity"),
    ("inertia", "kg·m², about the pivot"),
    (
        "load",
        "N, preload of the bearing; 0: reaction of the pivot",
    ),
    ("counter_bits", "16 or 32"),
    ("counts_per_rev", "four per encoder line"),
    ("reversed", "the counter runs against the joint"),
    ("zero", "counts at angle zero"),
    ("max_jump", "counts per tick"),
    ("max_acceleration", "counts per window²"),
    ("stuck_travel", "counts of the other joint; 0: off"),
    ("bandwidth_hz", "Hz, velocity filter of the UAS"),
    ("mode", "Paper or Bench"),
    ("nussbaum", "MittagLeffler, CosSqrt, SquareCos or CosExp"),
    ("dead_zone", "rad/s"),
    ("angle_rate", "1/s"),
    ("gain_max", "1/s"),
    ("lambda_lower", "1/rad"),
    ("lambda_upper", "1/rad"),
    ("vt", "rad/s, of the filter's friction law"),
    ("drag", "estimate quadratic drag too"),
    ("cycle", "ticks per covariance cycle"),
    ("substeps", "integration steps per tick"),
    ("acceleration_noise", "(rad/s²)²·s"),
    ("torque_noise", "(N·m)²·s"),
    ("slip_noise", "s"),
    ("slip_torque", "N·m"),
    ("slip_speed", "rad/s"),
    ("still_speed", "rad/s"),
    ("window_s", "s"),
    ("start_s", "s"),
    ("start_max_s", "s"),
    (
        "prior",
        "σ of μd [m], μv [N·m·s], d [N·m·s²] before any data",
    ),
    ("lost", "rad, mean innovation that restarts the filter"),
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

/// Add the meaning behind every value of a TOML text.
pub fn comment(toml: &str) -> String {
    let mut text = String::new();
    for line in toml.lines() {
        text += line;
        let name = line.split_once(" = ").map(|(name, _)| name);
        let meaning = name.and_then(|name| MEANINGS.iter().find(|(n, _)| *n == name));
        if let Some((_, meaning)) = meaning {
            let pad = 32usize.saturating_sub(line.chars().count());
            text += &format!("{:pad$}  # {meaning}", "");
        }
        text.push('\n');
    }
    text
}
