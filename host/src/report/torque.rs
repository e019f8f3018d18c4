//! Friction torque against velocity: measured points, without any friction model.
//!
//! With p = H·ω the momentum obeys ṗ = ½·ωᵀ(∂H/∂q)ω − G − f, so over a short window
//!
//! ```text
//! mean f = (∫(½·ωᵀ(∂H/∂q)ω − G)dt − Δp)/T
//! ```
//!
//! Angles and velocities come from cubics fitted to the counts around each node; windows in which the joint turns
//! or hardly moves are left out. Points are averaged over bins of velocity. They need the rig's inertias and
//! nothing else, so a curve that misses them is wrong, and a rig that is wrong bends them.

use serde::Serialize;
use stribeck_core::JOINTS;
use stribeck_core::model::plant::Plant;

use super::swing::Swing;

/// Distance of the nodes [s]; a window is four of them.
const NODE: f64 = 0.02;
const INTERVALS: usize = 4;
/// Half-width of the fitted cubic [s].
const HALF: f64 = 0.03;
/// Fewest samples of a fit.
const FEWEST: usize = 12;
/// Bins over the whole range of velocities.
const BINS: usize = 48;
/// Windows a point is made of at least.
const WINDOWS: usize = 4;

/// One point of the measured curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Velocity [rad/s or m/s], torque [N·m] or force \[N\], and its standard error.
    pub w: f64,
    pub torque: f64,
    pub stderr: f64,
    /// Windows averaged.
    pub windows: usize,
}

/// What one joint showed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measured {
    pub points: Vec<Point>,
    /// Largest velocity [rad/s or m/s] and median normal force \[N\] during the run.
    pub fastest: f64,
    pub normal: f64,
}

/// State at a node.
#[derive(Clone, Copy)]
struct Node {
    w: [f64; JOINTS],
    /// H·ω, ½·ωᵀ(∂H/∂q)ω − G, normal forces.
    p: [f64; JOINTS],
    force: [f64; JOINTS],
    normal: [f64; JOINTS],
}

/// Measured friction of every moving joint, from (t \[s\], q \[rad or m\]).
pub fn measure(swing: &Swing, trace: &[(f64, [f64; JOINTS])]) -> Vec<Measured> {
    let plant = swing.plant();
    let nodes: Vec<Option<Node>> = nodes(trace)
        .into_iter()
        .map(|node| {
            node.map(|(q, w)| {
                let terms = plant.terms(q, w);
                Node {
                    w,
                    p: terms.h.apply(w),
                    force: std::array::from_fn(|j| terms.dt_dq[j] - terms.g[j]),
                    normal: terms.normal,
                }
            })
        })
        .collect();
    let still = f64::from(swing.config.ekf.still_speed);
    (0..swing.joints())
        .map(|j| joint(&nodes, j, still))
        .collect()
}

fn joint(nodes: &[Option<Node>], j: usize, still: f64) -> Measured {
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for window in nodes.windows(INTERVALS + 1).step_by(INTERVALS / 2) {
        let Some(window) = window.iter().copied().collect::<Option<Vec<Node>>>() else {
            continue;
        };
        let sign = window[0].w[j].signum();
        if window.iter().any(|n| n.w[j] * sign < still) {
            continue;
        }
        // Simpson's rule over four intervals.
        let mean = |of: &dyn Fn(&Node) -> f64| {
            let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|i| of(&window[i]));
            (a + 4.0 * b + 2.0 * c + 4.0 * d + e) / 12.0
        };
        let duration = INTERVALS as f64 * NODE;
        let gained = (window[INTERVALS].p[j] - window[0].p[j]) / duration;
        pairs.push((mean(&|n| n.w[j]), mean(&|n| n.force[j]) - gained));
    }
    let known = || nodes.iter().flatten();
    let mut normals: Vec<f64> = known().map(|n| n.normal[j]).collect();
    normals.sort_by(f64::total_cmp);
    Measured {
        points: bins(&pairs),
        fastest: known().map(|n| n.w[j].abs()).fold(0.0, f64::max),
        normal: normals.get(normals.len() / 2).copied().unwrap_or(0.0),
    }
}

