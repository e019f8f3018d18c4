//! Friction identification from encoder counts alone, on a rig that is not exactly as its file says.
//!
//! ```text
//! counts ─► A  filter of (θ, ω), model without friction ─► B  momentum balance, least squares
//!                                                              │ start values and their covariance
//!                                                              ▼
//!           C  the same filter, with friction and the rig's errors as further states ─► verdict
//! ```
//!
//! A and C are one filter with the parameters off or on, so the handover moves no state. B (`momentum.rs`) is linear and global: no stage
//! needs a guess of the friction. The friction law, its slope and regressors, RK4 and the plant's derivatives are the model's.
//!
//! Inputs: both measured angles \[rad\] at every tick. Outputs ([`Estimate`]): angles \[rad\], velocities \[rad/s\], friction with standard
//! deviations, errors of the rig file, the stage, which parameters the data can show, and whether the model explains the data at all
//! ([`Verdict`]). The law is f = Fn·μd·tanh(4ω/vt) + μv·ω + d·ω·|ω| with Fn from the joint reactions and a configured vt: it knows neither
//! the Stribeck peak nor Fnt, which the counts cannot show.
//!
//! The angles are the encoders'; the motion is evaluated at θ − zero, so a zero that is off is a parameter like any other.
//!
//! Rates: the mean moves at every tick (`mean.rs`). The covariance moves once per cycle of [`Config::cycle`] ticks, in ten jobs spread
//! evenly over it; every count is used, as the mean innovation of a cycle is one measurement:
//!
//! | job | what | file |
//! |---|---|---|
//! | 0 | gate, gain of both joints, correction of the mean, soundness | `gain.rs` |
//! | 1–3, 4–6 | covariance after the measurement of joint 0, of joint 1 | `covariance.rs` |
//! | 7 | linearisation over the last cycle | `predict.rs` |
//! | 7–9 | time update of the covariance | `covariance.rs` |
//!
//! For a cycle of one tick all jobs are done in it: the textbook filter.
//!
//! Cost: the summary of `stribeck-bench run` has the instructions of the worst tick by function; `cargo bench -p stribeck-core`
//! has ns per tick on x86-64. No panic path, no f64.

// Matrix equations read by index.
#![allow(clippy::needless_range_loop)]

mod config;
pub mod covariance;
mod gain;
mod handover;
mod mean;
mod momentum;
mod predict;
mod resume;
mod verdict;

use crate::JOINTS;
use crate::model::motor::Applied;
use crate::model::plant::tolerance::Prior;
use crate::model::plant::{AnyPlant, Plant, PlantConfig, RIG_ERRORS, Task};
use crate::number::compensated::Compensated;
use crate::number::scalar::Scalar;
pub use crate::number::verdict::Verdict;
use crate::number::words::Intermediate;
pub use config::Config;
use covariance::{Covariance, MOTION, RIG, STATES, Transition};
use momentum::Momentum;
use verdict::{Colour, Drift};

/// Friction parameters: \[μd0 μv0 d0 μd1 μv1 d1\] outside this module.
pub const PARAMETERS: usize = 6;
/// Errors of the rig: zeros of both encoders \[rad\], tilt \[rad\], relative errors of arm, link, length and gravity.
pub const RIG_STATES: usize = JOINTS + RIG_ERRORS;
/// Friction in the filter's order: drag last, so that a filter without drag is a smaller one.
const MU_D: [usize; JOINTS] = [0, 2];
const MU_V: [usize; JOINTS] = [1, 3];
const DRAG: [usize; JOINTS] = [4, 5];
/// The order of [`Estimate`] in the filter's.
const ORDER: [usize; PARAMETERS] = [MU_D[0], MU_V[0], DRAG[0], MU_D[1], MU_V[1], DRAG[1]];
/// Jobs of a cycle.
const JOBS: u16 = 10;

/// [`Estimate::stage`]: filter without friction, momentum balance under way.
pub const STAGE_BALANCE: u8 = 1;
/// [`Estimate::stage`]: joint filter running.
pub const STAGE_JOINT: u8 = 2;

