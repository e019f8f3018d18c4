//! Waits for three presses of the user button, edge by edge.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_stm32::exti::{ExtiInput, InterruptHandler};
use embassy_stm32::gpio::Pull;
use embassy_stm32::{bind_interrupts, interrupt};
use embassy_time::Instant;
use stribeck_programs::{clocks, exit};

bind_interrupts!(struct Irqs {
    EXTI15_10 => InterruptHandler<interrupt::typelevel::EXTI15_10>;
});

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_stm32::init(clocks());
    let mut button = ExtiInput::new(p.PC13, p.EXTI13, Pull::Down, Irqs);
    for press in 0..3 {
        button.wait_for_rising_edge().await;
        let down = Instant::now();
        button.wait_for_falling_edge().await;
        let held = down.elapsed().as_micros();
        defmt::info!("press {} held for {} us", press, held);
        assert!((49_900..=50_100).contains(&held));
    }
    exit(0);
}
