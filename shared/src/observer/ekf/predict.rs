//! The linearisation of one cycle, for the time update of the covariance.
//!
//! Friction makes the velocity error decay with up to 10⁴/s, so Φ = e^X is taken as (I − X + X²/2)⁻¹ (second order, and goes to zero like
//! e^X does), X = ∂q̈/∂ω·span, and its integral as span·Φ·(I − X/2). Slopes and regressors of the friction are averaged over the ticks
//! since the last linearisation; the rest of ∂q̈ is the plant's ([`Plant::sensitivity`]), with the normal forces held.

use super::covariance::Transition;
use super::mean::Now;
use super::{Ekf, MU_D, STAGE_BALANCE, State};
use crate::JOINTS;
use crate::model::plant::{Plant, RigError, Sensitivity, Sym2, Task, Terms};
use crate::number::scalar::Scalar;

/// ∂q̈ of the plant with the rig's errors.
struct Sense<'a, S>(RigError<S>, &'a Now<S>);

impl<S: Scalar> Task<S> for Sense<'_, S> {
    type Output = Sensitivity<S>;
    #[inline(always)]
    fn run<P: Plant<S>>(self, plant: &P) -> Sensitivity<S> {
        let Sense(error, now) = self;
        let plant = plant.perturbed(&error);
        plant.sensitivity(&error, &now.trig, now.w, &now.terms, now.a)
    }
}

impl<S: Scalar> Ekf<S> {
    /// F over one cycle, about the tick `now`.
    #[inline(never)]
    pub(super) fn linearise(&self, s: &mut State<S>, now: &Now<S>) -> Transition<S> {
        let mean = self.per_cycle;
        let slope = [s.slope[0] * mean, s.slope[1] * mean];
        let [r0, r1] = s.regressor;
        let regressor = [r0.map(|x| x * mean), r1.map(|x| x * mean)];
        s.slope = [S::ZERO; JOINTS];
        s.regressor = [[S::ZERO; 3]; JOINTS];
        let at = self.plant.choose(Sense(self.rig_error(s), now));
        let t = self.span;
        let inv = &now.terms.h_inv;
        let ([d0, d1], [v0, v1]) = (at.angle, at.speed);
        let x = [
            [
                t * (v0[0] - inv.a00 * slope[0]),
                t * (v1[0] - inv.a01 * slope[1]),
            ],
            [
                t * (v0[1] - inv.a01 * slope[0]),
                t * (v1[1] - inv.a11 * slope[1]),
            ],
        ];
        let half = S::lit(0.5);
        let x2 = product(&x, &x);
        let velocity = inverse(&[
            [
                S::ONE - x[0][0] + half * x2[0][0],
                half * x2[0][1] - x[0][1],
            ],
            [
                half * x2[1][0] - x[1][0],
                S::ONE - x[1][1] + half * x2[1][1],
            ],
        ]);
        let travel = product(
            &velocity,
            &[
                [t * (S::ONE - half * x[0][0]), -t * half * x[0][1]],
                [-t * half * x[1][0], t * (S::ONE - half * x[1][1])],
            ],
        );
        let rig = |i: usize| at.rig.map(|c| travel[i][0] * c[0] + travel[i][1] * c[1]);
        Transition {
            velocity,
            stiffness: product(&travel, &[[d0[0], d1[0]], [d0[1], d1[1]]]),
            torque: product(&travel, &[[inv.a00, inv.a01], [inv.a01, inv.a11]]),
            travel,
            regressor,
            rig: [rig(0), rig(1)],
            half_span: half * t,
        }
    }

    /// Velocity noise of one cycle \[(rad/s)²\]: (0,0), (1,0), (1,1).
    ///
    /// Stage A: the friction is unknown acceleration. Stage C: H⁻¹·diag(τ²)·H⁻ᵀ with
    /// τj² = torque_noise + slip_noise·((μdj·Fnj)² + slip_torque²)·exp(−(ωj/slip_speed)²).
    #[inline(never)]
    pub(super) fn velocity_noise(&self, s: &State<S>, terms: &Terms<S>) -> [S; 3] {
        if s.stage == STAGE_BALANCE {
            let q = |j: usize| {
                let relative = self.quantum2_white[j] / self.noise2(s, j);
                self.acceleration_noise * relative.sqrt() * self.span * self.moves[j]
            };
            return [q(0), S::ZERO, q(1)];
        }
        let tau2 = |j: usize| {
            let coulomb = s.p[MU_D[j]] * terms.normal[j];
            let slip = (-(s.w[j].square()) * self.slip_rate).exp();
            let near = self.slip_noise * (coulomb.square() + self.slip_torque2) * slip;
            (self.torque_noise + near) * self.span * self.moves[j]
        };
        let (t0, t1) = (tau2(0), tau2(1));
        let Sym2 { a00, a01, a11 } = terms.h_inv;
        [
            a00 * a00 * t0 + a01 * a01 * t1,
            a00 * a01 * t0 + a01 * a11 * t1,
            a01 * a01 * t0 + a11 * a11 * t1,
        ]
    }
}

#[inline(always)]
fn product<S: Scalar>(a: &[[S; 2]; 2], b: &[[S; 2]; 2]) -> [[S; 2]; 2] {
    core::array::from_fn(|i| core::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

#[inline(always)]
fn inverse<S: Scalar>(a: &[[S; 2]; 2]) -> [[S; 2]; 2] {
    let scale = S::ONE / (a[0][0] * a[1][1] - a[0][1] * a[1][0]);
    [
        [a[1][1] * scale, -a[0][1] * scale],
        [-a[1][0] * scale, a[0][0] * scale],
    ]
}
