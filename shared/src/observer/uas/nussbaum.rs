//! Nussbaum functions N(k): gains that change sign for ever, so that a loop of unknown direction is found.
//!
//! ```text
//! MittagLeffler   N(k) = E3(−λ·k³) = ⅓·e^(−κ) + ⅔·e^(κ/2)·cos(√3/2·κ),  κ = λ^(1/3)·k     (paper 000 eqs. 12, 21)
//! CosSqrt         N(k) = k·cos√|k|                                                        (13)
//! SquareCos       N(k) = k²·cos|k|                                                        (14)
//! CosExp          N(k) = cos(π·k/2)·e^(k²)                                                (15)
//! ```
//!
//! The observer needs N at four points per tick that differ by tiny steps of k. [`Function::expand`] evaluates N
//! and its first two derivatives once; [`Expansion::at`] is the Taylor polynomial, exact to rounding because the
//! third-order rest is (|e|²·dt)³·N‴/6.

use serde::{Deserialize, Serialize};

use crate::impl_words;
use crate::number::scalar::Scalar;

/// Which function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// E3(−λk³), the paper's choice.
    #[default]
    MittagLeffler,
    /// k·cos√|k|.
    CosSqrt,
    /// k²·cos|k|.
    SquareCos,
    /// cos(πk/2)·e^(k²).
    CosExp,
}

/// A function with its scale.
#[derive(Clone, Copy, Debug)]
pub struct Function<S> {
    kind: Kind,
    /// λ^(1/3) for Mittag-Leffler, 1 for the others.
    scale: S,
}

/// N, N′, N″ at one k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expansion<S> {
    pub n: S,
    pub slope: S,
    pub curvature: S,
}
impl_words!(Expansion<S> { n, slope, curvature });

impl<S: Scalar> Expansion<S> {
    /// N(k + dk).
    #[inline(always)]
    pub fn at(&self, dk: S) -> S {
        self.n + dk * (self.slope + S::lit(0.5) * dk * self.curvature)
    }
}

impl<S: Scalar> Function<S> {
    /// `lambda` > 0 scales the argument of the Mittag-Leffler function; the others have no such parameter.
    pub fn new(kind: Kind, lambda: f32) -> Self {
        let scale = match kind {
            Kind::MittagLeffler => (S::from_f32(lambda).ln() * S::lit(1.0 / 3.0)).exp(),
            _ => S::ONE,
        };
        Function { kind, scale }
    }

    /// N(k).
    pub fn value(&self, k: S) -> S {
        self.expand(k).n
    }

    /// N, N′ and N″ at `k` ≥ 0.
    #[inline]
    pub fn expand(&self, k: S) -> Expansion<S> {
        match self.kind {
            Kind::MittagLeffler => mittag_leffler(k, self.scale),
            Kind::CosSqrt => cos_sqrt(k),
            Kind::SquareCos => square_cos(k),
            Kind::CosExp => cos_exp(k),
        }
    }
}

/// y = E3(−κ³) solves y‴ = −y: with a = ⅓e^(−κ), c + i·s = ⅔e^(κ/2)·e^(i√3/2·κ),
/// y = a + c, y′ = −a + c/2 − √3/2·s, y″ = a − c/2 − √3/2·s.
#[inline(always)]
fn mittag_leffler<S: Scalar>(k: S, scale: S) -> Expansion<S> {
    let half_sqrt3 = S::lit(0.866_025_403_784_438_6);
    let x = scale * k;
    let grow = (S::lit(0.5) * x).exp();
    let a = S::lit(1.0 / 3.0) / (grow * grow);
    let (sin, cos) = (half_sqrt3 * x).sin_cos();
    let c = S::lit(2.0 / 3.0) * grow * cos;
    let s = S::lit(2.0 / 3.0) * grow * sin * half_sqrt3;
    let half_c = S::lit(0.5) * c;
    Expansion {
        n: a + c,
        slope: scale * (half_c - a - s),
        curvature: scale * scale * (a - half_c - s),
    }
}

/// With r = √k: N = k·cos r, N′ = cos r − r/2·sin r, N″ = −(3·sin r/r + cos r)/4.
#[inline(always)]
fn cos_sqrt<S: Scalar>(k: S) -> Expansion<S> {
    let r = k.abs().sqrt();
    let (sin, cos) = r.sin_cos();
    let sinc = if r > S::ZERO { sin / r } else { S::ONE };
    Expansion {
        n: k * cos,
        slope: cos - S::lit(0.5) * r * sin,
        curvature: S::lit(-0.25) * (S::lit(3.0) * sinc + cos),
    }
}

/// N = k²·cos k, N′ = 2k·cos k − k²·sin k, N″ = (2 − k²)·cos k − 4k·sin k.
#[inline(always)]
fn square_cos<S: Scalar>(k: S) -> Expansion<S> {
    let (sin, cos) = k.sin_cos();
    let k2 = k * k;
    Expansion {
        n: k2 * cos,
        slope: S::lit(2.0) * k * cos - k2 * sin,
        curvature: (S::lit(2.0) - k2) * cos - S::lit(4.0) * k * sin,
    }
}

/// With h = π/2: N = cos(hk)·e^(k²), N′ = (2k·cos − h·sin)·e^(k²),
/// N″ = ((2 + 4k² − h²)·cos − 4hk·sin)·e^(k²).
#[inline(always)]
fn cos_exp<S: Scalar>(k: S) -> Expansion<S> {
    let h = S::lit(core::f64::consts::FRAC_PI_2);
    let (sin, cos) = (h * k).sin_cos();
    let k2 = k * k;
    let grow = k2.exp();
    Expansion {
        n: cos * grow,
        slope: (S::lit(2.0) * k * cos - h * sin) * grow,
        curvature: ((S::lit(2.0) + S::lit(4.0) * k2 - h * h) * cos - S::lit(4.0) * h * k * sin)
            * grow,
    }
}
