//! The search for the least-squares solution of the shooting problem, from rough start values to the last digit.
//!
//! In: readings, start states, a model with start values. Out: all of them at the minimum, with the last linearisation.
//! Three phases (`Phase`), each with Levenberg and Marquardt's damping; trial steps are judged in plain f64.

use crate::identify::fit::condense::{Condensed, Loose};
use crate::identify::fit::damping::Damping;
use crate::identify::fit::fitted::Options;
use crate::identify::fit::shooting::{Data, Grid, Known, Merit, Pass, Point, linearise, measure};
use crate::identify::fit::triangle::Triangle;
use crate::identify::model::motion::stiffness;
use crate::identify::model::parametric::Model;

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
/// The smallest part of a step by which gaps are closed.
const LEAST_FRACTION: f64 = 0.02;

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
    pub known: Vec<Known>,
    pub options: &'a Options,
    pub model: Model,
    pub point: Point,
    pub iterations: usize,
}

impl Search<'_> {
    pub fn condense(&self, pass: &Pass) -> Condensed {
        let (ns, np) = (2 * self.model.joints(), self.model.free.len());
        pass.condense(ns, np, &self.known, &self.point.x)
    }

    /// RMS of the residuals per joint \[rad\].
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
        let (mut damping, mut flat) = (Damping::default(), 0);
        for step in 0..self.options.iterations {
            self.iterations += 1;
            let linear = match phase {
                Phase::Loose => Linear::Loose(pass.loosen(ns, np, &self.known, &self.point.x)),
                Phase::Tied | Phase::Rolled => Linear::Whole(self.condense(pass)),
            };
            let (triangle, first, unknowns) = match &linear {
                Linear::Loose(l) => (&l.triangle, 0, ns * pass.segments() + np),
                Linear::Whole(c) => (&c.triangle, ns, ns + np),
            };
            let limits = self.standard_errors(triangle, first, unknowns, pass);
            let change = relative(&triangle.solve().as_slice()[first..], &limits);
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
            let merit =
                |m: &Merit, x: &[f64]| m.cost + weight * m.defect + Known::cost(&self.known, x);
            let before = merit(&now, &self.point.x);
            let judge = |trial: Point| {
                let moved = self.model.with_values(&trial.x);
                if !acceptable(&moved, self.options.stiffest) {
                    return None;
                }
                let limit = before - Known::cost(&self.known, &trial.x);
                let judged = (phase == Phase::Rolled, limit);
                let (next, nodes) = measure(&moved, &self.data, &self.grid, &trial, judged)?;
                let better = merit(&next, &trial.x) <= before;
                better.then_some((moved, Point { nodes, ..trial }))
            };
            let taken = damping.step(triangle, |step| match &linear {
                Linear::Loose(l) => judge(l.moved(&self.model, &self.point, step)),
                // Gaps are closed by less where closing them at once leads astray; no damping does that.
                Linear::Whole(c) if phase == Phase::Tied => {
                    let halves = std::iter::successors(Some(1.0), |f| Some(0.5 * f));
                    halves
                        .take_while(|f| *f > LEAST_FRACTION)
                        .find_map(|f| judge(c.moved(&self.model, &self.point, step, f)))
                }
                Linear::Whole(c) => judge(c.moved(&self.model, &self.point, step, 1.0)),
            });
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
        let inverse = triangle.inverse();
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
        && m.rig.feasible()
}

fn relative(step: &[f64], scales: &[f64]) -> f64 {
    step.iter()
        .zip(scales)
        .map(|(d, s)| (d / s).abs())
        .fold(0.0, f64::max)
}
