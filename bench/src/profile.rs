//! Instruction statistics: per tick, per function of the worst tick, and interrupt latency.
//!
//! The tick is one interrupt (TIM7 unless told otherwise). Instructions of exceptions that interrupt it are not its own.
//! Counts are exact; 1 instruction is not 1 cycle, so times derived from them are estimates. With the cost model (`cost`) the same
//! statistics are kept of estimated cycles, line fills, pipeline flushes and the code a tick touches.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use crate::cost::Counters;
use crate::cost::cache::LINE;
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
    /// Own instructions and cycles so far.
    own: u64,
    cycles: u64,
    /// The cost model's counters when it began.
    before: Counters,
}

/// Statistics of the cost model, per tick.
#[derive(Default)]
pub struct TickCosts {
    pub cycles: Distribution,
    pub code_bytes: Distribution,
    pub code_fills: Distribution,
    pub data_fills: Distribution,
    pub flushes: Distribution,
    pub worst_at: Time,
    /// Cycles and instructions of all ticks, by the address of the block.
    pub spent: Spent,
    touched: Touched,
}

/// What all ticks spent in each block of code.
#[derive(Default)]
pub struct Spent {
    /// (address, instructions) → cycles, times entered.
    by: HashMap<u64, [u64; 2], BuildHasherDefault<Block>>,
    last: u64,
}

impl Spent {
    #[inline(always)]
    fn block(&mut self, address: u32, n: u32, cycles: u32) {
        self.last = u64::from(address) << 32 | u64::from(n);
        let [sum, entered] = self.by.entry(self.last).or_default();
        *sum += u64::from(cycles);
        *entered += 1;
    }

    fn delayed(&mut self, cycles: u32) {
        self.by.entry(self.last).or_default()[0] += u64::from(cycles);
    }

    /// (address, instructions, cycles, times entered).
    pub fn blocks(&self) -> impl Iterator<Item = (u32, u32, u64, u64)> {
        let each = |(&block, &[cycles, entered]): (&u64, &[u64; 2])| {
            ((block >> 32) as u32, block as u32, cycles, entered)
        };
        self.by.iter().map(each)
    }
}

/// Blocks are spread well enough by one multiplication.
#[derive(Default)]
struct Block(u64);

impl Hasher for Block {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }
    #[inline(always)]
    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0 ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// Lines of flash and ITCM the tick in progress has touched.
#[derive(Default)]
struct Touched {
    /// Number of the tick that last touched a line: ITCM, then flash.
    by: Vec<u32>,
    tick: u32,
    lines: u64,
}

impl Touched {
    const ITCM: u32 = 0x1_0000 / LINE;
    const FLASH: u32 = 0x0800_0000 / LINE;

    fn block(&mut self, address: u32, size: u32) {
        self.by
            .resize((Touched::ITCM + 0x20_0000 / LINE) as usize, 0);
        for line in address / LINE..=(address + size - 1) / LINE {
            let at = if line < Touched::ITCM {
                line
            } else {
                line.wrapping_sub(Touched::FLASH)
                    .saturating_add(Touched::ITCM)
            };
            if let Some(by) = self.by.get_mut(at as usize)
                && *by != self.tick + 1
            {
                *by = self.tick + 1;
                self.lines += 1;
            }
        }
    }

    /// Bytes of the tick that ends.
    fn take(&mut self) -> u64 {
        self.tick += 1;
        std::mem::take(&mut self.lines) * u64::from(LINE)
    }
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
    /// Its instructions, or its cycles when they are estimated.
    worst_measure: u64,
    pub ticks: Distribution,
    /// From the timer's update to the handler's first instruction [ns], of the tick.
    pub latency_ns: Distribution,
    /// Own instructions by exception number; 0 = thread.
    pub by_exception: BTreeMap<u32, (u64, u64)>,
    in_tick: bool,
    thread: u64,
    /// With the cost model.
    pub costs: Option<TickCosts>,
}

impl Default for Profile {
    fn default() -> Self {
        Profile {
            tick: IRQ0 + 55,
            frames: Vec::new(),
            current: Vec::new(),
            worst: Vec::new(),
            worst_at: 0,
            worst_measure: 0,
            ticks: Distribution::default(),
            latency_ns: Distribution::default(),
            by_exception: BTreeMap::new(),
            in_tick: false,
            thread: 0,
            costs: None,
        }
    }
}

