//! `stribeck bond`: a bond graph from its description to causality, equations, code, drawing, motion and sensitivities.
//!
//! ```text
//! stribeck bond cart-pendulum                          causality and state equations
//! stribeck bond motor.toml --svg motor.svg --rust
//! stribeck bond rlc --simulate 2e-3 --step 1e-6 --input 'u=1' --sensitivity r,c -o motion.csv
//! ```

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;

use crate::bond::describe;
use crate::bond::draw;
use crate::bond::equations::System;
use crate::bond::formula::Formula;
use crate::bond::record::{self, Form};
use crate::bond::simulate::{Motion, Of, Run, simulate};
use crate::cli::exit::Exit;
use crate::error::Error;
use crate::file;

/// Causality, equations, code, drawing, motion and sensitivities of a bond graph
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The description is TOML: parameters, inputs, parts and bonds; sub-graphs with [sub.NAME] and [use].
Components: Se Sf I C integrator R TF GY AE AF De Df 0 1; values are formulas of parameters, states, inputs and t.
Examples that come with the program: rlc, motor, two-tanks, cart, cart-pendulum.

Example:
  $ stribeck bond rlc
  RLC circuit: 6 components, 5 bonds
  states: l, c; derivative causality: none; algebraic loops: none
  p_l' = u - r·p_l/l - q_c/c
  q_c' = p_l/l")]
pub struct Args {
    /// Description (TOML), or the name of an example
    graph: String,
    /// Print the description itself
    #[arg(long)]
    source: bool,
    /// Print the state equations as LaTeX
    #[arg(long)]
    latex: bool,
    /// Print a Rust function that gives the rates
    #[arg(long)]
    rust: bool,
    /// Put the parameters' numbers into the Rust function
    #[arg(long, requires = "rust")]
    fold: bool,
    /// Draw the causal graph
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Simulate so many seconds
    #[arg(long, value_name = "SECONDS")]
    simulate: Option<f64>,
    /// Step of the simulation [s]
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "simulate",
        default_value_t = 1e-3
    )]
    step: f64,
    /// An input as a formula of t; others are zero
    #[arg(long, value_name = "NAME=FORMULA", requires = "simulate")]
    input: Vec<String>,
    /// An initial state; others are zero
    #[arg(long, value_name = "STATE=VALUE", requires = "simulate")]
    initial: Vec<String>,
    /// Another value of a parameter
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Sensitivities to these parameters, or to initial states as x0:STATE
    #[arg(long, value_delimiter = ',', requires = "simulate")]
    sensitivity: Vec<String>,
    /// Write the motion as CSV (default: standard output)
    #[arg(short, long, value_name = "FILE", requires = "simulate")]
    output: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let (name, text) = describe::open(&args.graph)?;
    if args.source {
        print!("{text}");
        return Ok(Exit::Success);
    }
    let mut graph = describe::read(&name, &text)?;
    for setting in &args.set {
        let (name, value) = pair(setting)?;
        let value: f64 = number(name, value)?;
        let parameter = graph.parameters.iter_mut().find(|p| p.name == name);
        parameter.ok_or_else(|| unknown("parameter", name))?.value = value;
    }
    let system = System::new(graph).map_err(|e| {
        Error::invalid(
            format!("{name}: {e}"),
            "the component and the reason are named: change the description there",
        )
    })?;
    if let Some(path) = &args.svg {
        file::may_write(path, args.force, &[Path::new(&args.graph)])?;
        file::replace(path, draw::svg(&system))?;
        eprintln!("wrote {}", path.display());
    }
    match args.simulate {
        Some(seconds) => moved(&args, &system, seconds),
        None => structure(&args, &system),
    }
}

fn structure(args: &Args, system: &System) -> anyhow::Result<Exit> {
    let graph = &system.graph;
    let derivative: Vec<_> = system
        .plan
        .derivative
        .iter()
        .map(|p| graph.parts[*p].name.clone())
        .collect();
    let form = if args.latex { Form::Latex } else { Form::Text };
    let equations = record::equations(system, form);
    if args.json {
        let value = json!({
            "name": graph.name, "components": graph.parts.len(), "bonds": graph.bonds.len(),
            "states": system.state_names(), "derivative_causality": derivative, "algebraic_loops": system.plan.torn.len(),
            "equations": equations.as_ref().ok().map(|text| text.lines().collect::<Vec<_>>()),
            "rust": record::rust(system, args.fold).ok().map(|(code, operations)| json!({"code": code, "operations": operations})),
        });
        println!("{value:#}");
        return Ok(Exit::Success);
    }
    let list = |names: &[String]| {
        if names.is_empty() {
            "none".to_string()
        } else {
            names.join(", ")
        }
    };
    println!(
        "{}: {} components, {} bonds",
        graph.name,
        graph.parts.len(),
        graph.bonds.len()
    );
    println!(
        "states: {}; derivative causality: {}; algebraic loops: {}",
        list(&system.state_names()),
        list(&derivative),
        if system.plan.torn.is_empty() {
            "none".into()
        } else {
            format!("through {}", system.loop_names())
        }
    );
    match equations {
        Ok(text) => print!("{text}"),
        Err(why) => println!("no closed state equations: {why}"),
    }
    if args.rust {
        let (code, operations) = record::rust(system, args.fold).context("no Rust function")?;
        println!("\n// {operations} operations\n{code}");
    }
    Ok(Exit::Success)
}

