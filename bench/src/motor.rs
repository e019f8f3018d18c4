//! The bridge and the motor: what the pins' levels do to the driven joint.
//!
//! A full bridge with two inputs and an enable line (the DRV8874's PWM mode), a brushed motor behind a gear, with inductance:
//!
//! ```text
//! enable IN1 IN2   outputs                      L·di/dt = V − R·i − n·k·ω
//!   0     x   x    off: coasts, no current      u       = n·k·i
//!   1     0   0    off
//!   1     1   0    V = +supply
//!   1     0   1    V = −supply
//!   1     1   1    V = 0, brakes
//! ```
//!
//! PWM is much faster than the motor: the mean over a period counts. Below its lockout voltage, and after a fault, the bridge is off
//! and pulls its fault line low. Independent of `stribeck_core::model::motor`, which neglects the inductance.

use stribeck_core::JOINTS;
use stribeck_core::model::motor::Motor as Config;

/// The bridge switches itself off below this supply [V].
pub const LOCKOUT_V: f64 = 4.35;

/// Levels at the bridge's inputs: part of the time that IN1 and IN2 are high, and enable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Levels {
    pub high: [f64; 2],
    pub enable: bool,
}

impl Levels {
    /// Current may flow: anything but the bridge off.
    pub fn on(&self) -> bool {
        self.enable && self.high != [0.0; 2]
    }

    /// Mean voltage as a part of the supply.
    pub fn duty(&self) -> f64 {
        if self.enable {
            self.high[0] - self.high[1]
        } else {
            0.0
        }
    }
}

#[derive(Clone, Debug)]
pub struct Motor {
    resistance: f64,
    inductance: f64,
    /// n·k [N·m/A at the joint].
    drive: f64,
    dead_zone: f64,
    actuator: [f64; JOINTS],
    rated_v: f64,
    pub supply_v: f64,
    /// The bridge has found an overload and switched itself off.
    pub fault: bool,
    pub levels: Levels,
    current: f64,
}

impl Motor {
    /// `inductance` [H]; 0: the current follows at once.
    pub fn new(c: &Config, inductance: f64, actuator: [f64; JOINTS]) -> Self {
        let f = f64::from;
        Motor {
            resistance: f(c.resistance),
            inductance,
            drive: f(c.gear) * f(c.constant),
            dead_zone: f(c.dead_zone),
            actuator,
            rated_v: f(c.supply),
            supply_v: f(c.supply),
            fault: false,
            levels: Levels::default(),
            current: 0.0,
        }
    }

    pub fn restore_supply(&mut self) {
        self.supply_v = self.rated_v;
    }

    /// The fault line is low.
    pub fn signals_fault(&self) -> bool {
        self.fault || self.supply_v < LOCKOUT_V
    }

    /// Which joint it drives.
    pub fn joint(&self) -> usize {
        usize::from(self.actuator[0] == 0.0)
    }

    /// Generalised forces during the next `dt` [s] at joint speeds `w`.
    pub fn step(&mut self, dt: f64, w: [f64; JOINTS]) -> [f64; JOINTS] {
        let Levels { high, enable } = self.levels;
        let conducting = high[0].max(high[1]);
        if !enable || conducting == 0.0 || self.signals_fault() {
            self.current = 0.0;
            return [0.0; JOINTS];
        }
        let part = high[0] - high[1];
        let volts = self.supply_v * (part.abs() - self.dead_zone).max(0.0) * part.signum();
        let back = self.drive * (self.actuator[0] * w[0] + self.actuator[1] * w[1]);
        // Where both inputs are low the current finds no way: it flows for the conducting part only.
        let target = (volts - back * conducting) / self.resistance;
        let settle = if self.inductance > 0.0 {
            1.0 - (-dt * self.resistance / self.inductance).exp()
        } else {
            1.0
        };
        self.current += (target - self.current) * settle;
        self.actuator.map(|a| a * self.drive * self.current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stribeck_core::model::motor::{Bridge, Duty};
    use stribeck_core::model::plant::{PlantConfig, furuta};

    fn levels(duty: f64) -> Levels {
        let high = if duty >= 0.0 {
            [1.0, 1.0 - duty]
        } else {
            [1.0 + duty, 1.0]
        };
        Levels { high, enable: true }
    }

    /// Without inductance it is what the observers are told.
    #[test]
    fn it_is_the_motor_of_the_model() {
        let config = Config {
            gear: 3.7,
            dead_zone: 0.02,
            ..Config::default()
        };
        let plant = PlantConfig::Furuta(furuta::Config::default());
        let bridge = Bridge::<f64>::new(&config, &plant);
        let mut motor = Motor::new(&config, 0.0, plant.actuator().map(f64::from));
        for (duty, w) in [(2500, 0.0), (-1200, 3.0), (0, -4.0), (40, 1.0)] {
            motor.levels = levels(f64::from(duty) / f64::from(Duty::FULL));
            let told = bridge.apply(Duty(duty)).at([w, 1.0]);
            let real = motor.step(20e-6, [w, 1.0]);
            assert!(
                (told[0] - real[0]).abs() < 1e-6,
                "{duty} {w}: {told:?} {real:?}"
            );
        }
    }

    #[test]
    fn off_it_coasts_and_a_low_supply_is_a_fault() {
        let plant = PlantConfig::Furuta(furuta::Config::default());
        let mut motor = Motor::new(&Config::default(), 3e-4, plant.actuator().map(f64::from));
        motor.levels = levels(0.5);
        let first = motor.step(20e-6, [0.0; 2])[0];
        let settled = (0..100).fold(0.0, |_, _| motor.step(20e-6, [0.0; 2])[0]);
        assert!(first < 0.3 * settled && settled > 0.29, "{first} {settled}");
        motor.supply_v = 3.0;
        assert!(motor.signals_fault());
        assert_eq!(motor.step(20e-6, [5.0, 0.0]), [0.0; 2]);
        motor.restore_supply();
        motor.levels.enable = false;
        assert_eq!(motor.step(20e-6, [5.0, 0.0]), [0.0; 2]);
        assert!(!motor.levels.on() && motor.levels.duty() == 0.0);
    }
}
