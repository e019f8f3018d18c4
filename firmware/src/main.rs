//! stribeck on the NUCLEO-H743ZI2: live friction identification of a tilted Furuta pendulum.
//!
//! | task     | runs in, priority      | period             | deadline                                     |
//! |----------|------------------------|--------------------|----------------------------------------------|
//! | tick     | TIM7 interrupt, 0      | 100 µs             | 100 µs, budget 30 % of it (`tick`)           |
//! | time     | TIM3 interrupt, 5      | on demand          | –                                            |
//! | bus      | OTG_FS interrupt, 6    | on demand          | control transfers within 500 ms (USB 2.0)    |
//! |          | then UART4 interrupt   |                    |                                              |
//! | stream   | UART4 interrupt, 7     | 1 ms, or USB ready | 0.35 s of frames may wait, then oldest drop  |
//! | leds     | UART4 interrupt, 7     | 100 ms             | –                                            |
//! | watchdog | UART4 interrupt, 7     | 100 ms             | 500 ms, or the processor is reset            |
//! | main     | thread                 | –                  | free: sleeps                                 |
//!
//! Start: `start.s` fills ITCM and DTCM (memory.x), cortex-m-rt the data; then `main` below.
#![no_std]
#![no_main]
#![deny(clippy::undocumented_unsafe_blocks)]

mod crash;

use defmt_rtt as _;
use stribeck_core::wire::{ClockSource, ConfigOrigin};
use stribeck_firmware::board;
use stribeck_firmware::device::{self, Start};
use stribeck_firmware::service::{self, Parts};
use stribeck_firmware::usb;
use stribeck_firmware::watchdog::Watchdog;

#[cortex_m_rt::entry]
fn main() -> ! {
    let start = Start::take();
    let watchdog = Watchdog::start();
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

    let (bus, port, receiver) = usb::build(board.usb);
    service::start(Parts {
        stream,
        bus,
        port,
        receiver,
        leds: board.leds,
        bad_start: crashed
            || origin == ConfigOrigin::StoredWasBad
            || board.clock == ClockSource::Internal,
        watchdog,
        kept: (board.encoders, board.button),
    });
    loop {
        cortex_m::asm::wfi();
    }
}
