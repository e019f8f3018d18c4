//! Exact rational numbers of 128 bits.
//!
//! Coefficients of mechanisms stay far below 2⁶⁴. A result that does not fit becomes [`Rat::POISON`], which spoils
//! everything computed from it, and raises a flag of the thread; [`exactly`] turns the flag into an error. So an
//! overflow is neither a panic nor a wrong number.

use std::cell::Cell;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use crate::error::{Error, Result};

/// n/d in lowest terms, d > 0; d = 0 only for [`Rat::POISON`]. The derived order is for sorting, not of size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Rat {
    n: i128,
    d: i128,
}

thread_local!(static OVERFLOW: Cell<bool> = const { Cell::new(false) });

/// Run `f`; an error if any rational in it overflowed.
pub fn exactly<T>(f: impl FnOnce() -> T) -> Result<T> {
    let before = OVERFLOW.replace(false);
    let out = f();
    let overflow = OVERFLOW.replace(before);
    if overflow {
        Err(Error::Overflow)
    } else {
        Ok(out)
    }
}

fn poison() -> Rat {
    OVERFLOW.set(true);
    Rat::POISON
}

pub(crate) fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.unsigned_abs() as i128
}

impl Rat {
    pub const ZERO: Rat = Rat { n: 0, d: 1 };
    pub const ONE: Rat = Rat { n: 1, d: 1 };
    pub const HALF: Rat = Rat { n: 1, d: 2 };
    /// The result of an overflow or of a division by zero.
    pub const POISON: Rat = Rat { n: 0, d: 0 };

    pub fn new(n: i128, d: i128) -> Rat {
        // |i128::MIN| does not exist: such numbers are beyond the range.
        if d == 0 || n == i128::MIN || d == i128::MIN {
            return poison();
        }
        let g = gcd(n, d).max(1) * d.signum();
        Rat { n: n / g, d: d / g }
    }
    pub const fn int(n: i64) -> Rat {
        Rat { n: n as i128, d: 1 }
    }
    pub fn numerator(self) -> i128 {
        self.n
    }
    pub fn denominator(self) -> i128 {
        self.d
    }
    pub fn is_integer(self) -> bool {
        self.d == 1
    }
    pub fn is_negative(self) -> bool {
        self.n < 0
    }
    pub fn abs(self) -> Rat {
        if self.is_negative() { -self } else { self }
    }
    pub fn recip(self) -> Rat {
        Rat::new(self.d, self.n)
    }
    pub fn powi(self, e: i32) -> Rat {
        let base = if e < 0 { self.recip() } else { self };
        (0..e.unsigned_abs()).fold(Rat::ONE, |a, _| a * base)
    }
    /// The root, when it is rational.
    pub fn sqrt(self) -> Option<Rat> {
        let root = |x: i128| {
            let r = (x as f64).sqrt().round() as i128;
            (r.checked_mul(r) == Some(x)).then_some(r)
        };
        Some(Rat::new(root(self.n)?, root(self.d)?))
    }
    pub fn to_f64(self) -> f64 {
        self.n as f64 / self.d as f64
    }
    /// A decimal literal of a description, exactly.
    pub fn parse(s: &str) -> Option<Rat> {
        let (whole, fraction) = s.split_once('.').unwrap_or((s, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = 10i128.checked_pow(fraction.len().try_into().ok()?)?;
        Some(Rat::new(digits, scale))
    }
}

impl Add for Rat {
    type Output = Rat;
    fn add(self, o: Rat) -> Rat {
        if self.d == 1 && o.d == 1 {
            return self
                .n
                .checked_add(o.n)
                .map_or_else(poison, |n| Rat { n, d: 1 });
        }
        let n = self
            .n
            .checked_mul(o.d)
            .zip(o.n.checked_mul(self.d))
            .and_then(|(a, b)| a.checked_add(b));
        match n.zip(self.d.checked_mul(o.d)) {
            Some((n, d)) => Rat::new(n, d),
            None => poison(),
        }
    }
}
impl Mul for Rat {
    type Output = Rat;
    fn mul(self, o: Rat) -> Rat {
        match self.n.checked_mul(o.n).zip(self.d.checked_mul(o.d)) {
            Some((n, 1)) => Rat { n, d: 1 },
            Some((n, d)) => Rat::new(n, d),
            None => poison(),
        }
    }
}
impl Neg for Rat {
    type Output = Rat;
    fn neg(self) -> Rat {
        Rat {
            n: -self.n,
            d: self.d,
        }
    }
}
impl Sub for Rat {
    type Output = Rat;
    fn sub(self, o: Rat) -> Rat {
        self + -o
    }
}
impl fmt::Display for Rat {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.d {
            1 => write!(f, "{}", self.n),
            _ => write!(f, "{}/{}", self.n, self.d),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overflow_is_an_error_and_stays_one() {
        let big = Rat::int(i64::MAX);
        let square = exactly(|| big * big).unwrap();
        assert!(matches!(exactly(|| square * square), Err(Error::Overflow)));
        let kept = exactly(|| Rat::POISON + Rat::ONE);
        assert!(matches!(kept, Err(Error::Overflow)));
        assert!(matches!(
            exactly(|| Rat::ZERO.recip()),
            Err(Error::Overflow)
        ));
        assert_eq!(exactly(|| Rat::HALF + Rat::HALF).unwrap(), Rat::ONE);
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(Rat::parse("0.062"), Some(Rat::new(31, 500)));
        assert_eq!(Rat::parse("12"), Some(Rat::int(12)));
        assert_eq!(Rat::parse("1.2.3"), None);
        assert_eq!(Rat::new(9, 4).sqrt(), Some(Rat::new(3, 2)));
        assert_eq!(Rat::int(2).sqrt(), None);
    }
}
