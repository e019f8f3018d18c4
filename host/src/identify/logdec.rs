//! Extended logarithmic decrement (paper 004, corrected): asymmetric Coulomb and viscous friction of a linear oscillator.
//!
//! ```text
//! m·ẍ + (c̄ ± Δc)·ẋ + k·x + (f̄ ± Δf)·sgn ẋ = k·x0         + for ẋ > 0, − for ẋ < 0
//! ```
//!
//! Between turning points the motion is linear about S± = x0 ∓ f±/k, so successive turning points obey
//! y[n] = S − (y[n−1] − S)·E with E = e^(−πβ), one S and E per direction. E from differences of turning points (the
//! friction drops out), S± = (y[n] + y[n−1]·E)/(1+E), then x̄k = (S₋ − S₊)/2, Δxk = x0 − (S₊ + S₋)/2, ζ = β/√(1+β²),
//! ω0 = ωd/√(1−ζ²); Δζ keeps its sign. `peaks` does that; `fit` then moves the same seven numbers to the least
//! squares over all samples, which is what makes it work with noise, and gives standard errors.
//!
//! Δf cannot be told from a constant offset: x0 must be known (0 unless given).

use crate::error::{Error, Result};

use super::triangle::Triangle;

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

/// A turning point.
#[derive(Clone, Copy, Debug)]
struct Turn {
    t: f64,
    x: f64,
}

/// The seven numbers of the piecewise solution.
#[derive(Clone, Copy, Debug)]
struct Shape {
    omega0: f64,
    /// ζ for ẋ > 0 and ẋ < 0.
    zeta: [f64; 2],
    /// Centre of motion S for ẋ > 0 and ẋ < 0.
    centre: [f64; 2],
    first: Turn,
}

impl Shape {
    fn to_array(self) -> [f64; 7] {
        let s = self;
        [
            s.omega0,
            s.zeta[0],
            s.zeta[1],
            s.centre[0],
            s.centre[1],
            s.first.t,
            s.first.x,
        ]
    }

    fn from_array(a: [f64; 7]) -> Shape {
        Shape {
            omega0: a[0],
            zeta: [a[1], a[2]],
            centre: [a[3], a[4]],
            first: Turn { t: a[5], x: a[6] },
        }
    }

    /// The displacement at increasing times from the first turning point on; `None` once the motion stops.
    fn path(&self, times: &[f64], rising: bool) -> Vec<f64> {
        let mut dir = usize::from(!rising);
        let mut at = self.first;
        let mut out = Vec::with_capacity(times.len());
        for &t in times {
            loop {
                let zeta = self.zeta[dir];
                let wd = self.omega0 * (1.0 - zeta * zeta).max(1e-9).sqrt();
                let end = at.t + std::f64::consts::PI / wd;
                let beta = zeta / (1.0 - zeta * zeta).max(1e-9).sqrt();
                let y = at.x - self.centre[dir];
                if t <= end {
                    let u = t - at.t;
                    let decay = (-zeta * self.omega0 * u).exp();
                    out.push(
                        self.centre[dir] + y * decay * ((wd * u).cos() + beta * (wd * u).sin()),
                    );
                    break;
                }
                let next = self.centre[dir] - y * (-std::f64::consts::PI * beta).exp();
                at = Turn { t: end, x: next };
                dir = 1 - dir;
            }
        }
        out
    }
}

/// Identify from displacement `x` at times `t` [s] of a free decay about the known rest position `x0`.
pub fn identify(t: &[f64], x: &[f64], x0: f64) -> Result<Decrement> {
    let turns = turning_points(t, x);
    if turns.len() < 5 {
        return Err(Error::invalid(
            format!(
                "{} turning points: the logarithmic decrement needs at least 5",
                turns.len()
            ),
            "record more swings, or use `--method energy`",
        ));
    }
    let rising = turns[1].x > turns[0].x;
    let shape = peaks(&turns, rising)?;
    fit(t, x, x0, &turns, shape, rising)
}

