//! Many commands at once, in the worst order: every one is answered, and Hello tells the truth.

use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Followed, Identity, Input, Replay, cost};
use stribeck_core::model::sim::{Rng, Simulation};
use stribeck_core::wire::{Ask, Command, ConfigOrigin, MAX_FRAME, Refusal, Reply, What, encode};

use crate::host::Host;

fn idle() -> Host {
    let mut host = Host::new(&Config::default(), Simulation::reference(0.0, 1));
    host.bench.hold([0.0, 1.0], u32::MAX);
    host.run(10);
    host
}

fn set(config: &Config) -> Ask {
    Ask::SetConfig {
        store: false,
        config: Blob::seal(config),
    }
}

fn bytes(id: u16, ask: Ask) -> Vec<u8> {
    let mut buf = [0; MAX_FRAME];
    let n = encode(&Command { id, ask }, &mut buf).unwrap();
    buf[..n].to_vec()
}

/// Replay with every Hello handed over as soon as it was heard.
fn replayed(host: &Host) -> u64 {
    let hellos = &host.heard.hellos;
    let mut replay = Replay::new(&hellos[0].config().unwrap());
    let mut told = 1;
    for (block, heard) in host.heard.blocks.iter().zip(&host.heard.hellos_before) {
        for hello in &hellos[told..*heard] {
            replay.set_config(&hello.config().unwrap(), hello.config_since);
        }
        told = *heard;
        assert_eq!(replay.block(block), Ok(Followed::Equal), "{block:?}");
    }
    replay.equal_ticks
}

#[test]
fn two_configurations_within_one_block_replay() {
    let mut host = idle();
    host.run(150);
    let mut config = Config::default();
    // k(0) is in the state from the first tick on.
    for (k0, ticks) in [(7.1, 7), (7.2, 3), (7.3, 1), (7.4, 40_000)] {
        config.uas.k0 = k0;
        host.send(set(&config));
        host.run(ticks);
        host.send(Ask::Start);
        host.run(1);
    }
    assert!(host.heard.replies.iter().all(|r| r.refusal.is_none()));
    assert_eq!(host.heard.hellos.len(), 5);
    assert!(replayed(&host) > 40_000);
}

/// A host that reads late gets all Hellos before the blocks they overtook.
#[test]
fn hellos_that_overtake_their_blocks_replay() {
    let mut host = idle();
    host.run(150);
    let mut config = Config::default();
    let mut waiting = Vec::new();
    for k0 in [7.1, 7.2, 7.3] {
        config.uas.k0 = k0;
        host.send(set(&config));
        let from = host.heard.blocks.len();
        host.run(5);
        waiting.push(from..host.heard.blocks.len());
    }
    host.run(1000);
    let late = host.heard.hellos.len();
    for range in waiting {
        host.heard.hellos_before[range].fill(late);
    }
    assert!(replayed(&host) > 1000);
}

/// A host that does not read between two configurations: a log must not miss the first.
#[test]
fn a_configuration_waits_until_the_last_one_was_told() {
    let mut host = idle();
    let mut config = Config::default();
    let mut send = |host: &mut Host, k0| {
        config.uas.k0 = k0;
        host.device.command(&bytes(k0 as u16, set(&config)));
        for _ in 0..3 {
            let counts = host.bench.tick().counts;
            host.device.tick(counts);
        }
    };
    send(&mut host, 8.0);
    // The firmware takes in notes while the host does not read; the twin does so in `next_frame`.
    host.device.take_notes();
    send(&mut host, 9.0);
    host.run(1000);
    let refusal = |id| {
        let reply = host.heard.replies.iter().find(|r| r.id == id);
        reply.expect("a reply").refusal.clone()
    };
    assert_eq!((refusal(8), refusal(9)), (None, Some(Refusal::Busy)));
    assert!(replayed(&host) > 1000);
}

/// One packet: a configuration, then orders with the same id that fill the tick side's queue.
#[test]
fn orders_of_the_same_id_do_not_hide_a_configuration() {
    for orders in 1..10 {
        let mut host = idle();
        let mut config = Config::default();
        config.stream.state_every = 7;
        let mut packet = bytes(5, set(&config));
        for _ in 0..orders {
            packet.extend(bytes(5, Ask::Stop));
        }
        host.device.command(&packet);
        host.run(300);
        let told = host.heard.hellos.last().unwrap().config().unwrap();
        let runs = host.heard.blocks.last().unwrap().state_every;
        assert_eq!(told.stream.state_every, runs, "{orders} orders");
        assert_eq!(host.heard.replies.len(), 1 + orders);
        assert_eq!(runs, 7);
    }
}

/// An order that was accepted under the id of a configuration still on its way.
#[test]
fn an_earlier_order_of_the_same_id_does_not_announce_a_configuration() {
    let mut host = idle();
    let mut config = Config::default();
    config.stream.state_every = 7;
    let mut packet = bytes(5, Ask::Stop);
    packet.extend(bytes(5, set(&config)));
    host.device.command(&packet);
    host.run(1);
    assert_eq!(
        host.heard.hellos.last().unwrap().config(),
        Ok(Config::default())
    );
    host.run(300);
    assert_eq!(host.heard.hellos.last().unwrap().config(), Ok(config));
}

