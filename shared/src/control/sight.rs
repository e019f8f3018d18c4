//! Whether the encoders still see what the rig does: a counter that stands still while its joint must be moving.
//!
//! A joint that rests in its friction and an encoder whose cable is cut look the same: the count does not change. What differs is what
//! the model says. From the last change of a count on, the joint is followed with the speed it had then, the torque that is applied, and
//! more friction than it can have; if even that joint has moved by `TRAVEL` counts and its count by none, the encoder is blind (or the
//! joint is blocked: then the motor must be off as well).
//!
//! ```text
//! v̇ = a − sgn(v)·F·h     a = (H⁻¹(τ − B − G))_j, h = (H⁻¹)_jj, v = 0 while |a| ≤ F·h
//! ```
//!
//! F: `DOUBT` times the Coulomb friction the EKF has identified, upper end of its interval; at least `FLOOR` of the motor's limit, and
//! `UNKNOWN` of it before anything is identified. Every `EVERY` ticks, and only while a count stands.

use crate::JOINTS;
use crate::model::plant::{AnyPlant, Plant, Trig};

/// Ticks between two looks.
pub const EVERY: u32 = 10;
/// Counts a joint may have travelled unseen.
const TRAVEL: f32 = 30.0;
/// A count that changes by no more than this stands still: one cut wire of two dithers by one.
const STANDS: f32 = 1.5;
/// Friction believed possible, in times the identified, and as parts of the motor's limit: of the driven joint, of the other.
const DOUBT: f32 = 3.0;
const FLOOR: [f32; JOINTS] = [0.05, 0.03];
const UNKNOWN: [f32; JOINTS] = [0.5, 0.1];

/// One joint, since its count last changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// Angle at that time \[rad\], and ticks since.
    at: f32,
    ticks: u32,
    /// Speed and way of the joint that is followed \[rad/s, rad\].
    v: f32,
    x: f32,
    /// Friction it is given \[N·m\].
    friction: f32,
}
crate::impl_words!(Joint {
    at,
    ticks,
    v,
    x,
    friction
});

impl Joint {
    pub const NEW: Self = Joint {
        at: f32::INFINITY,
        ticks: 0,
        v: 0.0,
        x: 0.0,
        friction: 0.0,
    };
}

/// Constants of the check.
#[derive(Clone, Copy, Debug)]
pub struct Sight {
    /// One count \[rad, m on a slide\].
    count: [f32; JOINTS],
    /// Friction believed possible at least, and before it is identified \[N·m\].
    floor: [f32; JOINTS],
    unknown: [f32; JOINTS],
    dt: f32,
}

/// Upper end of the identified Coulomb friction of both joints \[m\]; 0: not identified.
pub type Coulomb = [f32; JOINTS];

impl Sight {
    /// For a motor of `limit` \[N·m\] on joint `driven`, ticks of `dt` \[s\], counts of `count` \[rad\].
    pub fn new(limit: f32, driven: usize, count: [f32; JOINTS], dt: f32) -> Self {
        let of = |part: [f32; JOINTS]| {
            let [driven_part, other] = part;
            if driven == 0 {
                [limit * driven_part, limit * other]
            } else {
                [limit * other, limit * driven_part]
            }
        };
        Sight {
            count,
            floor: of(FLOOR),
            unknown: of(UNKNOWN),
            dt: dt * EVERY as f32,
        }
    }

    /// One tick: the measured angles and the estimated speeds; true: a look is due.
    #[inline(always)]
    pub fn see(&self, s: &mut [Joint; JOINTS], measured: [f32; JOINTS], w: [f32; JOINTS]) -> bool {
        let mut due = false;
        for j in 0..JOINTS {
            let joint = &mut s[j];
            if (measured[j] - joint.at).abs() <= STANDS * self.count[j] {
                joint.ticks = joint.ticks.saturating_add(1);
                due |= joint.ticks.is_multiple_of(EVERY);
            } else {
                *joint = Joint {
                    at: measured[j],
                    v: w[j],
                    ..Joint::NEW
                };
                joint.ticks = 0;
            }
        }
        due
    }

    /// A look: true if an encoder is blind. `tau` is what the motor applies \[N·m\].
    #[inline(never)]
    pub fn blind(
        &self,
        s: &mut [Joint; JOINTS],
        plant: &AnyPlant<f32>,
        q: [f32; JOINTS],
        w: [f32; JOINTS],
        tau: [f32; JOINTS],
        coulomb: &Coulomb,
    ) -> bool {
        let terms = plant.terms_at(&Trig::new(q), w, tau);
        let inverse = [terms.h_inv.a00, terms.h_inv.a11];
        let mut blind = false;
        for j in 0..JOINTS {
            let joint = &mut s[j];
            if joint.ticks == 0 || !joint.ticks.is_multiple_of(EVERY) {
                continue;
            }
            if joint.ticks == EVERY {
                // As known before the count stood still: what is learnt from a blind encoder does not count.
                let known = DOUBT * coulomb[j] * terms.normal[j];
                joint.friction = if coulomb[j] > 0.0 {
                    known.max(self.floor[j])
                } else {
                    self.unknown[j]
                };
            }
            let (a, f) = (terms.free[j], joint.friction * inverse[j]);
            let brake = if joint.v > 0.0 || (joint.v == 0.0 && a > 0.0) {
                f
            } else {
                -f
            };
            let v = joint.v + (a - brake) * self.dt;
            let stops = if joint.v == 0.0 {
                a.abs() <= f
            } else {
                v * joint.v <= 0.0
            };
            joint.v = if stops { 0.0 } else { v };
            joint.x += joint.v * self.dt;
            blind |= joint.x.abs() > TRAVEL * self.count[j];
        }
        blind
    }
}
