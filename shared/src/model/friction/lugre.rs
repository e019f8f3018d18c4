//! LuGre: the bristles of a surface as one spring of deflection z that yields as it is dragged along.
//!
//! ```text
//! ż = ω − |ω|·z/g(ω)       g = Fn·(μd + (μs − μd)·e^(−(ω/vs)²))/σ0
//! f = σ0·z + σ1·e^(−(ω·fade)²)·ż + μv·ω
//! ```
//!
//! Over a turn Δθ at constant velocity, with s = sgn Δθ: z⁺ = s·g + (z − s·g)·e^(−|Δθ|/g), whatever the time it took.
//!
//! Units: z \[rad\], σ0 \[N·m/rad\], σ1, μv \[N·m·s\], μd, μs \[m\], vs [rad/s], fade [s/rad].

use super::{Law, Step, stribeck};
use crate::number::scalar::Scalar;
use crate::number::words::{Path, Put, Words};

/// The law of one bristle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LuGre<S> {
    /// Stiffness σ0 \[N·m/rad\], > 0.
    pub stiffness: S,
    /// Damping of the bristle σ1 \[N·m·s\].
    pub damping: S,
    /// Its damping fades as e^(−(ω·fade)²) [s/rad]; 0: it does not.
    pub fade: S,
    /// Coulomb coefficient times radius, μd \[m\].
    pub mu_d: S,
    /// Static coefficient times radius, μs \[m\].
    pub mu_s: S,
    /// Stribeck velocity vs [rad/s].
    pub vs: S,
    /// Viscous coefficient μv \[N·m·s\].
    pub mu_v: S,
}

/// Deflection z \[rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bristle<S>(pub S);

impl<S: Words> Words for Bristle<S> {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        self.0.save(put);
    }
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        Bristle(S::load(get))
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        S::names(path, visit);
    }
}

/// A joint without load has bristles that give way at once; no division by zero.
const LEAST_YIELD: f64 = 1e-12;

impl<S: Scalar> LuGre<S> {
    /// Deflection at which the bristle yields, g(ω) \[rad\].
    #[inline(always)]
    fn yields(&self, w: S, fn_: S) -> S {
        let most = fn_ * stribeck(self.mu_d, self.mu_s, self.vs, w);
        most.max(S::lit(LEAST_YIELD)) / self.stiffness
    }
}

impl<S: Scalar + Words> Law<S> for LuGre<S> {
    type Memory = Bristle<S>;

    fn relaxed(&self) -> Bristle<S> {
        Bristle(S::ZERO)
    }

    #[inline(always)]
    fn advance(&self, bristle: &Bristle<S>, step: &Step<S>) -> Bristle<S> {
        let g = self.yields(step.w, step.fn_);
        let end = step.turn.sign() * g;
        Bristle(end + (bristle.0 - end) * (-(step.turn.abs() / g)).exp())
    }

    #[inline(always)]
    fn torque(&self, bristle: &Bristle<S>, w: S, fn_: S) -> S {
        let z = bristle.0;
        let rate = w - w.abs() * z / self.yields(w, fn_);
        let fade = w * self.fade;
        self.stiffness * z + self.damping * (-(fade * fade)).exp() * rate + self.mu_v * w
    }
}
