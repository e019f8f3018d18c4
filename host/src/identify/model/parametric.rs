//! The model to be fitted: a plant, friction of each joint, and the list of parameters that are free.
//!
//! [`Model::motion`] builds the shared equations of motion in any scalar from the free parameters, so that dual numbers
//! carry the sensitivities through the very code that runs on the chip. What a plant's own parameters are stands in its
//! table ([`crate::identify::model::plant`]).

use crate::number;

use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::{Plant, PlantConfig, furuta};
use stribeck_core::number::scalar::Scalar;

use super::plant::{Fitted, Motion, Shape, System, Visit};
pub use super::plant::{Label, Load, Rig};

/// One coefficient of the friction law of one joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coef {
    /// Coulomb, μd.
    Coulomb,
    /// Stribeck bump, μs − μd.
    Stribeck,
    /// Viscous, μv.
    Viscous,
    /// Transition velocity, vt.
    Transition,
    /// Quadratic drag, d.
    Drag,
    /// Difference of the Coulomb term between directions, Δd.
    DeltaCoulomb,
    /// Difference of the viscous term between directions, Δv.
    DeltaViscous,
    /// Share of the Coulomb term that is preload: 0 follows the joint's load, 1 is constant.
    Preload,
    /// The Coulomb term over the joint's angle, ·(1 + wave): parts of sin θ, cos θ, sin 2θ, cos 2θ.
    Wave(u8),
}

/// The waves of a Coulomb term that varies over the angle.
pub const WAVES: [Coef; 4] = [Coef::Wave(0), Coef::Wave(1), Coef::Wave(2), Coef::Wave(3)];

/// A quantity that can be estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Param {
    Friction(Coef, usize),
    /// A value of the plant's table.
    Rig(usize),
    /// Reading of the encoder at the hanging position \[rad\].
    Offset(usize),
    /// An eccentric disc of a joint shows θ + s·sin θ + c·cos θ: s (0) or c (1) \[rad\].
    Disc(usize, usize),
}

impl Param {
    /// Offsets and discs act on the reading only, everything else on the motion.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, Param::Offset(_) | Param::Disc(..))
    }

    /// A coefficient that takes energy out of the motion whenever it is positive.
    pub fn dissipates(self) -> bool {
        matches!(
            self,
            Param::Friction(
                Coef::Coulomb | Coef::Viscous | Coef::Drag | Coef::Stribeck,
                _
            )
        )
    }
}

/// What is known of a parameter beforehand: value ± one standard deviation, a pseudo-measurement beside the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    pub param: Param,
    pub value: f64,
    pub sigma: f64,
}

/// Rig parameters that are estimated beside the friction, with what is known of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Freedom {
    pub free: Vec<Param>,
    pub priors: Vec<Prior>,
}

impl Freedom {
    /// Nothing of the rig is estimated: it is exactly as configured.
    pub fn none() -> Freedom {
        Freedom::default()
    }

    /// These, with no prior.
    pub fn of(free: &[Param]) -> Freedom {
        Freedom {
            free: free.to_vec(),
            priors: Vec::new(),
        }
    }

    /// Free with a prior.
    pub fn add(&mut self, prior: Prior) {
        self.free.push(prior.param);
        self.priors.push(prior);
    }

    /// Free with no prior, whatever was known before.
    pub fn release(&mut self, param: Param) {
        self.priors.retain(|p| p.param != param);
        if !self.free.contains(&param) {
            self.free.push(param);
        }
    }
}

/// Rig, friction and encoder offsets, with the parameters that are free and those that are not.
#[derive(Clone, Debug)]
pub struct Model {
    pub rig: Rig,
    pub friction: [Friction<f64>; 2],
    /// What the Coulomb term is proportional to.
    pub load: Load,
    /// How the Coulomb term depends on load and angle.
    pub shape: [Shape<f64>; 2],
    /// Reading at the hanging position \[rad\].
    pub offset: [f64; 2],
    /// Eccentricity of each joint's disc: parts of sin θ and cos θ \[rad\].
    pub disc: [[f64; 2]; 2],
    /// What is estimated; dynamic parameters first.
    pub free: Vec<Param>,
}

