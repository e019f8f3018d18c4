//! Whether the model explains the data: two tests that need no truth.
//!
//! *Colour.* A filter whose model is right leaves white innovations. With u = ν/√S per cycle in which the joint moves,
//! C = ⟨(∑u)²⟩/⟨∑u²⟩ over windows of 0.3 s: 1 for white ones, whatever their size (R is inflated, so ν²/S alone says nothing).
//!
//! *Drift* (Hausman). An estimate that was right when its variance was P_k can later move by √(P_k − P) only. D is the largest such
//! ratio over snapshots at 4, 7, 11 and 16 s of stage C, per joint, where P has shrunk enough to tell. σ is multiplied by D where it
//! exceeds 1.

use super::{Counters, Ekf, Estimate, ORDER, PARAMETERS, RIG_STATES, STAGE_JOINT, State, place};
use crate::JOINTS;
use crate::impl_words;
use crate::number::scalar::Scalar;
use crate::number::verdict::Verdict;

/// Length of a window of the colour test, and the part of stage C before it \[s\].
pub(super) const WINDOW_S: f32 = 0.3;
pub(super) const SETTLE_S: f32 = 2.0;
/// When the estimates are remembered, after the start of stage C \[s\].
pub(super) const SNAPSHOTS: usize = 4;
pub(super) const SNAPSHOTS_S: [f32; SNAPSHOTS] = [4.0, 7.0, 11.0, 16.0];
/// Friction parameters whose drift is watched: μd and μv of both joints.
const WATCHED: usize = 4;
/// A snapshot counts once the variance has lost this part of itself.
const SHRUNK: f64 = 0.2;
/// Windows before a verdict, and from where on the colour's limit holds as configured; with fewer it is wider by the root.
const FEWEST_WINDOWS: u32 = 8;
const MANY_WINDOWS: u32 = 64;
/// A drift beyond this makes the verdict "inflated".
const INFLATED: f64 = 2.0;

/// Sums of the colour test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Colour<S> {
    /// ∑u and ∑u² of the running window; ∑(∑u)² and ∑∑u² of the closed ones.
    sum: [S; JOINTS],
    square: [S; JOINTS],
    sums2: [S; JOINTS],
    squares: [S; JOINTS],
    /// Cycles in the running window, closed windows.
    running: u32,
    windows: u32,
}
impl_words!(Colour<S> { sum, square, sums2, squares, running, windows });

impl<S: Scalar> Colour<S> {
    pub const NEW: Self = Colour {
        sum: [S::ZERO; JOINTS],
        square: [S::ZERO; JOINTS],
        sums2: [S::ZERO; JOINTS],
        squares: [S::ZERO; JOINTS],
        running: 0,
        windows: 0,
    };
}

/// Friction and its variances as they were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drift<S> {
    p: [[S; WATCHED]; SNAPSHOTS],
    variance: [[S; WATCHED]; SNAPSHOTS],
    taken: u8,
}
impl_words!(Drift<S> { p, variance, taken });

impl<S: Scalar> Drift<S> {
    pub const NEW: Self = Drift {
        p: [[S::ZERO; WATCHED]; SNAPSHOTS],
        variance: [[S::ZERO; WATCHED]; SNAPSHOTS],
        taken: 0,
    };
}

impl<S: Scalar> Ekf<S> {
    #[inline(always)]
    fn settled(&self, s: &State<S>) -> bool {
        s.stage == STAGE_JOINT && s.joint_ticks >= self.settle_ticks
    }

    /// An innovation `e` \[rad\] of variance `variance` of a moving joint that was accepted.
    #[inline(always)]
    pub(super) fn watch(&self, s: &mut State<S>, j: usize, e: S, variance: S) {
        if self.settled(s) {
            let u2 = e * e / variance;
            let u = u2.sqrt() * e.sign();
            s.colour.sum[j] += u;
            s.colour.square[j] += u2;
        }
    }

    /// The innovations of a cycle with motion have been watched; snapshots when they are due.
    #[inline(always)]
    pub(super) fn count(&self, s: &mut State<S>) {
        if !self.settled(s) {
            return;
        }
        let c = &mut s.colour;
        c.running += 1;
        if c.running >= self.colour_cycles {
            c.running = 0;
            c.windows = c.windows.saturating_add(1);
            for j in 0..JOINTS {
                c.sums2[j] += c.sum[j].square();
                c.squares[j] += c.square[j];
                c.sum[j] = S::ZERO;
                c.square[j] = S::ZERO;
            }
        }
        let due = self.drift_ticks.get(usize::from(s.drift.0.taken));
        if due.is_some_and(|due| s.joint_ticks >= *due) {
            self.remember(s);
        }
    }

    #[cold]
    #[inline(never)]
    fn remember(&self, s: &mut State<S>) {
        let k = usize::from(s.drift.0.taken);
        if let (Some(p), Some(variance)) = (s.drift.0.p.get_mut(k), s.drift.0.variance.get_mut(k)) {
            *p = core::array::from_fn(|a| s.p[a]);
            *variance = core::array::from_fn(|a| s.cov.at(place(a), place(a)));
        }
        s.drift.0.taken += 1;
    }

