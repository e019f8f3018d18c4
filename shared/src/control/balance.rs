//! Holding an equilibrium: u = u0 − K·(x − x0), x = (q0, q1, ω0, ω1), with K of the linear-quadratic regulator.
//!
//! The device linearises its own plant, motor included, at the configured place and solves the Riccati equation by doubling: each of
//! [`DOUBLINGS`] rounds doubles the horizon, so the work is bounded, and after the last the horizon is 262 s in steps of 1 ms. f64, in thread
//! mode, once per configuration; the tick multiplies four numbers.

#![allow(clippy::needless_range_loop)] // Matrix equations read by index.

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::model::plant::{Plant, PlantConfig, RIG_ERRORS, RigError, Trig};
use crate::number::range::{OutOfRange, check};

/// Rounds of the doubling.
pub const DOUBLINGS: usize = 18;
/// Step of the discrete model \[s\].
const STEP_S: f64 = 1e-3;

const N: usize = 2 * JOINTS;
type Matrix = [[f64; N]; N];

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The place to hold \[rad\].
    pub at: [f32; JOINTS],
    /// Weights of (q0, q1, ω0, ω1) and of the torque, relative to each other: ∫ Σ weight·x² + effort·u² is made small.
    pub weight: [f32; N],
    pub effort: f32,
    /// Farther than this from its place, a joint that is not driven is given up \[rad\].
    pub window: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            at: [0.0, core::f32::consts::PI],
            weight: [0.1, 10.0, 0.1, 1.0],
            effort: 100.0,
            window: 0.5,
        }
    }
}

impl Config {
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("drive.balance.at[0]", self.at[0], -100.0, 100.0)?;
        check("drive.balance.at[1]", self.at[1], -100.0, 100.0)?;
        check("drive.balance.weight[0]", self.weight[0], 1e-6, 1e6)?;
        check("drive.balance.weight[1]", self.weight[1], 1e-6, 1e6)?;
        check("drive.balance.weight[2]", self.weight[2], 0.0, 1e6)?;
        check("drive.balance.weight[3]", self.weight[3], 0.0, 1e6)?;
        check("drive.balance.effort", self.effort, 1e-6, 1e9)?;
        check("drive.balance.window", self.window, 1e-3, 10.0)
    }
}

/// The regulator, built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regulator {
    pub at: [f32; JOINTS],
    pub gain: [f32; N],
    /// Torque that holds the place against gravity \[N·m\].
    pub hold: f32,
    pub window: f32,
}

impl Regulator {
    /// For `plant` (rotor included).
    pub fn new(plant: &PlantConfig, config: &Config) -> Self {
        let built = plant.build::<f64>();
        let share = plant.actuator().map(f64::from);
        let trig = Trig::new(config.at.map(f64::from));
        let still = [0.0; JOINTS];
        let g = built.terms_at(&trig, still, still).g;
        // The motor carries what gravity does along it.
        let power = share[0] * share[0] + share[1] * share[1];
        let hold = if power > 0.0 {
            (share[0] * g[0] + share[1] * g[1]) / power
        } else {
            0.0
        };
        let terms = built.terms_at(&trig, still, share.map(|s| s * hold));
        let exact = RigError::from_values([0.0; RIG_ERRORS]);
        let by = built.sensitivity(&exact, &trig, still, &terms, still);
        let push = terms.h_inv.apply(share);
        let mut a = [[0.0; N]; N];
        let mut b = [0.0; N];
        for i in 0..JOINTS {
            a[i][JOINTS + i] = 1.0;
            b[JOINTS + i] = push[i];
            for j in 0..JOINTS {
                a[JOINTS + i][j] = by.angle[j][i];
                a[JOINTS + i][JOINTS + j] = by.speed[j][i];
            }
        }
        let q = config.weight.map(f64::from);
        let mut gain = regulate(&a, &b, &q, f64::from(config.effort)).map(|x| x as f32);
        if plant.dof() < JOINTS {
            gain[1] = 0.0;
            gain[3] = 0.0;
        }
        Regulator {
            at: config.at,
            gain,
            hold: hold as f32,
            window: config.window,
        }
    }

    /// The torque at angles `q` and speeds `w`.
    #[inline(always)]
    pub fn torque(&self, q: [f32; JOINTS], w: [f32; JOINTS]) -> f32 {
        let [k0, k1, k2, k3] = self.gain;
        self.hold - k0 * (q[0] - self.at[0]) - k1 * (q[1] - self.at[1]) - k2 * w[0] - k3 * w[1]
    }
}

