//! Local polynomial regression: angle, velocity and acceleration from sampled angles, at any time.
//!
//! A polynomial of degree 4 ([`crate::identify::data::polynomial`]) is fitted by least squares to the samples within ±`half` \[s\] of the
//! wanted time; its coefficients are the angle \[rad\] and its derivatives. Works with uneven sampling; no differentiation of counts. Used
//! for start values, not as a measurement of velocity.

use crate::identify::data::polynomial::Polynomial;
use crate::identify::data::record::{Record, median};

/// Coefficients of the polynomial: degree 4.
const COEFS: usize = 5;

/// Angle, velocity and acceleration of one joint at one time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local {
    /// \[rad\]
    pub q: f64,
    /// [rad/s]
    pub w: f64,
    /// [rad/s²]
    pub a: f64,
}

/// Fit around time `at`; the window grows until it holds enough samples.
pub fn local(t: &[f64], x: &[f64], at: f64, half: f64) -> Local {
    let n = t.len();
    let mut lo = t.partition_point(|&v| v < at - half);
    let mut hi = t.partition_point(|&v| v <= at + half);
    let least = (COEFS + 2).min(n);
    while hi - lo < least {
        let down = if lo > 0 {
            at - t[lo - 1]
        } else {
            f64::INFINITY
        };
        let up = if hi < n { t[hi] - at } else { f64::INFINITY };
        if down <= up { lo -= 1 } else { hi += 1 }
    }
    let scale = (t[hi - 1] - at).abs().max((at - t[lo]).abs()).max(1e-9);
    let samples = (lo..hi).map(|i| (t[i], x[i]));
    match Polynomial::<COEFS>::fit(samples, at, scale) {
        Some(p) => Local {
            q: p.coefficients[0],
            w: p.coefficients[1],
            a: 2.0 * p.coefficients[2],
        },
        None => Local {
            q: x[(lo + hi) / 2],
            ..Local::default()
        },
    }
}

/// Standard deviation of the noise of one joint \[rad\]: what polynomials over ±`half` \[s\] leave, the median over the record.
pub fn noise(record: &Record, j: usize, half: f64) -> f64 {
    let mut left = Vec::new();
    let mut at = record.t[0] + half;
    while at + half < record.t[record.t.len() - 1] {
        let (lo, hi) = (record.index(at - half), record.index(at + half));
        let samples = (lo..hi).map(|i| (record.t[i], record.q[i][j]));
        if hi - lo > COEFS + 2
            && let Some(p) = Polynomial::<COEFS>::fit(samples, at, half)
        {
            left.push(p.rest / (p.samples - COEFS) as f64);
        }
        at += 2.0 * half;
    }
    median(&mut left).sqrt()
}

/// The state of all joints at evenly spaced times.
#[derive(Clone, Debug)]
pub struct Smooth {
    /// \[s\]
    pub t: Vec<f64>,
    /// \[rad\]
    pub q: Vec<[f64; 2]>,
    /// [rad/s]
    pub w: Vec<[f64; 2]>,
}

impl Smooth {
    /// States every `step` \[s\] over the record, windows of ±`half` \[s\].
    pub fn new(record: &Record, step: f64, half: f64) -> Smooth {
        let n = (record.duration() / step).floor() as usize + 1;
        let t: Vec<f64> = (0..n).map(|i| record.t[0] + i as f64 * step).collect();
        let mut q = vec![[0.0; 2]; n];
        let mut w = vec![[0.0; 2]; n];
        for j in 0..record.joints {
            let x = record.joint(j);
            for (i, &at) in t.iter().enumerate() {
                let l = local(&record.t, &x, at, half);
                q[i][j] = l.q;
                w[i][j] = l.w;
            }
        }
        Smooth { t, q, w }
    }
}

/// The time scale of a record \[s\]: 1/√(mean a²/mean w²) of its fastest joint, found by iterating the window. A
/// sine of frequency ω gives 1/ω.
pub fn time_scale(record: &Record) -> f64 {
    let mut scale = 0.1f64;
    for _ in 0..4 {
        let half = (0.5 * scale).max(4.0 * record.dt());
        let step = (record.duration() / 400.0).max(record.dt());
        let mut fastest = f64::INFINITY;
        for j in 0..record.joints {
            let x = record.joint(j);
            let (mut aa, mut ww) = (0.0, 0.0);
            let mut at = record.t[0];
            while at <= record.t[record.t.len() - 1] {
                let l = local(&record.t, &x, at, half);
                aa += l.a * l.a;
                ww += l.w * l.w;
                at += step;
            }
            if aa > 0.0 && ww > 0.0 {
                fastest = fastest.min((ww / aa).sqrt());
            }
        }
        if fastest.is_finite() {
            scale = fastest.clamp(0.005, 1.0);
        }
    }
    scale
}
