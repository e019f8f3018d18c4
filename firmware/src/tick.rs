//! The 10 kHz tick: read both counters, step the device, hand over what it produced, tell the motor, measure.
//!
//! Runs in the interrupt of TIM7 at the highest priority in the program; nothing masks it but a few
//! loads of `flash::read`. Budget: 40,000 cycles (100 µs), of which the default configuration may use at most
//! 12,000 and any that is accepted [`BUDGET`]; beyond [`LIMIT`] on average the run is ended. No await, lock, log, allocation, panic path, formatting or f64, and no code or constant from flash but what
//! memory.x names: `cargo elfcheck` checks the binary for that.
//!
//! Ticks are numbered by the time they were due, read from a timer that runs free (TIM4, 10 µs). Not by
//! the processor's cycle counter: it stops while the processor sleeps as soon as a debugger that
//! detaches clears the bit for it, and only serves the statistics here.
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
use embassy_stm32::pac::{TIM2, TIM4, TIM5, TIM7};
use stribeck_core::device::cost::Work;
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Engine, Input, TickEnd};

use crate::board::{self, CYCLES_PER_TICK, TIMELINE_PER_TICK, TIMER_PER_TIMELINE};
use crate::motor;
use crate::timing::{Meter, Sample};

/// Most that a configuration may need per tick at worst (`stribeck_core::device::cost`); one that needs more is refused. 40 % of a tick in
/// estimated cycles, 30 % in instructions.
pub const BUDGET: Work = Work {
    cycles: CYCLES_PER_TICK / 10 * 4,
    instructions: CYCLES_PER_TICK / 10 * 3,
};
/// Most cycles ticks may take on average: beyond, the engine ends the run, so that the link stays alive.
pub const LIMIT: u32 = CYCLES_PER_TICK / 4 * 3;

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
    Phase::from_number(PHASE.load(Relaxed) as u32).unwrap_or_default()
}

/// Everything the interrupt owns.
struct Tick {
    engine: Engine,
    end: TickEnd<'static>,
    meter: Meter,
    /// When the previous tick was due, on TIM4 [10 µs, modulo 2¹⁶]; `None` before the first.
    due: Option<u16>,
    /// What the previous tick took, for the engine's guard.
    cycles: u32,
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
        cycles: 0,
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
    let at = Moment {
        late: TIM7.cnt().read().cnt(),
        timeline: TIM4.cnt().read().cnt(),
    };
    if READY.load(Acquire) {
        // SAFETY: READY: this interrupt is the only user, and it does not nest.
        let tick = unsafe { (*TICK.0.get()).assume_init_mut() };
        tick.run(counts, at, start);
    }
}

/// When an interrupt started.
struct Moment {
    /// Since the tick timer rolled over [counts of it, 5 ns].
    late: u16,
    /// On the timer that runs free [10 µs].
    timeline: u16,
}

impl Moment {
    /// When the interrupt was due, on the timer that runs free: exact to ±1 of the 10 counts of a tick.
    #[inline(always)]
    fn due(&self) -> u16 {
        self.timeline.wrapping_sub(self.late / TIMER_PER_TIMELINE)
    }
}

impl Tick {
    #[inline(always)]
    fn run(&mut self, counts: [u32; 2], at: Moment, start: u32) {
        let due = at.due();
        let since = self.due.map_or(TIMELINE_PER_TICK, |d| due.wrapping_sub(d));
        let ticks = (since as u32 + TIMELINE_PER_TICK as u32 / 2) / TIMELINE_PER_TICK as u32;
        // Just before the previous one, modulo 2¹⁶: the same tick, measured one count earlier.
        if ticks == 0 || since > u16::MAX - TIMELINE_PER_TICK / 2 {
            // The timer rolled over between the interrupt's entry and clearing its flag; that tick
            // was counted then.
            return;
        }
        self.due = Some(due);
        let missed = ticks - 1;

        if let Some(request) = self.end.request()
            && let Some(spare) = self.engine.apply(request, &mut self.end)
        {
            self.end.give_back(spare);
        }
        let input = Input {
            counts,
            missed,
            button: board::button_pressed(),
            cycles: self.cycles,
            bridge_fault: motor::fault(),
        };
        self.engine.tick(input, &mut self.end);
        motor::apply(self.engine.output());

        // Single writer: plain load and store.
        TICKS.store(count().wrapping_add(ticks), Relaxed);
        MISSED.store(self::missed().wrapping_add(missed), Relaxed);
        PHASE.store(self.engine.phase() as u8, Relaxed);
        let cycles = DWT::cycle_count().wrapping_sub(start);
        self.cycles = cycles;
        let next_is_due = TIM7.sr().read().uif();
        if missed > 0 || next_is_due {
            OVERRUNS.store(overruns().wrapping_add(1), Relaxed);
        }
        self.meter.record(Sample {
            cycles,
            ticks,
            late: at.late,
        });
    }
}
