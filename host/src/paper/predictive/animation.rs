//! The swing-up as one animated SVG: side view, the plan's prediction and what happened, nothing but SVG inside.
//!
//! Left: the arm from above and the pendulum from the side, as they move, and where the plan expects the pendulum at the end of its
//! horizon. Right: angle of the pendulum and torque over time; the dashed line is what the plan being computed expects, redrawn every
//! interval. Browsers play it wherever an image is allowed (SMIL); a viewer that does not shows the end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::swingup::Swing;
use crate::error::{Error, Result};

/// Seconds shown, and how much of a step is drawn: every second one of 20 ms.
const SHOWN: f64 = 8.0;
const EVERY: usize = 2;
/// Where the time axes are: left, right; top and bottom of angle and torque.
const AXIS: [f64; 2] = [330.0, 900.0];
const ANGLE: [f64; 2] = [50.0, 270.0];
const TORQUE: [f64; 2] = [310.0, 390.0];
/// Centre of the side view and length of the pendulum; of the arm's view from above.
const PIVOT: [f64; 2] = [150.0, 160.0];
const LENGTH: f64 = 100.0;
const ABOVE: [f64; 2] = [150.0, 345.0];
const ARM: f64 = 38.0;

pub fn write(folder: &Path, swing: &Swing) -> Result<PathBuf> {
    let path = folder.join("swing-up.svg");
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    std::fs::write(&path, svg(swing)).map_err(|e| Error::write(&path, e))?;
    Ok(path)
}

fn time(t: f64) -> f64 {
    AXIS[0] + (AXIS[1] - AXIS[0]) * t / SHOWN
}

fn scaled(x: f64, most: f64, [top, bottom]: [f64; 2]) -> f64 {
    0.5 * (top + bottom) - 0.5 * (bottom - top) * (x / most).clamp(-1.0, 1.0)
}

/// The angle axis: hanging in the middle, upright at both ends, a little beyond.
const TURN: f64 = 1.25 * std::f64::consts::PI;

fn svg(swing: &Swing) -> String {
    let shown: Vec<&[f64; 6]> = swing
        .motion
        .iter()
        .step_by(EVERY)
        .take_while(|m| m[0] <= SHOWN)
        .collect();
    let last = shown.last().map_or(0.0, |m| m[0]);
    let clock = format!("dur=\"{last:.2}s\" repeatCount=\"indefinite\"");
    let mut s = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 940 430\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"940\" height=\"430\" fill=\"#fff\"/>\n",
    );
    let limit = swing.largest_input.max(1e-9);
    let _ = writeln!(
        s,
        "<text x=\"20\" y=\"24\" font-size=\"16\">Furuta pendulum: swing-up from hanging, at most {limit:.2} N·m, planned in f32</text>"
    );
    frame(&mut s, limit);
    // What the plans expected, one after the other.
    let ends: Vec<f64> = swing.intervals.iter().map(|i| i.t).collect();
    for (k, interval) in swing.intervals.iter().enumerate() {
        if interval.t > last {
            break;
        }
        let until = ends.get(k + 1).copied().unwrap_or(last).min(last);
        let points: Vec<String> = interval
            .expected
            .iter()
            .enumerate()
            .step_by(EVERY)
            .map(|(j, q)| (interval.t + 0.02 * j as f64, q[1]))
            .take_while(|(t, _)| *t <= SHOWN)
            .map(|(t, q)| format!("{:.0},{:.0}", time(t), scaled(q, TURN, ANGLE)))
            .collect();
        let _ = writeln!(
            s,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#d95f02\" stroke-width=\"2\" stroke-dasharray=\"5 4\" opacity=\"0\">\
             <animate attributeName=\"opacity\" calcMode=\"discrete\" values=\"0;1;0\" keyTimes=\"0;{:.4};{:.4}\" {clock}/></polyline>",
            points.join(" "),
            (interval.t / last).min(0.999),
            (until / last).min(1.0)
        );
    }
    // What happened, uncovered as time goes on.
    let line = |of: usize, most: f64, range: [f64; 2]| -> String {
        let point = |m: &&[f64; 6]| format!("{:.0},{:.0}", time(m[0]), scaled(m[of], most, range));
        shown.iter().map(point).collect::<Vec<_>>().join(" ")
    };
    let width = time(last) - AXIS[0];
    let _ = writeln!(
        s,
        "<clipPath id=\"past\"><rect x=\"{}\" y=\"0\" width=\"{width:.0}\" height=\"430\">\
         <animate attributeName=\"width\" values=\"0;{width:.0}\" {clock}/></rect></clipPath>",
        AXIS[0]
    );
    let _ = writeln!(
        s,
        "<g clip-path=\"url(#past)\" fill=\"none\" stroke-width=\"2\"><polyline points=\"{}\" stroke=\"#1b5e9b\"/>\
         <polyline points=\"{}\" stroke=\"#2a7f3f\"/></g>",
        line(2, TURN, ANGLE),
        line(5, limit, TORQUE)
    );
    mechanism(&mut s, &shown, &clock);
    s.push_str("</svg>\n");
    s
}

