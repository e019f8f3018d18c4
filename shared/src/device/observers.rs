//! What the device computes from counts: encoders, run logic, both observers. Nothing about blocks, queues or bytes.
//!
//! [`Setup`] is the configuration in built form and never changes during a run; [`State`] is every bit that is
//! remembered, and what digest and snapshot cover. `step(&setup, &mut state, input)`: the same on chip, in the twin and
//! in replay.

use crate::config::{Config, Stream};
use crate::ekf::{self, Ekf};
use crate::encoder::{self, Channel};
use crate::impl_state;
use crate::plant::JOINTS;
use crate::run::{self, Cause, Drive, Phase, Run, Transition};
use crate::state::{Path, State as Words};
use crate::uas::{self, Uas};
use crate::wire::Initial;
use crate::wire::block::{Block, Order, Params, States};
use crate::wiring::{self, Wiring};

/// A longer gap than this cannot be bridged: both observers start again [s].
const LONGEST_BRIDGE_S: f32 = 0.02;

/// The configuration, built: constants computed once, outside the tick.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub(super) tick_hz: u32,
    pub(super) stream: Stream,
    encoders: [encoder::Config; JOINTS],
    /// Joint 1 exists; otherwise its count is ignored.
    second_joint: bool,
    run: Run,
    uas: Uas<f32>,
    ekf: Ekf<f32>,
    wiring: Wiring<f32>,
}

