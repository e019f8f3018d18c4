//! Sequential causality assignment: which end of each bond decides the effort and which the flow, and what is computed when.
//!
//! Sources and fixed laws first, then energy stores in integral causality as far as possible, then resistances, then what is left; after
//! every choice its consequences spread through junctions and two-ports. A store that was decided by others is in *derivative* causality.
//! Where the order of computation runs in a circle (an algebraic loop), one variable is torn: guessed, and made right by Newton's method.

use super::graph::{BadGraph, Graph, Kind, Law};

/// A bond variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    pub bond: usize,
    /// Its effort, else its flow.
    pub effort: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Per bond the part that receives the effort (the end with the causal stroke); the other end receives the flow.
    pub stroke: Vec<usize>,
    /// What is computed when.
    pub order: Vec<Variable>,
    /// Guessed and solved for, in algebraic loops.
    pub torn: Vec<Variable>,
    /// Stores in integral causality: the states.
    pub states: Vec<usize>,
    /// Stores in derivative causality: their content follows from the states.
    pub derivative: Vec<usize>,
}

/// Causality and order of a graph.
pub fn assign(graph: &Graph) -> Result<Plan, BadGraph> {
    let mut strokes = Strokes {
        graph,
        stroke: vec![None; graph.bonds.len()],
    };
    for part in 0..graph.parts.len() {
        for (bond, at) in strokes.fixed(part) {
            strokes.decide(bond, at, part)?;
        }
    }
    for preference in [Preference::Integral, Preference::Resistive, Preference::Any] {
        for part in 0..graph.parts.len() {
            while let Some((bond, at)) = strokes.preferred(preference, part) {
                strokes.decide(bond, at, part)?;
            }
        }
    }
    let stroke: Vec<usize> = strokes
        .stroke
        .iter()
        .map(|s| s.unwrap_or_default())
        .collect();
    let (mut states, mut derivative) = (Vec::new(), Vec::new());
    for (part, description) in graph.parts.iter().enumerate() {
        let bond = graph.at[part][0];
        let receives_effort = stroke[bond] == part;
        match description.kind {
            Kind::I if receives_effort => states.push(part),
            Kind::C | Kind::Integrator if !receives_effort => states.push(part),
            Kind::I | Kind::C => derivative.push(part),
            Kind::Integrator => {
                return Err(conflict(
                    graph,
                    part,
                    "it only keeps a displacement and cannot decide a flow",
                ));
            }
            _ => {}
        }
    }
    let (order, torn) = sort(graph, &stroke);
    Ok(Plan {
        stroke,
        order,
        torn,
        states,
        derivative,
    })
}

fn conflict(graph: &Graph, part: usize, why: &str) -> BadGraph {
    let p = &graph.parts[part];
    BadGraph::Causality {
        part: p.name.clone(),
        kind: p.kind.name(),
        why: why.into(),
    }
}

#[derive(Clone, Copy)]
enum Preference {
    Integral,
    Resistive,
    Any,
}

struct Strokes<'a> {
    graph: &'a Graph,
    stroke: Vec<Option<usize>>,
}

