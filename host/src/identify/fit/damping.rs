//! Levenberg and Marquardt's damping: the one place where a linearised step is made shorter until it helps.

use crate::identify::fit::triangle::Triangle;

/// The first damping tried, in squared column lengths, and where every direction has become short.
const LEAST: f64 = 1e-8;
const MOST: f64 = 1e2;

/// How much the next step is damped; kept from step to step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damping {
    lambda: f64,
}

impl Damping {
    /// The first step, damped more and more, that `accept` takes; its answer. None: no step helps.
    pub fn step<T>(
        &mut self,
        equations: &Triangle,
        mut accept: impl FnMut(&[f64]) -> Option<T>,
    ) -> Option<T> {
        loop {
            let step = equations.damped(self.lambda);
            if let Some(taken) = accept(step.as_slice()) {
                self.lambda = if self.lambda <= LEAST {
                    0.0
                } else {
                    0.1 * self.lambda
                };
                return Some(taken);
            }
            if self.lambda > MOST {
                return None;
            }
            self.lambda = f64::max(LEAST, 10.0 * self.lambda);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps get shorter until one is taken, and longer again afterwards.
    #[test]
    fn a_step_that_is_refused_comes_back_shorter() {
        let mut eq = Triangle::new(1);
        eq.add(&mut [1.0, 1.0]);
        let mut damping = Damping::default();
        let taken = damping.step(&eq, |s| (s[0] < 0.5).then_some(s[0])).unwrap();
        assert!(taken < 0.5 && taken > 0.0);
        let next = damping.step(&eq, |s| Some(s[0])).unwrap();
        assert!(next > taken);
        assert!(damping.step(&eq, |_| None::<()>).is_none());
    }
}
