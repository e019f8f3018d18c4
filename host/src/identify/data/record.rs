//! A record of measured angles, ready to be identified: what every method takes as input.
//!
//! Angles \[rad\] are measured from the hanging position, unwrapped, at strictly increasing times \[s\]
//! that need not be evenly spaced. A one-joint plant uses `q[..][0]`.
//!
//! It does not read files (see [`crate::identify::data::import`]) and knows no plant.

use crate::error::{Error, Result};

/// Measured angles over time.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it came from, for tables and error messages.
    pub name: String,
    /// Times \[s\], strictly increasing, first one 0.
    pub t: Vec<f64>,
    /// Angles \[rad\] of both joints; a one-joint plant leaves the second at 0.
    pub q: Vec<[f64; 2]>,
    /// Joints measured: 1 or 2.
    pub joints: usize,
    /// Size of one encoder count \[rad\]; 0 when unknown.
    pub quantum: [f64; 2],
}

/// A gap is longer than so many samples and so many seconds.
const GAP_SAMPLES: f64 = 10.0;
const GAP_SECONDS: f64 = 0.1;
/// Neighbours on either side that a step is compared with, and how much larger it must be than is usual.
const BESIDE: usize = 3;
const JUMP: f64 = 20.0;
/// Fewest samples any method can work with.
pub const MIN_SAMPLES: usize = 50;

impl Record {
    /// Duration \[s\].
    pub fn duration(&self) -> f64 {
        self.t.last().copied().unwrap_or(0.0) - self.t.first().copied().unwrap_or(0.0)
    }

    /// Median time between samples \[s\].
    pub fn dt(&self) -> f64 {
        let mut d: Vec<f64> = self.t.windows(2).map(|w| w[1] - w[0]).collect();
        median(&mut d)
    }

    /// One joint's angles.
    pub fn joint(&self, j: usize) -> Vec<f64> {
        self.q.iter().map(|q| q[j]).collect()
    }

