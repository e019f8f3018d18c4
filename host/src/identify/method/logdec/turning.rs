//! Turning points of a noisy decay: found by hysteresis, refined below the sample by a local polynomial.

use crate::identify::data::record::{median, span};
use crate::identify::data::smooth::local;
use crate::identify::method::logdec::piecewise::Turn;

/// Swings of this many standard deviations are no noise, however long the record.
const CERTAIN: f64 = 10.0;

/// Turning points of a decay, refined below the sample. Ends when a half swing is smaller than 4 % of the first or drowns in
/// noise.
pub fn turning_points(t: &[f64], x: &[f64]) -> Vec<Turn> {
    // The median second difference measures the noise.
    let mut second: Vec<f64> = x
        .windows(3)
        .map(|w| (w[2] - 2.0 * w[1] + w[0]).abs() / 6f64.sqrt())
        .collect();
    let noise = 1.5 * median(&mut second);
    let range = span(x.iter().copied());
    // The largest swings give the period; averaged over a part of it, smaller ones show.
    let coarse = extremes(x, (CERTAIN * noise).max(0.05 * range));
    let mut spacing: Vec<f64> = coarse.windows(2).map(|w| t[w[1]] - t[w[0]]).collect();
    let half_period = median(&mut spacing);
    let dt = (t[t.len() - 1] - t[0]) / (t.len() - 1).max(1) as f64;
    let width = ((half_period / 16.0 / dt) as usize).max(1);
    let mean = averaged(x, width);
    let noise = noise / (width as f64).sqrt();
    let mut found = extremes(&mean, (CERTAIN * noise).max(0.02 * range));
    // Held before it was let go: the first extreme is somewhere in the hold.
    if let [first, second, ..] = found[..]
        && t[second] - t[first] > 1.3 * half_period
    {
        found.remove(0);
    }
    let mut turns: Vec<Turn> = Vec::new();
    for &i in &found {
        let turn = refine(t, x, i, half_period / 8.0);
        if let [.., before] = turns[..] {
            let first = (turns.get(1).map_or(turn.x, |s| s.x) - turns[0].x).abs();
            if (turn.x - before.x).abs() < (0.04 * first).max(CERTAIN * noise) {
                break;
            }
        }
        turns.push(turn);
    }
    turns
}

/// Zigzag: a sample is an extreme when the motion has come back from it by `threshold`.
fn extremes(x: &[f64], threshold: f64) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut high, mut low) = (0, 0);
    let mut looking_up: Option<bool> = None;
    for i in 1..x.len() {
        if x[i] > x[high] {
            high = i;
        }
        if x[i] < x[low] {
            low = i;
        }
        if looking_up != Some(false) && x[high] - x[i] > threshold {
            found.push(high);
            looking_up = Some(false);
            low = i;
        } else if looking_up != Some(true) && x[i] - x[low] > threshold {
            found.push(low);
            looking_up = Some(true);
            high = i;
        }
    }
    found
}

/// Mean over `width` samples around each one, fewer at the ends.
fn averaged(x: &[f64], width: usize) -> Vec<f64> {
    let mut sums = Vec::with_capacity(x.len() + 1);
    sums.push(0.0);
    for v in x {
        sums.push(sums[sums.len() - 1] + v);
    }
    (0..x.len())
        .map(|i| {
            let (lo, hi) = (
                i.saturating_sub(width / 2),
                (i + width.div_ceil(2)).min(x.len()),
            );
            (sums[hi] - sums[lo]) / (hi - lo) as f64
        })
        .collect()
}

/// The turn near sample `i`: where the slope of a polynomial over ±`half` [s] vanishes.
fn refine(t: &[f64], x: &[f64], i: usize, half: f64) -> Turn {
    let mut at = t[i];
    for _ in 0..2 {
        let l = local(t, x, at, half);
        let move_by = -l.w / l.a;
        if move_by.is_finite() {
            at = (at + move_by.clamp(-half, half)).clamp(t[0], t[t.len() - 1]);
        }
    }
    Turn {
        t: at,
        x: local(t, x, at, half).q,
    }
}
