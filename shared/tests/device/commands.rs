//! Every command: its reply, its effect, and that a refused one changes nothing.

use stribeck_core::device::config::{Blob, Config, Stream, VERSION};
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Action, Identity, Link, Note};
use stribeck_core::model::sim::{Rng, Simulation};
use stribeck_core::wire::{
    Ask, Body, Command, ConfigOrigin, Decoder, Frame, MAX_FRAME, Raw, Refusal, SCHEMA_HASH, What,
    encode,
};

use crate::host::Host;

fn idle() -> Host {
    Host::new(&Config::default(), Simulation::reference(0.0, 1))
}

fn swinging() -> Host {
    let mut host = Host::reference();
    host.run_until(Phase::Swinging, 1000);
    host
}

#[test]
fn hello_tells_everything_and_brings_a_snapshot() {
    let mut host = swinging();
    host.run(1000);
    let blocks = host.heard.blocks.len();
    assert_eq!(host.ask(Ask::Hello).refusal, None);
    host.run(200);
    let hello = host.heard.hellos.last().unwrap();
    assert_eq!(hello.schema, SCHEMA_HASH);
    assert_eq!(hello.board, "twin");
    assert!(!hello.build.is_empty());
    assert_eq!(hello.phase, Phase::Swinging);
    assert_eq!(hello.config().unwrap(), *host.device.link().config());
    assert!(hello.uptime_ticks > 1000);
    let initial = hello.initial.unwrap();
    assert_eq!(initial.counts, [0, 13_333]);
    assert!(
        host.heard.blocks[blocks..]
            .iter()
            .take(2)
            .any(|b| b.snapshot_words > 0)
    );
}

#[test]
fn start_and_stop() {
    let mut host = idle();
    host.bench.hold([0.0, 1.0], u32::MAX);
    host.run(10);
    let reply = host.ask(Ask::Start);
    assert_eq!((reply.refusal, reply.tick), (None, 10));
    assert_eq!(host.device.engine().phase(), Phase::Armed);
    host.run(5000);
    assert_eq!(host.device.engine().phase(), Phase::Armed, "held still");
    assert_eq!(host.ask(Ask::Stop).refusal, None);
    assert_eq!(host.device.engine().phase(), Phase::Idle);
    assert_eq!(
        host.transitions(),
        [(Phase::Idle, Phase::Armed), (Phase::Armed, Phase::Idle)]
    );
}

#[test]
fn start_zero_and_set_config_are_refused_while_swinging() {
    let mut host = swinging();
    let before = host.device.link().config().to_owned();
    let other = Config {
        stream: Stream::FULL_RATE,
        ..Config::default()
    };
    let config = Blob::seal(&other);
    for ask in [
        Ask::Start,
        Ask::Zero,
        Ask::SetConfig {
            store: false,
            config,
        },
    ] {
        assert_eq!(host.ask(ask).refusal, Some(Refusal::Swinging));
    }
    assert_eq!(*host.device.link().config(), before);
    assert_eq!(host.ask(Ask::Stop).refusal, None);
    assert_eq!(host.ask(Ask::Start).refusal, None);
}

#[test]
fn zero_makes_the_present_place_zero() {
    let mut host = idle();
    host.bench.hold([0.3, -2.0], u32::MAX);
    host.run(100);
    assert_eq!(host.ask(Ask::Zero).refusal, None);
    host.run(200);
    let q = host.device.engine().observers().states().ekf_q;
    assert!(q.iter().all(|q| q.abs() < 1e-3), "{q:?}");
    let event = host.heard.events.last().unwrap();
    let What::Zeroed { zero, .. } = event.what else {
        panic!("{event:?}");
    };
    assert_eq!(zero, [1909, -12_733]);
    assert_eq!(host.heard.hellos.last().unwrap().zero, zero);
}

#[test]
fn a_new_configuration_keeps_the_zero_unless_it_brings_its_own() {
    let set = |host: &mut Host, config: &Config| {
        let config = Blob::seal(config);
        let store = false;
        assert_eq!(host.ask(Ask::SetConfig { store, config }).refusal, None);
        host.run(10);
        let zero = host.heard.hellos.last().unwrap().zero;
        assert_eq!(zero, host.device.engine().observers().state.zero);
        zero
    };
    let mut host = idle();
    host.bench.hold([0.3, -2.0], u32::MAX);
    host.run(100);
    assert_eq!(host.ask(Ask::Zero).refusal, None);
    let mut config = Config::default();
    config.ekf.drag = true;
    assert_eq!(set(&mut host, &config), [1909, -12_733]);
    config.encoders[1].zero = 55;
    assert_eq!(set(&mut host, &config), [1909, 55]);
    config.encoders[0].reversed = true;
    assert_eq!(set(&mut host, &config), [0, 55]);
}

