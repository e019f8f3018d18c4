//! The simple pendulum: one joint, θ = 0 hanging.
//!
//! Generated from `derive/mechanisms/pendulum.toml` by `cargo run -p stribeck-derive -- bless`; do not edit.
//! theta = 0 hangs; the plane of motion is tilted by phi from the vertical.
//!
//! ```text
//! J·θ̈ + cos(φ)·g·l·m·sin(θ) = 0
//! ```

use serde::{Deserialize, Serialize};

use super::tolerance::{Prior, Tolerance};
use super::{Bounds, Plant, Sym2, Terms, Trig, no_force};
use crate::JOINTS;
use crate::model::joint::Joint;
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;

/// Geometry and masses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Mass m \[kg\].
    pub mass: f32,
    /// Pivot to centre of gravity l \[m\].
    pub length: f32,
    /// Inertia about the pivot J [kg·m²].
    pub inertia: f32,
    /// Tilt of the plane of motion from the vertical φ \[rad\].
    pub tilt: f32,
    /// Gravity g [m/s²].
    pub gravity: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            mass: 0.128,
            length: 0.158,
            inertia: 0.00426,
            tilt: 0.0,
            gravity: 9.81,
        }
    }
}

impl Config {
    /// Kind of each joint; the inert one is taken to turn.
    pub const KINDS: [Joint; JOINTS] = [Joint::Revolute, Joint::Revolute];
    /// What each joint is called.
    pub const NAMES: [&'static str; JOINTS] = ["pendulum", "inert"];
    /// Coordinates at which it hangs at rest \[rad\].
    pub const REST: [f32; JOINTS] = [0.0, 0.0];
    /// Unit and meaning of each field, as a configuration file states them.
    pub const MEANINGS: [(&'static str, &'static str); 5] = [
        ("mass", "kg, mass"),
        ("length", "m, pivot to centre of gravity"),
        ("inertia", "kg·m², inertia about the pivot"),
        ("tilt", "rad, tilt of the plane of motion from the vertical"),
        ("gravity", "m/s², gravity"),
    ];

    /// The fields in their order.
    pub fn values(&self) -> [f32; 5] {
        let c = self;
        [c.mass, c.length, c.inertia, c.tilt, c.gravity]
    }

    /// What the tolerances leave open: the geometry as stated, the zeros of the joints whose place the motion shows.
    pub fn prior(&self, t: &Tolerance) -> Prior {
        Prior::stated(t, [true, false])
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("plant.pendulum.mass", self.mass, 0.0001, 1000.0)?;
        check("plant.pendulum.length", self.length, 0.0001, 100.0)?;
        check("plant.pendulum.inertia", self.inertia, 1e-9, 10000.0)?;
        check(
            "plant.pendulum.tilt",
            self.tilt,
            -core::f32::consts::PI,
            core::f32::consts::PI,
        )?;
        check("plant.pendulum.gravity", self.gravity, 0.0, 100.0)
    }
}

/// The plant with its constant groups computed once.
#[derive(Clone, Copy, Debug)]
pub struct Pendulum<S> {
    /// cos(φ)·g·l·m
    k1: S,
    /// sin(φ)·g·m
    k2: S,
    /// l·m
    k3: S,
    /// cos(φ)·g·m
    k4: S,
    /// H does not depend on the pose.
    h: Sym2<S>,
    h_inv: Sym2<S>,
    bounds: Bounds<S>,
}

impl<S: Scalar> Pendulum<S> {
    pub fn new(c: &Config) -> Self {
        Self::from_values(c.values().map(S::from_f32))
    }

    /// From scalars, in the order of [`Config`]'s fields: lets dual numbers differentiate by the geometry.
    pub fn from_values([m, l, j, phi, g]: [S; 5]) -> Self {
        let (sin_phi, cos_phi) = phi.sin_cos();
        let k0 = j;
        let k1 = m * l * g * cos_phi;
        let k2 = m * g * sin_phi;
        let k3 = m * l;
        let k4 = m * g * cos_phi;
        let h = Sym2 {
            a00: k0,
            a01: S::ZERO,
            a11: S::ONE,
        };
        let h_inv = Sym2 {
            a00: S::ONE / h.a00,
            a01: S::ZERO,
            a11: S::ONE,
        };
        let bounds = Bounds {
            inertia: [j, S::ONE],
            weight: [m * g, S::ZERO],
        };
        Pendulum {
            k1,
            k2,
            k3,
            k4,
            h,
            h_inv,
            bounds,
        }
    }
}

impl<S: Scalar> Plant<S> for Pendulum<S> {
    const DOF: usize = 1;

    #[inline(always)]
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
        let s0 = trig.sin[0];
        let c0 = trig.cos[0];
        let w0 = w[0];
        let (h, h_inv) = (self.h, self.h_inv);
        let b = [S::ZERO, S::ZERO];
        let g = [self.k1 * s0, S::ZERO];
        let dt_dq = [S::ZERO, S::ZERO];
        let free = h_inv.apply([-b[0] - g[0] + tau[0], -b[1] - g[1] + tau[1]]);
        let e0 = free[0];
        let r0x = -self.k2;
        let r0y = self.k3 * w0 * w0 + self.k4 * c0;
        let r0z = -(self.k3 * e0 + s0 * self.k4);
        let normal = [(r0x * r0x + r0y * r0y + r0z * r0z).sqrt(), S::ZERO];
        Terms {
            h,
            h_inv,
            b,
            g,
            dt_dq,
            free,
            normal,
        }
    }

    fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S {
        let trig = Trig::new(q);
        let c0 = trig.cos[0];
        let potential = -self.k1 * c0;
        let hw = self.terms_at(&trig, w, no_force()).h.apply(w);
        S::lit(0.5) * (w[0] * hw[0] + w[1] * hw[1]) + potential
    }

    fn bounds(&self) -> Bounds<S> {
        self.bounds
    }
}
