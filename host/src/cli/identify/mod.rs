//! `stribeck identify`: friction from a log or from anybody's data.

mod figure;
mod load;
mod table;

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;

use crate::cli::exit::Exit;
use crate::config::axes::Axes;
use crate::error::Error;
use crate::file;
use crate::identify::across::across;
use crate::identify::data::dataset::Dataset;
use crate::identify::data::import::{Reference, TimeUnit, Unit};
use crate::identify::data::reading::{Loaded, Moved};
use crate::identify::method::{self, METHODS, Method, Options, Precision, compare};
use crate::identify::model::terms;
use crate::identify::outcome::Outcome;
use crate::log::metadata::Metadata;

/// Estimate friction from logs or tables of angles, by one method or all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stribeck identify run.mcap --method all
  stribeck identify decay.csv --time 1 --angle 2 --unit deg
  stribeck identify swing.txt --rate 1000 --unit deg --method energy
  stribeck identify arm.csv --angle theta0,theta1 --rig rig.toml
  EMPS benchmark (1 kHz): M 95.1 kg, Fv 203.5 N·s/m, Fc 20.4 N, offset −3.16 N
  stribeck identify DATA_EMPS.csv --plant stage --time t_s --angle qm_m --force vir_V --force-gain 35.15
  Friction of a cart and its first state from voltage and position (paper 003, figure 5)
  stribeck identify cart.csv --graph cart --input u=u_V --output x=x_m --estimate r_c,x0:m_c,x0:x --set r_c=0

Angles are brought to 0 = hanging; the motion is cut to where it is free, and to the longest stretch without a gap.
With several files one table compares the runs, and with --plot the number of the file is added to the picture's name.

The verdict comes first. Not explained or not converged: no interval is called identifiable and the exit code is 5.
Of two joints the rig is estimated as well (zeros, tilt, inertias, arm length, arm gravity), within its tolerances; --exact takes it as configured.

