//! What the device computes from counts: encoders, run logic, both observers. Nothing about blocks, queues or bytes.
//!
//! [`Setup`] is the configuration in built form and never changes during a run; [`State`] is every bit that is
//! remembered, and what digest and snapshot cover. `step(&setup, &mut state, input)`: the same on chip, in the twin and
//! in replay.

use crate::JOINTS;
use crate::control::{self, Control};
use crate::device::config::{Config, Stream};
use crate::device::digest::Digest;
use crate::device::run::{self, Cause, Drive, Phase, Run, Transition};
use crate::impl_words;
use crate::model::joint::Joint;
use crate::model::motor::{Applied, Duty};
use crate::number::verdict::Verdict;
use crate::number::words::{Path, Put, Words as _};
use crate::observer::ekf::{self, Ekf};
use crate::observer::encoder::{self, Channel};
use crate::observer::uas::{self, Uas};
use crate::observer::wiring::{self, Wiring};
use crate::wire::Initial;
use crate::wire::block::{Block, Order, PARAM_BYTES, PARAM_BYTES_DRIVEN, Params, States};
use crate::wire::{Drive as Driving, Mode, Plan, Trip};

/// A longer gap than this cannot be bridged: both observers start again \[s\].
const LONGEST_BRIDGE_S: f32 = 0.02;

/// The configuration, built: constants computed once, outside the tick.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub(super) tick_hz: u32,
    pub(super) stream: Stream,
    encoders: [encoder::Config; JOINTS],
    joints: [Joint; JOINTS],
    /// Counts from zero to where it hangs at rest.
    rest: [i32; JOINTS],
    /// Joint 1 exists; otherwise its count is ignored.
    second_joint: bool,
    run: Run,
    uas: Uas<f32>,
    ekf: Ekf<f32>,
    wiring: Wiring<f32>,
    drive: Option<Control>,
    /// Words of a snapshot.
    words: usize,
}

impl Setup {
    /// Of a validated configuration.
    pub fn new(config: &Config) -> Self {
        let dt_s = config.dt_s();
        let joints = config.plant.joints();
        let [e0, e1] = &config.encoders;
        let quantum = config.quantum();
        let [q0, q1] = config.plant.rest();
        let rest = [e0.counts_at(joints[0], q0), e1.counts_at(joints[1], q1)];
        let mut encoders = config.encoders;
        let second_joint = config.plant.dof() == JOINTS;
        let plant = config.moved_plant();
        if !second_joint {
            // No second joint that must move with the first.
            encoders.iter_mut().for_each(|e| e.stuck_travel = 0);
        }
        let mut words = 0;
        State::names(&Path::Root, &mut |_| words += 1);
        if config.drive.is_some() {
            control::State::names(&Path::Root, &mut |_| words += 1);
        }
        Setup {
            words,
            tick_hz: config.tick_hz,
            stream: config.stream,
            encoders,
            joints,
            rest,
            second_joint,
            run: Run::new(&config.run, config.tick_hz),
            uas: Uas::new(&plant, &config.uas, &config.tracker, dt_s),
            ekf: Ekf::new(&plant, &config.ekf, dt_s, quantum),
            wiring: Wiring::new(&plant),
            drive: config
                .drive
                .as_ref()
                .map(|d| Control::new(d, &config.plant, config.tick_hz, quantum)),
        }
    }

    /// Words in a snapshot.
    pub fn word_count(&self) -> usize {
        self.words
    }

    /// What controls the motor; none on a passive rig.
    pub fn drive(&self) -> Option<&Control> {
        self.drive.as_ref()
    }

    /// Size of a parameter record.
    pub(super) fn param_bytes(&self) -> usize {
        match self.drive {
            Some(_) => PARAM_BYTES_DRIVEN,
            None => PARAM_BYTES,
        }
    }
}

/// Every bit the device remembers about the pendulum.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub encoders: [Channel; JOINTS],
    /// Unwrapped counts that are angle zero: by configuration, and as last zeroed.
    configured_zero: [i32; JOINTS],
    pub zero: [i32; JOINTS],
    pub run: run::State,
    pub uas: uas::State<f32>,
    pub ekf: ekf::State<f32>,
    pub wiring: wiring::State<f32>,
}
impl_words!(State {
    encoders,
    configured_zero,
    zero,
    run,
    uas,
    ekf,
    wiring
});