    /// Colour of the innovations: the worse joint; 0 before the first window.
    fn colour(&self, s: &State<S>) -> S {
        let c = &s.colour;
        if c.windows == 0 {
            return S::ZERO;
        }
        let of = |j: usize| c.sums2[j] / c.squares[j].max(S::lit(1e-30));
        of(0).max(of(1) * self.moves[1])
    }

    /// Squared drift of each joint.
    fn drift2(&self, s: &State<S>) -> [S; JOINTS] {
        let mut worst = [S::ZERO; JOINTS];
        let snapshots = s.drift.0.p.iter().zip(&s.drift.0.variance);
        for (p, variance) in snapshots.take(usize::from(s.drift.0.taken)) {
            let moved = |a: usize| {
                let shrunk = variance[a] - s.cov.at(place(a), place(a));
                if shrunk > S::lit(SHRUNK) * variance[a] {
                    (p[a] - s.p[a]).square() / shrunk
                } else {
                    S::ZERO
                }
            };
            worst[0] = worst[0].max(moved(0)).max(moved(1));
            worst[1] = worst[1].max(moved(2)).max(moved(3));
        }
        worst
    }

    fn verdict(&self, s: &State<S>, colour: S, drift2: [S; JOINTS]) -> Verdict {
        let windows = s.colour.windows;
        if s.stage != STAGE_JOINT || windows < FEWEST_WINDOWS {
            return Verdict::NotConverged;
        }
        let few = S::from_f32(MANY_WINDOWS as f32 / windows.min(MANY_WINDOWS) as f32).sqrt();
        let limit = S::ONE + (self.colour_limit - S::ONE) * few;
        let drift2 = drift2[0].max(drift2[1]);
        if colour > limit || drift2 > self.drift_limit.square() {
            Verdict::NotExplained
        } else if drift2 > S::lit(INFLATED * INFLATED) {
            Verdict::Inflated
        } else {
            Verdict::Explained
        }
    }

    /// Variance of friction parameter `k` (filter's order) as the record has it: the filter's, times the drift where that exceeds 1.
    #[inline(always)]
    fn record2(&self, s: &State<S>, k: usize, drift2: [S; JOINTS]) -> S {
        let joint = if k < WATCHED { k / 2 } else { k - WATCHED };
        let inflation = if joint == 0 { drift2[0] } else { drift2[1] };
        s.cov.at(place(k), place(k)).max(S::ZERO) * inflation.max(S::ONE)
    }

    /// What the state says, in the order and units of [`Estimate`].
    #[inline(never)]
    pub fn estimate(&self, s: &State<S>) -> Estimate<S> {
        let drift2 = self.drift2(s);
        let colour = self.colour(s);
        let verdict = self.verdict(s, colour, drift2);
        // Written out: constant indices need no bounds check, and the tick must not have one.
        let p = [
            s.p[ORDER[0]],
            s.p[ORDER[1]],
            s.p[ORDER[2]],
            s.p[ORDER[3]],
            s.p[ORDER[4]],
            s.p[ORDER[5]],
        ];
        let mut sigma = [S::ZERO; PARAMETERS];
        let mut identifiable = 0u8;
        let half_width = S::lit(1.96);
        let values = p.iter().zip(&self.scale2).zip(&mut sigma);
        for ((i, &k), ((p, scale2), sigma)) in (0..).zip(&ORDER).zip(values) {
            let record2 = self.record2(s, k, drift2);
            if record2 > S::ZERO {
                *sigma = (record2 + *scale2 * p.square()).sqrt();
                let shown = half_width * *sigma <= self.identifiable * *p;
                identifiable |= u8::from(shown && verdict.trusts()) << i;
            }
        }
        Estimate {
            q: s.q,
            w: s.w,
            p,
            sigma,
            rig: s.z,
            verdict,
            colour,
            drift: drift2.map(S::sqrt),
            stage: s.stage,
            identifiable,
        }
    }

    /// Standard deviations of the friction as the record has them, without the rig's tolerances; order of [`Estimate`].
    pub fn record_sigma(&self, s: &State<S>) -> [S; PARAMETERS] {
        let drift2 = self.drift2(s);
        ORDER.map(|k| self.record2(s, k, drift2).sqrt())
    }

    /// The same from an [`Estimate`]'s values, for whoever has the stream but not the state.
    pub fn without_tolerance(&self, p: [S; PARAMETERS], sigma: [S; PARAMETERS]) -> [S; PARAMETERS] {
        core::array::from_fn(|i| {
            let tolerance2 = self.scale2[i] * p[i].square();
            (sigma[i].square() - tolerance2).max(S::ZERO).sqrt()
        })
    }

    /// Standard deviations of the rig's errors.
    pub fn rig_sigma(&self, s: &State<S>) -> [S; RIG_STATES] {
        core::array::from_fn(|i| {
            let at = super::covariance::RIG + i;
            s.cov.at(at, at).max(S::ZERO).sqrt()
        })
    }

    /// What went wrong, since reset.
    pub fn counters(&self, s: &State<S>) -> Counters {
        s.counters
    }
}