impl Model {
    /// `free` is put in canonical order: dynamic parameters first, none twice.
    pub fn new(rig: Rig, friction: [Friction<f64>; 2], free: &[Param]) -> Model {
        let mut model = Model {
            rig,
            friction,
            load: rig.load(),
            shape: [Shape::default(); 2],
            offset: [0.0; 2],
            disc: [[0.0; 2]; 2],
            free: Vec::new(),
        };
        model.release(free);
        model
    }

    /// The Furuta pendulum of a configuration with `friction`, nothing free.
    pub fn furuta(c: &furuta::Config, friction: [Friction<f64>; 2]) -> Model {
        Model::new(Rig::of(&PlantConfig::Furuta(*c)), friction, &[])
    }

    /// Make exactly these parameters free.
    pub fn release(&mut self, free: &[Param]) {
        self.free.clear();
        for &p in free {
            if !self.free.contains(&p) {
                self.free.push(p);
            }
        }
        self.free.sort_by_key(|p| !p.is_dynamic());
    }

    pub fn joints(&self) -> usize {
        self.rig.joints()
    }

    /// How many of the free parameters act on the motion.
    pub fn dynamic(&self) -> usize {
        self.free.iter().filter(|p| p.is_dynamic()).count()
    }

    pub fn get(&self, p: Param) -> f64 {
        match p {
            Param::Friction(c, j) => {
                *coefficient(&mut self.friction[j].clone(), &mut self.shape[j].clone(), c)
            }
            Param::Offset(j) => self.offset[j],
            Param::Disc(j, k) => self.disc[j][k],
            Param::Rig(i) => self.rig.values()[i],
        }
    }

    pub fn set(&mut self, p: Param, x: f64) {
        match p {
            Param::Friction(c, j) => {
                *coefficient(&mut self.friction[j], &mut self.shape[j], c) = x;
            }
            Param::Offset(j) => self.offset[j] = x,
            Param::Disc(j, k) => self.disc[j][k] = x,
            Param::Rig(i) => self.rig.values_mut()[i] = x,
        }
    }

    /// Take over the values of these parameters from another model of the same plant.
    pub fn adopt(&mut self, from: &Model, params: &[Param]) {
        for &p in params {
            self.set(p, from.get(p));
        }
    }

    /// Where `p` stands among the free parameters.
    pub fn place(&self, p: Param) -> Option<usize> {
        self.free.iter().position(|q| *q == p)
    }

    /// Current values of the free parameters.
    pub fn values(&self) -> Vec<f64> {
        self.free.iter().map(|&p| self.get(p)).collect()
    }

    pub fn with_values(&self, values: &[f64]) -> Model {
        let mut m = self.clone();
        for (&p, &x) in self.free.iter().zip(values) {
            m.set(p, x);
        }
        m
    }

    /// Free parameters `x` moved by a linearised step `dx`.
    ///
    /// A record shows the impulse of the Stribeck peak, (μs − μd)·vt, much better than its two factors: the step is
    /// taken in (impulse, ln vt), along which the valley of the cost is straight, and vt stays positive. A peak below the
    /// Coulomb level is no Stribeck effect: a step stops at a small part of what is left.
    pub fn stepped(&self, x: &[f64], dx: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = x.iter().zip(dx).map(|(x, d)| x + d).collect();
        for j in 0..2 {
            let bump = self.place(Param::Friction(Coef::Stribeck, j));
            if let Some(t) = self.place(Param::Friction(Coef::Transition, j)) {
                let vt = x[t] * number::exp((dx[t] / x[t]).clamp(-1.5, 1.5));
                if let Some(b) = bump {
                    out[b] = (x[b] * x[t] + x[b] * dx[t] + dx[b] * x[t]) / vt;
                }
                out[t] = vt;
            }
            if let Some(b) = bump {
                out[b] = out[b].max(0.1 * x[b]).max(0.0);
            }
        }
        out
    }

