//! The search for the least-squares solution of the shooting problem, from rough start values to the last digit.
//!
//! In: readings, start states, a model with start values. Out: all of them at the minimum, with the last linearisation.
//! Three phases (`Phase`), each with Levenberg and Marquardt's damping; trial steps are judged in plain f64.

use super::condense::{Condensed, Loose, damped};
use super::greybox::Options;
use super::model::{Model, Param};
use super::motion::stiffness;
use super::shooting::{Data, Grid, Merit, Pass, Point, Prior, linearise, measure};
use super::triangle::Triangle;

/// Friction steeper than this over the inertia [1/s] cannot be told from an infinitely steep one.
pub const STIFFEST: f64 = 5e4;
/// Steps below this many standard errors that do not lower the cost have met its rounding.
const ROUNDING: f64 = 0.2;
/// A few steps in a row that lower the cost by less than this, in variances of a residual, are the floor of a valley
/// along parameters the record does not show.
const FLAT: f64 = 0.2;
const FLAT_STEPS: usize = 3;
/// Local error of the integration in standard deviations of a reading: on the way, and at the end, where the sum of
/// thousands of steps must stay small beside what all readings together can show.
pub const COARSE: f64 = 1e-3;
const EXACT: f64 = 5e-6;
/// Below this many standard errors the end is near.
const NEAR: f64 = 3.0;
/// Damping of the steps, in squared column norms: the first tried, and where every direction has become short.
const LEAST_DAMPING: f64 = 1e-8;
const STIFF_DAMPING: f64 = 1e2;

/// The way to the solution.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Gaps between segments stay open: short stretches of motion are nearly linear in the unknowns, so bad start
    /// values are forgiven.
    Loose,
    /// The gaps are being closed.
    Tied,
    /// One motion over the whole record, close enough to the data not to lose them.
    Rolled,
}

enum Linear {
    Loose(Loose),
    Whole(Condensed),
}

/// Where the iteration stands.
pub struct Search<'a> {
    pub data: Data,
    pub begin: f64,
    pub segment: f64,
    pub grid: Grid,
    pub priors: &'a [Prior],
    pub options: &'a Options,
    pub model: Model,
    pub point: Point,
    pub iterations: usize,
}

