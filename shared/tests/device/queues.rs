//! The queues firmware uses: the same blocks as the twin, loss counted, nothing stuck.

use stribeck_core::config::Config;
use stribeck_core::device::{Engine, Input, Note, Queues, Request, Setup, ThreadEnd, TickEnd};
use stribeck_core::run::Cause;
use stribeck_core::sim::Bench;
use stribeck_core::wire::Block;

use crate::host::Host;

/// As firmware has them: storage that lives for ever.
fn ends<const BLOCKS: usize>() -> (TickEnd<'static>, ThreadEnd<'static>) {
    let blocks = Box::leak(Box::new([const { Block::EMPTY }; BLOCKS]));
    Box::leak(Box::new(Queues::<BLOCKS>::new())).split(blocks)
}

#[test]
fn circulating_blocks_carry_what_the_twin_sends() {
    let mut config = Config::default();
    config.run.auto_arm = true;
    let mut host = Host::new(&config, Bench::reference(0.0, 1));
    host.run(20_000);

    let (mut tick, mut thread) = ends::<6>();
    let mut engine = Engine::new(Setup::new(&config));
    let mut bench = Bench::reference(0.0, 1);
    let mut received = Vec::new();
    for _ in 0..20_000 {
        let counts = bench.tick().counts;
        engine.tick(
            Input {
                counts,
                ..Input::default()
            },
            &mut tick,
        );
        while let Some(block) = thread.with_block(Block::clone) {
            received.push(block);
        }
        while thread.note().is_some() {}
        assert!(thread.is_whole());
    }
    assert_eq!(received, host.heard.blocks);
}

#[test]
fn a_slow_thread_loses_blocks_in_order_and_recovers() {
    let (mut tick, mut thread) = ends::<4>();
    let mut engine = Engine::new(Setup::new(&Config::default()));
    let run = |engine: &mut Engine, tick: &mut _, blocks: u32| {
        for _ in 0..100 * blocks {
            engine.tick(Input::default(), tick);
        }
    };
    // Not read at all: the queue keeps the oldest three.
    run(&mut engine, &mut tick, 10);
    assert_eq!(thread.waiting(), 3);
    assert!(thread.is_whole());
    assert_eq!(thread.with_block(|b| b.seq), Some(0));
    // The thread discards the oldest to keep the newest.
    assert_eq!(thread.make_room(1), 1);
    assert_eq!(thread.with_block(|b| b.seq), Some(2));
    run(&mut engine, &mut tick, 2);
    assert_eq!(thread.with_block(|b| b.seq), Some(10));
    assert_eq!(thread.with_block(|b| b.seq), Some(11));
    assert_eq!(thread.waiting(), 0);
    // The tick side counted what it could not hand over.
    run(&mut engine, &mut tick, 100);
    let vitals = std::iter::from_fn(|| thread.note()).find_map(|n| match n {
        Note::Vitals(v) => Some(v),
        _ => None,
    });
    assert_eq!(vitals.unwrap().lost_blocks, 7 + 84);
}

#[test]
fn requests_reach_the_tick_side_in_order_and_are_bounded() {
    let (mut tick, mut thread) = ends::<3>();
    let cause = Cause::Host;
    for id in 0..3 {
        assert!(thread.request(Request::Stop { id, cause }));
    }
    assert!(!thread.request(Request::Snapshot), "full");
    for id in 0..3 {
        assert_eq!(tick.request().and_then(|r| r.id()), Some(id));
    }
    assert!(tick.request().is_none());
}
