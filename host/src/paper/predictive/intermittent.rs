//! The algorithm of Table 1 on a simulated cart: open-loop plan, state (and friction) estimate, prediction, optimisation.
//!
//! Truth: five states, RK4 at 50 µs, input refreshed at 10 kHz. Controller: four states in f32 or f64, RK4 at 5 ms, readings of cart and
//! angle every 5 ms with noise. The plan for interval k+1 is computed from what was read until the start of interval k.

use stribeck_core::control::predict::Dynamics;
use stribeck_core::control::predict::basis::Basis;
use stribeck_core::control::predict::goal::{Goal, Term};
use stribeck_core::control::predict::planner::{Planner, Settings};
use stribeck_core::control::predict::search::{Search, minimise};
use stribeck_core::control::predict::window::Window;
use stribeck_core::model::rk4;
use stribeck_core::model::sim::Rng;
use stribeck_core::number::scalar::Scalar;

use super::cart::{Cart, Rig};

/// Rows of the basis: 1 s in steps of 5 ms.
const ROWS: usize = 401;
/// Steps of the controller's model in an interval of .1 s, and its step \[s\].
const INTERVAL: usize = 20;
const STEP: f64 = 0.005;
/// Ticks of the input in a step, truth steps in a tick.
const TICKS: usize = 50;
const TICK: f64 = 1e-4;

/// Everything that may be chosen. Times in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub rig: Rig,
    pub t_u: f64,
    /// Horizon τ1, τ2.
    pub horizon: [f64; 2],
    /// Weight of the input's square per step [1/V²].
    pub input: f64,
    /// Largest voltage, inside the model.
    pub limit: Option<f64>,
    /// First angle of the pendulum; the controller believes 0.
    pub alpha: f64,
    /// Added to the first state: x, α, v, ω.
    pub scatter: [f64; 4],
    /// Standard deviation of each reading \[m\], \[rad\].
    pub noise: f64,
    pub intervals: usize,
    /// Friction in the controller's model; estimated from interval 3 on if `adapt`.
    pub r_c: f64,
    pub adapt: bool,
    /// Weight of the predicted state in the estimate: positions; speeds have a fiftieth.
    pub prior: f64,
    pub plan: Search<f64>,
    pub estimate: Search<f64>,
    /// Continue with e^(A·T) instead of its transpose (the erratum).
    pub untransposed: bool,
}

const PAPER_SEARCH: Search<f64> = Search {
    iterations: 100,
    halvings: 12,
    shorter: 0.5,
    relative: 1e-4,
    absolute: 1e-5,
    cut: 1e-8,
    damping: 0.0,
};

impl Choice {
    /// Table 3 and figure 7, with Table 2 as the rig and `T_U` as printed.
    pub fn printed() -> Choice {
        Choice {
            rig: Rig::table_2(),
            t_u: 0.02,
            horizon: [0.8, 1.0],
            input: 0.0,
            limit: None,
            alpha: -std::f64::consts::FRAC_PI_2,
            scatter: [0.0; 4],
            noise: 0.0,
            intervals: 30,
            r_c: 7.198,
            adapt: false,
            prior: 0.0,
            plan: PAPER_SEARCH,
            estimate: Search {
                iterations: 20,
                relative: 1e-3,
                absolute: 1e-12,
                ..PAPER_SEARCH
            },
            untransposed: false,
        }
    }

    /// What the authors' archived files say: another length and a pole of 20/s.
    pub fn archive() -> Choice {
        Choice {
            rig: Rig::archive(),
            t_u: 0.05,
            ..Choice::printed()
        }
    }

    /// What works with noise: slow basis, three unstable time constants of horizon, a little input weight, a prior, friction estimated.
    pub fn ours() -> Choice {
        Choice {
            t_u: 0.2,
            horizon: [0.5, 0.7],
            input: 1e-5,
            prior: 10.0,
            adapt: true,
            intervals: 40,
            plan: Search {
                iterations: 30,
                relative: 1e-3,
                cut: 1e-6,
                ..PAPER_SEARCH
            },
            ..Choice::printed()
        }
    }

