//! The plants that can be fitted: shared's list, each with the table of its rig parameters that may be free.
//!
//! A plant without a file of its own is taken as its rig file says (`stated.rs`). A plant's file says how its equations follow from the
//! table's values in any scalar, how its estimates are called and which part of the rig is estimated by default with which prior. Adding a
//! plant touches its own file and the list below.

pub(crate) mod furuta;
pub mod pendulum;
pub mod stated;

use stribeck_core::model::friction::Friction;
use stribeck_core::model::parameter::{self, Parameter};
use stribeck_core::model::plant::tolerance::Tolerance;
use stribeck_core::model::plant::{Plant, PlantConfig};
use stribeck_core::number::scalar::Scalar;

use crate::identify::model::motion::Rate;
use crate::identify::model::parametric::{Coef, Freedom, Param};

/// One value of a rig that can be estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// As printed, and in ASCII.
    pub name: &'static str,
    pub id: &'static str,
    pub unit: &'static str,
    /// A magnitude it is measured in, so that steps of all parameters are comparable; 0: its own value.
    pub scale: f64,
    /// Not of the plant's equations: costs nothing while it is zero and not free.
    pub beyond: bool,
}

/// Name, ASCII name, unit of an estimate, and the factor from the model's value to the printed one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    pub name: &'static str,
    pub id: &'static str,
    pub unit: &'static str,
    pub factor: f64,
}

impl Label {
    pub const fn new(
        name: &'static str,
        id: &'static str,
        unit: &'static str,
        factor: f64,
    ) -> Label {
        Label {
            name,
            id,
            unit,
            factor,
        }
    }
}

impl Coef {
    /// Of a joint that turns, in the words of the friction law.
    pub fn label(self) -> Label {
        let of = |p: Parameter| Label::new(p.symbol, p.id, p.unit, 1.0);
        match self {
            Coef::Coulomb => of(parameter::MU_D),
            Coef::Stribeck => Label::new("μs−μd ", "mu_s_d", parameter::MU_S.unit, 1.0),
            Coef::Viscous => of(parameter::MU_V),
            Coef::Transition => of(parameter::VT),
            Coef::Drag => of(parameter::DRAG),
            Coef::DeltaCoulomb => of(parameter::DELTA_D),
            Coef::DeltaViscous => of(parameter::DELTA_V),
            Coef::Preload => Label::new("preload", "preload", "1", 1.0),
            Coef::Wave(0) => Label::new("sin θ", "wave_sin", "1", 1.0),
            Coef::Wave(1) => Label::new("cos θ", "wave_cos", "1", 1.0),
            Coef::Wave(2) => Label::new("sin 2θ", "wave_sin2", "1", 1.0),
            Coef::Wave(_) => Label::new("cos 2θ", "wave_cos2", "1", 1.0),
        }
    }
}

/// What the Coulomb term is proportional to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// The reaction of the joint, which changes with the motion.
    Reaction,
    /// A constant: preload of the bearing, at the value of the weight carried.
    Constant,
}

/// A plant as the fit sees it; `NS` = 2·joints is the length of its state (angles, velocities).
pub trait Fitted<const NS: usize>: Copy {
    type Plant<S: Scalar>: Plant<S>;

    /// The equations from values in the order of the table. A plant may use that the load is constant.
    fn plant<S: Scalar>(&self, values: &[S], load: Load) -> Self::Plant<S>;

    /// What acts beyond the plant's equations, from the same values.
    fn beyond<S: Scalar>(&self, _: &[S]) -> Option<Beyond<S>> {
        None
    }

    /// ẏ of the state with friction at the normal forces of `load`.
    fn rate<S: Scalar>(system: &System<S, Self::Plant<S>>, y: &[S; NS]) -> [S; NS];
}

/// Equations of motion in scalar S.
#[derive(Clone, Copy, Debug)]
pub struct System<S, P> {
    pub plant: P,
    pub friction: [Friction<S>; 2],
    pub shape: [Shape<S>; 2],
    /// Weight carried \[N\], where a preload is measured by it.
    pub weight: Option<[S; 2]>,
    /// The load is that weight, not the reaction.
    pub constant: bool,
    /// The Coulomb term varies over the angle.
    pub waved: bool,
    pub beyond: Option<Beyond<S>>,
}

