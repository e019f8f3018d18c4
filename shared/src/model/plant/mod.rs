//! The mechanical plants, behind one trait.
//!
//! Every plant obeys `H(q)·q̈ + B(q, ω) + G(q) = −f(ω) + u` with [`JOINTS`] joints. A plant with
//! fewer joints leaves the rest inert: unit inertia, no force. Adding a plant touches its own file
//! and the list at the end of this one.

pub mod acrobot;
pub mod cartpole;
pub mod furuta;
pub mod pendulum;
pub mod reactionwheel;
pub mod tolerance;

use crate::JOINTS;
use crate::model::friction::{Friction, Law};
use crate::model::joint::Joint;
use crate::number::scalar::Scalar;

/// Symmetric 2×2 matrix: the inertia H \[kg·m²\], or its inverse.
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
    /// Inertia H(q) \[kg·m²\].
    pub h: Sym2<S>,
    /// H(q)⁻¹.
    pub h_inv: Sym2<S>,
    /// Centrifugal and Coriolis torques B(q, ω) \[N·m\].
    pub b: [S; JOINTS],
    /// Gravity torques G(q) \[N·m\].
    pub g: [S; JOINTS],
    /// ½·ωᵀ(∂H/∂q)ω \[N·m\]: with p = H·ω the momentum obeys ṗ = this − G − f + u.
    pub dt_dq: [S; JOINTS],
    /// Accelerations of the frictionless system at this state, H⁻¹(τ − B − G) \[rad/s²\].
    pub free: [S; JOINTS],
    /// Normal force in each joint \[N\], from the joint reactions at the frictionless accelerations.
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

    /// At `q` \[rad\], given that `self` belongs to `base`: the stages of one integration step are so close that turning by
    /// the difference costs a fifth of a new pair and is as exact.
    #[inline(always)]
    pub fn near(&self, base: [S; JOINTS], q: [S; JOINTS]) -> Self {
        let d = [q[0] - base[0], q[1] - base[1]];
        // Up to here the series below is exact to 1e-16.
        let close = 1.0 / 64.0;
        if d[0].within(close) & d[1].within(close) {
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

    /// It brings a [`Plant::sensitivity`] of its own.
    const CLOSED_FORM: bool = false;

    /// Generalised force per unit of the one input u: where the motor acts, and in which sense. Its speed is this times ω.
    /// All zero: the plant has no place for a motor.
    const ACTUATOR: [f32; JOINTS] = [0.0; JOINTS];

    /// H, B, G, frictionless accelerations and normal forces at the angles of `trig` and velocities `w` \[rad/s\], with the
    /// generalised force `tau` \[N·m\] applied ([`no_force`] for none): accelerations and so reactions depend on it.
    fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S>;

    /// The same at angles `q` \[rad\] with no force applied.
    #[inline(always)]
    fn terms(&self, q: [S; JOINTS], w: [S; JOINTS]) -> Terms<S> {
        self.terms_at(&Trig::new(q), w, no_force())
    }

    /// The generalised force of the input `u` \[N·m, or N on a slide\].
    #[inline(always)]
    fn drive(&self, u: S) -> [S; JOINTS] {
        Self::ACTUATOR.map(|share| S::from_f32(share) * u)
    }

    /// The plant whose rig file is wrong by `error`. A plant that has no such description is taken as stated.
    #[inline(always)]
    fn perturbed(&self, _error: &RigError<S>) -> Self {
        *self
    }

    /// ∂q̈/∂(θ, ω, rig error) = −H⁻¹(∂H·q̈ + ∂B + ∂G) at `trig`, `w`, with `terms` there and the acceleration `a` \[rad/s²\], of a plant
    /// that was [`Plant::perturbed`] by `error`. The friction torque is held, normal force included.
    ///
    /// Unless a plant has a closed form: central differences, for (θ, ω) only.
    fn sensitivity(
        &self,
        _error: &RigError<S>,
        trig: &Trig<S>,
        w: [S; JOINTS],
        terms: &Terms<S>,
        a: [S; JOINTS],
    ) -> Sensitivity<S> {
        differences(self, trig, w, terms, a)
    }

    /// Total energy \[J\] (kinetic + potential, hanging-independent datum).
    fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S;

    /// Smallest inertia \[kg·m²\] each joint can present, and the largest normal force \[N\] at rest:
    /// what the stiffness bound of a configuration is computed from.
    fn bounds(&self) -> Bounds<S>;
}

/// How far the rig is from its file, as far as motion can show it. All zero: as the file says.
///
/// m·g·l of the pendulum stays as stated: it is the unit of mass, and no passive motion shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigError<S> {
    /// Tilt: true − stated \[rad\].
    pub tilt: S,
    /// Relative: constant part of the first joint's inertia, inertia of the pendulum, arm length, gravity torque of the arm.
    pub arm: S,
    pub link: S,
    pub length: S,
    pub gravity: S,
}