Intervals are 95 %. `fit` is that of a free run from the estimated first state over the whole free motion,
100·(1 − Σ(x̂−x)²/Σ(x−x̄)²). Normalised time is eq. (54) of paper 000: seconds per sample.")]
pub struct Args {
    /// Logs (.mcap) or tables (.csv, .txt, .parquet, .mat)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How
    #[arg(long, default_value = "greybox", value_parser = method_names())]
    method: String,
    /// Friction terms of the grey box: auto, or a list of coulomb, viscous, quadratic, stribeck, asymmetry, preload, position
    #[arg(long, default_value = "auto")]
    terms: String,
    /// Default: furuta for logs and for two angles, else pendulum
    #[arg(long, value_enum)]
    plant: Option<Moved>,
    /// Configuration (TOML) with the rig
    #[arg(long)]
    rig: Option<PathBuf>,
    /// ω0² = m·g·l/J of a pendulum [1/s²], if known
    #[arg(long)]
    omega0_squared: Option<f64>,
    /// Inertia of a pendulum about its pivot [kg·m²]: friction is then printed as torque
    #[arg(long)]
    inertia: Option<f64>,
    /// Rig parameters of which nothing is known: tilt, arm, link, length, gravity, zero, cable, clock, disc; or NAME=VALUE±TOLERANCE
    #[arg(long, value_delimiter = ',')]
    refine: Vec<String>,
    /// The rig is exactly as configured: estimate friction only
    #[arg(long, conflicts_with = "refine")]
    exact: bool,
    /// Column of the time: name or number
    #[arg(long)]
    time: Option<String>,
    /// Unit of the time column (default: found, and said)
    #[arg(long, value_enum)]
    time_unit: Option<TimeUnit>,
    /// Column(s) of the angle, or of the stage's position: names or numbers
    #[arg(long, value_delimiter = ',')]
    angle: Vec<String>,
    /// Unit of the angle columns; a joint that slides is in metres, or in counts too
    #[arg(long, value_enum, default_value = "rad")]
    unit: Unit,
    /// Size of a count
    #[arg(long)]
    counts_per_rev: Option<f64>,
    /// Size of a count of a joint that slides
    #[arg(long)]
    counts_per_metre: Option<f64>,
    /// Sampling rate [Hz] of a table without times
    #[arg(long)]
    rate: Option<f64>,
    /// Lines to skip at the top (default: found)
    #[arg(long)]
    header: Option<usize>,
    /// Reading at the reference position, in the column's unit; one for all joints or one each
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    offset: Vec<f64>,
    /// Joints (0, 1) whose angle runs the other way
    #[arg(long, value_delimiter = ',')]
    invert: Vec<usize>,
    /// Where the angle is zero
    #[arg(long, value_enum, default_value = "auto")]
    reference: Reference,
    /// Use the whole record, also held starts and rest
    #[arg(long)]
    no_trim: bool,
    /// Arithmetic of ekf and uas
    #[arg(long, value_enum, default_value = "f32")]
    precision: Precision,
    /// Bond graph (TOML or the name of an example) whose inputs and outputs were measured: method bond
    #[arg(long, requires = "estimate", conflicts_with_all = ["plant", "rig"])]
    graph: Option<String>,
    /// Graph: column of an input, held from sample to sample
    #[arg(long, value_name = "INPUT=COLUMN", requires = "graph")]
    input: Vec<String>,
    /// Graph: an input that does not change
    #[arg(long, value_name = "INPUT=VALUE", requires = "graph")]
    constant: Vec<String>,
    /// Graph: column of a sensor or of a store's content
    #[arg(long, value_name = "OUTPUT=COLUMN", requires = "graph")]
    output: Vec<String>,
    /// Graph: unknown parameters, and initial states as x0:STATE
    #[arg(long, value_delimiter = ',', requires = "graph")]
    estimate: Vec<String>,
    /// Graph: value of a parameter, or where its search starts
    #[arg(long, value_name = "PARAMETER=VALUE", requires = "graph")]
    set: Vec<String>,
    /// Graph: initial state, or where its search starts
    #[arg(long, value_name = "STATE=VALUE", requires = "graph")]
    initial: Vec<String>,
    /// Stage: column of the force
    #[arg(long)]
    force: Option<String>,
    /// Stage: newtons per unit of the force column
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    force_gain: f64,
    /// Stage: separate viscous friction per direction
    #[arg(long)]
    asymmetric: bool,
    /// Draw measurement, free runs and residuals (.svg or .png)
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Overwrite the picture if it exists
    #[arg(long)]
    overwrite: bool,
    /// Machine-readable result on standard output
    #[arg(long)]
    json: bool,
}

fn method_names() -> clap::builder::PossibleValuesParser {
    let names = METHODS.iter().map(|m| m.name()).chain(["all"]);
    clap::builder::PossibleValuesParser::new(
        names.map(|name| clap::builder::PossibleValue::new(name).help(about_method(name))),
    )
}

/// What a method is, in a line.
fn about_method(name: &str) -> &'static str {
    match name {
        "greybox" => {
            "whole record through the model by multiple shooting; friction, first state and the rig's errors"
        }
        "energy" => "balance of energy over the record: linear, quick, no start values",
        "logdec" => "decay from turning point to turning point: one joint, small swings",
        "ekf" => "the Kalman filter of the device, over the record",
        "uas" => "the UAS observer of the device: its parameters are a prior, no measurement",
        "singleshoot" => {
            "as greybox from one first state: what is common elsewhere, for comparison"
        }
        "stage" => "a linear stage driven by a known force",
        "bond" => "parameters and first states of a bond graph (--graph)",
        "all" => "every method that suits the record, side by side",
        _ => "",
    }
}

