//! Identity test without expansion, for expressions too large to expand.
//!
//! The DAG is evaluated exactly in the field of p = 2⁶¹ − 1 elements, symbols at random values, sine and cosine at random points
//! of the circle s² + c² = 1 (rational parametrisation), roots by x^((p+1)/4), which is multiplicative on squares. Two
//! different expressions of degree d agree at one point with probability ≤ d/p (Schwartz, Zippel); [`Agreement`] states the
//! bound for the degree at hand. A point at which a divisor vanishes or a radicand is no square is drawn again.

use std::collections::BTreeMap;

use crate::expr::{Ex, Node, Rat};
use crate::hash::Map;

/// 2⁶¹ − 1, prime.
pub const P: u64 = (1 << 61) - 1;

pub fn mul(a: u64, b: u64) -> u64 {
    let t = u128::from(a) * u128::from(b);
    let s = (t & u128::from(P)) as u64 + (t >> 61) as u64;
    if s >= P { s - P } else { s }
}
pub fn add(a: u64, b: u64) -> u64 {
    let s = a + b;
    if s >= P { s - P } else { s }
}
pub fn neg(a: u64) -> u64 {
    if a == 0 { 0 } else { P - a }
}
fn pow(mut a: u64, mut e: u64) -> u64 {
    let mut r = 1;
    while e > 0 {
        if e & 1 == 1 {
            r = mul(r, a);
        }
        a = mul(a, a);
        e >>= 1;
    }
    r
}
/// 1/a; nothing for zero.
pub fn inverse(a: u64) -> Option<u64> {
    (a != 0).then(|| pow(a, P - 2))
}
fn root(a: u64) -> Option<u64> {
    let r = pow(a, P.div_ceil(4));
    (mul(r, r) == a).then_some(r)
}

/// splitmix64: the same points in every run.
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// One random point of the field.
pub struct Point {
    seed: u64,
    memo: Map<Ex, Option<u64>>,
}

impl Point {
    pub fn new(seed: u64) -> Point {
        Point {
            seed: mix(seed),
            memo: Map::default(),
        }
    }

    fn draw(&self, e: Ex, salt: u64) -> u64 {
        // By name, so that the values do not depend on what was derived before.
        let name = e.symbol().map_or(0, |s| {
            s.name.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, c| {
                (h ^ u64::from(c)).wrapping_mul(0x100_0000_01b3)
            })
        });
        mix(self.seed ^ mix(name ^ mix(salt))) % P
    }

    /// (cos, sin) of a symbol: a random point of the circle, (1 − t², 2t)/(1 + t²). −1 is no square: never divided by zero.
    fn circle(&self, e: Ex) -> Option<(u64, u64)> {
        let t = self.draw(e, 1);
        let t2 = mul(t, t);
        let d = inverse(add(1, t2))?;
        Some((mul(add(1, neg(t2)), d), mul(add(t, t), d)))
    }

    fn cos_sin(&self, x: Ex) -> Option<(u64, u64)> {
        let mut acc = (1, 0);
        for (symbol, n) in x.angle()? {
            let (c, s) = self.circle(symbol)?;
            let s = if n < 0 { neg(s) } else { s };
            for _ in 0..n.abs() {
                acc = (
                    add(mul(acc.0, c), neg(mul(acc.1, s))),
                    add(mul(acc.1, c), mul(acc.0, s)),
                );
            }
        }
        Some(acc)
    }

    fn rational(r: Rat) -> Option<u64> {
        let whole = |n: i128| n.rem_euclid(i128::from(P)) as u64;
        match r.denominator() {
            1 => Some(whole(r.numerator())),
            d => Some(mul(whole(r.numerator()), inverse(whole(d))?)),
        }
    }

    /// The value; nothing at an unlucky point.
    pub fn of(&mut self, e: Ex) -> Option<u64> {
        if let Some(&v) = self.memo.get(&e) {
            return v;
        }
        let v = self.compute(e);
        self.memo.insert(e, v);
        v
    }

    fn compute(&mut self, e: Ex) -> Option<u64> {
        match e.node() {
            Node::Num(r) => Point::rational(r),
            Node::Sym(_) => Some(self.draw(e, 0)),
            Node::Sum(t) => t.iter().try_fold(0, |a, (x, c)| {
                Some(add(a, mul(Point::rational(*c)?, self.of(*x)?)))
            }),
            Node::Prod(f) => f.iter().try_fold(1, |a, (x, n)| {
                let v = pow(self.of(*x)?, n.unsigned_abs().into());
                Some(mul(a, if *n < 0 { inverse(v)? } else { v }))
            }),
            Node::Sin(x) => Some(self.cos_sin(x)?.1),
            Node::Cos(x) => Some(self.cos_sin(x)?.0),
            Node::Sqrt(x) => root(self.of(x)?),
        }
    }
}

/// Degree of numerator and denominator, with every circle's denominator (1 + t²)^k kept apart.
#[derive(Clone, Default)]
struct Degree {
    above: f64,
    below: f64,
    circles: BTreeMap<Ex, f64>,
}