    /// The part of the record with sample indices `range`; time starts at 0 again.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Record {
        let t0 = self.t[range.start];
        Record {
            name: self.name.clone(),
            t: self.t[range.clone()].iter().map(|t| t - t0).collect(),
            q: self.q[range].to_vec(),
            joints: self.joints,
            quantum: self.quantum,
        }
    }

    /// The longest part without a gap. Samples further apart than `GAP_SAMPLES` of them and `GAP_SECONDS` hide what
    /// the plant did in between.
    pub fn longest_stretch(&self) -> std::ops::Range<usize> {
        let gap = (GAP_SAMPLES * self.dt()).max(GAP_SECONDS);
        let mut edges = vec![0];
        edges.extend(
            self.t
                .windows(2)
                .enumerate()
                .filter(|(_, w)| w[1] - w[0] > gap)
                .map(|(i, _)| i + 1),
        );
        edges.extend((0..self.joints).flat_map(|j| self.jumps(j)));
        edges.push(self.t.len());
        edges.sort_unstable();
        edges
            .windows(2)
            .map(|w| w[0]..w[1])
            .max_by(|a, b| {
                let length = |r: &std::ops::Range<usize>| self.t[r.end - 1] - self.t[r.start];
                length(a).total_cmp(&length(b))
            })
            .unwrap_or(0..0)
    }

    /// Samples of joint `j` that do not follow the one before: samples are missing without a gap in the time stamps, or the
    /// counter slipped. A step is compared with its neighbours; a push changes the speed, not the angle.
    fn jumps(&self, j: usize) -> Vec<usize> {
        let steps: Vec<f64> = self.q.windows(2).map(|w| w[1][j] - w[0][j]).collect();
        // Uneven time stamps make uneven steps, and show a gap themselves.
        let dt = self.dt();
        let even = |w: &[f64]| ((w[1] - w[0]) / dt - 1.0).abs() < 0.05;
        if steps.len() < 2 * BESIDE + 1 || !self.t.windows(2).all(even) {
            return Vec::new();
        }
        let excess: Vec<(usize, f64, f64)> = (BESIDE..steps.len() - BESIDE)
            .map(|i| {
                let sides = steps[i - BESIDE..i]
                    .iter()
                    .chain(&steps[i + 1..=i + BESIDE]);
                let usual = sides.sum::<f64>() / (2 * BESIDE) as f64;
                (i + 1, (steps[i] - usual).abs(), usual.abs())
            })
            .collect();
        let mut sizes: Vec<f64> = excess.iter().map(|e| e.1).collect();
        let typical = median(&mut sizes).max(self.resolution(j));
        excess
            .iter()
            .filter(|(_, e, usual)| *e > JUMP * typical && *e > 1.5 * usual)
            .map(|e| e.0)
            .collect()
    }

    /// Index of the first sample at or after time `t` \[s\].
    pub fn index(&self, t: f64) -> usize {
        self.t.partition_point(|&x| x < t)
    }

    /// Largest peak-to-peak excursion over the joints \[rad\].
    pub fn excursion(&self) -> f64 {
        (0..self.joints)
            .map(|j| span(self.q.iter().map(|q| q[j])))
            .fold(0.0, f64::max)
    }

    /// Refuse what no method can identify: too short, not finite, no motion.
    pub fn check(&self) -> Result<()> {
        let n = self.t.len();
        if n < MIN_SAMPLES {
            return Err(Error::invalid(
                format!(
                    "{}: {n} samples, at least {MIN_SAMPLES} are needed",
                    self.name
                ),
                "record until the pendulum is at rest, or check the chosen columns and rows",
            ));
        }
        if let Some(i) = self.q.iter().position(|q| !q.iter().all(|x| x.is_finite())) {
            return Err(Error::invalid(
                format!("{}: sample {} is not a number", self.name, i + 1),
                "remove or repair the sample",
            ));
        }
        if let Some(i) = self.t.windows(2).position(|w| w[1] <= w[0]) {
            return Err(Error::invalid(
                format!(
                    "{}: time goes from {} s to {} s at sample {}",
                    self.name,
                    self.t[i],
                    self.t[i + 1],
                    i + 2
                ),
                "time stamps must increase; give --rate to ignore them",
            ));
        }
        let least = (20.0 * self.quantum[0].max(self.quantum[1])).max(0.02);
        if self.excursion() < least {
            return Err(Error::invalid(
                format!(
                    "{}: no motion: the angle stays within {:.4} rad",
                    self.name,
                    self.excursion()
                ),
                "choose another column or unit, or a record of a swing of at least a few degrees",
            ));
        }
        Ok(())
    }

    /// The part in which the plant moves freely: from the moment the motion is under way to shortly
    /// after the last movement. A held start and the rest at the end say nothing about friction.
    pub fn moving(&self) -> Record {
        let noise: [f64; 2] = std::array::from_fn(|j| self.resolution(j));
        let reach: [f64; 2] = std::array::from_fn(|j| span(self.q.iter().map(|q| q[j])));
        let n = self.t.len();
        // Under way: 4 % of the largest excursion from the first sample, or 8 resolutions.
        let away = |from: &[f64; 2], q: &[f64; 2], part: f64, steps: f64| {
            (0..self.joints)
                .any(|j| (q[j] - from[j]).abs() > (part * reach[j]).max(steps * noise[j]))
        };
        let first = self.q[0];
        let left = self
            .q
            .iter()
            .position(|q| away(&first, q, 0.04, 8.0))
            .unwrap_or(0);
        // A record that begins in motion (or is released at once) keeps its first sample.
        let start = if self.t[left] - self.t[0] < 0.15 {
            0
        } else {
            left
        };
        let last = self.q[n - 1];
        let stop = (start..n)
            .rev()
            .find(|&i| away(&last, &self.q[i], 0.0, 3.0))
            .unwrap_or(n - 1);
        // Keep a little of the rest: it shows that the motion ended.
        let keep = self.index(self.t[stop] + 0.2).min(n);
        if keep - start < MIN_SAMPLES {
            self.clone()
        } else {
            self.slice(start..keep)
        }
    }

    /// The size of a count if known, else the smallest step the values show \[rad\].
    pub fn resolution(&self, j: usize) -> f64 {
        if self.quantum[j] > 0.0 {
            return self.quantum[j];
        }
        smallest_step(self.q.iter().map(|q| q[j]))
    }
}

/// The smallest step between sorted distinct values that is not rounding of the file format:
/// the 5 % quantile of the non-zero steps from sample to sample.
fn smallest_step(values: impl Iterator<Item = f64>) -> f64 {
    let v: Vec<f64> = values.collect();
    let mut d: Vec<f64> = v
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .filter(|d| *d > 0.0)
        .collect();
    if d.is_empty() {
        return 0.0;
    }
    d.sort_by(f64::total_cmp);
    d[d.len() / 20]
}

/// max − min.
pub fn span(values: impl Iterator<Item = f64>) -> f64 {
    let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| {
        (lo.min(x), hi.max(x))
    });
    (hi - lo).max(0.0)
}

/// The median; 0 for an empty slice. Reorders its argument.
pub fn median(v: &mut [f64]) -> f64 {
    if v.is_empty() {
        return 0.0;
    }
    let mid = v.len() / 2;
    *v.select_nth_unstable_by(mid, f64::total_cmp).1
}

/// fit = 100·(1 − Σ(x̂ − x)²/Σ(x − x̄)²) [%], paper 000 eq. (53).
pub fn fit_percent(reference: &[f64], estimate: &[f64]) -> f64 {
    let mean = reference.iter().sum::<f64>() / reference.len() as f64;
    let error: f64 = reference
        .iter()
        .zip(estimate)
        .map(|(x, e)| (e - x).powi(2))
        .sum();
    let spread: f64 = reference.iter().map(|x| (x - mean).powi(2)).sum();
    100.0 * (1.0 - error / spread)
}
