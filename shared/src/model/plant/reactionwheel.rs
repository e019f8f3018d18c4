//! The reaction wheel pendulum (paper 002): a pendulum with a driven wheel at its end.
//!
//! Generated from `derive/mechanisms/reactionwheel.toml` by `cargo run -p stribeck-derive -- bless`; do not edit.
//! theta1 = 0 is upright, positive clockwise; theta2 of the wheel is relative to the pendulum.
//!
//! ```text
//! (I_p + I_w + l_p²·m_p + l_w²·m_w)·θ̈1 + I_w·θ̈2 − g·(l_p·m_p + l_w·m_w)·sin(θ1) = 0
//! I_w·θ̈1 + I_w·θ̈2 = τ
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
    /// Mass of the pendulum m_p \[kg\].
    pub pendulum_mass: f32,
    /// Mass of the wheel m_w \[kg\].
    pub wheel_mass: f32,
    /// Pivot to the pendulum's centre of gravity l_p \[m\].
    pub com: f32,
    /// Pivot to the wheel's axle l_w \[m\].
    pub length: f32,
    /// Inertia of the pendulum about its centre of gravity I_p [kg·m²].
    pub pendulum_inertia: f32,
    /// Inertia of the wheel about its axle I_w [kg·m²].
    pub wheel_inertia: f32,
    /// Gravity g [m/s²].
    pub gravity: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            pendulum_mass: 0.2,
            wheel_mass: 0.3,
            com: 0.063,
            length: 0.125,
            pendulum_inertia: 0.0003,
            wheel_inertia: 0.0005,
            gravity: 9.81,
        }
    }
}

impl Config {
    /// Kind of each joint.
    pub const KINDS: [Joint; JOINTS] = [Joint::Revolute, Joint::Revolute];
    /// What each joint is called.
    pub const NAMES: [&'static str; JOINTS] = ["pendulum", "wheel"];
    /// Coordinates at which it hangs at rest \[rad\].
    pub const REST: [f32; JOINTS] = [core::f32::consts::PI, 0.0];
    /// Unit and meaning of each field, as a configuration file states them.
    pub const MEANINGS: [(&'static str, &'static str); 7] = [
        ("pendulum_mass", "kg, mass of the pendulum"),
        ("wheel_mass", "kg, mass of the wheel"),
        ("com", "m, pivot to the pendulum's centre of gravity"),
        ("length", "m, pivot to the wheel's axle"),
        (
            "pendulum_inertia",
            "kg·m², inertia of the pendulum about its centre of gravity",
        ),
        (
            "wheel_inertia",
            "kg·m², inertia of the wheel about its axle",
        ),
        ("gravity", "m/s², gravity"),
    ];

    /// The fields in their order.
    pub fn values(&self) -> [f32; 7] {
        let c = self;
        [
            c.pendulum_mass,
            c.wheel_mass,
            c.com,
            c.length,
            c.pendulum_inertia,
            c.wheel_inertia,
            c.gravity,
        ]
    }

    /// What the tolerances leave open: the geometry as stated, the zeros of the joints whose place the motion shows.
    pub fn prior(&self, t: &Tolerance) -> Prior {
        Prior::stated(t, [true, false])
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check(
            "plant.reactionwheel.pendulum_mass",
            self.pendulum_mass,
            0.0001,
            1000.0,
        )?;
        check(
            "plant.reactionwheel.wheel_mass",
            self.wheel_mass,
            0.0001,
            1000.0,
        )?;
        check("plant.reactionwheel.com", self.com, 0.0, 100.0)?;
        check("plant.reactionwheel.length", self.length, 0.0001, 100.0)?;
        check(
            "plant.reactionwheel.pendulum_inertia",
            self.pendulum_inertia,
            0.0,
            1000.0,
        )?;
        check(
            "plant.reactionwheel.wheel_inertia",
            self.wheel_inertia,
            1e-9,
            1000.0,
        )?;
        check("plant.reactionwheel.gravity", self.gravity, 0.0, 100.0)
    }
}

/// The plant with its constant groups computed once.
#[derive(Clone, Copy, Debug)]
pub struct Reactionwheel<S> {
    /// g·(l_p·m_p + l_w·m_w)
    k2: S,
    /// l_w·m_w
    k3: S,
    /// g·m_w
    k4: S,
    /// l_p·m_p
    k5: S,
    /// g·m_p
    k6: S,
    /// H does not depend on the pose.
    h: Sym2<S>,
    h_inv: Sym2<S>,
    bounds: Bounds<S>,
}

impl<S: Scalar> Reactionwheel<S> {
    pub fn new(c: &Config) -> Self {
        Self::from_values(c.values().map(S::from_f32))
    }

    /// From scalars, in the order of [`Config`]'s fields: lets dual numbers differentiate by the geometry.
    pub fn from_values([m_p, m_w, l_p, l_w, i_p, i_w, g]: [S; 7]) -> Self {
        let k0 = m_p * l_p * l_p + m_w * l_w * l_w + i_p + i_w;
        let k1 = i_w;
        let k2 = m_p * l_p * g + m_w * l_w * g;
        let k3 = m_w * l_w;
        let k4 = m_w * g;
        let k5 = m_p * l_p;
        let k6 = m_p * g;
        let h = Sym2 {
            a00: k0,
            a01: k1,
            a11: k1,
        };
        let h_inv = h.inverse();
        let bounds = Bounds {
            inertia: [
                i_p + m_p * l_p * l_p + m_w * l_w * l_w,
                i_w * (i_p + m_p * l_p * l_p + m_w * l_w * l_w)
                    / (i_p + i_w + m_p * l_p * l_p + m_w * l_w * l_w),
            ],
            weight: [g * (m_p + m_w), m_w * g],
        };
        Reactionwheel {
            k2,
            k3,
            k4,
            k5,
            k6,
            h,
            h_inv,
            bounds,
        }
    }
}

impl<S: Scalar> Plant<S> for Reactionwheel<S> {
    const DOF: usize = 2;
    const ACTUATOR: [f32; JOINTS] = [0.0, 1.0];

    #[inline(always)]
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
        let s0 = trig.sin[0];
        let c0 = trig.cos[0];
        let w0 = w[0];
        let (h, h_inv) = (self.h, self.h_inv);
        let b = [S::ZERO, S::ZERO];
        let g = [-self.k2 * s0, S::ZERO];
        let dt_dq = [S::ZERO, S::ZERO];
        let free = h_inv.apply([-b[0] - g[0] + tau[0], -b[1] - g[1] + tau[1]]);
        let e0 = free[0];
        let r1x = self.k3 * e0 - s0 * self.k4;
        let w0w0 = w0 * w0;
        let r1y = -(self.k3 * w0w0 - self.k4 * c0);
        let r0x = r1x + e0 * self.k5 - s0 * self.k6;
        let r0y = r1y - (self.k5 * w0w0 - c0 * self.k6);
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
        let c0 = trig.cos[0];
        let potential = self.k2 * c0;
        let hw = self.terms_at(&trig, w, no_force()).h.apply(w);
        S::lit(0.5) * (w[0] * hw[0] + w[1] * hw[1]) + potential
    }

    fn bounds(&self) -> Bounds<S> {
        self.bounds
    }
}
