//! `campaign.toml`: which runs, which methods, where the results go. Unknown names are refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::identify::data::import;
use crate::identify::data::reading::{Known, Moved, Reading};
use crate::identify::method::{self, Method, Options, Precision};
use crate::identify::model::terms;

/// The whole file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Folder of the results, relative to the file.
    pub output: PathBuf,
    /// Measured runs.
    #[serde(default)]
    pub input: Vec<Input>,
    /// Simulated runs.
    pub simulation: Option<Simulation>,
    #[serde(default)]
    pub identify: Identify,
}

/// Files that are read alike.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Patterns of paths, relative to the campaign file: `oil/*.mcap`, `**/*.csv`.
    pub files: Vec<String>,
    /// Design variables in the file's name without ending: `{temperature}C-{release}`.
    pub pattern: Option<String>,
    /// Design variables that are the same for all of them.
    #[serde(default)]
    pub variables: BTreeMap<String, Variable>,
    /// Columns and units of tables, named as the options of `identify`.
    #[serde(default)]
    pub table: import::Options,
    /// Column of a stage's force, and newtons per unit of it.
    pub force: Option<String>,
    pub force_gain: Option<f64>,
}

/// The value of a design variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Variable {
    Number(f64),
    Text(String),
}

impl Variable {
    /// A number if it reads as one.
    pub fn of(text: &str) -> Variable {
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Variable::Number(x),
            _ => Variable::Text(text.into()),
        }
    }
}

impl std::fmt::Display for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Variable::Number(x) => write!(f, "{x}"),
            Variable::Text(t) => f.write_str(t),
        }
    }
}

/// What swings in a simulated run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bench {
    /// The scenario below.
    #[default]
    Scenario,
    /// Every seed has its own rig, as in `stribeck study`.
    Random,
    /// Every seed has its own pendulum and encoder, as in `stribeck study --one-joint`.
    OneJoint,
}

/// A simulation design: every combination of the varied values, each with every seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    #[serde(default)]
    pub bench: Bench,
    /// How many seeds, and the first.
    pub seeds: u64,
    #[serde(default = "one")]
    pub first_seed: u64,
    /// Length of a run \[s\].
    #[serde(default = "usual_seconds")]
    pub seconds: f64,
    /// As `stribeck simulate --scenario` takes it.
    #[serde(default)]
    pub scenario: toml::Table,
    /// Values of the scenario (paths like `friction[1].mu_d`), `seconds`, and for random rigs `noise_counts` and `mismatch`.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<Variable>>,
}

fn one() -> u64 {
    1
}

fn usual_seconds() -> f64 {
    25.0
}

/// How every run is identified; the names are the options of `identify`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Identify {
    pub methods: Vec<String>,
    pub terms: String,
    pub plant: Option<Moved>,
    /// Configuration (TOML) with the rig, relative to the campaign file.
    pub rig: Option<PathBuf>,
    pub omega0_squared: Option<f64>,
    pub inertia: Option<f64>,
    pub refine: Vec<String>,
    pub exact: bool,
    pub whole: bool,
    pub precision: Precision,
    pub asymmetric: bool,
    pub prior: Vec<Known>,
}

impl Default for Identify {
    fn default() -> Self {
        Identify {
            methods: vec!["greybox".into()],
            terms: "auto".into(),
            plant: None,
            rig: None,
            omega0_squared: None,
            inertia: None,
            refine: Vec::new(),
            exact: false,
            whole: false,
            precision: Precision::default(),
            asymmetric: false,
            prior: Vec::new(),
        }
    }
}

impl Spec {
    /// Read and check a campaign file.
    pub fn load(path: &Path) -> Result<Spec> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        let spec: Spec = toml::from_str(&text).map_err(|e| {
            invalid(format!(
                "{}: {}",
                path.display(),
                e.to_string().trim().replace('\n', "\n  ")
            ))
        })?;
        spec.check()
            .map_err(|what| invalid(format!("{}: {what}", path.display())))?;
        Ok(spec)
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.input.is_empty() && self.simulation.is_none() {
            return Err("neither [[input]] nor [simulation]: no run is named".into());
        }
        if self.output.as_os_str().is_empty() {
            return Err("output is empty: name a folder".into());
        }
        let i = &self.identify;
        if i.methods.is_empty() {
            return Err("identify.methods is empty".into());
        }
        let known: Vec<&str> = method::METHODS.iter().map(|m| m.name()).collect();
        for (at, m) in i.methods.iter().enumerate() {
            if !known.contains(&m.as_str()) {
                return Err(format!(
                    "there is no method {m:?}; known: {}",
                    known.join(", ")
                ));
            }
            if i.methods[..at].contains(m) {
                return Err(format!("method {m:?} is named twice"));
            }
        }
        if i.terms != "auto" && terms::parse(&i.terms).is_none() {
            return Err(format!("unknown friction terms {:?}", i.terms));
        }
        match &self.simulation {
            Some(s) => s.check(),
            None => Ok(()),
        }
    }

    /// The methods, in the order of the file.
    pub fn methods(&self) -> Vec<&'static dyn Method> {
        let names = self.identify.methods.iter();
        names.filter_map(|m| method::find(m)).collect()
    }

    /// The choices every method gets.
    pub fn options(&self) -> Options {
        Options {
            terms: terms::parse(&self.identify.terms),
            precision: self.identify.precision,
            asymmetric: self.identify.asymmetric,
        }
    }

    /// How files of a group are read; `base` is the folder of the campaign file.
    pub fn reading(&self, input: Option<&Input>, base: &Path) -> Reading {
        let i = &self.identify;
        Reading {
            plant: i.plant,
            rig: i.rig.as_ref().map(|r| base.join(r)),
            omega0_squared: i.omega0_squared,
            inertia: i.inertia,
            refine: i.refine.clone(),
            exact: i.exact,
            priors: i.prior.clone(),
            whole: i.whole,
            table: input.map(|i| i.table.clone()).unwrap_or_default(),
            force: input.and_then(|i| i.force.clone()),
            force_gain: input.and_then(|i| i.force_gain),
        }
    }
}

impl Simulation {
    fn check(&self) -> std::result::Result<(), String> {
        if self.seeds == 0 {
            return Err("simulation.seeds is 0: no run is simulated".into());
        }
        if self.first_seed.checked_add(self.seeds).is_none() {
            return Err("simulation.first_seed + seeds is too large".into());
        }
        if !(self.seconds.is_finite() && self.seconds > 0.0) {
            return Err(format!(
                "simulation.seconds = {} is no length",
                self.seconds
            ));
        }
        if let Some((name, _)) = self.vary.iter().find(|(_, v)| v.is_empty()) {
            return Err(format!("simulation.vary.{name} has no value"));
        }
        if self.bench != Bench::Scenario && !self.scenario.is_empty() {
            return Err("simulation.scenario is for bench = \"scenario\"".into());
        }
        Ok(())
    }
}

fn invalid(what: String) -> Error {
    Error::invalid(
        what,
        "`stribeck campaign --help` has an example of the file; the names of [identify] and [input.table] are those of `identify --help`",
    )
}
