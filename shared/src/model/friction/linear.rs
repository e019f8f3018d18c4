//! The part of the law that is linear in its parameters: what an estimator can see of one joint.

use super::{Law, Step, saturating_tanh};
use crate::number::scalar::Scalar;

/// The law without Stribeck peak, Fnt and asymmetry.
///
/// ```text
/// f(ω) = μd·Fn·T + μv·ω + d·ω·|ω|,   T = tanh(4ω/vt)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear<S> {
    /// μd \[m\], μv \[N·m·s\], d \[N·m·s²\].
    pub mu_d: S,
    pub mu_v: S,
    pub drag: S,
    /// 4/vt \[s/rad\].
    pub steepness: S,
}

/// What a [`Linear`] law says at one velocity.
#[derive(Clone, Copy, Debug)]
pub struct Response<S> {
    /// f \[N·m\].
    pub torque: S,
    /// ∂f/∂ω \[N·m·s\].
    pub slope: S,
    /// ∂f/∂(μd, μv, d).
    pub regressor: [S; 3],
}

impl<S: Scalar> Linear<S> {
    /// Torque, slope and regressors at velocity `w` \[rad/s\] and normal force `fn_` \[N\].
    #[inline(always)]
    pub fn response(&self, w: S, fn_: S) -> Response<S> {
        let t = saturating_tanh(self.steepness * w);
        let coulomb = fn_ * t;
        let speed = w.abs();
        Response {
            torque: self.mu_d * coulomb + (self.mu_v + self.drag * speed) * w,
            slope: self.mu_d * fn_ * (S::ONE - t * t) * self.steepness
                + self.mu_v
                + S::lit(2.0) * self.drag * speed,
            regressor: [coulomb, w, w * speed],
        }
    }
}

impl<S: Scalar> Law<S> for Linear<S> {
    type Memory = ();

    #[inline(always)]
    fn relaxed(&self) {}

    #[inline(always)]
    fn advance(&self, _: &(), _: &Step<S>) {}

    #[inline(always)]
    fn torque(&self, _: &(), w: S, fn_: S) -> S {
        self.response(w, fn_).torque
    }
}
