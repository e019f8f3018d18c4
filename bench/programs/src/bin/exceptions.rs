//! SysTick and PendSV with floating point in all of them: the thread's registers must survive.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cortex_m::peripheral::scb::SystemHandler;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{Peripherals, SCB};
use cortex_m_rt::{entry, exception};
use stribeck_programs::exit;

static TICKS: AtomicU32 = AtomicU32::new(0);
static SWITCHES: AtomicU32 = AtomicU32::new(0);
static WRONG: AtomicU32 = AtomicU32::new(0);

/// Σ 1/k² for k = 1 … n, with a different start for each user: wrong if anybody else's registers get in.
#[inline(never)]
fn series(n: u32, start: f32) -> f32 {
    let mut sum = core::hint::black_box(start);
    for k in 1..=n {
        let k = k as f32;
        sum += 1.0 / (k * k);
    }
    sum
}

#[exception]
fn SysTick() {
    TICKS.fetch_add(1, Relaxed);
    check(series(5, 10.0), 11.463_611);
    SCB::set_pendsv();
}

#[exception]
fn PendSV() {
    SWITCHES.fetch_add(1, Relaxed);
    check(series(3, 20.0), 21.361_11);
}

fn check(found: f32, expected: f32) {
    if (found - expected).abs() > 1e-4 {
        WRONG.fetch_add(1, Relaxed);
    }
}

#[entry]
fn main() -> ! {
    let mut core = Peripherals::take().expect("once");
    // SAFETY: PendSV is the least urgent, as its users want it.
    unsafe { core.SCB.set_priority(SystemHandler::PendSV, 0xf0) };
    core.SYST.set_clock_source(SystClkSource::Core);
    core.SYST.set_reload(6_399); // 100 µs at 64 MHz
    core.SYST.clear_current();
    core.SYST.enable_interrupt();
    core.SYST.enable_counter();
    let alone = series(1_000, 0.0);
    while TICKS.load(Relaxed) < 100 {
        check(series(1_000, 0.0) - alone, 0.0);
    }
    let (ticks, switches) = (TICKS.load(Relaxed), SWITCHES.load(Relaxed));
    assert!(switches >= ticks - 1 && WRONG.load(Relaxed) == 0);
    exit(0);
}
