//! Every frame lost, doubled, overtaken or damaged on the way is reported with exact count and place.

use stribeck::link::command;
use stribeck::link::frames::{Content, Frames};
use stribeck::link::order::{Losses, Stray};
use stribeck::link::scenario::Scenario;
use stribeck::link::session::Session;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck_core::device::config::Config;
use stribeck_core::model::sim::Rng;
use stribeck_core::wire::{Ask, Frame};

/// A frame's bytes, and for a block its first and last tick and sequence number.
#[derive(Clone)]
struct Sent {
    bytes: Vec<u8>,
    block: Option<Stray>,
}

/// Everything a twin says in `seconds`.
fn stream(seconds: f64) -> Vec<Sent> {
    let mut twin = Twin::new(
        &Config::default(),
        &Scenario::default(),
        Some(seconds),
        false,
    );
    twin.write(&command::frame(1, Ask::Start)).unwrap();
    let mut bytes = Vec::new();
    while twin.read(&mut bytes).unwrap() != Arrival::End {}
    let mut sent = Vec::new();
    Frames::default()
        .push::<()>(&bytes, |piece| {
            let block = match piece.content {
                Content::Frame(Frame::Block(b)) => Some(Stray {
                    seq: b.seq,
                    from: b.first_tick,
                    to: b.end_tick() - 1,
                }),
                Content::Frame(_) => None,
                _ => panic!("the twin sent a bad frame"),
            };
            sent.push(Sent {
                bytes: piece.bytes.to_vec(),
                block,
            });
            Ok(())
        })
        .unwrap();
    sent
}

/// What a session says about these frames, in portions of odd sizes.
fn received(frames: &[Sent]) -> Session {
    let bytes: Vec<u8> = frames.iter().flat_map(|f| f.bytes.clone()).collect();
    let mut session = Session::log(true);
    for portion in bytes.chunks(997) {
        session.bytes::<()>(portion, |_| Ok(())).unwrap();
    }
    session.end::<()>(|_| Ok(())).unwrap();
    session
}

/// Blocks that can be tampered with, far enough apart that their stories do not mix.
fn victims(frames: &[Sent]) -> Vec<usize> {
    let blocks: Vec<usize> = (0..frames.len())
        .filter(|&i| {
            frames[i].block.is_some() && frames.get(i + 1).is_some_and(|f| f.block.is_some())
        })
        .collect();
    blocks.into_iter().skip(5).step_by(25).collect()
}

fn check_bits(session: &Session) {
    let verdict = session.verdict();
    assert!(verdict.compared_ticks > 0);
    assert_eq!(verdict.differing_blocks, 0, "{verdict:?}");
}

#[test]
fn an_undisturbed_stream_loses_nothing_and_every_bit_is_equal() {
    let frames = stream(2.0);
    let session = received(&frames);
    assert_eq!(session.losses(), &Losses::default());
    assert_eq!(session.ticks(), 20_000);
    assert_eq!(session.verdict().equal_ticks, 20_000);
}

#[test]
fn dropped_blocks_are_located() {
    let frames = stream(2.0);
    let mut kept = frames.clone();
    let lost: Vec<Stray> = victims(&frames)
        .into_iter()
        .rev()
        .map(|i| kept.remove(i).block.unwrap())
        .collect();
    let session = received(&kept);
    let losses = session.losses();
    let places: Vec<(u64, u64, u32)> = losses
        .gaps
        .iter()
        .map(|g| (g.from, g.to, g.blocks))
        .collect();
    let expected: Vec<(u64, u64, u32)> = lost.iter().rev().map(|b| (b.from, b.to, 1)).collect();
    assert_eq!(places, expected);
    assert_eq!(losses.lost_blocks, lost.len() as u64);
    let ticks: u64 = lost.iter().map(|b| b.to + 1 - b.from).sum();
    assert_eq!(losses.lost_ticks, ticks);
    assert_eq!(
        (losses.duplicated, losses.reordered, losses.corrupted),
        (0, 0, 0)
    );
    check_bits(&session);
}

#[test]
fn duplicated_blocks_are_located_and_harmless() {
    let frames = stream(2.0);
    let mut doubled = frames.clone();
    let places = victims(&frames);
    for &i in places.iter().rev() {
        doubled.insert(i + 1, frames[i].clone());
    }
    let session = received(&doubled);
    let expected: Vec<Stray> = places
        .iter()
        .map(|&i| frames[i].block.clone().unwrap())
        .collect();
    assert_eq!(session.losses().duplicates, expected);
    assert_eq!(session.losses().lost_blocks, 0);
    assert_eq!(session.verdict().equal_ticks, 20_000);
}

#[test]
fn overtaken_blocks_are_put_back_in_order_and_located() {
    let frames = stream(2.0);
    let mut swapped = frames.clone();
    let places = victims(&frames);
    for &i in &places {
        swapped.swap(i, i + 1);
    }
    let session = received(&swapped);
    let expected: Vec<Stray> = places
        .iter()
        .map(|&i| frames[i].block.clone().unwrap())
        .collect();
    assert_eq!(session.losses().reorders, expected);
    assert_eq!(
        (session.losses().lost_blocks, session.losses().duplicated),
        (0, 0)
    );
    assert_eq!(session.verdict().equal_ticks, 20_000);
}

