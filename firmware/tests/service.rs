//! Does everything go on while thread mode never yields?
//!
//! The whole device as it is flashed: tick, USB, stream, LEDs and watchdog. Thread mode then counts for three watchdog time-outs without a
//! pause. The watchdog is fed only if ticks have happened and the stream has come round, and resets the processor if it is not fed.
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use stribeck_firmware::board;
    use stribeck_firmware::device::{self, Start};
    use stribeck_firmware::service::{self, Parts};
    use stribeck_firmware::watchdog::{self, FEED_EVERY_MS, TIMEOUT_US, Watchdog};
    use stribeck_firmware::{tick, usb};

    #[init]
    fn init() {
        let start = Start::take();
        let watchdog = Watchdog::start();
        let board = board::init();
        let (config, origin) = device::configuration();
        let stream = device::install(start, board.clock, &config, origin);
        board::start_tick(board.tick, board.motor);
        let (bus, port, receiver) = usb::build(board.usb);
        service::start(Parts {
            stream,
            bus,
            port,
            receiver,
            leds: board.leds,
            bad_start: false,
            watchdog,
            kept: (board.encoders, board.button),
        });
    }

    #[test]
    fn a_thread_that_never_yields_starves_nothing() {
        let ticks = 3 * TIMEOUT_US / 100;
        let (first, fed) = (tick::count(), watchdog::feedings());
        let mut turns = 0u32;
        while tick::count().wrapping_sub(first) < ticks {
            turns = core::hint::black_box(turns.wrapping_add(1));
        }
        let fed = watchdog::feedings().wrapping_sub(fed);
        defmt::info!("{} turns, fed {} times", turns, fed);
        assert!(turns > 100_000, "thread mode runs: {turns}");
        let due = ticks / 10 / FEED_EVERY_MS as u32;
        assert!(fed + 1 >= due, "fed {fed} of {due} times");
        assert_eq!(tick::missed(), 0);
    }
}
