//! The tilted Furuta pendulum (paper 000 §II, corrected: see docs/errata.md).
//!
//! Generated from `derive/mechanisms/furuta.toml` by `cargo run -p stribeck-derive -- bless`; do not edit.
//! z0 points down along the arm's axis, tilted by phi in the x0-z0 plane; the pendulum hangs along -sin(theta1)*y1 + cos(theta1)*z0.
//!
//! ```text
//! (j1z + j2z + l1²·m1 + L1²·m2)·θ̈0 + (j2y − j2z + l2²·m2)·sin²(θ1)·θ̈0 − L1·l2·m2·cos(θ1)·θ̈1 + 2·(j2y − j2z + l2²·m2)·sin(θ1)·cos(θ1)·θ̇0·θ̇1
//!    + L1·l2·m2·sin(θ1)·θ̇1² + sin(φ)·g·(l1·m1 + L1·m2)·sin(θ0) − sin(φ)·g·l2·m2·cos(θ0)·sin(θ1) = u
//! −L1·l2·m2·cos(θ1)·θ̈0 + (j2x + l2²·m2)·θ̈1 − (j2y − j2z + l2²·m2)·sin(θ1)·cos(θ1)·θ̇0² − sin(φ)·g·l2·m2·sin(θ0)·cos(θ1)
//!    + cos(φ)·g·l2·m2·sin(θ1) = 0
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
    /// Arm mass m1 \[kg\].
    pub m1: f32,
    /// Pendulum mass m2 \[kg\].
    pub m2: f32,
    /// Arm inertia about its axis through its centre of gravity j1z [kg·m²].
    pub j1z: f32,
    /// Pendulum inertia about its centre of gravity, along the joint's axis j2x [kg·m²].
    pub j2x: f32,
    /// Pendulum inertia about its centre of gravity, across rod and axis j2y [kg·m²].
    pub j2y: f32,
    /// Pendulum inertia about its centre of gravity, along the rod j2z [kg·m²].
    pub j2z: f32,
    /// Pivot to centre of gravity of the arm l1 \[m\].
    pub l1: f32,
    /// Pivot to centre of gravity of the pendulum l2 \[m\].
    pub l2: f32,
    /// Arm length L1 \[m\].
    pub arm_length: f32,
    /// Tilt of the arm's axis from the vertical φ \[rad\].
    pub tilt: f32,
    /// Gravity g [m/s²].
    pub gravity: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            m1: 0.37,
            m2: 0.128,
            j1z: 0.00309,
            j2x: 0.00525,
            j2y: 0.00525,
            j2z: 2.91e-6,
            l1: 0.062,
            l2: 0.062,
            arm_length: 0.216,
            tilt: core::f32::consts::FRAC_PI_4,
            gravity: 9.81,
        }
    }
}

