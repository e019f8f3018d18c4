//! The stream: budgets, blocks that end early, gaps, loss, memory.

use stribeck_core::device::config::{Config, Stream};
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Device, Engine, Identity, Input, Link, Note, Request, Setup};
use stribeck_core::model::sim::Simulation;
use stribeck_core::wire::block::{DATA_BYTES, PARAM_BYTES_DRIVEN, Record, STATE_BYTES};
use stribeck_core::wire::{Block, ConfigOrigin, MAX_FRAME, encode};

use crate::host::Host;

/// 20 s of the reference run with this stream: bytes per second of everything, and of counts with their framing.
fn rates(stream: Stream) -> (f64, f64) {
    let mut config = Config::default();
    config.run.auto_arm = true;
    config.stream = stream;
    let mut host = Host::new(&config, Simulation::reference(0.0, 1));
    host.run(200_000);
    let records: usize = host.heard.blocks.iter().map(|b| b.data.len()).sum();
    let ticks: u64 = host.heard.blocks.iter().map(|b| b.ticks as u64).sum();
    assert!(ticks >= 199_900, "{ticks}");
    let seconds = ticks as f64 / 1e4;
    let counts = (host.heard.block_bytes - records) as f64 / ticks as f64;
    (host.heard.bytes as f64 / seconds, counts)
}

#[test]
fn budgets() {
    let (default, counts) = rates(Stream::default());
    let (full, full_counts) = rates(Stream::FULL_RATE);
    println!(
        "default {:.1} kB/s, counts with framing {counts:.2} B/tick",
        default / 1e3
    );
    println!(
        "full rate {:.1} kB/s, counts with framing {full_counts:.2} B/tick",
        full / 1e3
    );
    assert!(counts <= 4.0 && full_counts <= 4.0);
    assert!(default <= 50e3);
    assert!(full <= 400e3);
}

#[test]
fn memory() {
    let driven = Config {
        drive: Some(stribeck_core::control::Config::default()),
        ..Config::default()
    };
    let words = Setup::new(&driven).word_count();
    println!(
        "engine {} B, link {} B, block {} B, request {} B, note {} B, {words} words",
        size_of::<Engine>(),
        size_of::<Link>(),
        size_of::<Block>(),
        size_of::<Request>(),
        size_of::<Note>()
    );
    // What firmware holds: both halves, 12 blocks and the queues of requests and notes.
    let total = size_of::<Engine>()
        + size_of::<Link>()
        + 12 * size_of::<Block>()
        + 4 * size_of::<Request>()
        + 32 * size_of::<Note>();
    assert!(total <= 52 * 1024, "{total}");
    assert!(size_of::<Block>() <= 3150);
    // A snapshot and the records of a tick fit into any block.
    assert!(4 * words + STATE_BYTES + PARAM_BYTES_DRIVEN <= DATA_BYTES);
}

#[test]
fn the_largest_block_fits_a_frame() {
    let mut block = Block {
        seq: u32::MAX,
        first_tick: u64::MAX,
        skipped: u32::MAX,
        state_every: u16::MAX,
        param_every: u16::MAX,
        base: [u32::MAX; 2],
        ticks: u16::MAX,
        digest: u32::MAX,
        snapshot_words: u16::MAX,
        ..Block::EMPTY
    };
    while block.counts.room() > 0 {
        block.counts.push(1);
    }
    while block.data.room() > 0 {
        block.data.push(1);
    }
    let mut buf = [0; MAX_FRAME];
    assert!(encode(&block, &mut buf).is_ok());
}

#[test]
fn blocks_follow_each_other_and_records_come_at_their_ticks() {
    for (state_every, param_every, block_ticks) in
        [(50, 100, 100), (1, 10, 100), (7, 13, 33), (0, 0, 1)]
    {
        let mut config = Config::default();
        config.run.auto_arm = true;
        config.stream = Stream {
            block_ticks,
            state_every,
            param_every,
            ..Stream::default()
        };
        let mut host = Host::new(&config, Simulation::reference(3.0, 1));
        host.run(12_345);
        let (mut seq, mut tick) = (0, 0);
        let (mut states, mut params) = (0, 0);
        for block in &host.heard.blocks {
            assert!(block.is_consistent());
            assert_eq!((block.seq, block.first_tick), (seq, tick));
            assert!(block.ticks <= block_ticks);
            seq += 1;
            tick = block.end_tick();
            for (at, record) in block.records() {
                match record {
                    Record::States(_) => {
                        assert_eq!(at, states * state_every as u64);
                        states += 1;
                    }
                    Record::Params(_) => {
                        assert_eq!(at, params * param_every as u64);
                        params += 1;
                    }
                }
            }
        }
        assert!(tick + 100 > 12_345);
    }
}