/// Setup and state together.
#[derive(Clone, Copy, Debug)]
pub struct Observers {
    setup: Setup,
    pub state: State,
    /// Beside the observers' state: a passive rig's snapshots and digests do not have it.
    pub control: control::State,
}

impl Observers {
    /// As after a reset; the first tick's counts are the starting place.
    pub fn new(setup: Setup) -> Self {
        Observers {
            state: State {
                encoders: [Channel::default(); JOINTS],
                configured_zero: setup.encoders.map(|e| e.zero),
                zero: setup.encoders.map(|e| e.zero),
                run: setup.run.start(),
                uas: setup.uas.start([0.0; JOINTS]),
                ekf: setup.ekf.start([0.0; JOINTS]),
                wiring: setup.wiring.start(),
            },
            control: control::State::OFF,
            setup,
        }
    }

    /// As at the moment a snapshot was taken; `None` if the words are not those of this build's state.
    pub fn from_words(setup: Setup, words: impl ExactSizeIterator<Item = u32>) -> Option<Self> {
        if words.len() != setup.word_count() {
            return None;
        }
        let mut words = words;
        let mut get = || words.next().unwrap_or(0);
        let state = State::load(&mut get);
        let control = match setup.drive {
            Some(_) => control::State::load(&mut get),
            None => control::State::OFF,
        };
        let mut core = Observers {
            setup,
            state,
            control,
        };
        core.use_zero(state.zero);
        Some(core)
    }

    /// All words of a snapshot, in the order of [`Observers::names`].
    #[inline(always)]
    pub fn save(&self, put: &mut impl Put) {
        self.state.save(put);
        if self.setup.drive.is_some() {
            self.control.save(put);
        }
    }

    /// Every word into the front of an empty block.
    #[cold]
    #[inline(never)]
    pub(super) fn snapshot(&self, block: &mut Block) {
        block.data.extend_words(self.setup.words, |room| {
            self.save(&mut Room(room));
        });
        block.snapshot_words = (block.data.len() / 4) as u16;
    }

    /// What the digest of a tick takes.
    #[inline(always)]
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.state(&self.state);
        if self.setup.drive.is_some() {
            digest.state(&self.control);
        }
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// One tick: raw counter values in, observers moved; the run's transition, if there was one.
    #[inline(always)]
    pub fn step(&mut self, tick: u64, raw: [u32; JOINTS]) -> Option<Transition> {
        let Observers {
            setup,
            state,
            control,
        } = self;
        let swinging = state.run.phase == Phase::Swinging;
        let mut counts = encoder::step(&setup.encoders, &mut state.encoders, raw, swinging);
        if !setup.second_joint {
            counts[1] = 0;
        }
        let [e0, e1] = &setup.encoders;
        let [j0, j1] = setup.joints;
        let q = [e0.place(j0, counts[0]), e1.place(j1, counts[1])];
        let (drive, mut transition) = setup.run.step(&mut state.run, tick, counts);
        match drive {
            Drive::Step => {
                let applied = match &setup.drive {
                    Some(drive) => drive.applied(control),
                    None => Applied::NONE,
                };
                setup.uas.step_driven(&mut state.uas, q, &applied);
                setup.ekf.step_driven(&mut state.ekf, q, &applied);
                let [t0, t1] = &state.uas.trackers;
                let (at, w) = ([t0.q, t1.q], [t0.w, t1.w]);
                // A driven pendulum may gain energy: that says nothing about its wiring.
                if state.run.phase != Phase::Driving && setup.wiring.step(&mut state.wiring, at, w)
                {
                    state.encoders.iter_mut().for_each(Channel::blame_wiring);
                }
                if state.run.phase == Phase::Driving {
                    transition = self.control(tick, q).or(transition);
                }
            }
            Drive::Start => self.start_observers(q),
            Drive::Freeze => {}
        }
        if let Some(Transition {
            to: Phase::Armed, ..
        }) = transition
        {
            self.clear_flags();
        }
        transition
    }

