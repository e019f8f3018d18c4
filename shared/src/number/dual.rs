//! Forward-mode dual numbers: a value and its N partial derivatives, carried through the model.
//!
//! `Dual<f32, 4>` gives a Jacobian in one pass, `Dual<Dual<f64, 2>, 2>` second derivatives.
//! Comparisons look at the value only: a dual takes the branch its value takes.

use core::cmp::Ordering;
use core::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::number::scalar::Scalar;
use crate::number::words::{Path, Put, Words};

/// `re + Σ du[i]·εᵢ`, εᵢ·εⱼ = 0.
#[derive(Clone, Copy, Debug)]
pub struct Dual<S, const N: usize> {
    pub re: S,
    pub du: [S; N],
}

impl<S: Scalar, const N: usize> Dual<S, N> {
    /// A constant: all derivatives zero.
    #[inline(always)]
    pub fn constant(re: S) -> Self {
        Dual {
            re,
            du: [S::ZERO; N],
        }
    }

    /// The independent variable number `index`; an index outside 0..N is a constant.
    #[inline(always)]
    pub fn variable(re: S, index: usize) -> Self {
        let mut du = [S::ZERO; N];
        if let Some(d) = du.get_mut(index) {
            *d = S::ONE;
        }
        Dual { re, du }
    }

    /// Chain rule: `re = f(self.re)`, `slope = f'(self.re)`.
    #[inline(always)]
    fn chain(self, re: S, slope: S) -> Self {
        let mut du = self.du;
        for d in &mut du {
            *d = slope * *d;
        }
        Dual { re, du }
    }

    #[inline(always)]
    fn zip(self, other: Self, re: S, f: impl Fn(S, S) -> S) -> Self {
        let mut du = self.du;
        for (a, b) in du.iter_mut().zip(other.du) {
            *a = f(*a, b);
        }
        Dual { re, du }
    }
}

impl<S: Words, const N: usize> Words for Dual<S, N> {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        self.re.save(put);
        self.du.save(put);
    }
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        let re = S::load(get);
        Dual {
            re,
            du: Words::load(get),
        }
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        S::names(&Path::Field(path, "re"), visit);
        <[S; N]>::names(&Path::Field(path, "du"), visit);
    }
}

impl<S: PartialEq, const N: usize> PartialEq for Dual<S, N> {
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}

impl<S: PartialOrd, const N: usize> PartialOrd for Dual<S, N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<S: Scalar, const N: usize> Add for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.zip(o, self.re + o.re, |a, b| a + b)
    }
}

impl<S: Scalar, const N: usize> Sub for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.zip(o, self.re - o.re, |a, b| a - b)
    }
}

// The product rule is a sum.
#[allow(clippy::suspicious_arithmetic_impl)]
impl<S: Scalar, const N: usize> Mul for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.zip(o, self.re * o.re, |a, b| a * o.re + self.re * b)
    }
}

impl<S: Scalar, const N: usize> Div for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let re = self.re / o.re;
        let inv = S::ONE / o.re;
        self.zip(o, re, |a, b| (a - re * b) * inv)
    }
}

impl<S: Scalar, const N: usize> Neg for Dual<S, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.chain(-self.re, -S::ONE)
    }
}

impl<S: Scalar, const N: usize> AddAssign for Dual<S, N> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<S: Scalar, const N: usize> SubAssign for Dual<S, N> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<S: Scalar, const N: usize> MulAssign for Dual<S, N> {
    #[inline(always)]
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}

impl<S: Scalar, const N: usize> Scalar for Dual<S, N> {
    const ZERO: Self = Dual {
        re: S::ZERO,
        du: [S::ZERO; N],
    };
    const ONE: Self = Dual {
        re: S::ONE,
        du: [S::ZERO; N],
    };

    #[inline(always)]
    fn lit(x: f64) -> Self {
        Self::constant(S::lit(x))
    }
    #[inline(always)]
    fn from_f32(x: f32) -> Self {
        Self::constant(S::from_f32(x))
    }
    fn to_f64(self) -> f64 {
        self.re.to_f64()
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.re.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.re.exp();
        self.chain(e, e)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        let t = self.re.tanh();
        self.chain(t, S::ONE - t * t)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let r = self.re.sqrt();
        self.chain(r, S::lit(0.5) / r)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.re.ln(), S::ONE / self.re)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        if self.re < S::ZERO { -self } else { self }
    }
    fn is_finite(self) -> bool {
        self.re.is_finite() && self.du.iter().all(|d| d.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type D = Dual<f64, 2>;

    /// Every operation against its derivative by central differences, in both arguments.
    #[test]
    fn derivatives_agree_with_differences() {
        let cases: [fn(D, D) -> D; 10] = [
            |x, y| x + y * x,
            |x, y| x - y / x,
            |x, y| -(x * y).sin_cos().0,
            |x, y| (x / y).sin_cos().1,
            |x, y| (x * y).exp(),
            |x, y| (x - y).tanh(),
            |x, y| (x + y).sqrt(),
            |x, y| (x * y).ln(),
            |x, y| (y - x).abs() * x.square(),
            |x, y| x.max(y) * x.min(y) * D::lit(3.0),
        ];
        let (x, y, h) = (0.7, 1.3, 1e-6);
        for (i, f) in cases.iter().enumerate() {
            let value = |x: f64, y: f64| f(D::constant(x), D::constant(y)).re;
            let dual = f(D::variable(x, 0), D::variable(y, 1));
            let by_x = (value(x + h, y) - value(x - h, y)) / (2.0 * h);
            let by_y = (value(x, y + h) - value(x, y - h)) / (2.0 * h);
            assert!((dual.du[0] - by_x).abs() < 1e-8, "case {i}, x");
            assert!((dual.du[1] - by_y).abs() < 1e-8, "case {i}, y");
            assert!(dual.is_finite());
        }
    }

    #[test]
    fn nested_duals_give_second_derivatives() {
        type DD = Dual<Dual<f64, 1>, 1>;
        let x = DD::variable(Dual::variable(0.4, 0), 0);
        let y = x * x * x;
        assert!((y.du[0].re - 3.0 * 0.16).abs() < 1e-15);
        assert!((y.du[0].du[0] - 6.0 * 0.4).abs() < 1e-15);
    }

    #[test]
    fn an_index_outside_is_a_constant() {
        assert_eq!(D::variable(2.0, 7).du, [0.0, 0.0]);
    }
}
