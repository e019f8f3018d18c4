//! The simple pendulum: one joint, θ = 0 hanging.
//!
//! ```text
//! J·θ̈ + m·g·l·sinθ·cosφ = −f(ω)        Fn = |reaction of the pivot|
//! ```
//!
//! Only J and m·g·l matter for the motion; m alone sets the normal force. The joint's axis may be tilted by φ from the
//! horizontal, which scales gravity in the plane of motion by cosφ. A preloaded bearing, whose friction does not
//! feel the reaction, is described by its constant load: Fn = load.

use serde::{Deserialize, Serialize};

use super::tolerance::{Prior, Tolerance, together};
use super::{Bounds, Plant, RIG_ERRORS, RigError, Sensitivity, Sym2, Terms, Trig};
use crate::JOINTS;
use crate::model::joint::Joint;
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;

/// Mass, geometry and tilt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Mass m \[kg\].
    pub mass: f32,
    /// Pivot to centre of gravity l \[m\].
    pub length: f32,
    /// Inertia about the pivot J \[kg·m²\].
    pub inertia: f32,
    /// Tilt φ of the plane of motion from the vertical \[rad\].
    pub tilt: f32,
    /// Gravity g \[m/s²\].
    pub gravity: f32,
    /// Constant normal force of a preloaded bearing \[N\]; 0: Fn is the reaction of the pivot.
    pub load: f32,
}

impl Default for Config {
    /// A 128 g rod of 0.316 m held at one end, as the pendulum link of paper 000.
    fn default() -> Self {
        Config {
            mass: 0.128,
            length: 0.158,
            inertia: 4.26e-3,
            tilt: 0.0,
            gravity: 9.81,
            load: 0.0,
        }
    }
}

impl Config {
    /// The joint turns; the inert one is taken to.
    pub const KINDS: [Joint; JOINTS] = [Joint::Revolute; JOINTS];
    /// What each joint is called.
    pub const NAMES: [&'static str; JOINTS] = ["pendulum", "inert"];
    /// Angles at which it hangs at rest \[rad\].
    pub const REST: [f32; JOINTS] = [0.0; JOINTS];
    /// Unit and meaning of each field, as a configuration file states them.
    pub const MEANINGS: [(&'static str, &'static str); 6] = [
        ("mass", "kg"),
        ("length", "m, pivot to centre of gravity"),
        ("inertia", "kg·m², about the pivot"),
        ("tilt", "rad, from the vertical"),
        ("gravity", "m/s²"),
        (
            "load",
            "N, preload of the bearing; 0: reaction of the pivot",
        ),
    ];

    /// What the tolerances of m2, l2 and j2 leave open, in units of m·g·l as the motion shows it.
    pub fn prior(&self, t: &Tolerance) -> Prior {
        let inertia = together([t.j2, t.m2, t.l2, 0.0, 0.0, 0.0]);
        Prior {
            zero: [Tolerance::SIGMA * t.zero, 0.0],
            rig: [0.0, Tolerance::SIGMA * inertia, 0.0, 0.0, 0.0],
            coulomb: [Tolerance::SIGMA * t.l2, 0.0],
            viscous: Tolerance::SIGMA * together([t.m2, t.l2, 0.0, 0.0, 0.0, 0.0]),
        }
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("plant.pendulum.mass", self.mass, 1e-4, 1e3)?;
        check("plant.pendulum.length", self.length, 1e-4, 100.0)?;
        check("plant.pendulum.inertia", self.inertia, 1e-9, 1e4)?;
        check(
            "plant.pendulum.tilt",
            self.tilt,
            -core::f32::consts::PI,
            core::f32::consts::PI,
        )?;
        check("plant.pendulum.gravity", self.gravity, 0.0, 100.0)?;
        check("plant.pendulum.load", self.load, 0.0, 1e6)
    }
}

/// The plant with its constant groups computed once.
#[derive(Clone, Copy, Debug)]
pub struct Pendulum<S> {
    j: S,
    j_inv: S,
    /// m·g·l·cosφ \[N·m\].
    mgl: S,
    /// m·l \[kg·m\], m·g·cosφ and m·g·sinφ \[N\].
    ml: S,
    mg_c: S,
    mg_s: S,
    mg: S,
    load: S,
}

impl<S: Scalar> Pendulum<S> {
    pub fn new(c: &Config) -> Self {
        let f = S::from_f32;
        Self::from_values([
            f(c.mass),
            f(c.length),
            f(c.inertia),
            f(c.tilt),
            f(c.gravity),
            f(c.load),
        ])
    }

