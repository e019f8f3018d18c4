//! A bond graph of which inputs and outputs were measured, and what of it is unknown.
//!
//! Channels of the dataset: [`super::dataset::Quantity::Input`] and [`super::dataset::Quantity::Output`], numbered as here.

use crate::bond::equations::System;
use crate::bond::follow::Output;
use crate::bond::simulate::Of;
use crate::error::{Error, Result};

/// See the module.
#[derive(Clone, Debug)]
pub struct Graphed {
    pub system: System,
    /// What was measured, in the order of the channels.
    pub outputs: Vec<Output>,
    /// Inputs that do not change, by the graph's inputs; the others have a channel.
    pub constant: Vec<Option<f64>>,
    pub unknown: Vec<Of>,
    /// Initial states; unknown ones are where the search starts. Parameters are those of the graph.
    pub initial: Vec<f64>,
}

impl Graphed {
    /// Nothing measured, nothing unknown, initial states zero.
    pub fn new(system: System) -> Graphed {
        Graphed {
            outputs: Vec::new(),
            constant: vec![None; system.graph.inputs.len()],
            unknown: Vec::new(),
            initial: vec![0.0; system.plan.states.len()],
            system,
        }
    }

    /// The sensor or store of this name.
    pub fn output(&self, name: &str) -> Result<Output> {
        let sensors = self.system.sensors();
        let sensor = sensors
            .iter()
            .position(|p| self.system.graph.parts[*p].name == name);
        let state = || self.system.state(name).map(Output::State);
        sensor
            .map(Output::Sensor)
            .or_else(state)
            .ok_or_else(|| unknown("sensor or state", name))
    }

    /// A parameter by its name, an initial state as `x0:STATE`.
    pub fn quantity(&self, name: &str) -> Result<Of> {
        let graph = &self.system.graph;
        let found = match name.strip_prefix("x0:") {
            Some(state) => self.system.state(state).map(Of::Initial),
            None => graph
                .parameters
                .iter()
                .position(|p| p.name == name)
                .map(Of::Parameter),
        };
        found.ok_or_else(|| unknown("parameter (or x0:STATE)", name))
    }

    /// Place of an input.
    pub fn input(&self, name: &str) -> Result<usize> {
        let inputs = &self.system.graph.inputs;
        let found = inputs.iter().position(|n| n == name);
        found.ok_or_else(|| unknown("input", name))
    }

    /// Name and unit of an unknown. The unit of a store's content is not in the description.
    pub fn label(&self, of: &Of) -> (String, String) {
        match *of {
            Of::Parameter(k) => {
                let p = &self.system.graph.parameters[k];
                (p.name.clone(), p.unit.clone())
            }
            Of::Initial(k) => (
                format!("x0:{}", self.system.state_names()[k]),
                String::new(),
            ),
        }
    }
}

fn unknown(what: &str, name: &str) -> Error {
    Error::invalid(
        format!("the graph has no {what} called {name}"),
        "`stribeck bond GRAPH` lists the states, --source shows the description",
    )
}
