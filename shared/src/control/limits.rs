//! What ends driving: ranges of the rig, and doubts about what the device knows. Every doubt turns the motor off, with its cause.

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::number::range::{OutOfRange, check};
use crate::wire::Trip;

/// The rig's ranges. 0: no limit of this kind, where a field says so.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Largest |angle| of each joint \[rad, m on a slide\]; 0: none.
    pub angle: [f32; JOINTS],
    /// Largest |speed| of each joint \[rad/s\].
    pub speed: [f32; JOINTS],
    /// Largest |duty|, part of full.
    pub duty: f32,
    /// Silence of the host that turns the motor off \[ms\]; 0: it may be silent.
    pub heartbeat_ms: u16,
    /// Ticks that may be missed in a row.
    pub missed: u16,
    /// The motor may push with more than half its torque for this long without moving its joint \[ms\]; 0: for ever.
    pub stall_ms: u16,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            angle: [6.3, 0.0],
            speed: [30.0, 60.0],
            duty: 0.8,
            heartbeat_ms: 500,
            missed: 5,
            stall_ms: 1000,
        }
    }
}

impl Limits {
    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("drive.limits.angle[0]", self.angle[0], 0.0, 1e4)?;
        check("drive.limits.angle[1]", self.angle[1], 0.0, 1e4)?;
        check("drive.limits.speed[0]", self.speed[0], 1e-3, 1e4)?;
        check("drive.limits.speed[1]", self.speed[1], 1e-3, 1e4)?;
        check("drive.limits.duty", self.duty, 1e-3, 1.0)?;
        check(
            "drive.limits.heartbeat_ms",
            f32::from(self.heartbeat_ms),
            0.0,
            60_000.0,
        )?;
        check("drive.limits.missed", f32::from(self.missed), 0.0, 1000.0)?;
        check(
            "drive.limits.stall_ms",
            f32::from(self.stall_ms),
            0.0,
            60_000.0,
        )
    }

    /// The range that angles `q` and speeds `w` leave, if they do. Not finite is outside.
    #[inline(always)]
    pub fn left_by(&self, q: [f32; JOINTS], w: [f32; JOINTS]) -> Option<Trip> {
        if !(q[0] + q[1] + w[0] + w[1]).is_finite() {
            return Some(Trip::NotFinite);
        }
        for j in 0..JOINTS {
            if self.angle[j] > 0.0 && q[j].abs() > self.angle[j] {
                return Some(Trip::Angle);
            }
            if w[j].abs() > self.speed[j] {
                return Some(Trip::Speed);
            }
        }
        None
    }
}
