//! The measurement: the cycle's mean innovation of each joint, seen at θ − age·ω with variance R/M.
//!
//! Gate. An innovation beyond [`super::Config::gate`] of its standard deviations is left out and counted: a disturbed count must not enter
//! with the weight of a good one. Left out too often in a row, or beyond [`super::Config::lost`], it is a slip or a push: (θ, ω) start
//! again at the measured angles, friction and rig are kept, and the zero of that joint is doubted by the size of the jump.
//!
//! Considered (Schmidt: gain zero). A joint's friction below [`super::Config::still_speed`]; the rig while both joints are.

use super::covariance::{Gain, RIG, STATES};
use super::{DRAG, Ekf, MU_D, MU_V, PARAMETERS, State, place};
use crate::JOINTS;
use crate::number::scalar::Scalar;

/// An innovation left out for this long makes the filter resume \[s\].
pub(super) const PATIENCE_S: f32 = 0.005;
/// What a parameter made positive moves along: friction and rig.
const MOVED: usize = PARAMETERS + super::RIG_STATES;

/// Bits of [`State::held`]: friction of joint 0, of joint 1, rig; measurement of joint 0, of joint 1 accepted.
const STILL: [u8; JOINTS] = [1, 2];
const RIG_HELD: u8 = 4;
const ACCEPTED: [u8; JOINTS] = [8, 16];

impl<S: Scalar> Ekf<S> {
    /// g, s and gain of joint `j` as the covariance is now.
    #[inline(never)]
    fn gain(&self, s: &State<S>, j: usize) -> Gain<S> {
        self.weighed(s, j, s.cov.seen(j, self.age))
    }

    /// Variance and gain of joint `j` for g = P·hᵀ.
    #[inline(always)]
    fn weighed(&self, s: &State<S>, j: usize, g: impl Fn(usize) -> S) -> Gain<S> {
        let variance = if j == 0 {
            g(0) - self.age * g(2) + s.r[0]
        } else {
            g(1) - self.age * g(3) + s.r[1]
        };
        let scale = S::ONE / variance;
        // Written in place: nothing is cleared or copied.
        let mut gk = core::array::from_fn(|a| {
            let g = g(a);
            [g, g * scale]
        });
        let mut hold = |a: usize| gk[a][1] = S::ZERO;
        for m in 0..JOINTS {
            if s.held & STILL[m] != 0 {
                hold(place(MU_D[m]));
                hold(place(MU_V[m]));
                hold(place(DRAG[m]));
            }
        }
        if s.held & RIG_HELD != 0 {
            (0..super::RIG_STATES).for_each(|i| hold(RIG + i));
        }
        Gain { gk, s: variance }
    }

    /// Covariance after the measurement of joint `j`: rows `from`..`to` of the parameters.
    #[inline(never)]
    pub(super) fn narrow_parameters(&self, s: &mut State<S>, j: usize, from: usize, to: usize) {
        if s.held & ACCEPTED[j] != 0 && from < to {
            let gain = self.gain(s, j);
            s.cov.update_parameters(&gain, from, to);
        }
    }

    /// The same: rows and columns of (θ, ω), last.
    #[inline(never)]
    pub(super) fn narrow_motion(&self, s: &mut State<S>, j: usize, n: usize) {
        if s.held & ACCEPTED[j] != 0 {
            let gain = self.gain(s, j);
            s.cov.update_motion(&gain, n);
        }
    }

