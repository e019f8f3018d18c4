//! The stream: up to [`MAX_TICKS`] consecutive ticks with both raw counts of every tick.
//!
//! | field | type | set by | meaning |
//! |---|---|---|---|
//! | seq | u32 | engine | +1 per block since reset; a jump is lost blocks |
//! | first_tick | u64 | engine | number of the block's first tick |
//! | skipped | u32 | engine | ticks that never happened (overrun) just before first_tick |
//! | order | enum | engine | what was applied between the previous tick and first_tick |
//! | phase | enum | engine | run phase before first_tick (after the order) |
//! | state_every, param_every | u16 | engine | a record exists for every tick divisible by them; 0 = never |
//! | base | \[u32; 2\] | engine | raw counter values at first_tick |
//! | ticks | u16 | engine | ticks in this block |
//! | digest | u32 | engine | over all state words after each of these ticks |
//! | snapshot_words | u16 | engine | words of the snapshot at the front of `data`; 0 = none |
//! | counts | bytes | engine | per further tick, per joint: varint zig-zag of the counter's difference |
//! | data | bytes | engine | snapshot (words LE), then per tick in order: state record, parameter record, if due |
//! | param_bytes | u16 | engine | size of a parameter record; absent in revision 1: 98 |
//!
//! State record, 32 B: UAS q0 q1 \[rad\], ω0 ω1 \[rad/s\], EKF q0 q1 ω0 ω1, f32 LE: what each expects at the next tick.
//! Parameter record, 139 B: UAS ẑ (10), k, |e| \[rad/s\]; EKF p (6), σ (6), f32 LE; EKF stage u8, identifiable mask u8; from revision 2 on
//! EKF rig errors (7), colour, drift (2), f32 LE, verdict u8. A driven rig's has 12 more (`param_bytes` 151): mode u8, saturated u8, duty
//! i16, torque u \[N·m\], reference \[rad\], f32 LE.
//!
//! A block ends after `block_ticks`, when the next tick might not fit, after a run transition, and before an order or a
//! gap is applied. So it never mixes configurations, and everything that changed the observers is either a count or an order.
//!
//! Rates: `tests/device/stream.rs` measures them against the link's budget.

use serde::{Deserialize, Serialize};

use super::bytes::{Bytes, take_word, take_zigzag};
use super::{Driven, Mode, Phase};
use crate::JOINTS;
use crate::number::verdict::Verdict;

/// Most ticks in a block.
pub const MAX_TICKS: u16 = 100;
/// Room for count differences; a tick takes 2 bytes on a swinging pendulum, 10 at worst.
pub const COUNT_BYTES: usize = 320;
/// Room for snapshot and records.
pub const DATA_BYTES: usize = 2688;
/// Size of a state record.
pub const STATE_BYTES: usize = 32;
/// Size of a parameter record, and as it was in revision 1.
pub const PARAM_BYTES: usize = 139;
const PARAM_BYTES_1: usize = 98;
/// Size of a parameter record of a driven rig.
pub const PARAM_BYTES_DRIVEN: usize = PARAM_BYTES + 12;

/// What may be applied between two ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    #[default]
    Nothing,
    /// Go to armed.
    Arm,
    /// Go to idle.
    Stop,
    /// The present position becomes the encoders' zero.
    Zero,
    /// A new configuration: the one of the next Hello.
    Configure,
    /// Only a snapshot, nothing else changes.
    Snapshot,
    /// The drive's mode and signal are those in the snapshot.
    Drive,
    /// A plan came: the next one in the snapshot.
    Plan,
}

/// See the module header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub seq: u32,
    pub first_tick: u64,
    pub skipped: u32,
    pub order: Order,
    pub phase: Phase,
    pub state_every: u16,
    pub param_every: u16,
    pub base: [u32; JOINTS],
    pub ticks: u16,
    pub digest: u32,
    pub snapshot_words: u16,
    pub counts: Bytes<COUNT_BYTES>,
    pub data: Bytes<DATA_BYTES>,
    pub param_bytes: u16,
}

/// States of both observers after a tick: what they expect at the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct States {
    /// UAS angles \[rad\] and velocities \[rad/s\].
    pub uas_q: [f32; JOINTS],
    pub uas_w: [f32; JOINTS],
    /// EKF angles \[rad\] and velocities \[rad/s\].
    pub ekf_q: [f32; JOINTS],
    pub ekf_w: [f32; JOINTS],
}