    /// Control's part of a tick; the transition, if it gave up.
    #[inline(always)]
    fn control(&mut self, tick: u64, measured: [f32; JOINTS]) -> Option<Transition> {
        let Observers {
            setup,
            state,
            control,
        } = self;
        let drive = setup.drive.as_ref()?;
        if drive.wants_friction(control) {
            let estimate = setup.ekf.estimate(&state.ekf);
            drive.learn(control, &estimate.p, &estimate.sigma);
        }
        let zero = setup.ekf.zero(&state.ekf);
        let [a, b] = &state.encoders;
        let input = control::Input {
            tick,
            measured,
            q: [state.ekf.q[0] - zero[0], state.ekf.q[1] - zero[1]],
            shown: state.ekf.q,
            w: state.ekf.w,
            flags: a.faults.flags | b.faults.flags,
            losses: losses(state),
        };
        drive.step(control, &input)?;
        setup.run.release(&mut state.run)
    }

    /// Arm the motor in a mode, or change the mode, and the transition; `None`: a passive rig, or a signal that cannot be played.
    pub fn drive(&mut self, command: &Driving, cause: Cause) -> Option<Option<Transition>> {
        let drive = self.setup.drive.as_ref()?;
        if !drive.accepts(command) || command.mode == Mode::Off {
            return None;
        }
        let fresh = self.state.run.phase != Phase::Driving;
        if fresh {
            self.state
                .encoders
                .iter_mut()
                .for_each(Channel::clear_flags);
        }
        drive.order(&mut self.control, command, losses(&self.state));
        Some(self.setup.run.drive(&mut self.state.run, cause))
    }

    /// A plan; false: control does not play plans now.
    pub fn plan(&mut self, tick: u64, plan: &Plan) -> bool {
        let plays = self.control.mode == Mode::Plan;
        if plays {
            self.control.plan.offer(tick, *plan);
        }
        plays
    }

    /// The duty from the next tick on; `None`: the bridge is off.
    #[inline(always)]
    pub fn output(&self) -> Option<Duty> {
        self.control.output()
    }

    /// The last cause for which control gave up by itself.
    pub fn trip(&self) -> Trip {
        self.control.last
    }

    /// `missed` ticks never happened before the one with these counters, which is stepped next.
    #[cold]
    #[inline(never)]
    pub fn bridge(&mut self, raw: [u32; JOINTS], missed: u32) {
        let Observers {
            setup,
            state,
            control,
        } = self;
        let channels = state.encoders.iter_mut().zip(&setup.encoders);
        for ((channel, cfg), raw) in channels.zip(raw) {
            channel.bridge(cfg, raw, missed);
        }
        if !matches!(state.run.phase, Phase::Swinging | Phase::Driving) {
            return;
        }
        let gap_s = missed as f32 / setup.tick_hz as f32;
        if gap_s <= LONGEST_BRIDGE_S {
            let applied = match &setup.drive {
                Some(drive) => drive.applied(control),
                None => Applied::NONE,
            };
            setup.uas.bridge(&mut state.uas, gap_s);
            setup.ekf.bridge(&mut state.ekf, missed, gap_s, &applied);
            return;
        }
        let [e0, e1] = &setup.encoders;
        let [c0, c1] = &state.encoders;
        let q = [
            e0.place(setup.joints[0], c0.total().wrapping_sub(e0.zero)),
            e1.place(
                setup.joints[1],
                if setup.second_joint {
                    c1.total().wrapping_sub(e1.zero)
                } else {
                    0
                },
            ),
        ];
        self.start_observers(q);
        let State { uas, ekf, .. } = &mut self.state;
        uas.restarts = uas.restarts.wrapping_add(1);
        ekf.counters.restarts = ekf.counters.restarts.wrapping_add(1);
    }

