//! The acrobot (paper 002): two links, driven at the elbow.
//!
//! Generated from `derive/mechanisms/acrobot.toml` by `cargo run -p stribeck-derive -- bless`; do not edit.
//! theta1 = 0 is upright, positive clockwise; theta2 is relative to the first link.
//!
//! ```text
//! (I_a + I_b + l_a²·m_a + l²·m_b + l_b²·m_b)·θ̈1 + 2·l·l_b·m_b·θ̈1·cos(θ2) + (I_b + l_b²·m_b)·θ̈2 + l·l_b·m_b·θ̈2·cos(θ2)
//!    − 2·l·l_b·m_b·θ̇1·θ̇2·sin(θ2) − l·l_b·m_b·θ̇2²·sin(θ2) − g·(l_a·m_a + l·m_b)·sin(θ1) − g·l_b·m_b·sin(θ1 + θ2)
//!    = 0
//! (I_b + l_b²·m_b)·θ̈1 + l·l_b·m_b·θ̈1·cos(θ2) + (I_b + l_b²·m_b)·θ̈2 + l·l_b·m_b·θ̇1²·sin(θ2) − g·l_b·m_b·sin(θ1 + θ2)
//!    = τ
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
    /// Mass of the first link m_a \[kg\].
    pub mass_a: f32,
    /// Mass of the second link m_b \[kg\].
    pub mass_b: f32,
    /// Length of the first link l \[m\].
    pub length: f32,
    /// Pivot to the first link's centre of gravity l_a \[m\].
    pub com_a: f32,
    /// Elbow to the second link's centre of gravity l_b \[m\].
    pub com_b: f32,
    /// Inertia of the first link about its centre of gravity I_a [kg·m²].
    pub inertia_a: f32,
    /// Inertia of the second link about its centre of gravity I_b [kg·m²].
    pub inertia_b: f32,
    /// Gravity g [m/s²].
    pub gravity: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            mass_a: 0.3,
            mass_b: 0.3,
            length: 0.2,
            com_a: 0.1,
            com_b: 0.1,
            inertia_a: 0.001,
            inertia_b: 0.001,
            gravity: 9.81,
        }
    }
}

impl Config {
    /// Kind of each joint.
    pub const KINDS: [Joint; JOINTS] = [Joint::Revolute, Joint::Revolute];
    /// What each joint is called.
    pub const NAMES: [&'static str; JOINTS] = ["first link", "second link"];
    /// Coordinates at which it hangs at rest \[rad\].
    pub const REST: [f32; JOINTS] = [core::f32::consts::PI, 0.0];
    /// Unit and meaning of each field, as a configuration file states them.
    pub const MEANINGS: [(&'static str, &'static str); 8] = [
        ("mass_a", "kg, mass of the first link"),
        ("mass_b", "kg, mass of the second link"),
        ("length", "m, length of the first link"),
        ("com_a", "m, pivot to the first link's centre of gravity"),
        ("com_b", "m, elbow to the second link's centre of gravity"),
        (
            "inertia_a",
            "kg·m², inertia of the first link about its centre of gravity",
        ),
        (
            "inertia_b",
            "kg·m², inertia of the second link about its centre of gravity",
        ),
        ("gravity", "m/s², gravity"),
    ];

    /// The fields in their order.
    pub fn values(&self) -> [f32; 8] {
        let c = self;
        [
            c.mass_a,
            c.mass_b,
            c.length,
            c.com_a,
            c.com_b,
            c.inertia_a,
            c.inertia_b,
            c.gravity,
        ]
    }

    /// What the tolerances leave open: the geometry as stated, the zeros of the joints whose place the motion shows.
    pub fn prior(&self, t: &Tolerance) -> Prior {
        Prior::stated(t, [true, true])
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("plant.acrobot.mass_a", self.mass_a, 0.0001, 1000.0)?;
        check("plant.acrobot.mass_b", self.mass_b, 0.0001, 1000.0)?;
        check("plant.acrobot.length", self.length, 0.0001, 100.0)?;
        check("plant.acrobot.com_a", self.com_a, 0.0, 100.0)?;
        check("plant.acrobot.com_b", self.com_b, 0.0, 100.0)?;
        check("plant.acrobot.inertia_a", self.inertia_a, 1e-9, 1000.0)?;
        check("plant.acrobot.inertia_b", self.inertia_b, 1e-9, 1000.0)?;
        check("plant.acrobot.gravity", self.gravity, 0.0, 100.0)
    }
}

/// The plant with its constant groups computed once.
#[derive(Clone, Copy, Debug)]
pub struct Acrobot<S> {
    /// I_a + I_b + l_a²·m_a + l²·m_b + l_b²·m_b
    k0: S,
    /// l·l_b·m_b
    k1: S,
    /// I_b + l_b²·m_b
    k2: S,
    /// g·(l_a·m_a + l·m_b)
    k3: S,
    /// g·l_b·m_b
    k4: S,
    /// l_b·m_b
    k5: S,
    /// l·m_b
    k6: S,
    /// g·m_b
    k7: S,
    /// l_a·m_a
    k8: S,
    /// g·m_a
    k9: S,
    bounds: Bounds<S>,
}

impl<S: Scalar> Acrobot<S> {
    pub fn new(c: &Config) -> Self {
        Self::from_values(c.values().map(S::from_f32))
    }

