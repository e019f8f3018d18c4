//! A straight-line program: constants computed once from the parameters, then sums and products.
//!
//! Every output is a polynomial in the moving atoms (sin, cos, rates, accelerations) whose coefficients are polynomials in the
//! parameters alone; each coefficient becomes a constant. The rest is factored (`factor.rs`) and shared (`share.rs`).
//! Basis, way of factoring and tie-breaking are searched with fixed seeds: the same program on every machine.

use super::factor::Factor;
use super::share::share;
use crate::canonical::{Basis, Form, Ring};
use crate::error::{Error, Result};
use crate::expr::{Ex, Rat, Values};
use crate::print::collect;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// sin q, cos q, q, q̇, q̈ or u.
    Atom(Ex),
    Const(usize),
    Lit(Rat),
    Prod(Vec<usize>),
    /// (node, negative).
    Sum(Vec<(usize, bool)>),
}

/// A node and whether it is negated.
pub type Signed = (usize, bool);

#[derive(Clone, Debug)]
pub struct Program {
    pub ops: Vec<Op>,
    /// Constants: polynomials in the parameters.
    pub consts: Vec<Form>,
    /// Name and value; nothing is zero.
    pub outputs: Vec<(String, Option<Signed>)>,
    pub basis: Basis,
}

/// Operations of one evaluation; sines, divisions and constants not counted.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    pub total: usize,
    pub add: usize,
    pub mul: usize,
    pub neg: usize,
}

impl Op {
    pub fn children(&self) -> Vec<usize> {
        match self {
            Op::Prod(f) => f.clone(),
            Op::Sum(t) => t.iter().map(|x| x.0).collect(),
            _ => vec![],
        }
    }
}

pub(super) fn reachable(ops: &[Op], roots: &[usize]) -> Vec<bool> {
    let mut seen = vec![false; ops.len()];
    let mut stack = roots.to_vec();
    while let Some(i) = stack.pop() {
        if !std::mem::replace(&mut seen[i], true) {
            stack.extend(ops[i].children());
        }
    }
    seen
}

impl Program {
    pub fn roots(&self) -> Vec<usize> {
        self.outputs
            .iter()
            .filter_map(|o| o.1.map(|x| x.0))
            .collect()
    }

    pub fn get(&self, name: &str) -> Option<Signed> {
        self.outputs.iter().find(|o| o.0 == name).and_then(|o| o.1)
    }

    pub fn count(&self) -> Count {
        let mut c = Count::default();
        let alive = reachable(&self.ops, &self.roots());
        for (op, _) in self.ops.iter().zip(alive).filter(|x| x.1) {
            match op {
                Op::Prod(f) => c.mul += f.len() - 1,
                Op::Sum(t) => {
                    c.add += t.len() - 1;
                    c.neg += usize::from(t.iter().all(|x| x.1));
                }
                _ => {}
            }
        }
        c.neg += self
            .outputs
            .iter()
            .filter(|o| o.1.is_some_and(|x| x.1))
            .count();
        c.total = c.add + c.mul;
        c
    }

    /// The outputs in f64: what the generated code computes, up to rounding.
    pub fn eval(&self, at: impl Fn(Ex) -> f64) -> Vec<f64> {
        let mut values = Values::new(at);
        let consts: Vec<f64> = self.consts.iter().map(|p| values.of(p.to_ex())).collect();
        let mut memo = vec![None; self.ops.len()];
        let signed = |x: f64, negative: bool| if negative { -x } else { x };
        let outputs = self.outputs.iter().map(|o| o.1);
        let mut of = |i: usize| self.node(i, &consts, &mut values, &mut memo);
        outputs
            .map(|o| o.map_or(0.0, |(i, n)| signed(of(i), n)))
            .collect()
    }

    fn node<F: Fn(Ex) -> f64>(
        &self,
        i: usize,
        consts: &[f64],
        values: &mut Values<F>,
        memo: &mut Vec<Option<f64>>,
    ) -> f64 {
        if let Some(v) = memo[i] {
            return v;
        }
        let v = match &self.ops[i] {
            Op::Atom(e) => values.of(*e),
            Op::Const(k) => consts[*k],
            Op::Lit(r) => r.to_f64(),
            Op::Prod(f) => f
                .iter()
                .map(|x| self.node(*x, consts, values, memo))
                .product(),
            Op::Sum(t) => t
                .iter()
                .map(|(x, n)| {
                    let v = self.node(*x, consts, values, memo);
                    if *n { -v } else { v }
                })
                .sum(),
        };
        memo[i] = Some(v);
        v
    }
}

/// Work of one try grows with the square of its terms; this many units are spent on the search.
const EFFORT: usize = 400_000;

/// The cheapest program for these outputs among bases, ways of factoring and at most `seeds` tie-breakings each.
pub fn compile(outputs: &[(String, Ex)], seeds: u64) -> Result<Program> {
    let mut forms = vec![];
    let mut limit = 20_000;
    for basis in [Basis::Fourier, Basis::Sines, Basis::Cosines] {
        let mut ring = Ring::with_limit(basis, limit);
        let list: Result<Vec<Form>> = outputs.iter().map(|(_, e)| ring.form(*e)).collect();
        match list {
            Ok(list) => {
                let terms: usize = list.iter().map(|f| collect(f).len()).sum();
                forms.push((basis, list, terms));
                // A basis that grows far beyond the first is not worth expanding.
                limit = limit.min((4 * terms).max(500));
            }
            Err(Error::TooLarge { .. }) => {}
            Err(e) => return Err(e),
        }
    }
    // Ties are broken in this order.
    forms.sort_by_key(|f| f.0 == Basis::Fourier);
    let Some(fewest) = forms.iter().map(|f| f.2).min() else {
        return Err(Error::Unsupported(
            "the equations are too large to expand into code".into(),
        ));
    };
    let mut best: Option<Program> = None;
    // A basis with far more terms never won; searching it would cost the most.
    for (basis, list, terms) in forms.iter().filter(|f| f.2 <= 2 * fewest) {
        let tries = (EFFORT / (terms * terms).max(1)).clamp(1, seeds as usize) as u64;
        let ways: &[(bool, bool)] = if tries > 1 {
            &[(false, true), (true, true), (false, false), (true, false)]
        } else {
            &[(false, true)]
        };
        for (absorb, horner) in ways {
            for seed in 0..tries {
                let mut f = Factor::new(seed);
                let outs: Vec<_> = outputs
                    .iter()
                    .zip(list)
                    .map(|((name, _), form)| (name.clone(), f.output(form, *absorb, *horner)))
                    .collect();
                let mut p = Program {
                    ops: f.ops,
                    consts: f.consts,
                    outputs: outs,
                    basis: *basis,
                };
                let roots = p.roots();
                share(&mut p.ops, &roots, seed);
                let cost = |p: &Program| (p.count(), p.consts.len());
                if best.as_ref().is_none_or(|b| cost(&p) < cost(b)) {
                    best = Some(p);
                }
            }
        }
    }
    best.ok_or_else(|| Error::Unsupported("there is nothing to compute".into()))
}