/// Parameters of both observers after a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// UAS parameters ẑ: μd μs μv vt Fnt of joint 0, then of joint 1.
    pub z: [f32; 10],
    /// UAS gain k.
    pub k: f32,
    /// UAS velocity error |e| \[rad/s\].
    pub error: f32,
    /// EKF parameters: μd μv d of joint 0, then of joint 1.
    pub p: [f32; 6],
    /// Their standard deviations.
    pub sigma: [f32; 6],
    /// EKF stage: 0 agnostic, 1 momentum balance ready, 2 joint filter.
    pub stage: u8,
    /// Bit i: parameter p\[i\] is identifiable from this run's data so far.
    pub identifiable: u8,
    /// Errors of the rig file: zeros of both encoders \[rad\], tilt \[rad\], relative: arm inertia, pendulum inertia, arm length, arm
    /// gravity.
    pub rig: [f32; 7],
    /// Colour of the innovations, 1 for white ones; 0 before it is known.
    pub colour: f32,
    /// Drift of each joint's estimates \[σ\].
    pub drift: [f32; JOINTS],
    /// Whether the model explains this run's data so far.
    pub verdict: Verdict,
    /// The motor, on a driven rig.
    pub drive: Option<Driven>,
}

impl Block {
    /// An empty block, usable as a static.
    pub const EMPTY: Self = Block {
        seq: 0,
        first_tick: 0,
        skipped: 0,
        order: Order::Nothing,
        phase: Phase::Idle,
        state_every: 0,
        param_every: 0,
        base: [0; JOINTS],
        ticks: 0,
        digest: 0,
        snapshot_words: 0,
        counts: Bytes::new(),
        data: Bytes::new(),
        param_bytes: PARAM_BYTES as u16,
    };

    /// Number of the tick after the last one.
    pub fn end_tick(&self) -> u64 {
        self.first_tick.wrapping_add(self.ticks as u64)
    }

    /// Size of a parameter record of this block's revision.
    fn param_bytes(&self) -> usize {
        match self.param_bytes {
            0 => PARAM_BYTES_1,
            n => usize::from(n),
        }
    }

    /// Raw counter values, one pair per tick. Ends early only if the block is inconsistent ([`Block::is_consistent`]).
    pub fn counts(&self) -> impl Iterator<Item = [u32; JOINTS]> + '_ {
        let mut rest = &self.counts[..];
        let mut at = self.base;
        (0..self.ticks).map_while(move |i| {
            if i > 0 {
                for c in &mut at {
                    *c = c.wrapping_add(take_zigzag(&mut rest)? as u32);
                }
            }
            Some(at)
        })
    }

    /// State words before the first tick (after the order), if this block carries them.
    pub fn snapshot(&self) -> Option<impl ExactSizeIterator<Item = u32> + Clone + '_> {
        let bytes = self.data.get(..4 * self.snapshot_words as usize)?;
        let (words, _) = bytes.as_chunks::<4>();
        (!words.is_empty()).then(|| words.iter().map(|w| u32::from_le_bytes(*w)))
    }

    /// State and parameter records with the tick they belong to, in order.
    pub fn records(&self) -> Records<'_> {
        Records {
            rest: self
                .data
                .get(4 * self.snapshot_words as usize..)
                .unwrap_or(&[]),
            block: self,
            offset: 0,
        }
    }

    /// The records as sent.
    pub fn record_bytes(&self) -> &[u8] {
        self.records().rest
    }

    /// Whether counts and records have exactly the length that ticks, snapshot_words and the decimations call for.
    pub fn is_consistent(&self) -> bool {
        let mut rest = &self.counts[..];
        let deltas = (self.ticks as usize).saturating_sub(1) * JOINTS;
        let whole = (0..deltas).all(|_| take_zigzag(&mut rest).is_some()) && rest.is_empty();
        let records: usize = (0..self.ticks as u64)
            .map(|i| {
                let tick = self.first_tick.wrapping_add(i);
                let state = if due(tick, self.state_every) {
                    STATE_BYTES
                } else {
                    0
                };
                let param = if due(tick, self.param_every) {
                    self.param_bytes()
                } else {
                    0
                };
                state + param
            })
            .sum();
        whole
            && self.ticks <= MAX_TICKS
            && self.data.len() == 4 * self.snapshot_words as usize + records
    }
}

/// Whether a record decimated by `every` belongs to `tick`.
#[inline(always)]
pub fn due(tick: u64, every: u16) -> bool {
    every != 0 && tick.is_multiple_of(every as u64)
}

