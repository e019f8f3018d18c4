//! Least squares by a growing triangular factor: rows are added one at a time with Givens rotations.
//!
//! Keeps R and z of the QR factorisation of all rows so far, so the condition number is that of the rows, not its
//! square, and memory does not grow with the record. Rank is decided on columns scaled to unit length: parameters come
//! in any unit.

use nalgebra::{DMatrix, DVector, Dyn, SVD};

/// Relative singular value of the scaled columns below which a direction is not determined.
const RANK: f64 = 1e-11;
/// A parameter with more than this share in an undetermined direction is not determined itself.
const SHARE: f64 = 1e-6;

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

    /// Add the equation row[..n]·x ≈ row\[n\]. `row` is used up.
    pub fn add(&mut self, row: &mut [f64]) {
        let m = self.n + 1;
        debug_assert_eq!(row.len(), m);
        self.rows += 1;
        for i in 0..m {
            if row[i] == 0.0 {
                continue;
            }
            let d = self.r[i * m + i];
            let norm = length(d, row[i]);
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

    /// Length of every column; 1 for one that is empty.
    fn lengths(&self) -> Vec<f64> {
        let m = self.matrix();
        let norm = |c: usize| m.column(c).norm();
        (0..self.n)
            .map(|c| if norm(c) > 0.0 { norm(c) } else { 1.0 })
            .collect()
    }

    /// The factor with its columns divided by `lengths`, damping rows of size √λ below it, decomposed; and its right side.
    fn scaled(&self, lengths: &[f64], lambda: f64) -> Option<(SVD<f64, Dyn, Dyn>, DVector<f64>)> {
        let mut all = Triangle::new(self.n);
        for eq in self.factor() {
            let mut row = eq.to_vec();
            for (r, l) in row.iter_mut().zip(lengths) {
                *r /= l;
            }
            all.add(&mut row);
        }
        if lambda > 0.0 {
            for c in 0..self.n {
                let mut row = vec![0.0; self.n + 1];
                row[c] = lambda.sqrt();
                all.add(&mut row);
            }
        }
        let m = self.n + 1;
        let z = DVector::from_fn(self.n, |i, _| all.r[i * m + self.n]);
        z.iter().all(|z| z.is_finite()).then_some(())?;
        Some((decompose(all.matrix())?, z))
    }

    /// The solution; directions the rows do not determine are left at 0, as is everything when the rows are not numbers.
    pub fn solve(&self) -> DVector<f64> {
        self.damped(0.0)
    }

    /// The solution with every scaled parameter held back by √λ (Levenberg and Marquardt).
    pub fn damped(&self, lambda: f64) -> DVector<f64> {
        let lengths = self.lengths();
        let solution = self.scaled(&lengths, lambda).and_then(|(svd, z)| {
            let least = RANK * svd.singular_values.max();
            svd.solve(&z, least).ok()
        });
        match solution {
            Some(x) => DVector::from_fn(self.n, |i, _| x[i] / lengths[i]),
            None => DVector::zeros(self.n),
        }
    }

    /// (JᵀJ)⁻¹. What one parameter does not show never touches the variance of another.
    pub fn inverse(&self) -> DMatrix<f64> {
        let n = self.n;
        let lengths = self.lengths();
        let parts = self
            .scaled(&lengths, 0.0)
            .and_then(|(svd, _)| Some((svd.singular_values, svd.v_t?)));
        let Some((singular, vt)) = parts else {
            return DMatrix::from_element(n, n, f64::INFINITY);
        };
        let top = singular.max();
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        let mut determined = vec![true; n];
        for (k, &s) in singular.iter().enumerate() {
            let v = vt.row(k);
            if s > RANK * top {
                matrix += v.transpose() * v / (s * s);
            } else {
                for i in 0..n {
                    determined[i] &= v[i].abs() < SHARE;
                }
            }
        }
        for i in 0..n {
            for j in 0..n {
                matrix[(i, j)] = match (determined[i] && determined[j], i == j) {
                    (true, _) => matrix[(i, j)] / (lengths[i] * lengths[j]),
                    (false, true) => f64::INFINITY,
                    (false, false) => 0.0,
                };
            }
        }
        matrix
    }

    /// The least-squares solution with the columns of `signed` kept from going below zero (Lawson and Hanson's active
    /// set), and whether each unknown is free in it. Tied unknowns are exactly 0.
    pub fn nonnegative(&self, signed: &[bool]) -> (DVector<f64>, Vec<bool>) {
        let n = self.n;
        let mut free: Vec<bool> = signed.iter().map(|s| !s).collect();
        let r = self.matrix();
        let m = n + 1;
        let z = DVector::from_fn(n, |i, _| self.r[i * m + n]);
        let mut x = self.solve_free(&free);
        for _ in 0..3 * n + 1 {
            // The tied unknown whose release lowers the cost most, if any.
            let gradient = r.transpose() * (&z - &r * &x);
            let length = |i: usize| r.column(i).norm();
            let best = (0..n)
                .filter(|&i| !free[i] && gradient[i] > 1e-12 * length(i) * z.norm())
                .max_by(|&a, &b| (gradient[a] / length(a)).total_cmp(&(gradient[b] / length(b))));
            let Some(enter) = best else { break };
            free[enter] = true;
            // Walk towards the new solution until an unknown would turn negative; tie that one.
            loop {
                let target = self.solve_free(&free);
                let blocking = (0..n)
                    .filter(|&i| signed[i] && free[i] && target[i] < 0.0)
                    .map(|i| (i, x[i] / (x[i] - target[i])))
                    .min_by(|a, b| a.1.total_cmp(&b.1));
                match blocking {
                    Some((i, part)) => {
                        x = &x + (target - &x) * part.clamp(0.0, 1.0);
                        free[i] = false;
                        x[i] = 0.0;
                    }
                    None => {
                        x = target;
                        break;
                    }
                }
            }
        }
        (x, free)
    }

    /// The solution in the free unknowns, the others held at 0.
    fn solve_free(&self, free: &[bool]) -> DVector<f64> {
        let reduced = self.reduced(free);
        let part = reduced.solve();
        let mut x = DVector::zeros(self.n);
        let places = (0..self.n).filter(|&i| free[i]);
        for (i, v) in places.zip(part.iter()) {
            x[i] = *v;
        }
        x
    }

    /// The same equations in fewer unknowns: those that are not kept are zero.
    pub fn reduced(&self, keep: &[bool]) -> Triangle {
        let count = keep.iter().filter(|k| **k).count();
        let mut out = Triangle::new(count);
        for eq in self.factor() {
            let mut row: Vec<f64> = (0..self.n).filter(|&i| keep[i]).map(|i| eq[i]).collect();
            row.push(eq[self.n]);
            out.add(&mut row);
        }
        out.rows = self.rows;
        out
    }
}

/// √(a² + b²) without overflow; the same digits on every platform.
fn length(a: f64, b: f64) -> f64 {
    let (a, b) = (a.abs(), b.abs());
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if large == 0.0 || !large.is_finite() {
        return large;
    }
    let ratio = small / large;
    large * (1.0 + ratio * ratio).sqrt()
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
        assert!(t.inverse().iter().all(|c| c.is_infinite()));
        assert_eq!(Triangle::new(0).solve().len(), 0);
        assert_eq!(Triangle::new(0).inverse().len(), 0);
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
        let c = t.inverse();
        // (JᵀJ)⁻¹ of the normal equations [[4, 6], [6, 14]].
        assert!((c[(0, 0)] - 0.7).abs() < 1e-12 && (c[(1, 1)] - 0.2).abs() < 1e-12);
    }

    /// A parameter measured in units 1e14 times larger is as well determined as before.
    #[test]
    fn units_do_not_decide_the_rank() {
        let mut t = Triangle::new(2);
        for (x, y) in [(0.0, 2.1), (1.0, 4.9), (2.0, 7.9), (3.0, 11.1)] {
            t.add(&mut [1.0, 1e-14 * x, y]);
        }
        let s = t.solve();
        assert!((s[1] * 1e-14 - 3.0).abs() < 1e-9, "{s}");
        let inverse = t.inverse();
        assert!(inverse[(0, 0)].is_finite());
        assert!((inverse[(1, 1)] * 1e-28 - 0.2).abs() < 1e-9);
    }

    /// What the rows do not show is said to be unknown, and spoils nothing else.
    #[test]
    fn an_unseen_parameter_leaves_the_others_alone() {
        let mut t = Triangle::new(4);
        for (x, y) in [(0.0, 2.1), (1.0, 4.9), (2.0, 7.9), (3.0, 11.1)] {
            // The third has no influence, the fourth none beside the second.
            t.add(&mut [1.0, x, 0.0, 2.0 * x, y]);
        }
        let inverse = t.inverse();
        assert!((inverse[(0, 0)] - 0.7).abs() < 1e-9);
        assert!((1..4).all(|i| inverse[(i, i)].is_infinite()));
        assert_eq!(inverse[(0, 2)], 0.0);
    }

    /// Tying in a fixed order would give (0, 0, …); the least squares under the constraint keep the second.
    #[test]
    fn negative_columns_are_tied_where_that_costs_least() {
        let mut t = Triangle::new(3);
        // y = 2·b − 1·c; c must be tied, b stays, a is not needed.
        for i in 0..20 {
            let u = f64::from(i) / 10.0;
            let (a, b, c) = (1.0, u, u * u * u);
            t.add(&mut [a, b, c, 2.0 * b - 0.1 * c]);
        }
        let (x, free) = t.nonnegative(&[true, true, true]);
        assert!(x.iter().all(|x| *x >= 0.0), "{x}");
        assert!(!free[2] && free[1], "{free:?}");
        // No other feasible point is better: the gradient of tied unknowns points outwards.
        let r = t.matrix();
        let z = DVector::from_fn(3, |i, _| t.factor().nth(i).unwrap()[3]);
        let g = r.transpose() * (z - &r * &x);
        for i in 0..3 {
            assert!(
                if free[i] {
                    g[i].abs() < 1e-9
                } else {
                    g[i] <= 1e-9
                },
                "{g}"
            );
        }
    }
}
