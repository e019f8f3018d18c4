//! The independent watchdog: resets the processor unless tick and main loop are both alive.
//!
//! Its clock (LSI, 32 kHz ± 5 %) and counter are separate from everything it watches. It is fed only
//! when, since the last feeding, ticks have happened and the streaming task has come round; the
//! feeding itself proves that the executor runs. It is started before the start-up first waits for
//! hardware, so that hardware that does not answer is a reset and not the end. Stands still while a
//! debugger halts the core.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use embassy_stm32::pac::DBGMCU;
use embassy_stm32::peripherals::IWDG1;
use embassy_stm32::wdg::IndependentWatchdog;

use crate::tick;

/// Reset after this long without feeding [µs].
pub const TIMEOUT_US: u32 = 500_000;
/// Call [`Watchdog::feed`] this often [ms].
pub const FEED_EVERY_MS: u64 = 100;

/// Set by the streaming task each time round its loop.
static STREAM_ALIVE: AtomicBool = AtomicBool::new(false);

/// Times it was fed, since reset.
static FEEDINGS: AtomicU32 = AtomicU32::new(0);

/// Times it was fed, for tests.
pub fn feedings() -> u32 {
    FEEDINGS.load(Relaxed)
}

/// The streaming task came round.
pub fn stream_is_alive() {
    STREAM_ALIVE.store(true, Relaxed);
}

pub struct Watchdog {
    timer: IndependentWatchdog<'static, IWDG1>,
    ticks: u32,
}

impl Watchdog {
    /// Start it, once. It cannot be stopped again.
    pub fn start() -> Self {
        DBGMCU.apb4fzr1().modify(|w| w.set_iwdg1(true));
        // SAFETY: nothing else uses this peripheral, and embassy's start-up code leaves it alone.
        let peripheral = unsafe { IWDG1::steal() };
        let mut timer = IndependentWatchdog::new(peripheral, TIMEOUT_US);
        timer.unleash();
        Self {
            timer,
            ticks: tick::count(),
        }
    }

    /// Feed it if everything it watches has moved since the last feeding.
    pub fn feed(&mut self) {
        let ticks = tick::count();
        let ticking = ticks != self.ticks;
        if ticking && STREAM_ALIVE.swap(false, Relaxed) {
            self.ticks = ticks;
            self.timer.pet();
            FEEDINGS.store(feedings().wrapping_add(1), Relaxed);
        }
    }
}
