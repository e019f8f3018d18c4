//! A pendulum per unit of inertia: J = 1, weight 1, so that ω0² = m·g·l/J is all that the rig has to say.
//!
//! Friction is then c/J [rad/s²], b/J [1/s], d/J \[1\]; a known inertia only scales what is printed. The reaction of the
//! pivot over the weight follows from k = m·l²/J, ¾ for a rod held at its end:
//!
//! ```text
//! Fn = |(cosθ + k·ω²/ω0², (1 − k)·sinθ)|
//! ```

use stribeck_core::model::plant::pendulum::{Config, Pendulum};
use stribeck_core::number::scalar::Scalar;

use super::{Entry, Fitted, Label, Load, System};
use crate::identify::model::parametric::{Coef, Freedom, Param, Prior};

pub const LOAD: Load = Load::Constant;

pub const TABLE: [Entry; 1] = [Entry {
    name: "ω0²",
    id: "omega0_sq",
    unit: "1/s²",
    scale: 0.0,
    beyond: false,
}];
/// Place of ω0² in the table.
pub const OMEGA0_SQ: Param = Param::Rig(0);

/// With drag: left out where it is small, it would be in the others without their intervals knowing.
pub const BASE: &[Coef] = &[Coef::Coulomb, Coef::Viscous, Coef::Drag];
pub const ADDITIONS: &[&[Coef]] = &[&[Coef::Stribeck, Coef::Transition], &[Coef::DeltaCoulomb]];

/// k of a rod.
const ROD: f64 = 0.75;
/// Standard deviation of a configured ω0², relative: an inertia is rarely known better.
const CONFIGURED: f64 = 0.03;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rig {
    /// ω0² [1/s²].
    pub values: [f64; 1],
    /// J [kg·m²] when known: estimates are then printed as torques.
    pub inertia: Option<f64>,
    /// k = m·l²/J.
    pub lever: f64,
    /// Relative standard deviation of ω0²; none: nothing is known about it. Zero: it is exact.
    pub known: Option<f64>,
}

impl Rig {
    pub fn new(c: &Config) -> Rig {
        let [m, l, j] = [c.mass, c.length, c.inertia].map(f64::from);
        Rig {
            values: [f64::from(
                c.mass * c.gravity * c.length * c.tilt.cos() / c.inertia,
            )],
            inertia: Some(j),
            lever: (m * l * l / j).clamp(0.01, 1.0),
            known: Some(CONFIGURED),
        }
    }

    /// A pendulum of which nothing is known but, perhaps, its ω0² and its inertia.
    pub fn unknown(omega0_sq: Option<f64>, inertia: Option<f64>) -> Rig {
        Rig {
            values: [omega0_sq.unwrap_or(1.0)],
            inertia,
            lever: ROD,
            known: omega0_sq.map(|_| 0.0),
        }
    }

    pub fn config(&self) -> Config {
        Config {
            mass: self.values[0] as f32,
            length: 1.0,
            inertia: 1.0,
            tilt: 0.0,
            gravity: 1.0,
            load: 1.0,
        }
    }

    /// ω0² as well as it is known, and the zero of somebody's encoder, which is rarely the hanging position.
    pub fn freedom(&self) -> Freedom {
        let mut out = Freedom::default();
        match self.known {
            None => out.free.push(OMEGA0_SQ),
            Some(relative) if relative > 0.0 => out.add(Prior {
                param: OMEGA0_SQ,
                value: self.values[0],
                sigma: relative * self.values[0],
            }),
            Some(_) => {}
        }
        out.free.push(Param::Offset(0));
        out
    }

    pub fn feasible(&self) -> bool {
        self.values[0] > 0.0
    }

    pub fn friction_label(&self, c: Coef) -> Label {
        let (torque, normalised) = match c {
            Coef::Coulomb => (("c", "c", "N·m"), ("c/J", "c_per_j", "rad/s²")),
            Coef::Stribeck => (("s−c", "s_c", "N·m"), ("(s−c)/J", "s_c_per_j", "rad/s²")),
            Coef::Viscous => (("b", "b", "N·m·s"), ("b/J", "b_per_j", "1/s")),
            Coef::Transition => (("vt", "vt", "rad/s"), ("vt", "vt", "rad/s")),
            Coef::Drag => (("d", "d", "N·m·s²"), ("d/J", "d_per_j", "1")),
            Coef::DeltaCoulomb => (
                ("Δc", "delta_c", "N·m"),
                ("Δc/J", "delta_c_per_j", "rad/s²"),
            ),
            Coef::DeltaViscous => (("Δb", "delta_b", "N·m·s"), ("Δb/J", "delta_b_per_j", "1/s")),
            Coef::Preload | Coef::Wave(_) => return c.label(),
        };
        let factor = match c {
            Coef::Transition | Coef::Preload | Coef::Wave(_) => 1.0,
            _ => self.inertia.unwrap_or(1.0),
        };
        let (name, id, unit) = if self.inertia.is_some() {
            torque
        } else {
            normalised
        };
        Label::new(name, id, unit, factor)
    }

    /// Everything is relative to an inertia that the user gave or left out: nothing is hidden.
    pub fn hidden(&self, _: Coef, _: usize) -> f64 {
        0.0
    }
}

pub fn friction_scale(c: Coef) -> f64 {
    match c {
        Coef::Drag => 0.01,
        Coef::Transition => 1e-3,
        _ => 0.1,
    }
}

impl Fitted<2> for Rig {
    type Plant<S: Scalar> = Pendulum<S>;

    fn plant<S: Scalar>(&self, values: &[S], load: Load) -> Pendulum<S> {
        let w2 = values[0];
        if load == Load::Constant {
            return Pendulum::from_values([w2, S::ONE, S::ONE, S::ZERO, S::ONE, S::ONE]);
        }
        // m·g = 1, J = 1: l = ω0², m = k/ω0⁴.
        let w4 = w2 * w2;
        let k = S::lit(self.lever);
        Pendulum::from_values([k / w4, w2, S::ONE, S::ZERO, w4 / k, S::ZERO])
    }

    #[inline(always)]
    fn rate<S: Scalar>(system: &System<S, Pendulum<S>>, y: &[S; 2]) -> [S; 2] {
        use stribeck_core::model::plant::Plant;
        let w = [y[1], S::ZERO];
        let t = system.plant.terms([y[0], S::ZERO], w);
        // The second joint is inert: its friction need not be evaluated.
        let normal = system.loads([y[0], S::ZERO], t.normal);
        let f = system.friction[0].torque(y[1], normal[0]);
        [y[1], t.free[0] - t.h_inv.a00 * f]
    }
}
