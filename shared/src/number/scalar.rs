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
    /// ±1 beyond ±`from`.
    #[inline(always)]
    fn saturated(self, from: f32) -> Option<Self> {
        let from = Self::from_f32(from);
        if self > from {
            Some(Self::ONE)
        } else if self < -from {
            Some(-Self::ONE)
        } else {
            None
        }
    }
    /// |x| < `limit`; not for NaN.
    #[inline(always)]
    fn within(self, limit: f32) -> bool {
        self.abs() < Self::from_f32(limit)
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

/// [`Scalar::within`], as [`saturated_f32`]. A NaN is beyond every number.
#[inline(always)]
fn within_f32(x: f32, limit: f32) -> bool {
    x.abs().to_bits() < limit.to_bits()
}

/// [`Scalar::saturated`] without the floating-point unit's comparisons, whose flags take long to reach a branch.
#[inline(always)]
fn saturated_f32(x: f32, from: f32) -> Option<f32> {
    const SIGN: u32 = 0x8000_0000;
    let (bits, above) = (x.to_bits(), from.to_bits() + 1);
    // Up to infinity; a NaN is beyond it.
    let beyond = (bits & !SIGN).wrapping_sub(above) <= f32::INFINITY.to_bits() - above;
    beyond.then(|| f32::from_bits(bits & SIGN | 1f32.to_bits()))
}

macro_rules! float_scalar {
    ($t:ident, $sin_cos:path, $exp:path, $tanh:path, $sqrt:path, $ln:path $(, $saturated:path, $within:path)?) => {
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
            $(
                #[inline(always)]
                fn saturated(self, from: f32) -> Option<Self> {
                    $saturated(self, from)
                }
                #[inline(always)]
                fn within(self, limit: f32) -> bool {
                    $within(self, limit)
                }
            )?
        }
    };
}

float_scalar!(
    f32,
    math::sin_cos_f32,
    math::exp_f32,
    math::tanh_f32,
    math::sqrt_f32,
    math::ln_f32,
    saturated_f32,
    within_f32
);
float_scalar!(
    f64,
    math::sin_cos_f64,
    math::exp_f64,
    math::tanh_f64,
    math::sqrt_f64,
    math::ln_f64
);

#[cfg(test)]
mod tests {
    use super::*;

    /// The same decision by bits as by comparison, at the edges and beyond.
    #[test]
    fn saturation_by_bits_is_saturation_by_comparison() {
        let next = |x: f32, by: u32| f32::from_bits(x.to_bits() + by);
        for x in [
            0.0,
            1.0,
            19.9,
            20.0,
            next(20.0, 1),
            21.0,
            1e30,
            f32::INFINITY,
        ] {
            for x in [x, -x] {
                let by_comparison = if x > 20.0 {
                    Some(1.0)
                } else if x < -20.0 {
                    Some(-1.0)
                } else {
                    None
                };
                assert_eq!(x.saturated(20.0), by_comparison, "{x}");
            }
        }
        for x in [
            0.0,
            -0.0,
            1e-40,
            0.015,
            1.0 / 64.0,
            next(1.0 / 64.0, 1),
            1e30,
            f32::INFINITY,
        ] {
            let limit = 1.0 / 64.0;
            assert_eq!(
                (x.within(limit), (-x).within(limit)),
                (x < limit, x < limit),
                "{x}"
            );
        }
        assert!(!f32::NAN.within(1.0) && !f64::NAN.within(1.0));
        assert_eq!(f32::NAN.saturated(20.0), None);
        assert_eq!(f32::from_bits(0xffc0_0000).saturated(20.0), None);
        assert_eq!((-21.0f64).saturated(20.0), Some(-1.0));
    }
}
