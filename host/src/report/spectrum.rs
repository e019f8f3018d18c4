//! Amplitude spectrum of an angle: what frequencies the swing is made of.
//!
//! The mean is taken off, a Hann window applied, and the result scaled so that a steady sine of amplitude A shows a
//! peak of height A. A decaying swing shows a broader and lower peak.

use std::f64::consts::PI;

use crate::number;

/// Samples per second after resampling: twenty times the fastest joint frequency of a bench pendulum.
const RATE_HZ: f64 = 100.0;
/// Most samples transformed; longer records are sampled more slowly.
const MOST: usize = 1 << 16;
/// Drawn up to this frequency [Hz].
const SHOWN_HZ: f64 = 10.0;

/// (frequency \[Hz\], amplitude) of (time \[s\], value) samples at increasing times; gaps are bridged by straight lines.
pub fn amplitude(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Vec::new();
    };
    let span = last.0 - first.0;
    let count = ((span * RATE_HZ) as usize).min(MOST);
    if count < 16 {
        return Vec::new();
    }
    let dt = span / count as f64;
    let even = resample(samples, first.0, dt, count);
    let window = |i: usize| 0.5 - 0.5 * number::cos(2.0 * PI * i as f64 / count as f64);
    // The mean as the window sees it, so that nothing is left at frequency zero.
    let weighted = even.iter().enumerate().map(|(i, x)| x * window(i));
    let mean = weighted.sum::<f64>() / (0.5 * count as f64);
    // Zeros behind the samples put bins close enough to the peak to show its height.
    let size = 4 * count.next_power_of_two();
    let windowed = even.iter().enumerate().map(|(i, x)| (x - mean) * window(i));
    let mut re: Vec<f64> = windowed.collect();
    re.resize(size, 0.0);
    let mut im = vec![0.0; size];
    transform(&mut re, &mut im);
    // The window's mean is one half; positive frequencies carry half the amplitude.
    let scale = 4.0 / count as f64;
    let step = 1.0 / (size as f64 * dt);
    (1..size / 2)
        .map(|k| (k as f64 * step, scale * number::hypot(re[k], im[k])))
        .take_while(|(f, _)| *f <= SHOWN_HZ)
        .collect()
}

/// Frequency \[Hz\] of the highest peak above 0.1 Hz, between the bins by a parabola through its logarithm.
pub fn dominant(spectrum: &[(f64, f64)]) -> Option<f64> {
    let (i, peak) = spectrum
        .iter()
        .enumerate()
        .filter(|(_, (f, _))| *f > 0.1)
        .max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
    let step = spectrum.get(1)?.0 - spectrum[0].0;
    let (Some(before), Some(after)) = (
        i.checked_sub(1).and_then(|i| spectrum.get(i)),
        spectrum.get(i + 1),
    ) else {
        return Some(peak.0);
    };
    let [a, b, c] = [before.1, peak.1, after.1].map(number::ln);
    let bend = a - 2.0 * b + c;
    let shift = if bend < 0.0 {
        0.5 * (a - c) / bend
    } else {
        0.0
    };
    (peak.1 > 0.0).then_some(peak.0 + shift.clamp(-0.5, 0.5) * step)
}

fn resample(samples: &[(f64, f64)], from: f64, dt: f64, count: usize) -> Vec<f64> {
    let mut next = 1;
    (0..count)
        .map(|i| {
            let t = from + i as f64 * dt;
            while next + 1 < samples.len() && samples[next].0 < t {
                next += 1;
            }
            let (a, b) = (samples[next - 1], samples[next.min(samples.len() - 1)]);
            let part = if b.0 > a.0 {
                (t - a.0) / (b.0 - a.0)
            } else {
                0.0
            };
            a.1 + part.clamp(0.0, 1.0) * (b.1 - a.1)
        })
        .collect()
}

/// Fast Fourier transform in place; the length is a power of two.
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let shift = usize::BITS - n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> shift;
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut width = 2;
    while width <= n {
        for k in 0..width / 2 {
            let (s, c) = number::sin_cos(-2.0 * PI * k as f64 / width as f64);
            for start in (k..n).step_by(width) {
                let other = start + width / 2;
                let (x, y) = (re[other] * c - im[other] * s, re[other] * s + im[other] * c);
                (re[other], im[other]) = (re[start] - x, im[start] - y);
                re[start] += x;
                im[start] += y;
            }
        }
        width *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_shows_its_amplitude_and_frequency() {
        let sine: Vec<_> = (0..40_000)
            .map(|i| i as f64 * 1e-3)
            .map(|t| (t, 3.0 + 0.7 * (2.0 * PI * 1.234 * t + 0.3).sin()))
            .collect();
        let spectrum = amplitude(&sine);
        let peak = spectrum.iter().map(|p| p.1).fold(0.0, f64::max);
        assert!((peak - 0.7).abs() < 0.02, "{peak}");
        let f = dominant(&spectrum).unwrap();
        assert!((f - 1.234).abs() < 1e-3, "{f}");
        let far = spectrum.iter().filter(|(f, _)| (*f - 1.234).abs() > 0.5);
        assert!(far.map(|p| p.1).fold(0.0, f64::max) < 1e-3);
    }

    #[test]
    fn too_little_is_no_spectrum() {
        assert!(amplitude(&[]).is_empty());
        assert!(amplitude(&[(0.0, 1.0), (0.01, 2.0)]).is_empty());
        assert_eq!(dominant(&[]), None);
    }
}
