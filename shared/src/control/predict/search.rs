//! Least squares: Gauss–Newton with pseudo-inverse and halved steps (paper 003, eqs. 13–19), or Levenberg–Marquardt; capped.
//!
//! One iteration is one pass with sensitivities, one eigen-decomposition and up to 1 + `halvings` passes without. A step that does not
//! lower the cost is halved (or damped more); when no step does, the search ends where it was. Nothing here can loop longer than
//! `iterations`·(2 + `halvings`) passes.
#![allow(clippy::needless_range_loop)] // Matrix equations read by index.

use super::STATES;
use super::eigen::Inverse;
use super::tangent::Columns;
use crate::number::scalar::Scalar;

/// Σ w·r², ½ its gradient and its Gauss–Newton matrix (lower triangle), as residuals come in.
#[derive(Clone, Copy, Debug)]
pub struct Normal<S, const N: usize> {
    pub matrix: [[S; N]; N],
    pub gradient: [S; N],
    pub cost: S,
}

impl<S: Scalar, const N: usize> Normal<S, N> {
    pub fn zero() -> Self {
        Normal {
            matrix: [[S::ZERO; N]; N],
            gradient: [S::ZERO; N],
            cost: S::ZERO,
        }
    }

    /// One residual `r` with its derivatives.
    #[inline(always)]
    pub fn add(&mut self, weight: S, r: S, by: &[S; N]) {
        self.cost += weight * r * r;
        for i in 0..N {
            let wi = weight * by[i];
            self.gradient[i] += wi * r;
            for j in 0..=i {
                self.matrix[i][j] += wi * by[j];
            }
        }
    }

    /// All residuals of one state at once, given as their quadratic form in δx.
    #[inline(always)]
    pub fn add_quadratic(&mut self, form: &Quadratic<S>, dx: &Columns<S, N>) {
        self.cost += form.cost;
        for i in 0..N {
            let m: [S; STATES] = core::array::from_fn(|k| {
                let row = &form.matrix[k];
                row[0] * dx[0][i] + row[1] * dx[1][i] + row[2] * dx[2][i] + row[3] * dx[3][i]
            });
            let g = &form.gradient;
            self.gradient[i] +=
                g[0] * dx[0][i] + g[1] * dx[1][i] + g[2] * dx[2][i] + g[3] * dx[3][i];
            for j in 0..=i {
                self.matrix[i][j] +=
                    m[0] * dx[0][j] + m[1] * dx[1][j] + m[2] * dx[2][j] + m[3] * dx[3][j];
            }
        }
    }
}

/// Σ w·r², Σ w·r·∂r/∂x and Σ w·(∂r/∂x)(∂r/∂x)ᵀ at one state.
#[derive(Clone, Copy, Debug)]
pub struct Quadratic<S> {
    pub matrix: [[S; STATES]; STATES],
    pub gradient: [S; STATES],
    pub cost: S,
}

impl<S: Scalar> Quadratic<S> {
    pub fn zero() -> Self {
        Quadratic {
            matrix: [[S::ZERO; STATES]; STATES],
            gradient: [S::ZERO; STATES],
            cost: S::ZERO,
        }
    }

    #[inline(always)]
    pub fn add(&mut self, weight: S, r: S, by: &[S; STATES]) {
        self.cost += weight * r * r;
        for i in 0..STATES {
            let wi = weight * by[i];
            self.gradient[i] += wi * r;
            for j in 0..STATES {
                self.matrix[i][j] += wi * by[j];
            }
        }
    }
}