/// Number of fields of [`RigError`].
pub const RIG_ERRORS: usize = 5;

impl<S: Scalar> RigError<S> {
    /// In the order of the fields.
    #[inline(always)]
    pub fn from_values([tilt, arm, link, length, gravity]: [S; RIG_ERRORS]) -> Self {
        RigError {
            tilt,
            arm,
            link,
            length,
            gravity,
        }
    }
}

/// ∂q̈/∂x at one state, friction torque held.
#[derive(Clone, Copy, Debug)]
pub struct Sensitivity<S> {
    /// By each angle, each velocity, each field of [`RigError`].
    pub angle: [[S; JOINTS]; JOINTS],
    pub speed: [[S; JOINTS]; JOINTS],
    pub rig: [[S; JOINTS]; RIG_ERRORS],
}

/// Central differences for [`Plant::sensitivity`].
#[inline(never)]
fn differences<S: Scalar, P: Plant<S>>(
    plant: &P,
    trig: &Trig<S>,
    w: [S; JOINTS],
    terms: &Terms<S>,
    a: [S; JOINTS],
) -> Sensitivity<S> {
    // H·(free − a) is the friction torque and H·free + B + G the applied force: both stay.
    let f = terms.h.apply([terms.free[0] - a[0], terms.free[1] - a[1]]);
    let push = terms.h.apply(terms.free);
    let applied = [
        push[0] + terms.b[0] + terms.g[0],
        push[1] + terms.b[1] + terms.g[1],
    ];
    let (angle_step, speed_step) = (S::lit(1.0 / 128.0), S::lit(1.0 / 16.0));
    let at = |joint: usize, angle: S, speed: S| {
        let (mut turned, mut w) = (*trig, w);
        (turned.sin[joint], turned.cos[joint]) = trig.turn(joint, angle);
        w[joint] += speed;
        resisted(&plant.terms_at(&turned, w, applied), f)
    };
    let slope = |joint: usize, angle: S, speed: S| {
        let ahead = at(joint, angle, speed);
        let behind = at(joint, -angle, -speed);
        let scale = S::lit(0.5) / (angle + speed);
        [
            (ahead[0] - behind[0]) * scale,
            (ahead[1] - behind[1]) * scale,
        ]
    };
    Sensitivity {
        angle: [slope(0, angle_step, S::ZERO), slope(1, angle_step, S::ZERO)],
        speed: [slope(0, S::ZERO, speed_step), slope(1, S::ZERO, speed_step)],
        rig: [[S::ZERO; JOINTS]; RIG_ERRORS],
    }
}

/// See [`Plant::bounds`].
#[derive(Clone, Copy, Debug)]
pub struct Bounds<S> {
    /// Smallest 1/(H⁻¹)jj over all poses \[kg·m²\].
    pub inertia: [S; JOINTS],
    /// Weight carried by each joint \[N\].
    pub weight: [S; JOINTS],
}

/// q̈ = H⁻¹(u − B − G − f) with friction at the normal forces of the frictionless motion: explicit, no
/// algebraic loop between friction and reaction.
#[inline(always)]
pub fn acceleration<S: Scalar>(
    t: &Terms<S>,
    w: [S; JOINTS],
    friction: &[impl Law<S, Memory = ()>; JOINTS],
) -> [S; JOINTS] {
    resisted(
        t,
        [
            friction[0].torque(&(), w[0], t.normal[0]),
            friction[1].torque(&(), w[1], t.normal[1]),
        ],
    )
}

/// [`acceleration`] for friction torques `f` \[N·m\] already known.
#[inline(always)]
pub fn resisted<S: Scalar>(t: &Terms<S>, f: [S; JOINTS]) -> [S; JOINTS] {
    let df = t.h_inv.apply(f);
    [t.free[0] - df[0], t.free[1] - df[1]]
}

/// No generalised force. Minus zero: adding it changes no bit of any number, so a passive rig computes what it always did.
#[inline(always)]
pub fn no_force<S: Scalar>() -> [S; JOINTS] {
    [S::lit(-0.0); JOINTS]
}

/// ẏ of y = (q0, q1, ω0, ω1) for a plant with friction and the generalised force `tau` \[N·m\].
#[inline(always)]
pub fn driven<S: Scalar, P: Plant<S>>(
    plant: &P,
    friction: &[Friction<S>; JOINTS],
    y: &[S; 4],
    tau: [S; JOINTS],
) -> [S; 4] {
    let w = [y[2], y[3]];
    let terms = plant.terms_at(&Trig::new([y[0], y[1]]), w, tau);
    let a = acceleration(&terms, w, friction);
    [w[0], w[1], a[0], a[1]]
}

