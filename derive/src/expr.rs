//! Expressions: a hash-consed DAG, so equal subexpressions are one index and common subexpressions cost nothing.
//!
//! [`Ex`] is a copyable handle with the usual operators: kinematics read like formulas. Constructors keep a light normal
//! form (flat sums with rational coefficients, flat products with whole powers, numbers folded, sin(−x) = −sin x, turns by
//! π/2 folded) and never expand a product of sums. Expansion, and with it the proof of equality, is [`crate::canonical`].
//!
//! The nodes live in an arena of the thread that made them; a handle is meaningless in another thread. Names belong to a
//! [`Scope`], so two mechanisms may both have an `x`.

mod algebra;
mod calculus;

mod rational;
mod unit;
mod vector;

use std::cell::RefCell;
use std::rc::Rc;

use crate::hash::Map;

pub use algebra::{prod, sum};
pub use calculus::Values;
pub use rational::{Rat, exactly};
pub use unit::{Mixed, Unit, unit_of};
pub use vector::*;

/// Handle of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Ex(u32);

impl Ex {
    /// The first two nodes of every arena.
    pub const ZERO: Ex = Ex(0);
    pub const ONE: Ex = Ex(1);
    /// π, the third.
    pub const PI: Ex = Ex(2);
}

/// What a symbol stands for: decides what time differentiates and what the code generator computes beforehand. The
/// order is that of printing: accelerations first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    Acceleration,
    Speed,
    Coordinate,
    Input,
    Parameter,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Num(Rat),
    Sym(u32),
    /// Σ c·x; x is neither a number (but ONE for the constant) nor a sum.
    Sum(Rc<[(Ex, Rat)]>),
    /// Π xⁿ; x is neither a number nor a product; a sum among them has leading coefficient 1.
    Prod(Rc<[(Ex, i32)]>),
    Sin(Ex),
    Cos(Ex),
    Sqrt(Ex),
}

#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: Rc<str>,
    pub kind: Kind,
    /// Number of the coordinate, speed or acceleration.
    pub index: usize,
    pub unit: Unit,
}

struct Arena {
    nodes: Vec<Node>,
    ids: Map<Node, Ex>,
    symbols: Vec<Symbol>,
    names: Map<(u32, Rc<str>), Ex>,
    scopes: u32,
    derivatives: Map<(Ex, Ex), Ex>,
}

impl Default for Arena {
    fn default() -> Self {
        let pi = Symbol {
            name: "pi".into(),
            kind: Kind::Parameter,
            index: 0,
            unit: Unit::NONE,
        };
        let nodes = vec![Node::Num(Rat::ZERO), Node::Num(Rat::ONE), Node::Sym(0)];
        Arena {
            ids: nodes.iter().cloned().zip((0..).map(Ex)).collect(),
            nodes,
            symbols: vec![pi],
            names: Map::default(),
            scopes: 0,
            derivatives: Map::default(),
        }
    }
}

thread_local!(static ARENA: RefCell<Arena> = RefCell::default());

fn intern(n: Node) -> Ex {
    ARENA.with_borrow_mut(|a| {
        if let Some(&e) = a.ids.get(&n) {
            return e;
        }
        let e = Ex(a.nodes.len() as u32);
        a.nodes.push(n.clone());
        a.ids.insert(n, e);
        e
    })
}

pub fn num(r: Rat) -> Ex {
    intern(Node::Num(r))
}
pub fn int(n: i64) -> Ex {
    num(Rat::int(n))
}
pub fn zero() -> Ex {
    Ex::ZERO
}
pub fn one() -> Ex {
    Ex::ONE
}

pub fn symbol(id: u32) -> Symbol {
    ARENA.with_borrow(|a| a.symbols[id as usize].clone())
}

/// Nodes made by this thread so far: the size of the work done.
pub fn nodes() -> usize {
    ARENA.with_borrow(|a| a.nodes.len())
}

/// The names of one mechanism.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope(u32);

impl Scope {
    #[allow(clippy::new_without_default)] // every scope is another one
    pub fn new() -> Scope {
        ARENA.with_borrow_mut(|a| {
            a.scopes += 1;
            Scope(a.scopes)
        })
    }

    /// A new symbol; the name must be free.
    pub fn declare(self, name: &str, kind: Kind, index: usize, unit: Unit) -> Ex {
        debug_assert!(self.lookup(name).is_none(), "`{name}` is declared twice");
        let name: Rc<str> = name.into();
        let id = ARENA.with_borrow_mut(|a| {
            a.symbols.push(Symbol {
                name: name.clone(),
                kind,
                index,
                unit,
            });
            a.symbols.len() as u32 - 1
        });
        let e = intern(Node::Sym(id));
        ARENA.with_borrow_mut(|a| a.names.insert((self.0, name), e));
        e
    }

    /// A parameter of that name, declared when it is new.
    pub fn parameter(self, name: &str, unit: Unit) -> Ex {
        self.lookup(name)
            .unwrap_or_else(|| self.declare(name, Kind::Parameter, 0, unit))
    }

    pub fn lookup(self, name: &str) -> Option<Ex> {
        if name == "pi" {
            return Some(Ex::PI);
        }
        ARENA.with_borrow(|a| a.names.get(&(self.0, name.into())).copied())
    }
}

impl Ex {
    pub fn node(self) -> Node {
        ARENA.with_borrow(|a| a.nodes[self.0 as usize].clone())
    }
    pub fn symbol(self) -> Option<Symbol> {
        match self.node() {
            Node::Sym(id) => Some(symbol(id)),
            _ => None,
        }
    }
    pub fn number(self) -> Option<Rat> {
        match self.node() {
            Node::Num(r) => Some(r),
            _ => None,
        }
    }
    pub fn is_zero(self) -> bool {
        self == Ex::ZERO
    }
    pub fn is_symbol(self, kind: Kind) -> bool {
        self.symbol().is_some_and(|s| s.kind == kind)
    }

    pub fn children(self) -> Vec<Ex> {
        match self.node() {
            Node::Num(_) | Node::Sym(_) => vec![],
            Node::Sum(t) => t.iter().map(|t| t.0).collect(),
            Node::Prod(t) => t.iter().map(|t| t.0).collect(),
            Node::Sin(x) | Node::Cos(x) | Node::Sqrt(x) => vec![x],
        }
    }

    /// The argument of a sine as whole multiples of symbols; `None` when it is anything else.
    pub fn angle(self) -> Option<Vec<(Ex, i32)>> {
        let whole = |x: Ex, c: Rat| {
            let n = i32::try_from(c.numerator()).ok()?;
            (c.is_integer() && x.symbol().is_some()).then_some((x, n))
        };
        match self.node() {
            Node::Sym(_) => Some(vec![(self, 1)]),
            Node::Sum(t) => t.iter().map(|(x, c)| whole(*x, *c)).collect(),
            _ => None,
        }
    }
}
