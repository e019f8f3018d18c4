//! Replay: equal through everything a device does, from any snapshot, and able to fail.

use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Followed, Input, Mismatch, Observers, Replay, Setup};
use stribeck_core::model::sim::{Rng, Simulation};
use stribeck_core::wire::{Ask, Block, Bytes};

use crate::host::Host;

/// Replay every block with the configurations of the Hellos.
fn follow(host: &Host) -> Replay {
    let hellos = &host.heard.hellos;
    let mut replay = Replay::new(&hellos[0].config().unwrap());
    let mut pending = hellos[1..].iter().peekable();
    for block in &host.heard.blocks {
        while let Some(hello) = pending.next_if(|h| h.config_since <= block.first_tick) {
            replay.set_config(&hello.config().unwrap(), hello.config_since);
        }
        assert_eq!(replay.block(block), Ok(Followed::Equal), "{block:?}");
    }
    replay
}

#[test]
fn a_whole_reference_run_and_the_rest_after_it() {
    let mut host = Host::reference();
    host.run(1000);
    host.run_until(Phase::AtRest, 1_000_000);
    host.run(50_000);
    let replay = follow(&host);
    let ticks = host.device.engine().next_tick();
    println!("{} of {ticks} ticks equal", replay.equal_ticks);
    assert!(replay.equal_ticks + 100 > ticks);
    assert!(ticks > 300_000);
}

#[test]
fn everything_that_can_happen_between_blocks() {
    let mut config = Config::default();
    config.encoders[0].counter_bits = 16;
    config.encoders[1].reversed = true;
    let mut bench = Simulation::reference(2.0, 9);
    bench.encoders[0].counter_bits = 16;
    bench.encoders[0].offset = 65_530;
    bench.encoders[1].reversed = true;
    bench.encoders[1].offset = u32::MAX - 5;
    let mut host = Host::new(&config, bench);
    host.bench.hold([0.0, 0.0], 3000);
    host.run(777);
    assert_eq!(host.ask(Ask::Zero).refusal, None);
    host.bench.hold([0.4, 2.0], 9000);
    host.run(555);
    assert_eq!(host.ask(Ask::Start).refusal, None);
    host.run_until(Phase::Swinging, 20_000);
    host.run(33_333);
    let (missed, button) = (3, false);
    host.run_input(
        1,
        Input {
            missed,
            button,
            ..Input::default()
        },
    );
    host.run(5000);
    assert_eq!(host.ask(Ask::Hello).refusal, None);
    host.run(4321);
    assert_eq!(host.ask(Ask::Stop).refusal, None);
    host.run(100);
    config.ekf.vt = [0.05; 2];
    config.stream.state_every = 10;
    let set = Ask::SetConfig {
        store: false,
        config: Blob::seal(&config),
    };
    assert_eq!(host.ask(set).refusal, None);
    assert_eq!(host.ask(Ask::Start).refusal, None);
    host.run(40_000);
    assert_eq!(host.device.engine().phase(), Phase::Swinging);
    let replay = follow(&host);
    assert!(replay.equal_ticks > 80_000);
}

#[test]
fn starts_in_the_middle_and_after_a_gap() {
    let mut host = Host::reference();
    host.run(60_000);
    let config = *host.device.link().config();
    let mut replay = Replay::new(&config);
    let mut waiting = 0;
    for block in &host.heard.blocks {
        let lost = block.seq < 150 || (300..333).contains(&block.seq);
        if lost {
            continue;
        }
        match replay.block(block) {
            Ok(Followed::Equal) => {}
            Ok(Followed::Waiting) => waiting += 1,
            Err(e) => panic!("{e:?}"),
        }
    }
    // A snapshot every second: at most 100 blocks of 10 ms each time.
    assert!(waiting > 0 && waiting <= 200, "{waiting}");
    assert!(replay.equal_ticks > 20_000);
}

/// Replays up to a block that was tampered with; returns what replay said about that block.
fn tampered(change: impl FnOnce(&mut Block)) -> Result<Followed, Mismatch> {
    let mut host = Host::reference();
    host.run(22_000);
    let mut replay = Replay::new(host.device.link().config());
    let mut blocks = std::mem::take(&mut host.heard.blocks);
    let at = blocks
        .iter()
        .rposition(|b| b.snapshot_words > 0)
        .expect("a block with a snapshot");
    assert!(blocks[at].first_tick > 10_000);
    change(&mut blocks[at]);
    for block in &blocks[..at] {
        assert_eq!(replay.block(block), Ok(Followed::Equal));
    }
    replay.block(&blocks[at])
}

