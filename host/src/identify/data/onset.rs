//! Where free motion begins.
//!
//! Many records start while a hand still lifts or holds the pendulum; no friction law explains that part. Candidate
//! starts are the first sample and the turning points and passages through the bottom that follow. From each, a short
//! stretch is fitted; the first one whose residuals are not much larger than the best one's is where free motion begins.

use stribeck_core::model::friction::Friction;

use crate::identify::data::record::{MIN_SAMPLES, Record};
use crate::identify::data::smooth::{Smooth, time_scale};
use crate::identify::fit::balance::start_values;
use crate::identify::fit::fitted::{Options, Prepared, fit};
use crate::identify::model::parametric::{Freedom, Model, Param, Rig};
use crate::identify::verdict::EXPLAINED;

/// Candidate starts looked at, and half swings fitted from each.
const CANDIDATES: usize = 8;
const HALF_SWINGS: f64 = 12.0;
/// A residual this much larger than that from the best start is still free motion.
const SLACK: f64 = 2.0;

/// Index of the first sample of free motion.
pub fn free_from(record: &Record, rig: Rig, freedom: &Freedom) -> usize {
    let scale = time_scale(record);
    let span = HALF_SWINGS * std::f64::consts::PI * scale;
    let misfit = |from: usize| misfit(record, from, span, rig, freedom);
    // Most records begin where the motion is free.
    let at_once = misfit(0);
    if at_once <= EXPLAINED.sqrt() {
        return 0;
    }
    let smooth = Smooth::new(record, 0.1 * scale, 0.5 * scale);
    let last = record.joints - 1;
    let centre = record.q[record.q.len() - 1][last];
    let mut starts = vec![0];
    for i in 1..smooth.t.len() {
        let turned = smooth.w[i - 1][last] * smooth.w[i][last] < 0.0;
        let bottom = (smooth.q[i - 1][last] - centre) * (smooth.q[i][last] - centre) < 0.0;
        if (turned || bottom) && smooth.t[i] > 0.5 * scale {
            starts.push(record.index(smooth.t[i]));
        }
        if starts.len() == CANDIDATES {
            break;
        }
    }
    let mut misfits = vec![at_once];
    misfits.extend(starts[1..].iter().map(|&from| misfit(from)));
    let best = misfits.iter().copied().fold(f64::INFINITY, f64::min);
    misfits
        .iter()
        .position(|m| *m <= SLACK * best.max(1.0))
        .map_or(0, |i| starts[i])
}

/// RMS residual, in standard deviations of a reading, of a fit over `span` [s] from sample `from`.
fn misfit(record: &Record, from: usize, span: f64, rig: Rig, freedom: &Freedom) -> f64 {
    let to = record.index(record.t[from] + span);
    if to - from < MIN_SAMPLES {
        return f64::INFINITY;
    }
    let part = record.slice(from..to);
    let mut free = freedom.free.clone();
    for j in 0..rig.joints() {
        free.extend(rig.base().iter().map(|&c| Param::Friction(c, j)));
    }
    let friction = Friction {
        vt: 0.1,
        fnt: 1e-2,
        ..Friction::NONE
    };
    let model = Model::new(rig, [friction; 2], &free);
    let options = Options {
        iterations: 12,
        tolerance: 0.1,
        ..Options::default()
    };
    let fitted = fit(
        &part,
        &Prepared::new(&part),
        &start_values(&part, &model),
        &freedom.priors,
        &options,
    );
    // A hand that pushes shows as friction that drives.
    let driven = fitted.model.free.iter().zip(&fitted.stderr).any(|(p, s)| {
        let value = fitted.model.get(*p);
        p.dissipates() && value < -2.0 * s
    });
    let rms = fitted.residuals.chi2.sqrt() * if driven { 3.0 } else { 1.0 };
    if rms.is_finite() { rms } else { f64::INFINITY }
}
