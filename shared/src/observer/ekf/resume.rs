//! A filter that starts in stage C with friction already estimated: the next pass over the same record.

use super::{DRAG, Ekf, MU_D, MU_V, PARAMETERS, STAGE_JOINT, State};
use crate::plant::JOINTS;
use crate::scalar::Scalar;

impl<S: Scalar> Ekf<S> {
    /// At the measured angles `q` [rad] and about the velocities `w` [rad/s], with parameters `p` and their standard
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
                    s.cov.set(4 + k, 4 + k, variance);
                    s.first[k] = variance;
                }
            }
        }
        s.stage = STAGE_JOINT;
        s
    }
}