/// K of ẋ = a·x + b·u for ∫ Σ q·x² + r·u². Not finite where no gain stabilises.
fn regulate(a: &Matrix, b: &[f64; N], q: &[f64; N], r: f64) -> [f64; N] {
    // x⁺ = A·x + B·u: second-order series of the exponential.
    let h = STEP_S;
    let a2 = product(a, a);
    let mut step = identity();
    let mut push = [0.0; N];
    for i in 0..N {
        for j in 0..N {
            step[i][j] += h * a[i][j] + 0.5 * h * h * a2[i][j];
            push[i] += 0.5 * h * h * a[i][j] * b[j];
        }
        push[i] += h * b[i];
    }
    let r = r * h;
    // Doubling: A ← A·W·A, G ← G + A·W·G·Aᵀ, X ← X + Aᵀ·X·W·A with W = (I + G·X)⁻¹.
    let mut state = step;
    let mut g = [[0.0; N]; N];
    let mut x = [[0.0; N]; N];
    for i in 0..N {
        x[i][i] = q[i] * h;
        for j in 0..N {
            g[i][j] = push[i] * push[j] / r;
        }
    }
    for _ in 0..DOUBLINGS {
        let mut m = product(&g, &x);
        for i in 0..N {
            m[i][i] += 1.0;
        }
        let w = inverse(&m);
        let aw = product(&state, &w);
        let wa = product(&w, &state);
        let across = transposed(&state);
        let more_g = product(&product(&aw, &g), &across);
        let more_x = product(&product(&across, &x), &wa);
        for i in 0..N {
            for j in 0..N {
                g[i][j] += more_g[i][j];
                x[i][j] += more_x[i][j];
            }
        }
        state = product(&aw, &state);
    }
    let xb: [f64; N] = core::array::from_fn(|i| (0..N).fold(0.0, |s, j| s + x[i][j] * push[j]));
    let weight = (0..N).fold(r, |s, i| s + push[i] * xb[i]);
    core::array::from_fn(|j| (0..N).fold(0.0, |s, i| s + xb[i] * step[i][j]) / weight)
}

fn identity() -> Matrix {
    core::array::from_fn(|i| core::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }))
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    core::array::from_fn(|i| {
        core::array::from_fn(|j| (0..N).fold(0.0, |s, k| s + a[i][k] * b[k][j]))
    })
}

fn transposed(a: &Matrix) -> Matrix {
    core::array::from_fn(|i| core::array::from_fn(|j| a[j][i]))
}

/// Gauss–Jordan with the largest pivot of each column.
fn inverse(a: &Matrix) -> Matrix {
    let (mut a, mut b) = (*a, identity());
    for k in 0..N {
        let mut best = k;
        for i in k + 1..N {
            if a[i][k].abs() > a[best][k].abs() {
                best = i;
            }
        }
        a.swap(k, best);
        b.swap(k, best);
        let scale = 1.0 / a[k][k];
        for j in 0..N {
            a[k][j] *= scale;
            b[k][j] *= scale;
        }
        for i in 0..N {
            if i != k {
                let factor = a[i][k];
                for j in 0..N {
                    a[i][j] -= factor * a[k][j];
                    b[i][j] -= factor * b[k][j];
                }
            }
        }
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::math::sqrt_f64;

    /// ẍ = u has the closed form K = (√(q0/r), √(q1/r + 2·√(q0/r))); here twice, uncoupled, one of them driven.
    #[test]
    fn a_double_integrator_has_its_closed_form() {
        let mut a = [[0.0; N]; N];
        a[0][2] = 1.0;
        a[1][3] = 1.0;
        // The other one must be stable for a solution to exist.
        a[3][1] = -4.0;
        a[3][3] = -2.0;
        let k = regulate(&a, &[0.0, 0.0, 1.0, 0.0], &[9.0, 1.0, 2.0, 1.0], 4.0);
        let wanted = [1.5, 0.0, sqrt_f64(0.5 + 2.0 * 1.5), 0.0];
        for (k, wanted) in k.iter().zip(wanted) {
            assert!((k - wanted).abs() < 2e-3, "{k} {wanted}");
        }
    }

    #[test]
    fn inverse_times_matrix_is_one() {
        let a = [
            [0.0, 2.0, 1.0, 0.5],
            [1.0, -1.0, 0.0, 3.0],
            [4.0, 0.0, 1.0, 1.0],
            [0.0, 1.0, 1.0, 0.0],
        ];
        let one = product(&a, &inverse(&a));
        for i in 0..N {
            for j in 0..N {
                assert!((one[i][j] - identity()[i][j]).abs() < 1e-12);
            }
        }
    }
}
