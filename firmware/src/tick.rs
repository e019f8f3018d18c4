//! The 10 kHz tick: read both counters, step the device, hand over what it produced, measure.
//!
//! Runs in the interrupt of TIM7 at the highest priority in the program; nothing masks it but a few
//! loads of `flash::read`. Budget: 40,000 cycles (100 µs), of which at most 16,000 instructions may be
//! used. No await, lock, log, allocation, panic path, formatting or f64: `cargo elfcheck` checks the
//! binary for that.
//!
//! Overrun: if a tick ends after the next was due, that one starts late, directly after it. If it ends
//! after two were due, one of them never happens: it is counted, and the core gets the number, so
//! that ticks stay numbered by time and the gap shows in the stream.
//!
//! Skew of the two counters: two back-to-back loads over APB1 (100 MHz), some 10 cycles = 25 ns apart
//! [estimated from the bus clocks, not measured]; at 50,000 counts/s that is 0.001 count.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::*};

use cortex_m::peripheral::DWT;
use embassy_stm32::interrupt;
use embassy_stm32::pac::{TIM2, TIM5, TIM7};
use stribeck_core::device::{Engine, Input, TickEnd};
use stribeck_core::run::Phase;

use crate::board::{self, CYCLES_PER_TICK, CYCLES_PER_TIMER_COUNT};
use crate::timing::{Meter, Sample};

/// Ticks since reset, including those that never happened, modulo 2³².
static TICKS: AtomicU32 = AtomicU32::new(0);
static OVERRUNS: AtomicU32 = AtomicU32::new(0);
static MISSED: AtomicU32 = AtomicU32::new(0);
static PHASE: AtomicU8 = AtomicU8::new(0);

/// Ticks so far, modulo 2³².
pub fn count() -> u32 {
    TICKS.load(Relaxed)
}

/// Ticks after missed ones, or that ended after the next was due, since reset.
pub fn overruns() -> u32 {
    OVERRUNS.load(Relaxed)
}

/// Ticks that never happened, since reset.
pub fn missed() -> u32 {
    MISSED.load(Relaxed)
}

/// Run phase after the latest tick.
pub fn phase() -> Phase {
    match PHASE.load(Relaxed) {
        1 => Phase::Armed,
        2 => Phase::Swinging,
        3 => Phase::AtRest,
        _ => Phase::Idle,
    }
}

/// Everything the interrupt owns.
struct Tick {
    engine: Engine,
    end: TickEnd<'static>,
    meter: Meter,
    /// Cycle count when the previous tick was due; `None` before the first.
    due: Option<u32>,
}

/// Belongs to whoever starts up until `READY`, then to the interrupt alone.
struct InterruptOwned(UnsafeCell<MaybeUninit<Tick>>);
// SAFETY: see the type; `READY` hands over with release/acquire.
unsafe impl Sync for InterruptOwned {}

static TICK: InterruptOwned = InterruptOwned(UnsafeCell::new(MaybeUninit::uninit()));
static READY: AtomicBool = AtomicBool::new(false);

/// Give the device to the interrupt. Once, before `board::start_tick`.
pub fn install(engine: Engine, end: TickEnd<'static>, meter: Meter) {
    assert!(!READY.load(Acquire), "installed twice");
    let tick = Tick {
        engine,
        end,
        meter,
        due: None,
    };
    // SAFETY: not READY: the interrupt does not touch it yet.
    unsafe { (*TICK.0.get()).write(tick) };
    READY.store(true, Release);
}

#[interrupt]
fn TIM7() {
    let counts = [TIM2.cnt().read(), TIM5.cnt().read()];
    let start = DWT::cycle_count();
    TIM7.sr().write(|w| w.set_uif(false));
    // Time since the timer rolled over: how late this interrupt started.
    let late = TIM7.cnt().read().cnt() as u32 * CYCLES_PER_TIMER_COUNT;
    if READY.load(Acquire) {
        // SAFETY: READY: this interrupt is the only user, and it does not nest.
        let tick = unsafe { (*TICK.0.get()).assume_init_mut() };
        tick.run(counts, start, late);
    }
}

impl Tick {
    #[inline(always)]
    fn run(&mut self, counts: [u32; 2], start: u32, late: u32) {
        // Timer and cycle counter have one source: `due` is exact to a few cycles.
        let due = start.wrapping_sub(late);
        let period = self.due.map_or(CYCLES_PER_TICK, |d| due.wrapping_sub(d));
        let ticks = (period + CYCLES_PER_TICK / 2) / CYCLES_PER_TICK;
        if ticks == 0 {
            // The timer rolled over between the interrupt's entry and clearing its flag; that tick
            // was counted then.
            return;
        }
        self.due = Some(due);
        let missed = ticks - 1;

        if let Some(request) = self.end.request() {
            self.engine.apply(request, &mut self.end);
        }
        let input = Input {
            counts,
            missed,
            button: board::button_pressed(),
        };
        self.engine.tick(input, &mut self.end);

        // Single writer: plain load and store.
        TICKS.store(count().wrapping_add(ticks), Relaxed);
        MISSED.store(self::missed().wrapping_add(missed), Relaxed);
        PHASE.store(self.engine.phase() as u8, Relaxed);
        let cycles = DWT::cycle_count().wrapping_sub(start);
        if missed > 0 || late + cycles >= CYCLES_PER_TICK {
            OVERRUNS.store(overruns().wrapping_add(1), Relaxed);
        }
        self.meter.record(Sample { cycles, start });
    }
}
