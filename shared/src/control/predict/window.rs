//! The estimation problem: state at the start of an interval, and optionally one parameter, from the readings of that interval.
//!
//! ```text
//! J(x, p) = Σ (q(t_k) − reading_k)²  +  Σ priorᵢ·(θᵢ − θ̄ᵢ)²,     θ = (q0, q1, ω0, ω1[, p])
//! ```
//!
//! Without a prior this is paper 003 §4.2. With noise on the readings the prior is what keeps the speeds: θ̄ is the state the last
//! estimate predicts for now.
#![allow(clippy::needless_range_loop)] // Sums over unknowns and joints read by index.

use super::search::{Normal, Problem};
use super::tangent::{At, step, step_with};
use super::{Dynamics, STATES};
use crate::JOINTS;
use crate::number::scalar::Scalar;

/// N = 4: the state; N = 5: the state and the parameter.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a, S, D, const N: usize> {
    pub dynamics: &'a D,
    /// Input every half step.
    pub input: &'a [S],
    /// Both coordinates at the end of every step.
    pub readings: &'a [[S; JOINTS]],
    /// Length of a step \[s\].
    pub step: S,
    pub expected: [S; N],
    /// Weight of the square of the distance from what is expected; 0: nothing is expected.
    pub prior: [S; N],
}

impl<S: Scalar, D: Dynamics<S>, const N: usize> Window<'_, S, D, N> {
    fn steps(&self) -> usize {
        self.readings
            .len()
            .min(self.input.len().saturating_sub(1) / 2)
    }

    fn input(&self, k: usize) -> [S; 3] {
        [
            self.input[2 * k],
            self.input[2 * k + 1],
            self.input[2 * k + 2],
        ]
    }

    /// The system and first state that the unknowns say.
    fn opened(&self, at: &[S; N]) -> (D, [S; STATES]) {
        let x = core::array::from_fn(|i| at.get(i).copied().unwrap_or(S::ZERO));
        match at.get(STATES) {
            Some(p) => (self.dynamics.with_parameter(*p), x),
            None => (*self.dynamics, x),
        }
    }

    /// State at the end of the interval.
    pub fn end(&self, at: &[S; N]) -> [S; STATES] {
        let (dynamics, mut x) = self.opened(at);
        for k in 0..self.steps() {
            x = step(&dynamics, &x, self.step, self.input(k));
        }
        x
    }
}

impl<S: Scalar, D: Dynamics<S>, const N: usize> Problem<S, N> for Window<'_, S, D, N> {
    fn linearised(&self, at: &[S; N]) -> Normal<S, N> {
        let mut normal = Normal::zero();
        let unit = |i: usize| core::array::from_fn(|n| if n == i { S::ONE } else { S::ZERO });
        for i in 0..N {
            normal.add(self.prior[i], at[i] - self.expected[i], &unit(i));
        }
        let (dynamics, mut x) = self.opened(at);
        let mut dx = core::array::from_fn(unit);
        for k in 0..self.steps() {
            let source = |_: At, slopes: &super::Slopes<S>, i: usize| {
                core::array::from_fn(|n| {
                    if n == STATES {
                        slopes.by_parameter[i]
                    } else {
                        S::ZERO
                    }
                })
            };
            step_with(&dynamics, &mut x, &mut dx, self.step, self.input(k), source);
            for j in 0..JOINTS {
                normal.add(S::ONE, x[j] - self.readings[k][j], &dx[j]);
            }
        }
        normal
    }

    fn cost(&self, at: &[S; N]) -> S {
        let mut cost = S::ZERO;
        for i in 0..N {
            let off = at[i] - self.expected[i];
            cost += self.prior[i] * off * off;
        }
        let (dynamics, mut x) = self.opened(at);
        for k in 0..self.steps() {
            x = step(&dynamics, &x, self.step, self.input(k));
            for j in 0..JOINTS {
                let off = x[j] - self.readings[k][j];
                cost += off * off;
            }
        }
        cost
    }
}
