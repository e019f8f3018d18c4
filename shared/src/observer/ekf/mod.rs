//! Friction identification from encoder counts alone: the joint extended Kalman filter and its start-up.
//!
//! ```text
//! counts ─► A  filter of (θ, ω), model without friction ─► B  momentum balance, least squares
//!                                                              │ start values and their covariance
//!                                                              ▼
//!           C  the same filter, with the friction parameters as further states
//! ```
//!
//! A and C are one filter (`filter.rs`) with the parameters off or on, so the handover moves no state.
//! B (`momentum.rs`) is linear and global: no stage needs a guess of the friction.
//!
//! Inputs: both measured angles [rad] at every tick. Outputs ([`Estimate`]): angles [rad], velocities [rad/s],
//! friction parameters with standard deviations, the stage, and which parameters the data can show.
//! The friction law of the filter is f = Fn·μd·tanh(4ω/vt) + μv·ω + d·ω·|ω| with Fn from the joint reactions and a
//! configured vt: it knows neither the Stribeck peak nor Fnt, which the counts cannot show.
//!
//! Rates: the mean moves at every tick; the covariance once per cycle of [`Config::cycle`] ticks, its work spread
//! over the ticks of the cycle. Every count is used: the innovations of a cycle are averaged into one measurement.
//!
//! Cost: the summary of `stribeck-bench run` has the instructions of the worst tick by function; `cargo bench -p stribeck-core`
//! has ns per tick on x86-64. No panic path, no f64.

// Matrix equations read by index.
#![allow(clippy::needless_range_loop)]

mod config;
pub mod covariance;
mod filter;
mod momentum;
mod resume;

use crate::dual::Dual;
use crate::plant::{AnyPlant, JOINTS, Plant, PlantConfig};
use crate::rk4::Compensated;
use crate::scalar::Scalar;
pub use config::Config;
use covariance::Covariance;
use momentum::Momentum;

/// Friction parameters: [μd0 μv0 d0 μd1 μv1 d1] outside this module.
pub const PARAMETERS: usize = 6;
/// The same in the filter's order: drag last, so that a filter without drag is a smaller one.
const MU_D: [usize; JOINTS] = [0, 2];
const MU_V: [usize; JOINTS] = [1, 3];
const DRAG: [usize; JOINTS] = [4, 5];

/// [`Estimate::stage`]: filter without friction, momentum balance under way.
pub const STAGE_BALANCE: u8 = 1;
/// [`Estimate::stage`]: joint filter running.
pub const STAGE_JOINT: u8 = 2;

/// What the filter knows at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<S> {
    /// Angles [rad].
    pub q: [S; JOINTS],
    /// Velocities [rad/s].
    pub w: [S; JOINTS],
    /// [μd0 μv0 d0 μd1 μv1 d1] in [m, N·m·s, N·m·s²].
    pub p: [S; PARAMETERS],
    /// Standard deviations of `p`; 0 for a parameter that is not estimated.
    pub sigma: [S; PARAMETERS],
    /// [`STAGE_BALANCE`] or [`STAGE_JOINT`].
    pub stage: u8,
    /// Bit i: the data show `p[i]`, by the rule of [`Config::identifiable`].
    pub identifiable: u8,
}

/// The filter's constants, built once from plant, configuration, tick and count size.
#[derive(Clone, Copy, Debug)]
pub struct Ekf<S> {
    plant: AnyPlant<S>,
    /// The same plant for one column of the Jacobian.
    tangent: AnyPlant<Dual<S, 1>>,
    /// 1 for a joint that moves, 0 for an inert one.
    moves: [S; JOINTS],
    drag: bool,
    cycle: u8,
    substeps: u8,
    /// Tick, integration step, cycle, age of the mean measurement of a cycle [s].
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
    balance_inflation: S,
    doubt_ticks: u32,
    doubt: S,
    prior_weight: [S; 3],
    /// count²/12 and the variance it is taken for [rad²].
    quantum2: [S; JOINTS],
    quantum2_white: [S; JOINTS],
    /// Variance of the first measurement [rad²].
    first2: [S; JOINTS],
    identifiable: S,
    lost: S,
}