fn bins(pairs: &[(f64, f64)]) -> Vec<Point> {
    let reach = pairs.iter().map(|p| p.0.abs()).fold(0.0, f64::max);
    if reach == 0.0 {
        return Vec::new();
    }
    let mut bins = vec![Vec::new(); BINS];
    for (w, f) in pairs {
        let place = (w / reach + 1.0) / 2.0 * BINS as f64;
        bins[(place as usize).min(BINS - 1)].push((*w, *f));
    }
    let full = bins.iter().filter(|b| b.len() >= WINDOWS);
    full.map(|bin| {
        let n = bin.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| bin.iter().map(of).sum::<f64>() / n;
        let torque = mean(&|p| p.1);
        let variance = mean(&|p| (p.1 - torque).powi(2)) / (n - 1.0);
        Point {
            w: mean(&|p| p.0),
            torque,
            stderr: variance.sqrt(),
            windows: bin.len(),
        }
    })
    .collect()
}

/// Angle and velocity every [`NODE`]; `None` where samples are missing.
fn nodes(trace: &[(f64, [f64; JOINTS])]) -> Vec<Option<([f64; JOINTS], [f64; JOINTS])>> {
    let (Some(first), Some(last)) = (trace.first(), trace.last()) else {
        return Vec::new();
    };
    let spacing = (last.0 - first.0) / trace.len() as f64;
    let half = HALF.max(FEWEST as f64 * spacing);
    let count = ((last.0 - first.0) / NODE) as usize;
    let (mut low, mut high) = (0, 0);
    (0..count)
        .map(|i| {
            let t = first.0 + i as f64 * NODE;
            while trace[low].0 < t - half {
                low += 1;
            }
            while high < trace.len() && trace[high].0 <= t + half {
                high += 1;
            }
            cubic(&trace[low..high], t, half)
        })
        .collect()
}

/// Value and slope at `at` of the least-squares cubics through the samples.
fn cubic(
    samples: &[(f64, [f64; JOINTS])],
    at: f64,
    half: f64,
) -> Option<([f64; JOINTS], [f64; JOINTS])> {
    let (first, last) = (samples.first()?, samples.last()?);
    // Samples on both sides, otherwise the cubic extrapolates.
    let covered = first.0 < at - 0.5 * half && last.0 > at + 0.5 * half;
    if !covered || samples.len() < FEWEST {
        return None;
    }
    // Normal equations in u = (t − at)/half; columns 4 and 5 are the two joints' right-hand sides.
    let mut m = [[0.0; 6]; 4];
    let base = first.1;
    for (t, q) in samples {
        let u = (t - at) / half;
        let powers = [1.0, u, u * u, u * u * u];
        for (row, p) in m.iter_mut().zip(powers) {
            for (cell, other) in row.iter_mut().zip(powers) {
                *cell += p * other;
            }
            for j in 0..JOINTS {
                row[4 + j] += p * (q[j] - base[j]);
            }
        }
    }
    let c = solve(m)?;
    Some((
        std::array::from_fn(|j| base[j] + c[0][j]),
        std::array::from_fn(|j| c[1][j] / half),
    ))
}

/// Gauss elimination of a positive definite system with two right-hand sides.
fn solve(mut m: [[f64; 6]; 4]) -> Option<[[f64; JOINTS]; 4]> {
    for k in 0..4 {
        let pivot = m[k];
        if pivot[k].abs() < 1e-12 {
            return None;
        }
        for (i, row) in m.iter_mut().enumerate() {
            if i != k {
                let factor = row[k] / pivot[k];
                for (cell, p) in row.iter_mut().zip(pivot) {
                    *cell -= factor * p;
                }
            }
        }
    }
    Some(std::array::from_fn(|i| {
        [m[i][4] / m[i][i], m[i][5] / m[i][i]]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_is_recovered() {
        let at = 2.0;
        let samples: Vec<(f64, [f64; 2])> = (0..60)
            .map(|i| 1.97 + i as f64 * 1e-3)
            .map(|t| (t, [1.0 + 2.0 * (t - at), 5.0 - (t - at).powi(3) * 7.0]))
            .collect();
        let (q, w) = cubic(&samples, at, HALF).unwrap();
        assert!((q[0] - 1.0).abs() < 1e-9 && (w[0] - 2.0).abs() < 1e-7);
        assert!((q[1] - 5.0).abs() < 1e-9 && w[1].abs() < 1e-6);
        assert!(cubic(&samples[..20], at, HALF).is_none(), "one side only");
    }
}
