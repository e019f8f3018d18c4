//! How long ticks take and how regularly they come, as min, mean, max and σ.
//!
//! The tick hands each measurement to the main loop through a queue ([`Meter`]); the main loop reduces
//! it in batches ([`Timing`]). Mean and variance of a batch are micromath's; batches are pooled exactly
//! (Chan), and the square root is the core's (micromath's is 6 % off).

use heapless::Vec;
use heapless::spsc::{Consumer, Producer, Queue};
use micromath::statistics::{Mean, Variance};
use static_cell::ConstStaticCell;
use stribeck_core::wire::Spread;

use crate::board::{CYCLES_PER_TICK, CYCLES_PER_TIMER_COUNT};

/// Samples that may wait: 12.7 ms of ticks.
const ROOM: usize = 128;
/// Samples reduced at once. Their sum stays below 2²⁴, so its f32 is exact.
const BATCH: usize = 64;

/// One tick.
#[derive(Clone, Copy)]
pub struct Sample {
    /// From the first load of the interrupt to the end of its work [cycles].
    pub cycles: u32,
    /// Ticks since the one before: 1, unless some never happened.
    pub ticks: u32,
    /// How long after its time it started [counts of the tick timer].
    pub late: u16,
}

/// Tick side.
pub struct Meter(Producer<'static, Sample>);

impl Meter {
    /// A sample that finds the queue full is left out of the statistics.
    #[inline(always)]
    pub fn record(&mut self, sample: Sample) {
        // True by construction; lets the compiler drop the queue's check for division by zero, which
        // would be a panic path in the tick.
        if self.0.capacity() == ROOM - 1 {
            let _ = self.0.enqueue(sample);
        }
    }
}

/// Main-loop side.
pub struct Timing {
    samples: Consumer<'static, Sample>,
    last_late: Option<u16>,
    pub cycles: Pool,
    pub period: Pool,
}

/// Both sides. Once.
pub fn split() -> (Meter, Timing) {
    static QUEUE: ConstStaticCell<Queue<Sample, ROOM>> = ConstStaticCell::new(Queue::new());
    let (producer, consumer) = QUEUE.take().split();
    let timing = Timing {
        samples: consumer,
        last_late: None,
        cycles: Pool::EMPTY,
        period: Pool::EMPTY,
    };
    (Meter(producer), timing)
}

impl Timing {
    /// Take in what has arrived. Call at least every 12 ms.
    pub fn collect(&mut self) {
        while self.samples.ready() {
            let mut cycles: Vec<f32, BATCH> = Vec::new();
            let mut periods: Vec<f32, BATCH> = Vec::new();
            while !cycles.is_full()
                && let Some(sample) = self.samples.dequeue()
            {
                let _ = cycles.push(sample.cycles as f32);
                // From the tick timer, not from the cycle counter, which may stop in sleep.
                if let Some(last) = self.last_late.replace(sample.late) {
                    let later = (sample.late as i32 - last as i32) * CYCLES_PER_TIMER_COUNT as i32;
                    let due = sample.ticks.saturating_mul(CYCLES_PER_TICK);
                    let _ = periods.push(due.saturating_add_signed(later) as f32);
                }
            }
            self.cycles.add(&cycles);
            self.period.add(&periods);
        }
    }
}

/// Statistics of samples so far.
#[derive(Clone, Copy)]
pub struct Pool {
    count: f32,
    mean: f32,
    /// Σ (x − mean)².
    squares: f32,
    min: f32,
    max: f32,
}

impl Pool {
    pub const EMPTY: Self = Pool {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
        min: f32::INFINITY,
        max: 0.0,
    };

    fn add(&mut self, batch: &[f32]) {
        if batch.is_empty() {
            return;
        }
        let n = batch.len() as f32;
        let mean = batch.iter().copied().mean();
        // Variance of one sample divides by zero.
        let squares = if batch.len() > 1 {
            batch.variance() * (n - 1.0)
        } else {
            0.0
        };
        let total = self.count + n;
        let step = mean - self.mean;
        self.squares += squares + step * step * self.count * n / total;
        self.mean += step * n / total;
        self.count = total;
        for &x in batch {
            self.min = self.min.min(x);
            self.max = self.max.max(x);
        }
    }

    /// The statistics, and start again.
    pub fn take(&mut self) -> Spread {
        let pool = core::mem::replace(self, Self::EMPTY);
        if pool.count == 0.0 {
            return Spread::default();
        }
        Spread {
            min: pool.min as u32,
            max: pool.max as u32,
            mean: pool.mean,
            sigma: stribeck_core::number::math::sqrt_f32(
                pool.squares / (pool.count - 1.0).max(1.0),
            ),
        }
    }
}
