//! The graph: components, bonds, parameters, inputs; built by hand or from a description, checked before use.
//!
//! | kind | ports | law |
//! |---|---|---|
//! | Se, Sf | 1 | effort or flow is the input of that name, or a formula |
//! | I | 1 | p = gain·f, ṗ = e |
//! | C | 1 | q = gain·e, q̇ = f |
//! | Integrator | 1 | q̇ = f, no effort: keeps a displacement |
//! | R | 1 | e = gain·f; or e = any formula of `f` (then it must receive its flow) |
//! | Tf | 2 | f2 = gain·f1, e1 = gain·e2 |
//! | Gy | 2 | e2 = gain·f1, e1 = gain·f2 |
//! | Ae, Af | 2 | e2 = gain·e1 with f1 = 0; f2 = gain·f1 with e1 = 0: power is not conserved, on purpose |
//! | De, Df | 1 | sensors: zero flow or zero effort; what they see is an output |
//! | 0, 1 | any | common effort, flows sum to zero; common flow, efforts sum to zero |
//!
//! Positive power flows along a bond's arrow. The first bond of a two-port is its port 1.

use super::formula::{BadFormula, Formula, Symbol};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Se,
    Sf,
    I,
    C,
    Integrator,
    R,
    Tf,
    Gy,
    Ae,
    Af,
    De,
    Df,
    Zero,
    One,
}

impl Kind {
    pub const NAMES: [(&'static str, Kind); 14] = [
        ("Se", Kind::Se),
        ("Sf", Kind::Sf),
        ("I", Kind::I),
        ("C", Kind::C),
        ("integrator", Kind::Integrator),
        ("R", Kind::R),
        ("TF", Kind::Tf),
        ("GY", Kind::Gy),
        ("AE", Kind::Ae),
        ("AF", Kind::Af),
        ("De", Kind::De),
        ("Df", Kind::Df),
        ("0", Kind::Zero),
        ("1", Kind::One),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("", |(name, _)| name)
    }

    /// How many bonds it has; `None`: two or more.
    fn ports(self) -> Option<usize> {
        match self {
            Kind::Zero | Kind::One => None,
            Kind::Tf | Kind::Gy | Kind::Ae | Kind::Af => Some(2),
            _ => Some(1),
        }
    }

    /// Whether its law needs a gain.
    fn has_gain(self) -> bool {
        !matches!(
            self,
            Kind::Integrator | Kind::De | Kind::Df | Kind::Zero | Kind::One
        )
    }

    pub fn stores(self) -> bool {
        matches!(self, Kind::I | Kind::C | Kind::Integrator)
    }
}

/// A component's constitutive relation.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Junctions, sensors, integrators.
    None,
    Gain(Formula<Symbol>),
    /// An R given by its effort as a formula of its own flow.
    Effort(Formula<Symbol>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub kind: Kind,
    pub law: Law,
}

/// Positive power flows from `tail` to `head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bond {
    pub tail: usize,
    pub head: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub value: f64,
    pub unit: String,
}

/// A checked graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub name: String,
    pub parts: Vec<Part>,
    pub bonds: Vec<Bond>,
    pub parameters: Vec<Parameter>,
    pub inputs: Vec<String>,
    /// Bonds of each part, in the order they were drawn.
    pub at: Vec<Vec<usize>>,
}

/// What is wrong with a graph, by name of component and port.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadGraph {
    #[error("{0} is defined twice")]
    Twice(String),
    #[error("bond `{bond}`: no component is called {name}")]
    NoSuchPart { bond: String, name: String },
    #[error("{part} ({kind}) has {found} bonds and needs {needed}")]
    Ports {
        part: String,
        kind: &'static str,
        found: usize,
        needed: &'static str,
    },
    #[error("{part}: {error}")]
    Formula { part: String, error: BadFormula },
    #[error("{part}: nothing is called {name} (parameters, inputs, states and `t` are known)")]
    NoSuchName { part: String, name: String },
    #[error("{part}: a {kind} needs a value")]
    NoValue { part: String, kind: &'static str },
    #[error("{part}: a {kind} has no value")]
    NeedlessValue { part: String, kind: &'static str },
    #[error("{part} is bonded to itself")]
    Loop { part: String },
    #[error("causal conflict at {part} ({kind}): {why}")]
    Causality {
        part: String,
        kind: &'static str,
        why: String,
    },
    #[error(
        "{part}: its value uses a store in derivative causality, which is no state; use an integrator for the displacement"
    )]
    NotAState { part: String },
    #[error("the graph has no component")]
    Empty,
}

/// A component as given, formulas still text.
#[derive(Clone, Debug)]
struct Given {
    name: String,
    kind: Kind,
    gain: Option<String>,
    effort: Option<String>,
}

/// Collects components and bonds; [`Builder::build`] checks them.
///
/// ```
/// use stribeck::bond::graph::{Builder, Kind};
///
/// let mut b = Builder::new("RC");
/// b.parameter("r", 1e3, "Ω").parameter("c", 1e-6, "F").input("u");
/// b.part("source", Kind::Se, "u").part("r", Kind::R, "r").part("c", Kind::C, "c").junction("loop", Kind::One);
/// b.bond("source", "loop").bond("loop", "r").bond("loop", "c");
/// assert_eq!(b.build().unwrap().parts.len(), 4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    parts: Vec<Given>,
    bonds: Vec<(String, String)>,
    parameters: Vec<Parameter>,
    inputs: Vec<String>,
}

impl Builder {
    pub fn new(name: &str) -> Self {
        Builder {
            name: name.into(),
            ..Builder::default()
        }
    }

