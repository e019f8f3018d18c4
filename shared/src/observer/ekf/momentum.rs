//! Stage B: friction from the momentum balance over short windows, by linear least squares per joint.
//!
//! With p = H·ω the momentum obeys ṗ = ½ωᵀ(∂H/∂q)ω − G + τ − f, so over a window in which the joint slides one way
//!
//! ```text
//! −(Δp − ∫(½ωᵀ(∂H/∂q)ω − G + τ)dt) = μd·∫Fn·sgn ω dt + μv·∫ω dt + d·∫ω|ω| dt
//! ```
//!
//! The parameters enter linearly: no start value, no iteration, no local minimum. Windows in which the joint was
//! slower than [`super::Config::still_speed`] are left out. The noise level is that of the residuals.
//! It does not see bias: the velocities are those of a filter that ignores friction.

use super::Ekf;
use crate::JOINTS;
use crate::model::plant::Terms;
use crate::number::scalar::Scalar;

/// Windows left out at the start, while the velocity settles.
const SETTLE_WINDOWS: u32 = 4;

/// Sums of the running window and of the normal equations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Momentum<S> {
    /// Momentum at the start of the window \[N·m·s\].
    begin: [S; JOINTS],
    /// ∑ of ½ωᵀ(∂H/∂q)ω − G, and of Fn·sgn ω, ω, ω|ω| (trapezoid, times dt at the end).
    impulse: [S; JOINTS],
    regressor: [[S; 3]; JOINTS],
    /// The joint was always faster than still_speed, one way.
    sliding: [bool; JOINTS],
    /// Ticks in the window.
    n: u32,
    joints: [Normal<S>; JOINTS],
}
crate::impl_words!(Momentum<S> { begin, impulse, regressor, sliding, n, joints });

/// Normal equations of one joint: lower triangle of ∑x·xᵀ, ∑x·y, ∑y², windows.
#[derive(Clone, Copy, Debug)]
struct Normal<S> {
    xx: [S; 6],
    xy: [S; 3],
    yy: S,
    windows: u32,
}
crate::impl_words!(Normal<S> { xx, xy, yy, windows });

/// (μd, μv, d) of one joint and their covariance.
pub(super) struct Solution<S> {
    pub value: [S; 3],
    pub covariance: [[S; 3]; 3],
}

impl<S: Scalar> Momentum<S> {
    pub const NEW: Self = Momentum {
        begin: [S::ZERO; JOINTS],
        impulse: [S::ZERO; JOINTS],
        regressor: [[S::ZERO; 3]; JOINTS],
        sliding: [false; JOINTS],
        n: 0,
        joints: [Normal {
            xx: [S::ZERO; 6],
            xy: [S::ZERO; 3],
            yy: S::ZERO,
            windows: 0,
        }; JOINTS],
    };

    /// Begin a new window with the next tick.
    pub fn reopen(&mut self) {
        self.n = 0;
    }

    /// The last tick closed a window, or there was only one.
    #[inline(always)]
    pub fn is_fresh(&self) -> bool {
        self.n == 1
    }

    /// One tick at velocities `w`.
    #[inline(always)]
    pub fn add(
        &mut self,
        ekf: &Ekf<S>,
        w: [S; JOINTS],
        terms: &Terms<S>,
        tau: [S; JOINTS],
        tick: u32,
    ) {
        let p = terms.h.apply(w);
        let edge = self.n == 0 || self.n >= ekf.window;
        let weight = if edge { S::lit(0.5) } else { S::ONE };
        let mut force = [S::ZERO; JOINTS];
        let mut x = [[S::ZERO; 3]; JOINTS];
        for j in 0..JOINTS {
            force[j] = weight * (terms.dt_dq[j] - terms.g[j] + tau[j]);
            x[j] = [
                weight * terms.normal[j] * w[j].sign(),
                weight * w[j],
                weight * w[j] * w[j].abs(),
            ];
            self.impulse[j] += force[j];
            for i in 0..3 {
                self.regressor[j][i] += x[j][i];
            }
            self.sliding[j] &= w[j].abs() >= ekf.still;
        }
        let closed = self.n >= ekf.window;
        if closed && tick >= SETTLE_WINDOWS * ekf.window {
            for j in 0..JOINTS {
                if self.sliding[j] {
                    let y = self.begin[j] + self.impulse[j] * ekf.dt - p[j];
                    self.joints[j].add(self.regressor[j].map(|r| r * ekf.dt), y);
                }
            }
        }
        if edge {
            self.n = 0;
            self.begin = p;
            self.impulse = force;
            self.regressor = x;
            self.sliding = [w[0].abs() >= ekf.still, w[1].abs() >= ekf.still];
        }
        self.n += 1;
    }

