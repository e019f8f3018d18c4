//! The cart-pole (paper 002): a pole on a cart, driven by a force on the cart.
//!
//! Generated from `derive/mechanisms/cartpole.toml` by `cargo run -p stribeck-derive -- bless`; do not edit.
//! theta = 0 is upright, positive clockwise; x to the right.
//!
//! ```text
//! (m_c + m_p)·ẍ + l·m_p·θ̈·cos(θ) − l·m_p·θ̇²·sin(θ) = F_c
//! l·m_p·ẍ·cos(θ) + (I_p + l²·m_p)·θ̈ − g·l·m_p·sin(θ) = 0
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
    /// Mass of the cart m_c \[kg\].
    pub cart_mass: f32,
    /// Mass of the pole m_p \[kg\].
    pub pole_mass: f32,
    /// Pivot to the pole's centre of gravity l \[m\].
    pub length: f32,
    /// Inertia of the pole about its centre of gravity I_p [kg·m²].
    pub pole_inertia: f32,
    /// Gravity g [m/s²].
    pub gravity: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            cart_mass: 0.5,
            pole_mass: 0.2,
            length: 0.3,
            pole_inertia: 0.006,
            gravity: 9.81,
        }
    }
}

impl Config {
    /// Kind of each joint.
    pub const KINDS: [Joint; JOINTS] = [Joint::Prismatic, Joint::Revolute];
    /// What each joint is called.
    pub const NAMES: [&'static str; JOINTS] = ["cart", "pole"];
    /// Coordinates at which it hangs at rest \[rad or m\].
    pub const REST: [f32; JOINTS] = [0.0, core::f32::consts::PI];
    /// Unit and meaning of each field, as a configuration file states them.
    pub const MEANINGS: [(&'static str, &'static str); 5] = [
        ("cart_mass", "kg, mass of the cart"),
        ("pole_mass", "kg, mass of the pole"),
        ("length", "m, pivot to the pole's centre of gravity"),
        (
            "pole_inertia",
            "kg·m², inertia of the pole about its centre of gravity",
        ),
        ("gravity", "m/s², gravity"),
    ];

    /// The fields in their order.
    pub fn values(&self) -> [f32; 5] {
        let c = self;
        [
            c.cart_mass,
            c.pole_mass,
            c.length,
            c.pole_inertia,
            c.gravity,
        ]
    }

    /// What the tolerances leave open: the geometry as stated, the zeros of the joints whose place the motion shows.
    pub fn prior(&self, t: &Tolerance) -> Prior {
        Prior::stated(t, [false, true])
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("plant.cartpole.cart_mass", self.cart_mass, 0.0001, 1000.0)?;
        check("plant.cartpole.pole_mass", self.pole_mass, 0.0001, 1000.0)?;
        check("plant.cartpole.length", self.length, 0.0001, 100.0)?;
        check(
            "plant.cartpole.pole_inertia",
            self.pole_inertia,
            0.0,
            1000.0,
        )?;
        check("plant.cartpole.gravity", self.gravity, 0.0, 100.0)
    }
}

/// The plant with its constant groups computed once.
#[derive(Clone, Copy, Debug)]
pub struct Cartpole<S> {
    /// m_c + m_p
    k0: S,
    /// l·m_p
    k1: S,
    /// I_p + l²·m_p
    k2: S,
    /// g·l·m_p
    k3: S,
    /// m_p
    k4: S,
    /// g·m_p
    k5: S,
    /// g·m_c
    k6: S,
    bounds: Bounds<S>,
}

impl<S: Scalar> Cartpole<S> {
    pub fn new(c: &Config) -> Self {
        Self::from_values(c.values().map(S::from_f32))
    }

    /// From scalars, in the order of [`Config`]'s fields: lets dual numbers differentiate by the geometry.
    pub fn from_values([m_c, m_p, l, i_p, g]: [S; 5]) -> Self {
        let k0 = m_c + m_p;
        let k1 = m_p * l;
        let k2 = m_p * l * l + i_p;
        let k3 = m_p * l * g;
        let k4 = m_p;
        let k5 = m_p * g;
        let k6 = m_c * g;
        let bounds = Bounds {
            inertia: [
                m_c + m_p - m_p * m_p * l * l / (i_p + m_p * l * l),
                i_p + m_p * l * l - m_p * m_p * l * l / (m_c + m_p),
            ],
            weight: [g * (m_c + m_p), m_p * g],
        };
        Cartpole {
            k0,
            k1,
            k2,
            k3,
            k4,
            k5,
            k6,
            bounds,
        }
    }
}

impl<S: Scalar> Plant<S> for Cartpole<S> {
    const DOF: usize = 2;
    const ACTUATOR: [f32; JOINTS] = [1.0, 0.0];

    #[inline(always)]
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
        let s1 = trig.sin[1];
        let c1 = trig.cos[1];
        let w0 = w[0];
        let w1 = w[1];
        let k1c1 = self.k1 * c1;
        let h = Sym2 {
            a00: self.k0,
            a01: k1c1,
            a11: self.k2,
        };
        let h_inv = h.inverse();
        let k1s1 = self.k1 * s1;
        let w1k1s1 = w1 * k1s1;
        let w1w1k1s1 = w1 * w1k1s1;
        let b = [-w1w1k1s1, S::ZERO];
        let g = [S::ZERO, -s1 * self.k3];
        let dt_dq = [S::ZERO, -w0 * w1k1s1];
        let free = h_inv.apply([-b[0] - g[0] + tau[0], -b[1] - g[1] + tau[1]]);
        let e0 = free[0];
        let e1 = free[1];
        let r1x = self.k4 * e0 + k1c1 * e1 - w1w1k1s1;
        let r1y = -(k1c1 * w1 * w1 + e1 * k1s1 - self.k5);
        let r0y = r1y + self.k6;
        let normal = [r0y.abs(), (r1x * r1x + r1y * r1y).sqrt()];
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
        let c1 = trig.cos[1];
        let potential = self.k3 * c1;
        let hw = self.terms_at(&trig, w, no_force()).h.apply(w);
        S::lit(0.5) * (w[0] * hw[0] + w[1] * hw[1]) + potential
    }

    fn bounds(&self) -> Bounds<S> {
        self.bounds
    }
}
