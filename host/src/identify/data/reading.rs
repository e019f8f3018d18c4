//! A file as a dataset: which plant, which columns, what of the rig is free. Commands, campaigns and Python read files this way.

use std::path::{Path, PathBuf};

use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::model::plant::tolerance::Tolerance;

use crate::config::axes::Axes;
use crate::error::{Error, Result};
use crate::identify::data::dataset::{Channel, Dataset, Quantity};
use crate::identify::data::import::{self, Imported, Table};
use crate::identify::data::record::Record;
use crate::identify::model::parametric::{Freedom, Param, Prior, Rig};
use crate::identify::model::plant::pendulum;
use crate::log::metadata::Metadata;
use crate::log::text;

/// What moved.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Moved {
    /// One joint; ω0² is found from the record unless --omega0-squared is given
    Pendulum,
    /// Arm and pendulum; the rig from --rig or the log
    Furuta,
    /// Linear stage driven by a known force
    Stage,
}

/// What is known of a rig parameter beforehand: value ± one standard deviation.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// ASCII name as `--refine` takes it.
    pub parameter: String,
    pub value: f64,
    pub sigma: f64,
}

/// A file that was read.
pub struct Loaded {
    pub data: Dataset,
    /// What is lost or damaged in it.
    pub missing: Vec<String>,
    /// What was said about a log.
    pub recording: Option<Metadata>,
}

impl From<Dataset> for Loaded {
    fn from(data: Dataset) -> Loaded {
        Loaded {
            data,
            missing: Vec::new(),
            recording: None,
        }
    }
}

/// How a file is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub plant: Option<Moved>,
    /// Configuration (TOML) with the rig; none: that of the log.
    pub rig: Option<PathBuf>,
    /// m·g·l/J of a pendulum [1/s²].
    pub omega0_squared: Option<f64>,
    /// Inertia of a pendulum about its pivot [kg·m²].
    pub inertia: Option<f64>,
    /// Rig parameters of which nothing is known.
    pub refine: Vec<String>,
    /// The rig is exactly as configured.
    pub exact: bool,
    pub priors: Vec<Known>,
    /// Nothing is cut off.
    pub whole: bool,
    pub table: import::Options,
    /// Column of a stage's force, and newtons per unit of it (1 unless given).
    pub force: Option<String>,
    pub force_gain: Option<f64>,
}

impl Reading {
    /// Read one file.
    pub fn read(&self, file: &Path) -> Result<Loaded> {
        if self.plant == Some(Moved::Stage) {
            return self.stage(file).map(Loaded::from);
        }
        let (mut missing, mut recording) = (Vec::new(), None);
        let configured = self.rig.as_deref().map(crate::config::load).transpose()?;
        let (imported, rig) = if file.extension().is_some_and(|e| e == "mcap") {
            let logged = import::read_log(file)?;
            missing.extend(logged.damage.iter().map(ToString::to_string));
            if !logged.losses.is_clean() {
                missing.push(text::losses(&logged.losses).trim_end().into());
            }
            let config = configured.unwrap_or(logged.config);
            recording = Some(logged.recording);
            let imported = Imported {
                record: logged.record,
                notes: Vec::new(),
            };
            (imported, rig_of(&config))
        } else {
            let plant = configured.as_ref().map(|c| c.plant);
            let table = import::Options {
                axes: plant.as_ref().map(Axes::of).unwrap_or_default(),
                rest: plant.map_or([0.0; JOINTS], |p| p.rest().map(f64::from)),
                ..self.table.clone()
            };
            let imported = import::read(file, &table)?;
            let rig = self.moved(&imported.record, configured.as_ref())?;
            (imported, rig)
        };
        Ok(Loaded {
            data: self.dataset(imported, rig)?,
            missing,
            recording,
        })
    }

    /// A record that was read already, on the rig it was measured on.
    pub fn dataset(&self, imported: Imported, rig: Rig) -> Result<Dataset> {
        if rig.joints() != imported.record.joints {
            return Err(mismatch(&rig, &imported.record));
        }
        let mut data = Dataset::passive(&imported.record, rig).with(self.freedom(&rig)?);
        if self.whole {
            data = data.whole();
        }
        data.notes = imported.notes;
        Ok(data)
    }

    /// The plant that moved, with the rig of the configuration.
    pub fn moved(&self, record: &Record, configured: Option<&Config>) -> Result<Rig> {
        let two = self
            .plant
            .map_or(record.joints == 2, |p| p == Moved::Furuta);
        match (two, configured) {
            (true, Some(config)) => Ok(rig_of(config)),
            (true, None) => Err(Error::invalid(
                "two angles need the rig they were measured on",
                "write one with `stribeck config show > rig.toml`, set [plant.Furuta] in it, and give --rig rig.toml",
            )),
            (false, Some(config)) if self.omega0_squared.is_none() => Ok(rig_of(config)),
            (false, _) => Ok(Rig::Pendulum(pendulum::Rig::unknown(
                self.omega0_squared,
                self.inertia,
            ))),
        }
    }

