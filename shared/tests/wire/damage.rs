//! A million damaged streams: no panic, no wrong frame accepted, back in step at the next delimiter.

use std::collections::HashSet;

use stribeck_core::model::sim::Rng;
use stribeck_core::wire::{Decoder, MAX_FRAME};

use crate::samples;

const ROUNDS: usize = 1_000_000;

fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.bits() % n.max(1) as u64) as usize
}

/// One damage of one frame; returns its name.
fn damage(rng: &mut Rng, frame: &mut Vec<u8>, other: &[u8]) -> &'static str {
    let at = below(rng, frame.len());
    let len = 1 + below(rng, (frame.len() - at).min(16));
    match below(rng, 5) {
        0 => {
            for _ in 0..1 + below(rng, 4) {
                let at = below(rng, frame.len());
                frame[at] ^= 1 << below(rng, 8);
            }
            "flip"
        }
        1 => {
            frame.drain(at..at + len);
            "drop"
        }
        2 => {
            let part = frame[at..at + len].to_vec();
            frame.splice(at..at, part);
            "duplicate"
        }
        3 => {
            let cut = below(rng, other.len());
            frame.truncate(at);
            frame.extend_from_slice(&other[cut..]);
            "splice"
        }
        _ => {
            frame.truncate(at);
            "truncate"
        }
    }
}

#[test]
fn a_million_damaged_streams() {
    let mut buf = [0; MAX_FRAME];
    let frames: Vec<Vec<u8>> = samples::frames()
        .iter()
        .map(|(_, frame)| {
            let n = frame.encode(&mut buf).unwrap();
            buf[..n].to_vec()
        })
        .collect();
    let mut decoder: Decoder = Decoder::new();
    let mut known = HashSet::new();
    for frame in &frames {
        decoder.feed(frame, |raw| {
            let raw = raw.unwrap();
            known.insert((raw.kind, raw.rev, raw.body.to_vec()));
        });
    }

    let mut rng = Rng::new(1);
    let mut refused = 0u64;
    let mut damaged_count = 0;
    for round in 0..ROUNDS {
        // [before] [damaged] [after] [last]: `before` and `last` must always arrive, `after` whenever the damaged part
        // still ends with a delimiter.
        let pick: [&Vec<u8>; 4] = core::array::from_fn(|_| &frames[below(&mut rng, frames.len())]);
        let mut damaged = pick[1].clone();
        let other = &frames[below(&mut rng, frames.len())];
        let how = damage(&mut rng, &mut damaged, other);
        let changed = damaged != *pick[1];
        damaged_count += changed as usize;
        let delimited = damaged.last().is_none_or(|b| *b == 0);

        let mut ends = Vec::with_capacity(6);
        let mut position = 0;
        for part in [pick[0], &damaged, pick[2], pick[3]] {
            for &byte in part.iter() {
                position += 1;
                match decoder.push(byte) {
                    None => {}
                    Some(Err(_)) => refused += 1,
                    Some(Ok(raw)) => {
                        assert!(
                            known.contains(&(raw.kind, raw.rev, raw.body.to_vec())),
                            "round {round}: {how} of {:02x?} gave a frame never sent",
                            pick[1]
                        );
                        let _ = raw.decode();
                        ends.push(position);
                    }
                }
            }
        }
        let before_end = pick[0].len();
        let after_end = before_end + damaged.len() + pick[2].len();
        assert_eq!(ends.first(), Some(&before_end), "round {round}: {how}");
        assert_eq!(ends.last(), Some(&position), "round {round}: {how}");
        assert!(
            !delimited || ends.contains(&after_end),
            "round {round}: {how} lost the frame after it"
        );
    }
    println!(
        "{damaged_count} damaged of {ROUNDS}, {refused} refused: {:?}",
        decoder.bad
    );
    assert!(refused as usize > ROUNDS / 2);
}

#[test]
fn noise_never_makes_a_frame_and_never_stops_the_decoder() {
    let mut decoder: Decoder = Decoder::new();
    let mut rng = Rng::new(2);
    let mut buf = [0; MAX_FRAME];
    let (_, sample) = &samples::frames()[0];
    let n = sample.encode(&mut buf).unwrap();
    for round in 0..200 {
        // Delimiters often, so that short noise unstuffs, and rarely, so that it overflows the buffer.
        let every = if round % 2 == 0 { 8 } else { 16_384 };
        for _ in 0..20_000 {
            let byte = (rng.bits() as u8).max(1);
            let byte = if rng.bits().is_multiple_of(every) {
                0
            } else {
                byte
            };
            assert!(!matches!(decoder.push(byte), Some(Ok(_))));
        }
        let mut whole = 0;
        decoder.push(0);
        decoder.feed(&buf[..n], |raw| whole += raw.is_ok() as u32);
        assert_eq!(whole, 1);
    }
    assert!(decoder.bad.too_long > 0 && decoder.bad.crc > 0);
}
