//! Samples of a stream of unknown length in bounded memory.
//!
//! Every sample on a grid of ticks is kept; when there are too many, the grid becomes twice as coarse. So the samples
//! stay evenly spread over the whole stream, and each is an original one, not an average.

/// At most `most` samples, each with its tick.
#[derive(Clone, Debug)]
pub struct Decimated<T> {
    most: usize,
    every: u64,
    samples: Vec<(u64, T)>,
}

impl<T> Decimated<T> {
    pub fn new(most: usize) -> Self {
        Decimated {
            most: most.max(1),
            every: 1,
            samples: Vec::new(),
        }
    }

    pub fn push(&mut self, tick: u64, sample: T) {
        if !tick.is_multiple_of(self.every) {
            return;
        }
        self.samples.push((tick, sample));
        // Records that come every 50th tick survive the first doublings of the grid.
        while self.samples.len() > self.most {
            self.every *= 2;
            let every = self.every;
            self.samples.retain(|(tick, _)| tick.is_multiple_of(every));
        }
    }

    /// Forget what was before `tick`.
    pub fn cut(&mut self, tick: u64) {
        self.samples.retain(|(t, _)| *t >= tick);
    }

    /// Ticks between the points of the grid.
    pub fn every(&self) -> u64 {
        self.every
    }

    pub fn samples(&self) -> &[(u64, T)] {
        &self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_samples_are_spread_evenly() {
        let mut d = Decimated::new(1000);
        for tick in 7..3_600_007 {
            d.push(tick, tick * 3);
        }
        let samples = d.samples();
        assert!((500..=1000).contains(&samples.len()), "{}", samples.len());
        assert!(samples.windows(2).all(|w| w[1].0 - w[0].0 == d.every()));
        assert!(samples.iter().all(|(tick, x)| *x == tick * 3));
        assert!(samples[0].0 <= d.every() && samples[samples.len() - 1].0 > 3_590_000);
    }

    #[test]
    fn records_off_the_grid_of_powers_of_two_still_thin_out() {
        let mut d = Decimated::new(10);
        for i in 0..1000 {
            d.push(50 * i + 50, ());
        }
        assert!(d.samples().len() <= 10 && !d.samples().is_empty());
        d.cut(u64::MAX);
        assert!(d.samples().is_empty());
    }
}
