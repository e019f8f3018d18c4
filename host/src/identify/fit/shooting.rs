//! Multiple shooting with Gauss–Newton: the engine of the grey box.
//!
//! The record is cut into short segments, each with its own start state. One pass integrates every segment with dual
//! numbers, which gives the predicted angles, the state at the segment's end, and their derivatives by start state and
//! parameters. The end of a segment must meet the start of the next; linearised, that condition expresses every start
//! state by the first one and the parameters:
//!
//! ```text
//! δs[k+1] = A[k]·δs[k] + B[k]·δp + d[k]      d = end of segment k − start of segment k+1
//! ```
//!
//! so each step solves a small dense problem in (δs\[0\], δp), whatever the length of the record. Unlike single
//! shooting it does not lose the phase of a long record: every segment starts near the measurement.

use stribeck_core::number::dual::Dual;

use crate::identify::fit::triangle::Triangle;
use crate::identify::model::motion::Path;
use crate::identify::model::parametric::{Model, Param, Prior};
use crate::identify::model::plant::{Fitted, Visit};

/// What is fitted: angles \[rad\] at increasing times \[s\], and how much each joint's readings are trusted.
#[derive(Clone, Debug)]
pub struct Data {
    pub t: Vec<f64>,
    pub y: Vec<[f64; 2]>,
    /// Standard deviation of a good reading of each joint \[rad\].
    pub sigma: [f64; 2],
    /// How much larger it is for each reading.
    pub worse: Vec<[f64; 2]>,
}

/// Segment boundaries: start times \[s\] and the data points each segment predicts.
#[derive(Clone, Debug)]
pub struct Grid {
    pub start: Vec<f64>,
    pub points: Vec<std::ops::Range<usize>>,
    /// Local error of the integration \[rad\].
    pub error: f64,
}

impl Grid {
    /// Segments of about `length` \[s\] from time `t0`, where the free run will start, to the last reading. `error`: local
    /// error of the integration in standard deviations of the more exact joint.
    pub fn new(data: &Data, t0: f64, length: f64, error: f64) -> Grid {
        let t1 = data.t[data.t.len() - 1];
        let n = ((t1 - t0) / length).round().max(1.0) as usize;
        let start: Vec<f64> = (0..n)
            .map(|k| t0 + (t1 - t0) * k as f64 / n as f64)
            .collect();
        let edge = |k: usize| {
            if k == n {
                data.t.len()
            } else {
                data.t.partition_point(|&t| t < start[k])
            }
        };
        let points = (0..n).map(|k| edge(k)..edge(k + 1)).collect();
        let sigma = data.sigma.iter().copied().fold(1.0, f64::min);
        Grid {
            start,
            points,
            error: (error * sigma).clamp(1e-12, 1e-7),
        }
    }

    /// Where segment `k` ends [s].
    fn end(&self, k: usize, data: &Data) -> f64 {
        let last = data.t[data.t.len() - 1];
        self.start.get(k + 1).copied().unwrap_or(last)
    }
}

/// Start state of every segment (angles, velocities; joints·2 values used) and parameter values.
#[derive(Clone, Debug)]
pub struct Point {
    pub nodes: Vec<[f64; 4]>,
    pub x: Vec<f64>,
}

/// A prior by its place among the free parameters.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    index: usize,
    value: f64,
    sigma: f64,
}

impl Known {
    /// Those of the priors whose parameter is free in `model`.
    pub fn of(model: &Model, priors: &[Prior]) -> Vec<Known> {
        let placed = |p: &Prior| {
            Some(Known {
                index: model.place(p.param)?,
                value: p.value,
                sigma: p.sigma,
            })
        };
        priors.iter().filter_map(placed).collect()
    }

    /// The pseudo-measurement as an equation in (`ns` states, `np` parameters).
    pub fn row(&self, ns: usize, np: usize, x: &[f64]) -> Vec<f64> {
        let mut row = vec![0.0; ns + np + 1];
        row[ns + self.index] = 1.0 / self.sigma;
        row[ns + np] = (self.value - x[self.index]) / self.sigma;
        row
    }

    /// Square of the deviation from the prior, in units of σ.
    pub fn cost(known: &[Known], x: &[f64]) -> f64 {
        let square = |k: &Known| ((k.value - x[k.index]) / k.sigma).powi(2);
        known.iter().map(square).sum()
    }
}

