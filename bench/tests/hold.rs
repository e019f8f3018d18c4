//! What a host can do to the flashed program and what it must survive: configurations that cost too much, bursts of
//! commands, stores without end, ticks that take too long.

mod harness;

use harness::{Session, scenario};
use stribeck_bench::Action;
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::run::Phase;
use stribeck_core::wire::{
    self, Ask, Command, ConfigOrigin, MAX_FRAME, Refusal, ResetCause, Status, What,
};

fn set(config: &Config, store: bool) -> Ask {
    Ask::SetConfig {
        store,
        config: Blob::seal(config),
    }
}

/// Commands in one piece, ids 1000, 1001 …
fn packet(asks: impl IntoIterator<Item = Ask>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, ask) in (1000..).zip(asks) {
        let mut buf = [0; MAX_FRAME];
        let n = wire::encode(&Command { id, ask }, &mut buf).unwrap();
        bytes.extend_from_slice(&buf[..n]);
    }
    bytes
}

fn healthy(status: &Status) {
    assert_eq!((status.health.overruns, status.health.missed_ticks), (0, 0));
    assert_eq!((status.dropped_blocks, status.dropped_notes), (0, 0));
    assert_eq!(status.reset_cause, ResetCause::PowerOn);
}

#[test]
fn a_configuration_that_would_hang_the_board_is_refused() {
    let mut s = Session::connected(&scenario(""));
    s.run_for(0.2);
    let mut config = Config::default();
    config.run.auto_arm = true;
    let (mut accepted, mut refused) = (0, 0);
    for substeps in [40, 100, 7, 8, 2] {
        for (cycle, drag) in [(1, true), (10, false)] {
            config.ekf.substeps = substeps;
            config.ekf.cycle = cycle;
            config.ekf.drag = drag;
            let id = s.ask(set(&config, false));
            s.run_for(0.3);
            let reply = s.replies().find(|r| r.id == id).expect("a reply");
            match &reply.refusal {
                None => accepted += 1,
                Some(Refusal::OutOfRange { field, value, .. }) => {
                    let set = match field.as_str() {
                        "ekf.substeps" => f32::from(substeps),
                        "ekf.cycle" => f32::from(cycle),
                        other => panic!("{other} is no cause"),
                    };
                    assert_eq!(*value, set, "{field}");
                    refused += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(
        refused >= 6 && accepted >= 1,
        "{refused} refused, {accepted} accepted"
    );
    s.run_for(1.5);
    healthy(s.status());
    assert_eq!(s.status().overloads, 0);
    assert!(s.bench.summary().resets.is_empty(), "{}", s.log());
}

#[test]
fn every_command_of_a_burst_is_answered_or_refused() {
    let mut s = Session::connected(&scenario(""));
    s.run_for(0.2);
    let mut config = Config::default();
    for round in 0..8u16 {
        let before = s.replies().count();
        let asks = (0..40u16).map(|i| match (i + round) % 5 {
            0 => Ask::Start,
            1 => Ask::Stop,
            2 => Ask::Hello,
            3 => {
                config.stream.state_every = i + 1;
                set(&config, false)
            }
            _ => Ask::Zero,
        });
        let bytes = packet(asks);
        s.bench.send(&bytes);
        s.run_for(0.4);
        let mut ids: Vec<u16> = s.replies().skip(before).map(|r| r.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1000..1040).collect::<Vec<_>>(), "round {round}");
        let told = s.hellos().last().unwrap().config().unwrap();
        let runs = s.blocks().last().unwrap().state_every;
        assert_eq!(told.stream.state_every, runs, "round {round}");
    }
    s.run_for(1.2);
    healthy(s.status());
    let (equal, gaps) = s.replay();
    assert!(equal > 30_000 && gaps == 0, "{equal} equal, {gaps} gaps");
}

/// One packet: a configuration and orders of the same id behind it.
#[test]
fn orders_of_the_same_id_do_not_hide_a_configuration() {
    let mut s = Session::connected(&scenario(""));
    s.run_for(0.2);
    let mut config = Config::default();
    config.stream.state_every = 7;
    let mut bytes = Vec::new();
    for ask in [
        set(&config, false),
        Ask::Stop,
        Ask::Stop,
        Ask::Stop,
        Ask::Stop,
        Ask::Stop,
    ] {
        let mut buf = [0; MAX_FRAME];
        let n = wire::encode(&Command { id: 9, ask }, &mut buf).unwrap();
        bytes.extend_from_slice(&buf[..n]);
    }
    s.bench.send(&bytes);
    s.run_for(0.3);
    assert_eq!(s.replies().filter(|r| r.id == 9).count(), 6);
    assert_eq!(s.hellos().last().unwrap().config(), Ok(config));
    assert_eq!(s.blocks().last().unwrap().state_every, 7);
}

#[test]
fn stores_are_rate_limited_counted_and_the_last_one_survives_a_reset() {
    let mut s = Session::connected(&scenario(""));
    s.run_for(0.2);
    let mut config = Config::default();
    for i in 0..60 {
        config.ekf.vt[0] = 0.02 + i as f32 * 1e-6;
        s.ask(set(&config, true));
        s.run_for(0.05);
    }
    assert!(s.replies().all(|r| r.refusal.is_none()));
    s.run_for(2.5);
    // 3 s of commands: one store at once, then one per second.
    let wear = s.status().wear;
    assert!((4..=6).contains(&wear.stores), "{wear:?}");
    // The same again changes nothing in flash.
    for _ in 0..5 {
        s.ask(set(&config, true));
        s.run_for(1.2);
    }
    s.run_for(1.1);
    assert_eq!(s.status().wear, wear);
    healthy(s.status());

    s.ask(Ask::Reset);
    s.run_for(1.0);
    s.ask(Ask::Hello);
    s.run_for(1.5);
    let hello = s.hellos().last().unwrap();
    assert_eq!(hello.config(), Ok(config));
    assert_eq!(hello.config_origin, ConfigOrigin::Stored);
    assert_eq!(s.status().wear, wear, "counted over resets");
}

#[test]
fn ticks_that_take_too_long_end_the_run_and_the_link_stays_alive() {
    let mut s = Session::connected(&scenario(""));
    s.run_for(0.2);
    s.ask(Ask::Start);
    s.run_for(0.2);
    assert_ne!(s.phase(), Some(Phase::Idle));
    // The processor gets 10 % of the time for 12 ms: every tick takes most of its period or longer.
    let now = s.bench.seconds();
    for i in 0..120 {
        let at = now + 0.01 + i as f64 * 1e-4;
        s.bench.schedule(at, Action::Stall { duration_us: 90.0 });
    }
    s.run_for(1.5);
    let overloaded = s
        .events()
        .any(|e| matches!(e.what, What::Overloaded { limit: 30_000, .. }));
    assert!(overloaded, "{}", s.log());
    assert_eq!(s.phase(), Some(Phase::Idle));
    assert!(s.status().overloads >= 1);
    assert!(s.bench.summary().resets.is_empty());
    // And it obeys again.
    s.ask(Ask::Start);
    s.run_for(0.3);
    assert_ne!(s.phase(), Some(Phase::Idle));
    s.replay();
}
