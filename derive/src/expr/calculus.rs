//! Derivatives, substitution and values.

use super::{ARENA, Ex, Node, Rat, int, one, prod, sum, zero};
use crate::hash::Map;

impl Ex {
    /// ∂self/∂s; remembered in the arena.
    pub fn diff(self, s: Ex) -> Ex {
        if self == s {
            return one();
        }
        let node = self.node();
        if matches!(node, Node::Num(_) | Node::Sym(_)) {
            return zero();
        }
        if let Some(d) = ARENA.with_borrow(|a| a.derivatives.get(&(self, s)).copied()) {
            return d;
        }
        let d = match node {
            Node::Num(_) | Node::Sym(_) => zero(),
            Node::Sum(t) => sum(t.iter().map(|(x, c)| (x.diff(s), *c))),
            Node::Prod(f) => sum((0..f.len()).filter_map(|i| {
                let dx = f[i].0.diff(s);
                (!dx.is_zero()).then(|| {
                    let mut rest = f.to_vec();
                    rest[i].1 -= 1;
                    rest.push((dx, 1));
                    (prod(rest), Rat::int(f[i].1.into()))
                })
            })),
            Node::Sin(x) => x.cos() * x.diff(s),
            Node::Cos(x) => -(x.sin() * x.diff(s)),
            Node::Sqrt(x) => x.diff(s) / (int(2) * self),
        };
        ARENA.with_borrow_mut(|a| a.derivatives.insert((self, s), d));
        d
    }

    /// The expression with some nodes replaced.
    pub fn substitute(self, memo: &mut Map<Ex, Ex>) -> Ex {
        if let Some(&e) = memo.get(&self) {
            return e;
        }
        let out = match self.node() {
            Node::Num(_) | Node::Sym(_) => self,
            Node::Sum(t) => sum(t
                .iter()
                .map(|(x, c)| (x.substitute(memo), *c))
                .collect::<Vec<_>>()),
            Node::Prod(t) => prod(
                t.iter()
                    .map(|(x, n)| (x.substitute(memo), *n))
                    .collect::<Vec<_>>(),
            ),
            Node::Sin(x) => x.substitute(memo).sin(),
            Node::Cos(x) => x.substitute(memo).cos(),
            Node::Sqrt(x) => x.substitute(memo).sqrt(),
        };
        memo.insert(self, out);
        out
    }

    pub fn subs(self, pairs: &[(Ex, Ex)]) -> Ex {
        self.substitute(&mut pairs.iter().copied().collect())
    }

    /// Every symbol that occurs, in the order of declaration.
    pub fn symbols(list: &[Ex]) -> Vec<Ex> {
        let mut seen: Map<Ex, ()> = Map::default();
        let mut stack = list.to_vec();
        while let Some(e) = stack.pop() {
            if seen.insert(e, ()).is_none() {
                stack.extend(e.children());
            }
        }
        let mut out: Vec<Ex> = seen.into_keys().filter(|e| e.symbol().is_some()).collect();
        out.sort_unstable();
        out
    }
}

/// Values in f64: symbols from a function, every node computed once.
pub struct Values<F> {
    at: F,
    memo: Map<Ex, f64>,
}

impl<F: Fn(Ex) -> f64> Values<F> {
    /// `at` gives the value of a symbol; π is known.
    pub fn new(at: F) -> Self {
        Values {
            at,
            memo: Map::default(),
        }
    }

    pub fn of(&mut self, e: Ex) -> f64 {
        if let Some(&v) = self.memo.get(&e) {
            return v;
        }
        let v = match e.node() {
            Node::Num(r) => r.to_f64(),
            Node::Sym(_) if e == Ex::PI => std::f64::consts::PI,
            Node::Sym(_) => (self.at)(e),
            Node::Sum(t) => t.iter().map(|(x, c)| c.to_f64() * self.of(*x)).sum(),
            Node::Prod(t) => t.iter().map(|(x, n)| self.of(*x).powi(*n)).product(),
            Node::Sin(x) => self.of(x).sin(),
            Node::Cos(x) => self.of(x).cos(),
            Node::Sqrt(x) => self.of(x).sqrt(),
        };
        self.memo.insert(e, v);
        v
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scope, Unit};
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        let s = Scope::new();
        let [x, y] = ["x", "y"].map(|n| s.parameter(n, Unit::NONE));
        let f = (x * y + int(2)).sqrt() * x.sin().pow(3) / (y.cos() + int(3));
        let at = |dx: f64| Values::new(move |e| if e == x { 0.7 + dx } else { 0.4 }).of(f);
        let exact = Values::new(|e| if e == x { 0.7 } else { 0.4 }).of(f.diff(x));
        let h = 1e-6;
        assert!(((at(h) - at(-h)) / (2.0 * h) - exact).abs() < 1e-9);
        assert_eq!(f.subs(&[(x, zero())]), zero());
        assert_eq!(Ex::symbols(&[f]), [x, y]);
    }
}
