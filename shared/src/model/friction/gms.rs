//! Generalised Maxwell slip (Lampaert, Al-Bender, Swevers): springs in parallel whose slip follows the Stribeck curve with a lag.
//!
//! ```text
//! sticks:  dFi = ki·dθ              until |Fi| = αi·s(ω)
//! slips:   dFi/dt = sgn ω·C·(αi − |Fi|/s(ω))    until the joint turns round
//! s = Fn·(μd + (μs − μd)·e^(−(ω/vs)²))          f = ∑ Fi + μv·ω
//! ```
//!
//! Over a step at constant velocity both are exact: the spring loads along a line up to its limit, and what is left of the time it
//! relaxes to ±αi·s with the time constant s/C.
//!
//! Units: Fi \[N·m\], ki \[N·m/rad\], C \[N·m/s\], μd, μs \[m\], vs [rad/s], μv \[N·m·s\].

use super::{Law, Step, stribeck};
use crate::number::scalar::Scalar;
use crate::number::words::{Path, Put, Words};

/// The bank of springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gms<S, const M: usize> {
    /// ki \[N·m/rad\], > 0.
    pub stiffness: [S; M],
    /// Share of the friction that each carries, αi; they sum to 1.
    pub share: [S; M],
    /// Attraction C \[N·m/s\]: how fast a slipping spring follows the Stribeck curve.
    pub attraction: S,
    pub mu_d: S,
    pub mu_s: S,
    pub vs: S,
    pub mu_v: S,
}

/// Forces of the springs \[N·m\], and the direction in which each slips: ±1, or 0 while it sticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slips<S, const M: usize> {
    pub force: [S; M],
    pub direction: [i32; M],
}

impl<S: Words, const M: usize> Words for Slips<S, M> {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        self.force.save(put);
        self.direction.save(put);
    }
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        let force = Words::load(get);
        Slips {
            force,
            direction: Words::load(get),
        }
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        <[S; M]>::names(&Path::Field(path, "force"), visit);
        <[i32; M]>::names(&Path::Field(path, "direction"), visit);
    }
}

/// A joint without load slips at no force; no division by zero.
const LEAST_FORCE: f64 = 1e-12;

impl<S: Scalar + Words, const M: usize> Law<S> for Gms<S, M> {
    type Memory = Slips<S, M>;

    fn relaxed(&self) -> Slips<S, M> {
        Slips {
            force: [S::ZERO; M],
            direction: [0; M],
        }
    }

    #[inline(always)]
    fn advance(&self, slips: &Slips<S, M>, step: &Step<S>) -> Slips<S, M> {
        let mut out = *slips;
        let (toward, sign) = match step.turn {
            t if t > S::ZERO => (1, S::ONE),
            t if t < S::ZERO => (-1, -S::ONE),
            // At rest a slipping spring neither loads nor relaxes: its slip has no direction.
            _ => return out,
        };
        let curve = step.fn_ * stribeck(self.mu_d, self.mu_s, self.vs, step.w);
        let curve = curve.max(S::lit(LEAST_FORCE));
        for i in 0..M {
            let limit = self.share[i] * curve;
            let force = out.force[i];
            // Part of the step that is left to slip.
            let mut left = S::ONE;
            let mut along = sign * force;
            if out.direction[i] != toward {
                let load = self.stiffness[i] * step.turn.abs();
                if along + load < limit {
                    out.force[i] = force + self.stiffness[i] * step.turn;
                    out.direction[i] = 0;
                    continue;
                }
                // Already beyond the limit, because the curve fell, it slips from where it is.
                left = if along < limit {
                    S::ONE - (limit - along) / load
                } else {
                    S::ONE
                };
                along = along.max(limit);
                out.direction[i] = toward;
            }
            let decay = (-(self.attraction * left * step.dt_s / curve)).exp();
            out.force[i] = sign * (limit + (along - limit) * decay);
        }
        out
    }

    #[inline(always)]
    fn torque(&self, slips: &Slips<S, M>, w: S, _fn: S) -> S {
        let mut sum = self.mu_v * w;
        for f in &slips.force {
            sum += *f;
        }
        sum
    }
}
