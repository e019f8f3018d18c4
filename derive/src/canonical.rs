//! The canonical form, in which equal means identical: equality is decided, not searched for.
//!
//! A mechanism of revolute and prismatic joints lives in the ring ℚ[parameters, q, q̇, q̈, u][sin qᵢ, cos qᵢ] modulo
//! sin² + cos² = 1. Three bases of that ring:
//!
//! - [`Basis::Fourier`]: every product of sines and cosines becomes a sum of sin(k·q), cos(k·q), k whole. Unique. Short for
//!   planar chains: cos(θ2), sin(θ1 + θ2).
//! - [`Basis::Cosines`], [`Basis::Sines`]: polynomials in sin qᵢ, cos qᵢ with sin² → 1 − cos², or the reverse. Unique, too (the
//!   relations have coprime leading terms, hence are a Gröbner basis). Short for spatial mechanisms.
//!
//! Angles that are parameters (a tilt) are always treated as in `Cosines`. Reciprocals and roots of non-constant expressions
//! are outside the ring: they count as atoms, so that identical forms still prove equality, but different forms prove
//! nothing ([`Ring::is_polynomial`]).
//!
//! Monomials are interned and their products remembered: expanding is table look-up.

mod mono;

use std::rc::Rc;

use crate::error::{Error, Result};
use crate::expr::{Ex, Kind, Node, Rat, exactly, sum};
use crate::hash::Map;

pub use mono::{Mono, Wave};
use mono::{multiply, wave};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Basis {
    Fourier,
    Cosines,
    Sines,
}

impl Basis {
    pub const ALL: [Basis; 3] = [Basis::Fourier, Basis::Sines, Basis::Cosines];
}

/// Terms sorted by monomial: the same for every history of the arena's user.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Form(pub Vec<(Mono, Rat)>);

impl Form {
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
    pub fn to_ex(&self) -> Ex {
        sum(self.0.iter().map(|(m, c)| (m.to_ex(), *c)))
    }
    /// Factors in all terms: the measure of how long a form prints.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(m, _)| m.size()).sum()
    }
}

/// Σ c·monomial, sorted by the ring's number of the monomial.
type Poly = Rc<Vec<(u32, Rat)>>;
/// The same, of a product of two monomials.
type Product = Rc<[(u32, Rat)]>;

/// Terms a form may have before it is given up: seconds of work.
const LIMIT: usize = 400_000;

/// Converts expressions to one basis and remembers every node it has seen.
pub struct Ring {
    pub basis: Basis,
    limit: usize,
    monos: Vec<Mono>,
    ids: Map<Mono, u32>,
    products: Map<(u32, u32), Product>,
    memo: Map<Ex, Poly>,
}

impl Ring {
    pub fn new(basis: Basis) -> Ring {
        Ring::with_limit(basis, LIMIT)
    }

    /// A ring that gives up forms of more than `limit` terms.
    pub fn with_limit(basis: Basis, limit: usize) -> Ring {
        let mut ring = Ring {
            basis,
            limit,
            monos: vec![],
            ids: Map::default(),
            products: Map::default(),
            memo: Map::default(),
        };
        ring.intern(Mono::default());
        ring
    }

    pub fn form(&mut self, e: Ex) -> Result<Form> {
        let p = exactly(|| self.poly(e))??;
        let mut terms: Vec<(Mono, Rat)> = p
            .iter()
            .map(|(m, c)| (self.monos[*m as usize].clone(), *c))
            .collect();
        terms.sort_unstable();
        Ok(Form(terms))
    }

    pub fn equal(&mut self, a: Ex, b: Ex) -> Result<bool> {
        exactly(|| Ok(self.poly(a)? == self.poly(b)?))?
    }

    /// Whether different forms of these expressions would mean that they are different.
    pub fn is_polynomial(list: &[Ex]) -> bool {
        let mut seen: Map<Ex, ()> = Map::default();
        let mut stack = list.to_vec();
        while let Some(e) = stack.pop() {
            if seen.insert(e, ()).is_some() {
                continue;
            }
            let inside = match e.node() {
                Node::Prod(f) => f
                    .iter()
                    .all(|(x, n)| *n > 0 || x.is_symbol(Kind::Parameter)),
                Node::Sqrt(_) => false,
                Node::Sin(x) | Node::Cos(x) => x.angle().is_some(),
                _ => true,
            };
            if !inside {
                return false;
            }
            stack.extend(e.children());
        }
        true
    }

    fn intern(&mut self, m: Mono) -> u32 {
        if let Some(&i) = self.ids.get(&m) {
            return i;
        }
        let i = self.monos.len() as u32;
        self.monos.push(m.clone());
        self.ids.insert(m, i);
        i
    }

    fn single(&mut self, m: Mono, c: Rat) -> Poly {
        if c == Rat::ZERO {
            return Poly::default();
        }
        Rc::new(vec![(self.intern(m), c)])
    }

