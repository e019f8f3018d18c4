//! From stage A to stage C, and the doubt that follows.
//!
//! The momentum balance gives friction and its covariance; it believes the rig file, so its friction is taken for `start_spread` more
//! uncertain. The rig's states enter with the variances of the tolerances.

use super::covariance::{MOTION, RIG};
use super::mean::Now;
use super::{DRAG, Ekf, MU_D, MU_V, RIG_STATES, STAGE_JOINT, State, place};
use crate::number::scalar::Scalar;

impl<S: Scalar> Ekf<S> {
    /// Stage A's tick of the momentum balance; starts stage C when its estimate is good enough.
    #[inline(always)]
    pub(super) fn balance(&self, s: &mut State<S>, now: &Now<S>) {
        // In the tick after a window was closed, which has enough to do.
        if s.momentum.0.is_fresh() && s.ticks > self.start && self.hand_over(s) {
            return;
        }
        s.momentum.0.add(self, now.w, &now.terms, now.tau, s.ticks);
    }

    /// False: the balance is not good enough yet.
    #[cold]
    #[inline(never)]
    fn hand_over(&self, s: &mut State<S>) -> bool {
        let solved = [s.momentum.0.solve(self, 0), s.momentum.0.solve(self, 1)];
        let known = solved.iter().zip(&self.moves).all(|(x, m)| {
            *m <= S::ZERO || x.covariance[0][0] <= self.start_sigma2 * x.value[0].square()
        });
        if !known && s.ticks < self.start_max {
            return false;
        }
        for (j, x) in solved.iter().enumerate() {
            if self.moves[j] <= S::ZERO {
                continue;
            }
            let index = [MU_D[j], MU_V[j], DRAG[j]];
            let active = if self.drag { 3 } else { 2 };
            for (a, &ka) in index.iter().enumerate().take(active) {
                let p = x.value[a].max(S::ZERO);
                s.p[ka] = p;
                for (b, &kb) in index.iter().enumerate().take(active) {
                    s.cov.set(place(ka), place(kb), x.covariance[a][b]);
                }
                let spread = x.covariance[a][a] + self.start_spread2 * p.square();
                s.cov.set(place(ka), place(ka), spread);
                s.first.0[place(ka) - MOTION] = spread;
            }
        }
        self.enter_rig(s);
        s.stage = STAGE_JOINT;
        true
    }

    /// The rig's states with the variances of the tolerances.
    pub(super) fn enter_rig(&self, s: &mut State<S>) {
        for i in 0..RIG_STATES {
            s.cov.set(RIG + i, RIG + i, self.rig2[i]);
            s.first.0[RIG + i - MOTION] = self.rig2[i];
        }
    }

    /// Early corrections were linearised about a poor estimate and claim too much: at 1, 2 and 4 times `doubt_s` after the start of stage C
    /// friction and rig are widened again, at most back to their start.
    /// One state per cycle, so that no tick has to widen them all.
    #[inline(always)]
    pub(super) fn doubt(&self, s: &mut State<S>) {
        let (due, cycle) = (self.doubt_ticks, u32::from(self.cycle));
        let all = cycle * s.first.0.len() as u32;
        for due in [due, due * 2, due * 4] {
            let since = s.joint_ticks.wrapping_sub(due);
            if since < all {
                self.widen(s, since / cycle.max(1));
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn widen(&self, s: &mut State<S>, k: u32) {
        let k = k as usize;
        if let Some(first) = s.first.0.get(k) {
            let known = s.cov.at(MOTION + k, MOTION + k).max(S::lit(1e-30));
            let grow = (*first / known).sqrt().min(self.doubt).max(S::ONE);
            s.cov.scale(MOTION + k, grow);
        }
    }
}