/// One segment, linearised at the current point.
pub(super) struct Linear {
    /// Equations in (start state, parameters): row·δ ≈ residual.
    pub(super) rows: Triangle,
    /// End state minus next start state.
    pub(super) defect: [f64; 4],
    /// Derivatives of the end state by start state and parameters.
    pub(super) by_state: [[f64; 4]; 4],
    pub(super) by_param: Vec<[f64; 4]>,
}

/// How well a point explains the data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Merit {
    /// Σ residual², in units of σ.
    pub cost: f64,
    /// The same per joint.
    pub squares: [f64; 2],
    /// Σ gap² between segments, in units of σ (velocities over 0.1 s).
    pub defect: f64,
}

impl Merit {
    fn residual(&mut self, j: usize, r: f64) {
        self.squares[j] += r * r;
        self.cost += r * r;
    }

    /// The end of a segment, and the start of the next one.
    fn gap<const NS: usize>(&mut self, end: [f64; NS], next: &[f64; 4], sigma: &[f64; 2]) {
        for i in 0..NS {
            let per_sigma = if i < NS / 2 { 1.0 } else { 0.1 } / sigma[i % (NS / 2)];
            self.defect += ((end[i] - next[i]) * per_sigma).powi(2);
        }
    }
}

/// The linearised problem and its merit.
pub struct Pass {
    pub(super) segments: Vec<Linear>,
    pub merit: Merit,
    /// Residual of every reading, in units of its σ.
    pub residuals: Vec<[f64; 2]>,
}

/// Integrate all segments with derivatives at `point`.
pub fn linearise(model: &Model, data: &Data, grid: &Grid, point: &Point) -> Pass {
    struct All<'a>(&'a Model, &'a Data, &'a Grid, &'a Point);
    impl Visit for All<'_> {
        type Out = Pass;
        fn at<R: Fitted<NS>, const NS: usize>(self, rig: &R) -> Pass {
            let All(model, data, grid, point) = self;
            macro_rules! derivatives {
                ($($n:literal),+) => {
                    match NS + model.dynamic() {
                        $(n if n <= $n => linearise_in::<R, NS, $n>(model, data, grid, point, rig),)+
                        n => unreachable!("{n} derivatives: more free parameters than any model has"),
                    }
                };
            }
            derivatives!(5, 8, 13, 17, 21, 32)
        }
    }
    model.rig.visit(All(model, data, grid, point))
}

/// The merit of `point` without derivatives, what a trial step is judged by, and the start states used. `rolled`: one
/// motion from the first state instead, the start states being where it passes. `None` as soon as the cost is beyond
/// `limit`, or not a number.
pub fn measure(
    model: &Model,
    data: &Data,
    grid: &Grid,
    point: &Point,
    judged: (bool, f64),
) -> Option<(Merit, Vec<[f64; 4]>)> {
    struct All<'a>(&'a Model, &'a Data, &'a Grid, &'a Point, (bool, f64));
    impl Visit for All<'_> {
        type Out = Option<(Merit, Vec<[f64; 4]>)>;
        fn at<R: Fitted<NS>, const NS: usize>(self, rig: &R) -> Self::Out {
            let All(model, data, grid, point, judged) = self;
            measure_in::<R, NS>(model, data, grid, point, rig, judged)
        }
    }
    model.rig.visit(All(model, data, grid, point, judged))
}

fn measure_in<R: Fitted<NS>, const NS: usize>(
    model: &Model,
    data: &Data,
    grid: &Grid,
    point: &Point,
    rig: &R,
    (rolled, limit): (bool, f64),
) -> Option<(Merit, Vec<[f64; 4]>)> {
    let joints = NS / 2;
    let system = &model.motion::<f64, R, NS>(rig, &point.x[..model.dynamic()]);
    let Model { offset, disc, .. } = model.with_values(&point.x);
    let mut merit = Merit::default();
    let mut nodes = point.nodes.clone();
    let mut step = 0.0;
    for k in 0..grid.start.len() {
        let s = std::array::from_fn(|i| nodes[k][i]);
        let span = (grid.start[k], grid.end(k, data));
        let mut path = Path::new((system, system), s, span, grid.error, step);
        for i in grid.points[k].clone() {
            for j in 0..joints {
                let q = path.angle(j, data.t[i]);
                let mut r = data.y[i][j] - q - offset[j];
                if disc[j] != [0.0; 2] {
                    r -= Model::shown(&disc[j], q).0;
                }
                merit.residual(j, r / (data.sigma[j] * data.worse[i][j]));
            }
            if merit.cost.is_nan() || merit.cost > limit {
                return None;
            }
        }
        let (end, next) = path.finish();
        step = next;
        if let Some(node) = nodes.get_mut(k + 1) {
            if rolled {
                node[..NS].copy_from_slice(&end);
            }
            merit.gap::<NS>(end, node, &data.sigma);
        }
    }
    Some((merit, nodes))
}

