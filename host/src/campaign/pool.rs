//! Random effects: runs scatter more than their own errors say, and a mean over runs must know both.
//!
//! yᵢ = μ + uᵢ + eᵢ with Var uᵢ = τ² (between runs) and Var eᵢ = sᵢ² (within a run, its standard error). τ² solves
//! Σ (yᵢ − μ)²/(sᵢ² + τ²) = k − 1 (Paule and Mandel), zero where the runs scatter no more than their errors; the interval of μ
//! is that of Hartung and Knapp: t with k − 1 degrees of freedom on the weighted scatter.

use crate::identify::data::record::median;
use crate::identify::outcome::quantile;

/// A mean over runs.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Pooled {
    pub runs: usize,
    pub mean: f64,
    /// Half of the 95 % interval; none of a single run.
    pub half_width: Option<f64>,
    /// Standard deviation between runs, τ.
    pub between: f64,
    /// Median standard error of a run.
    pub within: f64,
}

/// Pool values with their standard errors; none without any.
pub fn pool(values: &[(f64, f64)]) -> Option<Pooled> {
    let values: Vec<(f64, f64)> = values
        .iter()
        .copied()
        .filter(|(y, s)| y.is_finite() && s.is_finite() && *s > 0.0)
        .collect();
    let k = values.len();
    if k == 0 {
        return None;
    }
    let freedom = k as f64 - 1.0;
    let tau2 = between(&values, freedom);
    let (mean, weight) = weighted(&values, tau2);
    let half_width = (k > 1).then(|| {
        let scatter = scatter(&values, tau2, mean) / freedom;
        // Never narrower than the errors themselves allow.
        quantile(freedom) * (scatter.max(1.0) / weight).sqrt()
    });
    Some(Pooled {
        runs: k,
        mean,
        half_width,
        between: tau2.sqrt(),
        within: median(&mut values.iter().map(|v| v.1).collect::<Vec<_>>()),
    })
}

/// Weighted mean and sum of the weights.
fn weighted(values: &[(f64, f64)], tau2: f64) -> (f64, f64) {
    let (mut sum, mut weight) = (0.0, 0.0);
    for (y, s) in values {
        let w = 1.0 / (s * s + tau2);
        sum += w * y;
        weight += w;
    }
    (sum / weight, weight)
}

fn scatter(values: &[(f64, f64)], tau2: f64, mean: f64) -> f64 {
    let one = |(y, s): &(f64, f64)| (y - mean) * (y - mean) / (s * s + tau2);
    values.iter().map(one).sum()
}

/// τ² by bisection: the scatter falls as τ² grows.
fn between(values: &[(f64, f64)], freedom: f64) -> f64 {
    let excess = |tau2: f64| scatter(values, tau2, weighted(values, tau2).0) - freedom;
    if freedom < 1.0 || excess(0.0) <= 0.0 {
        return 0.0;
    }
    let plain = values.iter().map(|v| v.0).sum::<f64>() / values.len() as f64;
    let mut high = values
        .iter()
        .map(|v| (v.0 - plain) * (v.0 - plain))
        .sum::<f64>();
    while excess(high) > 0.0 && high.is_finite() {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// How far a run lies from the pooled mean, in standard deviations of such runs.
pub fn distance((y, s): (f64, f64), pooled: &Pooled) -> f64 {
    (y - pooled.mean).abs() / (s * s + pooled.between * pooled.between).sqrt()
}
