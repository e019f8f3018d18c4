//! Tick side: one call per tick, counts in, blocks and notes out.
//!
//! Deadline: within one tick period, at the highest priority. Work per tick is bounded: both observers, one hash over
//! all state words, at most one block closed and one opened. Overrun: the caller says how many ticks never
//! happened; numbering jumps, the block ends, the next one says `skipped`, and the observers are brought over the gap.
//! Overload: ticks that on average take longer than the limit of the [`Guard`] end the run (order: stop, in the block like any
//! other, so replay follows), because an interrupt that takes all the time silences the link until the watchdog bites.

use super::button::{self, Button, Press};
use super::guard::Guard;
use super::{Note, Outbox, Request, Vitals};
use super::{Observers, Setup};
use crate::JOINTS;
use crate::device::digest::Digest;
use crate::device::run::{Cause, Phase, Transition};
use crate::model::motor::Duty;
use crate::wire::block::{MAX_TICKS, Order, STATE_BYTES};
use crate::wire::{Block, Drive, Event, Mode, Plan, Trip, What};

/// What the hardware says at a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Input {
    /// Both hardware counters, latched together.
    pub counts: [u32; JOINTS],
    /// Ticks that never happened since the previous one.
    pub missed: u32,
    /// The user button is down. Released within a second: arm, or stop if armed or swinging. Held longer: zero.
    pub button: bool,
    /// Processor cycles the previous tick took, for the [`Guard`]; 0: not measured.
    pub cycles: u32,
    /// The bridge's fault line, or a limit switch, has turned the outputs off.
    pub bridge_fault: bool,
}