    /// What a device did at the beginning of a logged block; `setup` is the configuration in force from there.
    pub fn obey(&mut self, block: &Block, mut setup: Setup) {
        match block.order {
            Order::Nothing | Order::Snapshot => {}
            Order::Arm => {
                self.go(Phase::Armed, Cause::Device);
            }
            Order::Stop => {
                self.go(Phase::Idle, Cause::Device);
            }
            Order::Zero => {
                self.zero();
            }
            Order::Configure => self.configure(&mut setup),
            // What was commanded is in the snapshot that every order comes with.
            Order::Drive => {
                if let Some(told) = self.told(block) {
                    self.drive(&told.command(), Cause::Device);
                }
            }
            Order::Plan => {
                if let Some(told) = self.told(block) {
                    let late = told.plan.late != self.control.plan.late;
                    let mut plan = told.plan.offered();
                    if late {
                        // Which one came too late is in no log, and makes no difference.
                        plan.weights = [f32::NAN; crate::wire::WEIGHTS];
                    }
                    self.plan(block.first_tick, &plan);
                }
            }
        }
    }

    /// Control's state in a block's snapshot.
    fn told(&self, block: &Block) -> Option<control::State> {
        let words = block.snapshot()?;
        Observers::from_words(self.setup, words).map(|o| o.control)
    }

