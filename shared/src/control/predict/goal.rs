//! What a plan should reach: weighted residuals of the state, zero where the system should be.
//!
//! | term | residual | zero |
//! |---|---|---|
//! | [`Term::State`] | x\[i\] − target | at the target |
//! | [`Term::Turn`] | 2·sin(½·(c·q − target)) | at the target and every turn from it; 2 opposite to it |
//! | [`Term::Swing`] | k·(c·ω)² − sin²(½·(c·q − target)) | energy of a link upright at rest, k = J/(4·m·g·l) |
//!
//! The same code swings up different plants: only the terms and weights differ.

use super::STATES;
use super::search::Quadratic;
use crate::JOINTS;
use crate::number::scalar::Scalar;

/// See the module's table. Angles in rad; c picks or adds coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term<S> {
    State {
        index: usize,
        target: S,
    },
    Turn {
        of: [S; JOINTS],
        target: S,
    },
    Swing {
        of: [S; JOINTS],
        target: S,
        inertia: S,
    },
}

/// Most terms of a goal.
pub const TERMS: usize = 8;

/// Weighted terms; what is `None` costs nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal<S> {
    pub terms: [Option<(Term<S>, S)>; TERMS],
    /// Weight of the square of the weighted sum of the basis, before the limit, per step.
    pub input: S,
}

impl<S: Scalar> Goal<S> {
    /// These terms with their weights; more than [`TERMS`] are left out.
    pub fn new(terms: &[(Term<S>, S)], input: S) -> Self {
        Goal {
            terms: core::array::from_fn(|i| terms.get(i).copied()),
            input,
        }
    }

    /// All residuals at `x`, their weights times `factor`.
    #[inline(always)]
    pub fn quadratic(&self, x: &[S; STATES], factor: S) -> Quadratic<S> {
        let mut form = Quadratic::zero();
        for (term, weight) in self.terms.iter().flatten() {
            let (r, by) = term.residual(x);
            form.add(factor * *weight, r, &by);
        }
        form
    }

    /// Σ w·r² at `x`.
    #[inline(always)]
    pub fn cost(&self, x: &[S; STATES], factor: S) -> S {
        let mut cost = S::ZERO;
        for (term, weight) in self.terms.iter().flatten() {
            let (r, _) = term.residual(x);
            cost += factor * *weight * r * r;
        }
        cost
    }
}

impl<S: Scalar> Term<S> {
    /// The residual and its derivative by the state.
    #[inline(always)]
    pub fn residual(&self, x: &[S; STATES]) -> (S, [S; STATES]) {
        match *self {
            Term::State { index, target } => {
                let mut by = [S::ZERO; STATES];
                by[index % STATES] = S::ONE;
                (x[index % STATES] - target, by)
            }
            Term::Turn { of, target } => {
                let (sin, cos) = half(x, of, target);
                (sin + sin, [cos * of[0], cos * of[1], S::ZERO, S::ZERO])
            }
            Term::Swing {
                of,
                target,
                inertia,
            } => {
                let (sin, cos) = half(x, of, target);
                let w = of[0] * x[2] + of[1] * x[3];
                let (slope, speed) = (-(sin * cos), (inertia + inertia) * w);
                (
                    inertia * w * w - sin * sin,
                    [slope * of[0], slope * of[1], speed * of[0], speed * of[1]],
                )
            }
        }
    }
}

/// sin and cos of half the angle from the target.
#[inline(always)]
fn half<S: Scalar>(x: &[S; STATES], of: [S; JOINTS], target: S) -> (S, S) {
    (S::lit(0.5) * (of[0] * x[0] + of[1] * x[1] - target)).sin_cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        let pick = [0.7, 1.0];
        let terms = [
            Term::State {
                index: 2,
                target: 0.3,
            },
            Term::Turn {
                of: pick,
                target: 1.1,
            },
            Term::Swing {
                of: pick,
                target: 1.1,
                inertia: 0.02,
            },
        ];
        let x = [0.4, -0.9, 1.7, -2.2];
        for term in terms {
            let (_, by) = term.residual(&x);
            for k in 0..STATES {
                let at = |h: f64| {
                    let mut x = x;
                    x[k] += h;
                    term.residual(&x).0
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(
                    (slope - by[k]).abs() < 1e-8,
                    "{term:?} {k}: {slope} {}",
                    by[k]
                );
            }
        }
    }
}
