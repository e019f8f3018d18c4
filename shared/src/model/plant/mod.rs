//! The mechanical plants, behind one trait.
//!
//! Every plant obeys `H(q)·q̈ + B(q, ω) + G(q) = −f(ω) + u` with [`JOINTS`] joints. A plant with
//! fewer joints leaves the rest inert: unit inertia, no force. Adding a plant touches its own file
//! and the list at the end of this one.

pub mod furuta;
pub mod pendulum;

use crate::friction::Friction;
use crate::scalar::Scalar;

/// Joints carried by observers, encoders and wire.
pub const JOINTS: usize = 2;

/// Symmetric 2×2 matrix: the inertia H [kg·m²], or its inverse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sym2<S> {
    pub a00: S,
    pub a01: S,
    pub a11: S,
}

impl<S: Scalar> Sym2<S> {
    /// The inverse; H is positive definite for every accepted configuration.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        let inv_det = S::ONE / (self.a00 * self.a11 - self.a01 * self.a01);
        Sym2 {
            a00: self.a11 * inv_det,
            a01: -self.a01 * inv_det,
            a11: self.a00 * inv_det,
        }
    }

    #[inline(always)]
    pub fn apply(&self, v: [S; 2]) -> [S; 2] {
        [
            self.a00 * v[0] + self.a01 * v[1],
            self.a01 * v[0] + self.a11 * v[1],
        ]
    }
}

/// Everything the equations of motion need at one state; each sine is computed once.
#[derive(Clone, Copy, Debug)]
pub struct Terms<S> {
    /// Inertia H(q) [kg·m²].
    pub h: Sym2<S>,
    /// H(q)⁻¹.
    pub h_inv: Sym2<S>,
    /// Centrifugal and Coriolis torques B(q, ω) [N·m].
    pub b: [S; JOINTS],
    /// Gravity torques G(q) [N·m].
    pub g: [S; JOINTS],
    /// ½·ωᵀ(∂H/∂q)ω [N·m]: with p = H·ω the momentum obeys ṗ = this − G − f + u.
    pub dt_dq: [S; JOINTS],
    /// Accelerations of the frictionless system at this state, H⁻¹(−B − G) [rad/s²].
    pub free: [S; JOINTS],
    /// Normal force in each joint [N], from the joint reactions at the frictionless accelerations.
    pub normal: [S; JOINTS],
}

/// Sine and cosine of both joint angles.
#[derive(Clone, Copy, Debug)]
pub struct Trig<S> {
    pub sin: [S; JOINTS],
    pub cos: [S; JOINTS],
}

impl<S: Scalar> Trig<S> {
    #[inline(always)]
    pub fn new(q: [S; JOINTS]) -> Self {
        let ((s0, c0), (s1, c1)) = (q[0].sin_cos(), q[1].sin_cos());
        Trig {
            sin: [s0, s1],
            cos: [c0, c1],
        }
    }

    /// At `q` [rad], given that `self` belongs to `base`: the stages of one integration step are so close that turning by
    /// the difference costs a fifth of a new pair and is as exact.
    #[inline(always)]
    pub fn near(&self, base: [S; JOINTS], q: [S; JOINTS]) -> Self {
        let d = [q[0] - base[0], q[1] - base[1]];
        // Up to here the series below is exact to 1e-16.
        let close = S::lit(1.0 / 64.0);
        if d[0].abs() < close && d[1].abs() < close {
            let ((s0, c0), (s1, c1)) = (self.turn(0, d[0]), self.turn(1, d[1]));
            Trig {
                sin: [s0, s1],
                cos: [c0, c1],
            }
        } else {
            Self::new(q)
        }
    }

    /// sin and cos of (angle + d): addition theorem with sin d = d − d³/6 + d⁵/120, cos d = 1 − d²/2 + d⁴/24 − d⁶/720.
    #[inline(always)]
    fn turn(&self, joint: usize, d: S) -> (S, S) {
        let (s, c) = (self.sin[joint], self.cos[joint]);
        let d2 = d * d;
        let sin = d - d * d2 * (S::lit(1.0 / 6.0) - d2 * S::lit(1.0 / 120.0));
        let versine = d2 * (S::lit(0.5) - d2 * (S::lit(1.0 / 24.0) - d2 * S::lit(1.0 / 720.0)));
        (s + (c * sin - s * versine), c - (s * sin + c * versine))
    }
}

