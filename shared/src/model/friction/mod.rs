//! Laws of joint friction, one file each, behind one trait.
//!
//! | file | law | remembers |
//! |---|---|---|
//! | `brown_mcphee` | Coulomb, Stribeck, viscous, drag: the reference of this project | nothing |
//! | `linear` | its part that is linear in the parameters | nothing |
//! | `maxwell` | Maxwell slip: springs in parallel that slip at their limits | a deflection per spring |
//! | `lugre` | LuGre: one bristle | its deflection |
//! | `gms` | generalised Maxwell slip: springs that slip at the Stribeck curve | a force and a direction per spring |
//!
//! f opposes the motion: H·q̈ + B + G = −f + u.
//!
//! A law with memory is stiff: a bearing's springs would need steps of microseconds in RK4. [`Law::advance`] is therefore the exact
//! solution over a step at constant velocity, and stable at any step. Within a Runge–Kutta step a stage advances the memory from the
//! step's beginning to the stage's angle, asks for the torque, and throws the advanced memory away.
//!
//! Load: coefficients times normal force \[N\]. At load 1 the coefficients *are* forces; so a linear stage is described, with \[m\] in
//! place of \[rad\] and \[N\] in place of \[N·m\].

mod brown_mcphee;
mod gms;
mod linear;
mod lugre;
mod maxwell;

pub use brown_mcphee::{Friction, Plain};
pub use gms::{Gms, Slips};
pub use linear::{Linear, Response};
pub use lugre::{Bristle, LuGre};
pub use maxwell::{Maxwell, Springs};

use core::fmt::Debug;

use crate::number::scalar::Scalar;
use crate::number::words::Words;

/// A law of friction in one joint.
pub trait Law<S: Scalar> {
    /// What the joint remembers from one step to the next; `()` where the velocity says it all.
    type Memory: Words + Copy + Debug;

    /// The memory of a joint that nothing strains.
    fn relaxed(&self) -> Self::Memory;

    /// The memory after `step`: exact for a constant velocity.
    fn advance(&self, memory: &Self::Memory, step: &Step<S>) -> Self::Memory;

    /// f \[N·m\] at velocity `w` \[rad/s\] and normal force `fn_` \[N\]; opposes the motion.
    fn torque(&self, memory: &Self::Memory, w: S, fn_: S) -> S;
}

/// What a joint did.
#[derive(Clone, Copy, Debug)]
pub struct Step<S> {
    /// It turned by \[rad\],
    pub turn: S,
    /// at a velocity that stands for the whole step, the mean say [rad/s],
    pub w: S,
    /// within \[s\],
    pub dt_s: S,
    /// under a normal force of \[N\].
    pub fn_: S,
}

/// The Stribeck curve per normal force: μd + (μs − μd)·e^(−(ω/vs)²) \[m\].
#[inline(always)]
fn stribeck<S: Scalar>(mu_d: S, mu_s: S, vs: S, w: S) -> S {
    let r = w / vs;
    mu_d + (mu_s - mu_d) * (-(r * r)).exp()
}

/// tanh, without the work where it is ±1 to the last bit of an f64: most of the time in a swing.
#[inline(always)]
fn saturating_tanh<S: Scalar>(x: S) -> S {
    match x.saturated(20.0) {
        Some(one) => one,
        None => x.tanh(),
    }
}