/// Axes and their words.
fn frame(s: &mut String, limit: f64) {
    let [left, right] = AXIS;
    for (words, q) in [("upright", 1.0), ("hanging", 0.0), ("upright", -1.0)] {
        let y = scaled(q * std::f64::consts::PI, TURN, ANGLE);
        let _ = writeln!(
            s,
            "<path d=\"M{left} {y:.0}H{right}\" stroke=\"#bbb\"/><text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\" fill=\"#555\">{words}</text>",
            left - 8.0,
            y + 4.0
        );
    }
    for (words, u) in [
        (format!("{limit:.2}"), 1.0),
        ("0".into(), 0.0),
        (format!("−{limit:.2}"), -1.0),
    ] {
        let y = scaled(u, 1.0, TORQUE);
        let _ = writeln!(
            s,
            "<path d=\"M{left} {y:.0}H{right}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\" fill=\"#555\">{words}</text>",
            left - 8.0,
            y + 4.0
        );
    }
    for second in 0..=SHOWN as u32 {
        let x = time(f64::from(second));
        let _ = writeln!(
            s,
            "<path d=\"M{x:.0} {}v5\" stroke=\"#888\"/><text x=\"{x:.0}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{second} s</text>",
            TORQUE[1] + 4.0,
            TORQUE[1] + 22.0
        );
    }
    let words = [
        (left, 42.0, "#1b5e9b", "pendulum: what happened"),
        (left + 190.0, 42.0, "#d95f02", "what the plan expects"),
        (left, TORQUE[0] - 8.0, "#2a7f3f", "torque [N·m]"),
    ];
    for (x, y, colour, text) in words {
        let _ = writeln!(
            s,
            "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\">{text}</text>"
        );
    }
    let _ = writeln!(
        s,
        "<text x=\"{}\" y=\"{}\" fill=\"#555\" text-anchor=\"middle\">pendulum</text>\
         <text x=\"{}\" y=\"{}\" fill=\"#555\" text-anchor=\"middle\">arm, from above</text>",
        PIVOT[0],
        PIVOT[1] + LENGTH + 28.0,
        ABOVE[0],
        ABOVE[1] + ARM + 22.0
    );
}

/// Pendulum and arm, turned frame by frame.
fn mechanism(s: &mut String, shown: &[&[f64; 6]], clock: &str) {
    let turn = |of: usize, sense: f64, [x, y]: [f64; 2]| -> String {
        let frame = |m: &&[f64; 6]| format!("{:.1} {x} {y}", sense * m[of].to_degrees());
        shown.iter().map(frame).collect::<Vec<_>>().join(";")
    };
    let end = |of: usize, sense: f64| shown.last().map_or(0.0, |m| sense * m[of].to_degrees());
    for (of, sense, [x, y], length, ball) in
        [(2, -1.0, PIVOT, LENGTH, 9.0), (1, 1.0, ABOVE, ARM, 5.0)]
    {
        let _ = writeln!(
            s,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{length}\" fill=\"none\" stroke=\"#eee\"/>\
             <g transform=\"rotate({:.1} {x} {y})\"><animateTransform attributeName=\"transform\" type=\"rotate\" values=\"{}\" {clock}/>\
             <path d=\"M{x} {y}v{length}\" stroke=\"#1b5e9b\" stroke-width=\"5\" stroke-linecap=\"round\"/>\
             <circle cx=\"{x}\" cy=\"{}\" r=\"{ball}\" fill=\"#1b5e9b\"/></g><circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"#333\"/>",
            end(of, sense),
            turn(of, sense, [x, y]),
            y + length
        );
    }
}