/// Place of friction parameter `k` (filter's order) in the covariance.
#[inline(always)]
const fn place(k: usize) -> usize {
    if k < DRAG[0] {
        covariance::FRICTION + k
    } else {
        covariance::DRAG + k - DRAG[0]
    }
}

/// What the filter knows at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<S> {
    /// Angles \[rad\].
    pub q: [S; JOINTS],
    /// Velocities \[rad/s\].
    pub w: [S; JOINTS],
    /// \[μd0 μv0 d0 μd1 μv1 d1\] in \[m, N·m·s, N·m·s²\].
    pub p: [S; PARAMETERS],
    /// Standard deviations of `p`, with the drift and the rig's tolerances; 0 for a parameter that is not estimated.
    pub sigma: [S; PARAMETERS],
    /// Errors of the rig file, as [`RIG_STATES`] lists them.
    pub rig: [S; RIG_STATES],
    /// Whether the model explains the data.
    pub verdict: Verdict,
    /// Colour of the innovations, 1 for white ones; 0 before it is known.
    pub colour: S,
    /// Drift of each joint's estimates, in standard deviations.
    pub drift: [S; JOINTS],
    /// [`STAGE_BALANCE`] or [`STAGE_JOINT`].
    pub stage: u8,
    /// Bit i: the data show `p\[i\]`, by the rule of [`Config::identifiable`]; none unless the verdict allows it.
    pub identifiable: u8,
}

/// The filter's constants, built once from plant, configuration, tick and count size.
#[derive(Clone, Copy, Debug)]
pub struct Ekf<S> {
    plant: AnyPlant<S>,
    /// 1 for a joint that moves, 0 for an inert one.
    moves: [S; JOINTS],
    drag: bool,
    /// States of stage C.
    states: u8,
    cycle: u8,
    substeps: u8,
    /// Tick, integration step, cycle, age of the mean measurement of a cycle \[s\].
    dt: S,
    h: S,
    span: S,
    age: S,
    per_cycle: S,
    /// vt/4 and the same per μd where stability of the step demands it: vt/4 ≥ weight·μd·h/inertia.
    quarter_vt: [S; JOINTS],
    quarter_vt_per_mu: [S; JOINTS],
    acceleration_noise: S,
    torque_noise: S,
    slip_noise: S,
    slip_torque2: S,
    slip_rate: S,
    still: S,
    window: u32,
    start: u32,
    start_max: u32,
    start_sigma2: S,
    start_spread2: S,
    balance_inflation: S,
    doubt_ticks: u32,
    doubt: S,
    prior_weight: [S; 3],
    /// Variances of the rig's states before any data.
    rig2: [S; RIG_STATES],
    /// Squared relative σ that the rig adds to each friction parameter, in the order of [`Estimate`].
    scale2: [S; PARAMETERS],
    /// count²/12 and the variance it is taken for \[rad²\].
    quantum2: [S; JOINTS],
    quantum2_white: [S; JOINTS],
    /// Variance of the first measurement \[rad²\].
    first2: [S; JOINTS],
    identifiable: S,
    lost: S,
    gate2: S,
    /// Cycles left out in a row before the filter resumes.
    patience: u8,
    /// Cycles in a window of the colour test; ticks of stage C before it and at each snapshot of the drift test.
    colour_cycles: u32,
    settle_ticks: u32,
    drift_ticks: [u32; verdict::SNAPSHOTS],
    colour_limit: S,
    drift_limit: S,
}

