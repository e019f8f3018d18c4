//! Parameters and initial states of a bond graph from a record of its inputs and outputs (paper 003 §3 and §4.2).
//!
//! Gauss–Newton: the singular values of the sensitivities, those below a cut dropped, and steps halved until the cost falls. Every unknown
//! is scaled by its typical size (its nominal value; for an initial state the RMS of that state in the record), every output by its
//! spread, so that a singular value means the same for henries and metres.
//!
//! A direction that is dropped is one the record does not show. An unknown that lies in it by more than half is not identifiable, and the
//! combination that the record shows instead is said.

use nalgebra::{DMatrix, DVector};

use super::equations::System;
use super::follow::{Driving, Follower, Lost, Output};
use super::simulate::Of;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    pub iterations: usize,
    pub halvings: usize,
    /// Ends when a step would lower the cost by less than this part, or move the outputs by less than this part of their spread.
    pub relative: f64,
    /// Singular values below this part of the largest are dropped.
    pub cut: f64,
}

impl Default for Search {
    fn default() -> Self {
        Search {
            iterations: 30,
            halvings: 20,
            relative: 1e-4,
            cut: 1e-6,
        }
    }
}

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    pub system: &'a System,
    pub driving: &'a Driving,
    /// What was measured of each output.
    pub measured: &'a [(Output, Vec<f64>)],
    pub unknown: &'a [Of],
    /// All parameters and initial states; the unknown ones are where the search starts.
    pub parameters: Vec<f64>,
    pub initial: Vec<f64>,
}

/// One unknown at the end.
#[derive(Clone, Debug)]
pub struct Unknown {
    pub value: f64,
    /// Part of it that lies in directions the record does not show: 0 all seen, 1 nothing.
    pub hidden: f64,
    /// Largest partner in those directions, by place among the unknowns.
    pub partner: Option<usize>,
}

/// Where the search ended.
#[derive(Clone, Debug)]
pub struct Found {
    pub unknown: Vec<Unknown>,
    /// Values of the unknowns and RMS of the scaled residuals: at the start and after every iteration.
    pub trace: Vec<(Vec<f64>, f64)>,
    pub converged: bool,
    /// Residuals per output, in its own unit.
    pub residuals: Vec<Vec<f64>>,
    /// The model's outputs.
    pub outputs: Vec<Vec<f64>>,
    /// (JᵀJ)⁺ for residuals scaled by each output's own RMS: the covariance for white residuals.
    pub covariance: DMatrix<f64>,
    /// Steps between samples that the model needed.
    pub substeps: usize,
}

/// Residuals and sensitivities at one point, scaled.
struct Pass {
    residual: DVector<f64>,
    jacobian: DMatrix<f64>,
    outputs: Vec<Vec<f64>>,
}

/// Steps between samples are doubled until the motion changes by less than this part of an output's spread.
const ACCURACY: f64 = 1e-5;
const MOST_SUBSTEPS: usize = 256;

