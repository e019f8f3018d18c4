//! Is this the free motion of a passive plant? Energy says so: it only falls.
//!
//! A push lifts it; the part before or after, whichever is longer, is kept. A channel that is wired the wrong way round lifts it
//! as well, but not when one sign is changed ([`stribeck_core::observer::wiring`]): that is an error, not a table.

use stribeck_core::observer::wiring::{DECIMATION, Wiring};

use crate::error::{Error, Result};
use crate::identify::data::record::Record;
use crate::identify::data::smooth::{Smooth, local};
use crate::identify::model::parametric::Model;

/// Time between two energies [s], as the chip's check has it at 10 kHz.
const STEP_S: f64 = 64e-4;
/// A climb of the energy that no error of the rig explains, as part of the first energy.
const PUSHED: f64 = 0.15;

/// Refuse a reversed channel.
pub fn check_wiring(record: &Record, model: &Model, scale: f64) -> Result<()> {
    if model.joints() < 2 {
        return Ok(());
    }
    let smooth = Smooth::new(record, STEP_S, 0.5 * scale);
    let wiring = Wiring::<f64>::new(&model.rig.config());
    let mut state = wiring.start();
    for (q, w) in smooth.q.iter().zip(&smooth.w) {
        // The check takes every so many ticks; these samples are already that far apart.
        for _ in 0..DECIMATION {
            wiring.step(&mut state, *q, *w);
        }
    }
    if state.reversed {
        return Err(Error::invalid(
            format!(
                "{}: one of the two channels is reversed: the energy would rise",
                record.name
            ),
            "give --invert 1 for a table; for a board set `reversed` of that encoder in its configuration",
        ));
    }
    Ok(())
}

/// Torque that no passive plant feels, as part of what gravity and inertia do: a hand.
const HELD: f64 = 0.3;
/// How many times what is left later on.
const STANDS_OUT: f64 = 4.0;
/// Moments in a row that decide.
const FIRST: usize = 3;

/// Time \[s\] from which two joints move freely, where a hand still held or moved them at first: until then accelerations are not the
/// plant's by far more than friction and smoothing leave in the second half of the record.
pub fn released(record: &Record, model: &Model, scale: f64) -> Option<f64> {
    let half = 0.5 * scale;
    let joints: [Vec<f64>; 2] = [0, 1].map(|j| record.joint(j));
    let last = record.t[record.t.len() - 1];
    let times: Vec<f64> = (0..)
        .map(|i| 0.25 * scale * f64::from(i))
        .take_while(|t| *t < last)
        .collect();
    let (mut left, mut free) = (Vec::new(), [0.0; 2]);
    model.with_plant(|p| {
        for &t in &times {
            let [a, b] = [0, 1].map(|j| local(&record.t, &joints[j], t, half));
            let plant = p.terms([a.q, b.q], [a.w, b.w]).free;
            left.push([a.a - plant[0], b.a - plant[1]]);
            for j in 0..2 {
                free[j] += plant[j] * plant[j] / times.len() as f64;
            }
        }
    });
    let middle = times.len() / 2;
    let limit: [f64; 2] = std::array::from_fn(|j| {
        let late = left[middle..].iter().map(|l| l[j].abs());
        (STANDS_OUT * late.fold(0.0, f64::max)).max(HELD * free[j].sqrt())
    });
    let held = |i: usize| (0..2).any(|j| left[i][j].abs() > limit[j]);
    // A hand is there from the first sample on, without a break; a push comes later.
    if middle < FIRST || !(0..FIRST).all(held) {
        return None;
    }
    let (mut end, mut since) = (0, 0);
    for i in 0..middle {
        (end, since) = if held(i) { (i, 0) } else { (end, since + 1) };
        if since == FIRST {
            break;
        }
    }
    Some(times[end] + 2.0 * half)
}

/// The longest part without a push: first and last time \[s\]; none if nothing pushed.
pub fn without_push(record: &Record, model: &Model, scale: f64) -> Option<(f64, f64)> {
    let step = 0.25 * scale;
    let smooth = Smooth::new(record, step, 0.5 * scale);
    let n = smooth.t.len();
    let energy: Vec<f64> = model.with_plant(|p| {
        let hanging = p.energy([0.0; 2], [0.0; 2]);
        let at = |i: usize| p.energy(smooth.q[i], smooth.w[i]) - hanging;
        (0..n).map(at).collect()
    });
    // Means over two time scales: what a wrong rig does to the energy comes and goes with the swing.
    let width = 8.min(n.max(1));
    let means: Vec<f64> = energy
        .windows(width)
        .map(|w| w.iter().sum::<f64>() / width as f64)
        .collect();
    let first = *means.first()?;
    let (mut lowest, mut at) = (first, 0);
    let mut pushes: Vec<(usize, usize)> = Vec::new();
    let mut i = 1;
    while i < means.len() {
        if means[i] < lowest {
            (lowest, at) = (means[i], i);
        } else if means[i] - lowest > PUSHED * first.max(lowest) {
            // Over when the energy falls again.
            while i + 1 < means.len() && means[i + 1] > means[i] {
                i += 1;
            }
            pushes.push((at, i));
            (lowest, at) = (means[i], i);
        }
        i += 1;
    }
    if pushes.is_empty() {
        return None;
    }
    let mut edges = vec![0];
    edges.extend(pushes.iter().flat_map(|p| [p.0, p.1 + width]));
    edges.push(n);
    let parts = edges.chunks(2).map(|c| (c[0], c[1].min(n)));
    let longest = parts.filter(|(a, b)| b > a).max_by_key(|(a, b)| b - a)?;
    Some((smooth.t[longest.0], smooth.t[longest.1 - 1]))
}
