//! One plan per interval: predicts the state to where the plan starts, continues the old plan, optimises.
//!
//! Memory: the table of the basis, ROWS·N scalars, and the stack of one pass, some 10·N + N² scalars. Work: see [`super::search`].

use super::basis::{Basis, value};
use super::goal::Goal;
use super::horizon::{Horizon, limited};
use super::search::{Done, Search, minimise};
use super::tangent::step;
use super::{Dynamics, STATES};
use crate::number::scalar::Scalar;

/// What a planner is told. Times in seconds, lengths in steps of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings<S> {
    pub basis: Basis<S>,
    /// Step of the model.
    pub step: S,
    /// Steps of the horizon, and the first whose residuals count in full.
    pub steps: usize,
    pub from: usize,
    /// Factor on the residuals before.
    pub early: S,
    /// Steps of an interval.
    pub interval: usize,
    /// Largest input; none: unlimited.
    pub limit: Option<S>,
    pub goal: Goal<S>,
    pub search: Search<S>,
    /// Added to every weight before a search: at rest in an equilibrium the gradient is zero.
    pub nudge: S,
}

/// The weights being played, and the basis as a table.
#[derive(Clone, Debug)]
pub struct Planner<S, const N: usize, const ROWS: usize> {
    pub settings: Settings<S>,
    table: [[S; N]; ROWS],
    /// Of the interval that is being played.
    pub weights: [S; N],
}

impl<S: Scalar, const N: usize, const ROWS: usize> Planner<S, N, ROWS> {
    /// Nothing planned yet. The horizon is cut to what `ROWS` = 2·steps + 1 rows hold.
    pub fn new(settings: Settings<S>) -> Self {
        let mut table = [[S::ZERO; N]; ROWS];
        settings.basis.fill(S::lit(0.5) * settings.step, &mut table);
        Planner {
            settings,
            table,
            weights: [S::ZERO; N],
        }
    }

    /// Duration of an interval \[s\].
    pub fn interval_s(&self) -> S {
        let mut t = S::ZERO;
        for _ in 0..self.settings.interval {
            t += self.settings.step;
        }
        t
    }

    /// The input in half step `row` of the plan with these weights.
    pub fn input(&self, weights: &[S; N], row: usize) -> S {
        let row = &self.table[row.min(ROWS - 1)];
        limited(value(row, weights), self.settings.limit)
    }

    /// The input at `tau` \[s\] after the start of the plan that is being played.
    pub fn input_at(&self, tau: S) -> S {
        let row = self.settings.basis.at(tau);
        limited(value(&row, &self.weights), self.settings.limit)
    }

    /// The state one interval after `x` while the present plan is played.
    pub fn predicted(&self, dynamics: &impl Dynamics<S>, x: [S; STATES]) -> [S; STATES] {
        let input = |row| self.input(&self.weights, row);
        let mut x = x;
        for k in 0..self.settings.interval {
            let u = [input(2 * k), input(2 * k + 1), input(2 * k + 2)];
            x = step(dynamics, &x, self.settings.step, u);
        }
        x
    }

    /// The plan for the interval that begins in state `start`; [`Planner::play`] makes it the present one.
    pub fn next(&self, dynamics: &impl Dynamics<S>, start: [S; STATES]) -> ([S; N], Done<S>) {
        let s = &self.settings;
        let old = s.basis.continued(&self.weights, self.interval_s());
        let mut weights = old.map(|w| w + s.nudge);
        let done = minimise(&self.horizon(dynamics, start), &mut weights, &s.search);
        (weights, done)
    }

    /// The control problem from `start` on.
    pub fn horizon<'a, D>(&'a self, dynamics: &'a D, start: [S; STATES]) -> Horizon<'a, S, D, N> {
        let s = &self.settings;
        Horizon {
            dynamics,
            start,
            basis: &self.table,
            step: s.step,
            steps: s.steps,
            from: s.from,
            early: s.early,
            limit: s.limit,
            goal: &s.goal,
        }
    }

    pub fn play(&mut self, weights: [S; N]) {
        self.weights = weights;
    }
}
