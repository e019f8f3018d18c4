//! The configuration a rig of each plant starts from: what a file that names only its plant gets.
//!
//! Furuta and simple pendulum: the default as it is. For the others it follows from the plant: encoders that read zero where it hangs at
//! power-on and flag no joint that stands still, counts per metre where a joint slides, priors of that joint's units, a transition velocity
//! of the UAS that the step can follow.

use super::config::Config;
use crate::model::joint::Joint;
use crate::model::plant::PlantConfig;

impl Config {
    /// The default for this plant.
    pub fn of_plant(plant: PlantConfig) -> Self {
        let mut config = Config {
            plant,
            ..Config::default()
        };
        let joints = plant.joints();
        let rest = plant.rest();
        for (j, encoder) in config.encoders.iter_mut().enumerate() {
            // Counters start at 0, and at power-on it hangs.
            encoder.zero = encoder.counts_at(joints[j], rest[j]).wrapping_neg();
        }
        if !matches!(plant, PlantConfig::Furuta(_) | PlantConfig::Pendulum(_)) {
            // Friction may hold a cart under its pole, a wheel on its pendulum: a joint at rest is no fault.
            config.encoders.iter_mut().for_each(|e| e.stuck_travel = 0);
        }
        if joints.contains(&Joint::Prismatic) {
            // μd without unit and μv in N·s/m are larger numbers than levers in metres.
            config.ekf.prior = [1.0; 3];
        }
        config.soften();
        config
    }

    /// Raise the transition velocity of the UAS, tenfold at most six times, until the step can follow.
    fn soften(&mut self) {
        for _ in 0..6 {
            if self.check_stiffness().is_ok() {
                return;
            }
            for b in self.uas.bounds.iter_mut().skip(3).step_by(5) {
                b.initial *= 10.0;
                b.upper *= 10.0;
            }
        }
    }
}