#[test]
fn counts_that_jump_wildly_close_blocks_early_and_lose_nothing() {
    let mut host = Host::new(&Config::default(), Simulation::reference(0.0, 1));
    let mut rng = stribeck_core::model::sim::Rng::new(5);
    let sent: Vec<[u32; 2]> = (0..1000)
        .map(|_| [rng.bits() as u32, rng.bits() as u32])
        .collect();
    for counts in &sent {
        host.device.tick(*counts);
        host.read();
    }
    let received: Vec<[u32; 2]> = host.heard.blocks.iter().flat_map(|b| b.counts()).collect();
    assert!(host.heard.blocks.iter().any(|b| b.ticks < 50));
    assert_eq!(received[..], sent[..received.len()]);
    assert!(received.len() > 900);
}

#[test]
fn missed_ticks_are_numbered_and_visible() {
    let mut host = Host::reference();
    host.run(1234);
    let missed = Input {
        missed: 17,
        ..Input::default()
    };
    host.run_input(1, missed);
    host.run(500);
    let block = host.heard.blocks.iter().find(|b| b.skipped > 0).unwrap();
    assert_eq!((block.skipped, block.first_tick), (17, 1234 + 17));
    assert_eq!(host.device.engine().next_tick(), 1234 + 17 + 501);
    let before = &host.heard.blocks[block.seq as usize - 1];
    assert_eq!(before.end_tick() + 17, block.first_tick);
    for block in &host.heard.blocks {
        assert!(block.is_consistent(), "records keep to tick numbers");
    }
}

#[test]
fn an_absent_host_loses_the_oldest_blocks_and_the_loss_is_counted() {
    let mut host = Host::reference();
    host.run(1000);
    let seen = host.heard.blocks.len() as u32;
    for _ in 0..50_000 {
        let counts = host.bench.tick().counts;
        host.device.tick(counts);
    }
    host.run(10_000);
    let blocks = &host.heard.blocks;
    let gap = blocks[seen as usize].seq - blocks[seen as usize - 1].seq - 1;
    assert!(gap > 400, "{gap}");
    let after: Vec<u32> = blocks[seen as usize..].iter().map(|b| b.seq).collect();
    assert!(after.windows(2).all(|w| w[1] == w[0] + 1), "one gap only");
    let status = host.heard.statuses.last().unwrap();
    assert_eq!(status.dropped_blocks, gap);
}

#[test]
fn status_once_per_second() {
    let mut host = Host::reference();
    host.run(50_000);
    assert_eq!(host.heard.statuses.len(), 5);
    let status = &host.heard.statuses[4];
    assert_eq!((status.tick, status.phase), (50_000, Phase::Swinging));
    assert_eq!((status.uas_restarts, status.ekf_restarts), (0, 0));
}

#[test]
fn identity_reaches_the_hello() {
    let mut device = Device::new(
        Identity {
            boot: 9,
            last_fault: stribeck_core::wire::text("hard fault at 0x08001234"),
            reset_cause: stribeck_core::wire::ResetCause::Fault,
            ..Identity::new("a name that is longer than the field can hold")
        },
        &Config::default(),
        ConfigOrigin::StoredWasBad,
    );
    let mut buf = [0; stribeck_core::wire::MAX_FRAME];
    let n = device.next_frame(&mut buf);
    let mut decoder: stribeck_core::wire::Decoder = Default::default();
    let mut hello = None;
    decoder.feed(&buf[..n], |raw| {
        hello = Some(raw.unwrap().decode().unwrap())
    });
    let Some(stribeck_core::wire::Frame::Hello(hello)) = hello else {
        panic!("no Hello first");
    };
    assert_eq!((hello.boot, hello.board.len()), (9, 24));
    assert_eq!(hello.last_fault, "hard fault at 0x08001234");
    assert_eq!(hello.config_origin, ConfigOrigin::StoredWasBad);
}
