//! The queues firmware uses: the same blocks as the twin, loss counted, nothing stuck.

use stribeck_core::device::config::Config;
use stribeck_core::device::run::Cause;
use stribeck_core::device::{Engine, Input, Note, Queues, Request, Setup, ThreadEnd, TickEnd};
use stribeck_core::model::sim::Simulation;
use stribeck_core::wire::Block;

use crate::host::Host;

/// As firmware has them: storage that lives for ever.
fn ends<const BLOCKS: usize>() -> (TickEnd<'static>, ThreadEnd<'static>) {
    let blocks = Box::leak(Box::new([const { Block::EMPTY }; BLOCKS]));
    let spare = Box::leak(Box::new(Setup::new(&Config::default())));
    Box::leak(Box::new(Queues::<BLOCKS>::new())).split(blocks, spare)
}

#[test]
fn circulating_blocks_carry_what_the_twin_sends() {
    let mut config = Config::default();
    config.run.auto_arm = true;
    let mut host = Host::new(&config, Simulation::reference(0.0, 1));
    host.run(20_000);

    let (mut tick, mut thread) = ends::<6>();
    let mut engine = Engine::new(Setup::new(&config));
    let mut bench = Simulation::reference(0.0, 1);
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
        assert!(thread.request(Request::Stop { id, cause }).is_ok());
    }
    assert!(thread.request(Request::Snapshot).is_err(), "full");
    for id in 0..3 {
        assert_eq!(tick.request().and_then(|r| r.id()), Some(id));
    }
    assert!(tick.request().is_none());
}

#[test]
fn one_setup_circulates() {
    let (mut tick, mut thread) = ends::<3>();
    let mut engine = Engine::new(Setup::new(&Config::default()));
    let mut config = Config::default();
    for id in 0..10 {
        thread.make_room(0);
        config.stream.state_every = id + 1;
        assert!(thread.configure(id, &config), "{id}");
        assert!(!thread.configure(99, &config), "the spare is on its way");
        let request = tick.request().expect("the configuration");
        let old = engine.apply(request, &mut tick).expect("the spare back");
        assert!(tick.request().is_none());
        tick.give_back(old);
        engine.tick(Input::default(), &mut tick);
        let configured = std::iter::from_fn(|| thread.note()).any(|n| {
            n == Note::Configured {
                id,
                tick: id as u64,
            }
        });
        assert!(configured);
    }
    // A refused one comes back too.
    let cause = Cause::Host;
    assert!(
        engine
            .apply(Request::Arm { id: 1, cause }, &mut tick)
            .is_none()
    );
    engine.tick(Input::default(), &mut tick);
    for n in 0..2000 {
        let counts = [0, n];
        engine.tick(
            Input {
                counts,
                ..Input::default()
            },
            &mut tick,
        );
        while thread.note().is_some() {}
        thread.make_room(0);
    }
    assert_eq!(engine.phase(), stribeck_core::device::run::Phase::Swinging);
    assert!(thread.configure(20, &config));
    let old = engine.apply(tick.request().unwrap(), &mut tick).unwrap();
    tick.give_back(old);
    let notes: Vec<_> = std::iter::from_fn(|| thread.note()).collect();
    assert!(
        matches!(notes[..], [Note::NotConfigured { id: 20, .. }]),
        "{notes:?}"
    );
    assert!(thread.configure(21, &config));
}
