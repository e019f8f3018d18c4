//! Tick side: one call per tick, counts in, blocks and notes out.
//!
//! Deadline: within one tick period, at the highest priority. Work per tick is bounded: both observers, one hash over
//! all state words, at most one block closed and one opened. Overrun: the caller says how many ticks never
//! happened; numbering jumps, the block ends, the next one says `skipped`, and the observers are brought over the gap.

use super::button::{Button, Press};
use super::{Note, Outbox, Request, Vitals};
use super::{Observers, Setup};
use crate::digest::Digest;
use crate::plant::JOINTS;
use crate::run::{Cause, Phase, Transition};
use crate::state::State as _;
use crate::wire::block::{MAX_TICKS, Order, PARAM_BYTES, STATE_BYTES};
use crate::wire::{Block, Event, What};

/// What the hardware says at a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Input {
    /// Both hardware counters, latched together.
    pub counts: [u32; JOINTS],
    /// Ticks that never happened since the previous one.
    pub missed: u32,
    /// The user button is down. Released within a second: arm, or stop if armed or swinging. Held longer: zero.
    pub button: bool,
}

/// Most bytes one tick can add to a block's counts and to its data.
const TICK_COUNT_BYTES: usize = 5 * JOINTS;
const TICK_DATA_BYTES: usize = STATE_BYTES + PARAM_BYTES;

/// Tick-side state.
pub struct Engine {
    observers: Observers,
    digest: Digest,
    /// Number of the next tick.
    tick: u64,
    seq: u32,
    /// Counters at the previous tick of this block.
    last: [u32; JOINTS],
    /// The block in the outbox has been begun.
    open: bool,
    states_due: Every,
    params_due: Every,
    next_snapshot: u64,
    button: Button,
    vitals: Vitals,
    next_vitals: u64,
    /// Fault flags already reported.
    flags: [u8; JOINTS],
}

impl Engine {
    pub fn new(setup: Setup) -> Self {
        Engine {
            observers: Observers::new(setup),
            digest: Digest::START,
            tick: 0,
            seq: 0,
            last: [0; JOINTS],
            open: false,
            states_due: Every::new(setup.stream.state_every, 0),
            params_due: Every::new(setup.stream.param_every, 0),
            next_snapshot: 0,
            button: Button::default(),
            vitals: Vitals::default(),
            next_vitals: setup.tick_hz as u64,
            flags: [0; JOINTS],
        }
    }

    pub fn observers(&self) -> &Observers {
        &self.observers
    }

    /// For lamps.
    pub fn phase(&self) -> Phase {
        self.observers.phase()
    }

    /// Number of the next tick.
    pub fn next_tick(&self) -> u64 {
        self.tick
    }

    /// Apply a request before the next tick.
    pub fn apply(&mut self, request: Request, out: &mut impl Outbox) {
        match request {
            Request::Arm { id, cause } => self.go(Some(id), Phase::Armed, cause, out),
            Request::Stop { id, cause } => self.go(Some(id), Phase::Idle, cause, out),
            Request::Zero { id, cause } => self.zero(Some(id), cause, out),
            Request::Configure { id, setup } => {
                if self.refused(Some(id), out) {
                    return;
                }
                self.close(out);
                let from = self.observers.phase();
                self.observers.configure(setup);
                self.next_vitals = self.tick + setup.tick_hz as u64;
                self.align_records();
                self.begin(Order::Configure, 0, out);
                self.event(What::Configured, out);
                let to = self.observers.phase();
                if from != to {
                    let cause = Cause::Device;
                    self.transition(Transition { from, to, cause }, out);
                }
                self.accepted(Some(id), out);
                if let Some(zero) = self.observers.zeroed() {
                    let cause = Cause::Device;
                    self.event(What::Zeroed { cause, zero }, out);
                }
            }
            Request::Snapshot => {
                self.close(out);
                self.begin(Order::Snapshot, 0, out);
            }
        }
    }