    /// A magnitude each free parameter is measured in, so that all are of order one.
    pub fn scales(&self) -> Vec<f64> {
        let typical = |p: Param| match p {
            Param::Friction(Coef::Preload | Coef::Wave(_), _) => 0.1,
            Param::Friction(c, j) => self.rig.friction_scale(c, j),
            Param::Offset(_) => 0.01,
            Param::Disc(..) => 1e-3,
            Param::Rig(i) => self.rig.table()[i].scale.max(1e-12),
        };
        self.free
            .iter()
            .map(|&p| typical(p).max(self.get(p).abs()))
            .collect()
    }

    /// Name, ASCII name and unit of a parameter, and the factor from the model's value to the printed one.
    pub fn label(&self, p: Param) -> (String, String, &'static str, f64) {
        let index = |j: usize| {
            if self.joints() == 1 {
                String::new()
            } else {
                j.to_string()
            }
        };
        match p {
            Param::Friction(c, j) => {
                let l = self.rig.friction_label(c, j);
                let i = index(j);
                (
                    format!("{}{i}", l.name),
                    format!("{}{i}", l.id),
                    l.unit,
                    l.factor,
                )
            }
            Param::Rig(i) => {
                let e = &self.rig.table()[i];
                (e.name.into(), e.id.into(), e.unit, 1.0)
            }
            Param::Offset(j) => (
                format!("zero{}", index(j)),
                format!("zero{}", index(j)),
                self.rig.config().joints()[j].units().coordinate,
                1.0,
            ),
            Param::Disc(j, k) => {
                let part = ["sin", "cos"][k];
                let i = index(j);
                (
                    format!("disc{i} {part}"),
                    format!("disc{i}_{part}"),
                    self.rig.config().joints()[j].units().coordinate,
                    1.0,
                )
            }
        }
    }

    /// The friction laws in scalar S; `x` holds the dynamic free parameters.
    fn friction_in<S: Scalar>(&self, x: &[S]) -> ([Friction<S>; 2], [Shape<S>; 2]) {
        let mut friction = self.friction.map(|f| lift(&f));
        let mut shape = self.shape.map(|s| s.lift());
        for (&p, &v) in self.free.iter().zip(x) {
            if let Param::Friction(c, j) = p
                && c != Coef::Stribeck
            {
                *coefficient(&mut friction[j], &mut shape[j], c) = v;
            }
        }
        // μs = μd + bump, after μd is in place.
        for j in 0..2 {
            let bump = self
                .free
                .iter()
                .zip(x)
                .find(|(p, _)| **p == Param::Friction(Coef::Stribeck, j))
                .map_or(S::lit(self.friction[j].mu_s), |(_, v)| *v);
            friction[j].mu_s = friction[j].mu_d + bump;
        }
        (friction, shape)
    }

    /// Whether any joint's Coulomb term is more than μd·Fn, so that the load must be shaped.
    fn shaped(&self) -> [bool; 2] {
        let free = |c: Coef| (0..2).any(|j| self.place(Param::Friction(c, j)).is_some());
        let set = |part: fn(&Shape<f64>) -> bool| self.shape.iter().any(part);
        [
            free(Coef::Preload) || set(|s| s.preload != 0.0),
            WAVES.into_iter().any(free) || set(|s| s.wave != [0.0; 4]),
        ]
    }

    /// Whether anything acts that the plant's equations do not have.
    fn beyond(&self) -> bool {
        let table = self.rig.table();
        let acts = |i: usize| self.rig.values()[i] != 0.0 || self.place(Param::Rig(i)).is_some();
        (0..table.len()).any(|i| table[i].beyond && acts(i))
    }

    /// What the disc of joint `j` shows at angle `q`, and its derivatives by q and by both parts.
    pub fn shown(disc: &[f64; 2], q: f64) -> (f64, f64, [f64; 2]) {
        let (sin, cos) = (number::sin(q), number::cos(q));
        (
            disc[0] * sin + disc[1] * cos,
            1.0 + disc[0] * cos - disc[1] * sin,
            [sin, cos],
        )
    }

