//! Logs that were cut or damaged: everything whole is recovered, the rest is named.

use std::io::Cursor;
use std::path::Path;

use stribeck::link::command;
use stribeck::link::scenario::Scenario;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck::log::Topic;
use stribeck::log::damage::Damage;
use stribeck::log::read::LogReader;
use stribeck::log::recorder::{Recorder, Wall};
use stribeck::log::write::{LogWriter, Stamp};
use stribeck_core::device::config::Config;
use stribeck_core::wire::Ask;

/// A log of `n` frames of different lengths in chunks of four, and where in the file each frame ends.
fn sample(n: u32) -> (Vec<u8>, Vec<(Vec<u8>, usize)>) {
    let mut file = Vec::new();
    let mut log = LogWriter::new(&mut file, Path::new("sample.mcap")).unwrap();
    let mut frames = Vec::new();
    for i in 0..n {
        let frame: Vec<u8> = (0..20 + i % 37)
            .map(|j| (i * i * 7 + j * j * 13 + i * j + 1) as u8)
            .collect();
        let at = Stamp {
            log_ns: u64::from(i) * 10,
            device_ns: u64::from(i),
        };
        log.frame(Topic::Block, at, &frame).unwrap();
        log.json(
            Topic::Gain,
            at,
            &serde_json::json!({ "k": i, "error": 0.5 }),
        )
        .unwrap();
        frames.push(frame);
        if i % 4 == 3 {
            log.flush().unwrap();
        }
    }
    log.finish([("ticks".to_string(), "42".to_string())].into())
        .unwrap();
    let ends = frames
        .into_iter()
        .map(|frame| {
            let at = file.windows(frame.len()).position(|w| w == frame).unwrap();
            (frame.clone(), at + frame.len())
        })
        .collect();
    (file, ends)
}

fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<Damage>) {
    let input = Cursor::new(bytes);
    let mut reader = LogReader::new(input, bytes.len() as u64, Path::new("cut.mcap")).unwrap();
    let mut blocks = Vec::new();
    while let Some(item) = reader.read_next().unwrap() {
        if item.topic == Topic::Block {
            blocks.push(item.data.to_vec());
        }
    }
    (blocks, reader.damage().to_vec())
}

#[test]
fn whole_log_reads_back_without_damage() {
    let (file, frames) = sample(40);
    let (blocks, damage) = read(&file);
    let expected: Vec<Vec<u8>> = frames.into_iter().map(|f| f.0).collect();
    assert_eq!(blocks, expected);
    assert_eq!(damage, []);
}

#[test]
fn cut_at_every_byte_recovers_every_frame_that_is_there() {
    let (file, frames) = sample(40);
    for cut in 1..file.len() {
        let (blocks, damage) = read(&file[..cut]);
        let whole = frames.iter().filter(|(_, end)| *end <= cut).count();
        assert_eq!(blocks.len(), whole, "cut at byte {cut}");
        let same = blocks.iter().zip(&frames).all(|(b, f)| *b == f.0);
        assert!(same, "cut at byte {cut}");
        // A cut inside the index is harmless; before it, the reader says so.
        if whole < frames.len() {
            assert!(
                damage.contains(&Damage::NotClosed),
                "cut at byte {cut}: {damage:?}"
            );
        }
    }
}

#[test]
fn one_flipped_byte_costs_at_most_its_own_chunk() {
    let (file, frames) = sample(40);
    let last = frames.last().unwrap().1;
    // The channel is described in the first chunk; without it no frame can be told.
    let first = frames[3].1 + 1;
    for at in first..last {
        let mut bad = file.clone();
        bad[at] ^= 0x41;
        let (blocks, _) = read(&bad);
        let right = frames.iter().filter(|(f, _)| blocks.contains(f)).count();
        let total = frames.len();
        assert!(right + 4 >= total, "byte {at}: {right} of {total}");
    }
}

#[test]
fn garbage_in_the_middle_is_skipped_and_located() {
    let (file, frames) = sample(40);
    let begin = frames[19].1;
    let chunk = (begin..)
        .find(|&i| file[i] == 0x06 && file[i + 3..i + 9] == [0; 6])
        .unwrap();
    let mut bad = file.clone();
    bad[chunk..chunk + 60].fill(0xEE);
    let (blocks, damage) = read(&bad);
    assert_eq!(blocks.len(), frames.len() - 4);
    assert!(
        matches!(damage[..], [Damage::Garbage { offset, .. }] if offset == chunk as u64),
        "{damage:?}"
    );
}

