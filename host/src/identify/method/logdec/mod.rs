//! Extended logarithmic decrement (paper 004, corrected): asymmetric Coulomb and viscous friction of a linear oscillator.
//!
//! ```text
//! m·ẍ + (c̄ ± Δc)·ẋ + k·x + (f̄ ± Δf)·sgn ẋ = k·x0         + for ẋ > 0, − for ẋ < 0
//! ```
//!
//! Between turning points the motion is linear about S± = x0 ∓ f±/k, so successive turning points obey
//! y\[n\] = S − (y[n−1] − S)·E with E = e^(−πβ), one S and E per direction. E from differences of turning points (the
//! friction drops out), S± = (y\[n\] + y[n−1]·E)/(1+E), then x̄k = (S₋ − S₊)/2, Δxk = x0 − (S₊ + S₋)/2, ζ = β/√(1+β²),
//! ω0 = ωd/√(1−ζ²); Δζ keeps its sign. `peaks` does that with one E for both directions; `fit` then moves the same seven
//! numbers to the least squares over all samples up to and including the final rest (S₊ ≤ x ≤ S₋: friction holds), first
//! over a few half swings, then over everything. That is what makes it work with noise, and gives standard errors.
//!
//! Δf cannot be told from a constant offset: x0 must be known (0 unless given).

mod piecewise;
mod turning;

use crate::error::{Error, Result};
use crate::number;

use crate::identify::data::dataset::Dataset;
use crate::identify::data::record::MIN_SAMPLES;
use crate::identify::fit::triangle::Triangle;
use crate::identify::method::{Method, Options};
use crate::identify::outcome::{Estimate, Outcome};
use crate::identify::verdict::{Pattern, Verdict};
use piecewise::{Moved, Samples, Shape, Turn, UNKNOWNS, adjust};
use turning::turning_points;

/// Fewest turning points: three half swings show two in one direction.
const LEAST_TURNS: usize = 4;
/// A cost larger by this many variances is no evidence.
const NO_EVIDENCE: f64 = 10.0;
/// Numbers of half swings tried beyond the best one.
const PATIENCE: usize = 2;
/// Samples of the first, coarse adjustments.
const FEW_SAMPLES: usize = 2000;

/// Standard errors of a 95 % interval.
const BEYOND: f64 = 1.96;

/// Below this angle [rad] a pendulum's frequency is within 1.6 % of a linear one.
const SMALL: f64 = 0.5;

pub struct Logdec;

impl Method for Logdec {
    fn name(&self) -> &'static str {
        "logdec"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        if data.is_passive(1) {
            Ok(())
        } else {
            Err("the logarithmic decrement is for one joint; use energy or greybox".into())
        }
    }

    /// A pendulum taken for a linear oscillator: its small swings only.
    fn run(&self, data: &Dataset, _: &Options) -> Result<Outcome> {
        let motion = data.motion()?;
        let record = &motion.record;
        let last_large = record.q.iter().rposition(|q| q[0].abs() > SMALL);
        let from = last_large.map_or(0, |i| i + 1);
        let x = record.joint(0);
        let tail = x.len() / 20 + 1;
        let rest = x[x.len() - tail..].iter().sum::<f64>() / tail as f64;
        if x.len() - from < MIN_SAMPLES {
            return Err(Error::invalid(
                format!(
                    "{} samples follow the last angle above {SMALL} rad: too few swings are small",
                    x.len() - from
                ),
                "record until the pendulum is at rest, or use `--method greybox`",
            ));
        }
        let d = identify(&record.t[from..], &x[from..], rest)?;
        let (w2, e) = (d.omega0 * d.omega0, d.stderr);
        let per_j = |name: &str, id: &str, value: f64, stderr: f64, unit| {
            Estimate::new(name, value, stderr, unit).called(id)
        };
        let estimates = vec![
            per_j("ω0²", "omega0_sq", w2, 2.0 * d.omega0 * e[0], "1/s²").beside(),
            per_j("c/J", "c_per_j", w2 * d.x_mean, w2 * e[3], "rad/s²"),
            per_j("Δc/J", "delta_c_per_j", w2 * d.x_delta, w2 * e[4], "rad/s²").beside(),
            per_j("b/J", "b_per_j", d.c_mean, e[1], "1/s"),
            per_j("Δb/J", "delta_b_per_j", d.c_delta, e[2], "1/s").beside(),
        ];
        let verdict = match d.inflation {
            _ if d.drives() => Verdict::NotExplained {
                pattern: Pattern::Driving,
            },
            variance if variance > 2.0 => Verdict::Inflated { variance },
            _ => Verdict::Explained,
        };
        let mut out = Outcome::bare(self.name(), verdict, estimates);
        out.fit = vec![d.fit];
        out.rms = vec![d.rms];
        out.rms_counts = vec![(record.quantum[0] > 0.0).then(|| d.rms / record.quantum[0])];
        out.notes = vec![format!(
            "{} turning points below {SMALL} rad used; Δc cannot be told from an offset of the rest position",
            d.turns
        )];
        Ok(out)
    }
}

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
    /// Variance inflation for residuals that hang together.
    pub inflation: f64,
    /// Turning points used.
    pub turns: usize,
    /// Swing of the first turning point about the middle [unit of x].
    pub amplitude: f64,
}

impl Decrement {
    /// Friction would have to drive: it gives energy over the swings seen, or one of its parts is negative beyond its
    /// interval.
    pub fn drives(&self) -> bool {
        // Loss of a half swing of amplitude A per 2·k·A: x̄k from Coulomb, π/4·c̄/m·A/ω0 from viscous friction.
        let viscous = std::f64::consts::FRAC_PI_4 * self.c_mean * self.amplitude / self.omega0;
        let negative = |value: f64, stderr: f64| value + BEYOND * stderr < 0.0;
        let loss = self.x_mean + viscous;
        loss.is_nan()
            || loss <= 0.0
            || negative(self.c_mean, self.stderr[1])
            || negative(self.x_mean, self.stderr[3])
    }
}

/// Identify from displacement `x` at times `t` \[s\] of a free decay about the known rest position `x0`.
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
    let beta = -number::ln(decay) / std::f64::consts::PI;
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
    let close = least * (1.0 + NO_EVIDENCE / few_t.len() as f64);
    let by_itself = |(n, m): &(usize, Moved)| m.shape.swings(rising, most) == *n;
    let allowed = tried.iter().any(|t| by_itself(t) && t.1.cost <= close);
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
    let inflation = correlation(&residuals, lags);
    let covariance = eq.inverse() * variance * inflation;
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
        fit: crate::identify::data::record::fit_percent(x, &path),
        inflation,
        turns: turns.len(),
        amplitude: few.amplitude / 2.0,
    })
}

/// Variance inflation by residuals that hang together: 1 + 2·Σρ over the lags before the correlation is lost.
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
