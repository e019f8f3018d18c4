//! Extended logarithmic decrement (paper 004, corrected): asymmetric Coulomb and viscous friction of a linear oscillator.
//!
//! ```text
//! m·ẍ + (c̄ ± Δc)·ẋ + k·x + (f̄ ± Δf)·sgn ẋ = k·x0         + for ẋ > 0, − for ẋ < 0
//! ```
//!
//! Between turning points the motion is linear about S± = x0 ∓ f±/k, so successive turning points obey
//! y[n] = S − (y[n−1] − S)·E with E = e^(−πβ), one S and E per direction. E from differences of turning points (the
//! friction drops out), S± = (y[n] + y[n−1]·E)/(1+E), then x̄k = (S₋ − S₊)/2, Δxk = x0 − (S₊ + S₋)/2, ζ = β/√(1+β²),
//! ω0 = ωd/√(1−ζ²); Δζ keeps its sign. `peaks` does that with one E for both directions; `fit` then moves the same seven
//! numbers to the least squares over all samples up to and including the final rest (S₊ ≤ x ≤ S₋: friction holds), first
//! over a few half swings, then over everything. That is what makes it work with noise, and gives standard errors.
//!
//! Δf cannot be told from a constant offset: x0 must be known (0 unless given).

mod piecewise;
mod turning;

use crate::error::{Error, Result};

use super::triangle::Triangle;
use piecewise::{Moved, Samples, Shape, Turn, UNKNOWNS, adjust};
use turning::turning_points;

/// Fewest turning points: three half swings show two in one direction.
const LEAST_TURNS: usize = 4;
/// A cost larger by this many variances is no evidence.
const DOUBTFUL: f64 = 10.0;
/// Numbers of half swings tried beyond the best one.
const PATIENCE: usize = 2;
/// Samples of the first, coarse adjustments.
const FEW_SAMPLES: usize = 2000;

/// ω0 [rad/s], damping per mass c̄/m, Δc/m [1/s], friction per stiffness x̄k, Δxk [unit of x]; standard errors alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decrement {
    pub omega0: f64,
    pub c_mean: f64,
    pub c_delta: f64,
    pub x_mean: f64,
    pub x_delta: f64,
    pub stderr: [f64; 5],
    /// Residual RMS [unit of x] and fit [%] of the piecewise solution over the samples used.
    pub rms: f64,
    pub fit: f64,
    /// Turning points used.
    pub turns: usize,
}

/// Identify from displacement `x` at times `t` [s] of a free decay about the known rest position `x0`.
pub fn identify(t: &[f64], x: &[f64], x0: f64) -> Result<Decrement> {
    let turns = turning_points(t, x);
    if turns.len() < LEAST_TURNS {
        return Err(Error::invalid(
            format!(
                "{} turning points: the logarithmic decrement needs at least {LEAST_TURNS}",
                turns.len()
            ),
            "record more swings, or use `--method energy`",
        ));
    }
    let rising = turns[1].x > turns[0].x;
    let shape = peaks(&turns, rising)?;
    fit(t, x, x0, &turns, shape, rising)
}

/// Start values from the turning points alone: y[n+1] = S·(1+E) − E·y[n] by least squares, one E, one S per direction.
fn peaks(turns: &[Turn], rising: bool) -> Result<Shape> {
    let mut eq = Triangle::new(3);
    for (n, pair) in turns.windows(2).enumerate() {
        let up = rising == n.is_multiple_of(2);
        let [one, two] = if up { [1.0, 0.0] } else { [0.0, 1.0] };
        eq.add(&mut [one, two, -pair[0].x, pair[1].x]);
    }
    let solution = eq.solve();
    let decay = solution[2].clamp(0.02, 1.2);
    let beta = -decay.ln() / std::f64::consts::PI;
    let zeta = beta / (1.0 + beta * beta).sqrt();
    let half_period = (turns[turns.len() - 1].t - turns[0].t) / (turns.len() - 1) as f64;
    let shape = Shape {
        omega0: std::f64::consts::PI / half_period / (1.0 - zeta * zeta).sqrt(),
        zeta: [zeta; 2],
        centre: [solution[0] / (1.0 + decay), solution[1] / (1.0 + decay)],
        first: turns[0],
    };
    if !shape.oscillates() {
        return Err(Error::invalid(
            "the turning points do not decay regularly",
            "use `--method greybox`, which needs no linear oscillator",
        ));
    }
    Ok(shape)
}

