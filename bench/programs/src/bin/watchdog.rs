//! Starts the watchdog, feeds it for a while, then does not; the next start finds out why it started.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_stm32::pac::RCC;
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_time::Timer;
use stribeck_programs::{clocks, exit};

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let starved = RCC.rsr().read().iwdg1rstf();
    RCC.rsr().modify(|w| w.set_rmvf(true));
    let p = embassy_stm32::init(clocks());
    if starved {
        exit(0);
    }
    let mut watchdog = IndependentWatchdog::new(p.IWDG1, 100_000);
    watchdog.unleash();
    for _ in 0..5 {
        Timer::after_millis(50).await;
        watchdog.pet();
    }
    Timer::after_millis(1_000).await;
    exit(1);
}
