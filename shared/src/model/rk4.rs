//! The classical fourth-order Runge–Kutta step with fixed step size.
//!
//! [`increment`] returns Δy, not y+Δy, so that the caller can add it with compensation
//! ([`Compensated`]) where f32 would lose it: at 10 kHz an increment is often smaller than an ulp.

use crate::scalar::Scalar;

/// Δy of one step of `dt` [s] from `y`, for y' = f(y).
///
/// k1 = f(y), k2 = f(y + dt/2·k1), k3 = f(y + dt/2·k2), k4 = f(y + dt·k3);
/// Δy = dt/6·(k1 + 2·k2 + 2·k3 + k4).
#[inline(always)]
pub fn increment<S: Scalar, const N: usize>(
    y: &[S; N],
    dt: S,
    mut f: impl FnMut(&[S; N]) -> [S; N],
) -> [S; N] {
    let half = S::lit(0.5) * dt;
    let two = S::lit(2.0);
    let k1 = f(y);
    let k2 = f(&offset(y, half, &k1));
    let k3 = f(&offset(y, half, &k2));
    let k4 = f(&offset(y, dt, &k3));
    let sixth = dt * S::lit(1.0 / 6.0);
    core::array::from_fn(|i| sixth * (k1[i] + two * (k2[i] + k3[i]) + k4[i]))
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

/// Kahan's compensation term of an accumulated value: what the sum has lost so far.
///
/// `add(x, d)`: returns fl(x + d − lost) and remembers the new loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compensated<S>(pub S);

impl<S: Scalar> Compensated<S> {
    pub const NONE: Self = Compensated(S::ZERO);

    #[inline(always)]
    pub fn add(&mut self, x: S, d: S) -> S {
        let y = d - self.0;
        let t = x + y;
        self.0 = (t - x) - y;
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 5.0 an f32 has an ulp of 4.8e-7: a million increments of 1e-8 vanish one by one, and arrive together.
    #[test]
    fn compensated_sums_keep_what_plain_ones_lose() {
        let (mut plain, mut kept, mut lost) = (5.0f32, 5.0f32, Compensated::NONE);
        for _ in 0..1_000_000 {
            plain += 1e-8;
            kept = lost.add(kept, 1e-8);
        }
        assert_eq!(plain, 5.0);
        assert!((kept - 5.01).abs() < 1e-6, "{kept}");
    }

    /// y' = y over one step of 0.1: e^0.1 up to the fifth-order rest 0.1⁵/120.
    #[test]
    fn one_step_of_growth() {
        let [y] = step(&[1.0f64], 0.1, |y| *y);
        let exact = 1.105_170_918_075_647_6;
        assert!(((exact - y) - 1e-5 / 120.0).abs() < 2e-9, "{y}");
    }
}
