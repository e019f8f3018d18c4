//! Sums, products, sines and roots in their light normal form, and the operators.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Ex, Node, Rat, int, intern, num, one, zero};

/// Adds up equal neighbours of a sorted list and drops what vanishes.
fn collect<T: Copy + PartialEq>(
    sorted: Vec<(Ex, T)>,
    add: impl Fn(T, T) -> T,
    none: T,
) -> Vec<(Ex, T)> {
    let mut out: Vec<(Ex, T)> = Vec::with_capacity(sorted.len());
    for (x, c) in sorted {
        match out.last_mut() {
            Some(last) if last.0 == x => last.1 = add(last.1, c),
            _ => out.push((x, c)),
        }
    }
    out.retain(|t| t.1 != none);
    out
}

/// Σ cᵢ·xᵢ.
pub fn sum(terms: impl IntoIterator<Item = (Ex, Rat)>) -> Ex {
    let mut flat: Vec<(Ex, Rat)> = Vec::new();
    for (x, c) in terms {
        match x.node() {
            Node::Num(r) => flat.push((one(), r * c)),
            Node::Sum(inner) => flat.extend(inner.iter().map(|(y, k)| (*y, *k * c))),
            _ => flat.push((x, c)),
        }
    }
    flat.sort_unstable();
    let out = collect(flat, |a, b| a + b, Rat::ZERO);
    match out.as_slice() {
        [] => zero(),
        [(x, c)] if *x == one() => num(*c),
        [(x, c)] if *c == Rat::ONE => *x,
        _ => intern(Node::Sum(out.into())),
    }
}

/// Π xᵢ^nᵢ; the rational content moves out in front.
pub fn prod(factors: impl IntoIterator<Item = (Ex, i32)>) -> Ex {
    let mut content = Rat::ONE;
    let mut flat: Vec<(Ex, i32)> = Vec::new();
    let mut stack: Vec<(Ex, i32)> = factors.into_iter().collect();
    while let Some((x, n)) = stack.pop() {
        match x.node() {
            _ if n == 0 => {}
            Node::Num(r) if r == Rat::ZERO && n > 0 => return zero(),
            Node::Num(r) => content = content * r.powi(n),
            Node::Prod(inner) => stack.extend(inner.iter().map(|(y, k)| (*y, k * n))),
            Node::Sum(t) if t[0].1 != Rat::ONE => {
                let lead = t[0].1;
                content = content * lead.powi(n);
                stack.push((sum(t.iter().map(|(y, k)| (*y, *k * lead.recip()))), n));
            }
            _ => flat.push((x, n)),
        }
    }
    flat.sort_unstable();
    let out = collect(flat, |a, b| a + b, 0);
    let p = match out.as_slice() {
        [] => return num(content),
        [(x, 1)] => *x,
        _ => intern(Node::Prod(out.into())),
    };
    if content == Rat::ONE {
        p
    } else {
        sum([(p, content)])
    }
}

/// Whole quarter turns in an angle, and the rest of it: x = rest + k·π/2.
fn quarter_turns(x: Ex) -> Option<(i128, Ex)> {
    let coefficient = match x.node() {
        _ if x == Ex::PI => Rat::ONE,
        Node::Sum(t) => t.iter().find(|t| t.0 == Ex::PI)?.1,
        _ => return None,
    };
    let turns = coefficient * Rat::int(2);
    let rest = sum([(x, Rat::ONE), (Ex::PI, -coefficient)]);
    (turns.is_integer() && turns != Rat::ZERO).then(|| (turns.numerator().rem_euclid(4), rest))
}

fn leads_negative(x: Ex) -> bool {
    matches!(x.node(), Node::Sum(t) if t[0].1.is_negative())
}

impl Ex {
    pub fn pow(self, n: i32) -> Ex {
        prod([(self, n)])
    }

    /// sin x, odd: the sign of the leading coefficient of x moves out.
    pub fn sin(self) -> Ex {
        match quarter_turns(self) {
            Some((0, rest)) => return rest.sin(),
            Some((1, rest)) => return rest.cos(),
            Some((2, rest)) => return -rest.sin(),
            Some((_, rest)) => return -rest.cos(),
            None => {}
        }
        if self.is_zero() {
            zero()
        } else if leads_negative(self) {
            -(-self).sin()
        } else {
            intern(Node::Sin(self))
        }
    }

    pub fn cos(self) -> Ex {
        match quarter_turns(self) {
            Some((0, rest)) => return rest.cos(),
            Some((1, rest)) => return -rest.sin(),
            Some((2, rest)) => return -rest.cos(),
            Some((_, rest)) => return rest.sin(),
            None => {}
        }
        if self.is_zero() {
            one()
        } else if leads_negative(self) {
            (-self).cos()
        } else {
            intern(Node::Cos(self))
        }
    }

    pub fn sqrt(self) -> Ex {
        match self.number().and_then(Rat::sqrt) {
            Some(r) => num(r),
            None => intern(Node::Sqrt(self)),
        }
    }

    pub fn squared(self) -> Ex {
        self.pow(2)
    }

    pub fn half(self) -> Ex {
        sum([(self, Rat::HALF)])
    }
}

impl From<i64> for Ex {
    fn from(n: i64) -> Ex {
        int(n)
    }
}
impl Add for Ex {
    type Output = Ex;
    fn add(self, o: Ex) -> Ex {
        sum([(self, Rat::ONE), (o, Rat::ONE)])
    }
}
impl Sub for Ex {
    type Output = Ex;
    fn sub(self, o: Ex) -> Ex {
        sum([(self, Rat::ONE), (o, -Rat::ONE)])
    }
}
impl Mul for Ex {
    type Output = Ex;
    fn mul(self, o: Ex) -> Ex {
        prod([(self, 1), (o, 1)])
    }
}
impl Div for Ex {
    type Output = Ex;
    fn div(self, o: Ex) -> Ex {
        prod([(self, 1), (o, -1)])
    }
}
impl Neg for Ex {
    type Output = Ex;
    fn neg(self) -> Ex {
        sum([(self, -Rat::ONE)])
    }
}
impl std::iter::Sum for Ex {
    fn sum<I: Iterator<Item = Ex>>(it: I) -> Ex {
        sum(it.map(|x| (x, Rat::ONE)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Scope, Unit};
    use super::*;

    #[test]
    fn equal_expressions_are_one_node() {
        let s = Scope::new();
        let [a, b] = ["a", "b"].map(|n| s.parameter(n, Unit::NONE));
        assert_eq!((a + b) * (a + b), (b + a).pow(2));
        assert_eq!(a - a, zero());
        assert_eq!((a * b) / b, a);
        assert_eq!((-a).sin(), -(a.sin()));
        assert_eq!((b - a).cos(), (a - b).cos());
        assert_eq!((a + a).half(), a);
    }

    #[test]
    fn quarter_turns_fold() {
        let s = Scope::new();
        let q = s.declare("q", Kind::Coordinate, 0, Unit::NONE);
        assert_eq!((q + Ex::PI).sin(), -q.sin());
        assert_eq!((Ex::PI.half() - q).cos(), q.sin());
        assert_eq!(Ex::PI.cos(), int(-1));
        assert_eq!((Ex::PI.half() + q).sin(), q.cos());
    }
}
