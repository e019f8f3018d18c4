//! The filter of (θ, ω) and, in stage C, the friction parameters: mean at every tick, covariance once per cycle.
//!
//! One cycle of M ticks, phase by phase:
//!
//! | phase | beside the mean |
//! |---|---|
//! | 0 | measurement: the cycle's mean innovation, R/M, seen at θ − age·ω; positivity; soundness |
//! | 1–4 | one column each of ∂q̈/∂(θ, ω), by dual numbers |
//! | M−1 | time update of the covariance over the cycle, with the cycle's mean friction slopes and regressors |
//!
//! For M < 5 the phases share ticks; M = 1 is the textbook filter.
//!
//! Friction makes the velocity error decay with up to 10⁴/s, so Φ = e^X is taken as (I − X + X²/2)⁻¹ (second order,
//! and goes to zero like e^X does), X = ∂q̈/∂ω·span, and its integral as span·Φ·(I − X/2).

use super::covariance::Transition;
use super::{DRAG, Ekf, MU_D, MU_V, STAGE_BALANCE, STAGE_JOINT, State};
use crate::dual::Dual;
use crate::plant::{JOINTS, Plant, Sym2, Terms, Trig};
use crate::scalar::Scalar;

/// Ticks the noise estimate looks back.
const NOISE_TICKS: u32 = 10_000;

/// Friction of one joint in the filter: torque, ∂f/∂ω, and Fn·tanh(4ω/vt).
struct Law<S> {
    torque: S,
    slope: S,
    coulomb: S,
}

impl<S: Scalar> Ekf<S> {
    #[inline(always)]
    fn law(&self, s: &State<S>, j: usize, w: S, normal: S) -> Law<S> {
        let mu_d = s.p[MU_D[j]];
        let mu_v = s.p[MU_V[j]];
        let drag = s.p[DRAG[j]];
        let inv = S::ONE / self.quarter_vt[j].max(self.quarter_vt_per_mu[j] * mu_d);
        let t = (w * inv).tanh();
        let coulomb = normal * t;
        Law {
            torque: mu_d * coulomb + (mu_v + drag * w.abs()) * w,
            slope: mu_d * normal * (S::ONE - t * t) * inv + mu_v + S::lit(2.0) * drag * w.abs(),
            coulomb,
        }
    }

    /// Add the innovations of this tick; the noise level is half the mean square of their differences.
    #[inline(always)]
    pub(super) fn innovate(&self, s: &mut State<S>, q: [S; JOINTS]) {
        let ticks = s.ticks.min(NOISE_TICKS) as f32;
        let rate = S::ONE / (S::from_f32(ticks) + S::ONE);
        for j in 0..JOINTS {
            let e = q[j] - s.q[j];
            let d = e - s.last[j];
            s.noise[j] += rate * (S::lit(0.5) * d * d - s.noise[j]);
            s.last[j] = e;
            s.sum[j] += e;
        }
    }

    /// Variance of one measured angle [rad²]: quantisation, and what the innovations show beyond it.
    #[inline(always)]
    pub(super) fn noise2(&self, s: &State<S>, j: usize) -> S {
        self.quantum2_white[j] + (s.noise[j] - self.quantum2[j]).max(S::ZERO)
    }

    /// The cycle's mean innovation as one measurement per joint. False: the state is lost.
    #[inline(always)]
    pub(super) fn measure<const N: usize>(&self, s: &mut State<S>) -> bool {
        let considered = [s.w[0].abs() < self.still, s.w[1].abs() < self.still];
        let mut change = [S::ZERO; N];
        let mut sound = true;
        for j in 0..JOINTS {
            let mean = s.sum[j] * self.per_cycle;
            s.sum[j] = S::ZERO;
            if self.moves[j] <= S::ZERO {
                continue;
            }
            sound &= mean.abs() < self.lost;
            let g = s.cov.seen::<N>(j, self.age);
            let variance = g[j] - self.age * g[2 + j] + self.noise2(s, j) * self.per_cycle;
            let gain = S::ONE / variance;
            let mut k: [S; N] = core::array::from_fn(|a| g[a] * gain);
            for m in 0..JOINTS {
                if considered[m] {
                    k[4 + MU_D[m]] = S::ZERO;
                    k[4 + MU_V[m]] = S::ZERO;
                    if N > 8 {
                        k[N - 2 + m] = S::ZERO;
                    }
                }
            }
            s.cov.update::<N>(&g, &k, variance);
            // The second joint's innovation was taken before the first one's correction.
            let e = mean - (change[j] - self.age * change[2 + j]);
            for a in 0..N {
                change[a] += k[a] * e;
            }
        }
        for j in 0..JOINTS {
            s.q[j] = s.lost[j].add(s.q[j], change[j]);
            s.w[j] = s.lost[2 + j].add(s.w[j], change[2 + j]);
            s.last[j] -= change[j];
        }
        for a in 4..N {
            s.p[a - 4] += change[a];
        }
        self.keep_positive::<N>(s);
        sound
            && s.q[0].is_finite()
            && s.q[1].is_finite()
            && s.w[0].is_finite()
            && s.w[1].is_finite()
            && s.p.iter().all(|p| p.is_finite())
            && s.cov.is_sound::<N>()
    }

