//! Validation by free run: the model alone, from the captured start, against the whole measured run.
//!
//! ```text
//! fit = 100·(1 − Σ(x̂ − x)²/Σ(x − x̄)²) [%] per joint
//! ```
//!
//! The device captures the start while a hand holds the links still; the hand lets go a little later. That moment is
//! found once, by sliding the beginning of a free run along the measurement, and is the same for all sets.
//!
//! RK4 in f64 with the shared model. One step per tick near standstill, where the friction law is steep, up to
//! `LONGEST_STEP` elsewhere; friction too stiff even for a tick is limited exactly as on the device.

use serde::Serialize;
use stribeck_core::JOINTS;
use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::{self, AnyPlant, Plant};
use stribeck_core::model::rk4;
use stribeck_core::model::stiffness::Limit;

use super::swing::{Start, Swing};

/// The validation covers at most this much of a run \[s\].
pub const LONGEST: f64 = 600.0;
/// Longest integration step [s]: a thousandth of a swing.
const LONGEST_STEP: f64 = 1e-3;
/// The release is sought where the links have moved by less than this [rad].
const RELEASE_REACH: f64 = 0.1;

/// The motion of one set, at the same times as the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct FreeRun {
    #[serde(skip)]
    pub q: Vec<[f64; JOINTS]>,
    /// Per joint [%]; `None` for a joint that did not move.
    pub fit_percent: Vec<Option<f64>>,
    /// RMS difference per joint \[rad\].
    pub rms: Vec<f64>,
}

/// What is validated against: measured angles from the release on.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Time of the release after the captured start \[s\].
    pub release: f64,
    /// Times since the start \[s\] and angles \[rad\].
    pub trace: Vec<(f64, [f64; JOINTS])>,
    /// State at the release: angles, velocities.
    state: [f64; 4],
    /// The run is longer than what is validated.
    pub shortened: bool,
}

/// Integrates the passive plant with one friction law per joint.
pub struct Motion {
    plant: AnyPlant<f64>,
    friction: [Friction<f64>; JOINTS],
    limit: Limit<f64>,
    tick_s: f64,
}

impl Motion {
    pub fn new(swing: &Swing, friction: [Friction<f64>; JOINTS]) -> Self {
        let plant = swing.plant();
        let tick_s = swing.tick_s();
        Motion {
            limit: Limit::new(&plant.bounds(), tick_s),
            plant,
            friction,
            tick_s,
        }
    }

    fn rates(&self, y: &[f64; 4]) -> [f64; 4] {
        let (q, w) = ([y[0], y[1]], [y[2], y[3]]);
        let terms = self.plant.terms(q, w);
        let mut friction = self.friction;
        self.limit.floor(&mut friction, terms.normal);
        let a = plant::acceleration(&terms, w, &friction);
        [w[0], w[1], a[0], a[1]]
    }

    /// The state `duration` \[s\] after `y`.
    pub fn advance(&self, mut y: [f64; 4], duration: f64) -> [f64; 4] {
        let mut left = duration;
        // Half a nanosecond is rounding of times, not a step.
        while left > 5e-10 {
            let rates = self.rates(&y);
            // Both joints stay clear of the steep part of the law during a long step?
            let clear = (0..JOINTS).all(|j| {
                let change = 2.0 * LONGEST_STEP * rates[2 + j].abs();
                y[2 + j].abs() - change > 6.0 * self.friction[j].vt
            });
            let most = if clear { LONGEST_STEP } else { self.tick_s };
            let h = if left <= 1.01 * most { left } else { most };
            y = rk4::step(&y, h, |y| self.rates(y));
            left -= h;
        }
        y
    }
}

