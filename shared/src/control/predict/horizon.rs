//! The control problem: the weights of the input that bring the model's future closest to the goal.
//!
//! ```text
//! J(U) = Σ steps  w(k)·Σ terms weight·r(x_k)²  +  input·v_k²,     v = Σ Uᵢ·bᵢ,   u = v  or  limit·tanh(v)
//! ```
//!
//! w is `early` before step `from` and 1 after: 0 is the paper's end window (eq. 29), .5 the running cost a swing-up needs. The limit of
//! the actuator is inside the model, smooth, so the optimiser sees it.

use super::basis::value;
use super::goal::Goal;
use super::search::{Normal, Problem};
use super::tangent::{At, step, step_with};
use super::{Dynamics, STATES};
use crate::number::scalar::Scalar;

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Horizon<'a, S, D, const N: usize> {
    pub dynamics: &'a D,
    /// State at the start of the plan.
    pub start: [S; STATES],
    /// The basis every half step, two rows per step and one more.
    pub basis: &'a [[S; N]],
    /// Length of a step \[s\].
    pub step: S,
    pub steps: usize,
    /// First step whose residuals count in full.
    pub from: usize,
    /// Factor on the residuals before.
    pub early: S,
    /// Largest input; none: as large as it wants.
    pub limit: Option<S>,
    pub goal: &'a Goal<S>,
}

/// The input for a weighted sum `v` of the basis.
#[inline(always)]
pub fn limited<S: Scalar>(v: S, limit: Option<S>) -> S {
    match limit {
        Some(limit) => limit * v.tanh(),
        None => v,
    }
}

/// u and ∂u/∂v.
#[inline(always)]
fn limited_with<S: Scalar>(v: S, limit: Option<S>) -> (S, S) {
    match limit {
        Some(limit) => {
            let t = v.tanh();
            (limit * t, limit * (S::ONE - t * t))
        }
        None => (v, S::ONE),
    }
}

impl<S: Scalar, D: Dynamics<S>, const N: usize> Horizon<'_, S, D, N> {
    /// Steps for which the table of the basis is long enough.
    fn steps(&self) -> usize {
        self.steps.min(self.basis.len().saturating_sub(1) / 2)
    }

    fn factor(&self, k: usize) -> S {
        if k >= self.from { S::ONE } else { self.early }
    }

    /// States after every step for the weights `at`.
    pub fn trajectory(&self, at: &[S; N], mut each: impl FnMut(usize, &[S; STATES], S)) {
        let mut x = self.start;
        let input = |row: usize| value(&self.basis[row], at);
        for k in 0..self.steps() {
            let v = [input(2 * k), input(2 * k + 1), input(2 * k + 2)];
            x = step(
                self.dynamics,
                &x,
                self.step,
                v.map(|v| limited(v, self.limit)),
            );
            each(k, &x, v[1]);
        }
    }
}

impl<S: Scalar, D: Dynamics<S>, const N: usize> Problem<S, N> for Horizon<'_, S, D, N> {
    fn linearised(&self, at: &[S; N]) -> Normal<S, N> {
        let mut normal = Normal::zero();
        let mut x = self.start;
        let mut dx = [[S::ZERO; N]; STATES];
        for k in 0..self.steps() {
            let rows = [
                &self.basis[2 * k],
                &self.basis[2 * k + 1],
                &self.basis[2 * k + 2],
            ];
            let v = rows.map(|row| value(row, at));
            let u = v.map(|v| limited_with(v, self.limit));
            step_with(
                self.dynamics,
                &mut x,
                &mut dx,
                self.step,
                u.map(|u| u.0),
                |stage, slopes, i| {
                    let s = match stage {
                        At::Start => 0,
                        At::Middle => 1,
                        At::End => 2,
                    };
                    let gain = slopes.by_input[i] * u[s].1;
                    rows[s].map(|b| gain * b)
                },
            );
            if self.goal.input > S::ZERO {
                normal.add(self.goal.input, v[1], rows[1]);
            }
            let factor = self.factor(k);
            if factor > S::ZERO {
                normal.add_quadratic(&self.goal.quadratic(&x, factor), &dx);
            }
        }
        normal
    }

    fn cost(&self, at: &[S; N]) -> S {
        let mut cost = S::ZERO;
        self.trajectory(at, |k, x, v| {
            cost += self.goal.input * v * v;
            let factor = self.factor(k);
            if factor > S::ZERO {
                cost += self.goal.cost(x, factor);
            }
        });
        cost
    }
}
