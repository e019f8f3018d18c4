//! Any plant with a motor on one joint as [`Dynamics`]: q̈ = H⁻¹(τ − B − G − f).
//!
//! Friction is the law an estimator can see ([`Linear`]: Coulomb, viscous, drag) at a constant normal force, softened: a planner looks a
//! second ahead in steps of some 20 ms and need not resolve the corner at zero speed, which RK4 at that step could not integrate.

use super::{Dynamics, STATES, Slopes};
use crate::JOINTS;
use crate::model::friction::Linear;
use crate::model::plant::{Plant, RIG_ERRORS, RigError, Trig, no_force};
use crate::number::scalar::Scalar;

/// A plant, its friction and where the motor sits.
#[derive(Clone, Copy, Debug)]
pub struct Driven<S, P> {
    pub plant: P,
    pub friction: [Linear<S>; JOINTS],
    /// Normal force in each joint \[N\].
    pub load: [S; JOINTS],
    /// Generalised force on each joint per unit of input.
    pub motor: [S; JOINTS],
}

impl<S: Scalar, P: Plant<S>> Driven<S, P> {
    /// With the motor where the plant has it and the weight each joint carries as load.
    pub fn new(plant: P, friction: [Linear<S>; JOINTS]) -> Self {
        Driven {
            plant,
            friction,
            load: plant.bounds().weight,
            motor: plant.drive(S::ONE),
        }
    }
}

impl<S: Scalar, P: Plant<S>> Dynamics<S> for Driven<S, P> {
    #[inline(always)]
    fn acceleration(&self, x: &[S; STATES], u: S) -> [S; JOINTS] {
        let w = [x[2], x[3]];
        let t = self.plant.terms([x[0], x[1]], w);
        let push = t.h_inv.apply(core::array::from_fn(|j| {
            self.motor[j] * u - self.friction[j].response(w[j], self.load[j]).torque
        }));
        [t.free[0] + push[0], t.free[1] + push[1]]
    }

    #[inline(always)]
    fn slopes(&self, x: &[S; STATES], u: S) -> Slopes<S> {
        let w = [x[2], x[3]];
        let trig = Trig::new([x[0], x[1]]);
        let t = self.plant.terms_at(&trig, w, no_force());
        let friction: [_; JOINTS] =
            core::array::from_fn(|j| self.friction[j].response(w[j], self.load[j]));
        let push = t.h_inv.apply(core::array::from_fn(|j| {
            self.motor[j] * u - friction[j].torque
        }));
        let acceleration = [t.free[0] + push[0], t.free[1] + push[1]];
        let exact = RigError::from_values([S::ZERO; RIG_ERRORS]);
        // With the torques held; what the friction's slope adds comes after.
        let by = self.plant.sensitivity(&exact, &trig, w, &t, acceleration);
        let inverse = [[t.h_inv.a00, t.h_inv.a01], [t.h_inv.a01, t.h_inv.a11]];
        Slopes {
            acceleration,
            by_state: core::array::from_fn(|i| {
                [
                    by.angle[0][i],
                    by.angle[1][i],
                    by.speed[0][i] - inverse[i][0] * friction[0].slope,
                    by.speed[1][i] - inverse[i][1] * friction[1].slope,
                ]
            }),
            by_input: t.h_inv.apply(self.motor),
            by_parameter: [S::ZERO; JOINTS],
        }
    }
}
