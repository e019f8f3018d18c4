//! Value → exact bytes → value, for every frame.

use std::fmt::Write;

use stribeck_core::device::config::{BLOB_BYTES, Blob, Config};
use stribeck_core::wire::{Decoder, Frame, MAX_FRAME};

use crate::{same_as_file, samples};

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(32) {
        for byte in line {
            write!(text, "{byte:02x}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn decode(bytes: &[u8]) -> Vec<Frame> {
    let mut decoder: Decoder = Decoder::new();
    let mut frames = Vec::new();
    decoder.feed(bytes, |raw| {
        frames.push(raw.expect("a whole frame").decode().expect("a known body"))
    });
    assert_eq!(decoder.pending(), 0);
    frames
}

#[test]
fn every_frame_has_its_exact_bytes_and_comes_back() {
    let mut text = String::from("# One frame of every kind and variant, as on the wire (hex).\n");
    for (name, frame) in samples::frames() {
        let mut buf = [0xAA; MAX_FRAME];
        let n = frame.encode(&mut buf).unwrap();
        assert_eq!(buf[n - 1], 0);
        assert!(!buf[..n - 1].contains(&0), "{name}: delimiter inside");
        assert_eq!(decode(&buf[..n]), [frame], "{name}");
        write!(text, "{name}\n{}", hex(&buf[..n])).unwrap();
    }
    same_as_file("tests/golden/frames.txt", &text);
}

#[test]
fn default_configuration_has_its_exact_bytes_and_comes_back() {
    let blob = samples::config();
    assert_eq!(blob.open(), Ok(Config::default()));
    same_as_file("tests/golden/config.txt", &hex(blob.as_bytes()));
}

#[test]
fn the_largest_configuration_fits_its_blob() {
    // Integers are varints: the largest encoding is the default with every varint at its longest.
    let default = samples::config();
    let mut config = Config {
        tick_hz: u32::MAX,
        ..Config::default()
    };
    for e in &mut config.encoders {
        e.counts_per_rev = u32::MAX;
        e.zero = i32::MIN;
        e.max_jump = u32::MAX;
        e.max_acceleration = u32::MAX;
        e.stuck_travel = u32::MAX;
    }
    config.run.motion_counts = u16::MAX;
    config.run.hold_ms = u16::MAX;
    config.run.rest_counts = u16::MAX;
    config.run.rest_ms = u16::MAX;
    config.stream.block_ticks = u16::MAX;
    config.stream.state_every = u16::MAX;
    config.stream.param_every = u16::MAX;
    config.stream.snapshot_every = u32::MAX;
    let largest = Blob::seal(&config);
    assert!(largest.as_bytes().len() > default.as_bytes().len());
    assert!(largest.as_bytes().len() <= BLOB_BYTES);
    assert_eq!(largest.open(), Ok(config));
}

#[test]
fn block_contents_come_back() {
    use stribeck_core::wire::block::Record;
    let block = samples::block();
    assert!(block.is_consistent());
    let counts: Vec<_> = block.counts().collect();
    assert_eq!(
        counts,
        [[u32::MAX, 13_333], [0, 13_332], [64, 13_267]],
        "wraps like the counter"
    );
    let words: Vec<_> = block.snapshot().unwrap().collect();
    assert_eq!(words, [0x0102_0304, 0x3FC0_0000]);
    let records: Vec<_> = block.records().collect();
    assert_eq!(
        records,
        [
            (30_000, Record::States(samples::states())),
            (30_000, Record::Params(samples::params())),
        ]
    );
}

/// Revision 1 had parameter records of 98 bytes and no field that says so.
#[test]
fn a_block_of_revision_1_keeps_its_shorter_records() {
    use stribeck_core::wire::block::{Params, Record};
    let mut block = samples::block();
    let shorter = block.data.len() - (139 - 98);
    block.data = stribeck_core::wire::Bytes::copy_from(&block.data[..shorter]).unwrap();
    assert!(!block.is_consistent());
    block.param_bytes = 0;
    assert!(block.is_consistent());
    let Some((_, Record::Params(found))) = block.records().last() else {
        panic!("no parameter record");
    };
    let expected = Params {
        rig: [0.0; 7],
        colour: 0.0,
        drift: [0.0; 2],
        verdict: stribeck_core::wire::Verdict::NotConverged,
        ..samples::params()
    };
    assert_eq!(found, expected);
}

#[test]
fn a_small_buffer_is_an_error_not_a_cut_frame() {
    for (name, frame) in samples::frames() {
        let mut buf = [0; MAX_FRAME];
        let n = frame.encode(&mut buf).unwrap();
        for len in 0..n {
            assert!(frame.encode(&mut buf[..len]).is_err(), "{name} in {len}");
        }
    }
}