#[test]
fn not_a_log_and_an_empty_file_are_refused_with_the_reason() {
    let refused = |bytes: &[u8]| {
        LogReader::new(Cursor::new(bytes), bytes.len() as u64, Path::new("x.mcap"))
            .err()
            .unwrap()
            .to_string()
    };
    assert!(refused(b"").contains("empty"));
    assert!(refused(b"time,theta\n0,1\n").contains("74 69 6D 65 2C"));
}

#[test]
fn the_index_is_read_back_without_the_data() {
    let (file, _) = sample(40);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    std::fs::write(&path, &file).unwrap();
    let summary = stribeck::log::closing::read(&path).unwrap().unwrap();
    assert_eq!(summary.messages[&Topic::Block], 40);
    assert_eq!(summary.messages[&Topic::Gain], 40);
    assert_eq!(summary.metadata["ticks"], "42");
    assert_eq!((summary.start_ns, summary.end_ns), (0, 390));
    for cut in (1..file.len()).step_by(7) {
        std::fs::write(&path, &file[..cut]).unwrap();
        assert_eq!(stribeck::log::closing::read(&path).unwrap(), None);
    }
}

/// PlotJuggler looks every channel's schema up; people look fields up by name.
#[test]
fn every_channel_has_a_schema_and_every_field_its_name() {
    let bytes = two_seconds();
    let mut topics = std::collections::BTreeSet::new();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        let topic = message.channel.topic.as_str();
        let schema = message.channel.schema.as_ref().expect(topic);
        assert!(!schema.data.is_empty(), "{topic}");
        topics.insert(topic.to_string());
        if topic.starts_with("/wire/") {
            assert_eq!(schema.encoding, "stribeck-wire");
            continue;
        }
        assert_eq!(schema.encoding, "jsonschema");
        let schema: serde_json::Value = serde_json::from_slice(&schema.data).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&message.data).unwrap();
        let keys = |v: &serde_json::Value| -> Vec<String> {
            v.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(keys(&schema["properties"]), keys(&value), "{topic}");
        assert!(
            value
                .as_object()
                .unwrap()
                .values()
                .all(|v| !v.is_array() && !v.is_object())
        );
    }
    for topic in [
        "/wire/block",
        "/angles",
        "/velocities",
        "/gain",
        "/parameters",
        "/health",
    ] {
        assert!(topics.contains(topic), "{topic}");
    }
}

#[test]
fn the_official_reader_accepts_the_file() {
    let (file, frames) = sample(40);
    let blocks = mcap::MessageStream::new(&file)
        .unwrap()
        .map(|m| m.unwrap())
        .filter(|m| m.channel.message_encoding == "stribeck-wire")
        .count();
    assert_eq!(blocks, frames.len());
}

/// Two seconds of a simulated run, as recorded.
fn two_seconds() -> Vec<u8> {
    let mut file = Vec::new();
    let log = LogWriter::new(&mut file, Path::new("run.mcap")).unwrap();
    let mut recorder = Recorder::new(log, Wall::Epoch);
    let mut twin = Twin::new(&Config::default(), &Scenario::default(), Some(2.0), false);
    twin.write(&command::frame(1, Ask::Start)).unwrap();
    let mut bytes = Vec::new();
    while twin.read(&mut bytes).unwrap() != Arrival::End {
        recorder.bytes(&bytes, |_| Ok(())).unwrap();
        bytes.clear();
    }
    recorder.finish(|_| Ok(())).unwrap();
    file
}

#[test]
fn two_seconds_cut_at_every_byte_recover_every_whole_block() {
    let file = two_seconds();
    let (blocks, damage) = read(&file);
    assert_eq!(damage, []);
    assert!(blocks.len() >= 200);
    // Where in the file each block ends, in order.
    let mut from = 0;
    let ends: Vec<usize> = blocks
        .iter()
        .map(|block| {
            let rest = &file[from..];
            let at = rest.windows(block.len()).position(|w| w == block).unwrap();
            from += at + block.len();
            from
        })
        .collect();
    let check = |cuts: std::ops::Range<usize>| {
        for cut in cuts {
            let (found, _) = read(&file[..cut]);
            let whole = ends.partition_point(|end| *end <= cut);
            assert_eq!(found.len(), whole, "cut at byte {cut}");
            assert_eq!(found.last(), blocks[..whole].last(), "cut at byte {cut}");
        }
    };
    let half = file.len() / 2;
    std::thread::scope(|scope| {
        scope.spawn(|| check(1..half));
        scope.spawn(|| check(half..file.len()));
    });
}