/// Most bytes one tick can add to a block's counts.
const TICK_COUNT_BYTES: usize = 5 * JOINTS;

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
    /// Ticks of silence left to the host while driving.
    patience: u32,
    /// The motor is to be turned off as soon as an order can be given; its output is off already.
    tripped: Option<Trip>,
    /// The button has stopped the motor and is still down.
    button_used: bool,
    button: Button,
    guard: Guard,
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
            patience: 0,
            tripped: None,
            button_used: false,
            button: Button::default(),
            guard: Guard::OFF,
            vitals: Vitals::default(),
            next_vitals: setup.tick_hz as u64,
            flags: [0; JOINTS],
        }
    }

    /// Ticks are to take at most `limit` cycles on average ([`Input::cycles`]).
    pub fn guard(&mut self, limit: u32) {
        self.guard = Guard::new(limit);
    }

    pub fn observers(&self) -> &Observers {
        &self.observers
    }

    /// For lamps.
    pub fn phase(&self) -> Phase {
        self.observers.phase()
    }

    /// The duty to apply from the next tick on; `None`: the bridge off, at once.
    #[inline(always)]
    pub fn output(&self) -> Option<Duty> {
        match self.tripped {
            Some(_) => None,
            None => self.observers.output(),
        }
    }

    /// Number of the next tick.
    pub fn next_tick(&self) -> u64 {
        self.tick
    }

    /// Apply a request before the next tick; gives back the setup that is no longer needed, if one came with it.
    pub fn apply<'a>(
        &mut self,
        request: Request<'a>,
        out: &mut impl Outbox,
    ) -> Option<&'a mut Setup> {
        match request {
            Request::Arm { id, cause } => self.go(Some(id), Phase::Armed, cause, out),
            Request::Stop { id, cause } => self.go(Some(id), Phase::Idle, cause, out),
            Request::Zero { id, cause } => self.zero(Some(id), cause, out),
            Request::Configure { id, setup } => {
                self.configure(id, setup, out);
                return Some(setup);
            }
            Request::Drive { id, drive } => self.drive(id, &drive, out),
            Request::Plan { id, plan } => self.plan(id, &plan, out),
            Request::Beat => self.patience = self.longest_silence(),
            Request::Snapshot => {
                self.close(out);
                self.begin(Order::Snapshot, 0, out);
            }
        }
        None
    }

    fn configure(&mut self, id: u16, setup: &mut Setup, out: &mut impl Outbox) {
        let tick = self.tick;
        let from = self.observers.phase();
        if matches!(from, Phase::Swinging | Phase::Driving) {
            self.note(Note::NotConfigured { id, tick }, out);
            return;
        }
        self.close(out);
        self.observers.configure(setup);
        self.vitals.config_since = tick;
        self.next_vitals = tick + self.observers.setup().tick_hz as u64;
        self.align_records();
        self.begin(Order::Configure, 0, out);
        self.event(What::Configured, out);
        let to = self.observers.phase();
        if from != to {
            let cause = Cause::Device;
            self.transition(Transition { from, to, cause }, out);
        }
        self.note(Note::Configured { id, tick }, out);
        if let Some(zero) = self.observers.zeroed() {
            let cause = Cause::Device;
            self.event(What::Zeroed { cause, zero }, out);
        }
    }

    fn longest_silence(&self) -> u32 {
        let drive = self.observers.setup().drive();
        drive.map_or(0, |d| d.heartbeat_ticks)
    }

    /// Arm the motor, or change its mode.
    #[cold]
    #[inline(never)]
    fn drive(&mut self, id: u16, drive: &Drive, out: &mut impl Outbox) {
        let cause = Cause::Host;
        if drive.mode == Mode::Off {
            self.go(Some(id), Phase::Idle, cause, out);
            return;
        }
        let tick = self.tick;
        self.close(out);
        let Some(transition) = self.observers.drive(drive, cause) else {
            self.note(Note::NotDrivable { id, tick }, out);
            return;
        };
        self.tripped = None;
        self.patience = self.longest_silence();
        self.begin(Order::Drive, 0, out);
        let (mode, trip) = (drive.mode, Trip::None);
        self.event(What::Drive { mode, trip }, out);
        if let Some(transition) = transition {
            self.transition(transition, out);
        }
        self.accepted(Some(id), out);
    }

    #[cold]
    #[inline(never)]
    fn plan(&mut self, id: u16, plan: &Plan, out: &mut impl Outbox) {
        let tick = self.tick;
        self.close(out);
        if !self.observers.plan(tick, plan) {
            self.note(Note::NotPlanning { id, tick }, out);
            return;
        }
        self.begin(Order::Plan, 0, out);
        self.accepted(Some(id), out);
    }

    /// Turn the motor off for a cause outside the observers.
    #[cold]
    #[inline(never)]
    fn trip(&mut self, trip: Trip, out: &mut impl Outbox) {
        self.tripped = None;
        self.vitals.drive.trips = self.vitals.drive.trips.wrapping_add(1);
        self.vitals.drive.last = trip;
        self.go(None, Phase::Idle, Cause::Device, out);
        let mode = Mode::Off;
        self.event(What::Drive { mode, trip }, out);
    }

    /// While driving: what the hardware and the host's silence say.
    #[inline(always)]
    fn watch(&mut self, input: &Input) {
        self.patience = self.patience.saturating_sub(1);
        let most = self.observers.setup().drive().map_or(0, |d| d.missed);
        let trip = if input.bridge_fault {
            Trip::Bridge
        } else if input.button {
            self.button_used = true;
            Trip::Button
        } else if input.missed > most {
            Trip::Overrun
        } else if self.patience == 0 {
            Trip::Heartbeat
        } else {
            return;
        };
        self.tripped = Some(trip);
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

    /// Refuse a request while swinging or driving.
    fn refused(&mut self, id: Option<u16>, out: &mut impl Outbox) -> bool {
        let phase = self.observers.phase();
        let busy = matches!(phase, Phase::Swinging | Phase::Driving);
        if let (true, Some(id)) = (busy, id) {
            let tick = self.tick;
            let note = match phase {
                Phase::Driving => Note::IsDriving { id, tick },
                _ => Note::Refused { id, tick },
            };
            self.note(note, out);
        }
        busy
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
        if self.observers.output().is_some() {
            self.watch(&input);
        }
        if self.guard.step(input.cycles) {
            self.overload(input.cycles, out);
        }
        if input.missed > 0 {
            self.overrun(input, out);
        } else {
            if let Some(trip) = self.tripped {
                self.trip(trip, out);
            }
            self.press(input.button, out);
        }
        if !self.open {
            self.begin(Order::Nothing, 0, out);
        }

        let tick = self.tick;
        let transition = self.observers.step(tick, input.counts);
        self.observers.digest(&mut self.digest);
        self.append(input.counts, out.block());

        self.tick = tick + 1;
        self.report(restarts, out);
        let full = self.is_full(out.block());
        if let Some(transition) = transition {
            if transition.from == Phase::Driving {
                let (mode, trip) = (Mode::Off, self.observers.trip());
                self.event(What::Drive { mode, trip }, out);
            }
            self.transition(transition, out);
            self.close(out);
        } else if full {
            self.close(out);
        }
    }

    /// The ticks take too long: end the run. Idle, the observers are only held.
    #[cold]
    #[inline(never)]
    fn overload(&mut self, cycles: u32, out: &mut impl Outbox) {
        self.vitals.overloads = self.vitals.overloads.wrapping_add(1);
        if self.observers.output().is_some() {
            self.vitals.drive.trips = self.vitals.drive.trips.wrapping_add(1);
            self.vitals.drive.last = Trip::Overrun;
        }
        if self.phase() != Phase::Idle {
            let limit = self.guard.limit();
            self.event(What::Overloaded { cycles, limit }, out);
            self.go(None, Phase::Idle, Cause::Device, out);
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
    fn press(&mut self, down: bool, out: &mut impl Outbox) {
        let tick_hz = self.observers.setup().tick_hz;
        self.button_used &= down;
        let down = down && !self.button_used;
        match button::step(tick_hz, &mut self.button, down) {
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
            || block.data.room() < STATE_BYTES + self.observers.setup().param_bytes()
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
        block.param_bytes = self.observers.setup().param_bytes() as u16;
        if order != Order::Nothing || self.tick >= self.next_snapshot {
            self.next_snapshot = self.tick + stream.snapshot_every as u64;
            self.observers.snapshot(block);
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

    #[cold]
    #[inline(never)]
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
            self.observers.state.ekf.counters.restarts,
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
            self.tell_vitals(out);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_vitals(&mut self, out: &mut impl Outbox) {
        self.next_vitals = self.tick + self.observers.setup().tick_hz as u64;
        self.vitals.tick = self.tick;
        self.vitals.encoder_faults = self.observers.encoder_faults();
        self.vitals.uas_floored = self.observers.state.uas.floored;
        self.vitals.ekf = self.observers.state.ekf.counters;
        self.vitals.ekf_verdict = self.observers.verdict();
        let control = &self.observers.control;
        let mut vitals = self.vitals;
        vitals.drive.mode = control.mode;
        vitals.drive.trips = vitals.drive.trips.wrapping_add(control.trips);
        if vitals.drive.last == Trip::None {
            vitals.drive.last = control.last;
        }
        vitals.drive.saturated = control.saturated_ticks;
        vitals.drive.late_plans = control.plan.late;
        self.note(Note::Vitals(vitals), out);
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
