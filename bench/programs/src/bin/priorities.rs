//! Three executors: two in interrupts of different priority, one in the thread. The urgent ones come in between the busy ones.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use embassy_executor::{InterruptExecutor, Spawner};
use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, Priority};
use embassy_time::{Duration, Instant, Ticker, Timer};
use stribeck_programs::{clocks, exit};

static HIGH: InterruptExecutor = InterruptExecutor::new();
static MIDDLE: InterruptExecutor = InterruptExecutor::new();

static HIGH_RUNS: AtomicU32 = AtomicU32::new(0);
static LATEST: AtomicU32 = AtomicU32::new(0);
static INSIDE_MIDDLE: AtomicU32 = AtomicU32::new(0);

#[interrupt]
unsafe fn UART4() {
    // SAFETY: this interrupt belongs to this executor.
    unsafe { HIGH.on_interrupt() }
}

#[interrupt]
unsafe fn UART5() {
    // SAFETY: as above.
    unsafe { MIDDLE.on_interrupt() }
}

/// Every millisecond, however busy the others are.
#[embassy_executor::task]
async fn high() {
    let mut ticker = Ticker::every(Duration::from_millis(1));
    let start = Instant::now();
    loop {
        ticker.next().await;
        let n = HIGH_RUNS.fetch_add(1, Relaxed) + 1;
        let late = start.elapsed().as_micros() as u32 - 1_000 * n;
        LATEST.fetch_max(late, Relaxed);
    }
}

/// Busy for 5 ms out of 20.
#[embassy_executor::task]
async fn middle() {
    loop {
        let before = HIGH_RUNS.load(Relaxed);
        embassy_time::block_for(Duration::from_millis(5));
        INSIDE_MIDDLE.fetch_add(HIGH_RUNS.load(Relaxed) - before, Relaxed);
        Timer::after_millis(15).await;
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    embassy_stm32::init(clocks());
    interrupt::TIM3.set_priority(Priority::P2);
    interrupt::UART4.set_priority(Priority::P6);
    interrupt::UART5.set_priority(Priority::P7);
    HIGH.start(interrupt::UART4).spawn(high().expect("once"));
    MIDDLE
        .start(interrupt::UART5)
        .spawn(middle().expect("once"));
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(200) {
        // The thread is busy too, and is interrupted by both.
        embassy_time::block_for(Duration::from_millis(3));
    }
    let (runs, inside, late) = (
        HIGH_RUNS.load(Relaxed),
        INSIDE_MIDDLE.load(Relaxed),
        LATEST.load(Relaxed),
    );
    defmt::info!(
        "{} runs, {} of them inside the middle one, {} us late at most",
        runs,
        inside,
        late
    );
    assert!((198..=206).contains(&runs));
    assert!(inside >= 40, "5 ms of every 20");
    assert!(late <= 50);
    exit(0);
}
