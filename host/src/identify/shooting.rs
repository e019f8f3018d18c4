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
//! so each step solves a small dense problem in (δs[0], δp), whatever the length of the record. Unlike single
//! shooting it does not lose the phase of a long record: every segment starts near the measurement.

use stribeck_core::dual::Dual;

use super::model::Model;
use super::motion::{Rate, Steps, advance};
use super::triangle::Triangle;

/// What is fitted: angles [rad] at increasing times [s], and how much each joint's readings are trusted.
#[derive(Clone, Debug)]
pub struct Data {
    pub t: Vec<f64>,
    pub y: Vec<[f64; 2]>,
    /// Standard deviation of a reading [rad].
    pub sigma: [f64; 2],
}

/// Segment boundaries: start times [s] and the data points each segment predicts.
#[derive(Clone, Debug)]
pub struct Grid {
    pub start: Vec<f64>,
    pub points: Vec<std::ops::Range<usize>>,
    pub steps: Steps,
}

impl Grid {
    /// Segments of about `length` [s] from time `t0`, where the free run will start, to the last reading.
    pub fn new(data: &Data, t0: f64, length: f64, steps: Steps) -> Grid {
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
        Grid {
            start,
            points,
            steps,
        }
    }
}

/// Start state of every segment (angles, velocities; joints·2 values used) and parameter values.
#[derive(Clone, Debug)]
pub struct Point {
    pub nodes: Vec<[f64; 4]>,
    pub x: Vec<f64>,
}

/// A prior on one free parameter: value ± sigma, in the parameter's unit.
#[derive(Clone, Copy, Debug)]
pub struct Prior {
    pub index: usize,
    pub value: f64,
    pub sigma: f64,
}

/// One segment, linearised at the current point.
struct Linear {
    /// Equations in (start state, parameters): row·δ ≈ residual.
    rows: Triangle,
    /// End state minus next start state.
    defect: [f64; 4],
    /// Derivatives of the end state by start state and parameters.
    by_state: [[f64; 4]; 4],
    by_param: Vec<[f64; 4]>,
    /// Σ residual² per joint.
    squares: [f64; 2],
}

/// The linearised problem, its cost and the derivatives needed to step.
pub struct Pass {
    segments: Vec<Linear>,
    pub cost: f64,
    pub defect: f64,
    pub squares: [f64; 2],
}

/// A solved Gauss–Newton step in (first state, parameters).
pub struct Condensed {
    pub triangle: Triangle,
    /// Per segment, its equations in (δs0, δp).
    pub clusters: Vec<Triangle>,
    /// Φ, Ψ, c of every node.
    chain: Vec<Chain>,
}

#[derive(Clone)]
struct Chain {
    phi: [[f64; 4]; 4],
    psi: Vec<[f64; 4]>,
    c: [f64; 4],
}

/// Integrate all segments with derivatives at `point`.
pub fn linearise(model: &Model, data: &Data, grid: &Grid, point: &Point) -> Pass {
    let dynamic = model.dynamic();
    macro_rules! pass {
        ($system:ident, $ns:literal, [$($n:literal),+]) => {
            match $ns + dynamic {
                $(n if n <= $n => linearise_in::<_, $ns, $n>(
                    model, data, grid, point,
                    |x: &[Dual<f64, $n>]| model.$system(x),
                ),)+
                n => unreachable!("{n} derivatives: more free parameters than any model has"),
            }
        };
    }
    if model.joints() == 2 {
        pass!(furuta, 4, [8, 12, 24])
    } else {
        pass!(pendulum, 2, [5, 8, 12])
    }
}

fn linearise_in<R, const NS: usize, const N: usize>(
    model: &Model,
    data: &Data,
    grid: &Grid,
    point: &Point,
    system: impl Fn(&[Dual<f64, N>]) -> Option<R>,
) -> Pass
where
    R: Rate<Dual<f64, N>, NS>,
{
    let joints = NS / 2;
    let dynamic = model.dynamic();
    let np = model.free.len();
    let shifted = model.with_values(&point.x);
    let x: Vec<Dual<f64, N>> = (0..dynamic)
        .map(|i| Dual::variable(point.x[i], NS + i))
        .collect();
    let Some(system) = system(&x) else {
        unreachable!("the caller matched the rig")
    };
    // Where the offset of each joint stands among the parameters.
    let offset_column: [Option<usize>; 2] = std::array::from_fn(|j| {
        model
            .free
            .iter()
            .position(|p| *p == super::model::Param::Offset(j))
    });
    let last = data.t[data.t.len() - 1];
    let count = grid.start.len();
    let mut segments = Vec::with_capacity(count);
    let mut row = vec![0.0; NS + np + 1];
    for k in 0..count {
        let s: [Dual<f64, N>; NS] = std::array::from_fn(|i| Dual::variable(point.nodes[k][i], i));
        let mut rows = Triangle::new(NS + np);
        let mut squares = [0.0; 2];
        let (mut y, mut t) = (s, grid.start[k]);
        for i in grid.points[k].clone() {
            y = advance(&system, y, data.t[i] - t, &grid.steps);
            t = data.t[i];
            for j in 0..joints {
                let weight = 1.0 / data.sigma[j];
                row.fill(0.0);
                for (c, d) in row.iter_mut().zip(&y[j].du[..NS + dynamic]) {
                    *c = d * weight;
                }
                if let Some(c) = offset_column[j] {
                    row[NS + c] = weight;
                }
                let r = (data.y[i][j] - y[j].re - shifted.offset[j]) * weight;
                row[NS + np] = r;
                squares[j] += r * r;
                rows.add(&mut row);
            }
        }
        let stop = grid.start.get(k + 1).copied().unwrap_or(last);
        y = advance(&system, y, stop - t, &grid.steps);
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
        segments.push(Linear {
            rows,
            defect,
            by_state,
            by_param,
            squares,
        });
    }
    let squares = segments
        .iter()
        .fold([0.0; 2], |a, s| [a[0] + s.squares[0], a[1] + s.squares[1]]);
    let defect = segments
        .iter()
        .map(|s| {
            (0..joints)
                .map(|j| {
                    let sq = (s.defect[j] / data.sigma[j]).powi(2);
                    sq + (0.1 * s.defect[joints + j] / data.sigma[j]).powi(2)
                })
                .sum::<f64>()
        })
        .sum();
    Pass {
        segments,
        cost: squares[0] + squares[1],
        defect,
        squares,
    }
}

