//! Grey box: all unknowns fitted to the whole record by multiple shooting (see [`super::shooting`]).
//!
//! In: a record, a model with start values. Out: the model with the estimates, the first state, covariance,
//! singular values, fit of a free run. Start values need only be rough: every segment starts from the smoothed
//! measurement, and the gaps between segments are closed only when each segment is explained ([`Phase`]).

use nalgebra::DMatrix;

use super::model::{Coef, Model, Param};
use super::motion::{free_run, stiffness};
pub use super::prepare::Prepared;
use super::record::{Record, fit_percent};
use super::shooting::{
    Condensed, Data, Grid, Loose, Merit, Pass, Point, Prior, damped, linearise, measure,
};
use super::triangle::Triangle;
use super::uncertainty;

/// Choices a user may want to change.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Most Gauss–Newton steps.
    pub iterations: usize,
    /// The iteration stops when no parameter would move by more than this many of its standard errors.
    pub tolerance: f64,
    /// Steepest friction over the inertia that is integrated [1/s].
    pub stiffest: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            iterations: 40,
            tolerance: 0.05,
            stiffest: STIFFEST,
        }
    }
}

/// Friction steeper than this over the inertia [1/s] cannot be told from an infinitely steep one.
const STIFFEST: f64 = 5e4;
/// Steps below this many standard errors that do not lower the cost have met its rounding.
const ROUNDING: f64 = 0.2;
/// A few steps in a row that lower the cost by less than this, in variances of a residual, are the floor of a valley
/// along parameters the record does not show.
const FLAT: f64 = 0.2;
const FLAT_STEPS: usize = 3;
/// Local error of the integration in standard deviations of a reading: on the way, and at the end, where the sum of
/// thousands of steps must stay small beside what all readings together can show.
const COARSE: f64 = 1e-3;
const EXACT: f64 = 5e-6;
/// Below this many standard errors the end is near.
const NEAR: f64 = 3.0;
/// Damping of the steps, in squared column norms: the first tried, and where every direction has become short.
const LEAST_DAMPING: f64 = 1e-8;
const STIFF_DAMPING: f64 = 1e2;
/// A Stribeck peak starts at this share of the Coulomb term: at 0 its corner has no influence at all.
const FIRST_PEAK: f64 = 0.1;

/// What the grey box found.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub model: Model,
    /// State at the first sample (angles, velocities).
    pub start: [f64; 4],
    /// Standard error of each free parameter.
    pub stderr: Vec<f64>,
    /// Covariance of the free parameters.
    pub covariance: DMatrix<f64>,
    /// Singular values of the Jacobian by parameter in units of its scale, largest first.
    pub singular: Vec<f64>,
    /// Free-run fit per joint [%].
    pub fit: Vec<f64>,
    /// RMS of the residuals per joint [rad].
    pub rms: Vec<f64>,
    /// Σ residual² in units of σ, number of residuals, and how many of them are worth an independent one.
    pub chi2: f64,
    pub residuals: usize,
    pub effective: f64,
    pub iterations: usize,
    pub converged: bool,
    /// Start state of every segment, to begin another fit of the same record from.
    pub nodes: Vec<[f64; 4]>,
}

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
struct Search<'a> {
    data: Data,
    begin: f64,
    segment: f64,
    grid: Grid,
    priors: &'a [Prior],
    options: &'a Options,
    model: Model,
    point: Point,
    iterations: usize,
}

/// Fit `model`'s free parameters to the record, starting from its values.
pub fn fit(
    record: &Record,
    prepared: &Prepared,
    model: &Model,
    priors: &[Prior],
    options: &Options,
) -> Fitted {
    let (begin, segment) = (record.t[0], prepared.segment);
    let model = &with_peaks(model);
    let mut search = Search {
        data: prepared.data.clone(),
        begin,
        segment,
        grid: Grid::new(&prepared.data, begin, segment, COARSE),
        priors,
        options,
        model: model.clone(),
        point: Point {
            nodes: shifted(&prepared.nodes, model),
            x: model.values(),
        },
        iterations: 0,
    };
    let (mut pass, mut converged) = search.run();
    let mut rms = search.rms(&pass);
    // Joints whose residuals are far from what their noise explains must not outvote the other.
    let over: Vec<f64> = rms
        .iter()
        .zip(search.data.sigma)
        .map(|(r, s)| r / s)
        .collect();
    if let [a, b] = over[..]
        && !(0.5..2.0).contains(&(a / b))
    {
        for (s, r) in search.data.sigma.iter_mut().zip(&rms) {
            *s = r.max(1e-9);
        }
        (pass, converged) = search.run();
        rms = search.rms(&pass);
    }
    let condensed = search.condense(&pass);
    let Search {
        data,
        model,
        point,
        iterations,
        ..
    } = search;
    let uncertainty = uncertainty::of(&model, &condensed, &pass, data.t.len() * model.joints());
    let start = point.nodes[0];
    let path = free_run(&model, &start, &record.t);
    let fit = (0..model.joints())
        .map(|j| {
            let estimate: Vec<f64> = path.iter().map(|q| q[j]).collect();
            fit_percent(&record.joint(j), &estimate)
        })
        .collect();
    Fitted {
        nodes: readings(&point.nodes, &model),
        start,
        stderr: uncertainty.stderr,
        covariance: uncertainty.covariance,
        singular: uncertainty.singular,
        fit,
        rms,
        chi2: pass.merit.cost,
        residuals: data.t.len() * model.joints(),
        effective: uncertainty.effective,
        iterations,
        converged,
        model,
    }
}

impl Search<'_> {
    fn condense(&self, pass: &Pass) -> Condensed {
        let (ns, np) = (2 * self.model.joints(), self.model.free.len());
        pass.condense(ns, np, self.priors, &self.point.x)
    }

    /// RMS of the residuals per joint [rad].
    fn rms(&self, pass: &Pass) -> Vec<f64> {
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
    fn run(&mut self) -> (Pass, bool) {
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

/// Free Stribeck peaks of height zero raised to a start value.
fn with_peaks(model: &Model) -> Model {
    let mut out = model.clone();
    for j in 0..model.joints() {
        let peak = Param::Friction(Coef::Stribeck, j);
        if model.free.contains(&peak) && model.get(peak) == 0.0 {
            out.set(
                peak,
                FIRST_PEAK * model.get(Param::Friction(Coef::Coulomb, j)),
            );
        }
    }
    out
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

/// True angles of nodes given as readings: less the model's offset.
fn shifted(nodes: &[[f64; 4]], model: &Model) -> Vec<[f64; 4]> {
    let mut out = nodes.to_vec();
    for n in &mut out {
        for j in 0..model.joints() {
            n[j] -= model.offset[j];
        }
    }
    out
}

/// The inverse of [`shifted`].
fn readings(nodes: &[[f64; 4]], model: &Model) -> Vec<[f64; 4]> {
    let mut negative = model.clone();
    negative.offset = model.offset.map(|x| -x);
    shifted(nodes, &negative)
}
