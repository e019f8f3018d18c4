//! Linear-quadratic feedback about a plan near an equilibrium: u = u_plan − K·(x − x_plan).
//!
//! K from the discrete Riccati equation on the model's own step, linearised by [`super::tangent`], iterated from the weight itself. It is
//! computed once per model, not per tick; the iteration is bounded.

use super::tangent::step_with;
use super::{Dynamics, STATES};
use crate::number::scalar::Scalar;

/// Σ xᵀ·diag(state)·x + input·u² is made small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<S> {
    pub state: [S; STATES],
    pub input: S,
    /// Step of the discrete model \[s\].
    pub step: S,
    /// Steps the Riccati equation is iterated over.
    pub steps: u32,
}

/// The gain K about state `x` with input 0.
#[allow(clippy::needless_range_loop)] // Matrix equations read by index.
pub fn gain<S: Scalar>(
    dynamics: &impl Dynamics<S>,
    x: [S; STATES],
    weights: &Weights<S>,
) -> [S; STATES] {
    // Unknowns: the four states and the input.
    const N: usize = STATES + 1;
    let mut y = x;
    let mut a =
        core::array::from_fn(|i| core::array::from_fn(|n| if n == i { S::ONE } else { S::ZERO }));
    step_with::<S, N>(
        dynamics,
        &mut y,
        &mut a,
        weights.step,
        [S::ZERO; 3],
        |_, s, i| {
            let mut by = [S::ZERO; N];
            by[STATES] = s.by_input[i];
            by
        },
    );
    let mut p = [[S::ZERO; STATES]; STATES];
    for i in 0..STATES {
        p[i][i] = weights.state[i];
    }
    let mut k = [S::ZERO; STATES];
    for _ in 0..weights.steps {
        let mut pa = [[S::ZERO; N]; STATES];
        let mut s = [[S::ZERO; N]; N];
        for i in 0..STATES {
            for j in 0..N {
                for l in 0..STATES {
                    pa[i][j] += p[i][l] * a[l][j];
                }
            }
        }
        for i in 0..N {
            for j in 0..N {
                for l in 0..STATES {
                    s[i][j] += a[l][i] * pa[l][j];
                }
            }
        }
        for j in 0..STATES {
            k[j] = s[STATES][j] / (weights.input + s[STATES][STATES]);
        }
        for i in 0..STATES {
            for j in 0..STATES {
                p[i][j] = s[i][j] - s[i][STATES] * k[j];
            }
            p[i][i] += weights.state[i];
        }
    }
    k
}
