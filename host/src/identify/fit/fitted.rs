//! A fit of one model to one record by multiple shooting: what the grey box, the onset search and the filters build on.
//!
//! In: a record, a model with start values, priors. Out: the model with the estimates, the first state, covariance,
//! residuals, fit of a free run. Start values need only be rough: every segment starts from the smoothed
//! measurement, and the gaps between segments are closed only when each segment is explained (`search`).

use nalgebra::DMatrix;

pub use crate::identify::data::prepare::Prepared;
use crate::identify::data::record::{Record, fit_percent};
use crate::identify::fit::search::{COARSE, STIFFEST, Search};
use crate::identify::fit::shooting::{Grid, Known, Point};
use crate::identify::fit::uncertainty;
use crate::identify::model::motion::free_run;
use crate::identify::model::parametric::{Coef, Model, Param, Prior};
use crate::identify::outcome::Residuals;
use crate::identify::verdict::{EXPLAINED, FINEST};

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

/// A Stribeck peak starts at this share of the Coulomb term: at 0 its corner has no influence at all.
const FIRST_PEAK: f64 = 0.1;

/// What a fit found.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub model: Model,
    /// State at the first sample (angles, velocities).
    pub start: [f64; 4],
    /// Standard error of each free parameter.
    pub stderr: Vec<f64>,
    /// Covariance of the free parameters, inflated by what the residuals show.
    pub covariance: DMatrix<f64>,
    /// Free-run fit per joint [%].
    pub fit: Vec<f64>,
    /// RMS of the residuals per joint \[rad\].
    pub rms: Vec<f64>,
    /// Σ residual² in units of σ.
    pub chi2: f64,
    pub residuals: Residuals,
    /// Factor on the variances, and readings worth an independent one.
    pub inflation: f64,
    pub effective: f64,
    pub iterations: usize,
    pub converged: bool,
    /// Start state of every segment, to begin another fit of the same record from.
    pub nodes: Vec<[f64; 4]>,
}

impl Fitted {
    /// What is left is the noise of the readings, or of every joint a misfit too small a part of a count to name.
    pub fn explained(&self, record: &Record) -> bool {
        let r = &self.residuals;
        let misfit = |j: usize| (r.chi2 - 1.0).max(0.0).sqrt() * r.sigma[j];
        let fine = |j: usize| misfit(j) <= FINEST * record.resolution(j);
        r.chi2 <= EXPLAINED || (0..record.joints).all(fine)
    }
}

/// Fit `model`'s free parameters to the record, starting from its values. Where that fails, the shape of the friction
/// law's corner is left alone at first.
pub fn fit(
    record: &Record,
    prepared: &Prepared,
    model: &Model,
    priors: &[Prior],
    options: &Options,
) -> Fitted {
    let found = attempt(record, prepared, model, priors, options);
    let mut plain = model.clone();
    plain.free.retain(|p| !shapes_corner(*p));
    if found.converged || plain.free.len() == model.free.len() {
        return found;
    }
    let first = attempt(record, prepared, &plain, priors, options);
    let mut second = model.clone();
    for &p in &plain.free {
        second.set(p, first.model.get(p));
    }
    let mut nodes = prepared.clone();
    nodes.nodes = first.nodes;
    let again = attempt(record, &nodes, &second, priors, options);
    let better = again.chi2 < found.chi2 || again.converged;
    if better { again } else { found }
}

fn shapes_corner(p: Param) -> bool {
    matches!(p, Param::Friction(Coef::Stribeck | Coef::Transition, _))
}

fn attempt(
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
        known: Known::of(model, priors),
        options,
        model: model.clone(),
        point: Point {
            nodes: shifted(&prepared.nodes, model),
            x: model.values(),
        },
        iterations: 0,
    };
    let noise = search.data.sigma;
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
    let u = uncertainty::of(&model, &condensed, &pass);
    let start = point.nodes[0];
    let path = free_run(&model, &start, &record.t);
    let fit = (0..model.joints())
        .map(|j| {
            let estimate: Vec<f64> = path.iter().map(|q| q[j]).collect();
            fit_percent(&record.joint(j), &estimate)
        })
        .collect();
    // Joints that were trusted less to balance them are judged by their own noise all the same.
    let joints = model.joints();
    let trusted: Vec<f64> = (0..2).map(|j| (data.sigma[j] / noise[j]).powi(2)).collect();
    let by_noise: f64 = (0..joints)
        .map(|j| pass.merit.squares[j] * trusted[j])
        .sum();
    let freedom = (data.t.len() * joints) as f64 - (2 * joints + model.free.len()) as f64;
    Fitted {
        nodes: readings(&point.nodes, &model),
        start,
        stderr: u.stderr,
        covariance: u.covariance,
        fit,
        rms,
        chi2: pass.merit.cost,
        residuals: Residuals {
            t: data.t,
            r: pass.residuals,
            sigma: noise,
            chi2: by_noise / freedom.max(1.0),
            inflation: u.inflation,
        },
        inflation: u.inflation,
        effective: u.effective,
        iterations,
        converged,
        model,
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
