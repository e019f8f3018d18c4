//! Simulated cases for the identification studies: a pendulum with Stribeck friction, seen through encoder counts, and
//! the score of an estimate against it. Shared by `tests/ekf*.rs` and `examples/study.rs`.
#![allow(dead_code)]

use stribeck_core::model::friction::Friction;
use stribeck_core::model::mismatch::{self, Mismatch};
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::{self, Rng};
use stribeck_core::number::math;
use stribeck_core::number::scalar::Scalar;
use stribeck_core::observer::ekf::{self, Ekf, Estimate, Verdict};

/// 40,000 counts per turn [rad].
pub const COUNT: f64 = core::f64::consts::TAU / sim::COUNTS_PER_REV as f64;
/// Longest step of the simulated truth [s].
const STEP_S: f64 = 5e-5;

/// A pendulum with known friction, released at rest.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub plant: PlantConfig,
    pub friction: [Friction<f64>; 2],
    pub q0: [f64; 2],
    pub dt_s: f64,
    pub ticks: usize,
    /// What the bench has beyond its rig file (Furuta only).
    pub mismatch: Mismatch,
}

impl Case {
    /// Table 3 of paper 000 at 45°, released at (0°, 120°): 35 s at 10 kHz.
    pub fn reference() -> Self {
        Case {
            plant: PlantConfig::Furuta(furuta::Config::default()),
            friction: sim::REFERENCE_FRICTION.map(Friction::brown_mcphee),
            q0: sim::REFERENCE_START,
            dt_s: 1e-4,
            ticks: sim::REFERENCE_TICKS as usize,
            mismatch: mismatch::NONE,
        }
    }

    /// Friction over a decade about Table 3, μs = 1.2·μd, tilt 15–65°, arm ±0.5 rad, pendulum 60–160°: 25 s at 10 kHz.
    pub fn random(seed: u64) -> Self {
        let mut g = Rng::new(seed);
        let tilt = g.within(15.0, 65.0).to_radians() as f32;
        let mut decade = |centre: f64| {
            let decades = g.within(-0.5, 0.5);
            centre * math::exp_f64(core::f64::consts::LN_10 * decades)
        };
        let p = [decade(5e-4), decade(2.5e-4), decade(6e-4), decade(2.5e-4)];
        let joint = |d: f64, v: f64| Friction::brown_mcphee([d, 1.2 * d, v, 5e-3, 1e-2]);
        Case {
            plant: PlantConfig::Furuta(furuta::Config {
                tilt,
                ..Default::default()
            }),
            friction: [joint(p[0], p[1]), joint(p[2], p[3])],
            q0: [g.within(-0.5, 0.5), g.within(60.0, 160.0).to_radians()],
            dt_s: 1e-4,
            ticks: 250_000,
            mismatch: mismatch::NONE,
        }
    }

    /// [μd0 μv0 d0 μd1 μv1 d1].
    pub fn parameters(&self) -> [f64; 6] {
        let [a, b] = &self.friction;
        [a.mu_d, a.mu_v, a.drag, b.mu_d, b.mu_v, b.drag]
    }

    /// Angles at every tick, as the encoders' discs show them.
    pub fn angles(&self) -> Vec<[f64; 2]> {
        match (self.mismatch == mismatch::NONE, &self.plant) {
            (false, PlantConfig::Furuta(rig)) => {
                let substeps = (self.dt_s / STEP_S).ceil() as u32;
                let (friction, q0) = (self.friction, self.q0);
                let mut truth =
                    mismatch::Truth::new(rig, friction, &self.mismatch, q0, self.dt_s, substeps);
                let step = |_| {
                    let q = truth.shown();
                    truth.step();
                    q
                };
                (0..self.ticks).map(step).collect()
            }
            _ => self.free_run(self.friction),
        }
    }

    /// Angles of a free run with other friction.
    pub fn free_run(&self, friction: [Friction<f64>; 2]) -> Vec<[f64; 2]> {
        let substeps = (self.dt_s / STEP_S).ceil() as u32;
        let mut truth = sim::Truth::new(&self.plant, friction, self.q0, self.dt_s, substeps);
        let step = |_| {
            let q = truth.q;
            truth.step();
            q
        };
        (0..self.ticks).map(step).collect()
    }
}

/// Angles as an encoder of [`COUNT`] shows them, with `noise` counts RMS of white noise before quantisation.
pub fn encode(angles: &[[f64; 2]], noise: f64, seed: u64) -> Vec<[f64; 2]> {
    let mut g = Rng::new(!seed);
    let mut one = |x: f64| {
        let shake = if noise > 0.0 { noise * g.normal() } else { 0.0 };
        ((x / COUNT + shake).floor() + 0.5) * COUNT
    };
    angles.iter().map(|a| [one(a[0]), one(a[1])]).collect()
}

