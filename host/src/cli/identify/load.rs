//! A file as a dataset, as the arguments say.

use std::path::Path;

use super::Args;
use crate::bond::describe;
use crate::bond::equations::System;
use crate::bond::simulate::Of;
use crate::error::{Error, Result};
use crate::identify::data::dataset::{Channel, Dataset, Quantity};
use crate::identify::data::graphed::Graphed;
use crate::identify::data::import::{self, Table};
use crate::identify::data::reading::{Loaded, Reading};

/// Read one file as the arguments say.
pub fn dataset(args: &Args, file: &Path) -> Result<Loaded> {
    if let Some(graph) = &args.graph {
        return graphed(args, graph, file).map(Loaded::from);
    }
    let reading = Reading {
        plant: args.plant,
        rig: args.rig.clone(),
        omega0_squared: args.omega0_squared,
        inertia: args.inertia,
        refine: args.refine.clone(),
        exact: args.exact,
        priors: Vec::new(),
        whole: args.no_trim,
        table: options(args),
        force: args.force.clone(),
        force_gain: Some(args.force_gain),
    };
    reading.read(file)
}

fn options(args: &Args) -> import::Options {
    import::Options {
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
        // Joints and rest come with the rig.
        ..import::Options::default()
    }
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
    let t: std::sync::Arc<[f64]> = import::stage_times(&table, file, &options(args))?.into();
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
