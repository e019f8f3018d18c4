//! Where free motion begins.
//!
//! Many records start while a hand still lifts or holds the pendulum; no friction law explains that part. Candidate
//! starts are the first sample and the turning points and passages through the bottom that follow. From each, a short
//! stretch is fitted; the first one whose residuals are not much larger than the best one's is where free motion begins.

use stribeck_core::friction::Friction;

use super::balance::start_values;
use super::greybox::{Options, Prepared, fit};
use super::model::{Coef, Model, Param, Rig};
use super::record::{MIN_SAMPLES, Record};
use super::smooth::{Smooth, time_scale};

/// Candidate starts looked at, and half swings fitted from each.
const CANDIDATES: usize = 8;
const HALF_SWINGS: f64 = 12.0;

/// Index of the first sample of free motion of a pendulum's record.
pub fn free_from(record: &Record) -> usize {
    let scale = time_scale(record);
    let smooth = Smooth::new(record, 0.1 * scale, 0.5 * scale);
    let centre = record.q[record.q.len() - 1][0];
    let mut starts = vec![0];
    for i in 1..smooth.t.len() {
        let turned = smooth.w[i - 1][0] * smooth.w[i][0] < 0.0;
        let bottom = (smooth.q[i - 1][0] - centre) * (smooth.q[i][0] - centre) < 0.0;
        if (turned || bottom) && smooth.t[i] > 0.5 * scale {
            starts.push(record.index(smooth.t[i]));
        }
        if starts.len() == CANDIDATES {
            break;
        }
    }
    let span = HALF_SWINGS * std::f64::consts::PI * scale;
    let rms: Vec<f64> = starts
        .iter()
        .map(|&from| misfit(record, from, span))
        .collect();
    let best = rms
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min)
        .max(record.resolution(0));
    rms.iter()
        .position(|r| *r <= 2.0 * best)
        .map_or(0, |i| starts[i])
}

/// RMS residual [rad] of a fit over `span` [s] from sample `from`.
fn misfit(record: &Record, from: usize, span: f64) -> f64 {
    let to = record.index(record.t[from] + span);
    if to - from < MIN_SAMPLES {
        return f64::INFINITY;
    }
    let part = record.slice(from..to);
    let free = [
        Param::Omega0Squared,
        Param::Friction(Coef::Coulomb, 0),
        Param::Friction(Coef::Viscous, 0),
        Param::Friction(Coef::Drag, 0),
        Param::Offset(0),
    ];
    let rig = Rig::Pendulum {
        omega0_sq: 1.0,
        inertia: None,
    };
    let model = Model::new(
        rig,
        [Friction {
            vt: 0.1,
            fnt: 1e-2,
            ..Friction::NONE
        }; 2],
        &free,
    );
    let options = Options {
        iterations: 12,
        tolerance: 0.1,
        ..Options::default()
    };
    let fitted = fit(
        &part,
        &Prepared::new(&part),
        &start_values(&part, &model),
        &[],
        &options,
    );
    // A hand that pushes shows as friction that drives.
    let driven = (0..free.len()).any(|i| {
        let friction = matches!(fitted.model.free[i], Param::Friction(..));
        friction && fitted.model.values()[i] < -2.0 * fitted.stderr[i]
    });
    let rms = fitted.rms[0] * if driven { 3.0 } else { 1.0 };
    if rms.is_finite() { rms } else { f64::INFINITY }
}
