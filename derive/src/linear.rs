//! Linearisation about an equilibrium or a steady motion: ẋ = A·x + B·u with x = (q, speeds), and whether u reaches every state.
//!
//! ```text
//! M·u̇ + c(q, u) = Q·f      A = [ ∂q̇/∂q   ∂q̇/∂u ; −M⁻¹·∂c/∂q   −M⁻¹·∂c/∂u ],   B = [ 0 ; M⁻¹·∂Q/∂f ]
//! ```
//!
//! The matrices are exact expressions at the point; numbers come from the parameters' defaults. Controllability is the rank of
//! [B AB A²B …], computed exactly in a finite field at random parameters: the rank for almost all parameters.

use crate::canonical::{Basis, Form, Ring};
use crate::constraint::{Reduced, reduce};
use crate::error::{Error, Result};
use crate::expr::*;
use crate::field::{self, Point};
use crate::mechanism::{Equilibrium, Mechanism};
use crate::motion::Motion;

/// Row by row.
pub type Matrix<T> = Vec<Vec<T>>;

/// Exact matrices at the point.
#[derive(Clone, Debug)]
pub struct Linear {
    pub states: Vec<Ex>,
    pub inputs: Vec<Ex>,
    /// ∂q̇/∂(q, u).
    kinematics: Vec<Vec<Ex>>,
    mass: Vec<Vec<Ex>>,
    /// −∂c/∂(q, u).
    stiffness: Vec<Vec<Ex>>,
    reach: Vec<Vec<Ex>>,
}

/// The equations in the generalized speeds; for a free mechanism these are the rates.
pub fn equations(m: &Mechanism, motion: &Motion) -> Result<Reduced> {
    if !m.is_free() {
        return reduce(m, motion);
    }
    let rest = (0..m.dof())
        .map(|r| motion.b[r] + motion.g[r] + motion.d[r])
        .collect();
    Ok(Reduced {
        speeds: m.w.clone(),
        rates: m.a.clone(),
        q_rates: m.w.clone(),
        mass: motion.h.clone(),
        rest,
        effort: motion.effort.clone(),
        redundant: 0,
    })
}

pub fn linearise(m: &Mechanism, motion: &Motion, at: &Equilibrium) -> Result<Linear> {
    exactly(|| expand(m, motion, at))?
}

fn expand(m: &Mechanism, motion: &Motion, at: &Equilibrium) -> Result<Linear> {
    let eq = equations(m, motion)?;
    let states: Vec<Ex> = m.q.iter().chain(&eq.speeds).copied().collect();
    let inputs: Vec<Ex> = m.actuators.iter().map(|a| a.effort).collect();
    let place: Vec<(Ex, Ex)> = states
        .iter()
        .chain(&inputs)
        .map(|s| (*s, at.at.iter().find(|p| p.0 == *s).map_or(zero(), |p| p.1)))
        .collect();
    if let Some((s, _)) = at.at.iter().find(|p| !states.contains(&p.0)) {
        let name = s.symbol().map_or(String::new(), |s| s.name.to_string());
        return Err(Error::Unsupported(format!(
            "`{}` gives {name}, which follows from the others: give a coordinate or an independent speed",
            at.name
        )));
    }
    let mut memo = place.iter().copied().collect();
    let mut here = |e: Ex| e.substitute(&mut memo);
    for (r, e) in eq.rest.iter().enumerate() {
        let residual = here(*e - eq.effort[r]);
        let value = m.values(&[]).of(residual);
        if value.is_nan() || value.abs() >= 1e-9 {
            let speed = eq.speeds[r]
                .symbol()
                .map_or(String::new(), |s| s.name.to_string());
            return Err(Error::Unsupported(format!(
                "`{}` is no equilibrium: the force along {speed} is {value:.3e}, not zero",
                at.name
            )));
        }
    }
    let mut jacobian = |rows: &[Ex], columns: &[Ex], sign: Ex| -> Vec<Vec<Ex>> {
        rows.iter()
            .map(|e| columns.iter().map(|s| here(sign * e.diff(*s))).collect())
            .collect()
    };
    let kinematics = jacobian(&eq.q_rates, &states, one());
    let stiffness = jacobian(&eq.rest, &states, -one());
    let reach = jacobian(&eq.effort, &inputs, one());
    let mass = eq
        .mass
        .iter()
        .map(|row| row.iter().map(|e| here(*e)).collect())
        .collect();
    Ok(Linear {
        states,
        inputs,
        kinematics,
        mass,
        stiffness,
        reach,
    })
}