#[test]
fn every_command_of_a_burst_is_answered_or_refused() {
    let mut rng = Rng::new(5);
    let mut config = Config::default();
    for round in 0..200u16 {
        let mut host = idle();
        let mut packet = Vec::new();
        for id in 0..40 {
            let ask = match rng.bits() % 8 {
                0 => Ask::Hello,
                1 => Ask::Start,
                2 => Ask::Stop,
                3 => Ask::Zero,
                4 => Ask::GetConfig,
                5 => {
                    config.stream.state_every = id + 1;
                    set(&config)
                }
                6 => {
                    let mut wrong = config;
                    wrong.ekf.substeps = 0;
                    set(&wrong)
                }
                _ => Ask::SelfTest {
                    seed: 1,
                    frames: 1,
                    bytes: 10,
                },
            };
            packet.extend(bytes(1000 * (round % 2) + id, ask));
        }
        host.device.command(&packet);
        host.run(400);
        let mut ids: Vec<u16> = host.heard.replies.iter().map(|r| r.id % 1000).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..40).collect::<Vec<_>>(), "round {round}");
        let told = host.heard.hellos.last().unwrap().config().unwrap();
        let runs = host.heard.blocks.last().unwrap().state_every;
        assert_eq!(told.stream.state_every, runs, "round {round}");
    }
}

/// What a tick of the device below may take.
const BUDGET: cost::Work = cost::Work {
    cycles: 16_000,
    instructions: 12_000,
};

/// The device of the firmware: one tick rate, a bounded tick.
fn board(config: &Config) -> Host {
    let mut host = Host::new(config, Simulation::reference(0.0, 1));
    let identity = Identity {
        tick_hz: Some(10_000),
        tick_budget: Some(BUDGET),
        ..Identity::new("board")
    };
    host.device = stribeck_core::device::Device::new(identity, config, ConfigOrigin::Default);
    host.run(10);
    host
}

fn limit_of(reply: &Reply) -> (String, f32, f32) {
    let Some(Refusal::OutOfRange {
        field, value, max, ..
    }) = &reply.refusal
    else {
        panic!("{reply:?}");
    };
    (field.to_string(), *value, *max)
}

#[test]
fn a_configuration_that_costs_too_much_is_refused_with_its_limit() {
    let mut host = board(&Config::default());
    let mut config = Config::default();
    config.ekf.substeps = 40;
    let (field, value, max) = limit_of(&host.ask(set(&config)));
    assert_eq!((field.as_str(), value), ("ekf.substeps", 40.0));
    assert!((2.0..40.0).contains(&max));
    // The limit is exact: it is accepted, one more is not.
    config.ekf.substeps = max as u8;
    let fits = |c: &Config| {
        let worst = cost::worst_tick(c);
        worst.cycles <= BUDGET.cycles && worst.instructions <= BUDGET.instructions
    };
    assert!(fits(&config));
    assert_eq!(host.ask(set(&config)).refusal, None);
    config.ekf.substeps += 1;
    assert!(!fits(&config));
    assert!(host.ask(set(&config)).refusal.is_some());
    // What else costs lowers it.
    config.ekf.drag = true;
    config.ekf.cycle = 5;
    assert!(limit_of(&host.ask(set(&config))).2 < max);
    // A cycle so short that all of the covariance's work falls into one tick is refused by name.
    config.ekf.cycle = 1;
    let refused = host.ask(set(&config)).refusal;
    assert!(
        matches!(refused, Some(Refusal::OutOfRange { field, min, .. }) if field == "ekf.cycle" && min > 1.0)
    );
    // The twin takes as long as it likes.
    assert_eq!(idle().ask(set(&config)).refusal, None);
}

#[test]
fn ticks_that_take_too_long_end_the_run_and_say_so() {
    let mut config = Config::default();
    config.run.auto_arm = true;
    let mut host = Host::new(&config, Simulation::reference(0.0, 1));
    host.device.guard(30_000);
    host.run_until(Phase::Swinging, 1000);
    let slow = |cycles| Input {
        cycles,
        ..Input::default()
    };
    host.run_input(5000, slow(29_000));
    host.run_input(10, slow(1_000_000));
    host.run_input(1000, slow(20_000));
    assert_eq!(host.device.engine().phase(), Phase::Swinging);
    host.run_input(100, slow(60_000));
    assert_eq!(host.device.engine().phase(), Phase::Idle);
    host.run(20_000);
    let overloads: Vec<_> = host
        .heard
        .events
        .iter()
        .filter(|e| matches!(e.what, What::Overloaded { .. }))
        .collect();
    assert_eq!(
        overloads[0].what,
        What::Overloaded {
            cycles: 60_000,
            limit: 30_000
        }
    );
    assert_eq!(overloads.len(), 1, "told once, not per tick");
    assert_eq!(
        host.transitions().last(),
        Some(&(Phase::Swinging, Phase::Idle))
    );
    assert!(host.heard.statuses.last().unwrap().overloads >= 1);
    // The stop is in the stream like any order.
    assert!(replayed(&host) > 25_000);
    // And the device obeys again.
    assert_eq!(host.ask(Ask::Start).refusal, None);
}
