//! Nodes of a program as Rust expressions: what is used once stands in place, what is used twice gets a name.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{Op, Program, Signed, reachable};
use crate::canonical::Form;
use crate::expr::{Ex, Kind, Node, Rat};

/// Identifiers of the parameters.
pub(super) type Names = BTreeMap<Ex, String>;

/// s0, c0, w0, e0 for sine, cosine, rate and acceleration of joint 0; parameters by their names.
pub(super) fn ident(e: Ex, names: &Names) -> String {
    match e.node() {
        Node::Sin(x) => format!(
            "{}{}",
            if x.is_symbol(Kind::Coordinate) {
                "s"
            } else {
                "sin_"
            },
            argument(x, names)
        ),
        Node::Cos(x) => format!(
            "{}{}",
            if x.is_symbol(Kind::Coordinate) {
                "c"
            } else {
                "cos_"
            },
            argument(x, names)
        ),
        _ => match e.symbol() {
            Some(s) if s.kind == Kind::Parameter => names.get(&e).cloned().unwrap_or_default(),
            Some(s) => {
                let letter = match s.kind {
                    Kind::Coordinate => "q",
                    Kind::Speed => "w",
                    Kind::Acceleration => "e",
                    _ => "u",
                };
                format!("{letter}{}", s.index)
            }
            None => String::new(),
        },
    }
}

fn argument(x: Ex, names: &Names) -> String {
    match x.symbol() {
        Some(s) if s.kind == Kind::Coordinate => s.index.to_string(),
        _ => ident(x, names),
    }
}

pub(super) fn literal(r: Rat) -> String {
    match (r, r.denominator()) {
        (Rat::ONE, _) => "S::ONE".into(),
        (Rat::ZERO, _) => "S::ZERO".into(),
        (_, 1) => format!("S::lit({}.0)", r.numerator()),
        (_, d) => format!("S::lit({}.0 / {d}.0)", r.numerator()),
    }
}

/// A polynomial in the parameters.
pub(super) fn polynomial(p: &Form, names: &Names) -> String {
    let mut terms: Vec<&(crate::canonical::Mono, Rat)> = p.0.iter().collect();
    terms.sort_by_key(|t| t.1.is_negative());
    let mut s = String::new();
    for (i, (m, c)) in terms.iter().enumerate() {
        s += match (i, c.is_negative()) {
            (0, true) => "-",
            (0, false) => "",
            (_, true) => " - ",
            (_, false) => " + ",
        };
        let powers = m
            .pow
            .iter()
            .flat_map(|(e, n)| std::iter::repeat_n(ident(*e, names), n.unsigned_abs() as usize));
        let mut f: Vec<String> = powers.collect();
        if c.abs() != Rat::ONE || f.is_empty() {
            f.insert(0, literal(c.abs()));
        }
        s += &f.join(" * ");
    }
    s
}

/// Any expression in the parameters, as it stands.
pub(super) fn expression(e: Ex, names: &Names) -> String {
    let inner = |x: Ex| match x.node() {
        Node::Sum(_) => format!("({})", expression(x, names)),
        _ => expression(x, names),
    };
    match e.node() {
        Node::Num(r) => literal(r),
        Node::Sum(t) => {
            let mut t = t.to_vec();
            t.sort_by_key(|x| x.1.is_negative());
            let mut s = String::new();
            for (i, (x, c)) in t.iter().enumerate() {
                s += match (i, c.is_negative()) {
                    (0, true) => "-",
                    (0, false) => "",
                    (_, true) => " - ",
                    (_, false) => " + ",
                };
                s += &match (c.abs(), *x) {
                    (Rat::ONE, x) => inner(x),
                    (r, Ex::ONE) => literal(r),
                    (r, x) => format!("{} * {}", literal(r), inner(x)),
                };
            }
            s
        }
        Node::Prod(f) => {
            let part = |sign: bool| -> Vec<String> {
                let chosen = f.iter().filter(|x| (x.1 > 0) == sign);
                chosen
                    .flat_map(|(x, n)| std::iter::repeat_n(inner(*x), n.unsigned_abs() as usize))
                    .collect()
            };
            let (above, below) = (part(true), part(false));
            let above = if above.is_empty() {
                "S::ONE".into()
            } else {
                above.join(" * ")
            };
            match below.len() {
                0 => above,
                1 => format!("{above} / {}", below[0]),
                _ => format!("{above} / ({})", below.join(" * ")),
            }
        }
        _ => ident(e, names),
    }
}

