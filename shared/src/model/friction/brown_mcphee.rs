//! Joint friction: Brown–McPhee (with its square), viscous, quadratic drag, direction asymmetry.
//!
//! With r = ω/vt and T = tanh(4·r):
//!
//! ```text
//! f(ω) = Fn·(μd·T + Δd·T²)                    Coulomb, Δd = difference between the directions
//!      + Fn·(μs − μd)·r/(r²/4 + 3/4)²         Stribeck; the square is missing in paper 000 eq. (5)
//!      + (μv + Δv·T)·ω·tanh(4·Fn/Fnt)         viscous, off while the joint is unloaded
//!      + d·ω·|ω|                              air drag
//! ```
//!
//! f opposes the motion: H·q̈ + B + G = −f + u. Units: μd, μs, Δd \[m\], μv, Δv \[N·m·s\], vt \[rad/s\],
//! Fnt and Fn \[N\], d \[N·m·s²\], f \[N·m\].

use serde::{Deserialize, Serialize};

use super::{Law, Step, saturating_tanh};
use crate::number::scalar::Scalar;

/// Friction of one joint. In files the last three are 0 unless they are named.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Friction<S> {
    /// Coulomb coefficient times radius, μd \[m\].
    pub mu_d: S,
    /// Static coefficient times radius, μs \[m\].
    pub mu_s: S,
    /// Viscous coefficient μv \[N·m·s\].
    pub mu_v: S,
    /// Transition velocity vt \[rad/s\]: the peak of the Stribeck curve is at ω = vt.
    pub vt: S,
    /// Transition force Fnt \[N\] of the viscous term.
    pub fnt: S,
    /// Quadratic drag d \[N·m·s²\].
    #[serde(default)]
    pub drag: S,
    /// Direction asymmetry of the Coulomb term, Δd \[m\]: μd ± Δd for ω ≷ 0.
    #[serde(default)]
    pub delta_d: S,
    /// Direction asymmetry of the viscous term, Δv \[N·m·s\].
    #[serde(default)]
    pub delta_v: S,
}

impl<S: Scalar> Friction<S> {
    /// No friction at all.
    pub const NONE: Self = Friction {
        mu_d: S::ZERO,
        mu_s: S::ZERO,
        mu_v: S::ZERO,
        vt: S::ONE,
        fnt: S::ONE,
        drag: S::ZERO,
        delta_d: S::ZERO,
        delta_v: S::ZERO,
    };

    /// The five parameters of paper 000, in its order.
    pub fn brown_mcphee([mu_d, mu_s, mu_v, vt, fnt]: [S; 5]) -> Self {
        Friction {
            mu_d,
            mu_s,
            mu_v,
            vt,
            fnt,
            ..Self::NONE
        }
    }

    /// f(ω) \[N·m\] at velocity `w` \[rad/s\] and normal force `fn_` \[N\]; opposes the motion.
    #[inline(always)]
    pub fn torque(&self, w: S, fn_: S) -> S {
        let r = w / self.vt;
        let t = saturating_tanh(S::lit(4.0) * r);
        let peak = S::lit(0.25) * r * r + S::lit(0.75);
        let loaded = saturating_tanh(S::lit(4.0) * fn_ / self.fnt);
        fn_ * (self.mu_d + self.delta_d * t) * t
            + fn_ * (self.mu_s - self.mu_d) * r / (peak * peak)
            + (self.mu_v + self.delta_v * t) * w * loaded
            + self.drag * w * w.abs()
    }

    /// Largest slope ∂f/∂ω \[N·m·s\] that the law can reach near ω = 0 at normal force `fn_`.
    ///
    /// The Coulomb term has slope 4·Fn·μd/vt at 0, the Stribeck term Fn·(μs − μd)/vt·16/9.
    pub fn slope_at_zero(&self, fn_: S) -> S {
        let coulomb = S::lit(4.0) * fn_ * (self.mu_d.abs() + self.delta_d.abs()) / self.vt;
        let stribeck = S::lit(16.0 / 9.0) * fn_ * (self.mu_s - self.mu_d).abs() / self.vt;
        coulomb + stribeck + self.mu_v.abs() + self.delta_v.abs()
    }
}

/// The five parameters of paper 000 alone, without drag and asymmetry: the bits of [`Friction`] with those at zero, for fewer operations.
///
/// For parameters > 0; the transition velocity is an argument, because a step may have to raise it.
#[derive(Clone, Copy, Debug)]
pub struct Plain<S> {
    pub mu_d: S,
    /// μs − μd \[m\].
    pub rise: S,
    pub mu_v: S,
    pub fnt: S,
}

impl<S: Scalar> Plain<S> {
    /// f(ω) \[N·m\] at velocity `w` \[rad/s\], transition velocity `vt` \[rad/s\] and normal force `fn_` \[N\].
    #[inline(always)]
    pub fn torque(&self, vt: S, w: S, fn_: S) -> S {
        let r = w / vt;
        let t = saturating_tanh(S::lit(4.0) * r);
        let peak = S::lit(0.25) * r * r + S::lit(0.75);
        let load = S::lit(4.0) * fn_;
        // Beyond 20 the tanh is 1 to the last bit; 21 leaves room for rounding. Saves a division at nearly every load.
        let loaded = if load > S::lit(21.0) * self.fnt {
            S::ONE
        } else {
            saturating_tanh(load / self.fnt)
        };
        fn_ * self.mu_d * t + fn_ * self.rise * r / (peak * peak) + self.mu_v * w * loaded
    }
}

impl<S: Scalar> Law<S> for Friction<S> {
    type Memory = ();

    #[inline(always)]
    fn relaxed(&self) {}

    #[inline(always)]
    fn advance(&self, _: &(), _: &Step<S>) {}

    #[inline(always)]
    fn torque(&self, _: &(), w: S, fn_: S) -> S {
        Friction::torque(self, w, fn_)
    }
}