    /// A negative parameter is moved to zero along the covariance, and the other parameters with it.
    #[inline(always)]
    fn keep_positive<const N: usize>(&self, s: &mut State<S>) {
        for a in 4..N {
            if s.p[a - 4] < S::ZERO {
                let row = s.cov.row(a);
                let scale = -s.p[a - 4] / row[a].max(S::lit(1e-30));
                for b in 4..N {
                    s.p[b - 4] += row[b] * scale;
                }
                s.p[a - 4] = S::ZERO;
            }
        }
    }

    /// Move the mean over one tick; returns the plant's terms at its beginning.
    #[inline(always)]
    pub(super) fn advance(&self, s: &mut State<S>) -> Terms<S> {
        let (half, two) = (S::lit(0.5), S::lit(2.0));
        let mut trig = Trig::new(s.q);
        let first = self.plant.terms_at(&trig, s.w);
        let mut terms = first;
        let h = self.h;
        let sixth = h * S::lit(1.0 / 6.0);
        for step in 0..self.substeps {
            if step > 0 {
                trig = Trig::new(s.q);
                terms = self.plant.terms_at(&trig, s.w);
            }
            let law = [
                self.law(s, 0, s.w[0], terms.normal[0]),
                self.law(s, 1, s.w[1], terms.normal[1]),
            ];
            if step == 0 {
                for j in 0..JOINTS {
                    s.slope[j] += law[j].slope;
                    s.regressor[j][0] += law[j].coulomb;
                    s.regressor[j][1] += s.w[j];
                    s.regressor[j][2] += s.w[j] * s.w[j].abs();
                }
            }
            let k1w = s.w;
            let k1a = resist(&terms, [law[0].torque, law[1].torque]);
            let (k2w, k2a) = self.slope_at(s, &trig, half * h, k1w, k1a);
            let (k3w, k3a) = self.slope_at(s, &trig, half * h, k2w, k2a);
            let (k4w, k4a) = self.slope_at(s, &trig, h, k3w, k3a);
            for j in 0..JOINTS {
                let dq = sixth * (k1w[j] + two * (k2w[j] + k3w[j]) + k4w[j]);
                let dw = sixth * (k1a[j] + two * (k2a[j] + k3a[j]) + k4a[j]);
                s.q[j] = s.lost[j].add(s.q[j], dq);
                s.w[j] = s.lost[2 + j].add(s.w[j], dw);
            }
        }
        first
    }

    /// Move the mean by `gap` [s] at once. What such a step leaves out is at most as large as what it adds: that much is
    /// the velocity uncertain, and the angle by `gap` times the velocity's uncertainty.
    pub(super) fn leap(&self, s: &mut State<S>, gap: S) {
        let terms = self.plant.terms(s.q, s.w);
        let a = resist(
            &terms,
            [
                self.law(s, 0, s.w[0], terms.normal[0]).torque,
                self.law(s, 1, s.w[1], terms.normal[1]).torque,
            ],
        );
        for j in 0..JOINTS {
            let dw = gap * a[j] * self.moves[j];
            let dq = gap * (s.w[j] + S::lit(0.5) * dw);
            s.q[j] = s.lost[j].add(s.q[j], dq);
            s.w[j] = s.lost[2 + j].add(s.w[j], dw);
            let speed2 = s.cov.at(2 + j, 2 + j) + dw * dw;
            s.cov.set(2 + j, 2 + j, speed2);
            s.cov
                .set(j, j, s.cov.at(j, j) + gap * gap * speed2 * self.moves[j]);
        }
    }

    /// (q̇, q̈) at the state moved by `h` along (`kw`, `ka`).
    #[inline(always)]
    fn slope_at(
        &self,
        s: &State<S>,
        trig: &Trig<S>,
        h: S,
        kw: [S; 2],
        ka: [S; 2],
    ) -> ([S; 2], [S; 2]) {
        let q = [s.q[0] + h * kw[0], s.q[1] + h * kw[1]];
        let w = [s.w[0] + h * ka[0], s.w[1] + h * ka[1]];
        let t = self.plant.terms_at(&trig.near(s.q, q), w);
        let f = [
            self.law(s, 0, w[0], t.normal[0]).torque,
            self.law(s, 1, w[1], t.normal[1]).torque,
        ];
        (w, resist(&t, f))
    }

    /// At phases 1–4 (or the last one, for shorter cycles): one column of ∂q̈/∂(θ0 θ1 ω0 ω1).
    #[inline(always)]
    pub(super) fn differentiate(&self, s: &mut State<S>) {
        for c in 0..4u8 {
            if s.phase == (c + 1).min(self.cycle - 1) {
                s.jacobian[c as usize] = self.column(s, c);
            }
        }
    }

