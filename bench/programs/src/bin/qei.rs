//! Both encoders through embassy's 16-bit quadrature interface: waits for the operator's hand, then checks where it stopped.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_stm32::timer::qei::Qei;
use embassy_time::Timer;
use stribeck_programs::{clocks, exit};

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_stm32::init(clocks());
    let base = Qei::new(p.TIM2, p.PA15, p.PB3, Default::default());
    let pendulum = Qei::new(p.TIM5, p.PA0, p.PA1, Default::default());
    assert_eq!((base.count(), pendulum.count()), (0, 0));
    // Lifted to 10° and 120° between .1 and .4 s: ⌊θ/2π · 40,000⌋ counts.
    Timer::after_millis(600).await;
    defmt::info!("{} {}", base.count(), pendulum.count());
    assert_eq!((base.count(), pendulum.count()), (1_111, 13_333));
    exit(0);
}