impl Strokes<'_> {
    /// Bonds whose causality the part's law leaves no choice in, with the end that receives the effort.
    fn fixed(&self, part: usize) -> Vec<(usize, usize)> {
        let at = &self.graph.at[part];
        let other = |bond: usize| self.graph.across(bond, part);
        let description = &self.graph.parts[part];
        match (description.kind, &description.law) {
            (Kind::Se | Kind::Df, _) | (Kind::R, Law::Effort(_)) => vec![(at[0], other(at[0]))],
            (Kind::Sf | Kind::De, _) => vec![(at[0], part)],
            (Kind::Ae, _) => vec![(at[0], part), (at[1], other(at[1]))],
            (Kind::Af, _) => vec![(at[0], other(at[0])), (at[1], part)],
            _ => Vec::new(),
        }
    }

    /// A bond of the part that is still open, with the end that would receive its effort.
    fn preferred(&self, preference: Preference, part: usize) -> Option<(usize, usize)> {
        let at = &self.graph.at[part];
        let bond = at.iter().copied().find(|b| self.stroke[*b].is_none())?;
        let gives_effort = (bond, self.graph.across(bond, part));
        match (preference, self.graph.parts[part].kind) {
            (Preference::Integral, Kind::I) => Some((bond, part)),
            (Preference::Integral, Kind::C | Kind::Integrator) => Some(gives_effort),
            (Preference::Resistive, Kind::R) => Some(gives_effort),
            (Preference::Any, _) => Some((bond, part)),
            _ => None,
        }
    }

    /// Decide one bond and everything that follows.
    fn decide(&mut self, bond: usize, at: usize, because: usize) -> Result<(), BadGraph> {
        match self.stroke[bond] {
            Some(found) if found != at => {
                let why = format!(
                    "its bond with {} has been decided the other way",
                    self.graph.parts[self.graph.across(bond, because)].name
                );
                return Err(conflict(self.graph, because, &why));
            }
            Some(_) => return Ok(()),
            None => self.stroke[bond] = Some(at),
        }
        // Consequences, until nothing changes.
        loop {
            let mut changed = false;
            for part in 0..self.graph.parts.len() {
                for (bond, at) in self.follows(part)? {
                    if self.stroke[bond].is_none() {
                        self.stroke[bond] = Some(at);
                        changed = true;
                    }
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// What the decided bonds of a part force upon its others.
    fn follows(&self, part: usize) -> Result<Vec<(usize, usize)>, BadGraph> {
        let at = &self.graph.at[part];
        let pick = |is: &dyn Fn(Option<usize>) -> bool| -> Vec<usize> {
            at.iter().copied().filter(|b| is(self.stroke[*b])).collect()
        };
        let effort_in = pick(&|s| s == Some(part));
        let flow_in = pick(&|s| s.is_some_and(|s| s != part));
        let free = pick(&|s| s.is_none());
        let other = |bond: usize| self.graph.across(bond, part);
        match self.graph.parts[part].kind {
            kind @ (Kind::Zero | Kind::One) => {
                // Exactly one bond decides the common variable: the effort of a 0, the flow of a 1.
                let (deciding, what) = if kind == Kind::Zero {
                    (&effort_in, "effort")
                } else {
                    (&flow_in, "flow")
                };
                if deciding.len() > 1 {
                    let names: Vec<_> = deciding
                        .iter()
                        .map(|b| self.graph.parts[other(*b)].name.as_str())
                        .collect();
                    let why = format!("{} each decide its common {what}", names.join(" and "));
                    return Err(conflict(self.graph, part, &why));
                }
                if free.is_empty() && deciding.is_empty() {
                    return Err(conflict(
                        self.graph,
                        part,
                        &format!("nothing decides its common {what}"),
                    ));
                }
                let gives = |b: usize| {
                    if kind == Kind::Zero {
                        (b, part)
                    } else {
                        (b, other(b))
                    }
                };
                let takes = |b: usize| {
                    if kind == Kind::Zero {
                        (b, other(b))
                    } else {
                        (b, part)
                    }
                };
                Ok(match (deciding.len(), free.as_slice()) {
                    (1, free) => free.iter().map(|b| takes(*b)).collect(),
                    (0, [last]) => vec![gives(*last)],
                    _ => Vec::new(),
                })
            }
            Kind::Tf if free.is_empty() && effort_in.len() != 1 => Err(conflict(
                self.graph,
                part,
                "a transformer passes effort one way and flow the other",
            )),
            Kind::Gy if free.is_empty() && effort_in.len() == 1 => Err(conflict(
                self.graph,
                part,
                "a gyrator turns flows into efforts on both sides, or efforts into flows",
            )),
            Kind::Tf if free.len() == 1 => Ok(vec![(
                free[0],
                if effort_in.len() == 1 {
                    other(free[0])
                } else {
                    part
                },
            )]),
            Kind::Gy if free.len() == 1 => Ok(vec![(
                free[0],
                if effort_in.len() == 1 {
                    part
                } else {
                    other(free[0])
                },
            )]),
            _ => Ok(Vec::new()),
        }
    }
}

/// Order of computation; what closes a circle is torn.
fn sort(graph: &Graph, stroke: &[usize]) -> (Vec<Variable>, Vec<Variable>) {
    let mut sorter = Sorter {
        graph,
        stroke,
        done: vec![[false; 2]; graph.bonds.len()],
    };
    let all: Vec<Variable> = (0..graph.bonds.len())
        .flat_map(|bond| [true, false].map(|effort| Variable { bond, effort }))
        .collect();
    let (mut order, mut torn) = (Vec::new(), Vec::new());
    while order.len() + torn.len() < all.len() {
        let before = order.len();
        for variable in &all {
            if !sorter.known(variable) && sorter.ready(variable) {
                sorter.mark(variable);
                order.push(*variable);
            }
        }
        if order.len() == before {
            // A resistance is where a guess is most harmless: its law is a function both ways.
            let open: Vec<_> = all.iter().filter(|v| !sorter.known(v)).collect();
            let of_r = open
                .iter()
                .find(|v| graph.parts[source(graph, stroke, v)].kind == Kind::R);
            if let Some(variable) = of_r.or(open.first()) {
                sorter.mark(variable);
                torn.push(**variable);
            }
        }
    }
    (order, torn)
}

/// The part that computes a variable.
pub fn source(graph: &Graph, stroke: &[usize], variable: &Variable) -> usize {
    let receives_effort = stroke[variable.bond];
    if variable.effort {
        graph.across(variable.bond, receives_effort)
    } else {
        receives_effort
    }
}

struct Sorter<'a> {
    graph: &'a Graph,
    stroke: &'a [usize],
    done: Vec<[bool; 2]>,
}

impl Sorter<'_> {
    fn known(&self, v: &Variable) -> bool {
        self.done[v.bond][usize::from(v.effort)]
    }

    fn mark(&mut self, v: &Variable) {
        self.done[v.bond][usize::from(v.effort)] = true;
    }

    /// Whether everything the variable's law needs is known.
    fn ready(&self, v: &Variable) -> bool {
        let part = source(self.graph, self.stroke, v);
        let at = &self.graph.at[part];
        let has = |bond: usize, effort: bool| self.done[bond][usize::from(effort)];
        let twin = || if at[0] == v.bond { at[1] } else { at[0] };
        let others = |effort: bool| at.iter().all(|b| *b == v.bond || has(*b, effort));
        match self.graph.parts[part].kind {
            Kind::Se | Kind::Sf | Kind::I | Kind::C | Kind::Integrator | Kind::De | Kind::Df => {
                true
            }
            Kind::R => has(v.bond, !v.effort),
            Kind::Tf => has(twin(), v.effort),
            Kind::Gy => has(twin(), !v.effort),
            Kind::Ae | Kind::Af => {
                v.bond == at[0] || has(at[0], self.graph.parts[part].kind == Kind::Ae)
            }
            Kind::Zero if v.effort => at
                .iter()
                .all(|b| *b == v.bond || self.stroke[*b] != part || has(*b, true)),
            Kind::One if !v.effort => at
                .iter()
                .all(|b| *b == v.bond || self.stroke[*b] == part || has(*b, false)),
            Kind::Zero => others(false),
            Kind::One => others(true),
        }
    }
}
