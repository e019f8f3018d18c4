//! The universal adaptive stabiliser (UAS) observer of paper 000 §III.
//!
//! ```text
//! Ĥ·q̂̈ + B̂ + Ĝ = −f̂(ω̂; ẑ) + Ĥ·N(k)·e,   e = ω − ω̂,   k̇ = |e|²,   k(0) = k0 > 0
//! ẑ̇n = (γ + λu,n·(zu,n − ẑn) + λl,n·(zl,n − ẑn))·|e|,   n = 1…10
//! ```
//!
//! ẑ = (μd, μs, μv, vt, Fnt) of joint 0, then of joint 1. **The parameter law contains no measurement except |e|**:
//! with Λ = λu + λl and z* = (γ + λu·zu + λl·zl)/Λ it is ẑ̇ = Λ·(z* − ẑ)·|e|, so ẑ = z* + (ẑ(0) − z*)·e^(−Λ∫|e|dt) on any
//! record. The state observer is sound; its parameters are a prior on its way to [`Config::fixed_point`].
//!
//! Modes. *Paper*: exactly the equations above. *Bench*: the same with three changes that let it run for ever on counts:
//! the dead zone k̇ = max(|e| − ε, 0)² (and the same excess in the parameter law), so that noise does not wind
//! up the gain; ω from the [`crate::observer::tracker`]; and q̂̇ = ω̂ + β·(q − q̂): the paper's q̂ is never compared with q, so any
//! past velocity error stays in it for ever. The correction enters below the velocity loop (a cascade), so the
//! UAS part keeps its form and any β > 0 is stable.
//!
//! Time: [`Uas::start`] is tick 0, the n-th [`Uas::step`] brings the state to tick n, using the measurement of that tick
//! over the whole step. One RK4 step with four model evaluations on (q̂, ω̂, k, ∫|e|dt). The parameters ride along as a function
//! of ∫|e|dt, the exact solution of their linear law: ten numbers for the price of one, and no stall in f32.
//!
//! Anything not finite or a gain beyond `gain_max` is a counted fault and restarts the observer at the measured angles.

mod config;
pub mod nussbaum;

pub use config::{Bound, Config, Mode};

use crate::JOINTS;
use crate::impl_words;
use crate::model::motor::Applied;
use crate::model::plant::{self, AnyPlant, Plant, PlantConfig, Trig};
use crate::model::rk4;
use crate::model::stiffness::{Bounded, Limit};
use crate::number::compensated::Compensated;
use crate::number::scalar::Scalar;
use crate::observer::tracker::{self, Gains, Tracker};
use crate::observer::uas::nussbaum::{Expansion, Function};

/// Parameters of the friction model: five per joint.
pub const PARAMETERS: usize = 5 * JOINTS;

/// The observer, built from configuration: never changes while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Uas<S> {
    plant: AnyPlant<S>,
    dt: S,
    gains: Gains<S>,
    nussbaum: Function<S>,
    limit: Limit<S>,
    /// k(0) and N there.
    k0: S,
    gain0: Expansion<S>,
    dead_zone: S,
    angle_rate: S,
    gain_max: S,
    initial: [S; PARAMETERS],
    /// γ + λu·zu + λl·zl.
    source: [S; PARAMETERS],
    /// Λ = λu + λl, and whether it is the same for all.
    decay: [S; PARAMETERS],
    same_decay: bool,
}

/// Everything the observer remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State<S> {
    /// Estimated angles q̂ \[rad\] and velocities ω̂ \[rad/s\].
    pub q: [S; JOINTS],
    q_lost: [Compensated<S>; JOINTS],
    pub w: [S; JOINTS],
    /// Parameters ẑ: (μd, μs, μv, vt, Fnt) of joint 0, then of joint 1.
    pub z: [S; PARAMETERS],
    z_lost: [Compensated<S>; PARAMETERS],
    pub k: S,
    k_lost: Compensated<S>,
    /// N(k) [1/s], with its derivatives for the stages of a step.
    pub gain: Expansion<S>,
    /// |e| [rad/s] after the last step.
    pub error: S,
    pub trackers: [Tracker<S>; JOINTS],
    /// Restarts by the guard.
    pub restarts: u32,
    /// Steps in which a friction parameter was too stiff for the step and was limited in the model (ẑ itself keeps its law).
    pub floored: u32,
}
impl_words!(State<S> {
    q, q_lost, w, z, z_lost, k, k_lost, gain, error, trackers, restarts, floored
});

