//! How well a rig was weighed and measured, and what that leaves open about its motion.
//!
//! [`Tolerance`] is configuration: half the width within which a value is said to lie. [`Prior`] is what follows from it for an
//! estimator: standard deviations of the errors a motion can show ([`super::RigError`] and the encoders' zeros), and relative ones of
//! what no passive motion shows. A passive record fixes friction only relative to inertia and gravity, so the unit of mass and the lever
//! of the normal force come from the rig file alone.

use serde::{Deserialize, Serialize};

use super::RIG_ERRORS;
use crate::JOINTS;
use crate::number::math;
use crate::number::range::{OutOfRange, check};

/// Tolerances of the rig file, relative unless said otherwise. A simple pendulum has m2, l2 and j2. Zero: exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    pub m1: f32,
    pub m2: f32,
    pub j1z: f32,
    /// Of j2x and j2y.
    pub j2: f32,
    pub l1: f32,
    pub l2: f32,
    pub arm_length: f32,
    /// Of the tilt \[rad\].
    pub tilt: f32,
    /// Of each encoder's zero \[rad\]: links that hang at rest stick where friction holds them.
    pub zero: f32,
}

impl Default for Tolerance {
    /// As weighed and measured: masses 2 %, inertias 3 %, lengths 1 %, tilt and zeros 1°.
    fn default() -> Self {
        let degree = core::f32::consts::PI / 180.0;
        Tolerance {
            m1: 0.02,
            m2: 0.02,
            j1z: 0.03,
            j2: 0.03,
            l1: 0.01,
            l2: 0.01,
            arm_length: 0.01,
            tilt: degree,
            zero: degree,
        }
    }
}

impl Tolerance {
    /// The rig is as its file says.
    pub const EXACT: Self = Tolerance {
        m1: 0.0,
        m2: 0.0,
        j1z: 0.0,
        j2: 0.0,
        l1: 0.0,
        l2: 0.0,
        arm_length: 0.0,
        tilt: 0.0,
        zero: 0.0,
    };

    /// Standard deviation of a value that lies anywhere within ±1: 1/√3.
    pub const SIGMA: f32 = 0.577_350_26;

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("ekf.tolerance.m1", self.m1, 0.0, 0.5)?;
        check("ekf.tolerance.m2", self.m2, 0.0, 0.5)?;
        check("ekf.tolerance.j1z", self.j1z, 0.0, 0.5)?;
        check("ekf.tolerance.j2", self.j2, 0.0, 0.5)?;
        check("ekf.tolerance.l1", self.l1, 0.0, 0.5)?;
        check("ekf.tolerance.l2", self.l2, 0.0, 0.5)?;
        check("ekf.tolerance.arm_length", self.arm_length, 0.0, 0.5)?;
        check("ekf.tolerance.tilt", self.tilt, 0.0, 0.2)?;
        check("ekf.tolerance.zero", self.zero, 0.0, 0.2)
    }
}

/// What a [`Tolerance`] leaves open about one rig.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// σ of the encoders' zeros \[rad\] and of the fields of [`super::RigError`]: the tolerances propagated.
    pub zero: [f32; JOINTS],
    pub rig: [f32; RIG_ERRORS],
    /// Relative σ of what no motion shows: of μd by the normal force's lever, of μv and d by the unit of mass.
    pub coulomb: [f32; JOINTS],
    pub viscous: f32,
}

impl Prior {
    /// Of a plant whose rig errors nobody estimates: it is taken as its file says but for the encoders' zeros, where the motion shows them
    /// (`shown`). Masses only scale friction and inertia together; m2 and l2 stand for how well mass and lever are known.
    pub fn stated(t: &Tolerance, shown: [bool; JOINTS]) -> Prior {
        Prior {
            zero: shown.map(|s| if s { Tolerance::SIGMA * t.zero } else { 0.0 }),
            rig: [0.0; RIG_ERRORS],
            coulomb: [Tolerance::SIGMA * t.l2; JOINTS],
            viscous: Tolerance::SIGMA * together([t.m2, t.l2, 0.0, 0.0, 0.0, 0.0]),
        }
    }
}

/// Independent errors together: √∑x².
pub(super) fn together(x: [f32; 6]) -> f32 {
    let square: f32 = x.iter().fold(0.0, |sum, x| sum + x * x);
    math::sqrt_f32(square)
}
