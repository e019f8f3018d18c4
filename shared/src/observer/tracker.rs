//! Velocity from counts: a third-order tracking filter with one triple pole (fading memory).
//!
//! One count per tick at 10 kHz is 1.57 rad/s, so a difference of counts is useless as a velocity. With
//! r = e^(−2π·f·dt), per tick of dt:
//!
//! ```text
//! predict   q += dt·ω + ½·dt²·α        ω += dt·α
//! correct   ε = q_measured − q
//!           q += (1 − r³)·ε     ω += 3/2·(1−r)²·(1+r)/dt·ε     α += (1−r)³/dt²·ε
//! ```
//!
//! A constant acceleration is followed without error; a changing one with ω lagging by 3·α̇/(2π·f)². White
//! noise of σ \[rad\] gives σ·√(1.75·dt·(2π·f)³) on ω: 0.027 rad/s for 5 counts of 40,000 at 30 Hz.

use serde::{Deserialize, Serialize};

use crate::impl_words;
use crate::number::compensated::Compensated;
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Frequency f of the triple pole \[Hz\].
    pub bandwidth_hz: f32,
}

impl Default for Config {
    fn default() -> Self {
        Config { bandwidth_hz: 30.0 }
    }
}

impl Config {
    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("tracker.bandwidth_hz", self.bandwidth_hz, 0.1, 1000.0)
    }
}

/// Gains for one configuration and tick.
#[derive(Clone, Copy, Debug)]
pub struct Gains<S> {
    dt: S,
    half_dt2: S,
    /// 1 − r³.
    angle: S,
    /// 3/2·(1−r)²·(1+r)/dt [1/s].
    velocity: S,
    /// (1−r)³/dt² [1/s²].
    acceleration: S,
}

impl<S: Scalar> Gains<S> {
    pub fn new(cfg: &Config, dt_s: S) -> Self {
        let x = S::lit(-2.0 * core::f64::consts::PI) * S::from_f32(cfg.bandwidth_hz) * dt_s;
        let r = x.exp();
        let d = S::ONE - r;
        Gains {
            dt: dt_s,
            half_dt2: S::lit(0.5) * dt_s * dt_s,
            angle: S::ONE - r * r * r,
            velocity: S::lit(1.5) * d * d * (S::ONE + r) / dt_s,
            acceleration: d * d * d / (dt_s * dt_s),
        }
    }

    /// One tick of `t` with the measured angle `q` \[rad\].
    #[inline(always)]
    pub fn step(&self, t: &mut Tracker<S>, q: S) {
        let advance = self.dt * t.w + self.half_dt2 * t.a;
        let error = (q - t.q) - advance;
        t.q = t.lost.add(t.q, advance + self.angle * error);
        t.w += self.dt * t.a + self.velocity * error;
        t.a += self.acceleration * error;
    }
}

/// Angle \[rad\], velocity \[rad/s\] and acceleration \[rad/s²\] of one joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracker<S> {
    pub q: S,
    lost: Compensated<S>,
    pub w: S,
    pub a: S,
}
impl_words!(Tracker<S> { q, lost, w, a });

impl<S: Scalar> Tracker<S> {
    /// At rest at `q` \[rad\].
    pub fn start(q: S) -> Self {
        Tracker {
            q,
            lost: Compensated::NONE,
            w: S::ZERO,
            a: S::ZERO,
        }
    }

    /// Move on by `gap` \[s\] without a measurement.
    pub fn bridge(&mut self, gap: S) {
        let advance = gap * (self.w + S::lit(0.5) * gap * self.a);
        self.q = self.lost.add(self.q, advance);
        self.w += gap * self.a;
    }

    pub fn is_finite(&self) -> bool {
        self.q.is_finite() && self.w.is_finite() && self.a.is_finite()
    }
}
