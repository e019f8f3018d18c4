//! What both methods must agree on, and the steps that lead there.
//!
//! ```text
//! H(q)·q̈ + B(q, q̇) + G(q) + D(q, q̇) = Q(u)      B centrifugal and Coriolis, G gravity and springs, D dampers, Q actuators
//! ```

use crate::expr::{Ex, Unit};

/// One line of a derivation, as shown to the reader.
#[derive(Clone, Debug)]
pub struct Step {
    pub title: &'static str,
    /// Formula symbol, e.g. `ω`.
    pub symbol: &'static str,
    /// Body, coordinate, or pair of both.
    pub of: String,
    /// Frame of the components; empty for a scalar.
    pub frame: String,
    pub unit: Unit,
    /// One or three components.
    pub value: Vec<Ex>,
}

/// H·q̈ + B + G + D = Q.
#[derive(Clone, Debug)]
pub struct Motion {
    pub h: Vec<Vec<Ex>>,
    pub b: Vec<Ex>,
    pub g: Vec<Ex>,
    pub d: Vec<Ex>,
    pub effort: Vec<Ex>,
    /// Velocity constraints, each zero, linear in q̇: from this method's own kinematics.
    pub constraints: Vec<Ex>,
    pub steps: Vec<Step>,
}

impl Motion {
    /// H, B, G, D, Q in one list.
    pub fn all(&self) -> Vec<Ex> {
        let rows = self
            .b
            .iter()
            .chain(&self.g)
            .chain(&self.d)
            .chain(&self.effort);
        self.h.iter().flatten().chain(rows).copied().collect()
    }

    /// Left side of equation `r`: H·q̈ + B + G + D.
    pub fn left(&self, r: usize, a: &[Ex]) -> Ex {
        let inertia: Ex = self.h[r].iter().zip(a).map(|(h, a)| *h * *a).sum();
        inertia + self.b[r] + self.g[r] + self.d[r]
    }
}

/// Collects steps with less writing.
#[derive(Default)]
pub(crate) struct Steps(pub Vec<Step>);

impl Steps {
    pub fn vector(
        &mut self,
        title: &'static str,
        symbol: &'static str,
        of: &str,
        frame: &str,
        unit: Unit,
        value: [Ex; 3],
    ) {
        self.0.push(Step {
            title,
            symbol,
            of: of.into(),
            frame: frame.into(),
            unit,
            value: value.to_vec(),
        });
    }
    pub fn scalar(
        &mut self,
        title: &'static str,
        symbol: &'static str,
        of: &str,
        unit: Unit,
        value: Ex,
    ) {
        self.0.push(Step {
            title,
            symbol,
            of: of.into(),
            frame: String::new(),
            unit,
            value: vec![value],
        });
    }
}
