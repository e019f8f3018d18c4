//! A linear stage driven by a known force: mass, viscous and Coulomb friction and offset by linear least squares.
//!
//! ```text
//! M·q̈ + Fv·q̇ + Fc·sgn q̇ + Fo = F        asymmetric: (Fv ± ΔFv)·q̇ + Fc·sgn q̇ + Fo
//! ```
//!
//! In: time \[s\], position \[m\], force \[N\] at a constant rate. The inverse model of robotics: zero-phase low-pass of the
//! position, central differences, then the same linear-phase decimation of every column and of the force, so that
//! what the filters do to one side they do to the other.

use crate::error::{Error, Result};
use crate::number;

use crate::identify::data::dataset::{Channel, Dataset, Quantity};
use crate::identify::fit::triangle::Triangle;
use crate::identify::method::{Method, Options};
use crate::identify::outcome::{Estimate, Outcome};
use crate::identify::verdict::{Verdict, by_whiteness};

/// Samples dropped at either end: the filter's and the differences' edge.
const EDGE: [usize; 2] = [20, 5];

pub struct Stage;

impl Method for Stage {
    fn name(&self) -> &'static str {
        "stage"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        let has = |q| data.channel(q, 0).is_some();
        if has(Quantity::Displacement) && has(Quantity::Force) {
            Ok(())
        } else {
            Err("it needs a displacement and the force that drives it".into())
        }
    }

    fn run(&self, data: &Dataset, options: &Options) -> Result<Outcome> {
        let missing = || Error::invalid("a channel is missing", "give --angle and --force");
        let at = |q| data.channel(q, 0).ok_or_else(missing);
        let (position, force) = (at(Quantity::Displacement)?, at(Quantity::Force)?);
        let filter = Filter {
            asymmetric: options.asymmetric,
            ..Filter::default()
        };
        let found = identify(rate(position)?, &position.x, &force.x, &filter)?;
        let mut out = Outcome::bare(self.name(), found.verdict, found.estimates);
        out.fit = vec![found.fit];
        out.rms = vec![found.rms];
        out.rms_counts = vec![None];
        out.rms_unit = "N".into();
        out.notes = vec!["fit and RMS [N] are those of the force".into()];
        Ok(out)
    }
}

/// Time between samples [s] of a channel at a constant rate.
fn rate(c: &Channel) -> Result<f64> {
    let n = c.t.len();
    let dt = (c.t[n - 1] - c.t[0]) / (n - 1).max(1) as f64;
    let uneven =
        c.t.windows(2)
            .any(|w| ((w[1] - w[0]) / dt - 1.0).abs() > 0.5);
    if uneven || dt <= 0.0 {
        return Err(Error::invalid(
            "the stage's samples are not evenly spaced",
            "resample them, or give --rate HZ if only the time stamps are uneven",
        ));
    }
    Ok(dt)
}

/// How to filter.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Cut-off of the position's low-pass \[Hz\].
    pub cutoff_hz: f64,
    /// One equation is kept of this many samples.
    pub decimate: usize,
    /// Estimate viscous friction per direction.
    pub asymmetric: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            cutoff_hz: 50.0,
            decimate: 10,
            asymmetric: false,
        }
    }
}

/// Estimates and the RMS of the force that remains unexplained \[N\], fit of the force [%].
#[derive(Clone, Debug)]
pub struct Found {
    pub estimates: Vec<Estimate>,
    pub rms: f64,
    pub fit: f64,
    pub verdict: Verdict,
}

