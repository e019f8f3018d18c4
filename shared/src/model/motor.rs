//! The motor on a joint: what a duty of the bridge does to the rig.
//!
//! A brushed motor behind a gear, fed by a bridge from a fixed supply. With the bridge voltage V, armature resistance R, motor constant k
//! (N·m/A, and V·s/rad), gear n (motor turns per joint turn; rad per metre on a slide) and the joint's speed ω:
//!
//! ```text
//! V = supply·(|duty| − dead zone)·sgn(duty)      0 inside the dead zone
//! u = n·k/R·(V − n·k·ω) = push·V − damping·ω     push = n·k/R, damping = (n·k)²/R
//! ```
//!
//! The current follows the voltage at once: the inductance is neglected. With L/R = 69 µs (the motor of paper 003) the current lags by
//! less than one tick of 10 kHz, an error of u below (du/dt)·69 µs. A bridge that is off lets the motor coast: no current, no damping.
//!
//! The rotor's inertia n²·J belongs to the plant ([`PlantConfig::with_rotor`]).
//!
//! Duties count timer steps, [`Duty::FULL`] is always on: what the timer can do is what the observers are told.

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::model::plant::{PlantConfig, no_force};
use crate::number::range::{OutOfRange, check};
use crate::number::scalar::Scalar;

/// What the bridge is told: −[`Duty::FULL`] … [`Duty::FULL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duty(pub i16);

impl Duty {
    /// Always on: the steps of the PWM timer's period (200 MHz / 40 kHz).
    pub const FULL: i16 = 5000;
    pub const ZERO: Self = Duty(0);
}

/// Motor, gear and bridge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motor {
    /// Armature resistance R \[Ω\].
    pub resistance: f32,
    /// Motor constant k \[N·m/A = V·s/rad\].
    pub constant: f32,
    /// Gear n: motor turns per turn of the joint (rad per metre on a slide). Negative: the motor turns the other way.
    pub gear: f32,
    /// Inertia of the rotor about its own axis \[kg·m²\].
    pub rotor_inertia: f32,
    /// Supply of the bridge \[V\].
    pub supply: f32,
    /// Duty the bridge swallows before it conducts, part of full.
    pub dead_zone: f32,
    /// Most that control may ask of the motor, at the joint \[N·m, or N on a slide\].
    pub torque_limit: f32,
}

impl Default for Motor {
    /// A direct-drive motor that gives 0.1 N·m at a sixth of its 24 V.
    fn default() -> Self {
        Motor {
            resistance: 4.0,
            constant: 0.1,
            gear: 1.0,
            rotor_inertia: 0.0,
            supply: 24.0,
            dead_zone: 0.0,
            torque_limit: 0.1,
        }
    }
}

impl Motor {
    /// The first field outside its allowed range, if any.
    pub fn validate(&self, plant: &PlantConfig) -> Result<(), OutOfRange> {
        check("drive.motor.resistance", self.resistance, 1e-3, 1e4)?;
        check("drive.motor.constant", self.constant, 1e-6, 1e3)?;
        check("drive.motor.gear", self.gear.abs(), 1e-3, 1e4)?;
        let most = if plant.takes_rotor() { 1.0 } else { 0.0 };
        check("drive.motor.rotor_inertia", self.rotor_inertia, 0.0, most)?;
        check("drive.motor.supply", self.supply, 0.1, 1e3)?;
        check("drive.motor.dead_zone", self.dead_zone, 0.0, 0.5)?;
        check("drive.motor.torque_limit", self.torque_limit, 1e-6, 1e4)
    }

    /// The rotor's inertia at the joint \[kg·m²\].
    pub fn reflected(&self) -> f32 {
        self.rotor_inertia * self.gear * self.gear
    }
}

/// [`Motor`] built: constants computed once.
#[derive(Clone, Copy, Debug)]
pub struct Bridge<S> {
    /// Where the motor acts.
    actuator: [S; JOINTS],
    /// u per step of duty \[N·m\], and its inverse.
    step: S,
    per_torque: S,
    /// Dead zone \[steps\].
    dead: S,
    /// Back-EMF damping at the joint \[N·m·s\].
    damping: S,
    limit: S,
}

impl<S: Scalar> Bridge<S> {
    pub fn new(motor: &Motor, plant: &PlantConfig) -> Self {
        let f = S::from_f32;
        let drive = f(motor.gear) * f(motor.constant);
        let step = drive / f(motor.resistance) * f(motor.supply) / f(Duty::FULL as f32);
        Bridge {
            actuator: plant.actuator().map(f),
            step,
            per_torque: S::ONE / step,
            dead: f(motor.dead_zone) * f(Duty::FULL as f32),
            damping: drive * drive / f(motor.resistance),
            limit: f(motor.torque_limit),
        }
    }

