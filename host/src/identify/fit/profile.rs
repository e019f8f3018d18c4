//! Height and corner of a Stribeck peak, judged as a pair by their profile likelihood.
//!
//! A record shows the impulse (μs − μd)·vt; its factors only where the corner itself is resolved. Where it is not, the cost along vt is a flat
//! valley that no parabola describes, and the standard errors of the linearised problem are wrong. So vt is moved to both ends of its
//! interval and everything else fitted again: the cost must rise there about as much as the interval promises. If not, or if one of the
//! two is not identifiable by itself, neither is.

use crate::identify::data::free_motion::FreeMotion;
use crate::identify::fit::fitted::{self, Fitted};
use crate::identify::model::parametric::{Coef, Param};
use crate::identify::outcome::Outcome;
use crate::number;

/// Half-width of a 95 % interval in standard errors.
const HALF: f64 = 1.96;
/// Least part of the promised rise of the cost.
const LEAST: f64 = 0.4;

/// Withdraw the pairs of `out` whose profile is flatter than their intervals say; widen the peak's interval to what the profile shows.
pub fn judge(motion: &FreeMotion, fitted: &Fitted, out: &mut Outcome) {
    for j in 0..fitted.model.joints() {
        let [peak, corner] = [Coef::Stribeck, Coef::Transition].map(|c| Param::Friction(c, j));
        let (Some(p), Some(c)) = (fitted.model.place(peak), fitted.model.place(corner)) else {
            continue;
        };
        let both = [p, c].iter().all(|&i| out.estimates[i].identifiable);
        let heights = if both {
            profile(motion, fitted, c)
        } else {
            None
        };
        match heights {
            Some(heights) => {
                let (.., factor) = fitted.model.label(peak);
                if let Some([lo, hi]) = &mut out.estimates[p].interval {
                    for at in heights.map(|h| factor * h[p]) {
                        (*lo, *hi) = (lo.min(at), hi.max(at));
                    }
                }
            }
            None => {
                for i in [p, c] {
                    out.estimates[i].withdraw(
                        "the record shows the peak's impulse, not its height and corner apart",
                    );
                }
            }
        }
    }
}

/// The free parameters at both ends of the interval of vt (place `corner`), the rest fitted; none where the profile is flat.
fn profile(motion: &FreeMotion, fitted: &Fitted, corner: usize) -> Option<[Vec<f64>; 2]> {
    let param = fitted.model.free[corner];
    let vt = fitted.model.get(param);
    let sigma = fitted.stderr[corner] / vt;
    if !sigma.is_finite() || sigma <= 0.0 {
        return None;
    }
    let mut ends = [Vec::new(), Vec::new()];
    for (end, sign) in ends.iter_mut().zip([-1.0, 1.0]) {
        let mut model = fitted.model.clone();
        model.set(param, vt * number::exp(sign * HALF * sigma));
        let free: Vec<Param> = model.free.iter().copied().filter(|p| *p != param).collect();
        model.release(&free);
        let mut prepared = motion.prepared.clone();
        prepared.nodes = fitted.nodes.clone();
        let options = fitted::Options {
            iterations: 6,
            tolerance: 0.3,
            ..fitted::Options::default()
        };
        let moved = fitted::fit(
            &motion.record,
            &prepared,
            &model,
            &motion.freedom.priors,
            &options,
        );
        let rise = (moved.chi2 - fitted.chi2) / fitted.inflation;
        if rise.is_nan() || rise < LEAST * HALF * HALF {
            return None;
        }
        *end = fitted
            .model
            .free
            .iter()
            .map(|&p| moved.model.get(p))
            .collect();
    }
    Some(ends)
}
