//! Constraints on the rates and Kane's generalized speeds: q̇ = Γ(q)·u, and the equations projected on u.
//!
//! ```text
//! A(q)·q̇ = 0, u = Y(q)·q̇   →   q̇ = Γ·u,   q̈ = Γ·u̇ + Γ̇·u,   ΓᵀHΓ·u̇ + Γᵀ(HΓ̇u + B + G + D) = ΓᵀQ
//! ```
//!
//! Γ is found by elimination on the DAG. Pivots are chosen by their value at the nominal state (the first equilibrium, parameters at
//! their defaults), so that the result can be evaluated there; rows that vanish identically are redundant and dropped.

use crate::canonical::{Basis, Ring, Wave};
use crate::error::{Error, Result};
use crate::expr::*;
use crate::field::Point;
use crate::mechanism::Mechanism;
use crate::motion::Motion;

/// M·u̇ + c = Q in the generalized speeds.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// u and u̇. Where no generalized speeds are given, the rates of the coordinates that remain free.
    pub speeds: Vec<Ex>,
    pub rates: Vec<Ex>,
    /// q̇ in terms of u.
    pub q_rates: Vec<Ex>,
    pub mass: Vec<Vec<Ex>>,
    pub rest: Vec<Ex>,
    pub effort: Vec<Ex>,
    /// Constraints that hold because of the others.
    pub redundant: usize,
}

impl Reduced {
    /// M, c, Q in one list.
    pub fn all(&self) -> Vec<Ex> {
        let rows = self.rest.iter().chain(&self.effort);
        self.mass.iter().flatten().chain(rows).copied().collect()
    }
}

/// From the centre of a thin wheel to its lowest point: −R·(up − (up·a)a)/√(1 − (up·a)²). The wheel leans less than 90°, so the
/// root of a square is its base.
pub(crate) fn contact(axle: V3, up: V3, radius: Ex) -> Result<V3> {
    let along = dot(up, axle);
    let radicand = one() - along.squared();
    let length = perfect_root(radicand)?.unwrap_or_else(|| radicand.sqrt());
    let flat = vsub(up, vscale(axle, along));
    Ok(vscale(flat, -radius / length))
}

/// The root of a monomial with even powers.
fn perfect_root(e: Ex) -> Result<Option<Ex>> {
    let Ok(form) = Ring::with_limit(Basis::Cosines, 50).form(e) else {
        return Ok(None);
    };
    let [(m, c)] = form.0.as_slice() else {
        return Ok(None);
    };
    let even = m.wave == Wave::One && m.pow.iter().all(|(_, n)| n % 2 == 0);
    Ok(c.sqrt()
        .filter(|_| even)
        .map(|c| num(c) * prod(m.pow.iter().map(|(x, n)| (*x, n / 2)))))
}

/// The expanded form where it is small: keeps the elimination readable.
fn short(e: Ex) -> Ex {
    Ring::with_limit(Basis::Cosines, 40)
        .form(e)
        .map_or(e, |f| f.to_ex())
}

/// True when the expression vanishes at every point tried.
fn vanishes(e: Ex) -> bool {
    let lucky = (0..200).filter_map(|seed| Point::new(seed).of(e)).take(3);
    let values: Vec<u64> = lucky.collect();
    !values.is_empty() && values.iter().all(|v| *v == 0)
}

/// Rows of a linear system with symbolic right sides.
struct System<'a> {
    m: &'a Mechanism,
    nominal: Vec<(Ex, f64)>,
    /// Coefficients of q̇, then of u.
    rows: Vec<Vec<Ex>>,
    /// (row, column) of each pivot.
    pivots: Vec<(usize, usize)>,
}

impl System<'_> {
    fn value(&self, e: Ex) -> f64 {
        self.m.values(&self.nominal).of(e)
    }

    /// Gauss–Jordan over the columns of q̇ that need not stay free, from the left.
    fn eliminate(&mut self) {
        for column in (0..self.m.dof()).filter(|c| !self.m.independent.contains(c)) {
            let used = |r: usize| self.pivots.iter().any(|p| p.0 == r);
            let best = (0..self.rows.len())
                .filter(|r| !used(*r) && !self.rows[*r][column].is_zero())
                .map(|r| (r, self.value(self.rows[r][column]).abs()))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            let Some((row, _)) = best.filter(|b| b.1 > 1e-9) else {
                continue;
            };
            self.pivots.push((row, column));
            let pivot = self.rows[row][column];
            let scaled: Vec<Ex> = self.rows[row].iter().map(|x| short(*x / pivot)).collect();
            for (r, other) in self.rows.iter_mut().enumerate() {
                let factor = other[column];
                if r != row && !factor.is_zero() {
                    for (x, s) in other.iter_mut().zip(&scaled) {
                        *x = short(*x - factor * *s);
                    }
                    other[column] = zero();
                }
            }
            self.rows[row] = scaled;
        }
    }

    /// Rows without a pivot, all of which must vanish.
    fn redundant(&self) -> Result<usize> {
        let left = (0..self.rows.len()).filter(|r| self.pivots.iter().all(|p| p.0 != *r));
        let mut count = 0;
        for r in left {
            if !self.rows[r].iter().all(|e| vanishes(*e)) {
                return Err(Error::Constraint(
                    "the constraints and speeds are singular at the nominal state (the first equilibrium, or zero): \
                     name another equilibrium, other speeds, or other defaults"
                        .into(),
                ));
            }
            count += 1;
        }
        Ok(count)
    }
}

