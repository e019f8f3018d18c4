//! Instruction statistics: per tick, per function of the worst tick, and interrupt latency.
//!
//! The tick is one interrupt (TIM7 unless told otherwise). Instructions of exceptions that interrupt it are not its own.
//! Counts are exact; 1 instruction is not 1 cycle, so times derived from them are estimates.

use std::collections::BTreeMap;

use crate::periph::nvic::IRQ0;
use crate::time::{Time, US};

/// Exact distribution of a whole number.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    counts: BTreeMap<u64, u64>,
}

impl Distribution {
    pub fn add(&mut self, value: u64) {
        *self.counts.entry(value).or_insert(0) += 1;
    }

    pub fn len(&self) -> u64 {
        self.counts.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub fn min(&self) -> u64 {
        self.counts.keys().next().copied().unwrap_or(0)
    }

    pub fn max(&self) -> u64 {
        self.counts.keys().next_back().copied().unwrap_or(0)
    }

    pub fn mean(&self) -> f64 {
        let sum: f64 = self.counts.iter().map(|(v, n)| *v as f64 * *n as f64).sum();
        sum / (self.len().max(1)) as f64
    }

    /// Smallest value that at least this fraction of the samples does not exceed.
    pub fn quantile(&self, fraction: f64) -> u64 {
        let need = (fraction * self.len() as f64).ceil() as u64;
        let mut seen = 0;
        for (v, n) in &self.counts {
            seen += n;
            if seen >= need {
                return *v;
            }
        }
        self.max()
    }

    /// (lower bound, samples) of at most `bins` equal bins between min and max.
    pub fn histogram(&self, bins: u64) -> Vec<(u64, u64)> {
        if self.is_empty() {
            return Vec::new();
        }
        let (low, high) = (self.min(), self.max());
        let width = ((high - low) / bins + 1).max(1);
        let mut out: Vec<(u64, u64)> = (0..=(high - low) / width)
            .map(|i| (low + i * width, 0))
            .collect();
        for (v, n) in &self.counts {
            out[((v - low) / width) as usize].1 += n;
        }
        out
    }
}

struct Frame {
    exception: u32,
    /// Own instructions so far.
    own: u64,
}

/// See the module text.
pub struct Profile {
    /// Exception number of the tick.
    pub tick: u32,
    frames: Vec<Frame>,
    /// Blocks of the tick in progress and of the worst so far: (address, instructions).
    current: Vec<(u32, u32)>,
    pub worst: Vec<(u32, u32)>,
    pub worst_at: Time,
    worst_own: u64,
    pub ticks: Distribution,
    /// From the timer's update to the handler's first instruction [ns], of the tick.
    pub latency_ns: Distribution,
    /// Own instructions by exception number; 0 = thread.
    pub by_exception: BTreeMap<u32, (u64, u64)>,
    in_tick: bool,
    thread: u64,
}

impl Default for Profile {
    fn default() -> Self {
        Profile {
            tick: IRQ0 + 55,
            frames: Vec::new(),
            current: Vec::new(),
            worst: Vec::new(),
            worst_at: 0,
            worst_own: 0,
            ticks: Distribution::default(),
            latency_ns: Distribution::default(),
            by_exception: BTreeMap::new(),
            in_tick: false,
            thread: 0,
        }
    }
}

impl Profile {
    #[inline(always)]
    pub fn block(&mut self, address: u32, n: u32) {
        if let Some(f) = self.frames.last_mut() {
            f.own += u64::from(n);
        } else {
            self.thread += u64::from(n);
        }
        if self.in_tick {
            self.current.push((address, n));
        }
    }

    /// Instructions executed outside any exception.
    pub fn thread_instructions(&self) -> u64 {
        self.thread
    }

    pub fn enter(&mut self, exception: u32, now: Time, pending_since: Option<Time>) {
        self.frames.push(Frame { exception, own: 0 });
        self.in_tick = exception == self.tick;
        if self.in_tick {
            self.current.clear();
            if let Some(since) = pending_since {
                self.latency_ns.add(now.saturating_sub(since) * 1000 / US);
            }
        }
    }

    pub fn leave(&mut self, now: Time) {
        let Some(f) = self.frames.pop() else { return };
        let total = self.by_exception.entry(f.exception).or_default();
        total.0 += 1;
        total.1 += f.own;
        if f.exception == self.tick {
            self.ticks.add(f.own);
            if f.own > self.worst_own {
                self.worst_own = f.own;
                self.worst_at = now;
                std::mem::swap(&mut self.worst, &mut self.current);
            }
        }
        self.in_tick = self.frames.last().is_some_and(|f| f.exception == self.tick);
    }

    /// The chip was reset in the middle of whatever ran.
    pub fn restart(&mut self) {
        self.frames.clear();
        self.in_tick = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_numbers() {
        let mut d = Distribution::default();
        [10, 10, 20, 100].into_iter().for_each(|v| d.add(v));
        assert_eq!((d.min(), d.max(), d.len(), d.mean()), (10, 100, 4, 35.0));
        assert_eq!(
            (d.quantile(0.5), d.quantile(0.75), d.quantile(1.0)),
            (10, 20, 100)
        );
        let h = d.histogram(9);
        assert_eq!(h.iter().map(|b| b.1).sum::<u64>(), 4);
        assert_eq!(h[0], (10, 3), "bins of 11: 10 to 20");
    }

    #[test]
    fn a_nested_exception_is_not_part_of_the_tick() {
        let mut p = Profile::default();
        p.block(0, 5);
        p.enter(p.tick, 0, Some(0));
        p.block(0x100, 10);
        p.enter(99, 0, None);
        p.block(0x200, 1000);
        p.leave(0);
        p.block(0x110, 3);
        p.leave(7);
        assert_eq!((p.ticks.max(), p.worst_at), (13, 7));
        assert_eq!(p.worst, [(0x100, 10), (0x110, 3)]);
        assert_eq!(
            (p.thread_instructions(), p.by_exception[&99]),
            (5, (1, 1000))
        );
    }
}
