//! The order of the blocks: which came, which did not, and where.
//!
//! In: blocks in the order of arrival, and every damaged frame. Out: blocks in the order of their sequence
//! numbers, and [`Losses`] that name each missing tick. A block that overtook others waits until the
//! missing ones come or [`WINDOW`] later ones have arrived; only then they are lost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stribeck_core::wire::Block;

use crate::link::frames::Reason;

/// Blocks that may wait for an overtaken one.
pub const WINDOW: usize = 16;
/// Places remembered of each sort; all are counted.
const PLACES: usize = 10_000;

/// Blocks that are missing, and their ticks: `from` to `to`, both included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub from: u64,
    pub to: u64,
    /// How many ticks: 0 if only blocks without ticks are missing (two orders in a row).
    pub lost: u64,
    /// First missing sequence number, and how many are missing.
    pub seq: u32,
    pub blocks: u32,
    /// Damaged frames that arrived in their place.
    pub damaged: u32,
    /// The connection was down meanwhile.
    pub unplugged: bool,
}

impl Gap {
    /// How many ticks are missing.
    pub fn ticks(&self) -> u64 {
        self.lost
    }
}

/// A block that came twice, or later than a successor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stray {
    pub seq: u32,
    pub from: u64,
    pub to: u64,
}

/// A block that should have begun at tick `expected` and begins at `found`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jump {
    pub seq: u32,
    pub expected: u64,
    pub found: u64,
}

/// A damaged frame: it came after the block that ended at `after_tick`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corrupted {
    pub after_tick: u64,
    pub reason: String,
}

/// Everything that went wrong on the way, counted and located.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    pub lost_ticks: u64,
    pub lost_blocks: u64,
    pub gaps: Vec<Gap>,
    pub duplicated: u64,
    pub duplicates: Vec<Stray>,
    pub reordered: u64,
    pub reorders: Vec<Stray>,
    pub corrupted: u64,
    pub corruptions: Vec<Corrupted>,
    /// Blocks whose ticks do not follow on their predecessor's, though their numbers do: damage, whatever their CRC says.
    #[serde(default)]
    pub jumped: u64,
    #[serde(default)]
    pub jumps: Vec<Jump>,
    /// Ticks the device itself skipped (overrun): they never happened.
    pub skipped_ticks: u64,
}

impl Losses {
    /// Nothing lost, nothing damaged, nothing out of order.
    pub fn is_clean(&self) -> bool {
        self.lost_blocks + self.duplicated + self.reordered + self.corrupted + self.jumped == 0
    }
}

/// Who gets what is in order.
pub type Deliver<'a, E> = dyn FnMut(Delivery<'_>) -> Result<(), E> + 'a;

/// Puts the blocks of one connection after the other in order.
#[derive(Default)]
pub struct Order {
    /// Sequence number of the block that follows what was delivered; `None` before the first.
    expected: Option<u32>,
    /// Tick after the last delivered one.
    end_tick: u64,
    held: BTreeMap<u32, Block>,
    /// Damaged frames since the last delivered block.
    damaged: u32,
    unplugged: bool,
    /// A block of this boot was delivered: `end_tick` is its end.
    delivered: bool,
    pub losses: Losses,
}

impl Order {
    /// Tick after the last delivered one.
    pub fn end_tick(&self) -> u64 {
        self.end_tick
    }

    /// A block arrived. `deliver` gets what is now in order, after `gap` for what is given up.
    pub fn block<E>(&mut self, block: Block, deliver: &mut Deliver<'_, E>) -> Result<(), E> {
        let expected = *self.expected.get_or_insert(block.seq);
        let ahead = block.seq.wrapping_sub(expected) as i32;
        if ahead < 0 {
            self.stray(&block);
            return Ok(());
        }
        if ahead > 0 {
            if self.held.contains_key(&block.seq) {
                self.stray(&block);
            } else {
                self.overtaken(&block);
                self.held.insert(block.seq, block);
            }
            while self.held.len() > WINDOW {
                self.give_up(deliver)?;
            }
            return Ok(());
        }
        self.overtaken(&block);
        self.follows(&block, false);
        self.hand_over(&block, deliver)?;
        self.drain(deliver)
    }

    /// A damaged frame arrived.
    pub fn corrupted(&mut self, reason: Reason) {
        self.damaged += 1;
        self.losses.corrupted += 1;
        let after_tick = self.latest_tick();
        remember(
            &mut self.losses.corruptions,
            Corrupted {
                after_tick,
                reason: reason.to_string(),
            },
        );
    }

    /// The connection broke: what waits will not be joined by its predecessors.
    pub fn unplugged<E>(&mut self, deliver: &mut Deliver<'_, E>) -> Result<(), E> {
        self.flush(deliver)?;
        self.unplugged = true;
        Ok(())
    }

