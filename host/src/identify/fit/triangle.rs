//! Least squares by a growing triangular factor: rows are added one at a time with Givens rotations.
//!
//! Keeps R and z of the QR factorisation of all rows so far, so the condition number is that of the rows, not its
//! square, and memory does not grow with the record.

use nalgebra::{DMatrix, DVector, Dyn, SVD};

/// R·x ≈ z for n unknowns, and the squared residual that no x can remove.
#[derive(Clone, Debug)]
pub struct Triangle {
    n: usize,
    /// Upper triangular (n+1)×(n+1), row major; last column is z, last diagonal the residual norm.
    r: Vec<f64>,
    pub rows: usize,
}

impl Triangle {
    pub fn new(n: usize) -> Triangle {
        Triangle {
            n,
            r: vec![0.0; (n + 1) * (n + 1)],
            rows: 0,
        }
    }

    /// Add the equation row[..n]·x ≈ row[n]. `row` is used up.
    pub fn add(&mut self, row: &mut [f64]) {
        let m = self.n + 1;
        debug_assert_eq!(row.len(), m);
        self.rows += 1;
        for i in 0..m {
            if row[i] == 0.0 {
                continue;
            }
            let d = self.r[i * m + i];
            let norm = d.hypot(row[i]);
            let (c, s) = (d / norm, row[i] / norm);
            for k in i..m {
                let (a, b) = (self.r[i * m + k], row[k]);
                self.r[i * m + k] = c * a + s * b;
                row[k] = c * b - s * a;
            }
        }
    }

    /// Rows of the factor, each n+1 long: equations equivalent to all that were added.
    pub fn factor(&self) -> impl Iterator<Item = &[f64]> {
        self.r.chunks_exact(self.n + 1)
    }

    /// Sum of squared residuals at the solution.
    pub fn residual(&self) -> f64 {
        self.r.last().map_or(0.0, |x| x * x)
    }

    pub fn matrix(&self) -> DMatrix<f64> {
        let m = self.n + 1;
        DMatrix::from_fn(self.n, self.n, |i, j| self.r[i * m + j])
    }

    /// The solution; directions the rows do not determine (relative singular value below 1e-11) are left at 0, as is
    /// everything when the rows are not numbers.
    pub fn solve(&self) -> DVector<f64> {
        let m = self.n + 1;
        let z = DVector::from_fn(self.n, |i, _| self.r[i * m + self.n]);
        decompose(self.matrix())
            .filter(|_| z.iter().all(|z| z.is_finite()))
            .and_then(|svd| svd.solve(&z, 1e-11 * svd.singular_values.max()).ok())
            .unwrap_or_else(|| DVector::zeros(self.n))
    }

    /// (JᵀJ)⁻¹; undetermined directions get infinite variance.
    pub fn covariance(&self) -> DMatrix<f64> {
        let n = self.n;
        let unknown = || DMatrix::from_element(n, n, f64::INFINITY);
        let Some(svd) = decompose(self.matrix()) else {
            return unknown();
        };
        let Some(vt) = svd.v_t else {
            return unknown();
        };
        let top = svd.singular_values.max();
        let mut c = DMatrix::<f64>::zeros(n, n);
        for (k, &s) in svd.singular_values.iter().enumerate() {
            let v = vt.row(k);
            let w = if s > 1e-11 * top {
                1.0 / (s * s)
            } else {
                1e300
            };
            c += v.transpose() * v * w;
        }
        c
    }
}

/// Singular values and vectors; none of an empty matrix or one that is not finite, which would never be decomposed.
pub fn decompose(m: DMatrix<f64>) -> Option<SVD<f64, Dyn, Dyn>> {
    let usable = !m.is_empty() && m.iter().all(|x| x.is_finite());
    usable
        .then(|| SVD::try_new(m, true, true, f64::EPSILON, 10_000))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not a number, and nothing at all, end without an answer instead of never.
    #[test]
    fn what_cannot_be_solved_is_left_alone() {
        let mut t = Triangle::new(2);
        t.add(&mut [1.0, f64::NAN, 1.0]);
        assert_eq!(t.solve().as_slice(), [0.0, 0.0]);
        assert!(t.covariance().iter().all(|c| c.is_infinite()));
        assert_eq!(Triangle::new(0).solve().len(), 0);
        assert_eq!(Triangle::new(0).covariance().len(), 0);
    }

    #[test]
    fn rows_give_the_least_squares_solution() {
        // y = 2 + 3x with residuals that sum to zero against both columns.
        let data = [(0.0, 2.1), (1.0, 4.9), (2.0, 7.9), (3.0, 11.1)];
        let mut t = Triangle::new(2);
        for (x, y) in data {
            t.add(&mut [1.0, x, y]);
        }
        let s = t.solve();
        assert!(
            (s[0] - 2.0).abs() < 1e-12 && (s[1] - 3.0).abs() < 1e-12,
            "{s}"
        );
        assert!((t.residual() - 0.04).abs() < 1e-12);
        let c = t.covariance();
        // (JᵀJ)⁻¹ of the normal equations [[4, 6], [6, 14]].
        assert!((c[(0, 0)] - 0.7).abs() < 1e-12 && (c[(1, 1)] - 0.2).abs() < 1e-12);
    }
}
