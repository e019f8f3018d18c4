//! The classical fourth-order Runge–Kutta step with fixed step size.
//!
//! [`increment`] returns Δy, not y+Δy, so that the caller can add it with compensation
//! ([`Compensated`](crate::number::compensated::Compensated)) where f32 would lose it: at 10 kHz an increment is often smaller than an ulp.

use crate::number::scalar::Scalar;

/// Δy of one step of `dt` \[s\] from `y`, for y' = f(y).
///
/// k1 = f(y), k2 = f(y + dt/2·k1), k3 = f(y + dt/2·k2), k4 = f(y + dt·k3);
/// Δy = dt/6·(k1 + 2·k2 + 2·k3 + k4).
#[inline(always)]
pub fn increment<S: Scalar, const N: usize>(
    y: &[S; N],
    dt: S,
    mut f: impl FnMut(&[S; N]) -> [S; N],
) -> [S; N] {
    let k1 = f(y);
    increment_from(y, dt, k1, f)
}

/// [`increment`] for a caller that already knows k1 = f(y).
#[inline(always)]
pub fn increment_from<S: Scalar, const N: usize>(
    y: &[S; N],
    dt: S,
    k1: [S; N],
    mut f: impl FnMut(&[S; N]) -> [S; N],
) -> [S; N] {
    let half = S::lit(0.5) * dt;
    let two = S::lit(2.0);
    let k2 = f(&offset(y, half, &k1));
    let k3 = f(&offset(y, half, &k2));
    let k4 = f(&offset(y, dt, &k3));
    let sixth = dt * S::lit(1.0 / 6.0);
    core::array::from_fn(|i| sixth * (k1[i] + two * (k2[i] + k3[i]) + k4[i]))
}

/// [`increment`], bit for bit, with one copy of `f` in the program instead of four: no call, and a quarter of the code, where `f` is long.
#[inline(always)]
pub fn rolled<S: Scalar, const N: usize>(
    y: &[S; N],
    dt: S,
    f: impl FnMut(&[S; N]) -> [S; N],
) -> [S; N] {
    stages(y, dt, None, f)
}

/// [`increment_from`], as [`rolled`].
#[inline(always)]
pub fn rolled_from<S: Scalar, const N: usize>(
    y: &[S; N],
    dt: S,
    k1: [S; N],
    f: impl FnMut(&[S; N]) -> [S; N],
) -> [S; N] {
    stages(y, dt, Some(k1), f)
}

#[inline(always)]
fn stages<S: Scalar, const N: usize>(
    y: &[S; N],
    dt: S,
    k1: Option<[S; N]>,
    mut f: impl FnMut(&[S; N]) -> [S; N],
) -> [S; N] {
    let half = S::lit(0.5) * dt;
    let two = S::lit(2.0);
    let (mut stage, mut at, mut k1) = match k1 {
        Some(k1) => (2, offset(y, half, &k1), k1),
        None => (1, *y, [S::ZERO; N]),
    };
    // k2, then k2 + k3.
    let mut between = k1;
    let k4 = loop {
        let k = f(&at);
        match stage {
            1 => k1 = k,
            2 => between = k,
            3 => between = core::array::from_fn(|i| between[i] + k[i]),
            _ => break k,
        }
        at = offset(y, if stage == 3 { dt } else { half }, &k);
        stage += 1;
    };
    let sixth = dt * S::lit(1.0 / 6.0);
    core::array::from_fn(|i| sixth * (k1[i] + two * between[i] + k4[i]))
}

/// One plain step: y + [`increment`].
#[inline(always)]
pub fn step<S: Scalar, const N: usize>(
    y: &[S; N],
    dt: S,
    f: impl FnMut(&[S; N]) -> [S; N],
) -> [S; N] {
    let d = increment(y, dt, f);
    core::array::from_fn(|i| y[i] + d[i])
}

#[inline(always)]
fn offset<S: Scalar, const N: usize>(y: &[S; N], h: S, k: &[S; N]) -> [S; N] {
    core::array::from_fn(|i| y[i] + h * k[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y' = y over one step of 0.1: e^0.1 up to the fifth-order rest 0.1⁵/120.
    #[test]
    fn one_step_of_growth() {
        let [y] = step(&[1.0f64], 0.1, |y| *y);
        let exact = 1.105_170_918_075_647_6;
        assert!(((exact - y) - 1e-5 / 120.0).abs() < 2e-9, "{y}");
    }
}