impl Degree {
    fn circle_total(&self) -> f64 {
        2.0 * self.circles.values().sum::<f64>()
    }
    /// Degree of the numerator once every circle's denominator is multiplied out.
    fn numerator(&self) -> f64 {
        self.above + self.circle_total()
    }
}

fn degree(e: Ex, memo: &mut Map<Ex, Degree>) -> Degree {
    if let Some(d) = memo.get(&e) {
        return d.clone();
    }
    let d = match e.node() {
        Node::Num(_) => Degree::default(),
        Node::Sym(_) => Degree {
            above: 1.0,
            ..Degree::default()
        },
        Node::Sum(t) => {
            let parts: Vec<Degree> = t.iter().map(|(x, _)| degree(*x, memo)).collect();
            let below: f64 = parts.iter().map(|p| p.below).sum();
            let mut out = Degree {
                above: parts
                    .iter()
                    .map(|p| p.above + below - p.below)
                    .fold(0.0, f64::max),
                below,
                circles: BTreeMap::new(),
            };
            for (e, n) in parts.iter().flat_map(|p| &p.circles) {
                let k = out.circles.entry(*e).or_default();
                *k = k.max(*n);
            }
            out
        }
        Node::Prod(f) => {
            let mut out = Degree::default();
            for (x, n) in f.iter() {
                let part = degree(*x, memo);
                let n = f64::from(*n);
                if n > 0.0 {
                    out.above += n * part.above;
                    out.below += n * part.below;
                    for (e, k) in &part.circles {
                        *out.circles.entry(*e).or_default() += n * k;
                    }
                } else {
                    out.above += -n * (part.below + part.circle_total());
                    out.below += -n * part.numerator();
                }
            }
            out
        }
        Node::Sin(x) | Node::Cos(x) => Degree {
            circles: x
                .angle()
                .unwrap_or_default()
                .iter()
                .map(|(s, n)| (*s, f64::from(n.unsigned_abs())))
                .collect(),
            ..Degree::default()
        },
        // A root is bounded by its radicand: at the points where it exists its square is one.
        Node::Sqrt(x) => degree(x, memo),
    };
    memo.insert(e, d.clone());
    d
}

/// What the test found.
#[derive(Clone, Copy, Debug)]
pub struct Agreement {
    /// Points at which everything was compared.
    pub points: usize,
    /// Bound of the degree of the differences.
    pub degree: f64,
    /// Largest probability that a difference stayed unseen, for random points: (degree/p)^points.
    pub error: f64,
}

/// Compares two lists at `points` points; nothing when they differ, or when no point could be evaluated.
pub fn agree(a: &[Ex], b: &[Ex], points: usize, seed: u64) -> Option<Agreement> {
    if a.len() != b.len() {
        return None;
    }
    let mut memo = Map::default();
    let worst = a
        .iter()
        .zip(b)
        .filter(|(x, y)| x != y)
        .map(|(x, y)| degree(*x - *y, &mut memo).numerator())
        .fold(1.0, f64::max);
    let mut done = 0;
    // With k roots one point in 2^k can be used.
    for k in 0..100 + 64 * points as u64 {
        if done == points {
            break;
        }
        let mut p = Point::new(seed.wrapping_add(k));
        let values = |p: &mut Point, list: &[Ex]| {
            list.iter().map(|e| p.of(*e)).collect::<Option<Vec<u64>>>()
        };
        if let (Some(x), Some(y)) = (values(&mut p, a), values(&mut p, b)) {
            if x != y {
                return None;
            }
            done += 1;
        }
    }
    (done == points).then(|| Agreement {
        points,
        degree: worst,
        error: (worst / P as f64).min(1.0).powi(points as i32),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Kind, Scope, Unit, int};

    #[test]
    fn identities_hold_and_others_do_not() {
        let s = Scope::new();
        let x = s.declare("x", Kind::Coordinate, 0, Unit::NONE);
        let p = s.parameter("p", Unit::NONE);
        let yes = [
            (x.sin().squared() + x.cos().squared(), int(1)),
            ((x + x).sin(), int(2) * x.sin() * x.cos()),
            (
                int(1) / (p + x.cos()) * (p + x.cos()).squared(),
                p + x.cos(),
            ),
            ((p + x.sin()).sqrt().squared(), p + x.sin()),
        ];
        for (a, b) in yes {
            let found = agree(&[a], &[b], 4, 1).expect("an identity");
            assert!(found.error < 1e-60);
            assert!(agree(&[a], &[b + p], 1, 1).is_none());
        }
    }

    #[test]
    fn the_degree_counts_circles_once_per_sum() {
        let s = Scope::new();
        let x = s.declare("x", Kind::Coordinate, 0, Unit::NONE);
        let p = s.parameter("p", Unit::NONE);
        let d = degree(p * x.sin() + x.cos() * p.squared(), &mut Map::default());
        assert_eq!(d.numerator(), 4.0);
        let d = degree(int(1) / (p + x.sin()), &mut Map::default());
        assert_eq!((d.above, d.below), (2.0, 3.0));
    }
}