    /// From scalars, in the order of [`Config`]'s fields.
    pub fn from_values([mass, length, inertia, tilt, gravity, load]: [S; 6]) -> Self {
        let (sp, cp) = tilt.sin_cos();
        Pendulum {
            j: inertia,
            j_inv: S::ONE / inertia,
            mgl: mass * gravity * length * cp,
            ml: mass * length,
            mg_c: mass * gravity * cp,
            mg_s: mass * gravity * sp,
            mg: mass * gravity,
            load,
        }
    }

    /// |reaction of the pivot| \[N\] at velocity `w` and frictionless acceleration `e0`.
    #[inline(always)]
    fn reaction(&self, w: S, e0: S, s: S, c: S) -> S {
        // Along the rod, across it in the plane of motion, and out of the plane.
        let radial = self.ml * w * w + self.mg_c * c;
        let tangential = self.ml * e0 + self.mg_c * s;
        let axial = self.mg_s;
        (radial * radial + tangential * tangential + axial * axial).sqrt()
    }
}

impl<S: Scalar> Plant<S> for Pendulum<S> {
    const DOF: usize = 1;
    const CLOSED_FORM: bool = true;
    const ACTUATOR: [f32; JOINTS] = [1.0, 0.0];

    #[inline(always)]
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
        let (s, c) = (trig.sin[0], trig.cos[0]);
        let g0 = self.mgl * s;
        let e0 = (-g0 + tau[0]) * self.j_inv;
        let normal = if self.load > S::ZERO {
            self.load
        } else {
            self.reaction(w[0], e0, s, c)
        };
        Terms {
            h: Sym2 {
                a00: self.j,
                a01: S::ZERO,
                a11: S::ONE,
            },
            h_inv: Sym2 {
                a00: self.j_inv,
                a01: S::ZERO,
                a11: S::ONE,
            },
            b: [S::ZERO; JOINTS],
            g: [g0, S::ZERO],
            dt_dq: [S::ZERO; JOINTS],
            free: [e0, S::ZERO],
            normal: [normal, S::ZERO],
        }
    }

    /// Only the inertia, [`RigError::arm`], shows in the motion; the tilt is a scale of gravity, which is the unit.
    #[inline(always)]
    fn perturbed(&self, e: &RigError<S>) -> Self {
        let j = self.j * (S::ONE + e.arm);
        Pendulum {
            j,
            j_inv: S::ONE / j,
            ..*self
        }
    }

    #[inline(always)]
    fn sensitivity(
        &self,
        error: &RigError<S>,
        trig: &Trig<S>,
        _: [S; JOINTS],
        _: &Terms<S>,
        a: [S; JOINTS],
    ) -> Sensitivity<S> {
        let still = [S::ZERO; JOINTS];
        let mut rig = [still; RIG_ERRORS];
        rig[1] = [-a[0] / (S::ONE + error.arm), S::ZERO];
        Sensitivity {
            angle: [[-self.mgl * trig.cos[0] * self.j_inv, S::ZERO], still],
            speed: [still; JOINTS],
            rig,
        }
    }

    fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S {
        let (_, c) = q[0].sin_cos();
        S::lit(0.5) * (self.j * w[0] * w[0] + w[1] * w[1]) - self.mgl * c
    }

    fn bounds(&self) -> Bounds<S> {
        Bounds {
            inertia: [self.j, S::ONE],
            weight: [
                if self.load > S::ZERO {
                    self.load
                } else {
                    self.mg
                },
                S::ZERO,
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preloaded_bearing_has_constant_normal_force_and_the_same_motion() {
        let free = Pendulum::<f64>::new(&Config::default());
        let loaded = Pendulum::<f64>::new(&Config {
            load: 2.5,
            ..Config::default()
        });
        let (q, w) = ([1.1, 0.0], [3.0, 0.0]);
        assert_eq!(loaded.terms(q, w).normal[0], 2.5);
        assert_eq!(loaded.terms(q, w).free, free.terms(q, w).free);
        assert!(free.terms(q, w).normal[0] != 2.5);
    }
}
