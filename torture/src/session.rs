//! Damaged streams through the host's session: every block it hands on is one the device sent, and what is missing is said.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

use stribeck::link::session::{Session, SessionEvent};
use stribeck_core::device::config::Config;
use stribeck_core::model::sim::Rng;
use stribeck_core::wire::{Block, Decoder, Frame};

use crate::frames::{below, damage, stream};
use crate::score::{Effort, Ending, Row};

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let frames = stream(&Config::default(), 4000, effort.seed);
    let mut sent: HashMap<u32, Block> = HashMap::new();
    let mut decoder: Decoder = Decoder::new();
    for frame in &frames {
        decoder.feed(frame, |raw| {
            if let Ok(Ok(Frame::Block(block))) = raw.map(|raw| raw.decode()) {
                sent.insert(block.seq, block);
            }
        });
    }
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let mut losses = 0u64;
    while effort.wants(row.inputs, 2_000, 100_000) {
        let start = below(&mut rng, frames.len() - 20);
        let mut parts: Vec<Vec<u8>> = frames[..1].to_vec();
        parts.extend_from_slice(&frames[start.max(1)..(start.max(1) + 14)]);
        let hurt = 1 + below(&mut rng, 3);
        for _ in 0..hurt {
            let at = 1 + below(&mut rng, parts.len() - 1);
            match below(&mut rng, 4) {
                0 => drop(parts.remove(at)),
                1 => {
                    let again = parts[at].clone();
                    parts.insert(at, again);
                }
                2 => {
                    let with = 1 + below(&mut rng, parts.len() - 1);
                    parts.swap(at, with);
                }
                _ => {
                    let other = frames[below(&mut rng, frames.len())].clone();
                    damage(&mut rng, &mut parts[at], &other);
                }
            }
        }
        let judged = catch_unwind(AssertUnwindSafe(|| listen(&parts.concat(), &sent)));
        let ending = match judged {
            Err(_) => Ending::Panic,
            Ok(Heard { foreign: true, .. }) => Ending::SilentlyWrong,
            Ok(Heard {
                hole: true,
                clean: true,
                ..
            }) => Ending::SilentlyWrong,
            Ok(heard) => {
                losses += u64::from(!heard.clean);
                Ending::Good
            }
        };
        row.count(ending, || {
            format!("input {} of seed {}", row_input(start, hurt), effort.seed)
        });
    }
    row.note = format!("damaged streams; losses said for {losses}");
    Ok(row)
}

fn row_input(start: usize, hurt: usize) -> String {
    format!("frames from {start}, {hurt} damages")
}

struct Heard {
    /// A block that was never sent.
    foreign: bool,
    /// Blocks missing between the first and the last one handed on.
    hole: bool,
    /// The session says that nothing was lost.
    clean: bool,
}

fn listen(bytes: &[u8], sent: &HashMap<u32, Block>) -> Heard {
    let mut session = Session::log(true);
    let (mut foreign, mut seen) = (false, Vec::new());
    let mut each = |event: SessionEvent<'_>| -> Result<(), Infallible> {
        if let SessionEvent::Block { block, .. } = event {
            foreign |= sent.get(&block.seq) != Some(block);
            seen.push(block.seq);
        }
        Ok(())
    };
    let Ok(()) = session.bytes(bytes, &mut each);
    let Ok(()) = session.end(&mut each);
    let hole = seen.windows(2).any(|pair| pair[1] != pair[0] + 1);
    Heard {
        foreign,
        hole,
        clean: session.losses().is_clean(),
    }
}
