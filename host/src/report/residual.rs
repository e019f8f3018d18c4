//! What the observers leave over: measured minus estimated angle, in encoder counts.
//!
//! The record of a tick holds what the observers expect of the next one, so the estimate is moved back by one tick first.

use serde::Serialize;
use stribeck_core::wire::block::States;

use super::swing::Swing;

/// Statistics of one observer's residuals at one joint.
#[derive(Clone, Debug, Serialize)]
pub struct Residual {
    pub observer: &'static str,
    pub joint: usize,
    /// \[counts\]
    pub mean: f64,
    pub rms: f64,
    pub largest: f64,
    /// Correlation of neighbouring records: near 0 is noise, near 1 is a systematic error.
    pub correlation: f64,
    /// (t \[s\], residual \[counts\]).
    #[serde(skip)]
    pub points: Vec<(f64, f64)>,
}

/// Of both observers at all moving joints.
pub fn residuals(swing: &Swing) -> Vec<Residual> {
    type Estimate = fn(&States, usize) -> (f32, f32);
    let observers: [(&'static str, Estimate); 2] = [
        ("EKF", |s, j| (s.ekf_q[j], s.ekf_w[j])),
        ("UAS", |s, j| (s.uas_q[j], s.uas_w[j])),
    ];
    let quantum = swing.quantum();
    let mut rows = Vec::new();
    for (observer, estimate) in observers {
        for (joint, quantum) in quantum.iter().enumerate().take(swing.joints()) {
            let points = swing.observed.samples().iter().map(|(tick, o)| {
                let (q, w) = estimate(&o.states, joint);
                let error = o.measured[joint] - (f64::from(q) - swing.tick_s() * f64::from(w));
                (swing.seconds(*tick), error / quantum)
            });
            rows.push(statistics(observer, joint, points.collect()));
        }
    }
    rows
}

fn statistics(observer: &'static str, joint: usize, points: Vec<(f64, f64)>) -> Residual {
    let n = points.len().max(1) as f64;
    let mean = points.iter().map(|p| p.1).sum::<f64>() / n;
    let square = points.iter().map(|p| p.1 * p.1).sum::<f64>() / n;
    let variance = points.iter().map(|p| (p.1 - mean).powi(2)).sum::<f64>();
    let pairs = points.windows(2).map(|w| (w[0].1 - mean) * (w[1].1 - mean));
    let correlation = if variance > 0.0 {
        pairs.sum::<f64>() / variance
    } else {
        0.0
    };
    Residual {
        observer,
        joint,
        mean,
        rms: square.sqrt(),
        largest: points.iter().map(|p| p.1.abs()).fold(0.0, f64::max),
        correlation,
        points,
    }
}