pub(super) struct Emit<'a> {
    p: &'a Program,
    names: &'a Names,
    uses: Vec<usize>,
    named: BTreeMap<usize, String>,
    taken: BTreeSet<String>,
    /// Statements so far.
    pub body: Vec<String>,
}

impl<'a> Emit<'a> {
    pub fn new(p: &'a Program, names: &'a Names) -> Self {
        let mut uses = vec![0; p.ops.len()];
        p.roots().iter().for_each(|r| uses[*r] += 1);
        let alive = reachable(&p.ops, &p.roots());
        for (op, _) in p.ops.iter().zip(alive).filter(|x| x.1) {
            op.children().iter().for_each(|c| uses[*c] += 1);
        }
        Emit {
            p,
            names,
            uses,
            named: BTreeMap::new(),
            taken: BTreeSet::new(),
            body: vec![],
        }
    }

    /// An output as an expression; statements it needs are appended to the body.
    pub fn output(&mut self, name: &str) -> Option<String> {
        let (i, negative) = self.p.get(name)?;
        Some(self.signed((i, negative)))
    }

    fn signed(&mut self, (i, negative): Signed) -> String {
        let text = self.operand(i, negative);
        if negative { format!("-{text}") } else { text }
    }

    fn operand(&mut self, i: usize, tight: bool) -> String {
        if let Some(n) = self.named.get(&i) {
            return n.clone();
        }
        let p = self.p;
        let text = match &p.ops[i] {
            Op::Atom(e) => return ident(*e, self.names),
            Op::Const(k) => return format!("self.k{k}"),
            Op::Lit(r) => return literal(*r),
            Op::Prod(f) => f
                .iter()
                .map(|x| self.operand(*x, true))
                .collect::<Vec<_>>()
                .join(" * "),
            Op::Sum(t) => {
                let mut t = t.clone();
                t.sort_by_key(|x| x.1);
                let mut s = String::new();
                for (k, (x, negative)) in t.iter().enumerate() {
                    s += match (k, negative) {
                        (0, false) => "",
                        (0, true) => "-",
                        (_, false) => " + ",
                        (_, true) => " - ",
                    };
                    s += &self.operand(*x, false);
                }
                s
            }
        };
        if self.uses[i] > 1 {
            let name = self.fresh(i);
            self.body.push(format!("let {name} = {text};"));
            self.named.insert(i, name.clone());
            return name;
        }
        if tight && matches!(p.ops[i], Op::Sum(_)) {
            format!("({text})")
        } else {
            text
        }
    }

    /// s1c1, w0w1: products of short names are named after their factors.
    fn fresh(&mut self, i: usize) -> String {
        let part = |x: &usize| match &self.p.ops[*x] {
            Op::Atom(e) => Some(ident(*e, self.names)),
            Op::Const(k) => Some(format!("k{k}")),
            _ => self.named.get(x).cloned(),
        };
        let mut name = match &self.p.ops[i] {
            Op::Prod(f) => f
                .iter()
                .map(part)
                .collect::<Option<String>>()
                .unwrap_or_default(),
            _ => String::new(),
        };
        if name.is_empty() || name.len() > 8 || self.taken.contains(&name) {
            name = format!("t{}", self.taken.len());
        }
        self.taken.insert(name.clone());
        name
    }
}

/// `let s1 = trig.sin[1];` for every name the statements use.
pub(super) fn bindings(statements: &[String], sources: &[(&str, &str)]) -> Vec<String> {
    let text = statements.join("\n");
    let words: BTreeSet<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
        .collect();
    let mut out = vec![];
    for (from, stem) in sources {
        for i in 0..2 {
            if words.contains(format!("{stem}{i}").as_str()) {
                out.push(format!("let {stem}{i} = {from}[{i}];"));
            }
        }
    }
    out
}