/// What the filter leaves after a record.
pub struct Identified<S> {
    pub estimate: Estimate<S>,
    /// σ without the rig's tolerances.
    pub record_sigma: [S; 6],
    pub rig_sigma: [S; 7],
    pub counters: ekf::Counters,
    /// Start of stage C [s].
    pub start_s: f64,
}

/// The filter over measured angles.
pub fn identify<S: Scalar>(
    case: &Case,
    config: &ekf::Config,
    measured: &[[f64; 2]],
) -> Identified<S> {
    config.validate().expect("a valid configuration");
    let filter = Ekf::<S>::new(&case.plant, config, S::lit(case.dt_s), [S::lit(COUNT); 2]);
    let mut s = filter.start(measured[0].map(S::lit));
    let mut start = f64::INFINITY;
    for (i, q) in measured.iter().enumerate() {
        filter.step(&mut s, q.map(S::lit));
        if filter.stage(&s) == ekf::STAGE_JOINT {
            start = start.min(i as f64 * case.dt_s);
        }
    }
    assert_eq!(s.counters.restarts, 0, "the filter restarted");
    Identified {
        estimate: filter.estimate(&s),
        record_sigma: filter.record_sigma(&s),
        rig_sigma: filter.rig_sigma(&s),
        counters: s.counters,
        start_s: start,
    }
}

/// 100·(1 − Σ(x̂−x)²/Σ(x−x̄)²) per joint.
pub fn fit(truth: &[[f64; 2]], model: &[[f64; 2]]) -> [f64; 2] {
    core::array::from_fn(|j| {
        let mean = truth.iter().map(|x| x[j]).sum::<f64>() / truth.len() as f64;
        let (mut error, mut spread) = (0.0, 0.0);
        for (x, y) in truth.iter().zip(model) {
            error += (y[j] - x[j]).square();
            spread += (x[j] - mean).square();
        }
        100.0 * (1.0 - error / spread)
    })
}

/// An estimate against its truth, in the order [μd0 μv0 d0 μd1 μv1 d1].
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// Estimate / truth.
    pub ratio: [f64; 6],
    /// 95 % half-width / truth, with the rig's tolerances and without.
    pub half_width: [f64; 6],
    pub record_half_width: [f64; 6],
    /// Error in σ.
    pub z: [f64; 6],
    pub identifiable: u8,
    pub verdict: Verdict,
    pub colour: f64,
    pub drift: f64,
    /// Errors of the rig file, and their σ.
    pub rig: [f64; 7],
    pub rig_sigma: [f64; 7],
    pub counters: ekf::Counters,
    /// Free run with the estimate and the filter's friction law.
    pub fit: [f64; 2],
    /// Start of stage C [s].
    pub start_s: f64,
}

impl Score {
    /// The truth lies in the 95 % interval of parameter `k`.
    pub fn covers(&self, k: usize) -> bool {
        self.z[k].abs() <= 1.96
    }
}

/// Identify `case` from counts with `noise` counts RMS and judge the result.
pub fn score<S: Scalar>(case: &Case, config: &ekf::Config, noise: f64, seed: u64) -> Score {
    let angles = case.angles();
    let measured = encode(&angles, noise, seed);
    let found = identify::<S>(case, config, &measured);
    let e = &found.estimate;
    let (p, sigma) = (e.p.map(S::to_f64), e.sigma.map(S::to_f64));
    let record = found.record_sigma.map(S::to_f64);
    let t = case.parameters();
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
    let model = case.free_run([joint(0), joint(1)]);
    Score {
        ratio: core::array::from_fn(|i| p[i] / t[i]),
        half_width: core::array::from_fn(|i| 1.96 * sigma[i] / t[i]),
        record_half_width: core::array::from_fn(|i| 1.96 * record[i] / t[i]),
        z: core::array::from_fn(|i| (p[i] - t[i]) / sigma[i]),
        identifiable: e.identifiable,
        verdict: e.verdict,
        colour: e.colour.to_f64(),
        drift: e.drift[0].max(e.drift[1]).to_f64(),
        rig: e.rig.map(S::to_f64),
        rig_sigma: found.rig_sigma.map(S::to_f64),
        counters: found.counters,
        fit: fit(&angles, &model),
        start_s: found.start_s,
    }
}