    /// ∂q̈/∂x_c with the friction's tanh and ω held: its own slope is averaged over the cycle instead.
    #[inline(never)]
    fn column(&self, s: &State<S>, c: u8) -> [S; 2] {
        let seed = |x: S, i: u8| Dual {
            re: x,
            du: [if i == c { S::ONE } else { S::ZERO }],
        };
        let q = [seed(s.q[0], 0), seed(s.q[1], 1)];
        let w = [seed(s.w[0], 2), seed(s.w[1], 3)];
        let t = self.tangent.terms(q, w);
        let f: [Dual<S, 1>; 2] = core::array::from_fn(|j| {
            let law = self.law(s, j, s.w[j], t.normal[j].re);
            let mu_t = s.p[MU_D[j]] * law.coulomb / t.normal[j].re.max(S::lit(1e-20));
            Dual {
                re: law.torque,
                du: [t.normal[j].du[0] * mu_t],
            }
        });
        let df = t.h_inv.apply(f);
        [t.free[0].du[0] - df[0].du[0], t.free[1].du[0] - df[1].du[0]]
    }

    /// Time update of the covariance over the cycle that ends with this tick.
    #[inline(always)]
    pub(super) fn predict<const N: usize>(&self, s: &mut State<S>, terms: &Terms<S>) {
        let mean = self.per_cycle;
        let slope = [s.slope[0] * mean, s.slope[1] * mean];
        let [r0, r1] = s.regressor;
        let regressor = [r0.map(|x| x * mean), r1.map(|x| x * mean)];
        s.slope = [S::ZERO; JOINTS];
        s.regressor = [[S::ZERO; 3]; JOINTS];
        let t = self.span;
        let inv = &terms.h_inv;
        let [d0, d1, v0, v1] = s.jacobian;
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
        let torque = product(&travel, &[[inv.a00, inv.a01], [inv.a01, inv.a11]]);
        let transition = Transition {
            velocity,
            stiffness: product(&travel, &[[d0[0], d1[0]], [d0[1], d1[1]]]),
            torque,
            travel,
            regressor,
            half_span: half * t,
        };
        s.cov.predict::<N>(&transition);
        let noise = self.velocity_noise(s, terms);
        s.cov.add_velocity_noise(noise);
    }

    /// Velocity noise of one cycle [(rad/s)²]: (0,0), (1,0), (1,1).
    ///
    /// Stage A: the friction is unknown acceleration. Stage C: H⁻¹·diag(τ²)·H⁻ᵀ with
    /// τj² = torque_noise + slip_noise·((μdj·Fnj)² + slip_torque²)·exp(−(ωj/slip_speed)²).
    #[inline(always)]
    fn velocity_noise(&self, s: &State<S>, terms: &Terms<S>) -> [S; 3] {
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

    /// Stage A's tick of the momentum balance; starts stage C when its estimate is good enough.
    #[inline(always)]
    pub(super) fn balance(&self, s: &mut State<S>, terms: &Terms<S>) {
        let closed = s.momentum.add(self, s.w, terms, s.ticks);
        if !closed || s.ticks < self.start {
            return;
        }
        let solved = [s.momentum.solve(self, 0), s.momentum.solve(self, 1)];
        let known = solved.iter().zip(&self.moves).all(|(x, m)| {
            *m <= S::ZERO || x.covariance[0][0] <= self.start_sigma2 * x.value[0].square()
        });
        if !known && s.ticks < self.start_max {
            return;
        }
        for (j, x) in solved.iter().enumerate() {
            if self.moves[j] <= S::ZERO {
                continue;
            }
            let index = [MU_D[j], MU_V[j], DRAG[j]];
            let active = if self.drag { 3 } else { 2 };
            for (a, &ka) in index.iter().enumerate().take(active) {
                s.p[ka] = x.value[a].max(S::ZERO);
                for (b, &kb) in index.iter().enumerate().take(active) {
                    s.cov.set(4 + ka, 4 + kb, x.covariance[a][b]);
                }
                s.first[ka] = x.covariance[a][a];
            }
        }
        s.stage = STAGE_JOINT;
    }

    /// Early corrections were linearised about a poor estimate and claim too much: widen the parameters again.
    #[inline(always)]
    pub(super) fn doubt(&self, s: &mut State<S>) {
        s.joint_ticks = s.joint_ticks.saturating_add(1);
        let n = s.joint_ticks;
        if n == self.doubt_ticks || n == self.doubt_ticks * 2 || n == self.doubt_ticks * 4 {
            for k in 0..s.first.len() {
                let known = s.cov.at(4 + k, 4 + k).max(S::lit(1e-30));
                let grow = (s.first[k] / known).sqrt().min(self.doubt).max(S::ONE);
                s.cov.scale(4 + k, grow);
            }
        }
    }
}

/// H⁻¹(−B − G − f).
#[inline(always)]
fn resist<S: Scalar>(t: &Terms<S>, f: [S; 2]) -> [S; 2] {
    let df = t.h_inv.apply(f);
    [t.free[0] - df[0], t.free[1] - df[1]]
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