impl Config {
    /// Kind of each joint.
    pub const KINDS: [Joint; JOINTS] = [Joint::Revolute, Joint::Revolute];
    /// What each joint is called.
    pub const NAMES: [&'static str; JOINTS] = ["arm", "pendulum"];
    /// Coordinates at which it hangs at rest \[rad\].
    pub const REST: [f32; JOINTS] = [0.0, 0.0];
    /// Unit and meaning of each field, as a configuration file states them.
    pub const MEANINGS: [(&'static str, &'static str); 11] = [
        ("m1", "kg, arm mass m1"),
        ("m2", "kg, pendulum mass m2"),
        (
            "j1z",
            "kg·m², arm inertia about its axis through its centre of gravity",
        ),
        (
            "j2x",
            "kg·m², pendulum inertia about its centre of gravity, along the joint's axis",
        ),
        (
            "j2y",
            "kg·m², pendulum inertia about its centre of gravity, across rod and axis",
        ),
        (
            "j2z",
            "kg·m², pendulum inertia about its centre of gravity, along the rod",
        ),
        ("l1", "m, pivot to centre of gravity of the arm"),
        ("l2", "m, pivot to centre of gravity of the pendulum"),
        ("arm_length", "m, arm length L1"),
        ("tilt", "rad, tilt of the arm's axis from the vertical"),
        ("gravity", "m/s², gravity"),
    ];

    /// The fields in their order.
    pub fn values(&self) -> [f32; 11] {
        let c = self;
        [
            c.m1,
            c.m2,
            c.j1z,
            c.j2x,
            c.j2y,
            c.j2z,
            c.l1,
            c.l2,
            c.arm_length,
            c.tilt,
            c.gravity,
        ]
    }

    /// What the tolerances leave open: the geometry as stated, the zeros of the joints whose place the motion shows.
    pub fn prior(&self, t: &Tolerance) -> Prior {
        Prior::stated(t, [true, true])
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("plant.furuta.m1", self.m1, 0.0001, 1000.0)?;
        check("plant.furuta.m2", self.m2, 0.0001, 1000.0)?;
        check("plant.furuta.j1z", self.j1z, 1e-9, 1000.0)?;
        check("plant.furuta.j2x", self.j2x, 1e-9, 1000.0)?;
        check("plant.furuta.j2y", self.j2y, 1e-9, 1000.0)?;
        check("plant.furuta.j2z", self.j2z, 0.0, 1000.0)?;
        check("plant.furuta.l1", self.l1, 0.0, 10.0)?;
        check("plant.furuta.l2", self.l2, 0.0001, 10.0)?;
        check("plant.furuta.arm_length", self.arm_length, 0.0001, 10.0)?;
        check(
            "plant.furuta.tilt",
            self.tilt,
            -core::f32::consts::PI,
            core::f32::consts::PI,
        )?;
        check("plant.furuta.gravity", self.gravity, 0.0, 100.0)
    }
}

/// The plant with its constant groups computed once.
#[derive(Clone, Copy, Debug)]
pub struct Furuta<S> {
    /// j1z + j2z + l1²·m1 + L1²·m2
    k0: S,
    /// j2y − j2z + l2²·m2
    k1: S,
    /// L1·l2·m2
    k2: S,
    /// j2x + l2²·m2
    k3: S,
    /// sin(φ)·g·(l1·m1 + L1·m2)
    k4: S,
    /// sin(φ)·g·l2·m2
    k5: S,
    /// cos(φ)·g·l2·m2
    k6: S,
    /// l2·m2
    k7: S,
    /// L1·m2
    k8: S,
    /// sin(φ)·g·m2
    k9: S,
    /// cos(φ)·g·m2
    k10: S,
    /// l1·m1
    k11: S,
    /// sin(φ)·g·m1
    k12: S,
    /// cos(φ)·g·m1
    k13: S,
    bounds: Bounds<S>,
}

impl<S: Scalar> Furuta<S> {
    pub fn new(c: &Config) -> Self {
        Self::from_values(c.values().map(S::from_f32))
    }