impl Search<'_> {
    pub fn condense(&self, pass: &Pass) -> Condensed {
        let (ns, np) = (2 * self.model.joints(), self.model.free.len());
        pass.condense(ns, np, self.priors, &self.point.x)
    }

    /// RMS of the residuals per joint [rad].
    pub fn rms(&self, pass: &Pass) -> Vec<f64> {
        let n = self.data.t.len() as f64;
        (0..self.model.joints())
            .map(|j| (pass.merit.squares[j] / n).sqrt() * self.data.sigma[j])
            .collect()
    }

    fn integrate_to(&mut self, error: f64) -> Pass {
        self.grid = Grid::new(&self.data, self.begin, self.segment, error);
        self.linearise()
    }

    fn linearise(&self) -> Pass {
        linearise(&self.model, &self.data, &self.grid, &self.point)
    }

    /// All phases: the last pass, and whether it converged.
    pub fn run(&mut self) -> (Pass, bool) {
        let mut pass = self.integrate_to(COARSE);
        let open = pass.merit.defect > 1e-3 * pass.merit.cost;
        if pass.segments() > 1 && open && !self.model.free.is_empty() {
            self.descend(&mut pass, Phase::Loose);
        }
        if pass.segments() > 1 {
            self.descend(&mut pass, Phase::Tied);
        }
        self.grid = Grid::new(&self.data, self.begin, self.segment, EXACT);
        // A motion that leaves the data cannot be refined; the segments still explain them.
        let limit = 10.0 * (pass.merit.cost + pass.merit.defect);
        let rolled = (true, limit);
        let Some((_, nodes)) = measure(&self.model, &self.data, &self.grid, &self.point, rolled)
        else {
            return (self.linearise(), false);
        };
        self.point.nodes = nodes;
        pass = self.linearise();
        let converged = self.descend(&mut pass, Phase::Rolled);
        (pass, converged)
    }

    /// Levenberg and Marquardt's steps from `pass` until the phase has reached its end. False: it could not.
    fn descend(&mut self, pass: &mut Pass, phase: Phase) -> bool {
        let ns = 2 * self.model.joints();
        let np = self.model.free.len();
        let (mut lambda, mut flat) = (0.0, 0);
        for step in 0..self.options.iterations {
            self.iterations += 1;
            let linear = match phase {
                Phase::Loose => Linear::Loose(pass.loosen(ns, np)),
                Phase::Tied | Phase::Rolled => Linear::Whole(self.condense(pass)),
            };
            let (triangle, first, unknowns) = match &linear {
                Linear::Loose(l) => (&l.triangle, 0, ns * pass.segments() + np),
                Linear::Whole(c) => (&c.triangle, ns, ns + np),
            };
            let limits = self.standard_errors(triangle, first, unknowns, pass);
            let change = relative(&damped(triangle, 0.0)[first..], &limits);
            let now = pass.merit;
            // Parameters that are right do not make the segments' start states right: these move with the first step.
            let done = match phase {
                Phase::Loose => step > 0 && change < 1.0,
                Phase::Tied => step > 0 && change < NEAR && now.defect < 1e-2 * now.cost,
                Phase::Rolled => change < self.options.tolerance,
            };
            if done {
                return true;
            }
            // Gaps must count for more than what closing them costs in residuals.
            let weight = match phase {
                Phase::Loose => 0.0,
                Phase::Tied if now.defect > 0.0 => {
                    f64::max(1.0, 2.0 * (triangle.residual() - now.cost) / now.defect)
                }
                Phase::Tied | Phase::Rolled => 1.0,
            };
            let merit = |m: &Merit| m.cost + weight * m.defect;
            let mut fraction = 1.0;
            let taken = loop {
                let step = damped(triangle, lambda);
                let trial = match &linear {
                    Linear::Loose(l) => l.moved(&self.model, &self.point, &step),
                    Linear::Whole(c) => c.moved(&self.model, &self.point, &step, fraction),
                };
                let moved = self.model.with_values(&trial.x);
                if acceptable(&moved, self.options.stiffest) {
                    let judged = (phase == Phase::Rolled, merit(&now));
                    let found = measure(&moved, &self.data, &self.grid, &trial, judged);
                    if let Some((next, nodes)) = found
                        && merit(&next) <= merit(&now)
                    {
                        break Some((moved, Point { nodes, ..trial }));
                    }
                }
                if lambda > STIFF_DAMPING {
                    break None;
                }
                // Gaps are closed by less where closing them at once leads astray; no damping does that.
                if phase == Phase::Tied && fraction > 0.02 {
                    fraction *= 0.5;
                } else {
                    fraction = 1.0;
                    lambda = f64::max(LEAST_DAMPING, 10.0 * lambda);
                }
            };
            let Some((model, point)) = taken else {
                return phase == Phase::Rolled && change < ROUNDING;
            };
            (self.model, self.point) = (model, point);
            *pass = self.linearise();
            let variance = now.cost / (self.data.t.len() * self.model.joints()) as f64;
            let won = (now.cost - pass.merit.cost) / variance;
            flat = if won < FLAT { flat + 1 } else { 0 };
            if phase == Phase::Rolled && flat == FLAT_STEPS {
                return change < NEAR;
            }
            lambda = if lambda <= LEAST_DAMPING {
                0.0
            } else {
                0.1 * lambda
            };
        }
        false
    }

    /// Standard error of each parameter if the iteration stopped here, never below 1e-9 of its scale. `first`: the
    /// parameters' first column; `unknowns`: how many numbers the data determine in all.
    fn standard_errors(
        &self,
        triangle: &Triangle,
        first: usize,
        unknowns: usize,
        pass: &Pass,
    ) -> Vec<f64> {
        let inverse = triangle.covariance();
        let residuals = (self.model.joints() * self.data.t.len()) as f64;
        let variance = pass.merit.cost / (residuals - unknowns as f64).max(1.0);
        let scales = self.model.scales();
        scales
            .iter()
            .enumerate()
            .map(|(i, scale)| {
                let i = first + i;
                (inverse[(i, i)] * variance).sqrt().max(1e-9 * scale)
            })
            .collect()
    }
}

/// Parameters that can be integrated at all.
fn acceptable(m: &Model, stiffest: f64) -> bool {
    m.values().iter().all(|x| x.is_finite())
        && m.friction.iter().all(|f| f.vt > 1e-5)
        && stiffness(m) < stiffest
        && (m.get(Param::Omega0Squared) > 0.0 || m.joints() == 2)
}

fn relative(step: &[f64], scales: &[f64]) -> f64 {
    step.iter()
        .zip(scales)
        .map(|(d, s)| (d / s).abs())
        .fold(0.0, f64::max)
}
