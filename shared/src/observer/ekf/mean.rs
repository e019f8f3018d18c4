//! The mean: (θ, ω) moved by RK4 at every tick, with the friction and the rig as estimated.

use super::{DRAG, Ekf, MU_D, MU_V, State};
use crate::JOINTS;
use crate::model::friction::Linear;
use crate::model::motor::Applied;
use crate::model::plant::{Plant, RigError, Terms, Trig, acceleration, resisted};
use crate::model::rk4;
use crate::number::scalar::Scalar;

/// Ticks the noise estimate looks back.
const NOISE_TICKS: u32 = 10_000;

/// The tick's beginning, for everything that is evaluated there.
pub(super) struct Now<S> {
    pub trig: Trig<S>,
    pub w: [S; JOINTS],
    pub terms: Terms<S>,
    /// Force of the drive \[N·m\].
    pub tau: [S; JOINTS],
    /// Accelerations \[rad/s²\].
    pub a: [S; JOINTS],
}

/// ẏ of y = (q0, q1, ω0, ω1); `trig` belongs to the angles `base`.
#[inline(always)]
fn rates<S: Scalar, P: Plant<S>>(
    plant: &P,
    laws: &[Linear<S>; JOINTS],
    trig: &Trig<S>,
    base: [S; JOINTS],
    applied: &Applied<S>,
    y: &[S; 4],
) -> [S; 4] {
    let w = [y[2], y[3]];
    let terms = plant.terms_at(&trig.near(base, [y[0], y[1]]), w, applied.at(w));
    let a = acceleration(&terms, w, laws);
    [w[0], w[1], a[0], a[1]]
}

impl<S: Scalar> Ekf<S> {
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

    /// Variance of one measured angle \[rad²\]: quantisation, and what the innovations show beyond it.
    #[inline(always)]
    pub(super) fn noise2(&self, s: &State<S>, j: usize) -> S {
        self.quantum2_white[j] + (s.noise[j] - self.quantum2[j]).max(S::ZERO)
    }

    /// Friction as estimated; vt raised where μd would make a step unstable, which is counted.
    #[inline(always)]
    fn laws(&self, s: &mut State<S>) -> [Linear<S>; JOINTS] {
        let least = [
            self.quarter_vt_per_mu[0] * s.p[MU_D[0]],
            self.quarter_vt_per_mu[1] * s.p[MU_D[1]],
        ];
        let floored = least[0] > self.quarter_vt[0] || least[1] > self.quarter_vt[1];
        s.counters.floored = s.counters.floored.wrapping_add(u32::from(floored));
        let joint = |j: usize| Linear {
            mu_d: s.p[MU_D[j]],
            mu_v: s.p[MU_V[j]],
            drag: s.p[DRAG[j]],
            steepness: S::ONE / self.quarter_vt[j].max(least[j]),
        };
        [joint(0), joint(1)]
    }

    /// The rig's errors as estimated.
    #[inline(always)]
    pub(super) fn rig_error(&self, s: &State<S>) -> RigError<S> {
        let [_, _, tilt, arm, link, length, gravity] = s.z;
        RigError {
            tilt,
            arm,
            link,
            length,
            gravity,
        }
    }

    /// Move the mean over one tick; returns its beginning.
    #[inline(never)]
    pub(super) fn advance<P: Plant<S>>(
        &self,
        plant: &P,
        s: &mut State<S>,
        applied: &Applied<S>,
    ) -> Now<S> {
        let plant = plant.perturbed(&self.rig_error(s));
        let laws = self.laws(s);
        let zero = [s.z[0], s.z[1]];
        let mut first = None;
        for _ in 0..self.substeps {
            let q = [s.q[0] - zero[0], s.q[1] - zero[1]];
            let w = s.w;
            let trig = Trig::new(q);
            let tau = applied.at(w);
            let terms = plant.terms_at(&trig, w, tau);
            let response = [
                laws[0].response(w[0], terms.normal[0]),
                laws[1].response(w[1], terms.normal[1]),
            ];
            let a = resisted(&terms, [response[0].torque, response[1].torque]);
            let y = [q[0], q[1], w[0], w[1]];
            let d = rk4::rolled_from(&y, self.h, [w[0], w[1], a[0], a[1]], |y| {
                rates(&plant, &laws, &trig, q, applied, y)
            });
            s.q = [s.lost[0].add(s.q[0], d[0]), s.lost[1].add(s.q[1], d[1])];
            s.w = [s.lost[2].add(s.w[0], d[2]), s.lost[3].add(s.w[1], d[3])];
            if first.is_none() {
                for j in 0..JOINTS {
                    s.slope[j] += response[j].slope;
                    for i in 0..3 {
                        s.regressor[j][i] += response[j].regressor[i];
                    }
                }
                if let Some(damping) = applied.damping() {
                    s.slope = [s.slope[0] + damping[0], s.slope[1] + damping[1]];
                }
                first = Some((trig, w, terms, tau, a));
            }
        }
        let (trig, w, terms, tau, a) = match first {
            Some(first) => first,
            // Never: there is at least one step.
            None => {
                let trig = Trig::new(s.q);
                let tau = applied.at(s.w);
                let terms = plant.terms_at(&trig, s.w, tau);
                (trig, s.w, terms, tau, terms.free)
            }
        };
        Now {
            trig,
            w,
            terms,
            tau,
            a,
        }
    }

    /// `missed` ticks, `gap` \[s\] in all, never happened: one long step instead. What it leaves out is at most as large as what it adds:
    /// that much is the velocity uncertain, and the angle by `gap` times the velocity's uncertainty.
    #[cold]
    pub fn bridge(&self, s: &mut State<S>, missed: u32, gap: S, applied: &Applied<S>) {
        let plant = self.plant.perturbed(&self.rig_error(s));
        let laws = self.laws(s);
        let q = [s.q[0] - s.z[0], s.q[1] - s.z[1]];
        let (trig, w) = (Trig::new(q), s.w);
        let tau = applied.at(w);
        let terms = plant.terms_at(&trig, w, tau);
        let a = acceleration(&terms, w, &laws);
        // The cycle ends here: what is left of its work is done at once.
        let now = Now {
            trig,
            w,
            terms,
            tau,
            a,
        };
        if s.phase > 0 {
            let (from, _) = self.jobs(s.phase);
            for job in from.max(1)..super::JOBS {
                self.job(job, s, &now);
            }
            s.phase = 0;
            s.sum = [S::ZERO; JOINTS];
        }
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
        s.momentum.0.reopen();
        s.ticks = s.ticks.saturating_add(missed);
    }
}