/// What was found in one file.
struct Found {
    name: String,
    recording: Option<Metadata>,
    outcomes: Vec<Outcome>,
    conflicts: Vec<compare::Conflict>,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let options = Options {
        terms: match args.terms.as_str() {
            "auto" => None,
            list => Some(terms::parse(list).ok_or_else(|| unknown_terms(list))?),
        },
        precision: args.precision,
        asymmetric: args.asymmetric,
    };
    for (number, file) in args.files.iter().enumerate() {
        if let Some(path) = &args.plot {
            let path = numbered(path, number, args.files.len());
            may_draw(&path, args.overwrite, file)?;
        }
    }
    let mut results = Vec::new();
    let mut whole = true;
    for (number, file) in args.files.iter().enumerate() {
        let Loaded {
            data,
            missing,
            recording,
        } = load::dataset(&args, file)?;
        for damage in &missing {
            eprintln!("{}: {damage}", file.display());
        }
        whole &= missing.is_empty();
        let outcomes = identify(&args, &data, &options)
            .with_context(|| format!("{} cannot be identified", file.display()))?;
        if let (Some(path), Ok(motion)) = (&args.plot, data.motion()) {
            let path = &numbered(path, number, args.files.len());
            let axes = Axes::of(&motion.rig.config());
            figure::plot(&motion.record, &axes, &outcomes, path)?;
        }
        results.push(Found {
            name: data.name.clone(),
            recording,
            conflicts: compare::conflicts(&outcomes),
            outcomes,
        });
    }
    let outcomes: Vec<&[Outcome]> = results.iter().map(|f| f.outcomes.as_slice()).collect();
    let runs = across(&outcomes);
    if args.json {
        let mut all: Vec<_> = results
            .iter()
            .map(|f| {
                json!({
                    "record": f.name,
                    "metadata": f.recording,
                    "results": f.outcomes.iter().map(table::as_json).collect::<Vec<_>>(),
                    "conflicts": f.conflicts,
                })
            })
            .collect();
        if results.len() > 1 {
            all.push(json!({ "across_runs": runs }));
        }
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        for f in &results {
            println!(
                "{}{}",
                f.name,
                f.recording.as_ref().map_or(String::new(), table::said)
            );
            for o in &f.outcomes {
                print!("{}", table::text(o));
            }
            if f.outcomes.len() > 1 {
                print!("{}", table::summary(&f.outcomes, &f.conflicts));
            }
        }
        if results.len() > 1 {
            print!("{}", table::across(results.len(), &runs));
        }
    }
    // The first method is the one that was asked for, or the best there is.
    let all = results
        .iter()
        .all(|f| f.outcomes.first().is_some_and(Outcome::identified));
    Ok(match (whole, all) {
        (false, _) => Exit::Loss,
        (true, false) => Exit::Nothing,
        (true, true) => Exit::Success,
    })
}

pub fn unknown_terms(list: &str) -> Error {
    Error::invalid(
        format!("unknown friction terms {list:?}"),
        "auto, or some of coulomb, viscous, quadratic, stribeck, asymmetry, preload, position",
    )
}

/// The method asked for, or all that suit; of all, those that fail are said on standard error.
fn identify(args: &Args, data: &Dataset, options: &Options) -> anyhow::Result<Vec<Outcome>> {
    let every = args.method == "all";
    let methods: Vec<&dyn Method> = if every {
        method::suitable(data)
    } else if args.plant == Some(Moved::Stage) {
        vec![&method::stage::Stage]
    } else if args.graph.is_some() {
        vec![&method::bond::Bond]
    } else {
        method::find(&args.method).into_iter().collect()
    };
    let bar = indicatif::ProgressBar::new(methods.len() as u64).with_message("identifying");
    let mut outcomes = Vec::new();
    for m in methods {
        match method::run(m, data, options) {
            Ok(o) => outcomes.push(o),
            Err(e) if every => eprintln!("note: {}: {e}", m.name()),
            Err(e) => return Err(e.into()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(outcomes)
}

/// One picture per file: `out.svg`, or `out-1.svg`, `out-2.svg` … for several.
fn numbered(path: &Path, number: usize, files: usize) -> PathBuf {
    match (files, path.file_stem(), path.extension()) {
        (2.., Some(stem), Some(end)) => path.with_file_name(format!(
            "{}-{}.{}",
            stem.to_string_lossy(),
            number + 1,
            end.to_string_lossy()
        )),
        _ => path.to_path_buf(),
    }
}

/// `--force` names a channel here, so the way out has another name than elsewhere.
fn may_draw(path: &Path, overwrite: bool, input: &Path) -> Result<(), Error> {
    file::may_write(path, overwrite, &[input]).map_err(|e| match e {
        Error::Exists(path) => Error::invalid(
            format!("{} exists", path.display()),
            "choose another name with --plot, or overwrite it with --overwrite",
        ),
        other => other,
    })
}