#[test]
fn a_configuration_is_applied_between_runs() {
    let mut host = idle();
    host.run(150);
    let config = Config {
        stream: Stream::FULL_RATE,
        ..Config::default()
    };
    let reply = host.ask(Ask::SetConfig {
        store: true,
        config: Blob::seal(&config),
    });
    assert_eq!(reply.refusal, None);
    host.run(200);
    let hello = host.heard.hellos.last().unwrap();
    assert_eq!(hello.config(), Ok(config));
    assert_eq!(hello.config_origin, ConfigOrigin::Host);
    assert_eq!(hello.config_since, reply.tick);
    let first = host
        .heard
        .blocks
        .iter()
        .find(|b| b.first_tick >= reply.tick)
        .unwrap();
    assert_eq!(first.state_every, 1);
    assert!(host.heard.events.iter().any(|e| e.what == What::Configured));
}

#[test]
fn a_bad_configuration_names_field_value_and_range_and_changes_nothing() {
    let mut host = idle();
    host.run(50);
    let before = *host.device.link().config();
    let mut config = Config::default();
    config.tracker.bandwidth_hz = -5.0;
    let reply = host.ask(Ask::SetConfig {
        store: true,
        config: Blob::seal(&config),
    });
    let Some(Refusal::OutOfRange {
        field,
        value,
        min,
        max,
    }) = reply.refusal
    else {
        panic!("{reply:?}");
    };
    assert_eq!(field, "tracker.bandwidth_hz");
    assert_eq!(value, -5.0);
    assert!(min > 0.0 && max > min);
    assert_eq!(*host.device.link().config(), before);

    let version = Config {
        version: 99,
        ..Config::default()
    };
    let reply = host.ask(Ask::SetConfig {
        store: true,
        config: Blob::seal(&version),
    });
    assert_eq!(
        reply.refusal,
        Some(Refusal::ConfigVersion {
            found: 99,
            known: VERSION
        })
    );
    let reply = host.ask(Ask::SetConfig {
        store: true,
        config: Blob::from_bytes(&[1, 1, 1]).unwrap(),
    });
    assert_eq!(reply.refusal, Some(Refusal::ConfigUnreadable));
    assert_eq!(*host.device.link().config(), before);
}

#[test]
fn self_test_sends_the_pattern_both_sides_know() {
    let mut host = idle();
    let ask = Ask::SelfTest {
        seed: 7,
        frames: 50,
        bytes: 1024,
    };
    assert_eq!(host.ask(ask).refusal, None);
    let patterns = &host.heard.patterns;
    assert_eq!(patterns.len(), 50);
    for (i, pattern) in patterns.iter().enumerate() {
        assert_eq!((pattern.index as usize, pattern.of), (i, 50));
        assert_eq!(pattern.bytes.len(), 1024);
        assert!(pattern.is_right());
    }
    let mut wrong = patterns[3].clone();
    wrong.index = 4;
    assert!(!wrong.is_right());
}

#[test]
fn get_config_and_reset() {
    let mut host = idle();
    host.run(10);
    host.heard.hellos.clear();
    assert_eq!(host.ask(Ask::GetConfig).refusal, None);
    assert_eq!(host.heard.hellos.len(), 1);
    assert!(!host.device.reset_requested());
    assert_eq!(host.ask(Ask::Reset).refusal, None);
    assert!(host.device.reset_requested());
}

#[test]
fn too_many_orders_at_once_are_refused_as_busy() {
    let mut host = idle();
    host.run(1);
    let ids: Vec<u16> = (0..6).map(|_| host.send(Ask::Stop)).collect();
    host.run(10);
    let refusals: Vec<_> = ids
        .iter()
        .map(|id| {
            let reply = host.heard.replies.iter().find(|r| r.id == *id);
            reply.expect("one reply each").refusal.clone()
        })
        .collect();
    assert_eq!(refusals[..4], [None, None, None, None]);
    assert_eq!(refusals[4..], [Some(Refusal::Busy), Some(Refusal::Busy)]);
}

