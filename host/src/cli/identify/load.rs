//! A file as a dataset: which plant, which columns, what of the rig is free.

use std::path::Path;

use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::model::plant::PlantConfig;
use stribeck_core::model::plant::tolerance::Tolerance;

use super::{Args, Plant};
use crate::bond::describe;
use crate::bond::equations::System;
use crate::bond::simulate::Of;
use crate::config::axes::Axes;
use crate::error::{Error, Result};
use crate::identify::data::dataset::{Channel, Dataset, Quantity};
use crate::identify::data::graphed::Graphed;
use crate::identify::data::import::{self, Imported, Table};
use crate::identify::data::record::Record;
use crate::identify::model::parametric::{Freedom, Param, Prior, Rig};
use crate::identify::model::plant::pendulum;
use crate::log::metadata::Metadata;
use crate::log::text;

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

/// Read one file as the arguments say.
pub fn dataset(args: &Args, file: &Path) -> Result<Loaded> {
    if args.plant == Some(Plant::Stage) {
        return stage(args, file).map(Loaded::from);
    }
    if let Some(graph) = &args.graph {
        return graphed(args, graph, file).map(Loaded::from);
    }
    let (mut missing, mut recording) = (Vec::new(), None);
    let configured = args.rig.as_deref().map(crate::config::load).transpose()?;
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
        let imported = import::read(file, &options(args, configured.map(|c| c.plant)))?;
        let rig = rig(args, &imported.record, configured.as_ref())?;
        (imported, rig)
    };
    if rig.joints() != imported.record.joints {
        return Err(mismatch(&rig, &imported.record));
    }
    let mut data = Dataset::passive(&imported.record, rig).with(freedom(args, &rig)?);
    if args.no_trim {
        data = data.whole();
    }
    data.notes = imported.notes;
    Ok(Loaded {
        data,
        missing,
        recording,
    })
}

fn options(args: &Args, plant: Option<PlantConfig>) -> import::Options {
    import::Options {
        axes: plant.as_ref().map(Axes::of).unwrap_or_default(),
        rest: plant.map_or([0.0; JOINTS], |p| p.rest().map(f64::from)),
        counts_per_metre: args.counts_per_metre,
        time: args.time.clone(),
        time_unit: args.time_unit,
        angle: args.angle.clone(),
        unit: args.unit,
        counts_per_rev: args.counts_per_rev,
        rate: args.rate,
        header: args.header,
        offset: args.offset.clone(),
        inverted: args.invert.clone(),
        reference: args.reference,
    }
}

/// The rig of a configuration, known to its tolerances.
fn rig_of(config: &Config) -> Rig {
    Rig::of(&config.plant).within(&config.ekf.tolerance)
}