    /// The device was reset: numbers start again.
    pub fn restart<E>(&mut self, deliver: &mut Deliver<'_, E>) -> Result<(), E> {
        self.flush(deliver)?;
        self.expected = None;
        self.delivered = false;
        self.damaged = 0;
        self.unplugged = false;
        Ok(())
    }

    /// Nothing more will come: deliver what waits.
    pub fn flush<E>(&mut self, deliver: &mut Deliver<'_, E>) -> Result<(), E> {
        while !self.held.is_empty() {
            self.give_up(deliver)?;
        }
        Ok(())
    }

    /// Give up what is missing in front of the first waiting block.
    fn give_up<E>(&mut self, deliver: &mut Deliver<'_, E>) -> Result<(), E> {
        let Some(expected) = self.expected else {
            return Ok(());
        };
        // The smallest number ahead of the expected one, across the wrap of the counter.
        let next = self
            .held
            .keys()
            .copied()
            .min_by_key(|seq| seq.wrapping_sub(expected));
        let Some(block) = next.and_then(|seq| self.held.remove(&seq)) else {
            return Ok(());
        };
        self.missing(expected, &block, deliver)?;
        self.expected = Some(block.seq);
        self.follows(&block, true);
        self.hand_over(&block, deliver)?;
        self.drain(deliver)
    }

    fn missing<E>(
        &mut self,
        expected: u32,
        next: &Block,
        deliver: &mut Deliver<'_, E>,
    ) -> Result<(), E> {
        let blocks = next.seq.wrapping_sub(expected);
        let end = next.first_tick.saturating_sub(u64::from(next.skipped));
        let gap = Gap {
            from: self.end_tick,
            to: end.saturating_sub(1),
            lost: end.saturating_sub(self.end_tick),
            seq: expected,
            blocks,
            damaged: std::mem::take(&mut self.damaged),
            unplugged: self.unplugged,
        };
        self.losses.lost_blocks += u64::from(blocks);
        self.losses.lost_ticks += gap.ticks();
        deliver(Delivery::Gap(&gap))?;
        remember(&mut self.losses.gaps, gap);
        Ok(())
    }

    fn hand_over<E>(&mut self, block: &Block, deliver: &mut Deliver<'_, E>) -> Result<(), E> {
        self.expected = Some(block.seq.wrapping_add(1));
        self.end_tick = block.end_tick();
        self.losses.skipped_ticks += u64::from(block.skipped);
        self.unplugged = false;
        if self.held.is_empty() {
            self.damaged = 0;
        }
        deliver(Delivery::Block(block))
    }

    fn drain<E>(&mut self, deliver: &mut Deliver<'_, E>) -> Result<(), E> {
        while let Some(block) = self.expected.and_then(|seq| self.held.remove(&seq)) {
            self.follows(&block, false);
            self.hand_over(&block, deliver)?;
        }
        Ok(())
    }

    /// Note a block whose ticks jump: after a gap they may only go on, otherwise they must be the next.
    fn follows(&mut self, block: &Block, after_gap: bool) {
        let found = block.first_tick.saturating_sub(u64::from(block.skipped));
        let expected = self.end_tick;
        let right = if after_gap {
            found >= expected
        } else {
            found == expected
        };
        if self.delivered && !right {
            self.losses.jumped += 1;
            let jump = Jump {
                seq: block.seq,
                expected,
                found,
            };
            remember(&mut self.losses.jumps, jump);
        }
        self.delivered = true;
    }

    /// Late if it belongs to a gap already given up, otherwise a duplicate.
    fn stray(&mut self, block: &Block) {
        let place = place(block);
        let in_gap = |gap: &Gap| block.seq.wrapping_sub(gap.seq) < gap.blocks;
        if self.losses.gaps.iter().rev().any(in_gap) {
            self.losses.reordered += 1;
            remember(&mut self.losses.reorders, place);
        } else {
            self.losses.duplicated += 1;
            remember(&mut self.losses.duplicates, place);
        }
    }

    /// Count a block that arrives after one with a higher number.
    fn overtaken(&mut self, block: &Block) {
        let expected = self.expected.unwrap_or(block.seq);
        let distance = |seq: u32| seq.wrapping_sub(expected);
        let late = |&seq: &u32| distance(seq) > distance(block.seq);
        if self.held.keys().any(late) {
            self.losses.reordered += 1;
            remember(&mut self.losses.reorders, place(block));
        }
    }

    fn latest_tick(&self) -> u64 {
        let held = self.held.values().map(Block::end_tick).max();
        held.unwrap_or(0).max(self.end_tick).saturating_sub(1)
    }
}

/// What the order hands on, in order.
pub enum Delivery<'a> {
    Block(&'a Block),
    Gap(&'a Gap),
}

fn place(block: &Block) -> Stray {
    Stray {
        seq: block.seq,
        from: block.first_tick,
        to: block.end_tick().saturating_sub(1),
    }
}

fn remember<T>(places: &mut Vec<T>, place: T) {
    if places.len() < PLACES {
        places.push(place);
    }
}
