//! The causal graph as SVG: components, bonds with half arrows, causal strokes.
//!
//! Places are found by a small spring model from a fixed start, so the same graph always draws the same picture.

use crate::number;

use std::fmt::Write as _;

use super::equations::System;
use super::graph::{Graph, Kind};

/// Distance of neighbours [px].
const LENGTH: f64 = 105.0;
const MARGIN: f64 = 70.0;

pub fn svg(system: &System) -> String {
    let graph = &system.graph;
    let places = layout(graph);
    let (width, height) = places
        .iter()
        .fold((0.0f64, 0.0f64), |(w, h), (x, y)| (w.max(*x), h.max(*y)));
    let (width, height) = (width + MARGIN, height + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"13\" role=\"img\" aria-label=\"bond graph of {}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        escape(&graph.name)
    );
    for (i, bond) in graph.bonds.iter().enumerate() {
        draw_bond(
            &mut out,
            places[bond.tail],
            places[bond.head],
            system.plan.stroke[i] == bond.head,
        );
    }
    for (i, part) in graph.parts.iter().enumerate() {
        let (x, y) = places[i];
        let colour = match part.kind {
            Kind::Se | Kind::Sf => "#b30000",
            _ if system.plan.derivative.contains(&i) => "#7a0177",
            _ if system.plan.states.contains(&i) => "#08519c",
            _ => "#222",
        };
        let label = match part.kind {
            Kind::Zero | Kind::One => part.kind.name().to_string(),
            kind => format!("{}: {}", kind.name(), part.name),
        };
        let half = 4.2 * label.chars().count() as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"18\" fill=\"#fff\" opacity=\".85\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{colour}\"><title>{}</title>{}</text>",
            x - half,
            y - 9.0,
            2.0 * half,
            y + 4.5,
            escape(&part.name),
            escape(&label)
        );
    }
    let legend = [
        ("#b30000", "source"),
        ("#08519c", "state"),
        ("#7a0177", "derivative causality"),
    ];
    for (i, (colour, text)) in legend.iter().enumerate() {
        let x = 14.0 + 110.0 * i as f64;
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{:.0}\" fill=\"{colour}\" font-size=\"11\">{text}</text>",
            height - 10.0
        );
    }
    out + "</svg>\n"
}

/// Line from near `tail` to near `head`, half arrow at the head, stroke at the end that receives the effort.
fn draw_bond(out: &mut String, tail: (f64, f64), head: (f64, f64), stroke_at_head: bool) {
    let (dx, dy) = (head.0 - tail.0, head.1 - tail.1);
    let length = number::hypot(dx, dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    // Labels are wider than high: keep clear of them.
    let clear = (13.0 + 19.0 * ux.abs()).min(0.38 * length);
    let (ax, ay) = (tail.0 + clear * ux, tail.1 + clear * uy);
    let (bx, by) = (head.0 - clear * ux, head.1 - clear * uy);
    let (hx, hy) = (bx - 9.0 * ux - 6.0 * uy, by - 9.0 * uy + 6.0 * ux);
    let (sx, sy) = if stroke_at_head { (bx, by) } else { (ax, ay) };
    let _ = writeln!(
        out,
        "<path d=\"M{ax:.1} {ay:.1}L{bx:.1} {by:.1}L{hx:.1} {hy:.1}M{:.1} {:.1}L{:.1} {:.1}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.6\"/>",
        sx - 7.0 * uy,
        sy + 7.0 * ux,
        sx + 7.0 * uy,
        sy - 7.0 * ux
    );
}

fn layout(graph: &Graph) -> Vec<(f64, f64)> {
    let n = graph.parts.len();
    // Start on a spiral in the order of the description.
    let mut places: Vec<(f64, f64)> = (0..n)
        .map(|i| {
            let (r, a) = (LENGTH * (0.3 + (i as f64).sqrt()), 2.399_963 * i as f64);
            (r * number::cos(a), 0.7 * r * number::sin(a))
        })
        .collect();
    let rounds = 900;
    for round in 0..rounds {
        let heat = 24.0 * (1.0 - round as f64 / rounds as f64) + 0.5;
        let mut push = vec![(0.0, 0.0); n];
        for i in 0..n {
            for j in 0..i {
                let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
                let distance = number::hypot(dx, dy).max(1.0);
                let force = 0.8 * LENGTH * LENGTH / (distance * distance);
                let (fx, fy) = (force * dx / distance, force * dy / distance);
                push[i].0 += fx * LENGTH;
                push[i].1 += fy * LENGTH;
                push[j].0 -= fx * LENGTH;
                push[j].1 -= fy * LENGTH;
            }
        }
        for bond in &graph.bonds {
            let (a, b) = (places[bond.tail], places[bond.head]);
            let (dx, dy) = (b.0 - a.0, b.1 - a.1);
            let distance = number::hypot(dx, dy).max(1.0);
            let force = 1.5 * (distance - LENGTH);
            let (fx, fy) = (force * dx / distance, force * dy / distance);
            push[bond.tail].0 += fx;
            push[bond.tail].1 += fy;
            push[bond.head].0 -= fx;
            push[bond.head].1 -= fy;
        }
        for (place, (fx, fy)) in places.iter_mut().zip(push) {
            let size = number::hypot(fx, fy).max(1e-9);
            let step = size.min(heat);
            place.0 += step * fx / size;
            place.1 += step * fy / size;
        }
    }
    let least = places
        .iter()
        .fold((f64::MAX, f64::MAX), |m, p| (m.0.min(p.0), m.1.min(p.1)));
    places
        .iter()
        .map(|p| (p.0 - least.0 + MARGIN, p.1 - least.1 + MARGIN / 2.0))
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