impl Problem<'_> {
    pub fn solve(&self, search: &Search) -> Result<Found, Lost> {
        let spread: Vec<f64> = self.measured.iter().map(|(_, y)| spread(y)).collect();
        let (substeps, states) = self.steps(&spread)?;
        let sizes = self.sizes(&states);
        let mut at: Vec<f64> = self.unknown.iter().map(|of| self.start(of)).collect();
        let rms = |r: &DVector<f64>| (r.norm_squared() / r.len().max(1) as f64).sqrt();
        let mut pass = self.pass(&at, substeps, &spread, &sizes, true)?;
        let mut trace = vec![(at.clone(), rms(&pass.residual))];
        let mut converged = false;
        while trace.len() <= search.iterations && !converged {
            let step = pseudo_inverse(&pass.jacobian, search.cut).0 * &pass.residual;
            let cost = pass.residual.norm_squared();
            let gain = (&pass.jacobian * &step).norm_squared();
            let moved = (gain / pass.residual.len().max(1) as f64).sqrt();
            if gain <= search.relative * cost || moved <= search.relative {
                converged = true;
                break;
            }
            let mut length = 1.0;
            let mut better = None;
            for _ in 0..=search.halvings {
                let next: Vec<f64> = (0..at.len())
                    .map(|i| at[i] - length * sizes[i] * step[i])
                    .collect();
                // A step into what the model cannot follow is too long as well.
                if let Ok(tried) = self.pass(&next, substeps, &spread, &sizes, false)
                    && tried.residual.norm_squared() < cost
                {
                    better = Some(next);
                    break;
                }
                length *= 0.5;
            }
            let Some(next) = better else {
                converged = true;
                break;
            };
            at = next;
            pass = self.pass(&at, substeps, &spread, &sizes, true)?;
            trace.push((at.clone(), rms(&pass.residual)));
        }
        Ok(self.end(at, pass, trace, converged, substeps, &sizes, search.cut))
    }

    fn start(&self, of: &Of) -> f64 {
        match *of {
            Of::Parameter(k) => self.parameters[k],
            Of::Initial(k) => self.initial[k],
        }
    }

    fn follower<'a>(&'a self, outputs: &'a [Output], substeps: usize) -> Follower<'a> {
        Follower {
            system: self.system,
            outputs,
            unknown: self.unknown,
            substeps,
        }
    }

    fn outputs(&self) -> Vec<Output> {
        self.measured.iter().map(|(o, _)| *o).collect()
    }

    /// As many steps between samples as the motion at the start needs; also its states.
    fn steps(&self, spread: &[f64]) -> Result<(usize, Vec<Vec<f64>>), Lost> {
        let outputs = self.outputs();
        let mut substeps = 1;
        let run = |n| {
            self.follower(&outputs, n)
                .run(self.driving, &self.parameters, &self.initial, false)
        };
        let mut last = run(substeps)?;
        loop {
            let finer = run(2 * substeps)?;
            let change = |(a, b): (&Vec<f64>, &Vec<f64>)| {
                (0..spread.len())
                    .map(|j| (a[j] - b[j]).abs() / spread[j])
                    .fold(0.0, f64::max)
            };
            let worst = last.outputs.iter().zip(&finer.outputs).map(change);
            if worst.fold(0.0, f64::max) < ACCURACY || 2 * substeps >= MOST_SUBSTEPS {
                return Ok((substeps, finer.states));
            }
            substeps *= 2;
            last = finer;
        }
    }

    /// Typical sizes of the unknowns.
    fn sizes(&self, states: &[Vec<f64>]) -> Vec<f64> {
        let size = |of: &Of| {
            let found = match *of {
                Of::Parameter(k) => self.system.graph.parameters[k].value.abs(),
                Of::Initial(k) => {
                    let square: f64 = states.iter().map(|x| x[k] * x[k]).sum();
                    (square / states.len().max(1) as f64).sqrt()
                }
            };
            if found > 0.0 && found.is_finite() {
                found
            } else {
                1.0
            }
        };
        self.unknown.iter().map(size).collect()
    }

    fn pass(
        &self,
        at: &[f64],
        substeps: usize,
        spread: &[f64],
        sizes: &[f64],
        with: bool,
    ) -> Result<Pass, Lost> {
        let (mut parameters, mut initial) = (self.parameters.clone(), self.initial.clone());
        for (of, value) in self.unknown.iter().zip(at) {
            match *of {
                Of::Parameter(k) => parameters[k] = *value,
                Of::Initial(k) => initial[k] = *value,
            }
        }
        let outputs = self.outputs();
        let followed =
            self.follower(&outputs, substeps)
                .run(self.driving, &parameters, &initial, with)?;
        let (rows, ny, n) = (self.driving.t.len(), outputs.len(), self.unknown.len());
        let residual = DVector::from_fn(rows * ny, |i, _| {
            let (row, j) = (i / ny, i % ny);
            (followed.outputs[row][j] - self.measured[j].1[row]) / spread[j]
        });
        let jacobian = if with {
            DMatrix::from_fn(rows * ny, n, |i, k| {
                followed.by[i / ny][i % ny][k] * sizes[k] / spread[i % ny]
            })
        } else {
            DMatrix::zeros(0, n)
        };
        Ok(Pass {
            residual,
            jacobian,
            outputs: followed.outputs,
        })
    }

    #[allow(clippy::too_many_arguments)] // Everything the search knows.
    fn end(
        &self,
        at: Vec<f64>,
        pass: Pass,
        trace: Vec<(Vec<f64>, f64)>,
        converged: bool,
        substeps: usize,
        sizes: &[f64],
        cut: f64,
    ) -> Found {
        let (ny, n) = (self.measured.len(), self.unknown.len());
        let outputs: Vec<Vec<f64>> = (0..ny)
            .map(|j| pass.outputs.iter().map(|row| row[j]).collect())
            .collect();
        let residuals: Vec<Vec<f64>> = (0..ny)
            .map(|j| {
                let measured = &self.measured[j].1;
                outputs[j]
                    .iter()
                    .zip(measured)
                    .map(|(a, b)| a - b)
                    .collect()
            })
            .collect();
        // Each output counts by its own noise, which is now known.
        let noise: Vec<f64> = residuals.iter().map(|r| rms(r)).collect();
        let spread: Vec<f64> = self.measured.iter().map(|(_, y)| spread(y)).collect();
        let weighted = DMatrix::from_fn(pass.jacobian.nrows(), n, |i, k| {
            let j = i % ny;
            pass.jacobian[(i, k)] * spread[j] / noise[j].max(1e-300)
        });
        let (inverse, kernel) = pseudo_inverse(&weighted, cut);
        let relative = &inverse * inverse.transpose();
        let covariance = DMatrix::from_fn(n, n, |i, j| relative[(i, j)] * sizes[i] * sizes[j]);
        let unknown = (0..n)
            .map(|i| {
                let hidden: f64 = kernel.iter().map(|v| v[i] * v[i]).sum();
                let mut partner: Option<(usize, f64)> = None;
                for v in &kernel {
                    for j in (0..n).filter(|j| *j != i) {
                        let size = (v[i] * v[j]).abs();
                        if partner.is_none_or(|(_, s)| size > s) && size > 0.0 {
                            partner = Some((j, size));
                        }
                    }
                }
                Unknown {
                    value: at[i],
                    hidden,
                    partner: partner.map(|p| p.0),
                }
            })
            .collect();
        Found {
            unknown,
            trace,
            converged,
            residuals,
            outputs,
            covariance,
            substeps,
        }
    }
}

