//! Grey box: all unknowns fitted to the whole record by multiple shooting (see [`super::shooting`]).
//!
//! In: a record, a model with start values. Out: the model with the estimates, the first state, covariance,
//! singular values, fit of a free run. Start values need only be rough: every segment starts from the smoothed
//! measurement, and the step is halved until the cost and the gaps between segments shrink.

use nalgebra::DMatrix;

use super::model::{Model, Param};
use super::motion::{Steps, free_run};
use super::record::{Record, fit_percent};
use super::shooting::{Condensed, Data, Grid, Pass, Point, Prior, linearise};
use super::smooth::{local, time_scale};

/// Choices a user may want to change.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Most Gauss–Newton steps.
    pub iterations: usize,
    /// The iteration stops when no parameter moves by more than this many of its standard errors.
    pub tolerance: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            iterations: 40,
            tolerance: 0.01,
        }
    }
}

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
    /// Largest speed in the record [rad/s].
    pub fastest: f64,
}

/// A record prepared for shooting: thinned readings, segment start states from the smoothed measurement.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub data: Data,
    pub nodes: Vec<[f64; 4]>,
    pub segment: f64,
    pub fastest: f64,
    pub scale: f64,
}

impl Prepared {
    pub fn new(record: &Record) -> Prepared {
        let scale = time_scale(record);
        let data = thin(record, 0.1 * scale);
        let segment = (4.0 * scale).min(record.duration());
        let half = (0.5 * scale).max(4.0 * record.dt());
        let joints: Vec<Vec<f64>> = (0..record.joints).map(|j| record.joint(j)).collect();
        let grid = Grid::new(
            &data,
            record.t[0],
            segment,
            Steps {
                coarse: 1.0,
                fine: 1.0,
                corner: [0.0; 2],
                stiffness: 1.0,
                turn: 1.0,
            },
        );
        let at = |t: f64| {
            let mut s = [0.0; 4];
            for (j, x) in joints.iter().enumerate() {
                let l = local(&record.t, x, t, half);
                s[j] = l.q;
                s[record.joints + j] = l.w;
            }
            s
        };
        let nodes: Vec<[f64; 4]> = grid.start.iter().map(|&t| at(t)).collect();
        let mut fastest = 0.0f64;
        let samples = (record.duration() / (0.25 * scale)).ceil() as usize;
        for i in 0..samples {
            let s = at(record.t[0] + i as f64 * 0.25 * scale);
            for w in &s[record.joints..2 * record.joints] {
                fastest = fastest.max(w.abs());
            }
        }
        Prepared {
            data,
            nodes,
            segment,
            fastest,
            scale,
        }
    }
}

/// Blocks of samples shorter than `width` [s] become one reading each: the value of their least-squares parabola at
/// their mean time. Sparse samples stay as they are.
pub fn thin(record: &Record, width: f64) -> Data {
    let sigma = std::array::from_fn(|j| (0.3 * record.resolution(j)).max(1e-6));
    let per_block = (width / record.dt()).floor() as usize;
    if per_block < 4 {
        return Data {
            t: record.t.clone(),
            y: record.q.clone(),
            sigma,
        };
    }
    let (mut t, mut y) = (Vec::new(), Vec::new());
    let n = record.t.len();
    let mut i = 0;
    while i < n {
        let end = (i + per_block).min(n);
        if end - i < 4 {
            t.extend_from_slice(&record.t[i..end]);
            y.extend_from_slice(&record.q[i..end]);
        } else {
            let ts = &record.t[i..end];
            let mean = ts.iter().sum::<f64>() / ts.len() as f64;
            t.push(mean);
            y.push(std::array::from_fn(|j| {
                if j < record.joints {
                    parabola(ts, &record.q[i..end], j, mean)
                } else {
                    0.0
                }
            }));
        }
        i = end;
    }
    Data { t, y, sigma }
}

