//! Points of a series made ready for drawing: broken where nothing is known, thinned to what a page can show.

use std::ops::Range;

/// Points kept per series: two per pixel column of the widest chart.
pub const MAX_POINTS: usize = 1600;

/// Stretches of points that all are `good`.
pub fn unbroken(points: &[(f64, f64)], good: impl Fn(&(f64, f64)) -> bool) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut from = None;
    for (i, p) in points.iter().enumerate() {
        match (good(p), from) {
            (true, None) => from = Some(i),
            (false, Some(start)) => {
                parts.push(start..i);
                from = None;
            }
            _ => {}
        }
    }
    parts.extend(from.map(|start| start..points.len()));
    parts
}

/// Upper edge of a band, then its lower edge backwards, cut to the range `y`.
pub fn outline(points: &[(f64, f64)], band: &[f64], y: (f64, f64)) -> Vec<(f64, f64)> {
    let edge = |sign: f64| {
        let edge = points.iter().zip(band).filter(|(_, b)| b.is_finite());
        let edge = edge.map(|(p, b)| (p.0, (p.1 + sign * b).clamp(y.0, y.1)));
        thin(&edge.collect::<Vec<_>>(), MAX_POINTS)
    };
    let mut outline = edge(1.0);
    outline.extend(edge(-1.0).into_iter().rev());
    outline
}

/// At most `max` points: per bucket of the horizontal axis the lowest and the highest, in order.
pub fn thin(points: &[(f64, f64)], max: usize) -> Vec<(f64, f64)> {
    if points.len() <= max {
        return points.to_vec();
    }
    let buckets = max / 2;
    let mut kept = Vec::with_capacity(max);
    for b in 0..buckets {
        let bucket = &points[b * points.len() / buckets..(b + 1) * points.len() / buckets];
        let extreme = |pick: fn(f64, f64) -> bool| {
            bucket
                .iter()
                .enumerate()
                .fold(None, |best: Option<usize>, (i, p)| match best {
                    Some(j) if !pick(p.1, bucket[j].1) => Some(j),
                    _ if p.1.is_nan() => best,
                    _ => Some(i),
                })
        };
        let (Some(lo), Some(hi)) = (extreme(|a, b| a < b), extreme(|a, b| a > b)) else {
            continue;
        };
        kept.push(bucket[lo.min(hi)]);
        if lo != hi {
            kept.push(bucket[lo.max(hi)]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_spike_and_the_order() {
        let mut points: Vec<(f64, f64)> = (0..100_000)
            .map(|i| (i as f64, (i as f64 * 1e-3).sin()))
            .collect();
        points[54_321].1 = 7.0;
        let kept = thin(&points, 1000);
        assert!(kept.len() <= 1000);
        assert!(kept.contains(&(54_321.0, 7.0)));
        assert!(kept.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