/// The clear half swings first; then everything to the final rest, thinned; then every sample.
///
/// How many half swings there are until friction holds is a whole number: with it given the solution is smooth in the
/// seven numbers. It is found by trying: from what the first step predicts, up and down, as long as the fit gets better.
fn fit(
    t: &[f64],
    x: &[f64],
    x0: f64,
    turns: &[Turn],
    start: Shape,
    rising: bool,
) -> Result<Decrement> {
    let from = t.partition_point(|&v| v < turns[0].t);
    let (t, x) = (&t[from..], &x[from..]);
    let every = (t.len() / FEW_SAMPLES).max(1);
    // Means keep what all samples know.
    let thin = |v: &[f64]| -> Vec<f64> {
        v.chunks(every)
            .map(|c| c.iter().sum::<f64>() / c.len() as f64)
            .collect()
    };
    let (few_t, few_x) = (thin(t), thin(x));
    let clear = few_t.partition_point(|&v| v <= turns[turns.len() - 1].t);
    let few = Samples {
        t: &few_t,
        x: &few_x,
        rising,
        swings: usize::MAX,
        amplitude: (turns[0].x - turns[1].x).abs(),
    };
    let swinging = Samples {
        t: &few_t[..clear],
        x: &few_x[..clear],
        ..few
    };
    let moving = adjust(swinging, start).shape;
    let seen = turns.len() - 1;
    // More than the record can hold.
    let most = ((t[t.len() - 1] - t[0]) * moving.omega0 / std::f64::consts::PI) as usize + 2;
    let predicted = moving.swings(rising, most).max(seen);
    let mut tried: Vec<(usize, Moved)> = Vec::new();
    let attempt = |swings: usize, from: Shape| (swings, adjust(Samples { swings, ..few }, from));
    tried.push(attempt(most, moving));
    for first in [predicted, seen] {
        let (mut least, mut near) = (f64::INFINITY, moving);
        for up in [true, false] {
            let (mut n, mut worse) = (first, 0);
            while worse < PATIENCE {
                let (n_now, moved) = attempt(n, near);
                if moved.cost < least {
                    (least, near, worse) = (moved.cost, moved.shape, 0);
                } else {
                    worse += 1;
                }
                tried.push((n_now, moved));
                if (up && n >= most) || (!up && n <= seen) {
                    break;
                }
                n = if up { n + 1 } else { n - 1 };
            }
        }
    }
    // Where friction would hold by itself is the likelier end, unless the samples clearly say otherwise.
    let least = tried.iter().map(|t| t.1.cost).fold(f64::INFINITY, f64::min);
    let doubtful = least * (1.0 + DOUBTFUL / few_t.len() as f64);
    let by_itself = |(n, m): &(usize, Moved)| m.shape.swings(rising, most) == *n;
    let allowed = tried.iter().any(|t| by_itself(t) && t.1.cost <= doubtful);
    let chosen = tried
        .into_iter()
        .filter(|t| !allowed || by_itself(t))
        .min_by(|a, b| a.1.cost.total_cmp(&b.1.cost));
    let (swings, shape) = chosen.map_or((most, moving), |(n, m)| (n, m.shape));
    let all = Samples {
        t,
        x,
        swings,
        ..few
    };
    let Moved { shape: s, cost, eq } = adjust(all, shape);
    let path = s.path(t, rising, swings);
    let residuals: Vec<f64> = x.iter().zip(&path).map(|(v, p)| v - p).collect();
    let variance = cost / (x.len() as f64 - UNKNOWNS as f64).max(1.0);
    let half_period = std::f64::consts::PI / s.omega0;
    let lags = t.partition_point(|&v| v < t[0] + half_period);
    let covariance = eq.covariance() * variance * correlation(&residuals, lags);
    let half_sum = |a: usize, b: usize, sign: f64, factor: f64| {
        let v = covariance[(a, a)] + covariance[(b, b)] + 2.0 * sign * covariance[(a, b)];
        factor * v.max(0.0).sqrt()
    };
    // c/m = 2·ζ·ω0 per direction.
    Ok(Decrement {
        omega0: s.omega0,
        c_mean: s.omega0 * (s.zeta[0] + s.zeta[1]),
        c_delta: s.omega0 * (s.zeta[0] - s.zeta[1]),
        x_mean: (s.centre[1] - s.centre[0]) / 2.0,
        x_delta: x0 - (s.centre[0] + s.centre[1]) / 2.0,
        stderr: [
            covariance[(0, 0)].sqrt(),
            half_sum(1, 2, 1.0, s.omega0),
            half_sum(1, 2, -1.0, s.omega0),
            half_sum(3, 4, -1.0, 0.5),
            half_sum(3, 4, 1.0, 0.5),
        ],
        rms: variance.sqrt(),
        fit: super::record::fit_percent(x, &path),
        turns: turns.len(),
    })
}

/// How many residuals that hang together are worth one: 1 + 2·Σρ over the lags before the correlation is lost.
fn correlation(residuals: &[f64], lags: usize) -> f64 {
    let n = residuals.len();
    let square: f64 = residuals.iter().map(|r| r * r).sum();
    let mut sum = 1.0;
    for lag in 1..lags.min(n / 2) {
        let product: f64 = residuals[lag..]
            .iter()
            .zip(residuals)
            .map(|(a, b)| a * b)
            .sum();
        // White residuals stay below this.
        if product < 3.0 * square / (n as f64).sqrt() {
            break;
        }
        sum += 2.0 * product / square;
    }
    sum
}