#[test]
fn an_unknown_command_is_answered_with_its_id() {
    struct Future;
    impl serde::Serialize for Future {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            // id 300, variant 77.
            (300u16, 77u8).serialize(s)
        }
    }
    impl Body for Future {
        const KIND: stribeck_core::wire::Kind = stribeck_core::wire::Kind::Command;
        const REV: u8 = 9;
    }
    let mut host = idle();
    let mut buf = [0; 64];
    let n = encode(&Future, &mut buf).unwrap();
    host.device.command(&buf[..n]);
    host.run(2);
    let reply = &host.heard.replies[0];
    assert_eq!(
        (reply.id, &reply.refusal),
        (300, &Some(Refusal::NotUnderstood))
    );
}

/// A command frame with any body and a right CRC.
struct Any(Vec<u8>);

impl serde::Serialize for Any {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeTuple;
        let mut tuple = s.serialize_tuple(self.0.len())?;
        self.0.iter().try_for_each(|b| tuple.serialize_element(b))?;
        tuple.end()
    }
}

impl Body for Any {
    const KIND: stribeck_core::wire::Kind = stribeck_core::wire::Kind::Command;
    const REV: u8 = 1;
}

#[test]
fn whole_frames_of_nonsense_do_no_harm() {
    let mut host = idle();
    host.bench.hold([0.0, 1.0], u32::MAX);
    let mut rng = Rng::new(31);
    let mut buf = [0; MAX_FRAME];
    for round in 0..5000 {
        let len = rng.bits() as usize % if round % 10 == 0 { 600 } else { 12 };
        let body: Vec<u8> = (0..len)
            .map(|i| match i {
                // Mostly a known command with nonsense behind it.
                2 => rng.bits() as u8 % 10,
                _ => rng.bits() as u8,
            })
            .collect();
        let n = encode(&Any(body), &mut buf).unwrap();
        host.device.command(&buf[..n]);
        if round % 7 == 0 {
            host.run(1);
        }
    }
    host.run(100);
    host.heard.replies.clear();
    let phase = host.device.engine().phase();
    assert!(matches!(phase, Phase::Idle | Phase::Armed), "{phase:?}");
    assert_eq!(*host.device.link().config(), Config::default());
    assert_eq!(host.ask(Ask::Hello).refusal, None);
}

/// The thread side alone, as firmware uses it.
#[test]
fn store_waits_for_the_tick_side_and_other_tick_rates_are_refused() {
    let identity = Identity {
        tick_hz: Some(10_000),
        ..Identity::new("board")
    };
    let mut link = Link::new(identity, Config::default(), ConfigOrigin::Stored);
    let mut out = [0; MAX_FRAME];
    let mut send = |link: &mut Link, id, config: &Config| -> Option<Action> {
        let ask = Ask::SetConfig {
            store: true,
            config: Blob::seal(config),
        };
        let n = encode(&Command { id, ask }, &mut out).unwrap();
        out[..n].iter().filter_map(|b| link.receive(*b)).last()
    };
    let faster = Config {
        tick_hz: 20_000,
        ..Config::default()
    };
    assert!(send(&mut link, 1, &faster).is_none());

    let mut config = Config::default();
    config.run.rest_ms = 3000;
    let action = send(&mut link, 2, &config);
    assert!(matches!(action, Some(Action::Configure)));
    assert_eq!(link.offered(), Some((2, &config)));
    assert_eq!(link.config().run.rest_ms, 2000, "not yet in force");
    let stored = link.note(Note::Configured { id: 2, tick: 5 });
    assert!(matches!(stored, Some(Action::Store(c)) if c == config));
    assert_eq!(*link.config(), config);

    let mut decoder: Decoder = Decoder::new();
    let mut replies = Vec::new();
    loop {
        let n = link.next_frame(&mut out);
        if n == 0 {
            break;
        }
        decoder.feed(&out[..n], |raw: Result<Raw<'_>, _>| {
            if let Frame::Reply(reply) = raw.unwrap().decode().unwrap() {
                replies.push(reply);
            }
        });
    }
    assert!(matches!(
        &replies[0].refusal,
        Some(Refusal::OutOfRange { field, .. }) if field == "tick_hz"
    ));
    assert_eq!(replies[1].refusal, None);
}