/// Start values from the turning points alone: eqs. (28), (29) of paper 004, corrected.
fn peaks(turns: &[Turn], rising: bool) -> Result<Shape> {
    // Half swing n runs from turn n to n+1; its direction alternates.
    let direction = |n: usize| usize::from(rising != n.is_multiple_of(2));
    let mut decay = [0.0; 2];
    let mut centre = [0.0; 2];
    let mut period = [0.0; 2];
    for dir in 0..2 {
        // (y[n+1] − y[n−1]) = −E·(y[n] − y[n−2]) for every half swing n of this direction, least squares.
        let (mut num, mut den) = (0.0, 0.0);
        for n in (2..turns.len() - 1).filter(|n| direction(*n) == dir) {
            let a = turns[n + 1].x - turns[n - 1].x;
            let b = turns[n].x - turns[n - 2].x;
            num -= a * b;
            den += b * b;
        }
        decay[dir] = (num / den).clamp(0.02, 1.5);
        let (mut s, mut time, mut count) = (0.0, 0.0, 0.0);
        for n in (0..turns.len() - 1).filter(|n| direction(*n) == dir) {
            s += (turns[n + 1].x + turns[n].x * decay[dir]) / (1.0 + decay[dir]);
            time += turns[n + 1].t - turns[n].t;
            count += 1.0;
        }
        centre[dir] = s / count;
        period[dir] = time / count;
    }
    let zeta = decay.map(|e: f64| {
        let beta = -e.ln() / std::f64::consts::PI;
        beta / (1.0 + beta * beta).sqrt()
    });
    let omega0 = (0..2)
        .map(|d| std::f64::consts::PI / period[d] / (1.0 - zeta[d] * zeta[d]).sqrt())
        .sum::<f64>()
        / 2.0;
    if !omega0.is_finite() {
        return Err(Error::invalid(
            "the turning points do not decay regularly",
            "use `--method greybox`, which needs no linear oscillator",
        ));
    }
    Ok(Shape {
        omega0,
        zeta,
        centre,
        first: turns[0],
    })
}

/// Gauss–Newton on all samples between the first and the last turning point.
fn fit(
    t: &[f64],
    x: &[f64],
    x0: f64,
    turns: &[Turn],
    mut shape: Shape,
    rising: bool,
) -> Result<Decrement> {
    let from = t.partition_point(|&v| v < turns[0].t);
    let to = t.partition_point(|&v| v <= turns[turns.len() - 1].t);
    let amplitude = (turns[0].x - turns[1].x).abs();
    let (mut cost, mut eq) = (f64::INFINITY, Triangle::new(7));
    for _ in 0..30 {
        // Samples before the first turning point of this iteration belong to another half swing.
        let first = from.max(t.partition_point(|&v| v < shape.first.t));
        let (times, values) = (&t[first..to], &x[first..to]);
        let base = shape.to_array();
        let now = shape.path(times, rising);
        let sizes = [
            base[0],
            1.0,
            1.0,
            amplitude,
            amplitude,
            1.0 / base[0],
            amplitude,
        ];
        let columns: Vec<Vec<f64>> = (0..7)
            .map(|i| {
                let h = 1e-6 * sizes[i];
                let shifted = |sign: f64| {
                    let mut a = base;
                    a[i] += sign * h;
                    Shape::from_array(a).path(times, rising)
                };
                let (up, down) = (shifted(1.0), shifted(-1.0));
                up.iter()
                    .zip(&down)
                    .map(|(u, d)| (u - d) / (2.0 * h))
                    .collect()
            })
            .collect();
        eq = Triangle::new(7);
        for (i, (v, p)) in values.iter().zip(&now).enumerate() {
            let mut row: Vec<f64> = columns.iter().map(|c| c[i]).collect();
            row.push(v - p);
            eq.add(&mut row);
        }
        let total: f64 = values.iter().zip(&now).map(|(v, p)| (v - p).powi(2)).sum();
        let step = eq.solve();
        let mut next = base;
        for i in 0..7 {
            next[i] += step[i].clamp(-0.3 * sizes[i], 0.3 * sizes[i]);
        }
        shape = Shape::from_array(next);
        let small = (0..7).all(|i| step[i].abs() < 1e-9 * sizes[i]);
        let stalled = (cost - total).abs() < 1e-12 * total;
        cost = total;
        if small || stalled {
            break;
        }
    }
    let first = from.max(t.partition_point(|&v| v < shape.first.t));
    let (times, values) = (&t[first..to], &x[first..to]);
    let path = shape.path(times, rising);
    let variance = cost / (values.len() as f64 - 7.0).max(1.0);
    let covariance = eq.covariance() * variance;
    let s = shape;
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
        fit: super::record::fit_percent(values, &path),
        turns: turns.len(),
    })
}