impl<S: Scalar> Uas<S> {
    pub fn new(plant: &PlantConfig, cfg: &Config, tracker: &tracker::Config, dt_s: S) -> Self {
        let plant: AnyPlant<S> = plant.build();
        let bench = cfg.mode == Mode::Bench;
        let nussbaum = Function::new(cfg.nussbaum, cfg.lambda);
        let k0 = S::from_f32(cfg.k0);
        let decay = cfg
            .bounds
            .map(|b| S::from_f32(b.lambda_upper) + S::from_f32(b.lambda_lower));
        let only_bench = |x: f32| S::from_f32(if bench { x } else { 0.0 });
        Uas {
            dt: dt_s,
            gains: Gains::new(tracker, dt_s),
            nussbaum,
            limit: Limit::new(&plant.bounds(), dt_s),
            plant,
            k0,
            gain0: nussbaum.expand(k0),
            dead_zone: only_bench(cfg.dead_zone),
            angle_rate: only_bench(cfg.angle_rate),
            // N·dt ≤ 1 keeps RK4 stable whatever the configuration says.
            gain_max: S::from_f32(cfg.gain_max).min(S::ONE / dt_s),
            initial: cfg.bounds.map(|b| S::from_f32(b.initial)),
            source: cfg.bounds.map(|b| {
                S::from_f32(cfg.gamma)
                    + S::from_f32(b.lambda_upper) * S::from_f32(b.upper)
                    + S::from_f32(b.lambda_lower) * S::from_f32(b.lower)
            }),
            same_decay: decay.iter().all(|d| *d == decay[0]),
            decay,
        }
    }

    /// At rest at the measured angles `q` \[rad\].
    pub fn start(&self, q: [S; JOINTS]) -> State<S> {
        State {
            q,
            q_lost: [Compensated::NONE; JOINTS],
            w: [S::ZERO; JOINTS],
            z: self.initial,
            z_lost: [Compensated::NONE; PARAMETERS],
            k: self.k0,
            k_lost: Compensated::NONE,
            gain: self.gain0,
            error: S::ZERO,
            trackers: q.map(Tracker::start),
            restarts: 0,
            floored: 0,
        }
    }

    /// One tick of a passive rig from measured angles `q` \[rad\]; ω comes from the trackers.
    #[inline]
    pub fn step(&self, st: &mut State<S>, q: [S; JOINTS]) {
        self.step_driven(st, q, &Applied::NONE);
    }

    /// The same while `applied` acts until the next tick.
    #[inline]
    pub fn step_driven(&self, st: &mut State<S>, q: [S; JOINTS], applied: &Applied<S>) {
        for (tracker, q) in st.trackers.iter_mut().zip(q) {
            self.gains.step(tracker, q);
        }
        let w = [st.trackers[0].w, st.trackers[1].w];
        self.measured(st, q, w, applied);
    }

    /// One tick from measured angles \[rad\] and velocities \[rad/s\], as the paper has it.
    pub fn step_measured(&self, st: &mut State<S>, q: [S; JOINTS], w: [S; JOINTS]) {
        self.measured(st, q, w, &Applied::NONE);
    }

    #[inline(always)]
    fn measured(&self, st: &mut State<S>, q: [S; JOINTS], w: [S; JOINTS], applied: &Applied<S>) {
        self.advance(st, q, w, applied);
        // Infinities and NaN survive a sum.
        let sum = st.q.iter().chain(&st.w).chain(&st.z);
        let sum = sum.fold(st.k + st.error, |a, x| a + *x);
        if !(sum.is_finite() && st.gain.n.abs() <= self.gain_max) {
            self.restart(st, q);
        }
    }

    /// Move on by `gap` \[s\] without a measurement, as the trackers do: gain and parameters stand still.
    pub fn bridge(&self, st: &mut State<S>, gap: S) {
        for j in 0..JOINTS {
            let a = st.trackers[j].a;
            st.q[j] = st.q_lost[j].add(st.q[j], gap * (st.w[j] + S::lit(0.5) * gap * a));
            st.w[j] += gap * a;
            st.trackers[j].bridge(gap);
        }
    }

    fn advance(&self, st: &mut State<S>, q: [S; JOINTS], w: [S; JOINTS], applied: &Applied<S>) {
        let mut now = Stage {
            q,
            w,
            base: st.q,
            trig: Trig::new(st.q),
            laws: self.laws(&st.z),
            z: &st.z,
            gain: st.gain,
            applied,
            floored: false,
        };
        let y = [st.q[0], st.q[1], st.w[0], st.w[1], S::ZERO, S::ZERO];
        let d = rk4::rolled(&y, self.dt, |y| self.rates(&mut now, y));

        let floored = now.floored;
        st.q[0] = st.q_lost[0].add(st.q[0], d[0]);
        st.q[1] = st.q_lost[1].add(st.q[1], d[1]);
        st.w[0] += d[2];
        st.w[1] += d[3];
        // Inside the dead zone gain and parameters stand still.
        if d[5] > S::ZERO {
            st.k = st.k_lost.add(st.k, d[4]);
            st.gain = self.nussbaum.expand(st.k);
            let mut lost = st.z_lost.iter_mut();
            self.pull(d[5], &mut st.z, |z, by| match lost.next() {
                Some(lost) => lost.add(z, by),
                None => z,
            });
        }
        let e = [w[0] - st.w[0], w[1] - st.w[1]];
        st.error = (e[0] * e[0] + e[1] * e[1]).sqrt();
        st.floored = st.floored.wrapping_add(floored as u32);
    }