#[test]
fn damaged_blocks_are_located() {
    let frames = stream(2.0);
    let mut damaged = frames.clone();
    let places = victims(&frames);
    let mut rng = Rng::new(7);
    for &i in &places {
        let bytes = &mut damaged[i].bytes;
        let at = rng.bits() as usize % (bytes.len() - 1);
        let flipped = bytes[at] ^ (1 << (rng.bits() % 8));
        bytes[at] = if flipped == 0 {
            bytes[at] ^ 0xFF
        } else {
            flipped
        };
        if bytes[at] == 0 {
            bytes[at] = 0x55;
        }
    }
    let session = received(&damaged);
    let losses = session.losses();
    let expected: Vec<(u64, u64, u32, u32)> = places
        .iter()
        .map(|&i| frames[i].block.clone().unwrap())
        .map(|b| (b.from, b.to, 1, 1))
        .collect();
    let gaps: Vec<(u64, u64, u32, u32)> = losses
        .gaps
        .iter()
        .map(|g| (g.from, g.to, g.blocks, g.damaged))
        .collect();
    assert_eq!(gaps, expected);
    assert_eq!(losses.corrupted, places.len() as u64);
    let after: Vec<u64> = losses
        .corruptions
        .iter()
        .map(|c| c.after_tick + 1)
        .collect();
    assert_eq!(after, expected.iter().map(|e| e.0).collect::<Vec<_>>());
    check_bits(&session);
}

#[test]
fn a_long_gap_is_one_gap() {
    let frames = stream(2.0);
    let blocks: Vec<usize> = (0..frames.len())
        .filter(|&i| frames[i].block.is_some())
        .collect();
    let (first, last) = (blocks[40], blocks[99]);
    let kept: Vec<Sent> = (0..frames.len())
        .filter(|i| !(frames[*i].block.is_some() && (first..=last).contains(i)))
        .map(|i| frames[i].clone())
        .collect();
    let session = received(&kept);
    let [gap] = &session.losses().gaps[..] else {
        panic!("{:?}", session.losses().gaps)
    };
    let from = frames[first].block.as_ref().unwrap().from;
    let to = frames[last].block.as_ref().unwrap().to;
    assert_eq!((gap.from, gap.to, gap.blocks), (from, to, 60));
    check_bits(&session);
}

#[test]
fn a_changed_digest_names_the_block() {
    // Re-frame one block with another digest: the CRC is right, the bits are not.
    let mut frames = stream(2.0);
    let victim = (0..frames.len())
        .filter(|&i| frames[i].block.is_some())
        .nth(120)
        .unwrap();
    let mut place = None;
    let mut bytes = vec![0; stribeck_core::wire::MAX_FRAME];
    Frames::default()
        .push::<()>(&frames[victim].bytes, |piece| {
            let Content::Frame(Frame::Block(mut block)) = piece.content else {
                panic!()
            };
            block.digest ^= 1;
            place = Some((block.first_tick, block.end_tick() - 1));
            let n = stribeck_core::wire::encode(&block, &mut bytes).unwrap();
            bytes.truncate(n);
            Ok(())
        })
        .unwrap();
    frames[victim].bytes = bytes;
    let verdict = received(&frames).verdict();
    let first = verdict.first.unwrap();
    assert_eq!(verdict.differing_blocks, 1);
    assert_eq!(Some((first.from_tick, first.to_tick)), place);
    assert!(first.what.contains("digest"));
}

#[test]
fn a_changed_count_names_the_field() {
    // One count too many in one block: records and snapshots after it differ, the words have names.
    let mut frames = stream(3.0);
    let victim = (0..frames.len())
        .filter(|&i| frames[i].block.is_some())
        .nth(150)
        .unwrap();
    let mut bytes = vec![0; stribeck_core::wire::MAX_FRAME];
    let mut from = 0;
    Frames::default()
        .push::<()>(&frames[victim].bytes, |piece| {
            let Content::Frame(Frame::Block(mut block)) = piece.content else {
                panic!()
            };
            block.base[1] = block.base[1].wrapping_add(1);
            from = block.first_tick;
            let n = stribeck_core::wire::encode(&block, &mut bytes).unwrap();
            bytes.truncate(n);
            Ok(())
        })
        .unwrap();
    frames[victim].bytes = bytes;
    let verdict = received(&frames).verdict();
    let first = verdict.first.unwrap();
    assert_eq!(first.from_tick, from);
    let tick = first.tick.unwrap();
    assert!((from..from + 100).contains(&tick), "{tick}");
    assert!(
        first
            .words
            .iter()
            .any(|w| w.field.starts_with("uas.") || w.field.starts_with("ekf."))
    );
    assert!(verdict.differing_bits > 0);
}

#[test]
fn ticks_that_jump_under_continuous_numbers_are_damage() {
    for jump in [50i64, -50] {
        let mut frames = stream(2.0);
        let victim = (0..frames.len())
            .filter(|&i| frames[i].block.is_some())
            .nth(120)
            .unwrap();
        let mut found = 0;
        let mut bytes = vec![0; stribeck_core::wire::MAX_FRAME];
        Frames::default()
            .push::<()>(&frames[victim].bytes, |piece| {
                let Content::Frame(Frame::Block(mut block)) = piece.content else {
                    panic!()
                };
                block.first_tick = block.first_tick.wrapping_add_signed(jump);
                found = block.first_tick;
                let n = stribeck_core::wire::encode(&block, &mut bytes).unwrap();
                bytes.truncate(n);
                Ok(())
            })
            .unwrap();
        frames[victim].bytes = bytes;
        let session = received(&frames);
        let losses = session.losses();
        // There and back again.
        assert_eq!(losses.jumped, 2, "{losses:?}");
        assert_eq!(losses.jumps[0].found, found);
        assert!(!losses.is_clean());
    }
}
