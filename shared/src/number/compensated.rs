//! Sums that keep what f32 would lose: at 10 kHz an increment is often smaller than an ulp.

use super::scalar::Scalar;

/// Kahan's compensation term of an accumulated value: what the sum has lost so far.
///
/// `add(x, d)`: returns fl(x + d − lost) and remembers the new loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compensated<S>(pub S);

impl<S: Scalar> Compensated<S> {
    pub const NONE: Self = Compensated(S::ZERO);

    #[inline(always)]
    pub fn add(&mut self, x: S, d: S) -> S {
        let y = d - self.0;
        let t = x + y;
        self.0 = (t - x) - y;
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 5.0 an f32 has an ulp of 4.8e-7: a million increments of 1e-8 vanish one by one, and arrive together.
    #[test]
    fn compensated_sums_keep_what_plain_ones_lose() {
        let (mut plain, mut kept, mut lost) = (5.0f32, 5.0f32, Compensated::NONE);
        for _ in 0..1_000_000 {
            plain += 1e-8;
            kept = lost.add(kept, 1e-8);
        }
        assert_eq!(plain, 5.0);
        assert!((kept - 5.01).abs() < 1e-6, "{kept}");
    }
}