    /// The equations of motion in scalar S of the rig inside `self.rig`; `x` holds the dynamic free parameters.
    pub fn motion<S: Scalar, R: Fitted<NS>, const NS: usize>(
        &self,
        rig: &R,
        x: &[S],
    ) -> Motion<S, R, NS> {
        let mut values: Vec<S> = self.rig.values().iter().map(|&v| S::lit(v)).collect();
        for (&p, &value) in self.free.iter().zip(x) {
            if let Param::Rig(i) = p {
                values[i] = value;
            }
        }
        let plant = rig.plant(&values, self.load);
        let (friction, shape) = self.friction_in(x);
        let [preloaded, waved] = self.shaped();
        let loads = (self.load == Load::Constant) || preloaded;
        Motion(System {
            weight: loads.then(|| plant.bounds().weight),
            constant: self.load == Load::Constant,
            waved,
            beyond: if self.beyond() {
                rig.beyond(&values)
            } else {
                None
            },
            plant,
            friction,
            shape,
        })
    }

    /// The plant at the present values in f64, behind the trait.
    pub fn with_plant<T>(&self, work: impl FnOnce(&dyn Terms) -> T) -> T {
        struct At<'a, F>(&'a Model, F);
        impl<T, F: FnOnce(&dyn Terms) -> T> Visit for At<'_, F> {
            type Out = T;
            fn at<R: Fitted<NS>, const NS: usize>(self, rig: &R) -> T {
                let x = self.0.values();
                let motion: Motion<f64, R, NS> = self.0.motion(rig, &x[..self.0.dynamic()]);
                (self.1)(&motion.0)
            }
        }
        self.rig.visit(At(self, work))
    }
}

/// What the linear methods ask of a plant in f64.
pub trait Terms {
    /// Inertia, torques and normal forces at a state.
    fn terms(&self, q: [f64; 2], w: [f64; 2]) -> stribeck_core::model::plant::Terms<f64>;
    /// Total energy \[J\].
    fn energy(&self, q: [f64; 2], w: [f64; 2]) -> f64;
    fn bounds(&self) -> stribeck_core::model::plant::Bounds<f64>;
}

impl<P: Plant<f64>> Terms for System<f64, P> {
    fn terms(&self, q: [f64; 2], w: [f64; 2]) -> stribeck_core::model::plant::Terms<f64> {
        let mut terms = self.plant.terms(q, w);
        terms.normal = self.loads(q, terms.normal);
        terms
    }

    fn energy(&self, q: [f64; 2], w: [f64; 2]) -> f64 {
        self.plant.energy(q, w)
    }

    fn bounds(&self) -> stribeck_core::model::plant::Bounds<f64> {
        self.plant.bounds()
    }
}

/// In a [`Model`] the field `mu_s` holds the bump μs − μd, so that it is 0 without Stribeck effect.
pub fn model_friction(f: &Friction<f64>) -> Friction<f64> {
    Friction {
        mu_s: f.mu_s - f.mu_d,
        ..*f
    }
}

fn coefficient<'a, S>(f: &'a mut Friction<S>, s: &'a mut Shape<S>, c: Coef) -> &'a mut S {
    match c {
        Coef::Preload => &mut s.preload,
        Coef::Wave(k) => &mut s.wave[usize::from(k) % 4],
        Coef::Coulomb => &mut f.mu_d,
        Coef::Stribeck => &mut f.mu_s,
        Coef::Viscous => &mut f.mu_v,
        Coef::Transition => &mut f.vt,
        Coef::Drag => &mut f.drag,
        Coef::DeltaCoulomb => &mut f.delta_d,
        Coef::DeltaViscous => &mut f.delta_v,
    }
}

fn lift<S: Scalar>(f: &Friction<f64>) -> Friction<S> {
    Friction {
        mu_d: S::lit(f.mu_d),
        mu_s: S::lit(f.mu_s),
        mu_v: S::lit(f.mu_v),
        vt: S::lit(f.vt),
        fnt: S::lit(f.fnt),
        drag: S::lit(f.drag),
        delta_d: S::lit(f.delta_d),
        delta_v: S::lit(f.delta_v),
    }
}