/// ẏ of y = (q0, q1, ω0, ω1) for a passive plant with friction.
#[inline(always)]
pub fn passive<S: Scalar, P: Plant<S>>(
    plant: &P,
    friction: &[Friction<S>; JOINTS],
    y: &[S; 4],
) -> [S; 4] {
    driven(plant, friction, y, no_force())
}

impl PlantConfig {
    /// Whether [`PlantConfig::with_rotor`] can say where a motor's inertia goes. On the others the masses must hold it already.
    pub fn takes_rotor(&self) -> bool {
        matches!(self, PlantConfig::Furuta(_) | PlantConfig::Pendulum(_))
    }

    /// The plant with a rotor of this inertia \[kg·m²\], seen through its gear, on the driven joint.
    pub fn with_rotor(self, inertia: f32) -> Self {
        match self {
            PlantConfig::Furuta(c) => PlantConfig::Furuta(furuta::Config {
                j1z: c.j1z + inertia,
                ..c
            }),
            PlantConfig::Pendulum(c) => PlantConfig::Pendulum(pendulum::Config {
                inertia: c.inertia + inertia,
                ..c
            }),
            other => other,
        }
    }
}

/// Something to do with a plant of any type; see [`AnyPlant::choose`].
pub trait Task<S: Scalar> {
    type Output;
    fn run<P: Plant<S>>(self, plant: &P) -> Self::Output;
}