/// Everything the filter remembers.
#[derive(Clone, Copy, Debug)]
pub struct State<S> {
    /// Angles \[rad\], velocities \[rad/s\], and what their sums have lost.
    pub q: [S; JOINTS],
    pub w: [S; JOINTS],
    lost: [Compensated<S>; 4],
    /// Friction in the filter's order \[μd0 μv0 μd1 μv1 d0 d1\].
    p: [S; PARAMETERS],
    /// Errors of the rig, as [`RIG_STATES`] lists them.
    z: [S; RIG_STATES],
    cov: Covariance<S>,
    /// Of the cycle under way: measurement variances \[rad²\], what is held and whose measurement counts (bits of `gain.rs`).
    r: [S; JOINTS],
    held: u8,
    /// F, and the columns of (θ, ω) of F·P, between the jobs of the time update.
    transition: Intermediate<Transition<S>>,
    columns: Intermediate<[[S; MOTION]; MOTION]>,
    /// Sum of the cycle's innovations, the last one, and half their mean squared difference \[rad, rad, rad²\].
    sum: [S; JOINTS],
    last: [S; JOINTS],
    noise: [S; JOINTS],
    /// Sums over the last cycle of ∂f/∂ω and of the regressors Fn·tanh(4ω/vt), ω, ω·|ω|.
    slope: [S; JOINTS],
    regressor: [[S; 3]; JOINTS],
    momentum: Intermediate<Momentum<S>>,
    /// Variances of friction and rig at the start of stage C, and the ticks since.
    first: Intermediate<[S; STATES - MOTION]>,
    joint_ticks: u32,
    colour: Colour<S>,
    drift: Intermediate<Drift<S>>,
    /// Position in the cycle.
    phase: u8,
    stage: u8,
    /// Ticks since the start, for the stages.
    ticks: u32,
    /// Cycles left out in a row, per joint.
    streak: [u8; JOINTS],
    pub counters: Counters,
}
crate::impl_words!(State<S> {
    q, w, lost, p, z, cov, r, held, transition, columns, sum, last, noise, slope, regressor, momentum, first, joint_ticks, colour,
    drift, phase, stage, ticks, streak, counters
});

/// What went wrong, since reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Restarts after a state that was not finite.
    pub restarts: u32,
    /// Restarts of (θ, ω) alone, friction and rig kept, after an innovation that was lost or left out too often in a row.
    pub resumes: u32,
    /// Cycles left out by the gate.
    pub gated: u32,
    /// Ticks in which vt was raised to keep the step stable.
    pub floored: u32,
}
crate::impl_words!(Counters {
    restarts,
    resumes,
    gated,
    floored
});