/// A plant: geometry and gravity fixed at construction, evaluated at any state.
pub trait Plant<S: Scalar>: Copy {
    /// Joints that move; the others are inert.
    const DOF: usize;

    /// H, B, G, frictionless accelerations and normal forces at the angles of `trig` and velocities `w` [rad/s].
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS]) -> Terms<S>;

    /// The same at angles `q` [rad].
    #[inline(always)]
    fn terms(&self, q: [S; JOINTS], w: [S; JOINTS]) -> Terms<S> {
        self.terms_at(&Trig::new(q), w)
    }

    /// Total energy [J] (kinetic + potential, hanging-independent datum).
    fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S;

    /// Smallest inertia [kg·m²] each joint can present, and the largest normal force [N] at rest:
    /// what the stiffness bound of a configuration is computed from.
    fn bounds(&self) -> Bounds<S>;
}

/// See [`Plant::bounds`].
#[derive(Clone, Copy, Debug)]
pub struct Bounds<S> {
    /// Smallest 1/(H⁻¹)jj over all poses [kg·m²].
    pub inertia: [S; JOINTS],
    /// Weight carried by each joint [N].
    pub weight: [S; JOINTS],
}

/// q̈ = H⁻¹(u − B − G − f) with friction at the normal forces of the frictionless motion: explicit, no
/// algebraic loop between friction and reaction.
#[inline(always)]
pub fn acceleration<S: Scalar>(
    t: &Terms<S>,
    w: [S; JOINTS],
    friction: &[Friction<S>; JOINTS],
) -> [S; JOINTS] {
    let f = [
        friction[0].torque(w[0], t.normal[0]),
        friction[1].torque(w[1], t.normal[1]),
    ];
    let df = t.h_inv.apply(f);
    [t.free[0] - df[0], t.free[1] - df[1]]
}

/// ẏ of y = (q0, q1, ω0, ω1) for a passive plant with friction.
#[inline(always)]
pub fn passive<S: Scalar, P: Plant<S>>(
    plant: &P,
    friction: &[Friction<S>; JOINTS],
    y: &[S; 4],
) -> [S; 4] {
    let (q, w) = ([y[0], y[1]], [y[2], y[3]]);
    let a = acceleration(&plant.terms(q, w), w, friction);
    [w[0], w[1], a[0], a[1]]
}

macro_rules! plants {
    ($($variant:ident: $module:ident),+ $(,)?) => {
        /// Any plant of the list, chosen by configuration at run time.
        #[derive(Clone, Copy, Debug)]
        pub enum AnyPlant<S> { $($variant($module::$variant<S>)),+ }

        /// Geometry of any plant of the list, as stored and sent.
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub enum PlantConfig { $($variant($module::Config)),+ }

        impl PlantConfig {
            pub fn build<S: Scalar>(&self) -> AnyPlant<S> {
                match self { $(PlantConfig::$variant(c) => AnyPlant::$variant($module::$variant::new(c))),+ }
            }
            /// Joints that move.
            pub fn dof(&self) -> usize {
                match self { $(PlantConfig::$variant(_) => <$module::$variant<f32> as Plant<f32>>::DOF),+ }
            }
            /// The first field outside its allowed range, if any.
            pub fn validate(&self) -> Result<(), crate::range::OutOfRange> {
                match self { $(PlantConfig::$variant(c) => c.validate()),+ }
            }
        }

        impl<S: Scalar> Plant<S> for AnyPlant<S> {
            const DOF: usize = JOINTS;
            #[inline(always)]
            fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS]) -> Terms<S> {
                match self { $(AnyPlant::$variant(p) => p.terms_at(trig, w)),+ }
            }
            fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S {
                match self { $(AnyPlant::$variant(p) => p.energy(q, w)),+ }
            }
            fn bounds(&self) -> Bounds<S> {
                match self { $(AnyPlant::$variant(p) => p.bounds()),+ }
            }
        }
    };
}

plants! {
    Furuta: furuta,
    Pendulum: pendulum,
}