/// How the Coulomb term of a joint depends on load and angle: μd·((1 − ρ)·Fn + ρ·weight)·(1 + wave(θ)).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape<S> {
    /// ρ.
    pub preload: S,
    /// Parts of sin θ, cos θ, sin 2θ, cos 2θ.
    pub wave: [S; 4],
}

impl Shape<f64> {
    pub fn lift<S: Scalar>(&self) -> Shape<S> {
        Shape {
            preload: S::lit(self.preload),
            wave: self.wave.map(S::lit),
        }
    }
}

/// What a bench has beyond the plant's equations.
#[derive(Clone, Copy, Debug)]
pub struct Beyond<S> {
    /// Spring of a cable on the first joint \[N·m/rad\].
    pub cable: S,
    /// Ticks are longer than stated by this part.
    pub clock: S,
}

impl<S: Scalar, P> System<S, P> {
    /// Normal forces as the Coulomb terms feel them.
    #[inline(always)]
    pub fn loads(&self, q: [S; 2], reaction: [S; 2]) -> [S; 2] {
        let mut out = reaction;
        if let Some(weight) = self.weight {
            for j in 0..2 {
                out[j] = if self.constant {
                    weight[j]
                } else {
                    reaction[j] + self.shape[j].preload * (weight[j] - reaction[j])
                };
            }
        }
        if self.waved {
            for j in 0..2 {
                let (s, c) = q[j].sin_cos();
                let [a, b, d, e] = self.shape[j].wave;
                let twice = [S::lit(2.0) * s * c, c * c - s * s];
                out[j] *= S::ONE + a * s + b * c + d * twice[0] + e * twice[1];
            }
        }
        out
    }

    /// ẏ of two joints with friction and what else acts.
    #[inline(always)]
    pub fn rate_of_two(&self, y: &[S; 4]) -> [S; 4]
    where
        P: Plant<S>,
    {
        let (q, w) = ([y[0], y[1]], [y[2], y[3]]);
        let t = self.plant.terms(q, w);
        let normal = self.loads(q, t.normal);
        let mut f: [S; 2] = std::array::from_fn(|j| self.friction[j].torque(w[j], normal[j]));
        if let Some(b) = &self.beyond {
            f[0] += b.cable * q[0];
        }
        let df = t.h_inv.apply(f);
        let rate = [w[0], w[1], t.free[0] - df[0], t.free[1] - df[1]];
        match &self.beyond {
            None => rate,
            Some(b) => rate.map(|r| r + b.clock * r),
        }
    }
}

/// A system that can be integrated as a state of NS numbers.
#[derive(Clone, Copy, Debug)]
pub struct Motion<S: Scalar, R: Fitted<NS>, const NS: usize>(pub System<S, R::Plant<S>>);

impl<S: Scalar, R: Fitted<NS>, const NS: usize> Rate<S, NS> for Motion<S, R, NS> {
    #[inline(never)]
    fn rate(&self, y: &[S; NS]) -> [S; NS] {
        R::rate(&self.0, y)
    }
}

/// Work that is generic over the plant.
pub trait Visit {
    type Out;
    fn at<R: Fitted<NS>, const NS: usize>(self, rig: &R) -> Self::Out;
}

