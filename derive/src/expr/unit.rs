//! Units: exponents of kilogram, metre and second. An angle has none; `rad` is read and means 1.
//!
//! A formula is checked before it is used: terms of a sum must have one unit, the argument of a sine none. This
//! alone finds two of the errata of paper 002.

use std::fmt;

use super::{Ex, Node, Rat, one};
use crate::hash::Map;

/// Exponents of kg, m, s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Unit(pub [i8; 3]);

/// Two terms of one sum, or the argument of a function, do not fit: what was met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mixed {
    #[error("adds {0} and {1}")]
    Terms(Unit, Unit),
    #[error("takes the sine or cosine of {0}")]
    Angle(Unit),
    #[error("takes the root of {0}")]
    Root(Unit),
}

impl Unit {
    pub const NONE: Unit = Unit([0, 0, 0]);
    pub const KG: Unit = Unit([1, 0, 0]);
    pub const M: Unit = Unit([0, 1, 0]);
    pub const S: Unit = Unit([0, 0, 1]);
    pub const NEWTON: Unit = Unit([1, 1, -2]);
    /// Newton metre, joule.
    pub const JOULE: Unit = Unit([1, 2, -2]);
    pub const INERTIA: Unit = Unit([1, 2, 0]);
    pub const GRAVITY: Unit = Unit([0, 1, -2]);

    #[must_use]
    pub fn times(self, o: Unit) -> Unit {
        Unit(std::array::from_fn(|i| self.0[i].saturating_add(o.0[i])))
    }
    #[must_use]
    pub fn pow(self, n: i32) -> Unit {
        let n = n.clamp(-100, 100) as i8;
        Unit(self.0.map(|x| x.saturating_mul(n)))
    }
    #[must_use]
    pub fn per(self, o: Unit) -> Unit {
        self.times(o.pow(-1))
    }

    /// `kg*m^2/s^2`, also with `·`, `²`, N, J, Nm, W, rad, deg-free.
    pub fn parse(text: &str) -> Option<Unit> {
        let plain = text.replace('·', "*").replace('²', "^2").replace('³', "^3");
        let mut unit = Unit::NONE;
        for (i, part) in plain.split('/').enumerate() {
            for factor in part.split('*') {
                let (name, n) = match factor.trim().split_once('^') {
                    Some((name, n)) => (name.trim(), n.trim().parse().ok()?),
                    None => (factor.trim(), 1),
                };
                let base = match name {
                    "1" | "rad" => Unit::NONE,
                    "kg" => Unit::KG,
                    "m" => Unit::M,
                    "s" => Unit::S,
                    "N" => Unit::NEWTON,
                    "J" => Unit::JOULE,
                    "W" => Unit::JOULE.per(Unit::S),
                    _ => return None,
                };
                unit = unit.times(base.pow(if i == 0 { n } else { -n }));
            }
        }
        Some(unit)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let named = [
            (Unit::NONE, "1"),
            (Unit::NEWTON, "N"),
            (Unit::JOULE, "N·m"),
            (Unit::JOULE.times(Unit::S), "N·m·s"),
        ];
        if let Some((_, name)) = named.iter().find(|n| n.0 == *self) {
            return f.write_str(name);
        }
        let part = |positive: bool| {
            let factors: Vec<String> = ["kg", "m", "s"]
                .iter()
                .zip(self.0)
                .filter(|(_, n)| *n != 0 && (*n > 0) == positive)
                .map(|(name, n)| match n.unsigned_abs() {
                    1 => name.to_string(),
                    2 => format!("{name}²"),
                    3 => format!("{name}³"),
                    n => format!("{name}^{n}"),
                })
                .collect();
            factors.join("·")
        };
        let (above, below) = (part(true), part(false));
        match (above.as_str(), below.as_str()) {
            (a, "") => f.write_str(a),
            ("", b) => write!(f, "1/{b}"),
            (a, b) => write!(f, "{a}/{b}"),
        }
    }
}

/// The unit of an expression; `None` for zero, which has every unit.
pub fn unit_of(e: Ex) -> Result<Option<Unit>, Mixed> {
    visit(e, &mut Map::default())
}

fn visit(e: Ex, memo: &mut Map<Ex, Option<Unit>>) -> Result<Option<Unit>, Mixed> {
    if let Some(u) = memo.get(&e) {
        return Ok(*u);
    }
    let unit = match e.node() {
        Node::Num(r) => (r != Rat::ZERO).then_some(Unit::NONE),
        Node::Sym(s) => Some(super::symbol(s).unit),
        Node::Sum(terms) => {
            let mut all: Option<Unit> = None;
            for (x, _) in terms.iter() {
                let u = if *x == one() {
                    Some(Unit::NONE)
                } else {
                    visit(*x, memo)?
                };
                match (all, u) {
                    (Some(a), Some(b)) if a != b => return Err(Mixed::Terms(a, b)),
                    (None, _) => all = u,
                    _ => {}
                }
            }
            all
        }
        Node::Prod(factors) => {
            let mut product = Some(Unit::NONE);
            for (x, n) in factors.iter() {
                let u = visit(*x, memo)?;
                product = product.zip(u).map(|(p, u)| p.times(u.pow(*n)));
            }
            product
        }
        Node::Sin(x) | Node::Cos(x) => match visit(x, memo)? {
            None | Some(Unit::NONE) => Some(Unit::NONE),
            Some(u) => return Err(Mixed::Angle(u)),
        },
        Node::Sqrt(x) => match visit(x, memo)? {
            Some(u) if u.0.iter().any(|n| n % 2 != 0) => return Err(Mixed::Root(u)),
            u => u.map(|u| Unit(u.0.map(|n| n / 2))),
        },
    };
    memo.insert(e, unit);
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_read_and_print() {
        for (text, shown) in [
            ("kg*m^2", "kg·m²"),
            ("N*m", "N·m"),
            ("kg·m²/s²", "N·m"),
            ("m/s^2", "m/s²"),
            ("rad", "1"),
            ("N*m*s/rad", "N·m·s"),
            ("1/s", "1/s"),
        ] {
            assert_eq!(Unit::parse(text).unwrap().to_string(), shown);
        }
        assert_eq!(Unit::parse("furlong"), None);
    }
}
