//! The experiment paper 003 could not do: swing-up from hanging with a limited torque, planned in f32 while the plant moves.
//!
//! Truth: any plant in f64 with Stribeck friction, RK4 at 10 kHz. Controller: the plant's model in f32 with softened Coulomb and viscous
//! friction; its state is the truth with noise, read once per interval. The plan for interval k+1 is computed from the state at the start
//! of interval k. Near upright a linear-quadratic feedback about the plan is added at every tick.

use stribeck_core::control::predict::driven::Driven;
use stribeck_core::control::predict::planner::Planner;
use stribeck_core::control::predict::recipe::{self, ROWS, Recipe, WEIGHTS};
use stribeck_core::control::predict::regulator::gain;
use stribeck_core::control::predict::tangent::step;
use stribeck_core::model::friction::{Friction, Linear};
use stribeck_core::model::plant::{Plant, cartpole, furuta, reactionwheel};
use stribeck_core::model::rk4;
use stribeck_core::model::sim::{REFERENCE_FRICTION, Rng};

use crate::number;

/// Length of a tick \[s\].
const TICK: f64 = 1e-4;

/// A plant as it is and as the controller believes it to be.
#[derive(Clone, Copy, Debug)]
pub struct Setup<T, M> {
    pub truth: T,
    pub friction: [Friction<f64>; 2],
    pub model: Driven<f32, M>,
    pub recipe: Recipe,
    /// Start: angles and speeds.
    pub start: [f64; 4],
    /// Standard deviation of the state's angles \[rad\] and speeds \[rad/s\].
    pub noise: [f64; 2],
    pub intervals: usize,
}

/// One interval of a run.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Interval {
    /// When it began \[s\].
    pub t: f64,
    /// What its plan expected: angles at every step of the horizon.
    pub expected: Vec<[f64; 2]>,
    pub iterations: u32,
    pub cost: f64,
}

/// What happened.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Swing {
    /// Every 20 ms: time, both angles, both speeds, torque.
    pub motion: Vec<[f64; 6]>,
    pub intervals: Vec<Interval>,
    /// Since when the link has been up until the end \[s\].
    pub up: Option<f64>,
    pub largest_input: f64,
}

/// The Furuta pendulum of paper 000 with an upright axis, torque limit in N·m.
pub fn furuta(limit: f32, start: [f64; 4]) -> Setup<furuta::Furuta<f64>, furuta::Furuta<f32>> {
    let config = furuta::Config {
        tilt: 0.0,
        ..furuta::Config::default()
    };
    furuta_with(&config, &config, limit, start)
}

/// The same with a truth that differs from the model.
pub fn furuta_with(
    truth: &furuta::Config,
    model: &furuta::Config,
    limit: f32,
    start: [f64; 4],
) -> Setup<furuta::Furuta<f64>, furuta::Furuta<f32>> {
    Setup::new(
        furuta::Furuta::new(truth),
        furuta::Furuta::new(model),
        REFERENCE_FRICTION.map(Friction::brown_mcphee),
        recipe::furuta(model, limit),
        start,
    )
}

/// The cart-pole, force limit in N; `start` from hanging.
pub fn cartpole(
    limit: f32,
    start: [f64; 4],
) -> Setup<cartpole::Cartpole<f64>, cartpole::Cartpole<f32>> {
    let config = cartpole::Config::default();
    let [x, angle, v, w] = start;
    let friction = [[0.01, 0.012, 0.1, 5e-2, 1e-2], REFERENCE_FRICTION[1]];
    Setup::new(
        cartpole::Cartpole::new(&config),
        cartpole::Cartpole::new(&config),
        friction.map(Friction::brown_mcphee),
        recipe::cartpole(&config, limit),
        [x, angle + std::f64::consts::PI, v, w],
    )
}

/// The reaction wheel pendulum, torque limit in N·m; `start` from hanging.
pub fn reactionwheel(
    limit: f32,
    start: [f64; 4],
) -> Setup<reactionwheel::Reactionwheel<f64>, reactionwheel::Reactionwheel<f32>> {
    let config = reactionwheel::Config::default();
    let [angle, wheel, w, spin] = start;
    let friction = [
        [1e-4, 1.2e-4, 1e-4, 5e-2, 1e-2],
        [1e-4, 1.2e-4, 1e-5, 5e-2, 1e-2],
    ];
    Setup::new(
        reactionwheel::Reactionwheel::new(&config),
        reactionwheel::Reactionwheel::new(&config),
        friction.map(Friction::brown_mcphee),
        recipe::reactionwheel(&config, limit),
        [angle + std::f64::consts::PI, wheel, w, spin],
    )
}

impl<T: Plant<f64>, M: Plant<f32>> Setup<T, M> {
    /// The model knows Coulomb and viscous friction as they are, softened.
    fn new(
        truth: T,
        model: M,
        friction: [Friction<f64>; 2],
        recipe: Recipe,
        start: [f64; 4],
    ) -> Self {
        let softened = friction.map(|f| Linear {
            mu_d: f.mu_d as f32,
            mu_v: f.mu_v as f32,
            drag: 0.0,
            steepness: 5.0,
        });
        Setup {
            truth,
            friction,
            model: Driven::new(model, softened),
            recipe,
            start,
            noise: [1e-3, 2e-2],
            intervals: 150,
        }
    }

