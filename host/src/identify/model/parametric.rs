//! The model to be fitted: a plant, friction of each joint, and the list of parameters that are free.
//!
//! [`Model::system`] builds the shared equations of motion in any scalar from the free parameters, so
//! that dual numbers carry the sensitivities through the very code that runs on the chip.
//!
//! A pendulum is written per unit of inertia (J = 1, constant normal force 1), so its free parameters are
//! ω0² [1/s²], c/J [rad/s²], b/J [1/s], d/J [1]; a known inertia only scales what is printed.

use stribeck_core::friction::Friction;
use stribeck_core::plant::furuta::{self, Furuta};
use stribeck_core::plant::pendulum::Pendulum;
use stribeck_core::scalar::Scalar;

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
}

/// A quantity that can be estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Param {
    Friction(Coef, usize),
    /// ω0² = m·g·l/J of a pendulum [1/s²].
    Omega0Squared,
    /// Tilt φ of the Furuta pendulum [rad].
    Tilt,
    /// Arm inertia j1z [kg·m²].
    ArmInertia,
    /// Pendulum inertia j2x = j2y [kg·m²].
    LinkInertia,
    /// Centre of gravity of the pendulum, l2 [m].
    LinkCentre,
    /// Reading of the encoder at the hanging position [rad].
    Offset(usize),
}

impl Param {
    /// Offsets act on the reading only, everything else on the motion.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, Param::Offset(_))
    }
}

/// The plant: a Furuta rig with the values of [`furuta::Config`]'s fields in order, or a pendulum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rig {
    Furuta([f64; 11]),
    Pendulum {
        /// ω0² [1/s²].
        omega0_sq: f64,
        /// J [kg·m²] when known: estimates are then printed as torques.
        inertia: Option<f64>,
    },
}

impl Rig {
    pub fn furuta(c: &furuta::Config) -> Rig {
        Rig::Furuta(c.values().map(f64::from))
    }

    pub fn joints(&self) -> usize {
        match self {
            Rig::Furuta(_) => 2,
            Rig::Pendulum { .. } => 1,
        }
    }
}

/// Equations of motion in scalar S.
#[derive(Clone, Copy, Debug)]
pub struct System<S, P> {
    pub plant: P,
    pub friction: [Friction<S>; 2],
}

/// Rig, friction and encoder offsets, with the parameters that are free and those that are not.
#[derive(Clone, Debug)]
pub struct Model {
    pub rig: Rig,
    pub friction: [Friction<f64>; 2],
    /// Reading at the hanging position [rad].
    pub offset: [f64; 2],
    /// What is estimated; dynamic parameters first.
    pub free: Vec<Param>,
}

impl Model {
    /// `free` is put in canonical order: dynamic parameters first.
    pub fn new(rig: Rig, friction: [Friction<f64>; 2], free: &[Param]) -> Model {
        let mut free = free.to_vec();
        free.sort_by_key(|p| !p.is_dynamic());
        Model {
            rig,
            friction,
            offset: [0.0; 2],
            free,
        }
    }

    pub fn joints(&self) -> usize {
        self.rig.joints()
    }

    /// How many of the free parameters act on the motion.
    pub fn dynamic(&self) -> usize {
        self.free.iter().filter(|p| p.is_dynamic()).count()
    }

    pub fn get(&self, p: Param) -> f64 {
        match (p, &self.rig) {
            (Param::Friction(c, j), _) => *coefficient(&mut self.friction[j].clone(), c),
            (Param::Offset(j), _) => self.offset[j],
            (Param::Omega0Squared, Rig::Pendulum { omega0_sq, .. }) => *omega0_sq,
            (p, Rig::Furuta(v)) => furuta_index(p).map_or(0.0, |i| v[i]),
            _ => 0.0,
        }
    }