    fn atom(&mut self, e: Ex, n: i32) -> Poly {
        let m = Mono {
            wave: Wave::One,
            pow: vec![(e, n)],
        };
        self.single(m, Rat::ONE)
    }

    /// Σ c·p over sorted lists.
    fn combine(&self, parts: &[(Poly, Rat)]) -> Result<Poly> {
        if let [(p, c)] = parts
            && *c == Rat::ONE
        {
            return Ok(p.clone());
        }
        let mut all: Vec<(u32, Rat)> = parts
            .iter()
            .flat_map(|(p, c)| p.iter().map(move |(m, k)| (*m, *k * *c)))
            .collect();
        all.sort_unstable_by_key(|t| t.0);
        all.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1 + next.1;
            }
            same
        });
        all.retain(|t| t.1 != Rat::ZERO);
        self.within(all)
    }

    fn within(&self, terms: Vec<(u32, Rat)>) -> Result<Poly> {
        if terms.len() > self.limit {
            return Err(Error::TooLarge { limit: self.limit });
        }
        Ok(Rc::new(terms))
    }

    fn product(&mut self, a: u32, b: u32) -> Product {
        let key = (a.min(b), a.max(b));
        if let Some(p) = self.products.get(&key) {
            return p.clone();
        }
        let list = multiply(&self.monos[a as usize], &self.monos[b as usize], self.basis);
        let p: Product = list.into_iter().map(|(m, c)| (self.intern(m), c)).collect();
        self.products.insert(key, p.clone());
        p
    }

    fn mul(&mut self, a: &Poly, b: &Poly) -> Result<Poly> {
        let unit = |p: &Poly| matches!(p.as_slice(), [(0, c)] if *c == Rat::ONE);
        if unit(a) {
            return Ok(b.clone());
        }
        if unit(b) {
            return Ok(a.clone());
        }
        let mut out: Map<u32, Rat> = Map::default();
        for (ma, ca) in a.iter() {
            for (mb, cb) in b.iter() {
                let c = *ca * *cb;
                for (m, k) in self.product(*ma, *mb).iter() {
                    let term = out.entry(*m).or_insert(Rat::ZERO);
                    *term = *term + *k * c;
                }
            }
            if out.len() > 2 * self.limit {
                return Err(Error::TooLarge { limit: self.limit });
            }
        }
        let mut terms: Vec<(u32, Rat)> = out.into_iter().filter(|t| t.1 != Rat::ZERO).collect();
        terms.sort_unstable_by_key(|t| t.0);
        self.within(terms)
    }

    fn expression(&self, p: &Poly) -> Ex {
        let mut terms: Vec<(&Mono, Rat)> = p
            .iter()
            .map(|(m, c)| (&self.monos[*m as usize], *c))
            .collect();
        terms.sort_unstable();
        sum(terms.iter().map(|(m, c)| (m.to_ex(), *c)))
    }

    fn poly(&mut self, e: Ex) -> Result<Poly> {
        if let Some(p) = self.memo.get(&e) {
            return Ok(p.clone());
        }
        let p = match e.node() {
            Node::Num(r) => self.single(Mono::default(), r),
            Node::Sym(_) => self.atom(e, 1),
            Node::Sum(t) => {
                let parts = t
                    .iter()
                    .map(|(x, c)| Ok((self.poly(*x)?, *c)))
                    .collect::<Result<Vec<_>>>()?;
                self.combine(&parts)?
            }
            Node::Prod(f) => {
                let mut out = self.single(Mono::default(), Rat::ONE);
                for (x, n) in f.iter() {
                    let base = self.poly(*x)?;
                    if *n > 0 {
                        for _ in 0..*n {
                            out = self.mul(&out, &base)?;
                        }
                    } else {
                        let power = self.inverse(&base, *n)?;
                        out = self.mul(&out, &power)?;
                    }
                }
                out
            }
            Node::Sin(x) => self.cos_sin(x)?.1,
            Node::Cos(x) => self.cos_sin(x)?.0,
            Node::Sqrt(x) => {
                let radicand = self.poly(x)?;
                let root = self.expression(&radicand).sqrt();
                match root.node() {
                    Node::Num(r) => self.single(Mono::default(), r),
                    _ => self.atom(root, 1),
                }
            }
        };
        self.memo.insert(e, p.clone());
        Ok(p)
    }

    /// p^n, n < 0: inside the ring for a monomial in the parameters, an atom otherwise.
    fn inverse(&mut self, p: &Poly, n: i32) -> Result<Poly> {
        if let [(m, c)] = p.as_slice()
            && self.monos[*m as usize].is_invertible()
        {
            let mut mono = self.monos[*m as usize].clone();
            mono.pow.iter_mut().for_each(|f| f.1 *= n);
            return Ok(self.single(mono, c.powi(n)));
        }
        let base = self.expression(p);
        // The expression may have taken content out in front.
        match base.pow(n).node() {
            Node::Prod(_) => Ok(self.atom(base, n)),
            Node::Num(r) => Ok(self.single(Mono::default(), r)),
            Node::Sum(t) if t.len() == 1 => {
                let mut out = self.single(Mono::default(), t[0].1);
                if let Node::Prod(f) = t[0].0.node() {
                    for (x, k) in f.iter() {
                        let factor = self.atom(*x, *k);
                        out = self.mul(&out, &factor)?;
                    }
                }
                Ok(out)
            }
            _ => Ok(self.atom(base, n)),
        }
    }

    /// cos x and sin x of an angle that is a whole combination of symbols.
    fn cos_sin(&mut self, x: Ex) -> Result<(Poly, Poly)> {
        let Some(terms) = x.angle() else {
            return Ok((self.atom(x.cos(), 1), self.atom(x.sin(), 1)));
        };
        let fourier = self.basis == Basis::Fourier;
        let (coordinates, rest): (Vec<_>, Vec<_>) = terms
            .into_iter()
            .partition(|(s, _)| fourier && s.is_symbol(Kind::Coordinate));
        let (wc, kc) = wave(false, coordinates.clone());
        let (ws, ks) = wave(true, coordinates);
        let plain = |wave| Mono { wave, pow: vec![] };
        let mut c = self.single(plain(wc), kc);
        let mut s = self.single(plain(ws), ks);
        // cos(x ± y) = cos x·cos y ∓ sin x·sin y, sin(x ± y) = sin x·cos y ± cos x·sin y
        for (y, n) in rest {
            let (cy, sy) = (self.atom(y.cos(), 1), self.atom(y.sin(), 1));
            let sign = Rat::int(n.signum().into());
            for _ in 0..n.abs() {
                let (cc, ss) = (self.mul(&c, &cy)?, self.mul(&s, &sy)?);
                let (sc, cs) = (self.mul(&s, &cy)?, self.mul(&c, &sy)?);
                c = self.combine(&[(cc, Rat::ONE), (ss, -sign)])?;
                s = self.combine(&[(sc, Rat::ONE), (cs, sign)])?;
            }
        }
        Ok((c, s))
    }
}