/// Solves M·X = R in any field; nothing when M is singular.
fn solve<T: Copy>(
    m: &[Vec<T>],
    r: &[Vec<T>],
    zero: T,
    size: impl Fn(T) -> f64,
    div: impl Fn(T, T) -> T,
    sub_mul: impl Fn(T, T, T) -> T,
) -> Option<Vec<Vec<T>>> {
    let n = m.len();
    let mut rows: Vec<Vec<T>> = m
        .iter()
        .zip(r)
        .map(|(a, b)| a.iter().chain(b).copied().collect())
        .collect();
    for c in 0..n {
        let best = (c..n).max_by(|a, b| size(rows[*a][c]).total_cmp(&size(rows[*b][c])))?;
        if size(rows[best][c]) == 0.0 {
            return None;
        }
        rows.swap(c, best);
        let pivot = rows[c][c];
        rows[c].iter_mut().for_each(|x| *x = div(*x, pivot));
        let fixed = rows[c].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != c {
                let f = row[c];
                row.iter_mut()
                    .zip(&fixed)
                    .for_each(|(x, y)| *x = sub_mul(*x, f, *y));
                row[c] = zero;
            }
        }
    }
    Some(rows.into_iter().map(|row| row[n..].to_vec()).collect())
}

impl Linear {
    /// A and B at the parameters' defaults, other parameters from `state`.
    pub fn numbers(
        &self,
        m: &Mechanism,
        state: &[(Ex, f64)],
    ) -> Option<(Matrix<f64>, Matrix<f64>)> {
        let mut values = m.values(state);
        let mut all = |x: &[Vec<Ex>]| -> Vec<Vec<f64>> {
            x.iter()
                .map(|r| r.iter().map(|e| values.of(*e)).collect())
                .collect()
        };
        let (mass, stiffness, reach, mut a) = (
            all(&self.mass),
            all(&self.stiffness),
            all(&self.reach),
            all(&self.kinematics),
        );
        let joined: Vec<Vec<f64>> = stiffness
            .iter()
            .zip(&reach)
            .map(|(s, r)| [s.as_slice(), r].concat())
            .collect();
        let x = solve(
            &mass,
            &joined,
            0.0,
            f64::abs,
            |a, b| a / b,
            |a, f, b| a - f * b,
        )?;
        let n = self.states.len();
        let mut b = vec![vec![0.0; self.inputs.len()]; a.len()];
        a.extend(x.iter().map(|r| r[..n].to_vec()));
        b.extend(x.iter().map(|r| r[n..].to_vec()));
        Some((a, b))
    }

    /// Rank of [B AB A²B …] for almost all parameters.
    pub fn controllable_states(&self) -> Option<usize> {
        (0..64).find_map(|seed| self.rank_at(&mut Point::new(seed)))
    }

    fn rank_at(&self, p: &mut Point) -> Option<usize> {
        let mut all = |x: &[Vec<Ex>]| -> Option<Vec<Vec<u64>>> {
            x.iter()
                .map(|r| r.iter().map(|e| p.of(*e)).collect())
                .collect()
        };
        let (mass, stiffness, reach, mut a) = (
            all(&self.mass)?,
            all(&self.stiffness)?,
            all(&self.reach)?,
            all(&self.kinematics)?,
        );
        let joined: Vec<Vec<u64>> = stiffness
            .iter()
            .zip(&reach)
            .map(|(s, r)| [s.as_slice(), r].concat())
            .collect();
        let nonzero = |x: u64| f64::from(u8::from(x != 0));
        let divide = |a, b| field::mul(a, field::inverse(b).unwrap_or(0));
        let sub_mul = |a, f, b| field::add(a, field::neg(field::mul(f, b)));
        let x = solve(&mass, &joined, 0, nonzero, divide, sub_mul)?;
        let n = self.states.len();
        let mut block: Vec<Vec<u64>> = vec![vec![0; self.inputs.len()]; a.len()];
        a.extend(x.iter().map(|r| r[..n].to_vec()));
        block.extend(x.iter().map(|r| r[n..].to_vec()));
        // Columns of the controllability matrix, reduced as they come.
        let mut basis: Vec<Vec<u64>> = vec![];
        for _ in 0..n {
            for j in 0..self.inputs.len() {
                let mut v: Vec<u64> = block.iter().map(|r| r[j]).collect();
                for b in &basis {
                    let lead = b.iter().position(|x| *x != 0)?;
                    let f = divide(v[lead], b[lead]);
                    v.iter_mut()
                        .zip(b)
                        .for_each(|(x, y)| *x = sub_mul(*x, f, *y));
                }
                if v.iter().any(|x| *x != 0) {
                    basis.push(v);
                }
            }
            block = a
                .iter()
                .map(|row| {
                    (0..self.inputs.len())
                        .map(|j| {
                            row.iter()
                                .zip(&block)
                                .fold(0, |s, (x, b)| field::add(s, field::mul(*x, b[j])))
                        })
                        .collect()
                })
                .collect();
        }
        Some(basis.len())
    }