macro_rules! rigs {
    ($($variant:ident: $module:ident, $states:literal states;)+) => {
        /// Any plant of the list with the values of its table.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Rig { $($variant($module::Rig),)+ Stated(stated::Rig) }

        impl Rig {
            /// As configured.
            pub fn of(plant: &PlantConfig) -> Rig {
                match plant {
                    $(PlantConfig::$variant(c) => Rig::$variant($module::Rig::new(c)),)+
                    other => Rig::Stated(stated::Rig::new(other)),
                }
            }
            /// The configuration an observer of the chip gets.
            pub fn config(&self) -> PlantConfig {
                match self { $(Rig::$variant(r) => PlantConfig::$variant(r.config()),)+ Rig::Stated(r) => r.config() }
            }
            pub fn joints(&self) -> usize {
                match self { $(Rig::$variant(_) => $states / 2,)+ Rig::Stated(_) => 2 }
            }
            /// What of the rig can be free.
            pub fn table(&self) -> &'static [Entry] {
                match self { $(Rig::$variant(_) => &$module::TABLE,)+ Rig::Stated(_) => &stated::TABLE }
            }
            /// Values in the order of the table.
            pub fn values(&self) -> &[f64] {
                match self { $(Rig::$variant(r) => &r.values,)+ Rig::Stated(r) => &r.values }
            }
            pub fn values_mut(&mut self) -> &mut [f64] {
                match self { $(Rig::$variant(r) => &mut r.values,)+ Rig::Stated(r) => &mut r.values }
            }
            /// What is estimated beside the friction unless a user says otherwise.
            pub fn freedom(&self) -> Freedom {
                match self { $(Rig::$variant(r) => r.freedom(),)+ Rig::Stated(r) => r.freedom() }
            }
            /// The same rig, weighed and measured to these tolerances. A pendulum alone says nothing but ω0².
            pub fn within(self, t: &Tolerance) -> Rig {
                match self {
                    Rig::Furuta(r) => Rig::Furuta(r.within(t)),
                    Rig::Stated(r) => Rig::Stated(r.within(t)),
                    other => other,
                }
            }
            /// How well the rig was weighed and measured.
            pub fn tolerance(&self) -> Tolerance {
                match self {
                    Rig::Furuta(r) => r.tolerance,
                    Rig::Stated(r) => r.tolerance,
                    Rig::Pendulum(_) => Tolerance::default(),
                }
            }
            /// What the Coulomb term of this plant is proportional to unless the record says otherwise.
            pub fn load(&self) -> Load {
                match self { $(Rig::$variant(_) => $module::LOAD,)+ Rig::Stated(_) => stated::LOAD }
            }
            /// How a friction coefficient of a joint is called.
            pub fn friction_label(&self, c: Coef, joint: usize) -> Label {
                match self { $(Rig::$variant(r) => r.friction_label(c),)+ Rig::Stated(r) => r.friction_label(c, joint) }
            }
            /// Typical size of a friction coefficient.
            pub fn friction_scale(&self, c: Coef, joint: usize) -> f64 {
                match self { $(Rig::$variant(_) => $module::friction_scale(c),)+ Rig::Stated(r) => r.friction_scale(c, joint) }
            }
            /// Friction terms that are always estimated.
            pub fn base(&self) -> &'static [Coef] {
                match self { $(Rig::$variant(_) => $module::BASE,)+ Rig::Stated(_) => stated::BASE }
            }
            /// Additions to them that are tried.
            pub fn additions(&self) -> &'static [&'static [Coef]] {
                match self { $(Rig::$variant(_) => $module::ADDITIONS,)+ Rig::Stated(_) => stated::ADDITIONS }
            }
            /// Relative standard deviation of a coefficient that no motion shows: scales of mass and load.
            pub fn hidden(&self, c: Coef, joint: usize) -> f64 {
                match self { $(Rig::$variant(r) => r.hidden(c, joint),)+ Rig::Stated(r) => r.hidden(c, joint) }
            }
            /// Values a plant of this kind can have.
            pub fn feasible(&self) -> bool {
                match self { $(Rig::$variant(r) => r.feasible(),)+ Rig::Stated(r) => r.feasible() }
            }
            pub fn visit<V: Visit>(&self, v: V) -> V::Out {
                match self { $(Rig::$variant(r) => v.at::<_, $states>(r),)+ Rig::Stated(r) => v.at::<_, 4>(r) }
            }
        }
    };
}

rigs! {
    Furuta: furuta, 4 states;
    Pendulum: pendulum, 2 states;
}

impl Rig {
    /// The table's parameter with ASCII name `id`.
    pub fn parameter(&self, id: &str) -> Option<Param> {
        self.table().iter().position(|e| e.id == id).map(Param::Rig)
    }
}