    /// Step through the counts of a logged block; `each` sees every tick after its step, until its first error.
    pub fn follow<E>(
        &mut self,
        block: &Block,
        mut each: impl FnMut(&Self, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        for (i, counts) in (0..).zip(block.counts()) {
            if i == 0 && block.skipped > 0 {
                self.bridge(counts, block.skipped);
            }
            let tick = block.first_tick.wrapping_add(i);
            self.step(tick, counts);
            each(self, tick)?;
        }
        Ok(())
    }

    /// Both observers at rest at `q` \[rad\]; their fault counters go on.
    #[cold]
    #[inline(never)]
    fn start_observers(&mut self, q: [f32; JOINTS]) {
        let State { uas, ekf, .. } = &self.state;
        let (restarts, floored, ekf) = (uas.restarts, uas.floored, ekf.counters);
        self.state.uas = self.setup.uas.start(q);
        self.state.ekf = self.setup.ekf.start(q);
        self.state.wiring = self.setup.wiring.start();
        self.state.uas.restarts = restarts;
        self.state.uas.floored = floored;
        self.state.ekf.counters = ekf;
    }

    /// Faults of each channel since reset.
    pub fn encoder_faults(&self) -> [u32; JOINTS] {
        self.state.encoders.map(|c| {
            let f = &c.faults;
            f.jumps
                .wrapping_add(f.accelerations)
                .wrapping_add(f.reversals)
                .wrapping_add(f.stuck)
        })
    }

    /// Name of every word of a snapshot, in order, for messages. A passive rig's ends before those of `control`.
    pub fn names(visit: &mut dyn FnMut(&Path<'_>)) {
        State::names(&Path::Root, visit);
        control::State::names(&Path::Field(&Path::Root, "control"), visit);
    }

    pub fn phase(&self) -> Phase {
        self.state.run.phase
    }

    /// Arm or go idle, from any phase.
    pub fn go(&mut self, to: Phase, cause: Cause) -> Option<Transition> {
        if to == Phase::Armed {
            self.clear_flags();
        }
        self.control.off();
        self.setup.run.order(&mut self.state.run, to, cause)
    }

    /// Every run reports its own faults; the counters go on.
    fn clear_flags(&mut self) {
        self.state
            .encoders
            .iter_mut()
            .for_each(Channel::clear_flags);
    }

    /// Fault flags of each channel in this run (bits of [`encoder::flag`]).
    pub fn encoder_flags(&self) -> [u8; JOINTS] {
        self.state.encoders.map(|c| c.faults.flags)
    }

    /// The present position is where the plant hangs at rest (coordinates zero, unless the plant says otherwise). Not while swinging.
    pub fn zero(&mut self) -> [i32; JOINTS] {
        let [a, b] = &self.state.encoders;
        let [r0, r1] = self.setup.rest;
        let zero = [a.total().wrapping_sub(r0), b.total().wrapping_sub(r1)];
        self.use_zero(zero);
        self.setup.run.rebase(&mut self.state.run);
        zero
    }

    fn use_zero(&mut self, zero: [i32; JOINTS]) {
        self.state.zero = zero;
        for (encoder, zero) in self.setup.encoders.iter_mut().zip(zero) {
            encoder.zero = zero;
        }
    }

    /// Another configuration; `setup` becomes the one that was in force. Everything starts again, except that encoder faults
    /// stay counted, and that a joint that was zeroed stays so unless its zero or its sign was configured anew. Not
    /// while swinging.
    pub fn configure(&mut self, setup: &mut Setup) {
        core::mem::swap(&mut self.setup, setup);
        let (new, old) = (&self.setup, &*setup);
        let configured = new.encoders.map(|e| e.zero);
        let mut zero = configured;
        let was = self.state.configured_zero.iter().zip(&self.state.zero);
        let signs = new.encoders.iter().zip(&old.encoders);
        for ((zero, (was_configured, was_zero)), (new, old)) in zero.iter_mut().zip(was).zip(signs)
        {
            if zero == was_configured && new.reversed == old.reversed {
                *zero = *was_zero;
            }
        }
        let state = &mut self.state;
        for channel in &mut state.encoders {
            let faults = channel.faults;
            *channel = Channel::default();
            channel.faults = faults;
        }
        state.configured_zero = configured;
        state.run = new.run.start();
        state.uas = new.uas.start([0.0; JOINTS]);
        state.ekf = new.ekf.start([0.0; JOINTS]);
        state.wiring = new.wiring.start();
        self.control.off();
        self.use_zero(zero);
    }

    /// The zero in force, if it is not the one configured.
    pub fn zeroed(&self) -> Option<[i32; JOINTS]> {
        (self.state.zero != self.state.configured_zero).then_some(self.state.zero)
    }

    /// Where the observers were last started.
    #[cold]
    #[inline(never)]
    pub fn initial(&self) -> Initial {
        let (tick, counts) = self.state.run.initial();
        let [e0, e1] = &self.setup.encoders;
        Initial {
            tick,
            counts,
            q: [
                e0.place(self.setup.joints[0], counts[0]),
                e1.place(self.setup.joints[1], counts[1]),
            ],
        }
    }

    #[inline(always)]
    pub fn states(&self) -> States {
        let State { uas, ekf, .. } = &self.state;
        States {
            uas_q: uas.q,
            uas_w: uas.w,
            ekf_q: ekf.q,
            ekf_w: ekf.w,
        }
    }

    #[inline(always)]
    pub fn params(&self) -> Params {
        let State { uas, ekf, .. } = &self.state;
        let estimate = self.setup.ekf.estimate(ekf);
        Params {
            z: uas.z,
            k: uas.k,
            error: uas.error,
            p: estimate.p,
            sigma: estimate.sigma,
            stage: estimate.stage,
            identifiable: estimate.identifiable,
            rig: estimate.rig,
            colour: estimate.colour,
            drift: estimate.drift,
            verdict: estimate.verdict,
            drive: self
                .setup
                .drive
                .as_ref()
                .map(|drive| drive.record(&self.control, ekf.w)),
        }
    }

    /// Whether the EKF's model explains this run's data so far.
    pub fn verdict(&self) -> Verdict {
        self.setup.ekf.estimate(&self.state.ekf).verdict
    }
}

/// Room for the words of a snapshot; one that does not fit is left out.
struct Room<'a>(&'a mut [[u8; 4]]);

impl Put for Room<'_> {
    #[inline(always)]
    fn word(&mut self, word: u32) {
        self.words([word].into_iter());
    }

    #[inline(always)]
    fn words(&mut self, words: impl ExactSizeIterator<Item = u32>) {
        let room = core::mem::take(&mut self.0);
        if let Some((now, later)) = room.split_at_mut_checked(words.len()) {
            for (to, word) in now.iter_mut().zip(words) {
                *to = word.to_le_bytes();
            }
            self.0 = later;
        }
    }
}

/// Times the observers have lost the motion, since reset.
#[inline(always)]
fn losses(state: &State) -> u32 {
    let ekf = &state.ekf.counters;
    ekf.restarts
        .wrapping_add(ekf.resumes)
        .wrapping_add(state.uas.restarts)
}