impl Setup {
    /// Of a validated configuration.
    pub fn new(config: &Config) -> Self {
        let dt_s = config.dt_s();
        let quantum = config.encoders.map(|e| e.quantum::<f32>());
        let mut encoders = config.encoders;
        let second_joint = config.plant.dof() == JOINTS;
        if !second_joint {
            // No second joint that must move with the first.
            encoders.iter_mut().for_each(|e| e.stuck_travel = 0);
        }
        Setup {
            tick_hz: config.tick_hz,
            stream: config.stream,
            encoders,
            second_joint,
            run: Run::new(&config.run, config.tick_hz),
            uas: Uas::new(&config.plant, &config.uas, &config.tracker, dt_s),
            ekf: Ekf::new(&config.plant, &config.ekf, dt_s, quantum),
            wiring: Wiring::new(&config.plant),
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
impl_state!(State {
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
            setup,
        }
    }

    /// As at the moment a snapshot was taken; `None` if the words are not those of this build's state.
    pub fn from_words(setup: Setup, words: impl ExactSizeIterator<Item = u32>) -> Option<Self> {
        if words.len() != Self::word_count() {
            return None;
        }
        let mut words = words;
        let state = State::load(&mut || words.next().unwrap_or(0));
        let mut core = Observers { setup, state };
        core.use_zero(state.zero);
        Some(core)
    }

    /// Words in a snapshot.
    pub fn word_count() -> usize {
        let mut n = 0;
        Self::names(&mut |_| n += 1);
        n
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// One tick: raw counter values in, observers moved; the run's transition, if there was one.
    #[inline(always)]
    pub fn step(&mut self, tick: u64, raw: [u32; JOINTS]) -> Option<Transition> {
        let Observers { setup, state } = self;
        let swinging = state.run.phase == Phase::Swinging;
        let mut counts = encoder::update_both(&setup.encoders, &mut state.encoders, raw, swinging);
        if !setup.second_joint {
            counts[1] = 0;
        }
        let [e0, e1] = &setup.encoders;
        let q = [e0.angle(counts[0]), e1.angle(counts[1])];
        let (drive, transition) = setup.run.step(&mut state.run, tick, counts);
        match drive {
            Drive::Step => {
                setup.uas.step(&mut state.uas, q);
                setup.ekf.step(&mut state.ekf, q);
                let [t0, t1] = &state.uas.trackers;
                let (q, w) = ([t0.q, t1.q], [t0.w, t1.w]);
                if setup.wiring.step(&mut state.wiring, q, w) {
                    state.encoders.iter_mut().for_each(Channel::blame_wiring);
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

    /// `missed` ticks never happened before the one with these counters, which is stepped next.
    #[cold]
    #[inline(never)]
    pub fn bridge(&mut self, raw: [u32; JOINTS], missed: u32) {
        let Observers { setup, state } = self;
        let channels = state.encoders.iter_mut().zip(&setup.encoders);
        for ((channel, cfg), raw) in channels.zip(raw) {
            channel.bridge(cfg, raw, missed);
        }
        if state.run.phase != Phase::Swinging {
            return;
        }
        let gap_s = missed as f32 / setup.tick_hz as f32;
        if gap_s <= LONGEST_BRIDGE_S {
            setup.uas.bridge(&mut state.uas, gap_s);
            setup.ekf.bridge(&mut state.ekf, missed, gap_s);
            return;
        }
        let [e0, e1] = &setup.encoders;
        let [c0, c1] = &state.encoders;
        let q = [
            e0.angle(c0.total().wrapping_sub(e0.zero)),
            e1.angle(if setup.second_joint {
                c1.total().wrapping_sub(e1.zero)
            } else {
                0
            }),
        ];
        self.start_observers(q);
        let State { uas, ekf, .. } = &mut self.state;
        uas.restarts = uas.restarts.wrapping_add(1);
        ekf.restarts = ekf.restarts.wrapping_add(1);
    }

    /// What a device did at the beginning of a logged block; `setup` is the configuration in force from there.
    pub fn obey(&mut self, order: Order, setup: Setup) {
        match order {
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
            Order::Configure => self.configure(setup),
        }
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

    /// Both observers at rest at `q` [rad]; their fault counters go on.
    fn start_observers(&mut self, q: [f32; JOINTS]) {
        let (uas, ekf) = (self.state.uas.restarts, self.state.ekf.restarts);
        self.state.uas = self.setup.uas.start(q);
        self.state.ekf = self.setup.ekf.start(q);
        self.state.wiring = self.setup.wiring.start();
        self.state.uas.restarts = uas;
        self.state.ekf.restarts = ekf;
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

    /// Name of every word of a snapshot, in order, for messages.
    pub fn names(visit: &mut dyn FnMut(&Path<'_>)) {
        State::names(&Path::Root, visit);
    }

    pub fn phase(&self) -> Phase {
        self.state.run.phase
    }

    /// Arm or go idle, from any phase.
    pub fn go(&mut self, to: Phase, cause: Cause) -> Option<Transition> {
        if to == Phase::Armed {
            self.clear_flags();
        }
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

    /// The present position is zero. Not while swinging.
    pub fn zero(&mut self) -> [i32; JOINTS] {
        let [a, b] = &self.state.encoders;
        let zero = [a.total(), b.total()];
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

    /// Another configuration: everything starts again, except that encoder faults stay counted, and that a joint that
    /// was zeroed stays so unless its zero or its sign was configured anew. Not while swinging.
    pub fn configure(&mut self, setup: Setup) {
        let before = *self;
        *self = Observers::new(setup);
        let mut zero = self.state.zero;
        for (j, zero) in zero.iter_mut().enumerate() {
            self.state.encoders[j].faults = before.state.encoders[j].faults;
            let same_sign = setup.encoders[j].reversed == before.setup.encoders[j].reversed;
            if *zero == before.state.configured_zero[j] && same_sign {
                *zero = before.state.zero[j];
            }
        }
        self.use_zero(zero);
    }

    /// The zero in force, if it is not the one configured.
    pub fn zeroed(&self) -> Option<[i32; JOINTS]> {
        (self.state.zero != self.state.configured_zero).then_some(self.state.zero)
    }

    /// Where the observers were last started.
    pub fn initial(&self) -> Initial {
        let (tick, counts) = self.state.run.initial();
        let [e0, e1] = &self.setup.encoders;
        Initial {
            tick,
            counts,
            q: [e0.angle(counts[0]), e1.angle(counts[1])],
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
        }
    }
}