    /// Least squares with the prior of the configuration (zero mean), residual variance inflated as configured.
    pub fn solve(&self, ekf: &Ekf<S>, j: usize) -> Solution<S> {
        match self.joints.get(j) {
            Some(normal) => normal.solve(ekf),
            None => Solution {
                value: [S::ZERO; 3],
                covariance: [[S::ZERO; 3]; 3],
            },
        }
    }
}

impl<S: Scalar> Normal<S> {
    #[inline(always)]
    fn add(&mut self, x: [S; 3], y: S) {
        self.xx[0] += x[0] * x[0];
        self.xx[1] += x[1] * x[0];
        self.xx[2] += x[1] * x[1];
        self.xx[3] += x[2] * x[0];
        self.xx[4] += x[2] * x[1];
        self.xx[5] += x[2] * x[2];
        for i in 0..3 {
            self.xy[i] += x[i] * y;
        }
        self.yy += y * y;
        self.windows += 1;
    }

    fn solve(&self, ekf: &Ekf<S>) -> Solution<S> {
        let mut a = *self;
        if !ekf.drag {
            // The drag's row and column out: its estimate stays at the prior's mean.
            a.xx[3] = S::ZERO;
            a.xx[4] = S::ZERO;
            a.xx[5] = S::ZERO;
            a.xy[2] = S::ZERO;
        }
        let used = if ekf.drag { 3 } else { 2 };
        if self.windows <= used {
            return Solution {
                value: [S::ZERO; 3],
                covariance: diagonal(ekf.prior_weight.map(|w| S::ONE / w)),
            };
        }
        // First without noise level, to get the residuals; the ridge keeps a parameter that was never shown solvable.
        let ridge = |x: S| x * S::lit(1e-6) + S::lit(1e-12);
        let plain = solve3(
            &a.xx,
            [ridge(a.xx[0]), ridge(a.xx[2]), ridge(a.xx[5])],
            a.xy,
        );
        let explained = (0..3).fold(S::ZERO, |sum, i| sum + plain.value[i] * a.xy[i]);
        let freedom = S::from_f32((self.windows - used) as f32);
        let residual2 = (a.yy - explained).max(a.yy * S::lit(1e-6)) / freedom;
        let variance = (residual2 * ekf.balance_inflation).max(S::lit(1e-20));
        let prior = ekf.prior_weight.map(|w| w * variance);
        let mut x = solve3(&a.xx, prior, a.xy);
        for row in &mut x.covariance {
            for c in row {
                *c *= variance;
            }
        }
        x
    }
}

fn diagonal<S: Scalar>([a, b, c]: [S; 3]) -> [[S; 3]; 3] {
    let o = S::ZERO;
    [[a, o, o], [o, b, o], [o, o, c]]
}

/// (A + diag(d))⁻¹ and (A + diag(d))⁻¹·b for a symmetric positive definite 3×3 matrix, by cofactors.
fn solve3<S: Scalar>(a: &[S; 6], d: [S; 3], b: [S; 3]) -> Solution<S> {
    let (a00, a10, a11) = (a[0] + d[0], a[1], a[2] + d[1]);
    let (a20, a21, a22) = (a[3], a[4], a[5] + d[2]);
    let c00 = a11 * a22 - a21 * a21;
    let c10 = a20 * a21 - a10 * a22;
    let c20 = a10 * a21 - a11 * a20;
    let scale = S::ONE / (a00 * c00 + a10 * c10 + a20 * c20);
    let i00 = c00 * scale;
    let i10 = c10 * scale;
    let i20 = c20 * scale;
    let i11 = (a00 * a22 - a20 * a20) * scale;
    let i21 = (a10 * a20 - a00 * a21) * scale;
    let i22 = (a00 * a11 - a10 * a10) * scale;
    let covariance = [[i00, i10, i20], [i10, i11, i21], [i20, i21, i22]];
    Solution {
        value: covariance.map(|row| row[0] * b[0] + row[1] * b[1] + row[2] * b[2]),
        covariance,
    }
}
