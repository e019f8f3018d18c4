//! What a person at the bench sees: three LEDs. (The button is read by the tick, see `board`.)
//!
//! | LED    | dark    | blinking                             | lit                    |
//! |--------|---------|--------------------------------------|------------------------|
//! | green  | no tick | idle (one flash per second)          | at rest: run complete  |
//! | yellow | –       | swinging (5 Hz); driving, with green | armed                  |
//! | red    | fine    | started after a crash, without the   | fault within 2 seconds |
//! |        |         | configuration that was stored, or    |                        |
//! |        |         | without the ST-LINK's clock          |                        |

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use embassy_stm32::gpio::Level;
use embassy_time::{Duration, Ticker};
use stribeck_core::device::run::Phase;

use crate::board::Leds;
use crate::tick;

const STEP: Duration = Duration::from_millis(100);
const STEPS_PER_SECOND: u32 = 10;
/// How long a fault stays lit [steps].
const FAULT_STEPS: u8 = 20;

static FAULT: AtomicU8 = AtomicU8::new(0);

/// A fault was counted: light the red LED for a while.
pub fn show_fault() {
    FAULT.store(FAULT_STEPS, Relaxed);
}

/// Drive the LEDs for ever. `bad_start`: see the table.
pub async fn run(mut leds: Leds, bad_start: bool) -> ! {
    let mut ticker = Ticker::every(STEP);
    let mut step = 0u32;
    let mut ticks = tick::count();
    loop {
        let now = tick::count();
        let ticking = now != ticks;
        ticks = now;
        let flash = step.is_multiple_of(STEPS_PER_SECOND);
        let blink = step.is_multiple_of(2);
        let (green, yellow) = match tick::phase() {
            Phase::Idle => (flash, false),
            Phase::Armed => (false, true),
            Phase::Swinging => (false, blink),
            Phase::AtRest => (true, false),
            Phase::Driving => (true, blink),
        };
        let fault = FAULT.load(Relaxed);
        FAULT.store(fault.saturating_sub(1), Relaxed);
        leds.green.set_level(Level::from(green && ticking));
        leds.yellow.set_level(Level::from(yellow));
        leds.red
            .set_level(Level::from(fault > 0 || (bad_start && blink)));
        step = step.wrapping_add(1);
        ticker.next().await;
    }
}