    /// What `duty` does to the rig until the next tick.
    #[inline(always)]
    pub fn apply(&self, duty: Duty) -> Applied<S> {
        let steps = S::from_f32(duty.0 as f32);
        let beyond = (steps.abs() - self.dead).max(S::ZERO);
        let push = self.step * if steps < S::ZERO { -beyond } else { beyond };
        Applied {
            on: true,
            force: self.actuator.map(|a| a * push),
            damping: self.actuator.map(|a| a * a * self.damping),
        }
    }

    /// The motor's own speed at joint speeds `w` \[rad/s\].
    #[inline(always)]
    pub fn speed(&self, w: [S; JOINTS]) -> S {
        self.actuator[0] * w[0] + self.actuator[1] * w[1]
    }

    /// Largest torque control may ask for.
    #[inline(always)]
    pub fn limit(&self) -> S {
        self.limit
    }

    /// Steps of duty that give the torque `u` \[N·m\] at joint speeds `w`, neither rounded nor limited to the duty's range.
    #[inline(always)]
    pub fn steps(&self, u: S, w: [S; JOINTS]) -> S {
        let steps = (u + self.damping * self.speed(w)) * self.per_torque;
        if steps > S::ZERO {
            steps + self.dead
        } else if steps < S::ZERO {
            steps - self.dead
        } else {
            S::ZERO
        }
    }
}

/// What acts on the rig from one tick to the next: τ = force − damping·ω.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Applied<S> {
    /// The bridge is on. Off, nothing acts and the motor coasts.
    on: bool,
    force: [S; JOINTS],
    damping: [S; JOINTS],
}

impl<S: Scalar> Applied<S> {
    /// A passive rig, or a bridge that is off.
    pub const NONE: Self = Applied {
        on: false,
        force: [S::ZERO; JOINTS],
        damping: [S::ZERO; JOINTS],
    };

    /// The generalised force `force` \[N·m\] whatever the speed: a torque-controlled drive, or a test.
    pub fn constant(force: [S; JOINTS]) -> Self {
        Applied {
            on: true,
            force,
            damping: [S::ZERO; JOINTS],
        }
    }

    /// The generalised force at joint speeds `w` \[rad/s\].
    #[inline(always)]
    pub fn at(&self, w: [S; JOINTS]) -> [S; JOINTS] {
        if !self.on {
            return no_force();
        }
        [
            self.force[0] - self.damping[0] * w[0],
            self.force[1] - self.damping[1] * w[1],
        ]
    }

    /// −∂τ/∂ω of each joint \[N·m·s\], if anything acts.
    #[inline(always)]
    pub fn damping(&self) -> Option<[S; JOINTS]> {
        self.on.then_some(self.damping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plant::furuta;

    fn bridge(dead_zone: f32) -> Bridge<f64> {
        let motor = Motor {
            gear: 3.7,
            dead_zone,
            ..Motor::default()
        };
        Bridge::new(&motor, &PlantConfig::Furuta(furuta::Config::default()))
    }

    #[test]
    fn the_steps_for_a_torque_give_that_torque() {
        for dead in [0.0, 0.03] {
            let bridge = bridge(dead);
            for (u, w) in [(0.05, 0.0), (-0.08, 2.0), (0.02, -7.0), (1e-4, 0.1)] {
                let steps = bridge.steps(u, [w, 9.0]);
                let duty = Duty(if steps < 0.0 {
                    steps - 0.5
                } else {
                    steps + 0.5
                } as i16);
                let [got, none] = bridge.apply(duty).at([w, 9.0]);
                assert!((got - u).abs() <= 0.51 * bridge.step, "{u} {w}: {got}");
                assert_eq!(none, 0.0);
            }
        }
    }

    #[test]
    fn the_formula_by_hand() {
        // n·k = 0.37, R = 4 Ω: 2 500 steps of 5 000 are 12 V, less 3 rad/s · 0.37 V·s.
        let [u, _] = bridge(0.0).apply(Duty(2500)).at([3.0, 0.0]);
        assert!((u - 0.37 / 4.0 * (12.0 - 0.37 * 3.0)).abs() < 1e-7, "{u}");
        let [inside, _] = bridge(0.1).apply(Duty(499)).at([0.0; 2]);
        assert_eq!(inside, 0.0);
        assert_eq!(
            Applied::<f64>::NONE.at([5.0; 2]).map(f64::to_bits),
            [1 << 63; 2]
        );
    }
}