pub fn reduce(m: &Mechanism, motion: &Motion) -> Result<Reduced> {
    exactly(|| project(m, motion))?
}

fn project(m: &Mechanism, motion: &Motion) -> Result<Reduced> {
    let n = m.dof();
    let nominal = m.equilibria.first().map_or(vec![], |e| {
        let mut values = m.values(&[]);
        e.at.iter().map(|(s, x)| (*s, values.of(*x))).collect()
    });
    let k = m.speeds.len();
    let row = |e: Ex, speed: Option<usize>| -> Vec<Ex> {
        let rhs = (0..k).map(|j| if speed == Some(j) { one() } else { zero() });
        m.w.iter().map(|w| short(e.diff(*w))).chain(rhs).collect()
    };
    let constraints = motion.constraints.iter().map(|e| row(*e, None));
    let speeds = m.speeds.iter().enumerate().map(|(j, s)| row(s.is, Some(j)));
    let mut system = System {
        m,
        nominal,
        rows: constraints
            .chain(speeds)
            .filter(|r| r.iter().any(|e| !e.is_zero()))
            .collect(),
        pivots: vec![],
    };
    let trivial = motion.constraints.len() + k - system.rows.len();
    system.eliminate();
    let redundant = system.redundant()? + trivial;

    let free: Vec<usize> = (0..n)
        .filter(|c| system.pivots.iter().all(|p| p.1 != *c))
        .collect();
    if k > 0 && !free.is_empty() {
        let names: Vec<String> = free
            .iter()
            .filter_map(|c| m.q[*c].symbol())
            .map(|s| s.name.to_string())
            .collect();
        return Err(Error::Constraint(format!(
            "constraints and speeds leave the rate of {} open: {} speeds are needed, {k} are given",
            names.join(", "),
            k + free.len()
        )));
    }
    let (u, u_rates): (Vec<Ex>, Vec<Ex>) = if k > 0 {
        m.speeds.iter().map(|s| (s.symbol, s.rate)).unzip()
    } else {
        free.iter().map(|c| (m.w[*c], m.a[*c])).unzip()
    };
    // Γ: from the reduced rows; a free rate is itself.
    let mut gamma = vec![vec![zero(); u.len()]; n];
    for (j, c) in free.iter().enumerate() {
        gamma[*c][j] = one();
    }
    for (row, column) in &system.pivots {
        let row = &system.rows[*row];
        gamma[*column] = if k > 0 {
            row[n..].to_vec()
        } else {
            free.iter().map(|c| -row[*c]).collect()
        };
    }
    let q_rates: Vec<Ex> = gamma
        .iter()
        .map(|g| g.iter().zip(&u).map(|(g, u)| *g * *u).sum())
        .collect();
    // Γ̇·u = d/dt(Γ·u) with u held.
    let bias: Vec<Ex> = q_rates
        .iter()
        .map(|x| (0..n).map(|s| x.diff(m.q[s]) * q_rates[s]).sum())
        .collect();
    let pairs: Vec<(Ex, Ex)> =
        m.w.iter()
            .copied()
            .zip(q_rates.iter().copied())
            .filter(|p| p.0 != p.1)
            .collect();
    let hb: Vec<Ex> = (0..n)
        .map(|r| {
            let gyro: Ex = (0..n).map(|s| motion.h[r][s] * bias[s]).sum();
            gyro + (motion.b[r] + motion.g[r] + motion.d[r]).subs(&pairs)
        })
        .collect();
    let down =
        |v: &dyn Fn(usize) -> Ex, k: usize| -> Ex { (0..n).map(|r| gamma[r][k] * v(r)).sum() };
    let hg: Vec<Vec<Ex>> = (0..n)
        .map(|r| {
            (0..u.len())
                .map(|j| (0..n).map(|s| motion.h[r][s] * gamma[s][j]).sum())
                .collect()
        })
        .collect();
    Ok(Reduced {
        mass: (0..u.len())
            .map(|i| {
                (0..u.len())
                    .map(|j| short(down(&|r| hg[r][j], i)))
                    .collect()
            })
            .collect(),
        rest: (0..u.len()).map(|i| short(down(&|r| hb[r], i))).collect(),
        effort: (0..u.len())
            .map(|i| short(down(&|r| motion.effort[r], i)))
            .collect(),
        speeds: u,
        rates: u_rates,
        q_rates,
        redundant,
    })
}