    /// From scalars, in the order of [`Config`]'s fields: lets dual numbers differentiate by the geometry.
    pub fn from_values([m_a, m_b, l, l_a, l_b, i_a, i_b, g]: [S; 8]) -> Self {
        let k0 = m_a * l_a * l_a + m_b * l * l + m_b * l_b * l_b + i_a + i_b;
        let k1 = m_b * l * l_b;
        let k2 = m_b * l_b * l_b + i_b;
        let k3 = m_a * l_a * g + m_b * l * g;
        let k4 = m_b * l_b * g;
        let k5 = m_b * l_b;
        let k6 = m_b * l;
        let k7 = m_b * g;
        let k8 = m_a * l_a;
        let k9 = m_a * g;
        let bounds = Bounds {
            inertia: [
                i_a + m_a * l_a * l_a + m_b * l * l
                    - m_b * m_b * l * l * l_b * l_b / (i_b + m_b * l_b * l_b),
                -(m_b * m_b * l * l * l_b * l_b
                    - (i_a + m_a * l_a * l_a + m_b * l * l) * (i_b + m_b * l_b * l_b))
                    / (i_a
                        + i_b
                        + m_a * l_a * l_a
                        + m_b * l * l
                        + m_b * l_b * l_b
                        + S::lit(2.0) * m_b * l * l_b),
            ],
            weight: [g * (m_a + m_b), m_b * g],
        };
        Acrobot {
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
            bounds,
        }
    }
}

impl<S: Scalar> Plant<S> for Acrobot<S> {
    const DOF: usize = 2;
    const ACTUATOR: [f32; JOINTS] = [0.0, 1.0];

    #[inline(always)]
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
        let s0 = trig.sin[0];
        let s1 = trig.sin[1];
        let c0 = trig.cos[0];
        let c1 = trig.cos[1];
        let w0 = w[0];
        let w1 = w[1];
        let k1c1 = self.k1 * c1;
        let h = Sym2 {
            a00: self.k0 + S::lit(2.0) * k1c1,
            a01: self.k2 + k1c1,
            a11: self.k2,
        };
        let h_inv = h.inverse();
        let t1 = w1 * (w1 + S::lit(2.0) * w0);
        let k1s1 = self.k1 * s1;
        let w0w0 = w0 * w0;
        let b = [-t1 * k1s1, w0w0 * k1s1];
        let t4 = self.k4 * (c1 * s0 + s1 * c0);
        let g = [-(t4 + self.k3 * s0), -t4];
        let dt_dq = [S::ZERO, -w0 * (w0 + w1) * k1s1];
        let free = h_inv.apply([-b[0] - g[0] + tau[0], -b[1] - g[1] + tau[1]]);
        let e0 = free[0];
        let e1 = free[1];
        let t5 = t1 + w0w0;
        let t6 = e0 + e1;
        let r1x = -(self.k5 * (s1 * t5 - c1 * t6) + s0 * self.k7 - self.k6 * e0);
        let r1y = -(self.k5 * (c1 * t5 + s1 * t6) + self.k6 * w0w0 - c0 * self.k7);
        let r0x = r1x + e0 * self.k8 - s0 * self.k9;
        let r0y = r1y - (w0w0 * self.k8 - c0 * self.k9);
        let normal = [
            (r0x * r0x + r0y * r0y).sqrt(),
            (r1x * r1x + r1y * r1y).sqrt(),
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
        let potential = c0 * (self.k3 + self.k4 * c1) - self.k4 * s0 * s1;
        let hw = self.terms_at(&trig, w, no_force()).h.apply(w);
        S::lit(0.5) * (w[0] * hw[0] + w[1] * hw[1]) + potential
    }

    fn bounds(&self) -> Bounds<S> {
        self.bounds
    }
}
