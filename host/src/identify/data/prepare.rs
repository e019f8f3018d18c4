//! A record prepared for shooting: dense samples thinned to readings, start states from the smoothed measurement.

use crate::identify::data::polynomial::Polynomial;
use crate::identify::data::record::{Record, span};
use crate::identify::data::smooth::{local, noise, time_scale};
use crate::identify::fit::shooting::{Data, Grid};

/// Width of a block that becomes one reading, in time scales of the motion.
const BLOCK: f64 = 0.1;
/// Half-width of the polynomials that show the noise of sparse samples, in blocks.
const SPARSE: f64 = 6.0;
/// Length of a segment of the shooting, in time scales.
const SEGMENT: f64 = 4.0;
/// Variance of a uniform rounding error of one count.
const ROUNDING: f64 = 1.0 / 12.0;

#[derive(Clone, Debug)]
pub struct Prepared {
    pub data: Data,
    /// Angles and velocities at the start of every segment, from the measurement.
    pub nodes: Vec<[f64; 4]>,
    /// Length of a segment \[s\].
    pub segment: f64,
    /// Time scale of the motion \[s\].
    pub scale: f64,
}

impl Prepared {
    pub fn new(record: &Record) -> Prepared {
        let scale = time_scale(record);
        let data = thin(record, BLOCK * scale);
        let segment = (SEGMENT * scale).min(record.duration());
        let half = (0.5 * scale).max(4.0 * record.dt());
        let joints: Vec<Vec<f64>> = (0..record.joints).map(|j| record.joint(j)).collect();
        let grid = Grid::new(&data, record.t[0], segment, 1.0);
        let at = |t: f64| {
            let mut s = [0.0; 4];
            for (j, x) in joints.iter().enumerate() {
                let l = local(&record.t, x, t, half);
                s[j] = l.q;
                s[record.joints + j] = l.w;
            }
            s
        };
        Prepared {
            nodes: grid.start.iter().map(|&t| at(t)).collect(),
            data,
            segment,
            scale,
        }
    }
}

/// Blocks of samples shorter than `width` \[s\] become one reading each: the value of their least-squares parabola at
/// their mean time. Sparse samples stay as they are.
///
/// A reading's variance is what the samples' scatter leaves, and what rounding to counts leaves: averaging removes the
/// latter only while the joint crosses counts, and a joint that stands still reads one and the same error again and again.
pub fn thin(record: &Record, width: f64) -> Data {
    let per_block = (width / record.dt()).floor() as usize;
    let count: [f64; 2] = std::array::from_fn(|j| record.resolution(j));
    if per_block < 4 {
        // What a polynomial over a time scale leaves is noise, or the rounding of a coarse encoder.
        let half = SPARSE * width;
        let sigma = |j: usize| (ROUNDING.sqrt() * count[j]).max(noise(record, j, half));
        return Data {
            t: record.t.clone(),
            y: record.q.clone(),
            sigma: std::array::from_fn(|j| sigma(j).max(1e-6)),
            worse: vec![[1.0; 2]; record.t.len()],
        };
    }
    let (mut t, mut y) = (Vec::new(), Vec::new());
    // Range of the samples of each block [counts].
    let mut travel: Vec<[f64; 2]> = Vec::new();
    let n = record.t.len();
    let mut scatter = [0.0; 2];
    let mut freedom = 0.0;
    // A few samples left over at the end say nothing that the block before has not said.
    for i in (0..n.saturating_sub(3)).step_by(per_block) {
        let block = i..(i + per_block).min(n);
        let (ts, qs) = (&record.t[block.clone()], &record.q[block]);
        let mean = ts.iter().sum::<f64>() / ts.len() as f64;
        let (mut reading, mut range) = ([0.0; 2], [0.0; 2]);
        for j in 0..record.joints {
            let half = 0.5 * (ts[ts.len() - 1] - ts[0]).max(1e-12);
            let samples = ts.iter().zip(qs).map(|(t, q)| (*t, q[j]));
            match Polynomial::<3>::fit(samples, mean, half) {
                Some(p) => {
                    reading[j] = p.coefficients[0];
                    scatter[j] += p.rest;
                }
                None => reading[j] = qs[qs.len() / 2][j],
            }
            range[j] = span(qs.iter().map(|q| q[j])) / count[j].max(1e-12);
        }
        freedom += ts.len() as f64 - 3.0;
        t.push(mean);
        y.push(reading);
        travel.push(range);
    }
    // Variance of the parabola's value at its middle per variance of a sample: 9/4n.
    let share = 2.25 / per_block as f64;
    let mut sigma = [1.0; 2];
    let mut worse = vec![[1.0; 2]; t.len()];
    for j in 0..record.joints {
        let rounding = ROUNDING * count[j] * count[j];
        let white = (share * (scatter[j] / freedom.max(1.0)).max(rounding)).max(1e-18);
        sigma[j] = white.sqrt();
        for still in stretches(&travel, &y, j) {
            let repeats = still.len() as f64;
            for i in still {
                let rounded = repeats * rounding / (1.0 + 16.0 * travel[i][j].powi(2));
                worse[i][j] = (1.0 + rounded / white).sqrt();
            }
        }
    }
    Data { t, y, sigma, worse }
}

/// Stretches of readings of joint `j` that all show the same count; readings that move are stretches of one.
fn stretches(travel: &[[f64; 2]], y: &[[f64; 2]], j: usize) -> Vec<std::ops::Range<usize>> {
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    for i in 0..travel.len() {
        match out.last_mut() {
            Some(last)
                if travel[i][j] == 0.0
                    && travel[last.start][j] == 0.0
                    && y[i][j] == y[last.start][j] =>
            {
                last.end = i + 1;
            }
            _ => out.push(i..i + 1),
        }
    }
    out
}
