//! A plant whose rig is taken as its file says: friction and encoder zeros are estimated, nothing of the geometry.
//!
//! This is every generated plant. Its joints may slide: units follow the kind of the joint ([`stribeck_core::model::joint`]).

use stribeck_core::model::joint::Joint;
use stribeck_core::model::plant::tolerance::Tolerance;
use stribeck_core::model::plant::{AnyPlant, PlantConfig};
use stribeck_core::number::scalar::Scalar;

use super::{Entry, Fitted, Label, Load, System};
use crate::identify::model::parametric::{Coef, Freedom, Param, Prior};

pub const LOAD: Load = Load::Reaction;
pub const TABLE: [Entry; 0] = [];
pub const BASE: &[Coef] = &[Coef::Coulomb, Coef::Viscous];
pub const ADDITIONS: &[&[Coef]] = &[&[Coef::Stribeck, Coef::Transition], &[Coef::Drag]];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rig {
    plant: PlantConfig,
    pub tolerance: Tolerance,
    pub values: [f64; 0],
}

impl Rig {
    pub fn new(plant: &PlantConfig) -> Rig {
        Rig {
            plant: *plant,
            tolerance: Tolerance::default(),
            values: [],
        }
    }

    /// The same rig to these tolerances.
    pub fn within(self, t: &Tolerance) -> Rig {
        Rig {
            tolerance: *t,
            ..self
        }
    }

    pub fn config(&self) -> PlantConfig {
        self.plant
    }

    /// The zeros of the joints whose place the motion shows.
    pub fn freedom(&self) -> Freedom {
        let mut out = Freedom::default();
        for (j, sigma) in self.prior().zero.into_iter().enumerate() {
            if sigma > 0.0 {
                out.add(Prior {
                    param: Param::Offset(j),
                    value: 0.0,
                    sigma: f64::from(sigma),
                });
            }
        }
        out
    }

    fn prior(&self) -> stribeck_core::model::plant::tolerance::Prior {
        self.plant.prior(&self.tolerance)
    }

    pub fn feasible(&self) -> bool {
        true
    }

    pub fn friction_label(&self, c: Coef, joint: usize) -> Label {
        let units = self.plant.joints()[joint].units();
        let unit = match c {
            Coef::Coulomb | Coef::Stribeck | Coef::DeltaCoulomb => units.coulomb,
            Coef::Viscous | Coef::DeltaViscous => units.viscous,
            Coef::Transition => units.velocity,
            Coef::Drag => units.drag,
            Coef::Preload | Coef::Wave(_) => "1",
        };
        Label { unit, ..c.label() }
    }

    /// Typical size: levers of millimetres where the joint turns, coefficients of per cents where it slides.
    pub fn friction_scale(&self, c: Coef, joint: usize) -> f64 {
        match self.plant.joints()[joint] {
            Joint::Revolute => super::furuta::friction_scale(c),
            Joint::Prismatic => match c {
                Coef::Coulomb => 1e-2,
                Coef::Stribeck | Coef::DeltaCoulomb => 2e-3,
                Coef::Viscous => 0.1,
                Coef::DeltaViscous => 0.03,
                Coef::Preload | Coef::Wave(_) => 0.1,
                Coef::Drag => 0.05,
                Coef::Transition => 1e-3,
            },
        }
    }

    /// What mass and lever of the rig file leave open, as the observer of the chip has it.
    pub fn hidden(&self, c: Coef, joint: usize) -> f64 {
        let prior = self.prior();
        f64::from(match c {
            Coef::Transition | Coef::Preload | Coef::Wave(_) => 0.0,
            Coef::Coulomb | Coef::Stribeck | Coef::DeltaCoulomb => prior.coulomb[joint],
            Coef::Viscous | Coef::Drag | Coef::DeltaViscous => prior.viscous,
        })
    }
}

impl Fitted<4> for Rig {
    type Plant<S: Scalar> = AnyPlant<S>;

    fn plant<S: Scalar>(&self, _: &[S], _: Load) -> AnyPlant<S> {
        self.plant.build()
    }

    #[inline(always)]
    fn rate<S: Scalar>(system: &System<S, AnyPlant<S>>, y: &[S; 4]) -> [S; 4] {
        system.rate_of_two(y)
    }
}