    fn go(&mut self, id: Option<u16>, to: Phase, cause: Cause, out: &mut impl Outbox) {
        if to == Phase::Armed && self.refused(id, out) {
            return;
        }
        self.close(out);
        let transition = self.observers.go(to, cause);
        let order = if to == Phase::Armed {
            Order::Arm
        } else {
            Order::Stop
        };
        self.begin(order, 0, out);
        if let Some(transition) = transition {
            self.transition(transition, out);
        }
        self.accepted(id, out);
    }

    fn zero(&mut self, id: Option<u16>, cause: Cause, out: &mut impl Outbox) {
        if self.refused(id, out) {
            return;
        }
        self.close(out);
        let zero = self.observers.zero();
        self.begin(Order::Zero, 0, out);
        self.event(What::Zeroed { cause, zero }, out);
        self.accepted(id, out);
    }

    /// Refuse a request while swinging.
    fn refused(&mut self, id: Option<u16>, out: &mut impl Outbox) -> bool {
        let swinging = self.observers.phase() == Phase::Swinging;
        if let (true, Some(id)) = (swinging, id) {
            let tick = self.tick;
            self.note(Note::Refused { id, tick }, out);
        }
        swinging
    }

    fn accepted(&mut self, id: Option<u16>, out: &mut impl Outbox) {
        if let Some(id) = id {
            let tick = self.tick;
            self.note(Note::Accepted { id, tick }, out);
        }
    }

    /// One tick.
    #[inline]
    pub fn tick(&mut self, input: Input, out: &mut impl Outbox) {
        let restarts = self.restarts();
        if input.missed > 0 {
            self.overrun(input, out);
        } else {
            self.press(input.button, out);
        }
        if !self.open {
            self.begin(Order::Nothing, 0, out);
        }

        let tick = self.tick;
        let transition = self.observers.step(tick, input.counts);
        self.digest.state(&self.observers.state);
        self.append(input.counts, out.block());

        self.tick = tick + 1;
        self.report(restarts, out);
        let full = self.is_full(out.block());
        if let Some(transition) = transition {
            self.transition(transition, out);
            self.close(out);
        } else if full {
            self.close(out);
        }
    }

    /// Number the ticks that never happened, in a block of its own beginning, and bring the observers over the gap.
    #[cold]
    #[inline(never)]
    fn overrun(&mut self, Input { counts, missed, .. }: Input, out: &mut impl Outbox) {
        self.close(out);
        self.tick += missed as u64;
        self.align_records();
        self.begin(Order::Nothing, missed, out);
        self.event(What::Overrun { missed }, out);
        self.observers.bridge(counts, missed);
    }

    /// Not in a tick after missed ones: an order would end the block that bridges the gap before its first count.
    #[inline(always)]
    fn press(&mut self, button: bool, out: &mut impl Outbox) {
        match self.button.update(button, self.observers.setup().tick_hz) {
            Press::None => {}
            Press::Short if matches!(self.phase(), Phase::Armed | Phase::Swinging) => {
                self.go(None, Phase::Idle, Cause::Button, out);
            }
            Press::Short => self.go(None, Phase::Armed, Cause::Button, out),
            Press::Long => self.zero(None, Cause::Button, out),
        }
    }

    /// Add this tick's counts and records to the block.
    #[inline(always)]
    fn append(&mut self, counts: [u32; JOINTS], block: &mut Block) {
        if block.ticks == 0 {
            block.base = counts;
        } else {
            for (count, last) in counts.iter().zip(self.last) {
                block.counts.push_zigzag(count.wrapping_sub(last) as i32);
            }
        }
        self.last = counts;
        block.ticks += 1;
        if self.states_due.next() {
            self.observers.states().put(&mut block.data);
        }
        if self.params_due.next() {
            self.observers.params().put(&mut block.data);
        }
    }

    /// After a jump of the tick number or of the decimations.
    fn align_records(&mut self) {
        let stream = &self.observers.setup().stream;
        self.states_due = Every::new(stream.state_every, self.tick);
        self.params_due = Every::new(stream.param_every, self.tick);
    }

    #[inline(always)]
    fn is_full(&self, block: &Block) -> bool {
        // A configuration in RAM may be hit by a flipped bit; no reader takes longer blocks.
        block.ticks >= self.observers.setup().stream.block_ticks.min(MAX_TICKS)
            || block.counts.room() < TICK_COUNT_BYTES
            || block.data.room() < TICK_DATA_BYTES
    }

