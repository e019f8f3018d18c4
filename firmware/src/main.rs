//! stribeck on the NUCLEO-H743ZI2: live friction identification of a tilted Furuta pendulum.
//!
//! | task     | runs in, priority      | period             | deadline                                     |
//! |----------|------------------------|--------------------|----------------------------------------------|
//! | tick     | TIM7 interrupt, 0      | 100 µs             | 100 µs, budget 30 % of it (`tick`)           |
//! | time     | TIM3 interrupt, 5      | on demand          | –                                            |
//! | bus      | OTG_FS interrupt, 6    | on demand          | control transfers within 500 ms (USB 2.0)    |
//! |          | then thread            |                    |                                              |
//! | stream   | thread                 | 1 ms, or USB ready | 0.35 s of frames may wait, then oldest drop  |
//! | leds     | thread                 | 100 ms             | –                                            |
//! | watchdog | thread (main)          | 100 ms             | 500 ms, or the processor is reset            |
//!
//! Start: `start.s` fills ITCM and DTCM (memory.x), cortex-m-rt the data; then `main` below.
#![no_std]
#![no_main]
#![deny(clippy::undocumented_unsafe_blocks)]

mod crash;

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_stm32::gpio::Input;
use embassy_time::{Duration, Ticker};
use embassy_usb::UsbDevice;
use embassy_usb::class::cdc_acm::Receiver;
use stribeck_core::wire::{ClockSource, ConfigOrigin};
use stribeck_firmware::board::{self, Encoders, Leds};
use stribeck_firmware::device::{self, Start};
use stribeck_firmware::stream::Stream;
use stribeck_firmware::ui;
use stribeck_firmware::usb::{self, Driver, Port};
use stribeck_firmware::watchdog::{FEED_EVERY_MS, Watchdog};

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let start = Start::take();
    let mut watchdog = Watchdog::start();
    let board = board::init();
    let crashed = start.crashed();
    defmt::info!(
        "stribeck {}, crashed before: {}",
        env!("STRIBECK_BUILD"),
        crashed
    );
    if let Some(text) = &start.last_fault {
        defmt::error!("last fault: {=str}", text.as_str());
    }
    if board.clock == ClockSource::Internal {
        defmt::error!("no clock from the ST-LINK: on the internal oscillator");
    }
    let (config, origin) = device::configuration();
    defmt::info!("configuration: origin {}", origin as u8);
    let stream = device::install(start, board.clock, &config, origin);
    board::start_tick(board.tick, board.motor);

    let (bus_device, port, receiver) = usb::build(board.usb);
    spawner.spawn(bus(bus_device).expect("spawned once"));
    spawner.spawn(serve(stream, port, receiver).expect("spawned once"));
    let bad_start =
        crashed || origin == ConfigOrigin::StoredWasBad || board.clock == ClockSource::Internal;
    spawner.spawn(leds(board.leds, bad_start).expect("spawned once"));

    // The encoders and the button are read by the tick through their registers; keep them configured.
    let _kept: (Encoders, Input) = (board.encoders, board.button);
    let mut ticker = Ticker::every(Duration::from_millis(FEED_EVERY_MS));
    loop {
        ticker.next().await;
        watchdog.feed();
    }
}

#[embassy_executor::task]
async fn bus(mut device: UsbDevice<'static, Driver>) {
    device.run().await;
}

#[embassy_executor::task]
async fn serve(stream: &'static Stream, port: Port, receiver: Receiver<'static, Driver>) {
    stream.run(port, receiver).await;
}

#[embassy_executor::task]
async fn leds(leds: Leds, bad_start: bool) {
    ui::run(leds, bad_start).await;
}
