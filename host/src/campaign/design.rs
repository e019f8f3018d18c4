//! Simulated runs: the product of the varied values with the seeds, each a dataset whose truth is known.
//!
//! Seeds vary fastest, then the variables in the order of their names. A run is decided by its number and the spec alone.

use stribeck_core::device::config::Config;
use stribeck_core::model::sim::{Rng, Truth};

use crate::config;
use crate::error::{Error, Result};
use crate::identify::data::import::Imported;
use crate::identify::data::reading::Reading;
use crate::identify::data::record::Record;
use crate::identify::model::parametric::{Coef, Freedom, Rig};
use crate::identify::study::record::{self, Sample};
use crate::link::scenario::Scenario;

use super::spec::{Bench, Simulation, Variable};

/// RK4 steps per tick of a scenario's bench, as the native twin takes them.
const SUBSTEPS: u32 = 2;

/// One simulated run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub seed: u64,
    /// Values of the varied names, in their order.
    pub values: Vec<Variable>,
}

impl Simulation {
    /// How many runs.
    pub fn runs(&self) -> u64 {
        let levels = self.vary.values().map(|v| v.len() as u64);
        levels.fold(self.seeds, |a, b| a.saturating_mul(b))
    }

    /// The run of this number.
    pub fn point(&self, index: u64) -> Point {
        let seed = self.first_seed + index % self.seeds;
        let mut rest = index / self.seeds;
        let values = self.vary.values().map(|levels| {
            let n = levels.len() as u64;
            let value = levels[(rest % n) as usize].clone();
            rest /= n;
            value
        });
        Point {
            values: values.collect(),
            seed,
        }
    }

    /// Everything that decides a run, as text: what its input hash is taken of.
    pub fn describe(&self, point: &Point, rig: Option<&Config>) -> Result<String> {
        let values: Vec<String> = self
            .vary
            .keys()
            .zip(&point.values)
            .map(|(k, v)| format!("{k} = {v}"))
            .collect();
        Ok(format!(
            "{:?}\n{} s\nseed {}\n{}\n{}\n{}",
            self.bench,
            self.seconds,
            point.seed,
            toml::to_string(&self.scenario).unwrap_or_default(),
            values.join("\n"),
            rig.map(config::to_toml).transpose()?.unwrap_or_default(),
        ))
    }

    /// The dataset of a run and its truth.
    pub fn sample(&self, point: &Point, rig: Option<&Config>, reading: &Reading) -> Result<Sample> {
        match self.bench {
            Bench::Scenario => self.scenario(point, rig, reading),
            Bench::Random => self.random(point, reading.exact),
            Bench::OneJoint => match self.vary.keys().next() {
                None => Ok((record::one_joint().make)(point.seed)),
                Some(name) => Err(unknown(name, "nothing: every seed has its own pendulum")),
            },
        }
    }

    fn random(&self, point: &Point, exact: bool) -> Result<Sample> {
        let mut seconds = self.seconds;
        let mut noise = 0.0;
        let mut row = None;
        for (name, value) in self.vary.keys().zip(&point.values) {
            match (name.as_str(), value) {
                ("seconds", Variable::Number(x)) if x.is_finite() && *x > 0.0 => seconds = *x,
                ("noise_counts", Variable::Number(x)) if x.is_finite() && *x >= 0.0 => noise = *x,
                ("mismatch", Variable::Text(text)) => row = Some(text),
                _ => {
                    return Err(unknown(
                        name,
                        "seconds, noise_counts (numbers) or mismatch (texts, the rows of `stribeck study --mismatch`)",
                    ));
                }
            }
        }
        if row.is_some() && self.vary.contains_key("noise_counts") {
            return Err(unknown(
                "noise_counts",
                "not together with mismatch, whose rows have their own noise",
            ));
        }
        let row = match row {
            None => record::clean(seconds, noise, exact),
            Some(name) => {
                let all = record::mismatched(seconds);
                let names: Vec<String> = all.iter().map(|r| r.name.clone()).collect();
                let found = all.into_iter().find(|r| r.name == *name);
                found.ok_or_else(|| {
                    Error::invalid(
                        format!("there is no mismatch {name:?}"),
                        format!("one of {}", names.join("; ")),
                    )
                })?
            }
        };
        let mut sample = (row.make)(point.seed);
        if exact {
            sample.data = sample.data.with(Freedom::none());
        }
        Ok(sample)
    }

