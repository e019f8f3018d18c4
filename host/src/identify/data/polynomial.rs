//! The local polynomial: least squares of a few samples about one time, the only one of its kind here.
//!
//! In: samples (time \[s\], value), the time the polynomial is about and the half-width of the samples \[s\]. Out: its value and
//! derivatives there, and what it leaves.

use nalgebra::{SMatrix, SVector};

/// Most coefficients of a polynomial here.
const MOST: usize = 5;

/// A polynomial with C coefficients about one time.
#[derive(Clone, Copy, Debug)]
pub struct Polynomial<const C: usize> {
    /// Value and derivatives over their factorials: x(t) = Σ c\[k\]·(t − at)^k.
    pub coefficients: [f64; C],
    /// Sum of the squared residuals.
    pub rest: f64,
    pub samples: usize,
}

impl<const C: usize> Polynomial<C> {
    /// Through `samples` within about ±`half` \[s\] of `at` \[s\]. None: fewer samples than the polynomial needs.
    pub fn fit(
        samples: impl Iterator<Item = (f64, f64)> + Clone,
        at: f64,
        half: f64,
    ) -> Option<Self> {
        const { assert!(C <= MOST) };
        // Values are taken from the first one: sums of small numbers.
        let base = samples.clone().next()?.1;
        let mut power = [0.0; 2 * MOST - 1];
        let mut rhs = SVector::<f64, C>::zeros();
        let (mut square, mut count) = (0.0, 0);
        for (t, x) in samples {
            let (u, x) = ((t - at) / half, x - base);
            let mut p = 1.0;
            for k in 0..2 * C - 1 {
                power[k] += p;
                if k < C {
                    rhs[k] += p * x;
                }
                p *= u;
            }
            square += x * x;
            count += 1;
        }
        let gram = SMatrix::<f64, C, C>::from_fn(|i, j| power[i + j]);
        let inverse = gram.try_inverse()?;
        let c = inverse * rhs;
        let mut coefficients = [0.0; C];
        let mut unit = 1.0;
        for k in 0..C {
            coefficients[k] = c[k] / unit;
            unit *= half;
        }
        coefficients[0] += base;
        Some(Polynomial {
            coefficients,
            rest: (square - c.dot(&rhs)).max(0.0),
            samples: count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_is_found_and_what_it_leaves() {
        let samples = (0..9).map(|i| {
            let t = 0.1 * f64::from(i);
            let noise = if i == 4 { 0.01 } else { 0.0 };
            (
                t,
                3.0 + 2.0 * (t - 0.4) - 5.0 * (t - 0.4) * (t - 0.4) + noise,
            )
        });
        let p = Polynomial::<3>::fit(samples, 0.4, 0.4).unwrap();
        assert!((p.coefficients[1] - 2.0).abs() < 1e-9);
        assert!((p.coefficients[2] + 5.0).abs() < 0.2);
        // The middle sample keeps 1 − 59/231 of its error (Savitzky and Golay's table: nine samples, parabola).
        let kept = 1.0 - 59.0 / 231.0;
        assert!((p.rest - 1e-4 * kept).abs() < 1e-8, "{p:?}");
        assert!(Polynomial::<3>::fit([(0.0, 1.0), (0.0, 2.0)].into_iter(), 0.0, 1.0).is_none());
    }
}
