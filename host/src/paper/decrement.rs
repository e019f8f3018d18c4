//! Paper 004 Table 1: eight simulated oscillations, identified with the printed and with the corrected formulas.

use stribeck_core::model::sim::Rng;

use crate::error::Result;
use crate::identify::method::logdec::{self, Decrement};
use crate::number;

/// ω0 [rad/s], f̄, Δf \[N\], c̄, Δc [N·s/m] with m = 1 kg.
pub type Row = [f64; 5];

/// Simulated and printed estimate of each row.
pub const TABLE_1: [(Row, Row); 8] = [
    (
        [3.162, 0.2, 0.5, 0.4, 0.3],
        [3.277, 0.2148, 0.5370, 0.4140, 0.3109],
    ),
    (
        [4.0, 0.2, 0.5, 0.3, 0.4],
        [4.129, 0.2130, 0.5326, 0.3095, 0.4129],
    ),
    (
        [4.0, 0.07, 0.13, 0.3, 0.0],
        [4.023, 0.0715, 0.1352, 0.3015, 0.0002],
    ),
    (
        [4.0, 2.0, 2.0, 0.625, 0.125],
        [4.024, 2.0098, 2.0316, 0.6155, 0.1134],
    ),
    ([2.0, 0.0, 0.0, 0.4, 0.3], [2.094, 0.0, 0.0, 0.4184, 0.3141]),
    (
        [2.0, 0.2, 0.0, 0.5, 0.0],
        [2.015, 0.2030, 0.0001, 0.5034, 0.0],
    ),
    (
        [4.0, 6.25, 5.75, 0.625, 0.125],
        [4.026, 6.3193, 5.7178, 0.6293, 0.1288],
    ),
    (
        [4.0, 0.4, 0.3, 0.1, 0.0],
        [4.114, 0.4213, 0.2836, 0.1013, 0.0008],
    ),
];

/// First displacement \[m\]; the paper does not print its own. Friction shows when it is a visible part of the swing: here the
/// larger Coulomb force of the two directions holds 1/40 of the amplitude; without Coulomb friction the scale is free.
pub fn amplitude(row: &Row) -> f64 {
    let [w0, f, df, ..] = *row;
    let held = (f + df).abs().max((f - df).abs()) / (w0 * w0);
    if held > 0.0 { 40.0 * held } else { 1.0 }
}

/// Displacement sampled every `dt` \[s\] for `seconds`, released at [`amplitude`] about rest at 0. `noise`: standard deviation of
/// the reading as part of the amplitude.
pub fn simulate(row: &Row, dt: f64, seconds: f64, noise: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let [w0, f, df, ..] = *row;
    let substeps = 40;
    let h = dt / f64::from(substeps);
    let mut rng = Rng::new(seed);
    let amplitude = amplitude(row);
    let (mut x, mut v) = (amplitude, 0.0f64);
    let (mut t, mut out) = (Vec::new(), Vec::new());
    let mut stuck = false;
    // Motion starts downwards; the direction flips when the velocity passes through zero.
    let mut sign = -1.0f64;
    for i in 0..(seconds / dt) as usize {
        t.push(i as f64 * dt);
        out.push(x + noise * amplitude * rng.normal());
        for _ in 0..substeps {
            if stuck {
                break;
            }
            let mut left = h;
            while left > 0.0 {
                let (nx, nv) = rk4(row, sign, x, v, left);
                if nv * sign >= 0.0 {
                    (x, v) = (nx, nv);
                    break;
                }
                // The turning point lies inside: halve down to it, then go on in the other direction.
                let (mut lo, mut hi) = (0.0, left);
                for _ in 0..60 {
                    let mid = 0.5 * (lo + hi);
                    if rk4(row, sign, x, v, mid).1 * sign >= 0.0 {
                        lo = mid
                    } else {
                        hi = mid
                    }
                }
                x = rk4(row, sign, x, v, lo).0;
                v = 0.0;
                left -= hi;
                sign = -sign;
                let push = -w0 * w0 * x;
                // Not enough force to go back: it stays.
                if push * sign <= f + sign * df && push.abs() <= (f + df.abs()).abs() {
                    stuck = true;
                    break;
                }
            }
        }
    }
    (t, out)
}

/// One Runge–Kutta step of `h` [s] with friction for motion in direction `sign`.
fn rk4(row: &Row, sign: f64, x: f64, v: f64, h: f64) -> (f64, f64) {
    let [w0, f, df, c, dc] = *row;
    let rate = |y: &[f64; 2]| {
        [
            y[1],
            -w0 * w0 * y[0] - (c + sign * dc) * y[1] - sign * (f + sign * df),
        ]
    };
    let [x, v] = stribeck_core::model::rk4::step(&[x, v], h, rate);
    (x, v)
}

/// The row's five numbers from a decrement (k = m·ω0², m = 1).
pub fn row(d: &Decrement) -> Row {
    let k = d.omega0 * d.omega0;
    [d.omega0, k * d.x_mean, k * d.x_delta, d.c_mean, d.c_delta]
}

/// Standard errors of the same five numbers.
pub fn row_errors(d: &Decrement) -> Row {
    let k = d.omega0 * d.omega0;
    let [w0, c, dc, x, dx] = d.stderr;
    [w0, k * x, k * dx, c, dc]
}

/// Corrected formulas.
pub fn corrected(t: &[f64], x: &[f64]) -> Result<Row> {
    logdec::identify(t, x, 0.0).map(|d| row(&d))
}

/// The formulas as printed: (28), (29), (30), (31), (32), (34) on the first five turning points, samples taken as peaks.
pub fn as_printed(t: &[f64], x: &[f64]) -> Option<Row> {
    let peaks: Vec<usize> = (1..x.len() - 1)
        .filter(|&i| (x[i] - x[i - 1]) * (x[i + 1] - x[i]) < 0.0)
        .take(5)
        .collect();
    let [a, b, c, d, e] = peaks[..].try_into().ok()?;
    let y = |i: usize| x[i];
    // n = e; motion from d to e is positive when e is a maximum.
    let plus = -(y(e) - y(c)) / (y(d) - y(b));
    let minus = -(y(d) - y(b)) / (y(c) - y(a));
    let up = if y(e) > y(d) { 1.0 } else { -1.0 };
    let s_plus = (y(e) + y(d) * plus) / (1.0 + plus);
    let s_minus = (y(d) + y(c) * minus) / (1.0 + minus);
    let mean = 0.5 * up * (s_plus - s_minus);
    let delta = 0.5 * (s_plus + s_minus);
    let pi = std::f64::consts::PI;
    let zeta = |e: f64| {
        let beta = -number::ln(e) / pi;
        (beta * beta / (pi * pi + beta * beta)).sqrt()
    };
    let (zp, zm) = (zeta(plus), zeta(minus));
    let w = |dt: f64, z: f64| pi / dt / (1.0 - z).sqrt();
    let w0 = 0.5 * (w(t[e] - t[d], zp) + w(t[d] - t[c], zm));
    let k = w0 * w0;
    Some([
        w0,
        k * mean,
        k * delta,
        w0 * (zp + zm),
        w0 * (zp - zm).abs(),
    ])
}