/// One record of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
    States(States),
    Params(Params),
}

/// Iterator of [`Block::records`]: (tick, record).
#[derive(Clone)]
pub struct Records<'a> {
    block: &'a Block,
    rest: &'a [u8],
    /// Next candidate: tick offset · 2 + (0 state, 1 parameters).
    offset: u32,
}

impl Iterator for Records<'_> {
    type Item = (u64, Record);

    fn next(&mut self) -> Option<Self::Item> {
        while self.offset < 2 * self.block.ticks as u32 {
            let tick = self.block.first_tick.wrapping_add((self.offset / 2) as u64);
            let state = self.offset.is_multiple_of(2);
            self.offset += 1;
            if state && due(tick, self.block.state_every) {
                return Some((tick, Record::States(take_states(&mut self.rest)?)));
            }
            if !state && due(tick, self.block.param_every) {
                let (mut record, rest) = self.rest.split_at_checked(self.block.param_bytes())?;
                self.rest = rest;
                return Some((tick, Record::Params(take_params(&mut record)?)));
            }
        }
        None
    }
}

fn take_floats<const N: usize>(rest: &mut &[u8]) -> Option<[f32; N]> {
    let mut out = [0.0; N];
    for x in &mut out {
        *x = f32::from_bits(take_word(rest)?);
    }
    Some(out)
}

fn take_states(rest: &mut &[u8]) -> Option<States> {
    Some(States {
        uas_q: take_floats(rest)?,
        uas_w: take_floats(rest)?,
        ekf_q: take_floats(rest)?,
        ekf_w: take_floats(rest)?,
    })
}

fn take_params(rest: &mut &[u8]) -> Option<Params> {
    let z = take_floats(rest)?;
    let [k, error] = take_floats(rest)?;
    let p = take_floats(rest)?;
    let sigma = take_floats(rest)?;
    let (&[stage, identifiable], tail) = rest.split_first_chunk::<2>()?;
    *rest = tail;
    // What revision 1 did not have stays zero.
    let rig = take_floats(rest).unwrap_or_default();
    let colour = take_floats(rest).map_or(0.0, |[x]| x);
    let drift = take_floats(rest).unwrap_or_default();
    let verdict = rest.first().map_or(0, |v| u32::from(*v));
    *rest = rest.get(1..).unwrap_or(&[]);
    Some(Params {
        z,
        k,
        error,
        p,
        sigma,
        stage,
        identifiable,
        rig,
        colour,
        drift,
        verdict: Verdict::from_number(verdict).unwrap_or_default(),
        drive: take_driven(rest),
    })
}

fn take_driven(rest: &mut &[u8]) -> Option<Driven> {
    let (&[mode, saturated, low, high], tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    let [u, reference] = take_floats(rest)?;
    Some(Driven {
        mode: Mode::from_number(u32::from(mode)).unwrap_or_default(),
        saturated: saturated != 0,
        duty: i16::from_le_bytes([low, high]),
        u,
        reference,
    })
}

impl States {
    /// Append to a block's data.
    #[inline(always)]
    pub fn put<const N: usize>(&self, data: &mut Bytes<N>) {
        let States {
            uas_q,
            uas_w,
            ekf_q,
            ekf_w,
        } = self;
        let words = [
            uas_q[0], uas_q[1], uas_w[0], uas_w[1], ekf_q[0], ekf_q[1], ekf_w[0], ekf_w[1],
        ];
        data.push_words(words.map(f32::to_bits));
    }
}

impl Params {
    /// Append to a block's data.
    #[inline(always)]
    pub fn put<const N: usize>(&self, data: &mut Bytes<N>) {
        data.push_words(self.z.map(f32::to_bits));
        data.push_words([self.k, self.error].map(f32::to_bits));
        data.push_words(self.p.map(f32::to_bits));
        data.push_words(self.sigma.map(f32::to_bits));
        data.push(self.stage);
        data.push(self.identifiable);
        data.push_words(self.rig.map(f32::to_bits));
        data.push_word(self.colour.to_bits());
        data.push_words(self.drift.map(f32::to_bits));
        data.push(self.verdict as u8);
        if let Some(drive) = &self.drive {
            data.push(drive.mode as u8);
            data.push(u8::from(drive.saturated));
            let [low, high] = drive.duty.to_le_bytes();
            data.push(low);
            data.push(high);
            data.push_word(drive.u.to_bits());
            data.push_word(drive.reference.to_bits());
        }
    }
}