    /// 2·sin of half the link's angle from upright.
    fn off(&self, x: &[f64; 4]) -> f64 {
        let ([a, b], upright) = (self.recipe.link.map(f64::from), self.recipe.upright);
        let target = a * f64::from(upright[0]) + b * f64::from(upright[1]);
        2.0 * number::sin(0.5 * (a * x[0] + b * x[1] - target))
    }

    /// ẋ of the truth.
    fn rates(&self, y: &[f64; 4], u: f64) -> [f64; 4] {
        let w = [y[2], y[3]];
        let t = self.truth.terms([y[0], y[1]], w);
        let push = std::array::from_fn(|j| {
            f64::from(self.model.motor[j]) * u - self.friction[j].torque(w[j], t.normal[j])
        });
        let a = t.h_inv.apply(push);
        [w[0], w[1], t.free[0] + a[0], t.free[1] + a[1]]
    }

    /// One run.
    pub fn run(&self, seed: u64) -> Swing {
        let mut rng = Rng::new(seed);
        let settings = self.recipe.settings;
        let step_s = f64::from(settings.step);
        // Ticks in a step of the model.
        let ticks = (step_s / TICK).round() as usize;
        let mut planner: Planner<f32, WEIGHTS, ROWS> = Planner::new(settings);
        let k = gain(&self.model, self.recipe.upright, &self.recipe.regulator);
        let per_interval = settings.interval;
        let limit = settings.limit.map_or(f64::MAX, f64::from);
        let feedback = |x: &[f64; 4], expected: &[f64; 4]| -> f64 {
            if self.off(expected).abs() >= 0.5 {
                return 0.0;
            }
            (0..4).map(|i| f64::from(k[i]) * (x[i] - expected[i])).sum()
        };
        let mut x = self.start;
        // What the plan being played expects at every step.
        let mut expected = vec![x; per_interval + 1];
        let mut out = Swing::default();
        for interval in 0..self.intervals {
            let t = (interval * per_interval) as f64 * step_s;
            let error: [f64; 4] = std::array::from_fn(|i| self.noise[i / 2] * rng.normal());
            let mut z: [f32; 4] = std::array::from_fn(|i| (x[i] + error[i]) as f32);
            for (j, expected) in expected.iter().take(per_interval).enumerate() {
                let add = feedback(&z.map(f64::from), expected) as f32;
                let u = std::array::from_fn(|row| {
                    let u = planner.input(&planner.weights, 2 * j + row) - add;
                    u.clamp(-limit as f32, limit as f32)
                });
                z = step(&self.model, &z, settings.step, u);
            }
            let (weights, done) = planner.next(&self.model, z);
            for j in 0..per_interval * ticks {
                let row = j / ticks;
                let part = (j % ticks) as f64 / ticks as f64;
                let (from, to) = (&expected[row], &expected[row + 1]);
                let now = std::array::from_fn(|i| from[i] + part * (to[i] - from[i]));
                let seen = std::array::from_fn(|i| x[i] + error[i]);
                let plan = f64::from(planner.input_at((j as f64 * TICK) as f32));
                let u = (plan - feedback(&seen, &now)).clamp(-limit, limit);
                out.largest_input = out.largest_input.max(u.abs());
                if j % ticks == 0 {
                    let [a, b, c, d] = x;
                    out.motion.push([t + j as f64 * TICK, a, b, c, d, u]);
                }
                x = rk4::step(&x, TICK, |y| self.rates(y, u));
            }
            planner.play(weights);
            let mut ahead = vec![z];
            planner
                .horizon(&self.model, z)
                .trajectory(&weights, |_, x, _| ahead.push(*x));
            for (e, x) in expected.iter_mut().zip(&ahead) {
                *e = x.map(f64::from);
            }
            out.intervals.push(Interval {
                t: t + per_interval as f64 * step_s,
                expected: ahead
                    .iter()
                    .map(|x| [f64::from(x[0]), f64::from(x[1])])
                    .collect(),
                iterations: done.iterations,
                cost: f64::from(done.cost),
            });
            let speed =
                f64::from(self.recipe.link[0]) * x[2] + f64::from(self.recipe.link[1]) * x[3];
            let up = self.off(&x).abs() < 0.2 && speed.abs() < 1.0;
            out.up = match (up, out.up) {
                (true, None) => Some(t + per_interval as f64 * step_s),
                (true, since) => since,
                (false, _) => None,
            };
            if !x.iter().all(|x| x.is_finite()) {
                break;
            }
        }
        out
    }
}

/// Seeds that came up and stayed, and the median time of those \[s\].
pub fn tally(runs: impl Iterator<Item = Swing>) -> (usize, usize, Option<f64>) {
    let all: Vec<Option<f64>> = runs.map(|r| r.up).collect();
    let mut up: Vec<f64> = all.iter().flatten().copied().collect();
    up.sort_by(f64::total_cmp);
    (up.len(), all.len(), up.get(up.len() / 2).copied())
}

/// A start near hanging: angles ±.3 rad, speeds ±.2 rad/s.
pub fn scattered(seed: u64) -> [f64; 4] {
    let mut rng = Rng::new(seed ^ 0x0057_a270);
    [0.3, 0.3, 0.2, 0.2].map(|a| rng.within(-a, a))
}