    pub fn parameter(&mut self, name: &str, value: f64, unit: &str) -> &mut Self {
        self.parameters.push(Parameter {
            name: name.into(),
            value,
            unit: unit.into(),
        });
        self
    }

    pub fn input(&mut self, name: &str) -> &mut Self {
        self.inputs.push(name.into());
        self
    }

    /// A component with its gain (for a source: its effort or flow).
    pub fn part(&mut self, name: &str, kind: Kind, gain: &str) -> &mut Self {
        self.given(name, kind, Some(gain.into()), None)
    }

    /// An R given by its effort as a formula of its flow `f`.
    pub fn resistance(&mut self, name: &str, effort: &str) -> &mut Self {
        self.given(name, Kind::R, None, Some(effort.into()))
    }

    /// A component without a law: junction, sensor, integrator.
    pub fn junction(&mut self, name: &str, kind: Kind) -> &mut Self {
        self.given(name, kind, None, None)
    }

    pub(super) fn given(
        &mut self,
        name: &str,
        kind: Kind,
        gain: Option<String>,
        effort: Option<String>,
    ) -> &mut Self {
        self.parts.push(Given {
            name: name.into(),
            kind,
            gain,
            effort,
        });
        self
    }

    pub fn bond(&mut self, tail: &str, head: &str) -> &mut Self {
        self.bonds.push((tail.into(), head.into()));
        self
    }

    pub fn build(&self) -> Result<Graph, BadGraph> {
        if self.parts.is_empty() {
            return Err(BadGraph::Empty);
        }
        let names = self.parts.iter().map(|p| &p.name);
        for (list, i) in [
            names.collect::<Vec<_>>(),
            self.parameters
                .iter()
                .map(|p| &p.name)
                .chain(&self.inputs)
                .collect(),
        ]
        .iter()
        .flat_map(|list| (0..list.len()).map(move |i| (list, i)))
        {
            if list[..i].contains(&list[i]) {
                return Err(BadGraph::Twice(list[i].clone()));
            }
        }
        let index = |name: &str| self.parts.iter().position(|p| p.name == name);
        let mut bonds = Vec::new();
        let mut at = vec![Vec::new(); self.parts.len()];
        for (tail, head) in &self.bonds {
            let find = |name: &String| {
                index(name).ok_or_else(|| BadGraph::NoSuchPart {
                    bond: format!("{tail} -> {head}"),
                    name: name.clone(),
                })
            };
            let bond = Bond {
                tail: find(tail)?,
                head: find(head)?,
            };
            if bond.tail == bond.head {
                return Err(BadGraph::Loop { part: tail.clone() });
            }
            at[bond.tail].push(bonds.len());
            at[bond.head].push(bonds.len());
            bonds.push(bond);
        }
        let mut parts = Vec::new();
        for (given, bonds) in self.parts.iter().zip(&at) {
            let (found, kind) = (bonds.len(), given.kind.name());
            let right = given.kind.ports().map_or(found >= 2, |n| n == found);
            if !right {
                let needed = match given.kind.ports() {
                    Some(1) => "1",
                    Some(_) => "2",
                    None => "2 or more",
                };
                return Err(BadGraph::Ports {
                    part: given.name.clone(),
                    kind,
                    found,
                    needed,
                });
            }
            parts.push(Part {
                name: given.name.clone(),
                kind: given.kind,
                law: self.law(given)?,
            });
        }
        Ok(Graph {
            name: self.name.clone(),
            parts,
            bonds,
            parameters: self.parameters.clone(),
            inputs: self.inputs.clone(),
            at,
        })
    }

    fn law(&self, given: &Given) -> Result<Law, BadGraph> {
        let (part, kind) = (given.name.clone(), given.kind.name());
        let bind = |text: &str, own: bool| -> Result<Formula<Symbol>, BadGraph> {
            let formula = Formula::parse(text).map_err(|error| BadGraph::Formula {
                part: part.clone(),
                error,
            })?;
            formula.bind(&mut |name: &String| {
                self.symbol(name, own).ok_or_else(|| BadGraph::NoSuchName {
                    part: part.clone(),
                    name: name.clone(),
                })
            })
        };
        match (&given.gain, &given.effort) {
            (Some(gain), None) if given.kind.has_gain() => Ok(Law::Gain(bind(gain, false)?)),
            (None, Some(effort)) if given.kind == Kind::R => Ok(Law::Effort(bind(effort, true)?)),
            (None, None) if !given.kind.has_gain() => Ok(Law::None),
            (None, None) => Err(BadGraph::NoValue { part, kind }),
            _ => Err(BadGraph::NeedlessValue { part, kind }),
        }
    }

    fn symbol(&self, name: &str, own: bool) -> Option<Symbol> {
        if own && name == "f" {
            return Some(Symbol::Own);
        }
        if let Some(i) = self.parameters.iter().position(|p| p.name == name) {
            return Some(Symbol::Parameter(i));
        }
        if let Some(i) = self.inputs.iter().position(|n| n == name) {
            return Some(Symbol::Input(i));
        }
        // The state of a store is called by the store's name.
        if let Some(i) = self
            .parts
            .iter()
            .position(|p| p.name == name && p.kind.stores())
        {
            return Some(Symbol::State(i));
        }
        (name == "t").then_some(Symbol::Time)
    }
}

impl Graph {
    /// The other end of a bond.
    pub fn across(&self, bond: usize, part: usize) -> usize {
        let Bond { tail, head } = self.bonds[bond];
        if tail == part { head } else { tail }
    }

    /// Values of all parameters.
    pub fn values(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.value).collect()
    }
}