impl Profile {
    /// `costs`: with the statistics of the cost model.
    pub fn new(costs: bool) -> Self {
        Profile {
            costs: costs.then(TickCosts::default),
            ..Profile::default()
        }
    }

    #[inline(always)]
    pub fn block(&mut self, address: u32, size: u32, n: u32, cycles: u32) {
        if let Some(f) = self.frames.last_mut() {
            f.own += u64::from(n);
            f.cycles += u64::from(cycles);
        } else {
            self.thread += u64::from(n);
        }
        if self.in_tick {
            self.current.push((address, n));
            if let Some(costs) = &mut self.costs {
                costs.touched.block(address, size);
                costs.spent.block(address, n, cycles);
            }
        }
    }

    /// The block in progress takes longer.
    pub fn delayed(&mut self, cycles: u32) {
        if let Some(f) = self.frames.last_mut() {
            f.cycles += u64::from(cycles);
        }
        if self.in_tick
            && let Some(costs) = &mut self.costs
        {
            costs.spent.delayed(cycles);
        }
    }

    /// Instructions executed outside any exception.
    pub fn thread_instructions(&self) -> u64 {
        self.thread
    }

    pub fn enter(
        &mut self,
        exception: u32,
        now: Time,
        pending_since: Option<Time>,
        counters: Option<Counters>,
    ) {
        self.frames.push(Frame {
            exception,
            own: 0,
            cycles: 0,
            before: counters.unwrap_or_default(),
        });
        self.in_tick = exception == self.tick;
        if self.in_tick {
            self.current.clear();
            if let Some(since) = pending_since {
                self.latency_ns.add(now.saturating_sub(since) * 1000 / US);
            }
        }
    }

    pub fn leave(&mut self, now: Time, counters: Option<Counters>) {
        let Some(f) = self.frames.pop() else { return };
        let total = self.by_exception.entry(f.exception).or_default();
        total.0 += 1;
        total.1 += f.own;
        if f.exception == self.tick {
            self.ticks.add(f.own);
            let measure = if self.costs.is_some() {
                f.cycles
            } else {
                f.own
            };
            if measure > self.worst_measure {
                self.worst_measure = measure;
                self.worst_at = now;
                std::mem::swap(&mut self.worst, &mut self.current);
            }
            if let (Some(costs), Some(after)) = (&mut self.costs, counters) {
                costs.tick(&f, after, now);
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

impl TickCosts {
    fn tick(&mut self, f: &Frame, after: Counters, now: Time) {
        if f.cycles > self.cycles.max() {
            self.worst_at = now;
        }
        self.cycles.add(f.cycles);
        self.code_bytes.add(self.touched.take());
        self.code_fills.add(after.code_fills - f.before.code_fills);
        self.data_fills.add(after.data_fills - f.before.data_fills);
        self.flushes.add(after.flushes - f.before.flushes);
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
        p.block(0, 10, 5, 5);
        p.enter(p.tick, 0, Some(0), None);
        p.block(0x100, 20, 10, 10);
        p.enter(99, 0, None, None);
        p.block(0x200, 2000, 1000, 1000);
        p.leave(0, None);
        p.block(0x110, 6, 3, 3);
        p.leave(7, None);
        assert_eq!((p.ticks.max(), p.worst_at), (13, 7));
        assert_eq!(p.worst, [(0x100, 10), (0x110, 3)]);
        assert_eq!(
            (p.thread_instructions(), p.by_exception[&99]),
            (5, (1, 1000))
        );
    }

    #[test]
    fn costs_of_a_tick_are_differences_of_the_counters() {
        let mut p = Profile::new(true);
        let counters = |code_fills, data_fills| {
            Some(Counters {
                code_fills,
                data_fills,
                flushes: 0,
            })
        };
        p.enter(p.tick, 0, None, counters(100, 7));
        p.block(0x0800_0010, 32, 10, 15);
        p.delayed(30);
        p.leave(9, counters(102, 8));
        let c = p.costs.unwrap();
        assert_eq!((c.cycles.max(), c.code_bytes.max()), (45, 64));
        assert_eq!((c.code_fills.max(), c.data_fills.max()), (2, 1));
    }
}
