//! Damaged frames through the decoder both sides use: no panic, no frame that was never sent, back in step afterwards.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use stribeck_core::device::config::Config;
use stribeck_core::model::sim::Rng;
use stribeck_core::wire::Decoder;

use crate::frames::{below, damage, stream};
use crate::score::{Effort, Ending, Row};

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let frames = stream(&Config::default(), 3000, effort.seed);
    let mut decoder: Decoder = Decoder::new();
    let mut known = HashSet::new();
    for frame in &frames {
        decoder.feed(frame, |raw| {
            if let Ok(raw) = raw {
                known.insert((raw.kind, raw.rev, raw.body.to_vec()));
            }
        });
    }
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let (mut refused, mut damaged) = (0u64, Vec::new());
    while effort.wants(row.inputs, 2_000_000, 100_000_000) {
        let pick = below(&mut rng, frames.len());
        damaged.clone_from(&frames[pick]);
        let other = below(&mut rng, frames.len());
        damage(&mut rng, &mut damaged, &frames[other]);
        // The delimiter ends whatever the damage left open; the frame after it must arrive whole.
        let after = &frames[below(&mut rng, frames.len())];
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let (mut invented, mut arrived) = (false, false);
            let mut each = |raw: Result<stribeck_core::wire::Raw<'_>, _>, last: bool| match raw {
                Err(_) => refused += 1,
                Ok(raw) => {
                    // Looked up only when the bytes differ from what was sent: a set of bodies costs an allocation.
                    invented |= !last && !known.contains(&(raw.kind, raw.rev, raw.body.to_vec()));
                    arrived |= last;
                    let _ = raw.decode();
                }
            };
            decoder.feed(&damaged, |raw| each(raw, false));
            decoder.feed(&[0], |raw| each(raw, false));
            decoder.feed(after, |raw| each(raw, true));
            (invented, arrived)
        }));
        let ending = match judged {
            Err(_) => Ending::Panic,
            Ok((false, true)) => Ending::Good,
            Ok(_) => Ending::SilentlyWrong,
        };
        row.count(ending, || {
            format!("seed {} frame {pick}: {damaged:02x?}", effort.seed)
        });
    }
    row.note = format!("damaged frames; {refused} refused");
    Ok(row)
}
