//! Bit for bit: the observers run again from the received counts and compared with what the device said.
//!
//! In: the configuration (Hello) and blocks in order. Out: a [`Verdict`]: ticks compared, and for the first
//! difference its tick, its field and both values. The digest of a block proves all ticks of it equal; when it
//! differs, the block's own records and the next snapshot tell which word was first seen different.
//!
//! Used by `capture` while data arrive and by `replay` afterwards: the same code, so both say the same.

use serde::{Deserialize, Serialize};
use stribeck_core::device::config::Config;
use stribeck_core::device::{Followed, Mismatch, Observers, Replay, Setup};
use stribeck_core::number::words::Words as _;
use stribeck_core::wire::Block;
use stribeck_core::wire::block::{Params, Record, States};

/// What one block's comparison said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Every bit equal.
    Equal,
    /// Nothing to start from yet: no snapshot since the beginning or a gap.
    Waiting,
    Differs,
    /// This device's arithmetic or configuration is not this build's: nothing is compared.
    Off,
}

/// One word that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub field: String,
    pub device: u32,
    pub replay: u32,
}

/// The first place where device and replay disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The block: first and last tick, and what disagreed.
    pub from_tick: u64,
    pub to_tick: u64,
    pub what: String,
    /// The first tick at which a single word is known to differ, and the words.
    pub tick: Option<u64>,
    pub words: Vec<Word>,
}

/// What the comparison has said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Ticks whose digest was compared.
    pub compared_ticks: u64,
    pub equal_ticks: u64,
    /// Ticks that could not be compared: no snapshot to start from.
    pub waiting_ticks: u64,
    pub blocks: u64,
    pub snapshots: u64,
    pub differing_blocks: u64,
    /// Bits that differ in records and snapshots (a digest tells only that there are some).
    pub differing_bits: u64,
    pub first: Option<Difference>,
}

/// Follows one device.
pub struct Checker {
    replay: Replay,
    /// Setup of the last Hello: what a `Configure` order puts in force.
    setup: Setup,
    /// After a difference: the replay's own continuation, until a snapshot shows which words differ.
    lost: Option<Observers>,
    verdict: Verdict,
}

impl Checker {
    pub fn new(config: &Config) -> Self {
        Checker {
            replay: Replay::new(config),
            setup: Setup::new(config),
            lost: None,
            verdict: Verdict::default(),
        }
    }

    /// A further Hello of the same device: its configuration is in force from tick `since`.
    pub fn set_config(&mut self, config: &Config, since: u64) {
        self.replay.set_config(config, since);
        self.setup = Setup::new(config);
    }

    /// Another device, or the same one after a reset; the verdict goes on.
    pub fn restart(&mut self, config: &Config) {
        self.setup = Setup::new(config);
        self.replay = Replay::new(config);
        self.lost = None;
    }

    /// Ticks are missing: start again at the next snapshot.
    pub fn gap(&mut self) {
        self.replay.lose();
        self.lost = None;
    }

    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The observers after the last block, if they are known.
    pub fn observers(&self) -> Option<&Observers> {
        self.replay.observers()
    }

    pub fn block(&mut self, block: &Block) -> Check {
        self.verdict.blocks += 1;
        let ticks = u64::from(block.ticks);
        if block.snapshot_words > 0 && self.replay.observers().is_some() {
            self.verdict.snapshots += 1;
        }
        self.follow_lost(block);
        let before = self.replay.observers().copied();
        match self.replay.block(block) {
            Ok(Followed::Equal) => {
                self.verdict.compared_ticks += ticks;
                self.verdict.equal_ticks += ticks;
                Check::Equal
            }
            Ok(Followed::Waiting) => {
                self.verdict.waiting_ticks += ticks;
                Check::Waiting
            }
            Err(mismatch) => {
                self.verdict.compared_ticks += ticks;
                self.verdict.differing_blocks += 1;
                self.differs(block, &mismatch, before);
                Check::Differs
            }
        }
    }