impl<S: Scalar> Ekf<S> {
    /// For `plant` at ticks of `dt_s` \[s\], with encoder counts of `count` \[rad\] per joint.
    pub fn new(plant: &PlantConfig, c: &Config, dt_s: S, count: [S; JOINTS]) -> Self {
        let f = S::from_f32;
        let built = plant.build::<S>();
        let bounds = built.bounds();
        let steps = f(f32::from(c.substeps));
        let cycle = f(f32::from(c.cycle));
        let h = dt_s / steps;
        let ticks = |seconds: f32| -> u32 {
            let n = f64::from(seconds) / dt_s.to_f64();
            (n + 0.5) as u32
        };
        let cycles = |seconds: f32, least: u32| (ticks(seconds) / u32::from(c.cycle)).max(least);
        let moves = [S::ONE, if plant.dof() > 1 { S::ONE } else { S::ZERO }];
        let quantum2 = count.map(|x| x.square() * S::lit(1.0 / 12.0));
        let Prior {
            zero,
            rig,
            coulomb,
            viscous,
        } = plant.prior(&c.tolerance);
        let square = |x: f32| f(x).square();
        let viscous2 = square(viscous);
        let rig2 = [
            square(zero[0]),
            square(zero[1]) * moves[1],
            square(rig[0]),
            square(rig[1]),
            square(rig[2]),
            square(rig[3]),
            square(rig[4]),
        ];
        let rigid = rig2.iter().all(|v| *v <= S::ZERO);
        let states = match (c.drag, rigid) {
            (true, _) => STATES,
            (false, false) => covariance::DRAG,
            (false, true) => RIG,
        };
        Ekf {
            plant: built,
            moves,
            drag: c.drag,
            states: states as u8,
            cycle: c.cycle.max(1),
            substeps: c.substeps.max(1),
            dt: dt_s,
            h,
            span: dt_s * cycle,
            age: dt_s * (cycle - S::ONE) * S::lit(0.5),
            per_cycle: S::ONE / cycle,
            quarter_vt: c.vt.map(|vt| f(vt) * S::lit(0.25)),
            quarter_vt_per_mu: [
                bounds.weight[0] * h / bounds.inertia[0],
                bounds.weight[1] * h / bounds.inertia[1],
            ],
            acceleration_noise: f(c.acceleration_noise),
            torque_noise: f(c.torque_noise),
            slip_noise: f(c.slip_noise),
            slip_torque2: square(c.slip_torque),
            slip_rate: S::ONE / square(c.slip_speed),
            still: f(c.still_speed),
            window: ticks(c.window_s).max(3),
            start: ticks(c.start_s),
            start_max: ticks(c.start_max_s),
            start_sigma2: square(c.start_sigma),
            start_spread2: square(c.start_spread),
            balance_inflation: f(c.balance_inflation),
            doubt_ticks: ticks(c.doubt_s).max(1),
            doubt: f(c.doubt),
            prior_weight: c.prior.map(|x| S::ONE / square(x)),
            rig2,
            scale2: [
                square(coulomb[0]),
                viscous2,
                viscous2,
                square(coulomb[1]),
                viscous2,
                viscous2,
            ],
            quantum2,
            quantum2_white: quantum2.map(|x| x * f(c.quantum_inflation)),
            first2: count.map(|x| x.square() * S::lit(400.0)),
            identifiable: f(c.identifiable),
            lost: f(c.lost),
            gate2: square(c.gate),
            patience: cycles(gain::PATIENCE_S, 2).min(200) as u8,
            colour_cycles: cycles(verdict::WINDOW_S, 10),
            settle_ticks: ticks(verdict::SETTLE_S),
            drift_ticks: verdict::SNAPSHOTS_S.map(ticks),
            colour_limit: f(c.colour),
            drift_limit: f(c.drift),
        }
    }

    /// A state at the measured angles `q` \[rad\], nothing known of the velocity or the friction.
    pub fn start(&self, q: [S; JOINTS]) -> State<S> {
        let speed2 = S::ONE;
        State {
            q,
            w: [S::ZERO; JOINTS],
            lost: [Compensated::NONE; 4],
            p: [S::ZERO; PARAMETERS],
            z: [S::ZERO; RIG_STATES],
            cov: Covariance::diagonal(self.motion2(speed2)),
            r: [S::ZERO; JOINTS],
            held: 0,
            transition: Intermediate(Transition::NONE),
            columns: Intermediate([[S::ZERO; MOTION]; MOTION]),
            sum: [S::ZERO; JOINTS],
            last: [S::ZERO; JOINTS],
            noise: [S::ZERO; JOINTS],
            slope: [S::ZERO; JOINTS],
            regressor: [[S::ZERO; 3]; JOINTS],
            momentum: Intermediate(Momentum::NEW),
            first: Intermediate([S::ZERO; STATES - MOTION]),
            joint_ticks: 0,
            colour: Colour::NEW,
            drift: Intermediate(Drift::NEW),
            phase: 0,
            stage: STAGE_BALANCE,
            ticks: 0,
            streak: [0; JOINTS],
            counters: Counters::default(),
        }
    }

    /// Variances of (θ, ω) at the first measurement, with `speed2` \[(rad/s)²\].
    fn motion2(&self, speed2: S) -> [S; MOTION] {
        [
            self.first2[0],
            self.first2[1] * self.moves[1],
            speed2,
            speed2 * self.moves[1],
        ]
    }

    /// One tick of a passive rig: `q` are the measured angles \[rad\].
    #[inline]
    pub fn step(&self, s: &mut State<S>, q: [S; JOINTS]) {
        self.step_driven(s, q, &Applied::NONE);
    }