    fn settings<S: Scalar>(&self) -> Settings<S> {
        let lit = S::lit;
        Settings {
            basis: Basis::Laguerre {
                time: lit(self.t_u),
            },
            step: lit(STEP),
            steps: (self.horizon[1] / STEP).round() as usize,
            from: (self.horizon[0] / STEP).round() as usize,
            early: S::ZERO,
            interval: INTERVAL,
            limit: self.limit.map(lit),
            goal: Goal::new(
                &[0, 1].map(|index| {
                    let target = S::ZERO;
                    (Term::State { index, target }, S::ONE)
                }),
                lit(self.input),
            ),
            search: scalar(&self.plan),
            nudge: S::ZERO,
        }
    }
}

fn scalar<S: Scalar>(s: &Search<f64>) -> Search<S> {
    Search {
        iterations: s.iterations,
        halvings: s.halvings,
        shorter: S::lit(s.shorter),
        relative: S::lit(s.relative),
        absolute: S::lit(s.absolute),
        cut: S::lit(s.cut),
        damping: S::lit(s.damping),
    }
}

/// What happened.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Run {
    /// Every 5 ms: time, cart, angle, voltage.
    pub motion: Vec<[f64; 4]>,
    /// Per optimisation: start of the interval it is for, iterations, passes without sensitivities.
    pub iterations: Vec<(f64, u32, u32)>,
    pub largest_voltage: f64,
    pub r_c: f64,
    /// RMS of cart and angle over the last five intervals.
    pub rest: [f64; 2],
    /// From when on cart and angle stay within .1 m and .1 rad.
    pub settled: Option<f64>,
}

impl Run {
    /// Upright and centred: over the last five intervals within .2 rad and .4 m rms.
    pub fn succeeded(&self) -> bool {
        self.rest[0] < 0.4 && self.rest[1] < 0.2
    }

    /// Iterations of the first optimisation, and the most of any later one.
    pub fn first_and_later(&self) -> (u32, u32) {
        let first = self.iterations.first().map_or(0, |i| i.1);
        let later = self.iterations.iter().skip(1).map(|i| i.1).max();
        (first, later.unwrap_or(0))
    }
}

/// One run with N basis functions in the arithmetic of S.
pub fn run<S: Scalar, const N: usize>(choice: &Choice, seed: u64) -> Run {
    let mut rng = Rng::new(seed);
    let mut planner: Planner<S, N, ROWS> = Planner::new(choice.settings());
    let mut model: Cart<S> = choice.rig.model(choice.r_c);
    let mut truth = [0.0, choice.alpha, 0.0, 0.0, 0.0];
    for (x, s) in truth.iter_mut().zip(choice.scatter) {
        *x += s;
    }
    // State believed at the start of the interval whose readings are at hand.
    let mut believed = [S::ZERO; 4];
    let mut readings: Vec<[S; 2]> = Vec::new();
    let mut played = [S::ZERO; N];
    let mut out = Run::default();
    let mut tail = Vec::new();
    for k in 0..choice.intervals {
        let t = k as f64 * INTERVAL as f64 * STEP;
        let mut next = if choice.untransposed {
            untransposed(&planner)
        } else {
            let s = &planner.settings;
            s.basis.continued(&planner.weights, planner.interval_s())
        };
        if k > 0 {
            let input: Vec<S> = (0..=2 * INTERVAL)
                .map(|row| planner.input(&played, row))
                .collect();
            believed = estimated(choice, &mut model, believed, &input, &readings, k > 2);
            let start = planner.predicted(&model, believed);
            let mut weights = next;
            let search = planner.settings.search;
            let done = minimise(&planner.horizon(&model, start), &mut weights, &search);
            next = weights;
            out.iterations
                .push((t + INTERVAL as f64 * STEP, done.iterations, done.passes));
        }
        readings.clear();
        for j in 0..INTERVAL * TICKS {
            let u = planner.input_at(S::lit(j as f64 * TICK)).to_f64();
            out.largest_voltage = out.largest_voltage.max(u.abs());
            if j % TICKS == 0 {
                out.motion
                    .push([t + j as f64 * TICK, truth[0], truth[1], u]);
            }
            for _ in 0..2 {
                truth = rk4::step(&truth, 0.5 * TICK, |y| choice.rig.rates(y, u));
            }
            if (j + 1) % TICKS == 0 {
                let mut read = |x: f64| S::lit(x + choice.noise * rng.normal());
                readings.push([read(truth[0]), read(truth[1])]);
                if k + 5 >= choice.intervals {
                    tail.push([truth[0], truth[1]]);
                }
            }
        }
        let near = truth[0].abs() < 0.1 && truth[1].abs() < 0.1;
        out.settled = match (near, out.settled) {
            (true, None) => Some(t + INTERVAL as f64 * STEP),
            (true, since) => since,
            (false, _) => None,
        };
        played = planner.weights;
        planner.play(next);
        if !truth.iter().all(|x| x.is_finite() && x.abs() < 1e4) {
            break;
        }
    }
    out.r_c = model.r_c.to_f64();
    let rms = |i: usize| {
        let square: f64 = tail.iter().map(|x: &[f64; 2]| x[i] * x[i]).sum();
        (square / tail.len() as f64).sqrt()
    };
    // A run that was broken off has no tail.
    out.rest = if tail.len() == 5 * INTERVAL {
        [rms(0), rms(1)]
    } else {
        [f64::INFINITY; 2]
    };
    out
}