/// Prepare the validation of a run; `friction` is the best law known, used only to find the release. `None` if the run
/// has no start or no measurement.
pub fn measured(swing: &Swing, friction: [Friction<f64>; JOINTS]) -> Option<Measured> {
    let mut trace = swing.trace();
    let (state, release) = match swing.start? {
        Start::Captured { q, .. } => {
            let state = [q[0], q[1], 0.0, 0.0];
            let motion = Motion::new(swing, friction);
            (state, release(&motion, state, &trace, swing.joints()))
        }
        Start::Joined { q, w, .. } => ([q[0], q[1], w[0], w[1]], 0.0),
    };
    trace.retain(|(t, _)| *t >= release);
    let all = trace.len();
    trace.retain(|(t, _)| *t <= release + LONGEST);
    (trace.len() > 2).then_some(Measured {
        release,
        shortened: trace.len() < all,
        trace,
        state,
    })
}

/// When the hand let go [s since the start]: the delay at which a free run from rest follows the first small motion best.
fn release(motion: &Motion, state: [f64; 4], trace: &[(f64, [f64; JOINTS])], joints: usize) -> f64 {
    let away = |q: &[f64; JOINTS]| (0..joints).any(|j| (q[j] - state[j]).abs() > RELEASE_REACH);
    let end = trace.iter().position(|(_, q)| away(q));
    let Some(end) = end.filter(|&end| end > 0) else {
        return 0.0;
    };
    let window = &trace[..end];
    let reach = window[end - 1].0;
    let ticks = (reach / motion.tick_s).round() as usize + 1;
    // No start is captured longer ago than a few seconds: longer means ticks are missing in between.
    if ticks > 100_000 {
        return 0.0;
    }
    let mut path = Vec::with_capacity(ticks);
    let mut y = state;
    for _ in 0..ticks {
        path.push([y[0], y[1]]);
        y = motion.advance(y, motion.tick_s);
    }
    let cost = |delay: usize| -> f64 {
        window
            .iter()
            .map(|(t, q)| {
                let tick = (t / motion.tick_s).round() as usize;
                let model = path[tick.saturating_sub(delay).min(ticks - 1)];
                (0..joints).map(|j| (q[j] - model[j]).powi(2)).sum::<f64>()
            })
            .sum()
    };
    // The cost has one valley: coarse steps find it, single ticks its bottom.
    let coarse = (ticks / 200).max(1);
    let best = |delays: &mut dyn Iterator<Item = usize>| {
        delays
            .map(|d| (cost(d), d))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0, |(_, d)| d)
    };
    let near = best(&mut (0..ticks).step_by(coarse));
    let fine = best(&mut (near.saturating_sub(coarse)..(near + coarse + 1).min(ticks)));
    fine as f64 * motion.tick_s
}

/// Run one law freely and compare.
pub fn run(swing: &Swing, measured: &Measured, friction: [Friction<f64>; JOINTS]) -> FreeRun {
    let motion = Motion::new(swing, friction);
    let mut y = measured.state;
    let mut now = measured.release;
    let mut q = Vec::with_capacity(measured.trace.len());
    for (t, _) in &measured.trace {
        y = motion.advance(y, t - now);
        now = *t;
        q.push([y[0], y[1]]);
    }
    let quantum = swing.quantum();
    let (fit_percent, rms) = (0..swing.joints())
        .map(|j| compare(measured, &q, j, quantum[j]))
        .unzip();
    FreeRun {
        q,
        fit_percent,
        rms,
    }
}

fn compare(
    measured: &Measured,
    q: &[[f64; JOINTS]],
    joint: usize,
    quantum: f64,
) -> (Option<f64>, f64) {
    let n = measured.trace.len() as f64;
    let values = || measured.trace.iter().map(|(_, q)| q[joint]);
    let mean = values().sum::<f64>() / n;
    let spread: f64 = values().map(|x| (x - mean).powi(2)).sum();
    let error: f64 = values().zip(q).map(|(x, q)| (q[joint] - x).powi(2)).sum();
    let moved = spread > n * quantum * quantum;
    let fit = 100.0 * (1.0 - error / spread);
    (moved.then_some(fit), (error / n).sqrt())
}