macro_rules! plants {
    (own { $($variant:ident: $module:ident),+ $(,)? } shared { $($shared_variant:ident: $shared_module:ident),+ $(,)? }) => {
        /// Any plant of the list, chosen by configuration at run time.
        ///
        /// Whoever evaluates it is compiled once for each plant under `own` and once for all under `shared` together: the tick's code must
        /// fit the chip's fastest memory (docs/decisions.md).
        #[derive(Clone, Copy, Debug)]
        pub enum AnyPlant<S> { $($variant($module::$variant<S>),)+ Shared(Shared<S>) }

        /// Any of the plants that share one compiled copy of whoever evaluates them.
        #[derive(Clone, Copy, Debug)]
        pub enum Shared<S> { $($shared_variant($shared_module::$shared_variant<S>)),+ }

        /// Geometry of any plant of the list, as stored and sent.
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub enum PlantConfig { $($variant($module::Config),)+ $($shared_variant($shared_module::Config)),+ }

        plants! { list $($variant: $module,)+ $($shared_variant: $shared_module),+ }

        impl PlantConfig {
            pub fn build<S: Scalar>(&self) -> AnyPlant<S> {
                match self {
                    $(PlantConfig::$variant(c) => AnyPlant::$variant($module::$variant::new(c)),)+
                    $(PlantConfig::$shared_variant(c) => AnyPlant::Shared(Shared::$shared_variant($shared_module::$shared_variant::new(c)))),+
                }
            }
        }

        impl<S: Scalar> AnyPlant<S> {
            /// Do `task` with the plant by its own type: one choice instead of one per evaluation.
            #[inline(always)]
            pub fn choose<T: Task<S>>(&self, task: T) -> T::Output {
                match self { $(AnyPlant::$variant(p) => task.run(p),)+ AnyPlant::Shared(p) => task.run(p) }
            }
        }

        impl<S: Scalar> Plant<S> for AnyPlant<S> {
            const DOF: usize = JOINTS;
            #[inline(always)]
            fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
                match self { $(AnyPlant::$variant(p) => p.terms_at(trig, w, tau),)+ AnyPlant::Shared(p) => p.terms_at(trig, w, tau) }
            }
            #[inline(always)]
            fn drive(&self, u: S) -> [S; JOINTS] {
                match self { $(AnyPlant::$variant(p) => p.drive(u),)+ AnyPlant::Shared(p) => p.drive(u) }
            }
            #[inline(always)]
            fn perturbed(&self, error: &RigError<S>) -> Self {
                match self {
                    $(AnyPlant::$variant(p) => AnyPlant::$variant(p.perturbed(error)),)+
                    AnyPlant::Shared(p) => AnyPlant::Shared(p.perturbed(error)),
                }
            }
            #[inline(always)]
            fn sensitivity(
                &self,
                error: &RigError<S>,
                trig: &Trig<S>,
                w: [S; JOINTS],
                terms: &Terms<S>,
                a: [S; JOINTS],
            ) -> Sensitivity<S> {
                match self {
                    $(AnyPlant::$variant(p) => p.sensitivity(error, trig, w, terms, a),)+
                    AnyPlant::Shared(p) => p.sensitivity(error, trig, w, terms, a),
                }
            }
            fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S {
                match self { $(AnyPlant::$variant(p) => p.energy(q, w),)+ AnyPlant::Shared(p) => p.energy(q, w) }
            }
            fn bounds(&self) -> Bounds<S> {
                match self { $(AnyPlant::$variant(p) => p.bounds(),)+ AnyPlant::Shared(p) => p.bounds() }
            }
        }

        impl<S: Scalar> Plant<S> for Shared<S> {
            const DOF: usize = JOINTS;
            #[inline(never)]
            fn terms_at(&self, trig: &Trig<S>, w: [S; JOINTS], tau: [S; JOINTS]) -> Terms<S> {
                match self { $(Shared::$shared_variant(p) => p.terms_at(trig, w, tau)),+ }
            }
            #[inline(always)]
            fn drive(&self, u: S) -> [S; JOINTS] {
                match self { $(Shared::$shared_variant(p) => p.drive(u)),+ }
            }
            #[inline(always)]
            fn perturbed(&self, error: &RigError<S>) -> Self {
                match self { $(Shared::$shared_variant(p) => Shared::$shared_variant(p.perturbed(error))),+ }
            }
            #[inline(always)]
            fn sensitivity(
                &self,
                error: &RigError<S>,
                trig: &Trig<S>,
                w: [S; JOINTS],
                terms: &Terms<S>,
                a: [S; JOINTS],
            ) -> Sensitivity<S> {
                match self {
                    $(Shared::$shared_variant(p) if <$shared_module::$shared_variant<S> as Plant<S>>::CLOSED_FORM => {
                        p.sensitivity(error, trig, w, terms, a)
                    })+
                    _ => differences(self, trig, w, terms, a),
                }
            }
            fn energy(&self, q: [S; JOINTS], w: [S; JOINTS]) -> S {
                match self { $(Shared::$shared_variant(p) => p.energy(q, w)),+ }
            }
            fn bounds(&self) -> Bounds<S> {
                match self { $(Shared::$shared_variant(p) => p.bounds()),+ }
            }
        }
    };
    (list $($variant:ident: $module:ident),+) => {
        impl PlantConfig {
            /// The names in configurations, in the order of the wire's numbers.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant)),+];

            pub fn name(&self) -> &'static str {
                match self { $(PlantConfig::$variant(_) => stringify!($variant)),+ }
            }
            /// The plant of this name, with its default geometry.
            pub fn named(name: &str) -> Option<PlantConfig> {
                match name {
                    $(stringify!($variant) => Some(PlantConfig::$variant(Default::default())),)+
                    _ => None,
                }
            }
            /// Joints that move.
            pub fn dof(&self) -> usize {
                match self { $(PlantConfig::$variant(_) => <$module::$variant<f32> as Plant<f32>>::DOF),+ }
            }
            /// [`Plant::ACTUATOR`].
            pub fn actuator(&self) -> [f32; JOINTS] {
                match self { $(PlantConfig::$variant(_) => <$module::$variant<f32> as Plant<f32>>::ACTUATOR),+ }
            }
            /// Kind of each joint.
            pub fn joints(&self) -> [Joint; JOINTS] {
                match self { $(PlantConfig::$variant(_) => $module::Config::KINDS),+ }
            }
            /// What each joint is called.
            pub fn joint_names(&self) -> [&'static str; JOINTS] {
                match self { $(PlantConfig::$variant(_) => $module::Config::NAMES),+ }
            }
            /// Unit and meaning of each field of the geometry, as a configuration file states them.
            pub fn meanings(&self) -> &'static [(&'static str, &'static str)] {
                match self { $(PlantConfig::$variant(_) => &$module::Config::MEANINGS),+ }
            }
            /// Coordinates at which it hangs at rest \[rad or m\]: where a device is zeroed.
            pub fn rest(&self) -> [f32; JOINTS] {
                match self { $(PlantConfig::$variant(_) => $module::Config::REST),+ }
            }
            /// What `tolerance` leaves open about this rig.
            pub fn prior(&self, tolerance: &tolerance::Tolerance) -> tolerance::Prior {
                match self { $(PlantConfig::$variant(c) => c.prior(tolerance)),+ }
            }
            /// The first field outside its allowed range, if any.
            pub fn validate(&self) -> Result<(), crate::number::range::OutOfRange> {
                match self { $(PlantConfig::$variant(c) => c.validate()),+ }
            }
        }
    };
}

// The order is the wire's: a new plant goes to the end.
plants! {
    own {
        Furuta: furuta,
    }
    shared {
        Pendulum: pendulum,
        Cartpole: cartpole,
        Acrobot: acrobot,
        Reactionwheel: reactionwheel,
    }
}