/// The state now, from the readings of the interval that has just ended; with a prior also the friction.
fn estimated<S: Scalar>(
    choice: &Choice,
    model: &mut Cart<S>,
    believed: [S; 4],
    input: &[S],
    readings: &[[S; 2]],
    settled: bool,
) -> [S; 4] {
    let search = scalar(&choice.estimate);
    let (strong, weak) = if settled {
        (S::lit(choice.prior), S::lit(0.02 * choice.prior))
    } else {
        (S::ZERO, S::ZERO)
    };
    let [a, b, c, d] = believed;
    if choice.adapt && settled {
        let mut at = [a, b, c, d, model.r_c];
        let window = Window {
            dynamics: &*model,
            input,
            readings,
            step: S::lit(STEP),
            expected: at,
            prior: [strong, strong, weak, weak, S::lit(2e-4)],
        };
        minimise(&window, &mut at, &search);
        at[4] = at[4].max(S::ZERO).min(S::lit(50.0));
        let now = window.end(&at);
        *model = model.with_parameter(at[4]);
        return now;
    }
    let mut at = believed;
    let window = Window {
        dynamics: &*model,
        input,
        readings,
        step: S::lit(STEP),
        expected: at,
        prior: [strong, strong, weak, weak],
    };
    minimise(&window, &mut at, &search);
    window.end(&at)
}

/// e^(A·T)·U instead of e^(Aᵀ·T)·U: column d of a lower Toeplitz matrix instead of its row.
fn untransposed<S: Scalar, const N: usize>(planner: &Planner<S, N, ROWS>) -> [S; N] {
    let mut reversed = planner.weights;
    reversed.reverse();
    let s = &planner.settings;
    let mut out = s.basis.continued(&reversed, planner.interval_s());
    out.reverse();
    out
}

/// Success over fresh seeds, from random states about the start (x ±.2, α ±.3, v ±.3, ω ±1) if `scattered`.
pub fn tally<S: Scalar, const N: usize>(
    choice: &Choice,
    seeds: std::ops::Range<u64>,
    scattered: bool,
) -> Tally {
    let mut out = Tally::default();
    for seed in seeds {
        let mut rng = Rng::new(seed ^ 0x5eed_0000);
        let scatter = [0.2, 0.3, 0.3, 1.0].map(|a| if scattered { rng.within(-a, a) } else { 0.0 });
        let r = run::<S, N>(&Choice { scatter, ..*choice }, seed);
        let (first, later) = r.first_and_later();
        out.runs += 1;
        out.succeeded += usize::from(r.succeeded());
        out.first.push(first);
        out.later.push(later);
        if r.succeeded() {
            out.largest_voltage = out.largest_voltage.max(r.largest_voltage);
        }
    }
    out
}

/// See [`tally`].
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Tally {
    pub runs: usize,
    pub succeeded: usize,
    /// Of runs that succeeded \[V\].
    pub largest_voltage: f64,
    /// Iterations of the first optimisation of each run, and the most of a later one.
    pub first: Vec<u32>,
    pub later: Vec<u32>,
}
