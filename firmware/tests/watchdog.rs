//! Does the watchdog reset the processor when ticks stop, and leave it alone while all is well?
//!
//! A reset ends a test run as the runner sees it, so the second start reports the result itself: it
//! finds the mark of the first in RAM that survives resets, checks that the watchdog was the cause, and
//! ends the test before the harness starts. probe-rs halts the core at the reset vector in test mode, where
//! it would wait for ever: [`expect_a_reset`] takes that catch away.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use defmt_rtt as _;
use stribeck_core::wire::ResetCause;
use stribeck_firmware::reset;

/// Set by the test that expects to be reset.
// SAFETY: the section is plain RAM; any bit pattern is an AtomicU32.
#[unsafe(link_section = ".uninit.mark")]
static MARK: AtomicU32 = AtomicU32::new(0);
const EXPECTING_RESET: u32 = 0x5741_5443;

#[embedded_test::setup]
fn second_start() {
    let by_watchdog = reset::take_cause(false) == ResetCause::Watchdog;
    if MARK.swap(0, Relaxed) == EXPECTING_RESET {
        exit(if by_watchdog { 0 } else { 1 });
    }
}

/// Leave the mark for the second start, and let the core run through the reset: clear the debugger's catch
/// of the reset vector (DEMCR.VC_CORERESET), which survives resets.
fn expect_a_reset() {
    const VC_CORERESET: u32 = 1;
    MARK.store(EXPECTING_RESET, Relaxed);
    // SAFETY: a debug register of the core, changed by nobody else while the test runs.
    unsafe {
        let debug = &*cortex_m::peripheral::DCB::PTR;
        debug.demcr.modify(|r| r & !VC_CORERESET);
    }
    cortex_m::asm::dsb();
}

/// End the test run: semihosting SYS_EXIT_EXTENDED.
fn exit(code: u32) {
    const APPLICATION_EXIT: u32 = 0x2_0026;
    let block = [APPLICATION_EXIT, code];
    // SAFETY: the runner reads the block and halts the processor.
    unsafe {
        core::arch::asm!("bkpt 0xAB", in("r0") 0x20, in("r1") block.as_ptr());
    }
}

#[embedded_test::tests]
mod tests {
    use super::{MARK, expect_a_reset};
    use core::sync::atomic::Ordering::Relaxed;
    use embassy_time::{Instant, Timer};
    use static_cell::{ConstStaticCell, StaticCell};
    use stribeck_core::device::config::Config;
    use stribeck_core::device::{Engine, Queues, Setup};
    use stribeck_core::wire::Block;
    use stribeck_firmware::board::{self, Board};
    use stribeck_firmware::watchdog::{self, FEED_EVERY_MS, TIMEOUT_US, Watchdog};
    use stribeck_firmware::{tick, timing};

    #[init]
    async fn init() -> Watchdog {
        static QUEUES: ConstStaticCell<Queues<'static, 3>> = ConstStaticCell::new(Queues::new());
        static SPARE: StaticCell<Setup> = StaticCell::new();
        static POOL: ConstStaticCell<[Block; 3]> =
            ConstStaticCell::new([const { Block::EMPTY }; 3]);
        let Board { tick, motor, .. } = board::init();
        let (end, _) = QUEUES.take().split(
            POOL.take(),
            SPARE.init_with(|| Setup::new(&Config::default())),
        );
        let (meter, _) = timing::split();
        tick::install(Engine::new(Setup::new(&Config::default())), end, meter);
        board::start_tick(tick, motor);
        Watchdog::start()
    }

    /// Feed for four time-outs with everything alive.
    async fn live(watchdog: &mut Watchdog) {
        let start = Instant::now();
        while start.elapsed().as_micros() < 4 * TIMEOUT_US as u64 {
            Timer::after_millis(FEED_EVERY_MS).await;
            watchdog::stream_is_alive();
            watchdog.feed();
        }
    }

    /// The reset is expected within two time-outs; being here after that is the failure.
    async fn expect_reset() -> Result<(), &'static str> {
        Timer::after_micros(2 * TIMEOUT_US as u64).await;
        MARK.store(0, Relaxed);
        Err("the watchdog did not reset")
    }

    #[test]
    async fn a_living_device_is_left_alone(mut watchdog: Watchdog) {
        live(&mut watchdog).await;
    }

    #[test]
    async fn a_stopped_tick_is_a_reset(mut watchdog: Watchdog) -> Result<(), &'static str> {
        live(&mut watchdog).await;
        expect_a_reset();
        board::stop_tick();
        for _ in 0..4 * TIMEOUT_US / 1000 / FEED_EVERY_MS as u32 {
            Timer::after_millis(FEED_EVERY_MS).await;
            watchdog::stream_is_alive();
            watchdog.feed();
        }
        expect_reset().await
    }

    #[test]
    async fn a_stuck_stream_is_a_reset(mut watchdog: Watchdog) -> Result<(), &'static str> {
        live(&mut watchdog).await;
        expect_a_reset();
        for _ in 0..4 * TIMEOUT_US / 1000 / FEED_EVERY_MS as u32 {
            Timer::after_millis(FEED_EVERY_MS).await;
            watchdog.feed();
        }
        expect_reset().await
    }

    #[test]
    async fn a_hung_main_loop_is_a_reset(_watchdog: Watchdog) -> Result<(), &'static str> {
        expect_a_reset();
        expect_reset().await
    }
}