/// A least-squares problem in N unknowns.
pub trait Problem<S: Scalar, const N: usize> {
    /// Cost, gradient and matrix at `at`.
    fn linearised(&self, at: &[S; N]) -> Normal<S, N>;
    /// Cost only: a fraction of the work.
    fn cost(&self, at: &[S; N]) -> S;
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search<S> {
    /// Most passes with sensitivities.
    pub iterations: u32,
    /// Most times a step is shortened.
    pub halvings: u32,
    /// Factor on a step that does not lower the cost, β of the paper.
    pub shorter: S,
    /// The search has ended when an iteration lowers the cost by less than this part of it …
    pub relative: S,
    /// … or the cost is below this.
    pub absolute: S,
    /// Eigenvalues below this part of the largest are dropped.
    pub cut: S,
    /// Levenberg–Marquardt: first damping, as a part of the largest eigenvalue; 0: Gauss–Newton with shorter steps.
    pub damping: S,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No further progress worth an iteration.
    Converged,
    /// No step along the direction lowers the cost: a minimum to rounding, or shorter steps than allowed would be needed.
    Stuck,
    /// The cap: what is there is the best so far.
    Capped,
    /// The cost at the start was not finite: nothing was changed.
    NotFinite,
}

/// What a search did.
#[derive(Clone, Copy, Debug)]
pub struct Done<S> {
    /// Passes with sensitivities, passes without.
    pub iterations: u32,
    pub passes: u32,
    /// At the last pass.
    pub cost: S,
    pub end: End,
}

/// Smallest and largest damping, and what a failed and a good step do to it.
const DAMPING: [f64; 4] = [1e-9, 1e3, 4.0, 0.25];

/// Lower the cost from `at` on; `at` is the best point found.
pub fn minimise<S: Scalar, const N: usize>(
    problem: &impl Problem<S, N>,
    at: &mut [S; N],
    search: &Search<S>,
) -> Done<S> {
    let [least, most, more, less] = DAMPING.map(S::lit);
    let mut damping = search.damping;
    let damped = damping > S::ZERO;
    let mut done = Done {
        iterations: 0,
        passes: 0,
        cost: S::ZERO,
        end: End::Capped,
    };
    let mut last: Option<S> = None;
    while done.iterations < search.iterations {
        let normal = problem.linearised(at);
        done.iterations += 1;
        done.cost = normal.cost;
        if !normal.cost.is_finite() {
            done.end = End::NotFinite;
            return done;
        }
        let settled = last.is_some_and(|last| last - normal.cost < search.relative * last);
        if settled || normal.cost < search.absolute {
            done.end = End::Converged;
            return done;
        }
        last = Some(normal.cost);
        let inverse = Inverse::new(&normal.matrix);
        let full = inverse.solve(&normal.gradient, search.cut, damping * inverse.largest);
        let (start, mut step, mut length) = (*at, full, S::ONE);
        let mut better = false;
        for _ in 0..=search.halvings {
            *at = core::array::from_fn(|i| start[i] - length * step[i]);
            done.passes += 1;
            let cost = problem.cost(at);
            if cost.is_finite() && cost < normal.cost {
                better = true;
                done.cost = cost;
                break;
            }
            if damped {
                damping = (damping * more).min(most);
                step = inverse.solve(&normal.gradient, search.cut, damping * inverse.largest);
            } else {
                length *= search.shorter;
            }
        }
        if !better {
            *at = start;
            done.end = End::Stuck;
            return done;
        }
        if damped {
            damping = (damping * less).max(least);
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley as residuals 10·(y − x²) and 1 − x.
    struct Valley;
    impl Problem<f64, 2> for Valley {
        fn linearised(&self, at: &[f64; 2]) -> Normal<f64, 2> {
            let mut n = Normal::zero();
            n.add(1.0, 10.0 * (at[1] - at[0] * at[0]), &[-20.0 * at[0], 10.0]);
            n.add(1.0, 1.0 - at[0], &[-1.0, 0.0]);
            n
        }
        fn cost(&self, at: &[f64; 2]) -> f64 {
            100.0 * (at[1] - at[0] * at[0]).square() + (1.0 - at[0]).square()
        }
    }

    const SEARCH: Search<f64> = Search {
        iterations: 60,
        halvings: 20,
        shorter: 0.5,
        relative: 1e-9,
        absolute: 1e-20,
        cut: 1e-12,
        damping: 0.0,
    };

    #[test]
    fn both_kinds_of_step_reach_the_bottom_of_a_valley() {
        for damping in [0.0, 1e-3] {
            let mut at = [-1.2, 1.0];
            let done = minimise(&Valley, &mut at, &Search { damping, ..SEARCH });
            assert_eq!(done.end, End::Converged, "{done:?}");
            assert!(
                (at[0] - 1.0).abs() < 1e-6 && (at[1] - 1.0).abs() < 1e-6,
                "{at:?} {done:?}"
            );
        }
    }

    #[test]
    fn the_cap_holds_and_the_best_point_stays() {
        let mut at = [-1.2, 1.0];
        let search = Search {
            iterations: 2,
            halvings: 12,
            ..SEARCH
        };
        let done = minimise(&Valley, &mut at, &search);
        assert_eq!((done.end, done.iterations), (End::Capped, 2));
        assert!(done.passes <= 2 * 13 && Valley.cost(&at) < Valley.cost(&[-1.2, 1.0]));
    }

    #[test]
    fn a_start_that_is_not_finite_is_left_alone() {
        let mut at = [f64::NAN, 1.0];
        assert_eq!(minimise(&Valley, &mut at, &SEARCH).end, End::NotFinite);
        assert_eq!(at[1], 1.0);
    }

    #[test]
    fn residuals_by_state_are_residuals_one_by_one() {
        let dx: Columns<f64, 3> =
            core::array::from_fn(|k| core::array::from_fn(|n| (k * 3 + n) as f64 * 0.1 - 0.4));
        let mut by_state = Quadratic::zero();
        let (mut one, mut all) = (Normal::<f64, 3>::zero(), Normal::zero());
        for (r, g) in [(0.3, [1.0, 0.0, 2.0, -1.0]), (-0.7, [0.5, 0.2, 0.0, 1.0])] {
            by_state.add(2.0, r, &g);
            one.add(
                2.0,
                r,
                &core::array::from_fn(|n| (0..4).map(|k| g[k] * dx[k][n]).sum()),
            );
        }
        all.add_quadratic(&by_state, &dx);
        for i in 0..3 {
            assert!((one.gradient[i] - all.gradient[i]).abs() < 1e-14);
            for j in 0..=i {
                assert!((one.matrix[i][j] - all.matrix[i][j]).abs() < 1e-14);
            }
        }
        assert!((one.cost - all.cost).abs() < 1e-14);
    }
}