/// J⁺ and the right singular vectors of what was dropped.
fn pseudo_inverse(j: &DMatrix<f64>, cut: f64) -> (DMatrix<f64>, Vec<DVector<f64>>) {
    let n = j.ncols();
    let svd = j.clone().svd(true, true);
    let largest = svd.singular_values.iter().fold(0.0f64, |m, s| m.max(*s));
    let mut inverse = DMatrix::zeros(n, j.nrows());
    let mut kernel = Vec::new();
    if let (Some(u), Some(v_t)) = (&svd.u, &svd.v_t) {
        for (k, s) in svd.singular_values.iter().enumerate() {
            let v = v_t.row(k).transpose();
            if *s > cut * largest {
                inverse += &v * u.column(k).transpose() / *s;
            } else {
                kernel.push(v);
            }
        }
    }
    (inverse, kernel)
}

fn rms(x: &[f64]) -> f64 {
    (x.iter().map(|x| x * x).sum::<f64>() / x.len().max(1) as f64).sqrt()
}

/// Standard deviation; 1 of what does not move.
fn spread(y: &[f64]) -> f64 {
    let mean = y.iter().sum::<f64>() / y.len().max(1) as f64;
    let off: Vec<f64> = y.iter().map(|y| y - mean).collect();
    let size = rms(&off);
    if size > 0.0 { size } else { 1.0 }
}