    /// One tick; `applied` acts from it to the next.
    #[inline]
    pub fn step_driven(&self, s: &mut State<S>, q: [S; JOINTS], applied: &Applied<S>) {
        // What depends on the plant is compiled per plant; the rest once.
        struct Advance<'a, S>(&'a Ekf<S>, &'a mut State<S>, &'a Applied<S>);
        impl<S: Scalar> Task<S> for Advance<'_, S> {
            type Output = mean::Now<S>;
            #[inline(always)]
            fn run<P: Plant<S>>(self, plant: &P) -> mean::Now<S> {
                self.0.advance(plant, self.1, self.2)
            }
        }
        self.innovate(s, q);
        let (from, to) = self.jobs(s.phase);
        if from == 0 && !self.correct(s) {
            self.restart(s, q);
        }
        let now = self.plant.choose(Advance(self, s, applied));
        if s.stage == STAGE_BALANCE {
            self.balance(s, &now);
        } else {
            s.joint_ticks = s.joint_ticks.saturating_add(1);
        }
        for job in from.max(1)..to {
            self.job(job, s, &now);
        }
        s.cov.turn();
        s.phase += 1;
        if s.phase >= self.cycle {
            s.phase = 0;
        }
        s.ticks = s.ticks.saturating_add(1);
    }

    #[cold]
    #[inline(never)]
    fn restart(&self, s: &mut State<S>, q: [S; JOINTS]) {
        let counters = s.counters;
        *s = self.start(q);
        s.counters = counters;
        s.counters.restarts = s.counters.restarts.wrapping_add(1);
    }

    /// Jobs of the tick at `phase`: from, to (exclusive).
    #[inline(always)]
    fn jobs(&self, phase: u8) -> (u16, u16) {
        let phase = u16::from(phase);
        let cycle = u16::from(self.cycle).max(1);
        if cycle == JOBS {
            return (phase, phase + 1);
        }
        (phase * JOBS / cycle, (phase + 1) * JOBS / cycle)
    }

    #[inline(always)]
    fn job(&self, job: u16, s: &mut State<S>, now: &mean::Now<S>) {
        // Rows of about equal work.
        let n = self.states(s);
        const SPLIT: usize = 11;
        match job {
            1 => self.narrow_parameters(s, 0, MOTION, SPLIT.min(n)),
            2 => self.narrow_parameters(s, 0, SPLIT, n),
            3 => self.narrow_motion(s, 0, n),
            4 => self.narrow_parameters(s, 1, MOTION, SPLIT.min(n)),
            5 => self.narrow_parameters(s, 1, SPLIT, n),
            6 => self.narrow_motion(s, 1, n),
            7 => {
                s.transition.0 = self.linearise(s, now);
                s.columns.0 = s.cov.begin_predict(&s.transition.0, n);
            }
            8 => s.cov.predict_columns(&s.transition.0, n, MOTION, SPLIT),
            _ => {
                s.cov.predict_columns(&s.transition.0, n, SPLIT, n);
                let noise = self.velocity_noise(s, &now.terms);
                s.cov.end_predict(&s.transition.0, n, &s.columns.0, noise);
            }
        }
    }

    /// States in use.
    #[inline(always)]
    fn states(&self, s: &State<S>) -> usize {
        if s.stage == STAGE_JOINT {
            usize::from(self.states)
        } else {
            MOTION
        }
    }

    /// Zeros of both encoders as estimated \[rad\]: the rig's angles are `q` less these.
    #[inline(always)]
    pub fn zero(&self, s: &State<S>) -> [S; JOINTS] {
        [s.z[0], s.z[1]]
    }

    /// [`STAGE_BALANCE`] or [`STAGE_JOINT`].
    pub fn stage(&self, s: &State<S>) -> u8 {
        s.stage
    }

    /// Standard deviation of the measured angles, quantisation included \[rad\]: what the filter takes them for.
    pub fn noise(&self, s: &State<S>) -> [S; JOINTS] {
        [self.noise2(s, 0).sqrt(), self.noise2(s, 1).sqrt()]
    }
}
