//! Two PWM outputs of TIM4 at 20 kHz: PD12 at 25 % and PD13 at 75 %. Never ends.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_stm32::gpio::OutputType;
use embassy_stm32::time::Hertz;
use embassy_stm32::timer::simple_pwm::{PwmPin, SimplePwm};
use embassy_time::Timer;
use stribeck_programs::clocks;

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_stm32::init(clocks());
    let first = PwmPin::new(p.PD12, OutputType::PushPull);
    let second = PwmPin::new(p.PD13, OutputType::PushPull);
    let hertz = Hertz(20_000);
    let mut pwm = SimplePwm::new(
        p.TIM4,
        Some(first),
        Some(second),
        None,
        None,
        hertz,
        Default::default(),
    );
    for (channel, percent) in [(0, 25), (1, 75)] {
        let mut channel = if channel == 0 { pwm.ch1() } else { pwm.ch2() };
        channel.set_duty_cycle_percent(percent);
        channel.enable();
    }
    loop {
        Timer::after_millis(100).await;
    }
}
