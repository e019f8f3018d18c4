//! Predictive control: a plan of the input for the next interval, found by least squares on the model's future.
//!
//! Paper 003 (predictive pole placement, intermittent control) and what it needs to work with noise. While the tick plays the plan of
//! interval k in open loop, thread mode estimates the state, predicts it to the start of interval k+1 and optimises the plan for it.
//!
//! ```text
//! readings ─► window (state, friction) ─► predict ─► horizon + search ─► Plan, stamped with its tick ─► player ─► input
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`basis`] | functions of time whose weights are the unknowns; continuation of a plan |
//! | [`tangent`] | RK4 of the model with its forward sensitivities |
//! | [`eigen`] | symmetric eigenvalues, solution by pseudo-inverse |
//! | [`search`] | Gauss–Newton with halved steps, or Levenberg–Marquardt; capped |
//! | [`horizon`] | the control problem: residuals over the future |
//! | [`goal`] | what the residuals are: angles, energy, speeds |
//! | [`window`] | the estimation problem: state and one parameter from the readings of an interval |
//! | [`driven`] | any plant with a motor as [`Dynamics`] |
//! | [`planner`] | one plan per interval |
//! | [`player`] | which plan is played at a tick; too late is not used, and counted |
//! | [`recipe`] | settings with which plants swing up |
//! | [`regulator`] | linear-quadratic feedback about the plan near an equilibrium |
//!
//! Cost on the board, Furuta pendulum, eight hats, 80 steps of 20 ms (`cargo vhil`, test `cost_of_an_iteration`; cycles with `--cycles`):
//!
//! | | instructions | estimated cycles |
//! |---|---|---|
//! | pass with sensitivities | 502,722 | 662,866 |
//! | pass without | 148,932 | 249,818 |
//! | eigenvalues, 8 × 8 | 47,473 | 82,299 |
//! | a whole plan of 9 iterations and 19 passes without | 7,696,533 | 11,327,181 (28 ms of an interval of 100 ms at 400 MHz) |
//! | the input at one tick | 139 | 610 |
//!
//! The planner takes 5,448 bytes. Its plans have the same bits on chip and host (test `plans_have_the_hosts_bits`).
//!
//! No allocation, no clock: work is bounded by the number of steps, iterations and halvings of the settings. Everything is generic over
//! the scalar and has the same bits on chip and host in f32.
//!
//! Glossary. *Interval*: the time one plan is played, T_ol of the paper. *Weights*: U of the paper. *Horizon*: how far the plan looks.

pub mod basis;
pub mod driven;
pub mod eigen;
pub mod goal;
pub mod horizon;
pub mod planner;
pub mod player;
pub mod recipe;
pub mod regulator;
pub mod search;
pub mod tangent;
pub mod window;

use crate::JOINTS;
use crate::number::scalar::Scalar;

/// Angles (or positions) and speeds: x = (q0, q1, ω0, ω1).
pub const STATES: usize = 2 * JOINTS;

/// A second-order system with two coordinates, one input and at most one unknown parameter.
pub trait Dynamics<S: Scalar>: Copy {
    /// q̈ at state `x` with input `u`.
    fn acceleration(&self, x: &[S; STATES], u: S) -> [S; JOINTS];

    /// q̈ and its derivatives.
    fn slopes(&self, x: &[S; STATES], u: S) -> Slopes<S>;

    /// The same system with another value of the parameter that is estimated while it runs; systems without one stay as they are.
    fn with_parameter(&self, _value: S) -> Self {
        *self
    }
}

/// q̈ and ∂q̈ at one point.
#[derive(Clone, Copy, Debug)]
pub struct Slopes<S> {
    pub acceleration: [S; JOINTS],
    /// Row: coordinate; column: state.
    pub by_state: [[S; STATES]; JOINTS],
    pub by_input: [S; JOINTS],
    pub by_parameter: [S; JOINTS],
}