    /// What of the rig is estimated: its default, nothing, more with nothing known of it, or as the priors say.
    pub fn freedom(&self, rig: &Rig) -> Result<Freedom> {
        let mut out = if self.exact && rig.joints() > 1 {
            Freedom::none()
        } else {
            rig.freedom()
        };
        for given in &self.refine {
            let (word, known) = given.split_once('=').unwrap_or((given, ""));
            for param in parameters(rig, word)? {
                out.release(param);
                if !known.is_empty() {
                    out.priors.push(prior(param, known)?);
                }
            }
        }
        for known in &self.priors {
            let usable = known.value.is_finite() && known.sigma.is_finite() && known.sigma > 0.0;
            if !usable {
                return Err(Error::invalid(
                    format!(
                        "{} = {} ± {} is no prior",
                        known.parameter, known.value, known.sigma
                    ),
                    "give a finite value and a standard deviation above 0",
                ));
            }
            for param in parameters(rig, &known.parameter)? {
                out.release(param);
                out.priors.push(Prior {
                    param,
                    value: known.value,
                    sigma: known.sigma,
                });
            }
        }
        Ok(out)
    }

    /// Displacement and force of a stage.
    fn stage(&self, file: &Path) -> Result<Dataset> {
        let table = Table::read(file, self.table.header)?;
        let key = |k: Option<&String>, what: &str| {
            k.cloned().ok_or_else(|| {
                Error::invalid(
                    format!("a stage needs a column of {what}"),
                    format!("give --{what} COLUMN"),
                )
            })
        };
        let gain = self.force_gain.unwrap_or(1.0);
        let position = table.column(file, &key(self.table.angle.first(), "angle")?)?;
        let force: Vec<f64> = table
            .column(file, &key(self.force.as_ref(), "force")?)?
            .iter()
            .map(|f| f * gain)
            .collect();
        let t = import::stage_times(&table, file, &self.table)?;
        let channel = |quantity, x| Channel {
            quantity,
            joint: 0,
            t: t.clone().into(),
            x,
            quantum: 0.0,
        };
        let mut data = Dataset::driven(
            file.display().to_string(),
            vec![
                channel(Quantity::Displacement, position.to_vec()),
                channel(Quantity::Force, force),
            ],
        );
        data.notes = table.notes;
        Ok(data)
    }
}

/// The rig of a configuration, known to its tolerances.
fn rig_of(config: &Config) -> Rig {
    Rig::of(&config.plant).within(&config.ekf.tolerance)
}

/// The parameters a word names: one of the rig's, or one of each joint.
fn parameters(rig: &Rig, word: &str) -> Result<Vec<Param>> {
    let joints = 0..rig.joints();
    let found: Vec<Param> = match word {
        "zero" => joints.map(Param::Offset).collect(),
        "disc" => joints
            .flat_map(|j| [Param::Disc(j, 0), Param::Disc(j, 1)])
            .collect(),
        _ => rig.parameter(word).into_iter().collect(),
    };
    if found.is_empty() {
        let ids: Vec<&str> = rig.table().iter().map(|e| e.id).collect();
        return Err(Error::invalid(
            format!("unknown rig parameter {word:?}"),
            format!("this plant has {}, zero, disc", ids.join(", ")),
        ));
    }
    Ok(found)
}

/// What is known of a parameter, VALUE±TOLERANCE: it lies anywhere within.
fn prior(param: Param, text: &str) -> Result<Prior> {
    let parsed = text.split_once('±').or_else(|| text.split_once("+-"));
    let read = |t: &str| t.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let (value, tolerance) = parsed
        .and_then(|(v, t)| Some((read(v)?, read(t)?)))
        .filter(|(_, t)| *t > 0.0)
        .ok_or_else(|| {
            Error::invalid(
                format!("`{text}` is not VALUE±TOLERANCE"),
                "write for example --refine cable=0±0.002",
            )
        })?;
    Ok(Prior {
        param,
        value,
        sigma: f64::from(Tolerance::SIGMA) * tolerance,
    })
}

fn mismatch(rig: &Rig, record: &Record) -> Error {
    if rig.joints() == 1 {
        Error::invalid(
            format!("a pendulum has one angle, {} are given", record.joints),
            "give --angle with one column, or --plant furuta with --rig",
        )
    } else {
        Error::invalid(
            "a Furuta pendulum needs two angle columns",
            "give --angle ARM,PENDULUM, or --plant pendulum",
        )
    }
}
