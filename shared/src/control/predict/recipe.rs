//! Settings with which a plant swings up from hanging and stays up: the same code, other terms and weights.
//!
//! Times follow the link's own frequency ω0 = √(m·g·l/J): a horizon of 5.9/ω0 in 80 steps, hats every 10 steps, a plan every 5. The swing
//! term (energy of the link) leads up, the turn term holds, the small ones keep the rest of the plant near its place. Measured on the
//! Furuta pendulum: horizons of 2.0 s and more, or other weights at random, are worse (10 of 60 random sets succeed at .1 N·m).

use super::STATES;
use super::basis::Basis;
use super::goal::{Goal, Term};
use super::planner::Settings;
use super::regulator::Weights;
use super::search::Search;
use crate::JOINTS;
use crate::model::plant::{cartpole, furuta, reactionwheel};

/// Hats of a plan, rows of its basis.
pub const WEIGHTS: usize = 8;
pub const ROWS: usize = 2 * STEPS + 1;
/// Steps of the horizon.
const STEPS: usize = 80;

/// How a plant is brought up and held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    pub settings: Settings<f32>,
    /// The link that comes up: its angle is c·q.
    pub link: [f32; JOINTS],
    /// Upright at rest.
    pub upright: [f32; STATES],
    /// Feedback about the plan near upright.
    pub regulator: Weights<f32>,
}

/// What differs from plant to plant.
struct Plant {
    link: [f32; JOINTS],
    upright: [f32; STATES],
    /// J/(4·m·g·l) of the link \[s²\].
    inertia: f32,
    /// Step of the model \[s\].
    step: f32,
    limit: f32,
    /// Weights of the four states in the plan's cost (the link's angle has its own terms).
    states: [f32; STATES],
    regulator: Weights<f32>,
}

impl Plant {
    fn recipe(self) -> Recipe {
        let [a, b] = self.link;
        let target = a * self.upright[0] + b * self.upright[1];
        let state = |index: usize| {
            let target = self.upright[index];
            (Term::State { index, target }, self.states[index])
        };
        let of = self.link;
        let inertia = self.inertia;
        let terms = [
            (Term::Turn { of, target }, 1.0),
            (
                Term::Swing {
                    of,
                    target,
                    inertia,
                },
                10.0,
            ),
            state(0),
            state(1),
            state(2),
            state(3),
        ];
        let mut goal = Goal::new(&terms, 0.005);
        // What has no weight costs no work.
        for term in &mut goal.terms {
            if term.is_some_and(|(_, weight)| weight == 0.0) {
                *term = None;
            }
        }
        Recipe {
            settings: Settings {
                basis: Basis::Hat {
                    spacing: 10.0 * self.step,
                },
                step: self.step,
                steps: STEPS,
                from: 50,
                early: 0.5,
                interval: 5,
                limit: Some(self.limit),
                goal,
                search: Search {
                    iterations: 10,
                    halvings: 12,
                    shorter: 0.5,
                    relative: 1e-3,
                    absolute: 1e-5,
                    cut: 1e-6,
                    damping: 1e-3,
                },
                nudge: 1e-3,
            },
            link: self.link,
            upright: self.upright,
            regulator: self.regulator,
        }
    }
}

const PI: f32 = core::f32::consts::PI;

/// The Furuta pendulum with an upright axis; `limit` in N·m.
pub fn furuta(c: &furuta::Config, limit: f32) -> Recipe {
    let inertia = c.j2x + c.m2 * c.l2 * c.l2;
    Plant {
        link: [0.0, 1.0],
        upright: [0.0, PI, 0.0, 0.0],
        inertia: inertia / (4.0 * c.m2 * c.gravity * c.l2),
        step: 0.02,
        limit,
        states: [0.05, 0.0, 0.01, 0.01],
        regulator: Weights {
            state: [0.3, 3.0, 0.03, 0.1],
            input: 100.0,
            step: 0.01,
            steps: 3000,
        },
    }
    .recipe()
}

/// The cart-pole; `limit` in N.
pub fn cartpole(c: &cartpole::Config, limit: f32) -> Recipe {
    let inertia = c.pole_inertia + c.pole_mass * c.length * c.length;
    Plant {
        link: [0.0, 1.0],
        upright: [0.0; STATES],
        inertia: inertia / (4.0 * c.pole_mass * c.gravity * c.length),
        step: 0.015,
        limit,
        states: [0.5, 0.0, 0.1, 0.01],
        regulator: Weights {
            state: [3.0, 3.0, 0.3, 0.1],
            input: 0.1,
            step: 0.01,
            steps: 3000,
        },
    }
    .recipe()
}

/// The reaction wheel pendulum; `limit` in N·m. The wheel's angle does not matter.
pub fn reactionwheel(c: &reactionwheel::Config, limit: f32) -> Recipe {
    let inertia = c.pendulum_inertia
        + c.wheel_inertia
        + c.pendulum_mass * c.com * c.com
        + c.wheel_mass * c.length * c.length;
    let weight = (c.pendulum_mass * c.com + c.wheel_mass * c.length) * c.gravity;
    Plant {
        link: [1.0, 0.0],
        upright: [0.0; STATES],
        inertia: inertia / (4.0 * weight),
        step: 0.008,
        limit,
        states: [0.0, 0.0, 0.01, 1e-6],
        regulator: Weights {
            state: [3.0, 0.0, 0.1, 1e-5],
            input: 10.0,
            step: 0.005,
            steps: 3000,
        },
    }
    .recipe()
}