    /// From scalars, in the order of [`Config`]'s fields: lets dual numbers differentiate by the geometry.
    pub fn from_values([m1, m2, j1z, j2x, j2y, j2z, l1, l2, arm_length, phi, g]: [S; 11]) -> Self {
        let (sin_phi, cos_phi) = phi.sin_cos();
        let k0 = m1 * l1 * l1 + m2 * arm_length * arm_length + j1z + j2z;
        let k1 = m2 * l2 * l2 + j2y - j2z;
        let k2 = m2 * l2 * arm_length;
        let k3 = m2 * l2 * l2 + j2x;
        let k4 = m1 * l1 * g * sin_phi + m2 * arm_length * g * sin_phi;
        let k5 = m2 * l2 * g * sin_phi;
        let k6 = m2 * l2 * g * cos_phi;
        let k7 = m2 * l2;
        let k8 = m2 * arm_length;
        let k9 = m2 * g * sin_phi;
        let k10 = m2 * g * cos_phi;
        let k11 = m1 * l1;
        let k12 = m1 * g * sin_phi;
        let k13 = m1 * g * cos_phi;
        let bounds = Bounds {
            inertia: [
                (j1z + j2z + m1 * l1 * l1 + m2 * arm_length * arm_length
                    - m2 * m2 * l2 * l2 * arm_length * arm_length / (j2x + m2 * l2 * l2))
                    .min(j1z + j2y + m1 * l1 * l1 + m2 * arm_length * arm_length + m2 * l2 * l2),
                j2x + m2 * l2 * l2
                    - m2 * m2 * l2 * l2 * arm_length * arm_length
                        / (j1z + j2z + m1 * l1 * l1 + m2 * arm_length * arm_length),
            ],
            weight: [g * (m1 + m2), m2 * g],
        };
        Furuta {
            k0,
            k1,
            k2,
            k3,
            k4,
            k5,
            k6,
            k7,
            k8,
            k9,
            k10,
            k11,
            k12,
            k13,
            bounds,
        }
    }
}

impl<S: Scalar> Plant<S> for Furuta<S> {
    const DOF: usize = 2;
    const ACTUATOR: [f32; JOINTS] = [1.0, 0.0];

    #[inline(always)]
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
        let s0 = trig.sin[0];
        let s1 = trig.sin[1];
        let c0 = trig.cos[0];
        let c1 = trig.cos[1];
        let w0 = w[0];
        let w1 = w[1];
        let k1s1 = self.k1 * s1;
        let h = Sym2 {
            a00: self.k0 + s1 * k1s1,
            a01: -self.k2 * c1,
            a11: self.k3,
        };
        let h_inv = h.inverse();
        let c1k1s1 = c1 * k1s1;
        let w0w1 = w0 * w1;
        let t3 = S::lit(2.0) * w0w1;
        let w1w1 = w1 * w1;
        let s1k2 = s1 * self.k2;
        let w0w0 = w0 * w0;
        let t7 = w0w0 * c1k1s1;
        let b = [c1k1s1 * t3 + w1w1 * s1k2, -t7];
        let g = [
            self.k4 * s0 - s1 * self.k5 * c0,
            -(c1 * s0 * self.k5 - s1 * self.k6),
        ];
        let dt_dq = [S::ZERO, t7 + w0w1 * s1k2];
        let free = h_inv.apply([-b[0] - g[0] + tau[0], -b[1] - g[1] + tau[1]]);
        let e0 = free[0];
        let e1 = free[1];
        let c1k7 = c1 * self.k7;
        let s1k7 = s1 * self.k7;
        let r1x = c1k7 * t3 + e0 * s1k7 - self.k8 * w0w0 - c0 * self.k9;
        let r1y = s1k7 * w0w0 + self.k8 * e0 + s1k7 * w1w1 + s0 * self.k9 - e1 * c1k7;
        let r1z = -(self.k10 + c1k7 * w1w1 + e1 * s1k7);
        let r0x = r1x - (self.k11 * w0w0 + c0 * self.k12);
        let r0y = r1y + e0 * self.k11 + s0 * self.k12;
        let r0z = r1z - self.k13;
        let normal = [
            (r0x * r0x + r0y * r0y + r0z * r0z).sqrt(),
            (r1x * r1x + r1y * r1y + r1z * r1z).sqrt(),
        ];
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
        let s0 = trig.sin[0];
        let s1 = trig.sin[1];
        let c0 = trig.cos[0];
        let c1 = trig.cos[1];
        let potential = -(self.k5 * s0 * s1 + self.k4 * c0 + self.k6 * c1);
        let hw = self.terms_at(&trig, w, no_force()).h.apply(w);
        S::lit(0.5) * (w[0] * hw[0] + w[1] * hw[1]) + potential
    }

    fn bounds(&self) -> Bounds<S> {
        self.bounds
    }
}
