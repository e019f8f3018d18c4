//! A filter that goes on with what it knows of the friction: the next pass over the same record, or the same run after a jump.

use super::covariance::{MOTION, RIG};
use super::{DRAG, Ekf, MU_D, MU_V, PARAMETERS, STAGE_JOINT, State, place};
use crate::JOINTS;
use crate::number::scalar::Scalar;

/// Variance of the velocity after a jump \[(rad/s)²\]: a push may have been anything, and what was known may be nonsense.
const JUMP_SPEED2: f64 = 100.0;

impl<S: Scalar> Ekf<S> {
    /// At the measured angles `q` \[rad\] and about the velocities `w` \[rad/s\], in stage C with parameters `p` and their standard
    /// deviations `sigma` in the order and units of [`super::Estimate`]. Parameters that are not estimated keep σ = 0.
    pub fn resume(
        &self,
        q: [S; JOINTS],
        w: [S; JOINTS],
        p: [S; PARAMETERS],
        sigma: [S; PARAMETERS],
    ) -> State<S> {
        let mut s = self.start(q);
        s.w = w;
        for j in 0..JOINTS {
            for (i, k) in [MU_D[j], MU_V[j], DRAG[j]].into_iter().enumerate() {
                let estimated = self.moves[j] > S::ZERO && (self.drag || k != DRAG[j]);
                s.p[k] = p[3 * j + i];
                if estimated {
                    let variance = sigma[3 * j + i].square();
                    s.cov.set(place(k), place(k), variance);
                    s.first.0[place(k) - MOTION] = variance;
                }
            }
        }
        self.enter_rig(&mut s);
        s.stage = STAGE_JOINT;
        s
    }

    /// (θ, ω) anew at the last measured angles, tied to nothing. Friction, rig and their covariance stay, but each zero is doubted by what
    /// its angle jumped: a slipped disc has another one.
    #[cold]
    #[inline(never)]
    pub(super) fn resume_motion(&self, s: &mut State<S>) {
        s.cov.release(self.motion2(S::lit(JUMP_SPEED2)));
        for j in 0..JOINTS {
            let jump = s.last[j];
            s.q[j] = s.lost[j].add(s.q[j], jump);
            s.w[j] = S::ZERO;
            s.last[j] = S::ZERO;
            s.sum[j] = S::ZERO;
            s.streak[j] = 0;
            if s.stage == STAGE_JOINT && self.rig2[j] > S::ZERO {
                let zero = RIG + j;
                s.cov.set(zero, zero, s.cov.at(zero, zero) + jump.square());
            }
        }
        s.held = 0;
        s.momentum.0.reopen();
        s.counters.resumes = s.counters.resumes.wrapping_add(1);
    }
}
