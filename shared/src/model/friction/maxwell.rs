//! Maxwell slip: M springs in parallel, each slipping at its own deflection; paper 001, eqs. (4) and (5) with n = 0.
//!
//! ```text
//! δi⁺ = clamp(δi + Δθ, ±Δi)               f = Fn·∑ ki·δi + μv·ω
//! ```
//!
//! Presliding with nonlocal memory: after a reversal the force follows a curve of its own and closes the loop where it was left. All
//! springs slipping it is Coulomb friction of Fn·∑ ki·Δi. Exact in every step in which the joint does not turn round.
//!
//! Units: Δi, δi \[rad\], ki \[m/rad\], μv \[N·m·s\].

use super::{Law, Step};
use crate::number::scalar::Scalar;
use crate::number::words::{Path, Put, Words};

/// The bank of springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maxwell<S, const M: usize> {
    /// Deflection at which each slips, Δi \[rad\], > 0.
    pub limit: [S; M],
    /// Stiffness per normal force, ki \[m/rad\].
    pub stiffness: [S; M],
    /// Viscous coefficient μv \[N·m·s\].
    pub mu_v: S,
}

/// Deflections δi \[rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Springs<S, const M: usize>(pub [S; M]);

impl<S: Words, const M: usize> Words for Springs<S, M> {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        self.0.save(put);
    }
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        Springs(Words::load(get))
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        <[S; M]>::names(path, visit);
    }
}

impl<S: Scalar, const M: usize> Maxwell<S, M> {
    /// Equal shares of a Coulomb coefficient `mu_d` \[m\], slipping at `limit` \[rad\].
    pub fn equal_shares(mu_d: S, limit: [S; M], mu_v: S) -> Self {
        Maxwell {
            limit,
            stiffness: limit.map(|l| mu_d / (S::lit(M as f64) * l)),
            mu_v,
        }
    }

    /// The Coulomb coefficient with all springs slipping, ∑ ki·Δi \[m\].
    pub fn mu_d(&self) -> S {
        let mut sum = S::ZERO;
        for (k, l) in self.stiffness.iter().zip(&self.limit) {
            sum += *k * *l;
        }
        sum
    }

    /// Deflections after a turn \[rad\].
    #[inline(always)]
    pub fn deflected(&self, springs: &Springs<S, M>, turn: S) -> Springs<S, M> {
        let mut out = *springs;
        for (d, l) in out.0.iter_mut().zip(&self.limit) {
            *d = (*d + turn).max(-*l).min(*l);
        }
        out
    }
}

impl<S: Scalar + Words, const M: usize> Law<S> for Maxwell<S, M> {
    type Memory = Springs<S, M>;

    fn relaxed(&self) -> Springs<S, M> {
        Springs([S::ZERO; M])
    }

    #[inline(always)]
    fn advance(&self, springs: &Springs<S, M>, step: &Step<S>) -> Springs<S, M> {
        self.deflected(springs, step.turn)
    }

    #[inline(always)]
    fn torque(&self, springs: &Springs<S, M>, w: S, fn_: S) -> S {
        let mut sum = S::ZERO;
        for (k, d) in self.stiffness.iter().zip(&springs.0) {
            sum += *k * *d;
        }
        fn_ * sum + self.mu_v * w
    }
}
