//! Simulated truths for the identification studies: a tilted Furuta pendulum with Stribeck friction, seen through
//! encoder counts, and the score of an estimate against it. Shared by `tests/ekf*.rs` and `examples/study.rs`.
#![allow(dead_code)]

use stribeck_core::ekf::{self, Ekf, Estimate};
use stribeck_core::friction::Friction;
use stribeck_core::plant::{PlantConfig, furuta, passive};
use stribeck_core::rk4;
use stribeck_core::scalar::Scalar;

pub const DT: f64 = 1e-4;
pub const COUNT: f64 = core::f64::consts::TAU / 40_000.0;
/// Integration steps of the truth per tick.
const SUBSTEPS: usize = 2;

/// xorshift64: uniform and normal numbers from a seed.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        for _ in 0..20 {
            rng.uniform();
        }
        rng
    }
    pub fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().max(1e-300).ln()).sqrt();
        radius * (core::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A pendulum with known friction, released at rest.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    pub plant: PlantConfig,
    pub friction: [Friction<f64>; 2],
    pub q0: [f64; 2],
    pub ticks: usize,
}

impl Truth {
    /// Table 3 of paper 000 at 45°, released at (0°, 120°): 35 s.
    pub fn reference() -> Self {
        Truth {
            plant: PlantConfig::Furuta(furuta::Config::default()),
            friction: [
                Friction::brown_mcphee([5e-4, 6e-4, 2.5e-4, 5e-3, 1e-2]),
                Friction::brown_mcphee([6e-4, 7e-4, 2.5e-4, 5e-3, 1e-2]),
            ],
            q0: [0.0, 120f64.to_radians()],
            ticks: 350_000,
        }
    }

    /// Friction over a decade about Table 3, μs = 1.2·μd, tilt 15–65°, arm ±0.5 rad, pendulum 60–160°: 25 s.
    pub fn random(seed: u64) -> Self {
        let mut g = Rng::new(seed);
        let tilt = (15.0 + 50.0 * g.uniform()).to_radians() as f32;
        let mut decade = |centre: f64| centre * 10f64.powf(g.uniform() - 0.5);
        let p = [decade(5e-4), decade(2.5e-4), decade(6e-4), decade(2.5e-4)];
        let joint = |d: f64, v: f64| Friction::brown_mcphee([d, 1.2 * d, v, 5e-3, 1e-2]);
        Truth {
            plant: PlantConfig::Furuta(furuta::Config {
                tilt,
                ..Default::default()
            }),
            friction: [joint(p[0], p[1]), joint(p[2], p[3])],
            q0: [g.uniform() - 0.5, (60.0 + 100.0 * g.uniform()).to_radians()],
            ticks: 250_000,
        }
    }

    /// [μd0 μv0 d0 μd1 μv1 d1].
    pub fn parameters(&self) -> [f64; 6] {
        let [a, b] = &self.friction;
        [a.mu_d, a.mu_v, a.drag, b.mu_d, b.mu_v, b.drag]
    }

    /// Angles at every tick.
    pub fn angles(&self) -> Vec<[f64; 2]> {
        free_run(&self.plant, &self.friction, self.q0, self.ticks)
    }
}

/// Angles of a free run from rest at `q0`.
pub fn free_run(
    plant: &PlantConfig,
    friction: &[Friction<f64>; 2],
    q0: [f64; 2],
    ticks: usize,
) -> Vec<[f64; 2]> {
    let plant = plant.build::<f64>();
    let mut y = [q0[0], q0[1], 0.0, 0.0];
    let mut angles = Vec::with_capacity(ticks);
    for _ in 0..ticks {
        angles.push([y[0], y[1]]);
        for _ in 0..SUBSTEPS {
            y = rk4::step(&y, DT / SUBSTEPS as f64, |y| passive(&plant, friction, y));
        }
    }
    angles
}

/// Angles as an encoder of [`COUNT`] shows them, with `noise` counts RMS of white noise before quantisation.
pub fn encode(angles: &[[f64; 2]], noise: f64, seed: u64) -> Vec<[f64; 2]> {
    let mut g = Rng::new(seed ^ 0xabcd_ef01);
    let mut one = |x: f64| {
        let shaken = if noise > 0.0 {
            x / COUNT + noise * g.normal()
        } else {
            x / COUNT
        };
        shaken.floor() * COUNT + 0.5 * COUNT
    };
    angles.iter().map(|a| [one(a[0]), one(a[1])]).collect()
}

/// Run the filter over measured angles; returns the last estimate and the tick at which stage C started.
pub fn identify<S: Scalar>(
    plant: &PlantConfig,
    config: &ekf::Config,
    measured: &[[f64; 2]],
) -> (Estimate<S>, usize) {
    let count = S::lit(COUNT);
    let filter = Ekf::<S>::new(plant, config, S::lit(DT), [count, count]);
    let mut s = filter.start(measured[0].map(S::lit));
    let mut start = measured.len();
    for (i, q) in measured.iter().enumerate() {
        filter.step(&mut s, q.map(S::lit));
        if i < start && filter.stage(&s) == ekf::STAGE_JOINT {
            start = i;
        }
    }
    assert_eq!(s.restarts, 0, "the filter restarted");
    (filter.estimate(&s), start)
}

/// 100·(1 − Σ(x̂−x)²/Σ(x−x̄)²) per joint.
pub fn fit(truth: &[[f64; 2]], model: &[[f64; 2]]) -> [f64; 2] {
    core::array::from_fn(|j| {
        let mean = truth.iter().map(|x| x[j]).sum::<f64>() / truth.len() as f64;
        let (mut error, mut spread) = (0.0, 0.0);
        for (x, y) in truth.iter().zip(model) {
            error += (y[j] - x[j]).powi(2);
            spread += (x[j] - mean).powi(2);
        }
        100.0 * (1.0 - error / spread)
    })
}

/// An estimate against its truth.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// Estimate / truth.
    pub ratio: [f64; 6],
    /// 95 % half-width / truth.
    pub half_width: [f64; 6],
    /// |error| ≤ 1.96σ.
    pub covered: [bool; 6],
    /// Error in σ.
    pub z: [f64; 6],
    pub identifiable: u8,
    /// Free run with the estimate and the filter's friction law.
    pub fit: [f64; 2],
    /// Start of stage C [s].
    pub start_s: f64,
}

pub fn score<S: Scalar>(
    truth: &Truth,
    angles: &[[f64; 2]],
    config: &ekf::Config,
    noise: f64,
    seed: u64,
) -> Score {
    let measured = encode(angles, noise, seed);
    let (e, start) = identify::<S>(&truth.plant, config, &measured);
    let (p, sigma) = (e.p.map(S::to_f64), e.sigma.map(S::to_f64));
    let t = truth.parameters();
    let joint = |j: usize| Friction {
        drag: p[3 * j + 2],
        ..Friction::brown_mcphee([
            p[3 * j],
            p[3 * j],
            p[3 * j + 1],
            f64::from(config.vt[j]),
            1e-2,
        ])
    };
    let model = free_run(&truth.plant, &[joint(0), joint(1)], truth.q0, truth.ticks);
    Score {
        ratio: core::array::from_fn(|i| p[i] / t[i]),
        half_width: core::array::from_fn(|i| 1.96 * sigma[i] / t[i]),
        covered: core::array::from_fn(|i| (p[i] - t[i]).abs() <= 1.96 * sigma[i]),
        z: core::array::from_fn(|i| (p[i] - t[i]) / sigma[i]),
        identifiable: e.identifiable,
        fit: fit(angles, &model),
        start_s: start as f64 * DT,
    }
}