    fn scenario(&self, point: &Point, rig: Option<&Config>, reading: &Reading) -> Result<Sample> {
        let config = rig.copied().unwrap_or_default();
        let given = toml::to_string(&self.scenario).unwrap_or_default();
        let bad = |e: &dyn std::fmt::Display| {
            Error::invalid(
                format!("simulation.scenario: {}", e.to_string().trim()),
                "see `stribeck simulate --help` for the names",
            )
        };
        let base = Scenario::from_toml(&given, &config.plant).map_err(|e| bad(&e))?;
        let mut table = toml::Table::try_from(&base).map_err(|e| bad(&e))?;
        let mut seconds = self.seconds;
        for (name, value) in self.vary.keys().zip(&point.values) {
            match (name.as_str(), value) {
                ("seconds", Variable::Number(x)) => seconds = *x,
                (_, Variable::Number(x)) => {
                    config::set(&mut table, name, toml::Value::Float(*x)).map_err(|_| {
                        unknown(name, "seconds, or a number of the scenario, as friction[1].mu_d, start[1], noise_counts")
                    })?;
                }
                (_, Variable::Text(_)) => return Err(unknown(name, "a number of the scenario")),
            }
        }
        let scenario: Scenario = table.try_into().map_err(|e| bad(&e))?;
        scenario.validate()?;
        if let Some(fault) = scenario.faults.first() {
            return Err(Error::invalid(
                format!("simulation.scenario has a fault ({:?})", fault.kind),
                "a campaign simulates the rig, not the link: write logs with `stribeck simulate --fault` and name them in [[input]]",
            ));
        }
        let record = swing(&scenario, &config, seconds, point.seed);
        // The rig that is identified is the configured one, as with a log; the true one may differ.
        let rig = Rig::of(&config.plant).within(&config.ekf.tolerance);
        let friction = scenario.friction;
        let mut truth = Vec::new();
        for (j, f) in friction.iter().enumerate().take(record.joints) {
            let called = |c, name: &str| format!("{}{j}", rig.friction_label(c, j).name) == name;
            if called(Coef::Coulomb, MU_D[j]) {
                truth.push((MU_D[j], f.mu_d));
            }
            if called(Coef::Viscous, MU_V[j]) {
                truth.push((MU_V[j], f.mu_v));
            }
        }
        let imported = Imported {
            record,
            notes: Vec::new(),
        };
        let data = reading.dataset(imported, rig)?;
        Ok(Sample { data, truth })
    }
}

const MU_D: [&str; 2] = ["μd0", "μd1"];
const MU_V: [&str; 2] = ["μv0", "μv1"];

/// Counts of a free swing, from the moment it is let go.
fn swing(scenario: &Scenario, config: &Config, seconds: f64, seed: u64) -> Record {
    let plant = scenario.plant.unwrap_or(config.plant);
    let dt_s = 1.0 / f64::from(config.tick_hz);
    let friction = scenario.friction;
    let mut truth = Truth::new(&plant, friction, scenario.start, dt_s, SUBSTEPS);
    let mut rng = Rng::new(seed);
    let quantum: [f64; 2] = config.quantum();
    let n = (seconds / dt_s) as usize;
    let mut q = Vec::with_capacity(n);
    for _ in 0..n {
        let read = |j: usize, noise: f64| {
            // Counts are rounded down: the middle of the count is the best guess.
            ((truth.q[j] / quantum[j] + noise).floor() + 0.5) * quantum[j]
        };
        let noise = match scenario.noise_counts > 0.0 {
            true => [0; 2].map(|_| scenario.noise_counts * rng.normal()),
            false => [0.0; 2],
        };
        q.push([read(0, noise[0]), read(1, noise[1])]);
        truth.step();
    }
    Record {
        name: format!("seed {seed}"),
        t: (0..n).map(|i| i as f64 * dt_s).collect(),
        q,
        joints: config.plant.dof(),
        quantum,
    }
}

fn unknown(name: &str, known: &str) -> Error {
    Error::invalid(
        format!("simulation.vary.{name} cannot be varied"),
        format!("with this bench: {known}"),
    )
}