/// Value at `at` of the least-squares parabola through q[..][j].
fn parabola(t: &[f64], q: &[[f64; 2]], j: usize, at: f64) -> f64 {
    let half = (t[t.len() - 1] - t[0]).max(1e-12) / 2.0;
    let base = q[0][j];
    let (mut s0, mut s1, mut s2, mut s3, mut s4) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut y0, mut y1, mut y2) = (0.0, 0.0, 0.0);
    for (&t, q) in t.iter().zip(q) {
        let u = (t - at) / half;
        let x = q[j] - base;
        s0 += 1.0;
        s1 += u;
        s2 += u * u;
        s3 += u * u * u;
        s4 += u * u * u * u;
        y0 += x;
        y1 += x * u;
        y2 += x * u * u;
    }
    let m = nalgebra::Matrix3::new(s0, s1, s2, s1, s2, s3, s2, s3, s4);
    match m.lu().solve(&nalgebra::Vector3::new(y0, y1, y2)) {
        Some(c) => base + c[0],
        None => base + y0 / s0,
    }
}

/// Fit `model`'s free parameters to the record, starting from its values.
pub fn fit(
    record: &Record,
    prepared: &Prepared,
    model: &Model,
    priors: &[Prior],
    options: &Options,
) -> Fitted {
    let ns = 2 * model.joints();
    let np = model.free.len();
    let mut data = prepared.data.clone();
    let scales = model.scales();
    let mut point = Point {
        nodes: shifted(&prepared.nodes, model),
        x: model.values(),
    };
    let mut model = model.clone();
    let mut iterations = 0;
    let mut converged = false;
    let mut last: Option<(Pass, Condensed)> = None;
    // Second round with each joint weighted by its own residuals.
    for round in 0..2 {
        let mut lambda = 0.0;
        let mut weight = 1.0;
        let steps = Steps::new(&model, prepared.fastest);
        let mut grid = Grid::new(&data, record.t[0], prepared.segment, steps);
        let mut pass = linearise(&model, &data, &grid, &point);
        converged = false;
        for _ in 0..options.iterations {
            iterations += 1;
            let condensed = pass.condense(ns, np, priors, &point.x);
            let step = condensed.step(lambda);
            let limits = standard_errors(&condensed, &pass, &data, ns, np, &scales);
            // Gaps must count for more than what closing them costs in residuals.
            let predicted = condensed.triangle.residual();
            if pass.defect > 0.0 {
                weight = f64::max(weight, 2.0 * (predicted - pass.cost).max(0.0) / pass.defect);
            }
            let merit = |p: &Pass| p.cost + weight * p.defect;
            let now = merit(&pass);
            let mut fraction = 1.0;
            let mut taken = None;
            while fraction > 0.01 {
                let trial = condensed.moved(&point, &step, fraction, ns);
                let moved = model.with_values(&trial.x);
                if acceptable(&moved) {
                    grid.steps = Steps::new(&moved, prepared.fastest);
                    let next = linearise(&moved, &data, &grid, &trial);
                    if merit(&next).is_finite() && merit(&next) <= now * (1.0 + 1e-9) {
                        taken = Some((trial, next));
                        break;
                    }
                }
                fraction *= 0.5;
            }
            let Some((trial, next)) = taken else {
                if lambda > 1e3 {
                    break;
                }
                // No progress even with a tiny step of a converged problem: finished.
                if relative(&step[ns..], &limits) < 10.0 * options.tolerance {
                    converged = true;
                    break;
                }
                lambda = f64::max(1e-4, lambda * 10.0);
                continue;
            };
            let change = relative(&step[ns..], &limits);
            let closed = next.defect < 1e-3 * next.cost;
            point = trial;
            pass = next;
            model = model.with_values(&point.x);
            lambda = if lambda < 1e-6 { 0.0 } else { lambda / 10.0 };
            if lambda == 0.0 && fraction == 1.0 && closed && change < options.tolerance {
                converged = true;
                break;
            }
        }
        let condensed = pass.condense(ns, np, priors, &point.x);
        let points = data.t.len() as f64;
        let rms: Vec<f64> = (0..model.joints())
            .map(|j| (pass.squares[j] / points).sqrt() * data.sigma[j])
            .collect();
        let balanced = (0..model.joints()).all(|j| (0.7..1.4).contains(&(rms[j] / data.sigma[j])));
        last = Some((pass, condensed));
        if round == 0 && model.joints() == 2 && !balanced {
            for (s, r) in data.sigma.iter_mut().zip(&rms) {
                *s = r.max(1e-9);
            }
        } else {
            break;
        }
    }
    let Some((pass, condensed)) = last else {
        unreachable!("at least one round")
    };
    let nodes = readings(&point.nodes, &model);
    let start = point.nodes[0];
    let solution = Solution {
        model,
        start,
        nodes,
        pass,
        condensed,
        data,
        iterations,
        converged,
    };
    finish(record, prepared, solution)
}

