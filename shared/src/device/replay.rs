//! The same core fed from logged blocks, comparing every bit the device sent about itself.

use heapless::Deque;

use super::{Observers, Setup};
use crate::device::config::Config;
use crate::device::digest::Digest;
use crate::wire::block::{PARAM_BYTES_DRIVEN, due};
use crate::wire::{Block, Bytes};

/// Most configurations that may overtake the blocks before them. A device sends the Hello of one before it accepts the next,
/// so each needs a command and its reply while 0.35 s of blocks wait.
const PENDING: usize = 32;

/// Follows a device, block by block.
pub struct Replay {
    observers: Option<Observers>,
    setup: Setup,
    /// Configurations that come into force at later ticks, earliest first.
    pending: Deque<(u64, Config), PENDING>,
    /// Blocks before this tick ran under a configuration that is not known any more.
    blind_until: u64,
    next_tick: u64,
    next_seq: u32,
    /// Ticks whose digest was compared and found equal.
    pub equal_ticks: u64,
}

/// What a block's replay said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Followed {
    /// All of it equal.
    Equal,
    /// Nothing to start from: no snapshot yet since the beginning or a gap.
    Waiting,
}

/// A difference between device and replay. `word` indexes [`super::Observers::names`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mismatch {
    /// The snapshot before `tick` differs in a word.
    Snapshot {
        tick: u64,
        word: usize,
        device: u32,
        replay: u32,
    },
    /// A record of `tick` differs (word counted within the record).
    Record {
        tick: u64,
        word: usize,
        device: u32,
        replay: u32,
    },
    /// The digest over these ticks differs.
    Digest {
        first_tick: u64,
        ticks: u16,
        device: u32,
        replay: u32,
    },
    /// Counts or records do not have the length the block's head calls for.
    Inconsistent { first_tick: u64 },
    /// The snapshot is not one of this build.
    Words { found: usize, known: usize },
}

impl Replay {
    /// For blocks recorded under `config`. Starts at the first block with a snapshot: the device's first block has one.
    pub fn new(config: &Config) -> Self {
        Replay {
            observers: None,
            setup: Setup::new(config),
            pending: Deque::new(),
            blind_until: 0,
            next_tick: 0,
            next_seq: 0,
            equal_ticks: 0,
        }
    }

    /// Another configuration, in force from tick `since` (both from a Hello). Call it as soon as the Hello is seen: it may
    /// overtake blocks of the time before.
    pub fn set_config(&mut self, config: &Config, since: u64) {
        if let Some((at, known)) = self.pending.back_mut()
            && *at == since
        {
            // The same Hello again, asked for.
            *known = *config;
            return;
        }
        if self.pending.is_full() {
            self.pending.clear();
            self.blind_until = since;
        }
        let _ = self.pending.push_back((since, *config));
    }

    pub fn observers(&self) -> Option<&Observers> {
        self.observers.as_ref()
    }

    /// Forget the state: the next block with a snapshot starts again.
    pub fn lose(&mut self) {
        self.observers = None;
    }

    /// Run one block. After a [`Mismatch`] the replay has lost the device and waits for the next snapshot.
    pub fn block(&mut self, block: &Block) -> Result<Followed, Mismatch> {
        let result = self.follow(block);
        if result.is_err() {
            self.observers = None;
        }
        result
    }

    fn follow(&mut self, block: &Block) -> Result<Followed, Mismatch> {
        if !block.is_consistent() {
            return Err(Mismatch::Inconsistent {
                first_tick: block.first_tick,
            });
        }
        let follows = block.seq == self.next_seq
            && block.first_tick == self.next_tick.wrapping_add(block.skipped as u64);
        self.next_seq = block.seq.wrapping_add(1);
        self.next_tick = block.end_tick();
        let blind = block.first_tick < self.blind_until;
        if !follows || blind {
            self.observers = None;
        }
        if blind {
            return Ok(Followed::Waiting);
        }
        while let Some((since, config)) = self.pending.front()
            && *since <= block.first_tick
        {
            self.setup = Setup::new(config);
            let _ = self.pending.pop_front();
        }
        self.enter(block)?;
        let Some(observers) = &mut self.observers else {
            return Ok(Followed::Waiting);
        };

        let mut digest = Digest::START;
        let mut rest = block.record_bytes();
        observers.follow(block, |observers, tick| {
            observers.digest(&mut digest);
            if due(tick, block.state_every) {
                compare(&mut rest, tick, |own| observers.states().put(own))?;
            }
            if due(tick, block.param_every) {
                compare(&mut rest, tick, |own| observers.params().put(own))?;
            }
            Ok(())
        })?;
        let replay = digest.finish();
        if block.digest != replay {
            return Err(Mismatch::Digest {
                first_tick: block.first_tick,
                ticks: block.ticks,
                device: block.digest,
                replay,
            });
        }
        self.equal_ticks += block.ticks as u64;
        Ok(Followed::Equal)
    }

    /// Apply the order and compare, or start from, the snapshot.
    fn enter(&mut self, block: &Block) -> Result<(), Mismatch> {
        if let Some(observers) = &mut self.observers {
            observers.obey(block, self.setup);
        }
        let Some(words) = block.snapshot() else {
            return Ok(());
        };
        let Some(observers) = &self.observers else {
            let found = words.len();
            let known = self.setup.word_count();
            self.observers = Observers::from_words(self.setup, words);
            return match self.observers {
                Some(_) => Ok(()),
                None => Err(Mismatch::Words { found, known }),
            };
        };
        let mut words = words.enumerate();
        let mut difference = None;
        observers.save(&mut |replay: u32| {
            let (word, device) = words.next().unwrap_or((0, !replay));
            if device != replay && difference.is_none() {
                difference = Some(Mismatch::Snapshot {
                    tick: block.first_tick,
                    word,
                    device,
                    replay,
                });
            }
        });
        difference.map_or(Ok(()), Err)
    }
}

/// The record of `tick` that `put` writes must be the next bytes of `rest`.
fn compare(
    rest: &mut &[u8],
    tick: u64,
    put: impl FnOnce(&mut Bytes<PARAM_BYTES_DRIVEN>),
) -> Result<(), Mismatch> {
    let mut own = Bytes::new();
    put(&mut own);
    // The lengths were checked with the block's consistency.
    let (device, tail) = rest.split_at(own.len().min(rest.len()));
    *rest = tail;
    let pair = device.chunks(4).zip(own.chunks(4)).enumerate();
    for (word, (device, replay)) in pair {
        if device != replay {
            let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | b as u32);
            return Err(Mismatch::Record {
                tick,
                word,
                device: number(device),
                replay: number(replay),
            });
        }
    }
    Ok(())
}