    pub fn set(&mut self, p: Param, x: f64) {
        match (p, &mut self.rig) {
            (Param::Friction(c, j), _) => *coefficient(&mut self.friction[j], c) = x,
            (Param::Offset(j), _) => self.offset[j] = x,
            (Param::Omega0Squared, Rig::Pendulum { omega0_sq, .. }) => *omega0_sq = x,
            (p, Rig::Furuta(v)) => {
                if let Some(i) = furuta_index(p) {
                    v[i] = x;
                    if p == Param::LinkInertia {
                        v[4] = x;
                    }
                }
            }
            _ => {}
        }
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
    /// taken in (impulse, ln vt), along which the valley of the cost is straight, and vt stays positive.
    pub fn stepped(&self, x: &[f64], dx: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = x.iter().zip(dx).map(|(x, d)| x + d).collect();
        let place = |c: Coef, j: usize| {
            let p = Param::Friction(c, j);
            self.free.iter().position(|q| *q == p)
        };
        for j in 0..2 {
            let Some(t) = place(Coef::Transition, j) else {
                continue;
            };
            let vt = x[t] * (dx[t] / x[t]).clamp(-1.5, 1.5).exp();
            if let Some(b) = place(Coef::Stribeck, j) {
                out[b] = (x[b] * x[t] + x[b] * dx[t] + dx[b] * x[t]) / vt;
            }
            out[t] = vt;
        }
        out
    }

    /// A magnitude each free parameter is measured in, so that all are of order one.
    pub fn scales(&self) -> Vec<f64> {
        self.free
            .iter()
            .map(|&p| {
                let typical = match (p, &self.rig) {
                    (Param::Friction(Coef::Coulomb, _), Rig::Furuta(_)) => 5e-4,
                    (Param::Friction(Coef::Stribeck | Coef::DeltaCoulomb, _), Rig::Furuta(_)) => {
                        1e-4
                    }
                    (Param::Friction(Coef::Viscous, _), Rig::Furuta(_)) => 2e-4,
                    (Param::Friction(Coef::DeltaViscous, _), Rig::Furuta(_)) => 5e-5,
                    (Param::Friction(Coef::Drag, _), Rig::Furuta(_)) => 2e-5,
                    (Param::Friction(Coef::Transition, _), _) => self.get(p).abs().max(1e-3),
                    (Param::Friction(Coef::Drag, _), _) => 0.01,
                    (Param::Friction(..), _) => 0.1,
                    (Param::Offset(_), _) => 0.01,
                    (p, _) => self.get(p).abs().max(1e-12),
                };
                typical.max(self.get(p).abs())
            })
            .collect()
    }

    /// The friction laws in scalar S; `x` holds the dynamic free parameters.
    fn friction_in<S: Scalar>(&self, x: &[S]) -> [Friction<S>; 2] {
        let mut friction = self.friction.map(|f| lift(&f));
        for (&p, &v) in self.free.iter().zip(x) {
            if let Param::Friction(c, j) = p {
                match c {
                    Coef::Stribeck => {}
                    c => *coefficient(&mut friction[j], c) = v,
                }
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
        friction
    }

    /// The Furuta pendulum in scalar S; `None` for another rig.
    pub fn furuta<S: Scalar>(&self, x: &[S]) -> Option<System<S, Furuta<S>>> {
        let Rig::Furuta(v) = self.rig else {
            return None;
        };
        let mut v = v.map(S::lit);
        for (&p, &value) in self.free.iter().zip(x) {
            if let Some(i) = furuta_index(p) {
                v[i] = value;
                if p == Param::LinkInertia {
                    v[4] = value;
                }
            }
        }
        Some(System {
            plant: Furuta::from_values(v),
            friction: self.friction_in(x),
        })
    }

    /// The pendulum in scalar S, per unit of inertia; `None` for another rig.
    pub fn pendulum<S: Scalar>(&self, x: &[S]) -> Option<System<S, Pendulum<S>>> {
        let Rig::Pendulum { omega0_sq, .. } = self.rig else {
            return None;
        };
        let mut w2 = S::lit(omega0_sq);
        for (&p, &value) in self.free.iter().zip(x) {
            if p == Param::Omega0Squared {
                w2 = value;
            }
        }
        let one = S::ONE;
        Some(System {
            plant: Pendulum::from_values([w2, one, one, S::ZERO, one, one]),
            friction: self.friction_in(x),
        })
    }
}

/// In a [`Model`] the field `mu_s` holds the bump μs − μd, so that it is 0 without Stribeck effect.
pub fn model_friction(f: &Friction<f64>) -> Friction<f64> {
    Friction {
        mu_s: f.mu_s - f.mu_d,
        ..*f
    }
}

fn coefficient<S>(f: &mut Friction<S>, c: Coef) -> &mut S {
    match c {
        Coef::Coulomb => &mut f.mu_d,
        Coef::Stribeck => &mut f.mu_s,
        Coef::Viscous => &mut f.mu_v,
        Coef::Transition => &mut f.vt,
        Coef::Drag => &mut f.drag,
        Coef::DeltaCoulomb => &mut f.delta_d,
        Coef::DeltaViscous => &mut f.delta_v,
    }
}

fn furuta_index(p: Param) -> Option<usize> {
    match p {
        Param::ArmInertia => Some(2),
        Param::LinkInertia => Some(3),
        Param::LinkCentre => Some(7),
        Param::Tilt => Some(9),
        _ => None,
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