/// Parameters that can be integrated at all.
fn acceptable(m: &Model) -> bool {
    m.values().iter().all(|x| x.is_finite())
        && m.friction.iter().all(|f| f.vt > 1e-5)
        && (m.get(Param::Omega0Squared) > 0.0 || m.joints() == 2)
}

/// Standard error of each parameter if the iteration stopped here, never below 1e-9 of its scale.
fn standard_errors(
    c: &Condensed,
    pass: &Pass,
    data: &Data,
    ns: usize,
    np: usize,
    scales: &[f64],
) -> Vec<f64> {
    let inverse = c.triangle.covariance();
    let residuals = (ns / 2 * data.t.len()) as f64;
    let variance = pass.cost / (residuals - (ns + np) as f64).max(1.0);
    (0..np)
        .map(|i| {
            (inverse[(ns + i, ns + i)] * variance)
                .sqrt()
                .max(1e-9 * scales[i])
        })
        .collect()
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

struct Solution {
    model: Model,
    start: [f64; 4],
    nodes: Vec<[f64; 4]>,
    pass: Pass,
    condensed: Condensed,
    data: Data,
    iterations: usize,
    converged: bool,
}

fn finish(record: &Record, prepared: &Prepared, s: Solution) -> Fitted {
    let ns = 2 * s.model.joints();
    let np = s.model.free.len();
    let n = ns + np;
    let residuals = s.data.t.len() * s.model.joints();
    let freedom = (residuals as f64 - n as f64).max(1.0);
    let variance = s.pass.cost / freedom;
    let inverse = s.condensed.triangle.covariance();
    // Residuals of one segment are not independent of each other: let the segments vote (cluster-robust covariance).
    let count = s.condensed.clusters.len();
    let solution = s.condensed.triangle.solve();
    let mut meat = DMatrix::<f64>::zeros(n, n);
    for c in &s.condensed.clusters {
        let mut g = nalgebra::DVector::<f64>::zeros(n);
        for eq in c.factor() {
            let r = eq[n] - (0..n).map(|i| eq[i] * solution[i]).sum::<f64>();
            for i in 0..n {
                g[i] += eq[i] * r;
            }
        }
        meat += &g * g.transpose();
    }
    let classical = &inverse * variance;
    let finite = (count as f64 / (count as f64 - n as f64).max(1.0)).min(3.0);
    let robust = &inverse * meat * &inverse * finite;
    // The larger of the two per parameter, correlations from the classical one.
    let ratio: Vec<f64> = (0..n)
        .map(|i| (robust[(i, i)] / classical[(i, i)]).max(1.0).sqrt())
        .map(|r| if r.is_finite() { r } else { 1.0 })
        .collect();
    let covariance = DMatrix::from_fn(np, np, |i, j| {
        classical[(ns + i, ns + j)] * ratio[ns + i] * ratio[ns + j]
    });
    let stderr: Vec<f64> = (0..np).map(|i| covariance[(i, i)].sqrt()).collect();
    let effective = residuals as f64
        / ratio[ns..]
            .iter()
            .map(|r| r * r)
            .fold(1.0, f64::max)
            .max(1.0);
    let scales = s.model.scales();
    let mut jacobian = s.condensed.triangle.matrix();
    for i in 0..np {
        jacobian.column_mut(ns + i).scale_mut(scales[i]);
    }
    let mut singular: Vec<f64> = jacobian.singular_values().iter().copied().collect();
    singular.sort_by(|a, b| b.total_cmp(a));
    let path = free_run(&s.model, &s.start, &record.t, prepared.fastest);
    let joints = s.model.joints();
    let fit = (0..joints)
        .map(|j| {
            let estimate: Vec<f64> = path.iter().map(|q| q[j]).collect();
            fit_percent(&record.joint(j), &estimate)
        })
        .collect();
    let points = s.data.t.len() as f64;
    let rms = (0..joints)
        .map(|j| (s.pass.squares[j] / points).sqrt() * s.data.sigma[j])
        .collect();
    Fitted {
        model: s.model,
        start: s.start,
        stderr,
        covariance,
        singular,
        fit,
        rms,
        chi2: s.pass.cost,
        residuals,
        effective,
        iterations: s.iterations,
        converged: s.converged,
        nodes: s.nodes,
        fastest: prepared.fastest,
    }
}
