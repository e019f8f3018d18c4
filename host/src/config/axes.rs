//! What the joints of a plant are called and measured in, for everything that people read: terminal, reports, columns.
//!
//! The units are the table of `model::joint`; here they are put together for plants whose joints differ in kind.

use stribeck_core::JOINTS;
use stribeck_core::model::joint::{Joint, Units};
use stribeck_core::model::plant::PlantConfig;

/// The joints of one plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    pub joints: [Joint; JOINTS],
    names: [&'static str; JOINTS],
    /// Joints that move.
    pub dof: usize,
}

impl Default for Axes {
    /// Two joints that turn, not named.
    fn default() -> Self {
        Axes {
            joints: [Joint::Revolute; JOINTS],
            names: ["joint 0", "joint 1"],
            dof: JOINTS,
        }
    }
}

impl Axes {
    pub fn of(plant: &PlantConfig) -> Self {
        Axes {
            joints: plant.joints(),
            names: plant.joint_names(),
            dof: plant.dof().clamp(1, JOINTS),
        }
    }

    pub fn units(&self, joint: usize) -> &'static Units {
        self.joints[joint].units()
    }

    /// "arm", "cart".
    pub fn name(&self, joint: usize) -> &'static str {
        self.names[joint]
    }

    /// "θ0", "x0".
    pub fn symbol(&self, joint: usize) -> String {
        format!("{}{joint}", self.joints[joint].symbol())
    }

    /// "ω0", "v0".
    pub fn speed_symbol(&self, joint: usize) -> String {
        format!("{}{joint}", self.joints[joint].speed_symbol())
    }

    /// "theta0", "x0".
    pub fn column(&self, joint: usize) -> String {
        format!("{}{joint}", self.joints[joint].column())
    }

    /// "omega0", "v0".
    pub fn speed_column(&self, joint: usize) -> String {
        format!("{}{joint}", self.joints[joint].speed_column())
    }

    /// A coordinate for the eye: degrees of a joint that turns, metres of one that slides.
    pub fn place(&self, joint: usize, q: f64) -> String {
        match self.joints[joint] {
            Joint::Revolute => format!("{:.2}°", q.to_degrees()),
            Joint::Prismatic => format!("{q:.4} m"),
        }
    }

    /// What the coordinates together are called: angles, unless a joint slides.
    pub fn word(&self) -> &'static str {
        match self.is_mixed() || self.joints[0] == Joint::Prismatic {
            true => "coordinate",
            false => "angle",
        }
    }

    /// Joints that move differ in kind.
    pub fn is_mixed(&self) -> bool {
        self.joints[..self.dof].iter().any(|j| *j != self.joints[0])
    }

    /// One unit of every joint that moves: "rad/s", or "m/s, rad/s" where they differ.
    pub fn all(&self, unit: impl Fn(&Units) -> &'static str) -> String {
        let each = |joint: &Joint| unit(joint.units());
        match self.is_mixed() {
            false => each(&self.joints[0]).into(),
            true => self.joints[..self.dof]
                .iter()
                .map(each)
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_that_differ_say_both_units() {
        let of = |name| Axes::of(&PlantConfig::named(name).unwrap());
        let (cart, furuta, one) = (of("Cartpole"), of("Furuta"), of("Pendulum"));
        assert_eq!(cart.all(|u| u.velocity), "m/s, rad/s");
        assert_eq!(furuta.all(|u| u.velocity), "rad/s");
        assert_eq!(
            (cart.word(), furuta.word(), one.word()),
            ("coordinate", "angle", "angle")
        );
        assert_eq!(
            (cart.name(0), furuta.name(0), one.name(0)),
            ("cart", "arm", "pendulum")
        );
        assert_eq!(
            (cart.column(0), cart.speed_column(1)),
            ("x0".into(), "omega1".into())
        );
        assert_eq!(
            (cart.place(0, -0.25), cart.place(1, 0.0)),
            ("-0.2500 m".into(), "0.00°".into())
        );
    }
}
