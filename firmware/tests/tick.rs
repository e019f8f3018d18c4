//! Does the tick come every 100 µs, and how regularly, with the whole device running in it?
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use cortex_m::peripheral::DWT;
    use embassy_stm32::interrupt::{self, InterruptExt};
    use embassy_time::{Duration, Instant, Timer};
    use static_cell::{ConstStaticCell, StaticCell};
    use stribeck_core::device::config::Config;
    use stribeck_core::device::{Engine, Queues, Setup};
    use stribeck_core::wire::Block;
    use stribeck_firmware::board::{self, CYCLES_PER_TICK};
    use stribeck_firmware::timing::Timing;
    use stribeck_firmware::{tick, timing};

    /// Largest allowed difference of a start from its time: 2 µs.
    const JITTER_CYCLES: u32 = 800;

    #[init]
    async fn init() -> Timing {
        static QUEUES: ConstStaticCell<Queues<'static, 3>> = ConstStaticCell::new(Queues::new());
        static SPARE: StaticCell<Setup> = StaticCell::new();
        static POOL: ConstStaticCell<[Block; 3]> =
            ConstStaticCell::new([const { Block::EMPTY }; 3]);
        let board = board::init();
        // Blocks pile up and are lost: not the business of this test.
        let (end, _) = QUEUES.take().split(
            POOL.take(),
            SPARE.init_with(|| Setup::new(&Config::default())),
        );
        let (meter, timing) = timing::split();
        tick::install(Engine::new(Setup::new(&Config::default())), end, meter);
        board::start_tick(board.tick, board.motor);
        core::mem::forget(board.encoders);
        timing
    }

    async fn collect(timing: &mut Timing, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            Timer::after_millis(5).await;
            timing.collect();
        }
    }

    #[test]
    async fn period_and_jitter(mut timing: Timing) {
        // Start-up (cold caches) is not judged.
        collect(&mut timing, Duration::from_millis(20)).await;
        timing.period.take();
        collect(&mut timing, Duration::from_millis(500)).await;
        let period = timing.period.take();
        defmt::info!(
            "period {} to {} cycles, mean {}, sigma {}",
            period.min,
            period.max,
            period.mean,
            period.sigma
        );
        assert!((period.mean - CYCLES_PER_TICK as f32).abs() < 1.0);
        assert!(period.max <= CYCLES_PER_TICK + JITTER_CYCLES);
        assert!(period.min >= CYCLES_PER_TICK - JITTER_CYCLES);
    }

    #[test]
    async fn ticks_keep_time_with_the_clock(_timing: Timing) {
        let (t0, n0) = (Instant::now(), tick::count());
        Timer::after_millis(300).await;
        let elapsed = t0.elapsed().as_micros() as u32;
        let ticks = tick::count() - n0;
        assert!(ticks.abs_diff(elapsed / 100) <= 1);
        assert_eq!((tick::missed(), tick::overruns()), (0, 0));
    }

    /// Nothing below the tick's priority may delay it: not even a long critical section.
    #[test]
    async fn critical_sections_do_not_delay_the_tick(mut timing: Timing) {
        collect(&mut timing, Duration::from_millis(20)).await;
        timing.period.take();
        for _ in 0..20 {
            critical_section::with(|_| {
                let begin = DWT::cycle_count();
                while DWT::cycle_count().wrapping_sub(begin) < 10 * CYCLES_PER_TICK {}
            });
            timing.collect();
            Timer::after_millis(1).await;
        }
        let period = timing.period.take();
        assert!(period.max <= CYCLES_PER_TICK + JITTER_CYCLES);
        assert_eq!(tick::missed(), 0);
    }

    /// Ticks that cannot happen are counted, and those after them keep their numbers.
    #[test]
    async fn missed_ticks_are_counted_and_leave_a_gap_in_the_numbers(_timing: Timing) {
        Timer::after_millis(5).await;
        let (start, ticks_before) = (Instant::now(), tick::count());
        board::stop_tick();
        let begin = DWT::cycle_count();
        cortex_m::asm::delay(CYCLES_PER_TICK * 15 / 2);
        let periods = DWT::cycle_count().wrapping_sub(begin) / CYCLES_PER_TICK;
        // SAFETY: it was enabled before.
        unsafe { interrupt::TIM7.enable() };
        Timer::after_millis(20).await;
        let ticks = tick::count() - ticks_before;
        let elapsed = start.elapsed().as_micros() as u32;
        // As many were due, or one more; one of them happened, late.
        assert!(periods >= 3);
        let missed = tick::missed();
        assert!(missed == periods || missed + 1 == periods);
        assert!(ticks.abs_diff(elapsed / 100) <= 1);
    }
}
