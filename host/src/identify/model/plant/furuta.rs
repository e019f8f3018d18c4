//! The tilted Furuta pendulum with its rig as unknowns.
//!
//! Free passive motion shows seven numbers of the rig: the zeros of both encoders, the tilt, and four groups,
//!
//! ```text
//! arm inertia      (j1z + m1·l1² + m2·L1²)·(1 + a)
//! link inertia     H22 = (j2x + m2·l2²)·(1 + j), j2y shifted by the same amount
//! arm length       L1·(1 + λ) in the coupling m2·l2·L1 and in the reactions
//! arm gravity      (m1·l1 + m2·L1)·g·(1 + γ)
//! ```
//!
//! m2·g·l2 stays as configured: it is the unit of mass, and no motion shows it. Neither does it show the lever of the
//! normal force. Both are added to the standard errors at the output ([`Rig::hidden`]).
//!
//! A clock that is off by κ multiplies every inertia by (1 − 2κ) and is absorbed by a, j and λ.

use stribeck_core::model::plant::furuta::{Config, Furuta};
use stribeck_core::model::plant::passive;
use stribeck_core::number::scalar::Scalar;

use super::{Entry, Fitted, Label, Load, System};
use crate::identify::model::parametric::{Coef, Freedom, Param, Prior};

pub const LOAD: Load = Load::Reaction;

pub const TABLE: [Entry; 5] = [
    entry("tilt", "tilt", "rad", 0.1),
    entry("arm inertia", "arm", "1", 0.05),
    entry("link inertia", "link", "1", 0.05),
    entry("arm length", "length", "1", 0.05),
    entry("arm gravity", "gravity", "1", 0.05),
];
const TILT: usize = 0;

const fn entry(name: &'static str, id: &'static str, unit: &'static str, scale: f64) -> Entry {
    Entry {
        name,
        id,
        unit,
        scale,
    }
}

pub const BASE: &[Coef] = &[Coef::Coulomb, Coef::Viscous];
pub const ADDITIONS: &[&[Coef]] = &[&[Coef::Stribeck, Coef::Transition], &[Coef::Drag]];

/// Standard deviations of a rig that was weighed and measured: zero and tilt [rad], a, j, λ, γ.
const ZERO_SIGMA: f64 = 0.0175;
pub const SIGMA: [f64; 5] = [0.0175, 0.03, 0.03, 0.01, 0.02];

/// Relative tolerances (half-widths) of what no motion shows: masses, centre of gravity of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    pub m1: f64,
    pub m2: f64,
    pub l2: f64,
}

impl Default for Tolerance {
    /// As weighed and measured in a workshop.
    fn default() -> Self {
        Tolerance {
            m1: 0.02,
            m2: 0.02,
            l2: 0.01,
        }
    }
}

/// Configured values, the groups' relative deviations, and how well the rig is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rig {
    /// [`Config`]'s fields in order.
    nominal: [f64; 11],
    pub values: [f64; 5],
    /// Standard deviation of each value of the table.
    pub sigma: [f64; 5],
    pub tolerance: Tolerance,
}

impl Rig {
    pub fn new(c: &Config) -> Rig {
        let nominal = c.values().map(f64::from);
        Rig {
            nominal,
            values: [nominal[9], 0.0, 0.0, 0.0, 0.0],
            sigma: SIGMA,
            tolerance: Tolerance::default(),
        }
    }

    /// The configured rig at the present tilt; the groups have no place in a configuration.
    pub fn config(&self) -> Config {
        let mut v = self.nominal;
        v[9] = self.values[TILT];
        Config::from_values(v.map(|x| x as f32))
    }

    pub fn freedom(&self) -> Freedom {
        let mut out = Freedom::default();
        for (i, sigma) in self.sigma.into_iter().enumerate() {
            out.add(Prior {
                param: Param::Rig(i),
                value: self.values[i],
                sigma,
            });
        }
        for j in 0..2 {
            out.add(Prior {
                param: Param::Offset(j),
                value: 0.0,
                sigma: ZERO_SIGMA,
            });
        }
        out
    }

    /// Groups that are not turned round, an inertia that stays positive.
    pub fn feasible(&self) -> bool {
        let b = stribeck_core::model::plant::Plant::bounds(&self.plant(&self.values, LOAD));
        self.values[1..].iter().all(|f| f.abs() < 0.5) && b.inertia.iter().all(|i| *i > 0.0)
    }

    pub fn friction_label(&self, c: Coef) -> Label {
        c.label()
    }

    /// Normal forces scale as Fn0 ∝ w·(δm1 − δm2) − δl2 and Fn1 ∝ −δl2, torques as the unit of mass δm2 + δl2, with w the
    /// arm's share of the weight on its joint. A tolerance is the half-width of a uniform distribution.
    pub fn hidden(&self, c: Coef, joint: usize) -> f64 {
        let t = &self.tolerance;
        let [m1, m2, ..] = self.nominal;
        let arm = m1 / (m1 + m2);
        let square = match (c, joint) {
            (Coef::Transition, _) => 0.0,
            (Coef::Coulomb | Coef::Stribeck | Coef::DeltaCoulomb, 0) => {
                arm * arm * (t.m1 * t.m1 + t.m2 * t.m2) + t.l2 * t.l2
            }
            (Coef::Coulomb | Coef::Stribeck | Coef::DeltaCoulomb, _) => t.l2 * t.l2,
            _ => t.m2 * t.m2 + t.l2 * t.l2,
        };
        (square / 3.0).sqrt()
    }
}

pub fn friction_scale(c: Coef) -> f64 {
    match c {
        Coef::Coulomb => 5e-4,
        Coef::Stribeck | Coef::DeltaCoulomb => 1e-4,
        Coef::Viscous => 2e-4,
        Coef::DeltaViscous => 5e-5,
        Coef::Drag => 2e-5,
        Coef::Transition => 1e-3,
    }
}

impl Fitted<4> for Rig {
    type Plant<S: Scalar> = Furuta<S>;

    fn plant<S: Scalar>(&self, values: &[S], _: Load) -> Furuta<S> {
        let mut v = self.nominal.map(S::lit);
        v[9] = values[TILT];
        let factor = |i: usize| S::ONE + values[i];
        Furuta::from_values(v).with_factors([factor(1), factor(2), factor(3), factor(4)])
    }

    #[inline(always)]
    fn rate<S: Scalar>(system: &System<S, Furuta<S>>, y: &[S; 4]) -> [S; 4] {
        use stribeck_core::model::plant::Plant;
        match system.constant {
            None => passive(&system.plant, &system.friction, y),
            Some(normal) => {
                let (q, w) = ([y[0], y[1]], [y[2], y[3]]);
                let t = system.plant.terms(q, w);
                let f = [0, 1].map(|j| system.friction[j].torque(w[j], normal[j]));
                let df = t.h_inv.apply(f);
                [w[0], w[1], t.free[0] - df[0], t.free[1] - df[1]]
            }
        }
    }
}
