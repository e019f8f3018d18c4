//! Following a reference with the driven joint: feedback, and what the model says it takes.
//!
//! ```text
//! u = stiffness·(r − q) + damping·(ṙ − ω) + m·r̈ + b + fade·f(ṙ)
//! m = 1/(eᵀH⁻¹e)               inertia that the motor feels, the other joint free
//! b = −m·eᵀH⁻¹(−B − G)         what keeps r̈ = 0
//! f(ṙ) = Fn·μd·tanh(ṙ/smooth) + μv·ṙ     friction as the EKF has identified it, at the speed of the *reference*:
//!                                         never the sign of a noisy speed
//! fade = 1 − 1.96·σ/μ per parameter, at least 0: nothing is fed forward that is not known
//! ```

use serde::{Deserialize, Serialize};

use super::signal::Course;
use crate::JOINTS;
use crate::model::plant::{AnyPlant, Plant, Trig, no_force};
use crate::number::math::tanh_f32;
use crate::number::range::{OutOfRange, check};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// \[N·m/rad\]
    pub stiffness: f32,
    /// \[N·m·s\]
    pub damping: f32,
    /// Part of the model's torque that is fed forward: 0 none, 1 all.
    pub model: f32,
    /// Part of the identified friction that is fed forward.
    pub friction: f32,
    /// Speed over which the friction fed forward changes sign \[rad/s\].
    pub smooth: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            stiffness: 1.0,
            damping: 0.08,
            model: 1.0,
            friction: 1.0,
            smooth: 0.05,
        }
    }
}

impl Config {
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("drive.track.stiffness", self.stiffness, 0.0, 1e4)?;
        check("drive.track.damping", self.damping, 0.0, 1e4)?;
        check("drive.track.model", self.model, 0.0, 2.0)?;
        check("drive.track.friction", self.friction, 0.0, 4.0)?;
        check("drive.track.smooth", self.smooth, 1e-4, 10.0)
    }
}

/// The friction of a joint as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// μd \[m\] and μv \[N·m·s\], each times its fade.
    pub coulomb: f32,
    pub viscous: f32,
}

impl Known {
    /// Of estimates with their standard deviations.
    pub fn new([coulomb, viscous]: [f32; 2], [sigma_c, sigma_v]: [f32; 2]) -> Self {
        Known {
            coulomb: faded(coulomb, sigma_c),
            viscous: faded(viscous, sigma_v),
        }
    }
}

/// μ·(1 − 1.96·σ/μ), at least 0; 0 for what is not estimated.
fn faded(value: f32, sigma: f32) -> f32 {
    if sigma > 0.0 && value > 0.0 {
        (value - 1.96 * sigma).max(0.0)
    } else {
        0.0
    }
}

/// The joint that the motor drives.
#[inline(always)]
pub fn driven_joint(actuator: [f32; JOINTS]) -> usize {
    usize::from(actuator[0] == 0.0)
}

/// Torque \[N·m\] for the course `r` of joint `j` at the estimated state.
#[inline(never)]
pub fn torque(
    c: &Config,
    plant: &AnyPlant<f32>,
    j: usize,
    q: [f32; JOINTS],
    w: [f32; JOINTS],
    r: &Course,
    known: &Known,
) -> f32 {
    let j = j.min(JOINTS - 1);
    let mut u = c.stiffness * (r.value - q[j]) + c.damping * (r.rate - w[j]);
    if c.model > 0.0 || c.friction > 0.0 {
        let terms = plant.terms_at(&Trig::new(q), w, no_force());
        let inverse = if j == 0 {
            terms.h_inv.a00
        } else {
            terms.h_inv.a11
        };
        u += c.model * (r.second - terms.free[j]) / inverse;
        let coulomb = terms.normal[j] * known.coulomb * tanh_f32(r.rate / c.smooth);
        u += c.friction * (coulomb + known.viscous * r.rate);
    }
    u
}