/// The shortest of the three forms, or nothing when all are beyond `limit` terms.
pub fn shortest(e: Ex, limit: usize) -> Option<Form> {
    Basis::ALL
        .into_iter()
        .filter_map(|b| Ring::with_limit(b, limit).form(e).ok())
        .min_by_key(Form::size)
}

/// The expression in its shortest form.
pub fn tidy(e: Ex) -> Ex {
    shortest(e, 20_000).map_or(e, |f| f.to_ex())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Scope, Unit, int};

    #[test]
    fn all_three_bases_decide_the_trigonometric_identities() {
        let s = Scope::new();
        let x = s.declare("x", Kind::Coordinate, 0, Unit::NONE);
        let y = s.declare("y", Kind::Coordinate, 1, Unit::NONE);
        let phi = s.parameter("phi", Unit::NONE);
        let equal = [
            (x.sin().squared() + x.cos().squared(), int(1)),
            ((x + y).sin(), x.sin() * y.cos() + x.cos() * y.sin()),
            (
                (x + x + x).cos(),
                int(4) * x.cos().pow(3) - int(3) * x.cos(),
            ),
            ((x - phi).cos(), x.cos() * phi.cos() + x.sin() * phi.sin()),
            ((x + y).squared() - (x - y).squared(), int(4) * x * y),
            (x / phi + x / phi, int(2) * x / phi),
        ];
        for basis in Basis::ALL {
            let mut ring = Ring::new(basis);
            for (a, b) in equal {
                assert!(ring.equal(a, b).unwrap(), "{basis:?}");
                assert!(!ring.equal(a, b + phi).unwrap());
                assert!(!ring.equal(a, -b).unwrap());
            }
        }
    }

    #[test]
    fn a_form_that_is_too_large_is_refused() {
        let s = Scope::new();
        let total: Ex = (0..20)
            .map(|i| s.parameter(&format!("p{i}"), Unit::NONE))
            .sum();
        let refused = Ring::with_limit(Basis::Fourier, 1000).form(total.pow(6));
        assert!(matches!(refused, Err(Error::TooLarge { limit: 1000 })));
    }

    #[test]
    fn only_polynomials_decide() {
        let s = Scope::new();
        let (x, p) = (
            s.declare("x", Kind::Coordinate, 0, Unit::NONE),
            s.parameter("p", Unit::NONE),
        );
        assert!(Ring::is_polynomial(&[x.sin() * p + x / p]));
        assert!(!Ring::is_polynomial(&[int(1) / (x + p)]));
        assert!(!Ring::is_polynomial(&[x.sqrt()]));
    }
}