impl Pass {
    /// Express everything by the first state and the parameters.
    pub fn condense(&self, ns: usize, np: usize, sigma_prior: &[Prior], x: &[f64]) -> Condensed {
        let n = ns + np;
        let mut triangle = Triangle::new(n);
        let mut clusters = Vec::with_capacity(self.segments.len());
        let mut chain = Vec::with_capacity(self.segments.len() + 1);
        let mut phi = [[0.0; 4]; 4];
        for (i, row) in phi.iter_mut().enumerate() {
            row[i] = 1.0;
        }
        let mut link = Chain {
            phi,
            psi: vec![[0.0; 4]; np],
            c: [0.0; 4],
        };
        for seg in &self.segments {
            let mut cluster = Triangle::new(n);
            let mut row = vec![0.0; n + 1];
            for eq in seg.rows.factor() {
                let (a, b) = (&eq[..ns], &eq[ns..ns + np]);
                for c in 0..ns {
                    row[c] = (0..ns).map(|i| a[i] * link.phi[i][c]).sum();
                }
                for c in 0..np {
                    row[ns + c] = b[c] + (0..ns).map(|i| a[i] * link.psi[c][i]).sum::<f64>();
                }
                row[n] = eq[n] - (0..ns).map(|i| a[i] * link.c[i]).sum::<f64>();
                triangle.add(&mut row.clone());
                cluster.add(&mut row);
            }
            clusters.push(cluster);
            let next = Chain {
                phi: std::array::from_fn(|i| {
                    std::array::from_fn(|c| {
                        (0..ns).map(|m| seg.by_state[i][m] * link.phi[m][c]).sum()
                    })
                }),
                psi: (0..np)
                    .map(|c| {
                        std::array::from_fn(|i| {
                            seg.by_param[c][i]
                                + (0..ns)
                                    .map(|m| seg.by_state[i][m] * link.psi[c][m])
                                    .sum::<f64>()
                        })
                    })
                    .collect(),
                c: std::array::from_fn(|i| {
                    seg.defect[i] + (0..ns).map(|m| seg.by_state[i][m] * link.c[m]).sum::<f64>()
                }),
            };
            chain.push(std::mem::replace(&mut link, next));
        }
        for prior in sigma_prior {
            let mut row = vec![0.0; n + 1];
            row[ns + prior.index] = 1.0 / prior.sigma;
            row[n] = (prior.value - x[prior.index]) / prior.sigma;
            triangle.add(&mut row);
        }
        Condensed {
            triangle,
            clusters,
            chain,
        }
    }
}

impl Condensed {
    /// The step in (δs0, δp), damped by `lambda` relative to each column's size.
    pub fn step(&self, lambda: f64) -> Vec<f64> {
        let mut t = self.triangle.clone();
        let m = self.triangle.matrix();
        let n = m.ncols();
        // Column scaling makes parameters of any unit comparable.
        let scale: Vec<f64> = (0..n).map(|c| m.column(c).norm().max(1e-300)).collect();
        if lambda > 0.0 {
            for c in 0..n {
                let mut row = vec![0.0; n + 1];
                row[c] = lambda.sqrt() * scale[c];
                t.add(&mut row);
            }
        }
        solve_scaled(&t, &scale)
    }

    /// `point` moved by `fraction` of the step, every node by its own linearised amount.
    pub fn moved(&self, point: &Point, step: &[f64], fraction: f64, ns: usize) -> Point {
        let (ds, dp) = step.split_at(ns);
        let nodes = point
            .nodes
            .iter()
            .zip(&self.chain)
            .map(|(node, link)| {
                std::array::from_fn(|i| {
                    let d = link.c[i]
                        + (0..ns).map(|c| link.phi[i][c] * ds[c]).sum::<f64>()
                        + dp.iter()
                            .zip(&link.psi)
                            .map(|(p, col)| p * col[i])
                            .sum::<f64>();
                    node[i] + fraction * if i < ns { d } else { 0.0 }
                })
            })
            .collect();
        let x = point
            .x
            .iter()
            .zip(dp)
            .map(|(x, d)| x + fraction * d)
            .collect();
        Point { nodes, x }
    }
}

/// Solve with columns divided by `scale`.
fn solve_scaled(t: &Triangle, scale: &[f64]) -> Vec<f64> {
    let n = scale.len();
    let mut scaled = Triangle::new(n);
    for eq in t.factor() {
        let mut row = eq.to_vec();
        for (r, s) in row.iter_mut().zip(scale) {
            *r /= s;
        }
        scaled.add(&mut row);
    }
    scaled
        .solve()
        .iter()
        .zip(scale)
        .map(|(x, s)| x / s)
        .collect()
}