fn moved(args: &Args, system: &System, seconds: f64) -> anyhow::Result<Exit> {
    let graph = &system.graph;
    let mut run = Run {
        seconds,
        step: args.step,
        initial: vec![0.0; system.plan.states.len()],
        inputs: vec![Formula::Number(0.0); graph.inputs.len()],
    };
    for given in &args.input {
        let (name, formula) = pair(given)?;
        let at = graph
            .inputs
            .iter()
            .position(|n| n == name)
            .ok_or_else(|| unknown("input", name))?;
        let formula = Formula::parse(formula)
            .map_err(|e| Error::invalid(e.to_string(), "an input is a formula of t"))?;
        if formula.any(&|n: &String| n != "t") {
            return Err(Error::invalid(
                format!("{given}: only t is known here"),
                "an input is a formula of t",
            )
            .into());
        }
        run.inputs[at] = formula;
    }
    for given in &args.initial {
        let (name, value) = pair(given)?;
        let at = system.state(name).ok_or_else(|| unknown("state", name))?;
        run.initial[at] = number(name, value)?;
    }
    let mut wanted = Vec::new();
    for name in &args.sensitivity {
        let of = match name.strip_prefix("x0:") {
            Some(state) => system.state(state).map(Of::Initial),
            None => graph
                .parameters
                .iter()
                .position(|p| p.name == *name)
                .map(Of::Parameter),
        };
        wanted.push(of.ok_or_else(|| unknown("parameter or state", name))?);
    }
    if let Some(path) = &args.output {
        file::may_write(path, args.force, &[Path::new(&args.graph)])?;
    }
    let motion = simulate(system, &run, &wanted).map_err(|e| {
        Error::invalid(
            e.to_string(),
            "a shorter --step, other initial states or another graph may help",
        )
    })?;
    let table = table(system, &motion, &args.sensitivity);
    match (&args.output, args.json) {
        (Some(path), _) => {
            file::replace(path, csv(&table))?;
            eprintln!("wrote {} ({} rows)", path.display(), motion.t.len());
        }
        (None, true) => {
            let columns: serde_json::Map<_, _> = table
                .iter()
                .map(|(name, values)| (name.clone(), json!(values)))
                .collect();
            println!("{}", serde_json::Value::Object(columns));
        }
        (None, false) => print!("{}", csv(&table)),
    }
    Ok(Exit::Success)
}

/// Columns: time, states, sensors, then the sensitivities of both.
fn table(system: &System, motion: &Motion, wanted: &[String]) -> Vec<(String, Vec<f64>)> {
    let column = |rows: &[Vec<f64>], i: usize| rows.iter().map(|row| row[i]).collect::<Vec<_>>();
    let states = system.state_names();
    let sensors: Vec<_> = system
        .sensors()
        .into_iter()
        .map(|p| system.graph.parts[p].name.clone())
        .collect();
    let mut table = vec![("t".to_string(), motion.t.clone())];
    table.extend(
        states
            .iter()
            .enumerate()
            .map(|(i, n)| (n.clone(), column(&motion.x, i))),
    );
    table.extend(
        sensors
            .iter()
            .enumerate()
            .map(|(i, n)| (n.clone(), column(&motion.outputs, i))),
    );
    for (k, of) in wanted.iter().enumerate() {
        table.extend(
            states
                .iter()
                .enumerate()
                .map(|(i, n)| (format!("d{n}/d{of}"), column(&motion.dx[k], i))),
        );
        table.extend(
            sensors
                .iter()
                .enumerate()
                .map(|(i, n)| (format!("d{n}/d{of}"), column(&motion.doutputs[k], i))),
        );
    }
    table
}

fn csv(table: &[(String, Vec<f64>)]) -> String {
    let names: Vec<_> = table.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..table[0].1.len() {
        for (i, (_, values)) in table.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{}", values[row]);
        }
        text.push('\n');
    }
    text
}

fn pair(text: &str) -> anyhow::Result<(&str, &str)> {
    let found = text.split_once('=').map(|(a, b)| (a.trim(), b.trim()));
    Ok(found.ok_or_else(|| {
        Error::invalid(
            format!("`{text}` is not NAME=VALUE"),
            "write for example r=10",
        )
    })?)
}

fn number(name: &str, value: &str) -> anyhow::Result<f64> {
    let parsed = value.parse().ok().filter(|v: &f64| v.is_finite());
    Ok(parsed.ok_or_else(|| {
        Error::invalid(
            format!("{name} = {value} is no number"),
            "write a finite number",
        )
    })?)
}

fn unknown(what: &str, name: &str) -> anyhow::Error {
    Error::invalid(
        format!("no {what} is called {name}"),
        "`stribeck bond GRAPH` lists the states, --source shows the description",
    )
    .into()
}