    /// Start filling the outbox's block.
    fn begin(&mut self, order: Order, skipped: u32, out: &mut impl Outbox) {
        let stream = &self.observers.setup().stream;
        let block = out.block();
        block.seq = self.seq;
        block.first_tick = self.tick;
        block.skipped = skipped;
        block.order = order;
        block.phase = self.observers.phase();
        block.state_every = stream.state_every;
        block.param_every = stream.param_every;
        block.base = [0; JOINTS];
        block.ticks = 0;
        block.digest = 0;
        block.counts.clear();
        block.data.clear();
        block.snapshot_words = 0;
        if order != Order::Nothing || self.tick >= self.next_snapshot {
            self.next_snapshot = self.tick + stream.snapshot_every as u64;
            self.observers.state.save(&mut |w| block.data.push_word(w));
            block.snapshot_words = (block.data.len() / 4) as u16;
        }
        self.digest = Digest::START;
        self.open = true;
    }

    /// Hand over the block, if one was begun.
    fn close(&mut self, out: &mut impl Outbox) {
        if !self.open {
            return;
        }
        self.open = false;
        out.block().digest = self.digest.finish();
        self.seq = self.seq.wrapping_add(1);
        if !out.submit() {
            self.vitals.lost_blocks = self.vitals.lost_blocks.wrapping_add(1);
        }
    }

    fn transition(&mut self, t: Transition, out: &mut impl Outbox) {
        let Transition { from, to, cause } = t;
        let initial = (to == Phase::Swinging).then(|| self.observers.initial());
        self.event(
            What::Run {
                from,
                to,
                cause,
                initial,
            },
            out,
        );
    }

    fn event(&mut self, what: What, out: &mut impl Outbox) {
        let tick = self.tick;
        self.note(Note::Event(Event { tick, what }), out);
    }

    fn note(&mut self, note: Note, out: &mut impl Outbox) {
        if !out.note(note) {
            self.vitals.lost_notes = self.vitals.lost_notes.wrapping_add(1);
        }
    }

    fn restarts(&self) -> [u32; 2] {
        [
            self.observers.state.uas.restarts,
            self.observers.state.ekf.restarts,
        ]
    }

    /// Faults of this tick, and once per second the counters.
    fn report(&mut self, [uas, ekf]: [u32; 2], out: &mut impl Outbox) {
        let [uas_total, ekf_total] = self.restarts();
        if uas_total != uas {
            self.vitals.uas_restarts = self.vitals.uas_restarts.wrapping_add(1);
            let total = self.vitals.uas_restarts;
            self.event(What::UasRestart { total }, out);
        }
        if ekf_total != ekf {
            self.vitals.ekf_restarts = self.vitals.ekf_restarts.wrapping_add(1);
            let total = self.vitals.ekf_restarts;
            self.event(What::EkfRestart { total }, out);
        }
        let before = self.flags;
        self.flags = self.observers.encoder_flags();
        for (joint, (now, before)) in (0..).zip(self.flags.into_iter().zip(before)) {
            let flags = now & !before;
            if flags != 0 {
                self.event(What::EncoderFault { joint, flags }, out);
            }
        }
        if self.tick >= self.next_vitals {
            self.next_vitals = self.tick + self.observers.setup().tick_hz as u64;
            self.vitals.tick = self.tick;
            self.vitals.encoder_faults = self.observers.encoder_faults();
            self.note(Note::Vitals(self.vitals), out);
        }
    }
}

/// "The tick number is divisible by `every`", by counting: no 64-bit division in the tick.
#[derive(Clone, Copy, Debug)]
struct Every {
    every: u16,
    left: u16,
}

impl Every {
    fn new(every: u16, tick: u64) -> Self {
        let over = match every {
            0 => 0,
            n => (tick % n as u64) as u16,
        };
        let left = if over == 0 { 0 } else { every - over };
        Every { every, left }
    }

    #[inline(always)]
    fn next(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.left = self.every.saturating_sub(1);
        self.every != 0
    }
}