/// Identify from positions and forces sampled every `dt` \[s\].
pub fn identify(dt: f64, position: &[f64], force: &[f64], options: &Filter) -> Result<Found> {
    let n = position.len();
    if n < 200 || force.len() != n {
        return Err(Error::invalid(
            format!(
                "{n} positions and {} forces: at least 200 of each are needed",
                force.len()
            ),
            "check the chosen columns",
        ));
    }
    let q = zero_phase(position, options.cutoff_hz * dt);
    let v = differences(&q, dt);
    let a = differences(&v, dt);
    let sign: Vec<f64> = v
        .iter()
        .map(|v| if *v == 0.0 { 0.0 } else { v.signum() })
        .collect();
    let mut columns = vec![a, v.clone(), sign, vec![1.0; n]];
    let mut labels = vec![("M", "kg"), ("Fv", "N·s/m"), ("Fc", "N"), ("offset", "N")];
    if options.asymmetric {
        columns.push(v.iter().map(|v| v.abs()).collect());
        labels.push(("ΔFv", "N·s/m"));
    }
    let keep = EDGE[0]..n - EDGE[1];
    let every = options.decimate.max(1);
    let columns: Vec<Vec<f64>> = columns
        .iter()
        .map(|c| decimated(&c[keep.clone()], every))
        .collect();
    let target = decimated(&force[keep], every);
    let mut eq = Triangle::new(columns.len());
    for (i, y) in target.iter().enumerate() {
        let mut row: Vec<f64> = columns.iter().map(|c| c[i]).collect();
        row.push(*y);
        eq.add(&mut row);
    }
    let x = eq.solve();
    let freedom = (target.len() - columns.len()) as f64;
    let residuals: Vec<f64> = target
        .iter()
        .enumerate()
        .map(|(i, y)| {
            y - columns
                .iter()
                .zip(x.iter())
                .map(|(c, x)| c[i] * x)
                .sum::<f64>()
        })
        .collect();
    let (verdict, inflation) = by_whiteness(&residuals);
    let noise = eq.residual() / freedom;
    let variance = noise * inflation;
    let covariance = eq.inverse();
    let mean = target.iter().sum::<f64>() / target.len() as f64;
    let spread: f64 = target.iter().map(|y| (y - mean).powi(2)).sum();
    Ok(Found {
        estimates: labels
            .iter()
            .enumerate()
            .map(|(i, (name, unit))| {
                Estimate::new(*name, x[i], (variance * covariance[(i, i)]).sqrt(), *unit)
            })
            .collect(),
        rms: noise.sqrt(),
        fit: 100.0 * (1.0 - eq.residual() / spread),
        verdict,
    })
}

fn differences(x: &[f64], dt: f64) -> Vec<f64> {
    let n = x.len();
    (0..n)
        .map(|i| {
            if i == 0 || i == n - 1 {
                0.0
            } else {
                (x[i + 1] - x[i - 1]) / (2.0 * dt)
            }
        })
        .collect()
}

/// Fourth-order Butterworth low-pass run forwards and backwards; `cutoff` in cycles per sample.
fn zero_phase(x: &[f64], cutoff: f64) -> Vec<f64> {
    let pad = 15.min(x.len() - 1);
    let (first, last) = (x[0], x[x.len() - 1]);
    // Odd reflection at both ends keeps value and slope.
    let mut y: Vec<f64> = (1..=pad).rev().map(|i| 2.0 * first - x[i]).collect();
    y.extend_from_slice(x);
    y.extend((1..=pad).map(|i| 2.0 * last - x[x.len() - 1 - i]));
    for _ in 0..2 {
        for damping in [0.541_196_100_146_197, 1.306_562_964_876_377] {
            section(&mut y, cutoff, damping);
        }
        y.reverse();
    }
    y[pad..pad + x.len()].to_vec()
}

/// One second-order Butterworth section with quality `q`, in place, started at rest at its first value.
fn section(x: &mut [f64], cutoff: f64, q: f64) {
    let k = number::tan(std::f64::consts::PI * cutoff);
    let norm = 1.0 / (1.0 + k / q + k * k);
    let b = [k * k * norm, 2.0 * k * k * norm, k * k * norm];
    let a = [2.0 * (k * k - 1.0) * norm, (1.0 - k / q + k * k) * norm];
    let x0 = x[0];
    let (mut x1, mut x2, mut y1, mut y2) = (x0, x0, x0, x0);
    for v in x.iter_mut() {
        let y = b[0] * *v + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2;
        (x2, x1, y2, y1) = (x1, *v, y1, y);
        *v = y;
    }
}

/// Every `every`-th value of a linear-phase low-pass at 1/`every` of Nyquist (Hamming window, 20·every + 1 taps).
fn decimated(x: &[f64], every: usize) -> Vec<f64> {
    if every == 1 {
        return x.to_vec();
    }
    let half = (10 * every) as i64;
    let taps: Vec<f64> = (-half..=half)
        .map(|k| {
            let window = 0.54 + 0.46 * number::cos(std::f64::consts::PI * k as f64 / half as f64);
            let u = std::f64::consts::PI * k as f64 / every as f64;
            window * if k == 0 { 1.0 } else { number::sin(u) / u }
        })
        .collect();
    let sum: f64 = taps.iter().sum();
    (0..x.len())
        .step_by(every)
        .map(|i| {
            let dot: f64 = taps
                .iter()
                .enumerate()
                .filter_map(|(k, t)| {
                    let at = i as i64 + k as i64 - half;
                    usize::try_from(at)
                        .ok()
                        .and_then(|at| x.get(at))
                        .map(|v| v * t)
                })
                .sum();
            dot / sum
        })
        .collect()
}
