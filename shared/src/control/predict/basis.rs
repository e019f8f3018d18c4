//! Functions of time whose weighted sum is the input: u(τ) = Σ Uᵢ·bᵢ(τ), 0 ≤ τ.
//!
//! Laguerre functions (paper 003, eq. 25 and 38): bᵢ(τ) = e^(−τ/T)·Lᵢ(2τ/T), every bᵢ(0) = 1. They solve ḃ = A·b with the paper's A, a
//! lower-triangular Toeplitz matrix, so e^(A·t) is one as well and its entries follow from the functions themselves:
//! e₀ = b₀(t), e_d = b_d(t) − b_(d−1)(t). The plan that continues another one after t has the weights e^(Aᵀ·t)·U (eq. 32, exact).
//!
//! Hats: piecewise linear between knots every `spacing` seconds. Their continuation is exact for whole knots; between knots the new plan
//! takes the old one's values at its own knots.

use crate::number::scalar::Scalar;

/// Time in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis<S> {
    /// Time constant T_U.
    Laguerre { time: S },
    /// Distance of the knots.
    Hat { spacing: S },
}

impl<S: Scalar> Basis<S> {
    /// b(τ).
    pub fn at<const N: usize>(&self, tau: S) -> [S; N] {
        match *self {
            Basis::Laguerre { time } => {
                let t = tau / time;
                let (x, decay) = (t + t, (-t).exp());
                // (k+1)·L_(k+1) = (2k+1 − x)·L_k − k·L_(k−1)
                let (mut before, mut now) = (S::ZERO, S::ONE);
                let mut k = S::ZERO;
                core::array::from_fn(|_| {
                    let value = decay * now;
                    let next = ((k + k + S::ONE - x) * now - k * before) / (k + S::ONE);
                    (before, now) = (now, next);
                    k += S::ONE;
                    value
                })
            }
            Basis::Hat { spacing } => {
                let place = tau / spacing;
                let mut knot = S::ZERO;
                core::array::from_fn(|_| {
                    let value = (S::ONE - (place - knot).abs()).max(S::ZERO);
                    knot += S::ONE;
                    value
                })
            }
        }
    }

    /// b at 0, `spacing`, 2·`spacing` …: one row each.
    pub fn fill<const N: usize>(&self, spacing: S, rows: &mut [[S; N]]) {
        let mut k = S::ZERO;
        for row in rows {
            *row = self.at(k * spacing);
            k += S::ONE;
        }
    }

    /// Weights of the plan that goes on where `weights` is after `t`.
    pub fn continued<const N: usize>(&self, weights: &[S; N], t: S) -> [S; N] {
        match *self {
            Basis::Laguerre { .. } => {
                let mut entries: [S; N] = self.at(t);
                for d in (1..N).rev() {
                    let before = entries[d - 1];
                    entries[d] -= before;
                }
                core::array::from_fn(|j| {
                    let mut sum = S::ZERO;
                    for (weight, entry) in weights[j..].iter().zip(&entries) {
                        sum += *entry * *weight;
                    }
                    sum
                })
            }
            Basis::Hat { spacing } => {
                let mut knot = S::ZERO;
                core::array::from_fn(|_| {
                    let value = value(&self.at(knot * spacing + t), weights);
                    knot += S::ONE;
                    value
                })
            }
        }
    }
}

/// Σ Uᵢ·bᵢ.
#[inline(always)]
pub fn value<S: Scalar, const N: usize>(row: &[S; N], weights: &[S; N]) -> S {
    let mut sum = S::ZERO;
    for (b, u) in row.iter().zip(weights) {
        sum += *b * *u;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ḃ = A·b with the matrix of eq. (38), by central differences.
    #[test]
    fn laguerre_solves_the_papers_equation() {
        let (time, h) = (0.2, 1e-6);
        let basis = Basis::Laguerre { time };
        for tau in [0.0, 0.03, 0.2, 0.7, 1.5] {
            let b: [f64; 5] = basis.at(tau);
            let (plus, minus): ([f64; 5], [f64; 5]) = (basis.at(tau + h), basis.at(tau - h));
            for i in 0..5 {
                let slope = (plus[i] - minus[i]) / (2.0 * h);
                let wanted = -(b[i] + 2.0 * b[..i].iter().sum::<f64>()) / time;
                assert!((slope - wanted).abs() < 1e-7, "{tau} {i}: {slope} {wanted}");
            }
        }
        assert_eq!(basis.at::<3>(0.0), [1.0; 3]);
    }

    #[test]
    fn a_continued_plan_is_the_same_input() {
        let weights = [0.7, -1.3, 0.4, 2.0, -0.2, 0.9];
        let laguerre = Basis::Laguerre { time: 0.25 };
        let hat = Basis::Hat { spacing: 0.2 };
        for (basis, t) in [(laguerre, 0.1), (laguerre, 0.37), (hat, 0.2), (hat, 0.4)] {
            let next = basis.continued(&weights, t);
            for k in 0..60 {
                let tau = 0.02 * f64::from(k);
                let (old, new) = (
                    value(&basis.at(tau + t), &weights),
                    value(&basis.at(tau), &next),
                );
                assert!(
                    (old - new).abs() < 1e-13,
                    "{basis:?} {t} {tau}: {old} {new}"
                );
            }
        }
    }

    #[test]
    fn hats_go_through_their_weights() {
        let basis = Basis::Hat { spacing: 0.5 };
        let weights = [1.0, 3.0, -2.0];
        assert_eq!(value(&basis.at(0.5), &weights), 3.0);
        assert_eq!(value(&basis.at(0.75), &weights), 0.5);
        assert_eq!(value(&basis.at(9.0), &weights), 0.0);
    }
}
