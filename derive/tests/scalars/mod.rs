//! Two scalars for the core's generic plants: one builds expressions, one counts operations.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::*;

use stribeck_core::number::scalar::Scalar;
use stribeck_derive::expr::{Ex, Rat, num};

macro_rules! operators {
    ($t:ident, $($tr:ident $f:ident $atr:ident $af:ident $body:expr),+) => {$(
        impl $tr for $t {
            type Output = $t;
            fn $f(self, o: $t) -> $t {
                let body: fn($t, $t) -> $t = $body;
                body(self, o)
            }
        }
        impl $atr for $t {
            fn $af(&mut self, o: $t) {
                *self = $tr::$f(*self, o);
            }
        }
    )+};
}
/// An expression as a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sym(pub Ex);

operators!(Sym,
    Add add AddAssign add_assign |a, b| Sym(a.0 + b.0),
    Sub sub SubAssign sub_assign |a, b| Sym(a.0 - b.0),
    Mul mul MulAssign mul_assign |a, b| Sym(a.0 * b.0),
    Div div DivAssign div_assign |a, b| Sym(a.0 / b.0));

impl Neg for Sym {
    type Output = Sym;
    fn neg(self) -> Sym {
        Sym(-self.0)
    }
}
impl PartialOrd for Sym {
    /// Symbols have no order: every comparison is false.
    fn partial_cmp(&self, _: &Sym) -> Option<Ordering> {
        None
    }
}
impl Scalar for Sym {
    const ZERO: Self = Sym(Ex::ZERO);
    const ONE: Self = Sym(Ex::ONE);
    fn lit(x: f64) -> Self {
        let d = 1i128 << 40;
        Sym(num(Rat::new((x * d as f64) as i128, d)))
    }
    fn from_f32(x: f32) -> Self {
        Self::lit(x.into())
    }
    fn to_f64(self) -> f64 {
        f64::NAN
    }
    fn sin_cos(self) -> (Self, Self) {
        (Sym(self.0.sin()), Sym(self.0.cos()))
    }
    fn sqrt(self) -> Self {
        Sym(self.0.sqrt())
    }
    fn abs(self) -> Self {
        Sym((self.0 * self.0).sqrt())
    }
    fn exp(self) -> Self {
        unreachable!("no plant takes an exponential")
    }
    fn tanh(self) -> Self {
        unreachable!("no plant takes a hyperbolic tangent")
    }
    fn ln(self) -> Self {
        unreachable!("no plant takes a logarithm")
    }
    fn is_finite(self) -> bool {
        true
    }
}

thread_local!(static OPERATIONS: Cell<[usize; 4]> = const { Cell::new([0; 4]) });

fn tick(i: usize) {
    let mut v = OPERATIONS.get();
    v[i] += 1;
    OPERATIONS.set(v);
}

/// Additions, products, negations, divisions and roots that `f` performs on [`Counted`].
pub fn operations(f: impl Fn()) -> [usize; 4] {
    OPERATIONS.set([0; 4]);
    f();
    OPERATIONS.get()
}

/// A number that counts.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Counted(pub f64);

operators!(Counted,
    Add add AddAssign add_assign |a, b| { tick(0); Counted(a.0 + b.0) },
    Sub sub SubAssign sub_assign |a, b| { tick(0); Counted(a.0 - b.0) },
    Mul mul MulAssign mul_assign |a, b| { tick(1); Counted(a.0 * b.0) },
    Div div DivAssign div_assign |a, b| { tick(3); Counted(a.0 / b.0) });

impl Neg for Counted {
    type Output = Counted;
    fn neg(self) -> Counted {
        tick(2);
        Counted(-self.0)
    }
}
impl Scalar for Counted {
    const ZERO: Self = Counted(0.0);
    const ONE: Self = Counted(1.0);
    fn lit(x: f64) -> Self {
        Counted(x)
    }
    fn from_f32(x: f32) -> Self {
        Counted(x.into())
    }
    fn to_f64(self) -> f64 {
        self.0
    }
    fn sin_cos(self) -> (Self, Self) {
        (Counted(self.0.sin()), Counted(self.0.cos()))
    }
    fn sqrt(self) -> Self {
        tick(3);
        Counted(self.0.sqrt())
    }
    fn abs(self) -> Self {
        Counted(self.0.abs())
    }
    fn exp(self) -> Self {
        Counted(self.0.exp())
    }
    fn tanh(self) -> Self {
        Counted(self.0.tanh())
    }
    fn ln(self) -> Self {
        Counted(self.0.ln())
    }
    fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}
