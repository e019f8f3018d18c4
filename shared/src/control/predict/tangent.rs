//! One RK4 step of a [`Dynamics`] with the derivatives of its state by N unknowns.
//!
//! The derivatives are those of the discrete step itself, stage by stage, so they are exact for the numbers the optimiser sees:
//! δq̇ = δω, δω̇ = (∂q̈/∂x)·δx + source. What the unknowns are (weights of the input, initial state, a parameter) is in the first δx and in
//! the source.

use super::{Dynamics, STATES, Slopes};
use crate::JOINTS;
use crate::number::scalar::Scalar;

/// ∂x/∂unknown: row = state, column = unknown.
pub type Columns<S, const N: usize> = [[S; N]; STATES];

/// Where in a step a stage lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Start,
    Middle,
    End,
}

/// x after `h` \[s\] with the input `u` at start, middle and end of the step.
#[inline(always)]
pub fn step<S: Scalar>(
    dynamics: &impl Dynamics<S>,
    x: &[S; STATES],
    h: S,
    u: [S; 3],
) -> [S; STATES] {
    let rate = |x: &[S; STATES], u: S| {
        let a = dynamics.acceleration(x, u);
        [x[2], x[3], a[0], a[1]]
    };
    let half = S::lit(0.5) * h;
    let k1 = rate(x, u[0]);
    let k2 = rate(&moved(x, half, &k1), u[1]);
    let k3 = rate(&moved(x, half, &k2), u[1]);
    let k4 = rate(&moved(x, h, &k3), u[2]);
    combined(x, h, [&k1, &k2, &k3, &k4])
}

/// The same with derivatives: `x` and `dx` move on by `h`. `source` gives δω̇ᵢ beside the state's part, for all unknowns.
#[inline(always)]
pub fn step_with<S: Scalar, const N: usize>(
    dynamics: &impl Dynamics<S>,
    x: &mut [S; STATES],
    dx: &mut Columns<S, N>,
    h: S,
    u: [S; 3],
    source: impl Fn(At, &Slopes<S>, usize) -> [S; N],
) {
    let half = S::lit(0.5) * h;
    let two = S::lit(2.0);
    let start = *x;
    let begin = *dx;
    let (mut y, mut dy) = (start, begin);
    let (mut sum, mut dsum) = ([S::ZERO; STATES], [[S::ZERO; N]; STATES]);
    let stages = [
        (At::Start, u[0], half, S::ONE),
        (At::Middle, u[1], half, two),
        (At::Middle, u[1], h, two),
        (At::End, u[2], S::ZERO, S::ONE),
    ];
    for (at, u, ahead, weight) in stages {
        let s = dynamics.slopes(&y, u);
        let rate = [y[2], y[3], s.acceleration[0], s.acceleration[1]];
        let mut drate = [dy[2], dy[3], [S::ZERO; N], [S::ZERO; N]];
        for i in 0..JOINTS {
            let mut row = source(at, &s, i);
            let by = &s.by_state[i];
            for (n, r) in row.iter_mut().enumerate() {
                *r += by[0] * dy[0][n] + by[1] * dy[1][n] + by[2] * dy[2][n] + by[3] * dy[3][n];
            }
            drate[JOINTS + i] = row;
        }
        for k in 0..STATES {
            sum[k] += weight * rate[k];
            y[k] = start[k] + ahead * rate[k];
            for n in 0..N {
                dsum[k][n] += weight * drate[k][n];
                dy[k][n] = begin[k][n] + ahead * drate[k][n];
            }
        }
    }
    let sixth = h * S::lit(1.0 / 6.0);
    for k in 0..STATES {
        x[k] = start[k] + sixth * sum[k];
        for n in 0..N {
            dx[k][n] = begin[k][n] + sixth * dsum[k][n];
        }
    }
}

#[inline(always)]
fn moved<S: Scalar>(x: &[S; STATES], h: S, k: &[S; STATES]) -> [S; STATES] {
    core::array::from_fn(|i| x[i] + h * k[i])
}

/// The order of the sums is that of [`step_with`]: both give the same bits.
#[inline(always)]
fn combined<S: Scalar>(x: &[S; STATES], h: S, k: [&[S; STATES]; 4]) -> [S; STATES] {
    let two = S::lit(2.0);
    let sixth = h * S::lit(1.0 / 6.0);
    core::array::from_fn(|i| {
        let sum = S::ZERO + S::ONE * k[0][i] + two * k[1][i] + two * k[2][i] + S::ONE * k[3][i];
        x[i] + sixth * sum
    })
}
