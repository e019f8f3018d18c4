//! The number the model is written in: f32 on chip, f64 off line, [`crate::number::dual::Dual`] for derivatives.
//!
//! All transcendental functions come from [`crate::number::math`], so the same inputs give the same bits
//! on every target and optimisation level.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::number::math;

/// A real number with the operations the model needs.
pub trait Scalar:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    const ZERO: Self;
    const ONE: Self;
    /// A literal of the source code. Folded at compile time; never called with a run-time value on chip.
    fn lit(x: f64) -> Self;
    /// A configuration value, exact in every scalar.
    fn from_f32(x: f32) -> Self;
    /// The real part, for decisions made outside the model and for printing.
    fn to_f64(self) -> f64;
    /// sin and cos of the same angle \[rad\]; one argument reduction for both.
    fn sin_cos(self) -> (Self, Self);
    fn exp(self) -> Self;
    fn tanh(self) -> Self;
    fn sqrt(self) -> Self;
    fn ln(self) -> Self;
    fn abs(self) -> Self;
    fn is_finite(self) -> bool;

    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    fn square(self) -> Self {
        self * self
    }
    /// −1, 0 or +1.
    fn sign(self) -> Self {
        if self > Self::ZERO {
            Self::ONE
        } else if self < Self::ZERO {
            -Self::ONE
        } else {
            Self::ZERO
        }
    }
}

macro_rules! float_scalar {
    ($t:ident, $sin_cos:path, $exp:path, $tanh:path, $sqrt:path, $ln:path) => {
        impl Scalar for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn lit(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn from_f32(x: f32) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                $sin_cos(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
        }
    };
}

float_scalar!(
    f32,
    math::sin_cos_f32,
    math::exp_f32,
    math::tanh_f32,
    math::sqrt_f32,
    math::ln_f32
);
float_scalar!(
    f64,
    math::sin_cos_f64,
    math::exp_f64,
    math::tanh_f64,
    math::sqrt_f64,
    math::ln_f64
);