/// Turning points of a decay, refined below the sample: the extreme of a parabola fitted on either side. Ends when a half
/// swing is smaller than 4 % of the first or drowns in noise.
fn turning_points(t: &[f64], x: &[f64]) -> Vec<Turn> {
    let n = x.len();
    // The median second difference measures the noise; smooth over enough samples to tell a turn from it.
    let mut second: Vec<f64> = x
        .windows(3)
        .map(|w| (w[2] - 2.0 * w[1] + w[0]).abs() / 6f64.sqrt())
        .collect();
    let noise = 1.5 * super::record::median(&mut second);
    let span = super::record::span(x.iter().copied());
    let threshold = (6.0 * noise).max(0.02 * span);
    // Zigzag: an extreme counts when the motion has come back by the threshold.
    let mut extremes: Vec<usize> = Vec::new();
    let (mut high, mut low) = (0, 0);
    let mut looking_up: Option<bool> = None;
    for i in 1..n {
        if x[i] > x[high] {
            high = i;
        }
        if x[i] < x[low] {
            low = i;
        }
        if looking_up != Some(false) && x[high] - x[i] > threshold {
            extremes.push(high);
            looking_up = Some(false);
            low = i;
        } else if looking_up != Some(true) && x[i] - x[low] > threshold {
            extremes.push(low);
            looking_up = Some(true);
            high = i;
        }
    }
    let mut turns: Vec<Turn> = Vec::new();
    for &i in &extremes {
        let turn = refine(t, x, i, noise, span);
        if let [.., before] = turns[..] {
            let first = (turns.get(1).map_or(turn.x, |s| s.x) - turns[0].x).abs();
            if (turn.x - before.x).abs() < (0.04 * first).max(8.0 * noise) {
                break;
            }
        }
        turns.push(turn);
    }
    turns
}

/// The turn near sample `i`: the parabola through the samples around it that differ from it by at most 2 % of the span
/// (more with noise), never more than is needed.
fn refine(t: &[f64], x: &[f64], i: usize, noise: f64, span: f64) -> Turn {
    let depth = (0.002 * span).max(6.0 * noise);
    let mut lo = i;
    while lo > 0 && (x[lo - 1] - x[i]).abs() < depth {
        lo -= 1;
    }
    let mut hi = i;
    while hi + 1 < x.len() && (x[hi + 1] - x[i]).abs() < depth {
        hi += 1;
    }
    if hi - lo < 4 || lo == i || hi == i {
        return Turn { t: t[i], x: x[i] };
    }
    let mut eq = Triangle::new(3);
    for k in lo..=hi {
        let u = t[k] - t[i];
        eq.add(&mut [1.0, u, u * u, x[k] - x[i]]);
    }
    let c = eq.solve();
    let vertex = -c[1] / (2.0 * c[2]);
    if vertex.is_finite() && vertex > t[lo] - t[i] && vertex < t[hi] - t[i] {
        Turn {
            t: t[i] + vertex,
            x: x[i] + c[0] + 0.5 * c[1] * vertex,
        }
    } else {
        Turn { t: t[i], x: x[i] }
    }
}