/// The plant that moved, with the rig of the configuration.
fn rig(args: &Args, record: &Record, configured: Option<&Config>) -> Result<Rig> {
    let two = args
        .plant
        .map_or(record.joints == 2, |p| p == Plant::Furuta);
    match (two, configured) {
        (true, Some(config)) => Ok(rig_of(config)),
        (true, None) => Err(Error::invalid(
            "two angles need the rig they were measured on",
            "write one with `stribeck config show > rig.toml`, set [plant.Furuta] in it, and give --rig rig.toml",
        )),
        (false, Some(config)) if args.omega0_squared.is_none() => Ok(rig_of(config)),
        (false, _) => Ok(Rig::Pendulum(pendulum::Rig::unknown(
            args.omega0_squared,
            args.inertia,
        ))),
    }
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

/// What of the rig is estimated: its default, nothing, or more with nothing known of it.
fn freedom(args: &Args, rig: &Rig) -> Result<Freedom> {
    if args.exact && rig.joints() > 1 {
        return Ok(Freedom::none());
    }
    let mut out = rig.freedom();
    for given in &args.refine {
        let (word, known) = given.split_once('=').unwrap_or((given, ""));
        let joints = 0..rig.joints();
        let params: Vec<Param> = match word {
            "zero" => joints.map(Param::Offset).collect(),
            "disc" => joints
                .flat_map(|j| [Param::Disc(j, 0), Param::Disc(j, 1)])
                .collect(),
            _ => rig.parameter(word).into_iter().collect(),
        };
        if params.is_empty() {
            let ids: Vec<&str> = rig.table().iter().map(|e| e.id).collect();
            return Err(Error::invalid(
                format!("unknown rig parameter {word:?}"),
                format!("this plant has {}, zero, disc", ids.join(", ")),
            ));
        }
        for param in params {
            out.release(param);
            if !known.is_empty() {
                out.priors.push(prior(param, known)?);
            }
        }
    }
    Ok(out)
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

/// Displacement and force of a stage.
fn stage(args: &Args, file: &Path) -> Result<Dataset> {
    let table = Table::read(file, args.header)?;
    let key = |k: Option<&String>, what: &str| {
        k.cloned().ok_or_else(|| {
            Error::invalid(
                format!("a stage needs a column of {what}"),
                format!("give --{what} COLUMN"),
            )
        })
    };
    let position = table.column(file, &key(args.angle.first(), "angle")?)?;
    let force: Vec<f64> = table
        .column(file, &key(args.force.as_ref(), "force")?)?
        .iter()
        .map(|f| f * args.force_gain)
        .collect();
    let t = import::stage_times(&table, file, &options(args, None))?;
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

/// Inputs and outputs of a bond graph.
fn graphed(args: &Args, source: &str, file: &Path) -> Result<Dataset> {
    let (name, text) = describe::open(source)?;
    let mut graph = describe::read(&name, &text)?;
    for given in &args.set {
        let (name, value) = pair(given)?;
        let parameter = graph.parameters.iter_mut().find(|p| p.name == name);
        let help = format!("`stribeck bond {source} --source` shows the parameters");
        parameter
            .ok_or_else(|| Error::invalid(format!("no parameter is called {name}"), help))?
            .value = number(name, value)?;
    }
    let system = System::new(graph).map_err(|e| {
        Error::invalid(
            format!("{name}: {e}"),
            "the component and the reason are named: change the description there",
        )
    })?;
    let mut graphed = Graphed::new(system);
    for given in &args.initial {
        let (name, value) = pair(given)?;
        if let Of::Initial(k) = graphed.quantity(&format!("x0:{name}"))? {
            graphed.initial[k] = number(name, value)?;
        }
    }
    for name in &args.estimate {
        let of = graphed.quantity(name)?;
        graphed.unknown.push(of);
    }
    for given in &args.constant {
        let (name, value) = pair(given)?;
        let k = graphed.input(name)?;
        graphed.constant[k] = Some(number(name, value)?);
    }
    let table = Table::read(file, args.header)?;
    let t: std::sync::Arc<[f64]> = import::stage_times(&table, file, &options(args, None))?.into();
    let channel = |quantity, joint, x: &[f64]| Channel {
        quantity,
        joint,
        t: t.clone(),
        x: x.to_vec(),
        quantum: 0.0,
    };
    let mut channels = Vec::new();
    for given in &args.input {
        let (name, column) = pair(given)?;
        let k = graphed.input(name)?;
        channels.push(channel(Quantity::Input, k, table.column(file, column)?));
    }
    for (k, given) in args.output.iter().enumerate() {
        let (name, column) = pair(given)?;
        let output = graphed.output(name)?;
        graphed.outputs.push(output);
        channels.push(channel(Quantity::Output, k, table.column(file, column)?));
    }
    let mut data = Dataset::driven(file.display().to_string(), channels);
    data.graph = Some(graphed);
    data.notes = table.notes;
    Ok(data)
}

fn pair(text: &str) -> Result<(&str, &str)> {
    let found = text.split_once('=').map(|(a, b)| (a.trim(), b.trim()));
    found.ok_or_else(|| {
        Error::invalid(
            format!("`{text}` is not NAME=VALUE"),
            "write for example u=u_V",
        )
    })
}

fn number(name: &str, value: &str) -> Result<f64> {
    let parsed = value.parse().ok().filter(|v: &f64| v.is_finite());
    parsed.ok_or_else(|| {
        Error::invalid(
            format!("{name} = {value} is no number"),
            "write a finite number",
        )
    })
}
