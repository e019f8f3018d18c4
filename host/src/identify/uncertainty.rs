//! How well a least-squares fit knows its parameters: covariance, singular values, residuals' worth.

use nalgebra::{DMatrix, DVector};

use super::condense::Condensed;
use super::model::Model;
use super::shooting::Pass;
use super::triangle::decompose;

/// See the fields of the same name in [`super::greybox::Fitted`].
pub struct Uncertainty {
    pub stderr: Vec<f64>,
    pub covariance: DMatrix<f64>,
    pub singular: Vec<f64>,
    pub effective: f64,
}

/// Of the free parameters of `model` at the end of a fit to `residuals` residuals.
pub fn of(model: &Model, condensed: &Condensed, pass: &Pass, residuals: usize) -> Uncertainty {
    let ns = 2 * model.joints();
    let np = model.free.len();
    let n = ns + np;
    let freedom = (residuals as f64 - n as f64).max(1.0);
    let variance = pass.merit.cost / freedom;
    let inverse = condensed.triangle.covariance();
    // Residuals of one segment are not independent of each other: let the segments vote (cluster-robust covariance).
    let count = condensed.clusters.len() as f64;
    let solution = condensed.triangle.solve();
    let mut meat = DMatrix::<f64>::zeros(n, n);
    for c in &condensed.clusters {
        let mut g = DVector::<f64>::zeros(n);
        for eq in c.factor() {
            let r = eq[n] - (0..n).map(|i| eq[i] * solution[i]).sum::<f64>();
            for i in 0..n {
                g[i] += eq[i] * r;
            }
        }
        meat += &g * g.transpose();
    }
    let classical = &inverse * variance;
    let finite = (count / (count - n as f64).max(1.0)).min(3.0);
    let robust = &inverse * meat * &inverse * finite;
    // The larger of the two per parameter, correlations from the classical one.
    let ratio: Vec<f64> = (0..n)
        .map(|i| (robust[(i, i)] / classical[(i, i)]).max(1.0).sqrt())
        .map(|r| if r.is_finite() { r } else { 1.0 })
        .collect();
    let covariance = DMatrix::from_fn(np, np, |i, j| {
        classical[(ns + i, ns + j)] * ratio[ns + i] * ratio[ns + j]
    });
    let worst = ratio[ns..].iter().map(|r| r * r).fold(1.0, f64::max);
    let scales = model.scales();
    let mut jacobian = condensed.triangle.matrix();
    for i in 0..np {
        jacobian.column_mut(ns + i).scale_mut(scales[i]);
    }
    let mut singular: Vec<f64> =
        decompose(jacobian).map_or(Vec::new(), |svd| svd.singular_values.as_slice().to_vec());
    singular.sort_by(|a, b| b.total_cmp(a));
    Uncertainty {
        stderr: (0..np).map(|i| covariance[(i, i)].sqrt()).collect(),
        covariance,
        singular,
        effective: residuals as f64 / worst,
    }
}