    fn differs(&mut self, block: &Block, mismatch: &Mismatch, before: Option<Observers>) {
        let mut difference = Difference {
            from_tick: block.first_tick,
            to_tick: block.end_tick().saturating_sub(1),
            what: describe(mismatch),
            tick: None,
            words: Vec::new(),
        };
        match (mismatch, before) {
            (Mismatch::Snapshot { .. }, Some(mut own)) => {
                own.obey(block, self.setup);
                difference.tick = Some(block.first_tick);
                difference.words = snapshot_words(&own, block);
                self.verdict.differing_bits += bits(&difference.words);
            }
            (Mismatch::Record { .. } | Mismatch::Digest { .. }, Some(mut own)) => {
                own.obey(block, self.setup);
                let words = run(&mut own, block);
                self.verdict.differing_bits += words.iter().map(|(_, w)| bits1(w)).sum::<u64>();
                difference.tick = words.first().map(|(tick, _)| *tick);
                let first = difference.tick;
                let at_first = words.into_iter().filter(|(tick, _)| Some(*tick) == first);
                difference.words = at_first.map(|(_, word)| word).collect();
                self.lost = Some(own);
            }
            _ => {}
        }
        self.verdict.first.get_or_insert(difference);
    }

    /// Carry the differing replay on to the next snapshot, which names the words.
    fn follow_lost(&mut self, block: &Block) {
        let Some(mut own) = self.lost.take() else {
            return;
        };
        own.obey(block, self.setup);
        if block.snapshot_words == 0 {
            run(&mut own, block);
            self.lost = Some(own);
            return;
        }
        let words = snapshot_words(&own, block);
        self.verdict.differing_bits += bits(&words);
        if let Some(first) = &mut self.verdict.first
            && first.words.is_empty()
            && !words.is_empty()
        {
            first.tick = Some(block.first_tick);
            first.words = words;
        }
    }
}

fn describe(mismatch: &Mismatch) -> String {
    match mismatch {
        Mismatch::Snapshot { .. } => "snapshot differs".into(),
        Mismatch::Record { .. } => "record differs".into(),
        Mismatch::Digest { device, replay, .. } => {
            format!("digest differs: device {device:08x}, replay {replay:08x}")
        }
        Mismatch::Inconsistent { .. } => "the block's lengths contradict its head".into(),
        Mismatch::Words { found, known } => {
            format!("the snapshot has {found} words, this build's state has {known}")
        }
    }
}

/// Step through a block; words of its records that differ, with their ticks.
fn run(own: &mut Observers, block: &Block) -> Vec<(u64, Word)> {
    let mut records = block.records().peekable();
    let mut differing = Vec::new();
    let Ok(()) = own.follow(block, |own, tick| {
        while let Some((_, record)) = records.next_if(|(t, _)| *t == tick) {
            let pairs = match record {
                Record::States(device) => states(&device).into_iter().zip(states(&own.states())),
                Record::Params(device) => params(&device).into_iter().zip(params(&own.params())),
            };
            for ((field, device), (_, replay)) in pairs {
                if device != replay {
                    differing.push((
                        tick,
                        Word {
                            field,
                            device,
                            replay,
                        },
                    ));
                }
            }
        }
        Ok::<_, std::convert::Infallible>(())
    });
    differing
}

/// Words of the block's snapshot that differ from `own`.
fn snapshot_words(own: &Observers, block: &Block) -> Vec<Word> {
    let Some(device) = block.snapshot() else {
        return Vec::new();
    };
    let mut replay = Vec::new();
    own.state.save(&mut |w| replay.push(w));
    let mut names = Vec::with_capacity(replay.len());
    Observers::names(&mut |path| names.push(path.to_string()));
    let pairs = device.zip(replay).zip(names);
    pairs
        .filter(|((device, replay), _)| device != replay)
        .map(|((device, replay), field)| Word {
            field,
            device,
            replay,
        })
        .collect()
}

fn bits1(word: &Word) -> u64 {
    u64::from((word.device ^ word.replay).count_ones())
}

fn bits(words: &[Word]) -> u64 {
    words.iter().map(bits1).sum()
}

fn indexed(name: &str, values: &[f32]) -> Vec<(String, u32)> {
    let each = values.iter().enumerate();
    each.map(|(i, x)| (format!("{name}[{i}]"), x.to_bits()))
        .collect()
}

fn states(s: &States) -> Vec<(String, u32)> {
    [
        indexed("uas.q", &s.uas_q),
        indexed("uas.w", &s.uas_w),
        indexed("ekf.q", &s.ekf_q),
        indexed("ekf.w", &s.ekf_w),
    ]
    .concat()
}

fn params(p: &Params) -> Vec<(String, u32)> {
    let mut words = [
        indexed("uas.z", &p.z),
        indexed("ekf.p", &p.p),
        indexed("ekf.sigma", &p.sigma),
    ]
    .concat();
    words.push(("uas.k".into(), p.k.to_bits()));
    words.push(("uas.error".into(), p.error.to_bits()));
    words.push(("ekf.stage".into(), u32::from(p.stage)));
    words.push(("ekf.identifiable".into(), u32::from(p.identifiable)));
    words
}
