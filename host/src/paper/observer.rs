//! Paper 000: the reference run, its observers, and the numbers of Tables 3, 4 and 5.

use stribeck_core::model::friction::Friction;
use stribeck_core::model::parameter;
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::{
    COUNTS_PER_REV, REFERENCE_FRICTION, REFERENCE_START, Rng, Simulation, Truth,
};
use stribeck_core::observer::tracker;
use stribeck_core::observer::uas::{self, Uas};

use crate::identify::data::record::{Record, fit_percent};
use crate::identify::model::motion::free_run;
use crate::identify::model::parametric::{Model, model_friction};

/// Names of the ten parameters.
pub const NAMES: [&str; 10] = {
    let mut names = [""; 10];
    let mut i = 0;
    while i < names.len() {
        names[i] = parameter::UAS[i].symbol;
        i += 1;
    }
    names
};

/// Units of the ten parameters.
pub const UNITS: [&str; 10] = {
    let mut units = [""; 10];
    let mut i = 0;
    while i < units.len() {
        units[i] = parameter::UAS[i].unit;
        i += 1;
    }
    units
};

/// Table 3: initial guess, printed estimate. The actual values are [`REFERENCE_FRICTION`].
pub const TABLE_3: [[f64; 10]; 2] = [
    [
        5.135e-3, 5.875e-3, 2.531e-3, 4.853e-2, 1.029e-1, 5.705e-3, 6.683e-3, 2.399e-3, 4.820e-2,
        9.720e-2,
    ],
    [
        4.793e-4, 5.740e-4, 2.424e-4, 4.742e-3, 9.479e-3, 5.740e-4, 6.688e-4, 2.424e-4, 4.742e-3,
        9.479e-3,
    ],
];

/// Table 4: printed estimates of the experiment.
pub const TABLE_4: [f64; 10] = [
    1.575e-3, 1.575e-3, 3.006e-4, 3.006e-4, 2.065e-3, 3.046e-3, 3.065e-3, 3.006e-4, 3.006e-4,
    2.065e-3,
];

/// Table 5: (run, seconds of record, method, computation time \[s\], fit of arm and pendulum [%]).
pub const TABLE_5: [(&str, f64, &str, f64, [f64; 2]); 4] = [
    ("simulation", 35.0, "UAS", 3.43, [98.97, 99.53]),
    ("simulation", 35.0, "optimisation", 4504.6, [12.77, 2.80]),
    ("experiment", 20.28, "UAS", 19.49, [77.84, 91.99]),
    ("experiment", 20.28, "optimisation", 10373.7, [3.40, 24.11]),
];

/// The truth of Table 3 as a flat list.
pub fn truth() -> [f64; 10] {
    std::array::from_fn(|i| REFERENCE_FRICTION[i / 5][i % 5])
}

/// What the ten printed estimates are: one affine function of the truth.
pub fn affine(truth: f64) -> f64 {
    0.9473 * truth + 5.6e-6
}

/// The reference run as counts at 10 kHz, as every method sees it.
pub fn reference_record(noise_counts: f64, seed: u64) -> Record {
    let mut bench = Simulation::reference(noise_counts, seed);
    let count = std::f64::consts::TAU / f64::from(COUNTS_PER_REV);
    let n = stribeck_core::model::sim::REFERENCE_TICKS as usize;
    let mut q = Vec::with_capacity(n);
    for _ in 0..n {
        let sample = bench.tick();
        // Counts are rounded down: the middle of the count is the best guess.
        q.push(sample.counts.map(|c| (f64::from(c as i32) + 0.5) * count));
    }
    Record {
        name: "reference run".into(),
        t: (0..n).map(|i| i as f64 * 1e-4).collect(),
        q,
        joints: 2,
        quantum: [count; 2],
    }
}

/// States every millisecond from `start` \[rad\] for `steps` of them.
pub fn simulation_from(start: [f64; 2], steps: usize) -> (Vec<f64>, Vec<[f64; 4]>) {
    let plant = PlantConfig::Furuta(furuta::Config::default());
    let friction = REFERENCE_FRICTION.map(Friction::brown_mcphee);
    let mut truth = Truth::new(&plant, friction, start, 1e-3, 10);
    let mut states = vec![[truth.q[0], truth.q[1], 0.0, 0.0]];
    for _ in 0..steps {
        truth.step();
        states.push([truth.q[0], truth.q[1], truth.w[0], truth.w[1]]);
    }
    ((0..states.len()).map(|i| i as f64 * 1e-3).collect(), states)
}

/// The simulation of §IV-A.
pub fn simulation() -> (Vec<f64>, Vec<[f64; 4]>) {
    simulation_from(REFERENCE_START, 35_000)
}

/// In place of the experiment of §IV-B, which is not public: its start and length with Table 3's truth.
pub fn second_simulation() -> (Vec<f64>, Vec<[f64; 4]>) {
    simulation_from([0.2, 126.0].map(f64::to_radians), 20_280)
}

/// One step of the observer's history.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub t: f64,
    pub q: [f64; 2],
    pub w: [f64; 2],
    pub z: [f64; 10],
    pub error: f64,
    pub gain: f64,
}

/// The observer as printed on the simulation, with noise of standard deviation `noise` on the velocities.
pub fn run_uas(states: &[[f64; 4]], config: &uas::Config, noise: f64, seed: u64) -> Vec<Moment> {
    let plant = PlantConfig::Furuta(furuta::Config::default());
    let observer = Uas::<f64>::new(&plant, config, &tracker::Config::default(), 1e-3);
    let mut rng = Rng::new(seed);
    let mut state = observer.start([states[0][0], states[0][1]]);
    let mut out = Vec::with_capacity(states.len());
    for (i, s) in states.iter().enumerate().skip(1) {
        let mut n = || noise * rng.normal();
        let (q, w) = ([s[0] + n(), s[1] + n()], [s[2] + n(), s[3] + n()]);
        observer.step_measured(&mut state, q, w);
        out.push(Moment {
            t: i as f64 * 1e-3,
            q: state.q,
            w: state.w,
            z: state.z,
            error: state.error,
            gain: state.gain.n,
        });
    }
    out
}

/// The paper's configuration with Table 3's initial guesses.
pub fn table_3_config() -> uas::Config {
    let mut config = uas::Config::paper();
    for (bound, guess) in config.bounds.iter_mut().zip(TABLE_3[0]) {
        bound.initial = guess as f32;
    }
    config
}

/// A model with the ten parameters `z`.
pub fn model(z: &[f64; 10]) -> Model {
    let friction = [0, 1].map(|j| {
        model_friction(&Friction::brown_mcphee(std::array::from_fn(|i| {
            z[5 * j + i]
        })))
    });
    Model::furuta(&furuta::Config::default(), friction)
}

/// Fit [%] per joint of a free run with parameters `z` against the simulation, and the run itself.
pub fn score(z: &[f64; 10], t: &[f64], states: &[[f64; 4]]) -> ([f64; 2], Vec<[f64; 2]>) {
    let path = free_run(&model(z), &states[0], t);
    let fit = [0, 1].map(|j| {
        let reference: Vec<f64> = states.iter().map(|s| s[j]).collect();
        let run: Vec<f64> = path.iter().map(|q| q[j]).collect();
        fit_percent(&reference, &run)
    });
    (fit, path)
}
