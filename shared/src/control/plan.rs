//! Plays plans: u(τ) = limit·tanh(Σ weightᵢ·bᵢ(τ)), τ counted from the plan's tick.
//!
//! Laguerre functions bᵢ(τ) = e^(−τ/T)·Lᵢ(2τ/T), or hats that are 1 at τ = i·T and 0 at the neighbours. A plan begins at its tick; one whose
//! tick has passed is not used, and counted. Without a new plan the last one goes on for its `hold_ms`, then the motor is turned off.

use serde::{Deserialize, Serialize};

use crate::number::math::{exp_f32, tanh_f32};
use crate::number::range::{OutOfRange, check};
use crate::number::words::Intermediate;
use crate::wire::{Plan, WEIGHTS};

/// Family of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Family {
    #[default]
    Hat,
    Laguerre,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub family: Family,
    /// Functions in use.
    pub count: u8,
    /// T: distance of the hats, time constant of the Laguerre functions \[s\].
    pub time_s: f32,
    /// A plan is played for this long at most \[ms\].
    pub hold_ms: u16,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            family: Family::Hat,
            count: 8,
            time_s: 0.2,
            hold_ms: 300,
        }
    }
}

impl Config {
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check(
            "drive.plan.count",
            f32::from(self.count),
            1.0,
            WEIGHTS as f32,
        )?;
        check("drive.plan.time_s", self.time_s, 1e-3, 100.0)?;
        check("drive.plan.hold_ms", f32::from(self.hold_ms), 1.0, 60_000.0)
    }

    /// Σ weightᵢ·bᵢ at `tau` \[s\].
    #[inline(never)]
    pub fn sum(&self, weights: &[f32; WEIGHTS], tau: f32) -> f32 {
        let t = tau / self.time_s;
        let used = weights.iter().take(usize::from(self.count));
        let mut sum = 0.0;
        match self.family {
            Family::Hat => {
                let mut knot = 0.0;
                for weight in used {
                    let b = 1.0 - (t - knot).abs();
                    if b > 0.0 {
                        sum += weight * b;
                    }
                    knot += 1.0;
                }
            }
            Family::Laguerre => {
                let x = t + t;
                let (mut before, mut now, mut k) = (0.0, 1.0, 0.0);
                for weight in used {
                    sum += weight * now;
                    // (k+1)·L_(k+1) = (2k+1 − x)·L_k − k·L_(k−1)
                    let next = ((k + k + 1.0 - x) * now - k * before) / (k + 1.0);
                    (before, now) = (now, next);
                    k += 1.0;
                }
                sum *= exp_f32(-t);
            }
        }
        sum
    }
}

/// The plan that is played and the one that comes next.
#[derive(Clone, Copy, Debug)]
pub struct State {
    has: [bool; 2],
    /// Ticks the present plan has been played for.
    age: u32,
    /// In snapshots; what they do shows in the duty.
    plans: Intermediate<[Plan; 2]>,
    /// Plans whose tick had passed.
    pub late: u32,
}
crate::impl_words!(State {
    has,
    age,
    plans,
    late
});

impl State {
    pub const NONE: Self = State {
        has: [false; 2],
        age: 0,
        plans: Intermediate(
            [Plan {
                from_tick: 0,
                weights: [0.0; WEIGHTS],
            }; 2],
        ),
        late: 0,
    };

    /// A plan, before `tick` is stepped.
    pub fn offer(&mut self, tick: u64, plan: Plan) {
        if plan.from_tick < tick || plan.weights.iter().any(|w| !w.is_finite()) {
            self.late = self.late.wrapping_add(1);
        } else {
            self.plans.0[1] = plan;
            self.has[1] = true;
        }
    }

    /// No plan; the count of late ones stays.
    pub fn forget(&mut self) {
        *self = State {
            late: self.late,
            ..State::NONE
        };
    }

    /// The plan last offered.
    pub fn offered(&self) -> Plan {
        self.plans.0[1]
    }

    /// Part of the largest torque, −1 … 1, at `tick`; `None`: nothing to play for longer than `hold` ticks.
    #[inline(always)]
    pub fn play(&mut self, config: &Config, tick: u64, dt: f32, hold: u32) -> Option<f32> {
        self.age = self.age.saturating_add(1);
        if self.has[1] && self.plans.0[1].from_tick <= tick {
            self.plans.0[0] = self.plans.0[1];
            self.has = [true, false];
            self.age = 0;
        }
        if self.age >= hold {
            return None;
        }
        if !self.has[0] {
            return Some(0.0);
        }
        Some(tanh_f32(
            config.sum(&self.plans.0[0].weights, self.age as f32 * dt),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::math::exp_f64;

    #[test]
    fn hats_go_through_their_weights_and_laguerre_begin_at_one() {
        let mut weights = [0.0; WEIGHTS];
        weights[..3].copy_from_slice(&[1.0, 3.0, -2.0]);
        let hat = Config {
            time_s: 0.5,
            ..Config::default()
        };
        assert_eq!(hat.sum(&weights, 0.5), 3.0);
        assert_eq!(hat.sum(&weights, 0.75), 0.5);
        assert_eq!(hat.sum(&weights, 9.0), 0.0);
        let laguerre = Config {
            family: Family::Laguerre,
            time_s: 0.25,
            ..hat
        };
        assert_eq!(laguerre.sum(&weights, 0.0), 2.0);
        // L0 = 1, L1 = 1 − x, L2 = 1 − 2x + x²/2 at x = 2·0.2.
        let by_hand = exp_f64(-0.2) * (1.0 + 3.0 * 0.6 - 2.0 * (1.0 - 0.8 + 0.08));
        assert!((f64::from(laguerre.sum(&weights, 0.05)) - by_hand).abs() < 1e-6);
    }

    #[test]
    fn a_plan_begins_at_its_tick_ends_stale_and_a_late_one_is_counted() {
        let config = Config::default();
        let mut weights = [0.0; WEIGHTS];
        weights[0] = 1.0;
        let mut s = State::NONE;
        s.offer(
            10,
            Plan {
                from_tick: 12,
                weights,
            },
        );
        assert_eq!(s.play(&config, 11, 1e-4, 100), Some(0.0));
        assert!(s.play(&config, 12, 1e-4, 100).unwrap() > 0.7);
        s.offer(
            13,
            Plan {
                from_tick: 12,
                weights,
            },
        );
        assert_eq!(s.late, 1);
        let stale = (13..).find(|&t| s.play(&config, t, 1e-4, 100).is_none());
        assert_eq!(stale, Some(112));
    }
}