    /// Correct the mean by the cycle that has ended. False: the state is not finite.
    #[inline(never)]
    pub(super) fn correct(&self, s: &mut State<S>) -> bool {
        self.doubt(s);
        let still = [s.w[0].abs() < self.still, s.w[1].abs() < self.still];
        s.held = if still[0] { STILL[0] } else { 0 } | if still[1] { STILL[1] } else { 0 };
        // An inert second joint is always still.
        if still[0] && still[1] {
            s.held |= RIG_HELD;
        }
        let mut change = [S::ZERO; STATES];
        let mut lost = false;
        let mut first = None;
        for j in 0..JOINTS {
            let mean = s.sum[j] * self.per_cycle;
            s.sum[j] = S::ZERO;
            if self.moves[j] <= S::ZERO {
                continue;
            }
            s.r[j] = self.noise2(s, j) * self.per_cycle;
            let gain = match &first {
                None => self.gain(s, j),
                Some(Gain { gk, s: s0 }) => {
                    // As after the first joint's update, which the covariance gets later.
                    let [[g1, k1], [g3, k3]] = [gk[1], gk[3]];
                    let (hg, hk) = (g1 - self.age * g3, k1 - self.age * k3);
                    let by_k = hg - *s0 * hk;
                    let g = s.cov.seen(j, self.age);
                    self.weighed(s, j, |a| g(a) - gk[a][1] * by_k - gk[a][0] * hk)
                }
            };
            // The second joint's innovation was taken before the first one's correction.
            let e = mean - (change[j] - self.age * change[2 + j]);
            lost |= mean.abs() > self.lost;
            if e * e > self.gate2 * gain.s {
                s.counters.gated = s.counters.gated.wrapping_add(1);
                s.streak[j] = s.streak[j].saturating_add(1);
                lost |= s.streak[j] >= self.patience;
                continue;
            }
            s.streak[j] = 0;
            s.held |= ACCEPTED[j];
            if !still[j] {
                self.watch(s, j, e, gain.s);
            }
            for a in 0..STATES {
                change[a] += gain.gk[a][1] * e;
            }
            if j == 0 {
                first = Some(gain);
            }
        }
        if lost {
            self.resume_motion(s);
            return s.q.iter().all(|x| x.is_finite());
        }
        if s.held & RIG_HELD == 0 {
            self.count(s);
        }
        self.apply(s, &change);
        // Infinities and NaN survive a sum.
        let sum = s.p.iter().chain(&s.z).chain(&s.q).chain(&s.w);
        sum.fold(S::ZERO, |a, x| a + *x).is_finite() && s.cov.is_sound()
    }

    #[inline(always)]
    fn apply(&self, s: &mut State<S>, change: &[S; STATES]) {
        for j in 0..JOINTS {
            s.q[j] = s.lost[j].add(s.q[j], change[j]);
            s.w[j] = s.lost[2 + j].add(s.w[j], change[2 + j]);
            s.last[j] -= change[j];
        }
        let mut negative = false;
        for k in 0..PARAMETERS {
            s.p[k] += change[place(k)];
            negative |= s.p[k] < S::ZERO;
        }
        for i in 0..super::RIG_STATES {
            s.z[i] += change[RIG + i];
        }
        if negative {
            self.keep_positive(s);
        }
    }

    /// A negative parameter is moved to zero along the covariance, and friction and rig with it. Where that makes another one
    /// negative, that one moves along what the covariance is once the first is known to be zero: none is moved twice.
    #[cold]
    #[inline(never)]
    fn keep_positive(&self, s: &mut State<S>) {
        // Rows of the covariance (friction, then rig), each given those before it.
        let mut rows = [[S::ZERO; MOVED]; PARAMETERS];
        let mut known = [S::ZERO; PARAMETERS];
        let mut fixed = [false; PARAMETERS];
        for n in 0..PARAMETERS {
            let Some(a) = (0..PARAMETERS).find(|a| s.p[*a] < S::ZERO) else {
                return;
            };
            let full = s.cov.row(place(a));
            let mut row = [S::ZERO; MOVED];
            for b in 0..PARAMETERS {
                row[b] = full[place(b)];
            }
            let rig = row.iter_mut().skip(PARAMETERS);
            for (to, from) in rig.zip(full.iter().skip(RIG)) {
                *to = *from;
            }
            for (before, known) in rows.iter().zip(&known).take(n) {
                let part = before[a] * *known;
                for (x, y) in row.iter_mut().zip(before) {
                    *x -= part * *y;
                }
            }
            let inverse = S::ONE / row[a].max(S::lit(1e-30));
            let scale = -s.p[a] * inverse;
            for b in 0..PARAMETERS {
                // Rounding must not undo what an earlier step has set to zero.
                if !fixed[b] {
                    s.p[b] += row[b] * scale;
                }
            }
            for i in 0..super::RIG_STATES {
                s.z[i] += row[PARAMETERS + i] * scale;
            }
            s.p[a] = S::ZERO;
            fixed[a] = true;
            rows[n] = row;
            known[n] = inverse;
        }
        s.p = s.p.map(|p| p.max(S::ZERO));
    }
}