fn flip(
    bytes: &Bytes<{ stribeck_core::wire::block::DATA_BYTES }>,
    at: usize,
) -> Bytes<{ stribeck_core::wire::block::DATA_BYTES }> {
    let mut copy = bytes.to_vec();
    copy[at] ^= 1;
    Bytes::copy_from(&copy).unwrap()
}

#[test]
fn one_flipped_bit_is_found_and_named() {
    assert_eq!(tampered(|_| ()), Ok(Followed::Equal));

    let digest = tampered(|b| b.digest ^= 1);
    assert!(matches!(digest, Err(Mismatch::Digest { .. })), "{digest:?}");

    let base = tampered(|b| b.base[1] ^= 1);
    assert!(base.is_err());

    let mut names = Vec::new();
    Observers::names(&mut |path| names.push(path.to_string()));
    let words = Setup::new(&Config::default()).word_count();
    assert!(words < names.len(), "a passive rig has no words of control");
    for word in [0, 40, words - 1] {
        let found = tampered(|b| b.data = flip(&b.data, 4 * word));
        let Err(Mismatch::Snapshot {
            word: at,
            device,
            replay,
            ..
        }) = found
        else {
            panic!("{found:?}");
        };
        assert_eq!((at, device ^ replay), (word, 1), "{}", names[word]);
    }
    assert_eq!(names[0], "encoders[0].started");

    let record = tampered(|b| b.data = flip(&b.data, 4 * b.snapshot_words as usize + 8));
    let Err(Mismatch::Record { word, tick, .. }) = record else {
        panic!("{record:?}");
    };
    assert_eq!((word, tick % 50), (2, 0));

    let cut = tampered(|b| {
        let n = b.data.len() - 1;
        b.data = Bytes::copy_from(&b.data[..n]).unwrap();
    });
    assert!(matches!(cut, Err(Mismatch::Inconsistent { .. })));
}

#[test]
fn another_configuration_does_not_replay() {
    let mut host = Host::reference();
    host.run(20_000);
    let mut other = *host.device.link().config();
    other.ekf.vt[1] = f32::from_bits(other.ekf.vt[1].to_bits() + 1);
    let mut replay = Replay::new(&other);
    let differs = host.heard.blocks.iter().any(|b| replay.block(b).is_err());
    assert!(differs, "one ulp of one setting must show");
}

#[test]
fn a_snapshot_of_another_build_is_refused() {
    let mut host = Host::reference();
    host.run(500);
    let mut block = host.heard.blocks[0].clone();
    let words = block.snapshot_words;
    block.snapshot_words = words - 1;
    let mut data = block.data.to_vec();
    data.drain(..4);
    block.data = Bytes::copy_from(&data).unwrap();
    let mut replay = Replay::new(host.device.link().config());
    assert_eq!(
        replay.block(&block),
        Err(Mismatch::Words {
            found: words as usize - 1,
            known: words as usize
        })
    );
}

#[test]
fn blocks_that_make_no_sense_are_refused_without_a_panic() {
    let mut host = Host::reference();
    host.run(3000);
    let mut rng = Rng::new(21);
    let (mut refused, mut odd) = (0, 0);
    for round in 0..20_000 {
        let mut block = host.heard.blocks[round % host.heard.blocks.len()].clone();
        let wild = rng.bits() >> (rng.bits() % 64);
        match rng.bits() % 9 {
            0 => block.first_tick = wild,
            1 => block.first_tick = u64::MAX - wild % 128,
            2 => block.ticks = wild as u16,
            3 => block.snapshot_words = wild as u16,
            4 => block.state_every = wild as u16,
            5 => block.param_every = wild as u16,
            6 => block.skipped = wild as u32,
            7 => {
                let n = wild as usize % (block.counts.len() + 1);
                block.counts = Bytes::copy_from(&block.counts[..n]).unwrap();
            }
            _ => {
                let n = wild as usize % (block.data.len() + 1);
                block.data = Bytes::copy_from(&block.data[..n]).unwrap();
            }
        }
        let _ = (
            block.end_tick(),
            block.counts().count(),
            block.records().count(),
        );
        let _ = block.snapshot().map(Iterator::count);
        let mut replay = Replay::new(host.device.link().config());
        odd += !block.is_consistent() as u32;
        refused += replay.block(&block).is_err() as u32;
    }
    println!("{odd} inconsistent, {refused} refused");
    assert!(odd > 5000 && refused >= odd);
}
