//! A mechanism: a tree of bodies, each carried by one joint, with everything that acts on it.
//!
//! Frame of a body = (frame it turns in) · (fixed turns) · (turn about the joint's axis); its origin is the joint. Inertias are
//! about the centre of gravity, in the body's axes. A coordinate `theta` brings the symbols `theta` (q), `theta_d` (q̇) and
//! `theta_dd` (q̈).

mod act;
mod build;
mod description;

use crate::error::Result;
use crate::expr::*;

pub use description::*;

#[derive(Clone, Debug)]
pub struct Body {
    pub name: String,
    /// None: the ground.
    pub parent: Option<usize>,
    pub turns_in: Option<usize>,
    pub joint: JointKind,
    /// Number of its coordinate.
    pub q: usize,
    /// Unit vector in this frame, and in the frame before the joint's turn.
    pub axis: V3,
    /// Place of the joint in the parent's frame \[m\].
    pub at: V3,
    pub mass: Ex,
    /// Centre of gravity in this frame \[m\].
    pub com: V3,
    /// About the centre of gravity [kg·m²].
    pub inertia: M3,
    /// The fixed turns: frame before the joint's turn → the frame it turns in.
    pub fixed: M3,
    /// This frame → the frame it turns in.
    pub turn: M3,
}

#[derive(Clone, Copy, Debug)]
pub struct Actuator {
    pub body: usize,
    pub effort: Ex,
}
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    pub body: usize,
    pub stiffness: Ex,
    pub rest: Ex,
}
#[derive(Clone, Copy, Debug)]
pub struct Damper {
    pub body: usize,
    pub coefficient: Ex,
}

#[derive(Clone, Copy, Debug)]
pub enum Constraint {
    /// A thin wheel rolls without slipping on the plane through N's origin with the normal `up`.
    Rolls { body: usize, radius: Ex, up: V3 },
    /// Linear in the rates.
    Zero(Ex),
}

/// A generalized speed of Kane: `symbol` stands for `is`, linear in the rates.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    pub symbol: Ex,
    pub rate: Ex,
    pub is: Ex,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub symbol: Ex,
    pub name: String,
    pub unit: Unit,
    pub default: f64,
    pub range: Option<[f64; 2]>,
    pub doc: String,
    pub field: String,
}

/// A state to linearise about; what is not named is zero.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    pub name: String,
    pub at: Vec<(Ex, Ex)>,
}

/// What the generated plant states beyond the equations.
#[derive(Clone, Debug)]
pub struct Plant {
    pub type_name: String,
    pub header: String,
    /// What each joint is called.
    pub joints: Vec<String>,
    /// Per joint, the smallest of the alternatives.
    pub inertia: Vec<Vec<Ex>>,
    pub weight: Vec<Ex>,
}

#[derive(Clone, Debug)]
pub struct Mechanism {
    pub name: String,
    pub note: String,
    pub scope: Scope,
    /// [m/s²] in N.
    pub gravity: V3,
    /// Parents first.
    pub bodies: Vec<Body>,
    /// Coordinates, rates and accelerations, in the order of the description.
    pub q: Vec<Ex>,
    pub w: Vec<Ex>,
    pub a: Vec<Ex>,
    pub actuators: Vec<Actuator>,
    pub springs: Vec<Spring>,
    pub dampers: Vec<Damper>,
    pub constraints: Vec<Constraint>,
    pub speeds: Vec<Speed>,
    /// Numbers of the coordinates whose rates must stay free.
    pub independent: Vec<usize>,
    pub parameters: Vec<Parameter>,
    pub equilibria: Vec<Equilibrium>,
    pub plant: Option<Plant>,
}

impl Mechanism {
    /// Reads a description in TOML.
    pub fn read(toml: &str) -> Result<Mechanism> {
        Description::read(toml)?.build()
    }

    /// Degrees of freedom before constraints.
    pub fn dof(&self) -> usize {
        self.q.len()
    }

    /// Neither constraints nor generalized speeds other than the rates.
    pub fn is_free(&self) -> bool {
        self.constraints.is_empty() && self.speeds.is_empty()
    }

    /// d/dt, with q̇ = w and ẇ = a.
    pub fn dt(&self, e: Ex) -> Ex {
        (0..self.dof())
            .map(|i| e.diff(self.q[i]) * self.w[i] + e.diff(self.w[i]) * self.a[i])
            .sum()
    }
    pub fn dt3(&self, v: V3) -> V3 {
        v.map(|x| self.dt(x))
    }

    /// Frame of body `i` → N.
    pub fn to_ground(&self, i: usize) -> M3 {
        let b = &self.bodies[i];
        b.turns_in
            .map_or(b.turn, |p| mm(&self.to_ground(p), &b.turn))
    }

    /// Components of `v`, given in the frame `from` (None: N), in the frame of body `i`.
    pub fn express(&self, v: V3, from: Option<usize>, i: usize) -> V3 {
        let b = &self.bodies[i];
        if b.turns_in == from {
            return mtv(&b.turn, v);
        }
        let in_ground = from.map_or(v, |f| mv(&self.to_ground(f), v));
        mtv(&self.to_ground(i), in_ground)
    }

    /// Position of the joint of body `i` and of its centre of gravity \[m\], in N.
    pub fn positions(&self, i: usize) -> (V3, V3) {
        let b = &self.bodies[i];
        let to_ground = self.to_ground(i);
        let joint = b.parent.map_or(b.at, |p| {
            vadd(self.positions(p).0, mv(&self.to_ground(p), b.at))
        });
        let slide = match b.joint {
            JointKind::Prismatic => vscale(b.axis, self.q[b.q]),
            JointKind::Revolute => ORIGIN,
        };
        let origin = vadd(joint, mv(&to_ground, slide));
        (origin, vadd(origin, mv(&to_ground, b.com)))
    }

    /// The default of a parameter; zero for anything else.
    pub fn default_of(&self, e: Ex) -> f64 {
        self.parameters
            .iter()
            .find(|p| p.symbol == e)
            .map_or(0.0, |p| p.default)
    }

    /// Values of all symbols at the parameters' defaults and a state.
    pub fn values<'a>(&'a self, state: &'a [(Ex, f64)]) -> Values<impl Fn(Ex) -> f64 + 'a> {
        Values::new(move |e| {
            let given = state.iter().find(|s| s.0 == e);
            given.map_or_else(|| self.default_of(e), |s| s.1)
        })
    }
}
