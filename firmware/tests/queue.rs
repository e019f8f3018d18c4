//! When nobody takes the blocks: are they lost one by one, counted, with the gap visible, and does the tick go on?
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use embassy_time::Timer;
    use static_cell::{ConstStaticCell, StaticCell};
    use stribeck_core::device::config::Config;
    use stribeck_core::device::{Engine, Note, Queues, Setup, ThreadEnd};
    use stribeck_core::wire::Block;
    use stribeck_firmware::board::{self, TICK_HZ};
    use stribeck_firmware::{tick, timing};

    const BLOCKS: usize = 5;

    #[init]
    async fn init() -> ThreadEnd<'static> {
        static QUEUES: ConstStaticCell<Queues<'static, BLOCKS>> =
            ConstStaticCell::new(Queues::new());
        static SPARE: StaticCell<Setup> = StaticCell::new();
        static POOL: ConstStaticCell<[Block; BLOCKS]> =
            ConstStaticCell::new([const { Block::EMPTY }; BLOCKS]);
        let board = board::init();
        let (tick_end, thread_end) = QUEUES.take().split(
            POOL.take(),
            SPARE.init_with(|| Setup::new(&Config::default())),
        );
        let (meter, _) = timing::split();
        tick::install(Engine::new(Setup::new(&Config::default())), tick_end, meter);
        board::start_tick(board.tick, board.motor);
        core::mem::forget(board.encoders);
        thread_end
    }

    /// Next block as (sequence, first tick, ticks, inner consistency).
    fn next(end: &mut ThreadEnd<'static>) -> Option<(u32, u64, u16, bool)> {
        end.with_block(|b| (b.seq, b.first_tick, b.ticks, b.is_consistent()))
    }

    #[test]
    async fn overflow_is_counted_and_visible(mut end: ThreadEnd<'static>) {
        Timer::after_millis(500).await;
        // All but the block being filled wait, oldest first, without a gap.
        assert_eq!(end.waiting(), BLOCKS - 1);
        let mut expected_tick = 0;
        for seq in 0..BLOCKS as u32 - 1 {
            let (found, first, ticks, consistent) = next(&mut end).unwrap();
            assert_eq!((found, first, consistent), (seq, expected_tick, true));
            expected_tick = first + ticks as u64;
        }
        assert!(next(&mut end).is_none());

        // The next ones come after a gap, and continue without one.
        Timer::after_millis(25).await;
        let (seq, first, ticks, consistent) = next(&mut end).unwrap();
        assert!(consistent);
        let lost = seq - (BLOCKS as u32 - 1);
        assert!(lost > 40, "{} lost in half a second", lost);
        assert_eq!(first, seq as u64 * 100, "ticks stay numbered by time");
        let (after, first_after, ..) = next(&mut end).unwrap();
        assert_eq!((after, first_after), (seq + 1, first + ticks as u64));

        // The device says how many were lost.
        Timer::after_millis(600).await;
        let vitals = core::iter::from_fn(|| end.note()).find_map(|note| match note {
            Note::Vitals(vitals) => Some(vitals),
            _ => None,
        });
        assert!(vitals.is_some_and(|v| v.lost_blocks >= lost));
        assert_eq!((tick::missed(), tick::overruns()), (0, 0));
        assert!(tick::count() > TICK_HZ);
    }

    #[test]
    async fn making_room_keeps_the_newest(mut end: ThreadEnd<'static>) {
        Timer::after_millis(45).await;
        let waiting = end.waiting();
        assert!(waiting >= 3);
        assert_eq!(end.make_room(1) as usize, waiting - 1);
        assert_eq!(next(&mut end).unwrap().0 as usize, waiting - 1);
    }
}