    /// ẏ of y = (q̂0, q̂1, ω̂0, ω̂1, δk, δ∫|e|dt), both δ counted from the start of the step.
    #[inline(always)]
    fn rates(&self, now: &mut Stage<'_, S>, y: &[S; 6]) -> [S; 6] {
        let (q, w) = ([y[0], y[1]], [y[2], y[3]]);
        let e = [now.w[0] - w[0], now.w[1] - w[1]];
        let square = e[0] * e[0] + e[1] * e[1];
        let excess = if square > self.dead_zone * self.dead_zone {
            square.sqrt() - self.dead_zone
        } else {
            S::ZERO
        };
        let gain = now.gain.at(y[4]);

        // Inside the dead zone the parameters are those of the start of the step.
        let moved;
        let [first, second] = if y[5] > S::ZERO {
            let mut z = *now.z;
            self.pull(y[5], &mut z, |z, by| z + by);
            moved = self.laws(&z);
            &moved
        } else {
            &now.laws
        };
        let trig = now.trig.near(now.base, q);
        let terms = self.plant.terms_at(&trig, w, now.applied.at(w));
        let (f0, floored0) = first.torque(w[0], terms.normal[0]);
        let (f1, floored1) = second.torque(w[1], terms.normal[1]);
        now.floored |= floored0 | floored1;
        let a = plant::resisted(&terms, [f0, f1]);
        [
            w[0] + self.angle_rate * (now.q[0] - q[0]),
            w[1] + self.angle_rate * (now.q[1] - q[1]),
            a[0] + gain * e[0],
            a[1] + gain * e[1],
            excess * excess,
            excess,
        ]
    }

    /// Move each of the parameters `z` by what ∫|e|dt = `e` \[rad\] pulls it, with `add`.
    #[inline(always)]
    fn pull(&self, e: S, z: &mut [S; PARAMETERS], mut add: impl FnMut(S, S) -> S) {
        let part = if self.same_decay {
            [relaxed(e, self.decay[0]); PARAMETERS]
        } else {
            self.decay.map(|decay| relaxed(e, decay))
        };
        let law = self.source.iter().zip(&self.decay);
        for ((z, part), (source, decay)) in z.iter_mut().zip(&part).zip(law) {
            *z = add(*z, (*source - *decay * *z) * *part);
        }
    }

    /// The friction that parameters `z` stand for, as a step can integrate it.
    #[inline(always)]
    fn laws(&self, z: &[S; PARAMETERS]) -> [Bounded<S>; JOINTS] {
        let [d0, s0, v0, t0, n0, d1, s1, v1, t1, n1] = *z;
        [
            self.limit.bound(0, [d0, s0, v0, t0, n0]),
            self.limit.bound(1, [d1, s1, v1, t1, n1]),
        ]
    }

    /// Begin again at the measured angles, with the tracked velocity; counters stay.
    #[cold]
    #[inline(never)]
    fn restart(&self, st: &mut State<S>, q: [S; JOINTS]) {
        let q = q.map(|x| if x.is_finite() { x } else { S::ZERO });
        let mut trackers = st.trackers;
        for (tracker, q) in trackers.iter_mut().zip(q) {
            if !tracker.is_finite() {
                *tracker = Tracker::start(q);
            }
        }
        *st = State {
            w: trackers.map(|t| t.w),
            trackers,
            restarts: st.restarts.wrapping_add(1),
            floored: st.floored,
            ..self.start(q)
        };
    }
}

/// What stays the same in the four evaluations of one step.
struct Stage<'a, S> {
    /// Measured angles [rad] and velocities [rad/s].
    q: [S; JOINTS],
    w: [S; JOINTS],
    /// q̂ at the start of the step, with its sines.
    base: [S; JOINTS],
    trig: Trig<S>,
    z: &'a [S; PARAMETERS],
    laws: [Bounded<S>; JOINTS],
    gain: Expansion<S>,
    applied: &'a Applied<S>,
    floored: bool,
}

/// (1 − e^(−Λ·E))/Λ without its (Λ·E)⁴ term: Λ·E is at most a few hundredths per step, so the rest is below f32's rounding.
///
/// ẑ(E) = ẑ + Λ·(z* − ẑ)·this solves ẑ' = Λ·(z* − ẑ) in E = ∫|e|dt.
#[inline(always)]
fn relaxed<S: Scalar>(e: S, decay: S) -> S {
    let x = e * decay;
    e * (S::ONE - x * (S::lit(0.5) - x * S::lit(1.0 / 6.0)))
}
