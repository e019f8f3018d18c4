//! A·x = b for a symmetric positive semi-definite A, by its eigenvalues: the pseudo-inverse of paper 003, or Levenberg–Marquardt.
//!
//! Cyclic Jacobi rotations, at most `SWEEPS` of them: work is bounded whatever the matrix. For a symmetric matrix eigenvalues are
//! singular values.

use crate::number::scalar::Scalar;

/// Sweeps over all pairs; six are enough for eight unknowns in f32.
const SWEEPS: usize = 8;

/// Eigenvalues of `a` and its eigenvectors as columns. Only the lower triangle of `a` is read.
#[allow(clippy::needless_range_loop)] // Rotations read by index.
pub fn eigen<S: Scalar, const N: usize>(a: &[[S; N]; N]) -> ([S; N], [[S; N]; N]) {
    let mut a: [[S; N]; N] =
        core::array::from_fn(|i| core::array::from_fn(|j| if j <= i { a[i][j] } else { a[j][i] }));
    let mut v = [[S::ZERO; N]; N];
    for (i, row) in v.iter_mut().enumerate() {
        row[i] = S::ONE;
    }
    for _ in 0..SWEEPS {
        let (mut off, mut diagonal) = (S::ZERO, S::ZERO);
        for i in 0..N {
            diagonal += a[i][i] * a[i][i];
            for j in 0..i {
                off += a[i][j] * a[i][j];
            }
        }
        // A matrix that is not finite ends here as well.
        if off.partial_cmp(&(S::lit(1e-15) * diagonal)) != Some(core::cmp::Ordering::Greater) {
            break;
        }
        for p in 0..N {
            for q in p + 1..N {
                // Zero, or so small that its square is none: nothing to rotate.
                if a[p][q].abs() <= S::lit(1e-18) {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (a[p][q] + a[p][q]);
                let size = S::ONE / (theta.abs() + (theta * theta + S::ONE).sqrt());
                let t = if theta < S::ZERO { -size } else { size };
                let c = S::ONE / (t * t + S::ONE).sqrt();
                let s = t * c;
                for k in 0..N {
                    let (x, y) = (a[k][p], a[k][q]);
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for k in 0..N {
                    let (x, y) = (a[p][k], a[q][k]);
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                for row in &mut v {
                    let (x, y) = (row[p], row[q]);
                    row[p] = c * x - s * y;
                    row[q] = s * x + c * y;
                }
            }
        }
    }
    (core::array::from_fn(|i| a[i][i]), v)
}

/// Eigenvalues and eigenvectors of one matrix, used for several right sides or dampings.
#[derive(Clone, Copy, Debug)]
pub struct Inverse<S, const N: usize> {
    values: [S; N],
    vectors: [[S; N]; N],
    /// Largest eigenvalue.
    pub largest: S,
}

impl<S: Scalar, const N: usize> Inverse<S, N> {
    pub fn new(a: &[[S; N]; N]) -> Self {
        let (values, vectors) = eigen(a);
        let largest = values.iter().fold(S::ZERO, |m, v| m.max(*v));
        Inverse {
            values,
            vectors,
            largest,
        }
    }

    /// x = Σ v·(vᵀb)/(λ + damping) over the eigenvalues above `cut` times the largest.
    pub fn solve(&self, b: &[S; N], cut: S, damping: S) -> [S; N] {
        let mut x = [S::ZERO; N];
        for (j, value) in self.values.iter().enumerate() {
            if value.partial_cmp(&(cut * self.largest)) != Some(core::cmp::Ordering::Greater) {
                continue;
            }
            let mut along = S::ZERO;
            for (row, b) in self.vectors.iter().zip(b) {
                along += row[j] * *b;
            }
            let size = along / (*value + damping);
            for (x, row) in x.iter_mut().zip(&self.vectors) {
                *x += row[j] * size;
            }
        }
        x
    }

    /// Eigenvalues above `cut` times the largest: directions the residuals show.
    pub fn rank(&self, cut: S) -> usize {
        self.values
            .iter()
            .filter(|v| **v > cut * self.largest)
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hilbert matrices are as ill-conditioned as normal equations get: V·Λ·Vᵀ gives them back.
    #[test]
    fn eigenvectors_give_the_matrix_back() {
        let a: [[f64; 6]; 6] =
            core::array::from_fn(|i| core::array::from_fn(|j| 1.0 / (1.0 + i as f64 + j as f64)));
        let (values, v) = eigen(&a);
        for i in 0..6 {
            for j in 0..6 {
                let back: f64 = (0..6).map(|k| v[i][k] * values[k] * v[j][k]).sum();
                assert!((back - a[i][j]).abs() < 1e-13, "{i} {j}: {back}");
            }
        }
        let smallest = values.iter().fold(f64::MAX, |m, v| m.min(*v));
        assert!(
            (smallest - 1.0827994845655489e-7).abs() < 1e-13,
            "{smallest:e}"
        );
    }

    #[test]
    fn what_is_not_seen_stays_where_it_was() {
        // Rank one along (1, 1): the answer has the smallest norm.
        let a = [[1.0f32, 1.0], [1.0, 1.0]];
        let inverse = Inverse::new(&a);
        let x = inverse.solve(&[2.0, 2.0], 1e-6, 0.0);
        assert!(
            (x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6,
            "{x:?}"
        );
        assert_eq!(inverse.rank(1e-6), 1);
        let damped = inverse.solve(&[2.0, 2.0], 1e-6, 2.0);
        assert!((damped[0] - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_matrix_that_is_not_finite_gives_no_step() {
        let x = Inverse::new(&[[f32::NAN, 0.0], [0.0, 1.0]]).solve(&[1.0, 1.0], 1e-6, 0.0);
        assert!(x[0].is_nan() || x[0] == 0.0);
        assert_eq!(
            Inverse::new(&[[0.0f32; 3]; 3]).solve(&[1.0; 3], 1e-6, 0.0),
            [0.0; 3]
        );
    }
}