fn linearise_in<R: Fitted<NS>, const NS: usize, const N: usize>(
    model: &Model,
    data: &Data,
    grid: &Grid,
    point: &Point,
    rig: &R,
) -> Pass {
    let joints = NS / 2;
    let dynamic = model.dynamic();
    let np = model.free.len();
    let Model { offset, disc, .. } = model.with_values(&point.x);
    let x: Vec<Dual<f64, N>> = (0..dynamic)
        .map(|i| Dual::variable(point.x[i], NS + i))
        .collect();
    let system = model.motion::<Dual<f64, N>, R, NS>(rig, &x);
    let plain = model.motion::<f64, R, NS>(rig, &point.x[..dynamic]);
    // Where the offset of each joint stands among the parameters.
    let offset_column: [Option<usize>; 2] = std::array::from_fn(|j| model.place(Param::Offset(j)));
    let disc_column: [[Option<usize>; 2]; 2] =
        std::array::from_fn(|j| std::array::from_fn(|k| model.place(Param::Disc(j, k))));
    let mut residuals = vec![[0.0; 2]; data.t.len()];
    let count = grid.start.len();
    let mut segments = Vec::with_capacity(count);
    let mut merit = Merit::default();
    let mut row = vec![0.0; NS + np + 1];
    let mut step = 0.0;
    for k in 0..count {
        let s: [Dual<f64, N>; NS] = std::array::from_fn(|i| Dual::variable(point.nodes[k][i], i));
        let mut rows = Triangle::new(NS + np);
        let span = (grid.start[k], grid.end(k, data));
        let mut path = Path::new((&system, &plain), s, span, grid.error, step);
        for i in grid.points[k].clone() {
            for j in 0..joints {
                let angle = path.angle(j, data.t[i]);
                let weight = 1.0 / (data.sigma[j] * data.worse[i][j]);
                row.fill(0.0);
                let eccentric = disc_column[j] != [None; 2] || disc[j] != [0.0; 2];
                let (more, by_q, by_disc) = if eccentric {
                    Model::shown(&disc[j], angle.re)
                } else {
                    (0.0, 1.0, [0.0; 2])
                };
                for (c, d) in row.iter_mut().zip(&angle.du[..NS + dynamic]) {
                    *c = d * by_q * weight;
                }
                for (column, by) in disc_column[j].iter().zip(by_disc) {
                    if let Some(c) = column {
                        row[NS + c] = by * weight;
                    }
                }
                if let Some(c) = offset_column[j] {
                    row[NS + c] = weight;
                }
                let r = (data.y[i][j] - angle.re - more - offset[j]) * weight;
                row[NS + np] = r;
                residuals[i][j] = r;
                merit.residual(j, r);
                rows.add(&mut row);
            }
        }
        let (y, next) = path.finish();
        step = next;
        let mut defect = [0.0; 4];
        let mut by_state = [[0.0; 4]; 4];
        let mut by_param = vec![[0.0; 4]; np];
        for i in 0..NS {
            defect[i] = point.nodes.get(k + 1).map_or(0.0, |next| y[i].re - next[i]);
            for c in 0..NS {
                by_state[i][c] = y[i].du[c];
            }
            for c in 0..dynamic {
                by_param[c][i] = y[i].du[NS + c];
            }
        }
        if let Some(node) = point.nodes.get(k + 1) {
            merit.gap::<NS>(y.map(|y| y.re), node, &data.sigma);
        }
        segments.push(Linear {
            rows,
            defect,
            by_state,
            by_param,
        });
    }
    Pass {
        segments,
        merit,
        residuals,
    }
}