    /// A and B as formulas, for up to three speeds; more would not fit a page.
    pub fn formulas(&self) -> Option<(Matrix<Ex>, Matrix<Ex>)> {
        let k = self.mass.len();
        if k > 3 {
            return None;
        }
        let minor = |r: usize, c: usize| -> Ex {
            let rows: Vec<Vec<Ex>> = (0..k)
                .filter(|i| *i != r)
                .map(|i| {
                    (0..k)
                        .filter(|j| *j != c)
                        .map(|j| self.mass[i][j])
                        .collect()
                })
                .collect();
            determinant(&rows)
        };
        let det = determinant(&self.mass);
        let times = |right: &[Vec<Ex>]| -> Vec<Vec<Ex>> {
            (0..k)
                .map(|i| {
                    (0..right[0].len())
                        .map(|j| {
                            let sign = |r: usize| {
                                if (i + r).is_multiple_of(2) {
                                    one()
                                } else {
                                    -one()
                                }
                            };
                            let above: Ex =
                                (0..k).map(|r| sign(r) * minor(r, i) * right[r][j]).sum();
                            ratio(above, det)
                        })
                        .collect()
                })
                .collect()
        };
        let mut a = self.kinematics.clone();
        let mut b = vec![vec![zero(); self.inputs.len()]; a.len()];
        a.extend(times(&self.stiffness));
        b.extend(if self.inputs.is_empty() {
            vec![vec![]; k]
        } else {
            times(&self.reach)
        });
        Some((a, b))
    }
}

fn determinant(m: &[Vec<Ex>]) -> Ex {
    match m {
        [] => one(),
        [row] => row[0],
        _ => (0..m.len())
            .map(|c| {
                let rest: Vec<Vec<Ex>> = m[1..]
                    .iter()
                    .map(|r| {
                        r.iter()
                            .enumerate()
                            .filter(|x| x.0 != c)
                            .map(|x| *x.1)
                            .collect()
                    })
                    .collect();
                let sign = if c.is_multiple_of(2) { one() } else { -one() };
                sign * m[0][c] * determinant(&rest)
            })
            .sum(),
    }
}

/// Numerator over denominator, both expanded, common factors of all terms cancelled.
fn ratio(above: Ex, below: Ex) -> Ex {
    let mut ring = Ring::with_limit(Basis::Cosines, 5000);
    let (Ok(a), Ok(b)) = (ring.form(above), ring.form(below)) else {
        return above / below;
    };
    if a.is_zero() {
        return zero();
    }
    let mut common: Option<Vec<(Ex, i32)>> = None;
    for (m, _) in a.0.iter().chain(&b.0) {
        common = Some(match common {
            None => m.pow.clone(),
            Some(c) => c
                .into_iter()
                .filter_map(|(e, n)| Some((e, n.min(m.pow.iter().find(|x| x.0 == e)?.1))))
                .collect(),
        });
    }
    let factor = prod(common.unwrap_or_default());
    let reduced = |f: &Form| sum(f.0.iter().map(|(m, c)| (m.to_ex() / factor, *c)));
    reduced(&a) / reduced(&b)
}
