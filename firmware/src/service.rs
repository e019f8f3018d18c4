//! Everything that must go on whatever the main program does: USB, stream, LEDs, watchdog, on an executor of their own in an interrupt.
//!
//! The interrupt is that of UART4, which the board does not use and software pends; its priority is below all others, above thread mode.
//! So thread mode is free for work that takes long and never yields (an optimiser): it cannot starve the stream or the watchdog
//! (on-target test `service`).

use embassy_executor::{InterruptExecutor, SendSpawner};
use embassy_stm32::gpio::Input;
use embassy_stm32::interrupt;
use embassy_time::{Duration, Ticker};
use embassy_usb::UsbDevice;
use embassy_usb::class::cdc_acm::Receiver;

use crate::board::{Encoders, Leds};
use crate::stream::Stream;
use crate::usb::{Driver, Port};
use crate::watchdog::{FEED_EVERY_MS, Watchdog};
use crate::{board, ui};

static EXECUTOR: InterruptExecutor = InterruptExecutor::new();

#[interrupt]
unsafe fn UART4() {
    // SAFETY: the handler of the interrupt that `start` gives the executor, which is enabled there.
    unsafe { EXECUTOR.on_interrupt() }
}

/// What the tasks own. Everything in it moves to the executor's interrupt and is used nowhere else.
pub struct Parts {
    pub stream: &'static Stream,
    pub bus: UsbDevice<'static, Driver>,
    pub port: Port,
    pub receiver: Receiver<'static, Driver>,
    pub leds: Leds,
    pub bad_start: bool,
    pub watchdog: Watchdog,
    /// The tick reads them through their registers; kept configured.
    pub kept: (Encoders, Input<'static>),
}

/// Parts on their way into the interrupt.
struct Handed<T>(T);
// SAFETY: made in `start` from values that nobody else holds, taken apart by tasks of one executor, which never run at the same time as
// each other; whoever called `start` keeps nothing.
unsafe impl<T> Send for Handed<T> {}

/// Start everything. Once.
#[inline(never)] // `cargo elfcheck` counts the stack from here.
pub fn start(parts: Parts) {
    board::prepare_service();
    let spawner: SendSpawner = EXECUTOR.start(interrupt::UART4);
    let Parts {
        stream,
        bus,
        port,
        receiver,
        leds,
        bad_start,
        watchdog,
        kept,
    } = parts;
    spawner.spawn(run_bus(Handed(bus)).expect("spawned once"));
    spawner.spawn(serve(Handed((stream, port, receiver))).expect("spawned once"));
    spawner.spawn(show(Handed(leds), bad_start).expect("spawned once"));
    spawner.spawn(watch(Handed((watchdog, kept))).expect("spawned once"));
}

#[embassy_executor::task]
async fn run_bus(bus: Handed<UsbDevice<'static, Driver>>) {
    let Handed(mut device) = bus;
    device.run().await;
}

#[embassy_executor::task]
async fn serve(parts: Handed<(&'static Stream, Port, Receiver<'static, Driver>)>) {
    let Handed((stream, port, receiver)) = parts;
    stream.run(port, receiver).await;
}

#[embassy_executor::task]
async fn show(leds: Handed<Leds>, bad_start: bool) {
    ui::run(leds.0, bad_start).await;
}

#[embassy_executor::task]
async fn watch(parts: Handed<(Watchdog, (Encoders, Input<'static>))>) {
    let Handed((mut watchdog, _kept)) = parts;
    let mut ticker = Ticker::every(Duration::from_millis(FEED_EVERY_MS));
    loop {
        ticker.next().await;
        watchdog.feed();
    }
}