/// Everything the filter remembers.
#[derive(Clone, Copy, Debug)]
pub struct State<S> {
    /// Angles [rad], velocities [rad/s], and what their sums have lost.
    pub q: [S; JOINTS],
    pub w: [S; JOINTS],
    lost: [Compensated<S>; 4],
    /// Parameters in the filter's order [μd0 μv0 μd1 μv1 d0 d1].
    p: [S; PARAMETERS],
    /// Covariance of (θ0 θ1 ω0 ω1, parameters).
    cov: Covariance<S>,
    /// Sum of the cycle's innovations, the last one, and half their mean squared difference [rad, rad, rad²].
    sum: [S; JOINTS],
    last: [S; JOINTS],
    noise: [S; JOINTS],
    /// Sums over the cycle of ∂f/∂ω and of the regressors Fn·tanh(4ω/vt), ω, ω·|ω|.
    slope: [S; JOINTS],
    regressor: [[S; 3]; JOINTS],
    /// ∂q̈/∂(θ0 θ1 ω0 ω1) without the friction's own slope.
    jacobian: [[S; 2]; 4],
    momentum: Momentum<S>,
    /// Parameter variances at the start of stage C, and the ticks since.
    first: [S; PARAMETERS],
    joint_ticks: u32,
    /// Position in the cycle.
    phase: u8,
    stage: u8,
    /// Ticks since the start, for the stages.
    ticks: u32,
    /// Restarts after a state that was not finite or had lost the measurement.
    pub restarts: u32,
}
crate::impl_state!(State<S> {
    q, w, lost, p, cov, sum, last, noise, slope, regressor, jacobian, momentum, first, joint_ticks, phase, stage, ticks, restarts
});

