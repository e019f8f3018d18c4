//! Polynomials to nodes: constants taken out, then greedy Horner: the factor that occurs in most terms goes out in front.

use std::collections::BTreeMap;

use super::program::{Op, Signed};
use crate::canonical::{Form, Wave};
use crate::expr::{Ex, Rat};
use crate::field::mix;
use crate::hash::Map;
use crate::print::collect;

/// A term of a sum: sign and factors.
type Term = (bool, Vec<usize>);

pub(super) struct Factor {
    pub ops: Vec<Op>,
    pub consts: Vec<Form>,
    ids: Map<Op, usize>,
    seed: u64,
}

/// p = content · primitive, primitive with coprime whole coefficients and a positive first one.
fn primitive(p: &Form) -> (Rat, Form) {
    let gcd = |mut a: i128, mut b: i128| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a.abs()
    };
    let coefficients = || p.0.iter().map(|t| t.1);
    let below = coefficients().fold(1, |d, c| d / gcd(d, c.denominator()) * c.denominator());
    let above = coefficients().fold(0, |g, c| gcd(g, c.numerator() * (below / c.denominator())));
    let size = Rat::new(above, below);
    let negative = p.0.first().is_some_and(|t| t.1.is_negative());
    let content = if negative { -size } else { size };
    (content, scaled(p, content.recip()))
}

fn scaled(p: &Form, c: Rat) -> Form {
    Form(p.0.iter().map(|(m, k)| (m.clone(), *k * c)).collect())
}

impl Factor {
    pub fn new(seed: u64) -> Factor {
        Factor {
            ops: vec![],
            consts: vec![],
            ids: Map::default(),
            seed: mix(seed),
        }
    }

    /// The node of a polynomial. `absorb` puts numbers into the constants, `horner` factors.
    pub fn output(&mut self, form: &Form, absorb: bool, horner: bool) -> Option<Signed> {
        let terms = self.terms(form, absorb);
        (!terms.is_empty()).then(|| self.factored(terms, horner))
    }

    fn id(&mut self, op: Op) -> usize {
        if let Some(&i) = self.ids.get(&op) {
            return i;
        }
        self.ops.push(op.clone());
        self.ids.insert(op, self.ops.len() - 1);
        self.ops.len() - 1
    }

    fn random(&mut self) -> u64 {
        self.seed = mix(self.seed);
        self.seed
    }

    fn product(&mut self, mut f: Vec<usize>) -> usize {
        f.sort_unstable();
        match f.len() {
            0 => self.id(Op::Lit(Rat::ONE)),
            1 => f[0],
            _ => self.id(Op::Prod(f)),
        }
    }

    /// The node of a sum; negated when most of its terms are.
    fn sum(&mut self, mut t: Vec<Signed>) -> Signed {
        t.sort_unstable();
        if let [one] = t[..] {
            return one;
        }
        let minus = 2 * t.iter().filter(|x| x.1).count();
        let flip = minus > t.len() || (minus == t.len() && t[0].1);
        if flip {
            t.iter_mut().for_each(|x| x.1 = !x.1);
        }
        (self.id(Op::Sum(t)), flip)
    }

    /// sin or cos of k·q from the sines of the coordinates: sin(r ± e) = sr·c ± cr·s, cos(r ± e) = cr·c ∓ sr·s.
    fn wave(&mut self, sine: bool, k: &[(Ex, i32)]) -> Signed {
        let (e, n) = k[k.len() - 1];
        if k.len() == 1 && n.abs() == 1 {
            let atom = if sine { e.sin() } else { e.cos() };
            return (self.id(Op::Atom(atom)), sine && n < 0);
        }
        let mut rest = k.to_vec();
        if n.abs() == 1 {
            rest.pop();
        } else {
            let last = rest.len() - 1;
            rest[last].1 -= n.signum();
        }
        let (s, c) = (self.id(Op::Atom(e.sin())), self.id(Op::Atom(e.cos())));
        let (rs, rc) = (self.wave(true, &rest), self.wave(false, &rest));
        let (first, second) = if sine { (rs, rc) } else { (rc, rs) };
        let a = self.product(vec![first.0, c]);
        let b = self.product(vec![second.0, s]);
        self.sum(vec![(a, first.1), (b, second.1 ^ (n < 0) ^ !sine)])
    }

    fn terms(&mut self, form: &Form, absorb: bool) -> Vec<Term> {
        let mut out = vec![];
        for (mono, coefficient) in collect(form) {
            let (content, rest) = primitive(&coefficient);
            let mut sign = content.is_negative();
            let mut f = vec![];
            let plain = rest.0.len() == 1 && rest.0[0].0.pow.is_empty();
            if plain || !absorb {
                if content.abs() != Rat::ONE {
                    f.push(self.id(Op::Lit(content.abs())));
                }
                if !plain {
                    f.push(self.constant(rest));
                }
            } else {
                f.push(self.constant(scaled(&rest, content.abs())));
            }
            for (e, n) in &mono.pow {
                let atom = self.id(Op::Atom(*e));
                f.extend(std::iter::repeat_n(atom, n.unsigned_abs() as usize));
            }
            let wave = match &mono.wave {
                Wave::One => None,
                Wave::Cos(k) => Some(self.wave(false, k)),
                Wave::Sin(k) => Some(self.wave(true, k)),
            };
            if let Some((node, negative)) = wave {
                f.push(node);
                sign ^= negative;
            }
            f.sort_unstable();
            out.push((sign, f));
        }
        out
    }

    fn constant(&mut self, p: Form) -> usize {
        let i = self.consts.iter().position(|c| *c == p).unwrap_or_else(|| {
            self.consts.push(p);
            self.consts.len() - 1
        });
        self.id(Op::Const(i))
    }

    fn factored(&mut self, terms: Vec<Term>, horner: bool) -> Signed {
        let mut count: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, f) in &terms {
            let mut seen = f.clone();
            seen.dedup();
            seen.into_iter()
                .for_each(|x| *count.entry(x).or_default() += 1);
        }
        let most = count.values().copied().max().unwrap_or(0);
        if !horner || most < 2 {
            let t = terms
                .into_iter()
                .map(|(s, f)| (self.product(f), s))
                .collect();
            return self.sum(t);
        }
        let best: Vec<usize> = count
            .into_iter()
            .filter(|c| c.1 == most)
            .map(|c| c.0)
            .collect();
        let x = best[self.random() as usize % best.len()];
        let (with, without): (Vec<_>, Vec<_>) = terms.into_iter().partition(|t| t.1.contains(&x));
        let inner = with.into_iter().map(|(s, mut f)| {
            let at = f.iter().position(|y| *y == x).unwrap_or(0);
            f.remove(at);
            (s, f)
        });
        let (node, sign) = self.factored(inner.collect(), horner);
        let head = match self.ops[node].clone() {
            Op::Prod(mut f) => {
                f.push(x);
                self.product(f)
            }
            Op::Lit(Rat::ONE) => x,
            _ => self.product(vec![x, node]),
        };
        if without.is_empty() {
            return (head, sign);
        }
        let (node, flip) = self.factored(without, horner);
        let mut t = vec![(head, sign)];
        match self.ops[node].clone() {
            Op::Sum(inner) => t.extend(inner.into_iter().map(|(n, s)| (n, s ^ flip))),
            _ => t.push((node, flip)),
        }
        self.sum(t)
    }
}