impl<S: Scalar> Ekf<S> {
    /// For `plant` at ticks of `dt_s` [s], with encoder counts of `count` [rad] per joint.
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
        let quantum2 = [
            count[0].square() * S::lit(1.0 / 12.0),
            count[1].square() * S::lit(1.0 / 12.0),
        ];
        Ekf {
            plant: built,
            tangent: plant.build(),
            moves: [S::ONE, if plant.dof() > 1 { S::ONE } else { S::ZERO }],
            drag: c.drag,
            cycle: c.cycle.max(1),
            substeps: c.substeps.max(1),
            dt: dt_s,
            h,
            span: dt_s * cycle,
            age: dt_s * (cycle - S::ONE) * S::lit(0.5),
            per_cycle: S::ONE / cycle,
            quarter_vt: [f(c.vt[0]) * S::lit(0.25), f(c.vt[1]) * S::lit(0.25)],
            quarter_vt_per_mu: [
                bounds.weight[0] * h / bounds.inertia[0],
                bounds.weight[1] * h / bounds.inertia[1],
            ],
            acceleration_noise: f(c.acceleration_noise),
            torque_noise: f(c.torque_noise),
            slip_noise: f(c.slip_noise),
            slip_torque2: f(c.slip_torque).square(),
            slip_rate: S::ONE / f(c.slip_speed).square(),
            still: f(c.still_speed),
            window: ticks(c.window_s).max(3),
            start: ticks(c.start_s),
            start_max: ticks(c.start_max_s),
            start_sigma2: f(c.start_sigma).square(),
            balance_inflation: f(c.balance_inflation),
            doubt_ticks: ticks(c.doubt_s).max(1),
            doubt: f(c.doubt),
            prior_weight: [
                S::ONE / f(c.prior[0]).square(),
                S::ONE / f(c.prior[1]).square(),
                S::ONE / f(c.prior[2]).square(),
            ],
            quantum2,
            quantum2_white: [
                quantum2[0] * f(c.quantum_inflation),
                quantum2[1] * f(c.quantum_inflation),
            ],
            first2: [
                count[0].square() * S::lit(400.0),
                count[1].square() * S::lit(400.0),
            ],
            identifiable: f(c.identifiable),
            lost: f(c.lost),
        }
    }

    /// A state at the measured angles `q` [rad], nothing known of the velocity or the friction.
    pub fn start(&self, q: [S; JOINTS]) -> State<S> {
        let speed2 = S::ONE;
        State {
            q,
            w: [S::ZERO; JOINTS],
            lost: [Compensated::NONE; 4],
            p: [S::ZERO; PARAMETERS],
            cov: Covariance::diagonal([
                self.first2[0],
                self.first2[1] * self.moves[1],
                speed2,
                speed2 * self.moves[1],
            ]),
            sum: [S::ZERO; JOINTS],
            last: [S::ZERO; JOINTS],
            noise: [S::ZERO; JOINTS],
            slope: [S::ZERO; JOINTS],
            regressor: [[S::ZERO; 3]; JOINTS],
            jacobian: [[S::ZERO; 2]; 4],
            momentum: Momentum::NEW,
            first: [S::ZERO; PARAMETERS],
            joint_ticks: 0,
            phase: 0,
            stage: STAGE_BALANCE,
            ticks: 0,
            restarts: 0,
        }
    }

    /// One tick: `q` are the measured angles [rad].
    pub fn step(&self, s: &mut State<S>, q: [S; JOINTS]) {
        self.innovate(s, q);
        if s.phase == 0 {
            let ok = if self.drag {
                self.measure::<10>(s)
            } else {
                self.measure::<8>(s)
            };
            if !ok {
                let restarts = s.restarts.wrapping_add(1);
                *s = self.start(q);
                s.restarts = restarts;
            }
        }
        let terms = self.advance(s);
        if s.stage == STAGE_BALANCE {
            self.balance(s, &terms);
        } else {
            self.doubt(s);
        }
        self.differentiate(s);
        s.phase += 1;
        if s.phase >= self.cycle {
            s.phase = 0;
            if self.drag {
                self.predict::<10>(s, &terms);
            } else {
                self.predict::<8>(s, &terms);
            }
        }
        s.ticks = s.ticks.saturating_add(1);
    }

    /// `missed` ticks, `gap` [s] in all, never happened: one long step instead, and the velocity is doubted by as much as the
    /// step changed it.
    pub fn bridge(&self, s: &mut State<S>, missed: u32, gap: S) {
        self.leap(s, gap);
        s.momentum.reopen();
        s.ticks = s.ticks.saturating_add(missed);
    }

    /// [`STAGE_BALANCE`] or [`STAGE_JOINT`].
    pub fn stage(&self, s: &State<S>) -> u8 {
        s.stage
    }

    /// Standard deviation of the measured angles, quantisation included [rad]: what the filter takes them for.
    pub fn noise(&self, s: &State<S>) -> [S; JOINTS] {
        [self.noise2(s, 0).sqrt(), self.noise2(s, 1).sqrt()]
    }

    /// What the state says, in the order and units of [`Estimate`].
    pub fn estimate(&self, s: &State<S>) -> Estimate<S> {
        // Written out: constant indices need no bounds check, and the tick must not have one.
        const ORDER: [usize; PARAMETERS] = [MU_D[0], MU_V[0], DRAG[0], MU_D[1], MU_V[1], DRAG[1]];
        let p = [
            s.p[ORDER[0]],
            s.p[ORDER[1]],
            s.p[ORDER[2]],
            s.p[ORDER[3]],
            s.p[ORDER[4]],
            s.p[ORDER[5]],
        ];
        let sigma = ORDER.map(|k| s.cov.at(4 + k, 4 + k).max(S::ZERO).sqrt());
        let half_width = S::lit(1.96);
        let mut identifiable = 0u8;
        for i in 0..PARAMETERS {
            let shown = sigma[i] > S::ZERO && half_width * sigma[i] <= self.identifiable * p[i];
            identifiable |= u8::from(shown) << i;
        }
        Estimate {
            q: s.q,
            w: s.w,
            p,
            sigma,
            stage: s.stage,
            identifiable,
        }
    }
}
