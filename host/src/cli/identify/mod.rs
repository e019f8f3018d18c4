//! `stribeck identify`: friction from a log or from anybody's data.

mod figure;
mod table;

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;
use stribeck_core::plant::PlantConfig;

use crate::error::Error;
use crate::exit::Exit;
use crate::identify::import::{self, Reference, Table, Unit};
use crate::identify::model::{Param, Rig};
use crate::identify::online::Precision;
use crate::identify::outcome::Outcome;
use crate::identify::record::Record;
use crate::identify::run::{Choices, Method, run as identify};
use crate::identify::subject::Subject;
use crate::identify::{stage, terms};

/// What moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Plant {
    /// One joint; ω0² is found from the record unless --omega0-squared is given
    Pendulum,
    /// Arm and pendulum; the rig from --rig or the log
    Furuta,
    /// Linear stage driven by a known force
    Stage,
}

/// A rig parameter to estimate beside the friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Refine {
    Tilt,
    ArmInertia,
    LinkInertia,
    LinkCentre,
    Offset,
}

/// Estimate friction from logs or tables of angles, by one method or all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stribeck identify run.mcap --method all
  stribeck identify decay.csv --time 1 --angle 2 --unit deg
  stribeck identify swing.txt --rate 1000 --unit deg --method energy
  EMPS benchmark (1 kHz): M 95.1 kg, Fv 203.5 N·s/m, Fc 20.4 N, offset −3.16 N
  stribeck identify DATA_EMPS.csv --plant stage --time t_s --angle qm_m --force vir_V --force-gain 35.15

Angles are brought to 0 = hanging; the motion is cut to where it is free, and to the longest stretch without a gap.
With several files and --plot the number of the file is added to the picture's name.

Intervals are 95 %. `fit` is that of a free run from the estimated first state over the whole free motion,
100·(1 − Σ(x̂−x)²/Σ(x−x̄)²). Normalised time is eq. (54) of paper 000: seconds per sample.")]
pub struct Args {
    /// Logs (.mcap) or tables (.csv, .txt, .parquet)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[arg(long, value_enum, default_value = "greybox")]
    method: Method,
    /// Friction terms of the grey box: auto, or a list of coulomb, viscous, quadratic, stribeck, asymmetry
    #[arg(long, default_value = "auto")]
    terms: String,
    /// Default: furuta for logs and for two angles, else pendulum
    #[arg(long, value_enum)]
    plant: Option<Plant>,
    /// Configuration (TOML) with the rig
    #[arg(long)]
    rig: Option<PathBuf>,
    /// ω0² = m·g·l/J of a pendulum [1/s²], if known
    #[arg(long)]
    omega0_squared: Option<f64>,
    /// Inertia of a pendulum about its pivot [kg·m²]: friction is then printed as torque
    #[arg(long)]
    inertia: Option<f64>,
    /// Rig parameters to estimate as well
    #[arg(long, value_enum, value_delimiter = ',')]
    refine: Vec<Refine>,
    /// Column of the time [s]: name or number
    #[arg(long)]
    time: Option<String>,
    /// Column(s) of the angle, or of the stage's position: names or numbers
    #[arg(long, value_delimiter = ',')]
    angle: Vec<String>,
    #[arg(long, value_enum, default_value = "rad")]
    unit: Unit,
    #[arg(long)]
    counts_per_rev: Option<f64>,
    /// Sampling rate [Hz] of a table without times
    #[arg(long)]
    rate: Option<f64>,
    /// Lines to skip at the top (default: found)
    #[arg(long)]
    header: Option<usize>,
    /// Reading at the reference position, in the column's unit
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    offset: f64,
    #[arg(long, value_enum, default_value = "auto")]
    reference: Reference,
    /// Use the whole record, also held starts and rest
    #[arg(long)]
    no_trim: bool,
    /// Arithmetic of ekf and uas
    #[arg(long, value_enum, default_value = "f32")]
    precision: Precision,
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
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let mut results = Vec::new();
    for (number, file) in args.files.iter().enumerate() {
        if args.plant == Some(Plant::Stage) {
            results.push(run_stage(&args, file)?);
            continue;
        }
        let (record, rig) = load(&args, file)?;
        let refine = refined(&args, &rig);
        let subject = Subject::new(&record, rig, &refine, !args.no_trim)
            .with_context(|| format!("{} cannot be identified", file.display()))?;
        let terms = match args.terms.as_str() {
            "auto" => None,
            list => Some(terms::parse(list).ok_or_else(|| {
                Error::invalid(
                    format!("unknown friction terms {list:?}"),
                    "auto, or some of coulomb, viscous, quadratic, stribeck, asymmetry",
                )
            })?),
        };
        let choices = Choices {
            terms,
            precision: args.precision,
        };
        let methods = args.method.expand(&rig);
        let bar = indicatif::ProgressBar::new(methods.len() as u64).with_message("identifying");
        let mut outcomes = Vec::new();
        for method in methods {
            match identify(&subject, method, &choices) {
                Ok(o) => outcomes.push(o),
                Err(e) if args.method == Method::All => eprintln!("note: {method:?}: {e}"),
                Err(e) => return Err(e.into()),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        if let Some(path) = &args.plot {
            let path = &numbered(path, number, args.files.len());
            figure::plot(&subject.record, &outcomes, path)?;
        }
        results.push((record.name.clone(), outcomes));
    }
    if args.json {
        let all: Vec<_> = results
            .iter()
            .map(
                |(n, o)| json!({"record": n, "results": o.iter().map(table::as_json).collect::<Vec<_>>()}),
            )
            .collect();
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        for (name, outcomes) in &results {
            println!("{name}");
            for o in outcomes {
                print!("{}", table::text(o));
            }
            if outcomes.len() > 1 {
                print!("{}", table::summary(outcomes));
            }
        }
    }
    let any = results
        .iter()
        .any(|(_, o)| o.iter().any(|o| o.estimates.iter().any(|e| e.identifiable)));
    Ok(if any { Exit::Success } else { Exit::Nothing })
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

fn load(args: &Args, file: &Path) -> anyhow::Result<(Record, Rig)> {
    let configured = args.rig.as_deref().map(crate::config::load).transpose()?;
    if file.extension().is_some_and(|e| e == "mcap") {
        let logged = import::read_log(file)?;
        let plant = configured.map_or(logged.config.plant, |c| c.plant);
        return Ok((logged.record, rig_of(&plant)));
    }
    let options = import::Options {
        time: args.time.clone(),
        angle: args.angle.clone(),
        unit: args.unit,
        counts_per_rev: args.counts_per_rev,
        rate: args.rate,
        header: args.header,
        offset: args.offset,
        reference: args.reference,
    };
    let record = import::read(file, &options)?;
    let furuta = args
        .plant
        .map_or(record.joints == 2, |p| p == Plant::Furuta);
    let rig = match (furuta, configured) {
        (true, c) => rig_of(&c.unwrap_or_default().plant),
        (false, Some(c)) if args.omega0_squared.is_none() => rig_of(&c.plant),
        (false, _) => Rig::Pendulum {
            omega0_sq: args.omega0_squared.unwrap_or(1.0),
            inertia: args.inertia,
        },
    };
    if rig.joints() > record.joints {
        return Err(Error::invalid(
            "a Furuta pendulum needs two angle columns",
            "give --angle ARM,PENDULUM, or --plant pendulum",
        )
        .into());
    }
    Ok((record, rig))
}

fn rig_of(plant: &PlantConfig) -> Rig {
    match plant {
        PlantConfig::Furuta(c) => Rig::furuta(c),
        PlantConfig::Pendulum(c) => Rig::Pendulum {
            omega0_sq: f64::from(c.mass * c.gravity * c.length * c.tilt.cos() / c.inertia),
            inertia: Some(f64::from(c.inertia)),
        },
    }
}

fn refined(args: &Args, rig: &Rig) -> Vec<Param> {
    let mut out: Vec<Param> = args
        .refine
        .iter()
        .flat_map(|r| match r {
            Refine::Tilt => vec![Param::Tilt],
            Refine::ArmInertia => vec![Param::ArmInertia],
            Refine::LinkInertia => vec![Param::LinkInertia],
            Refine::LinkCentre => vec![Param::LinkCentre],
            Refine::Offset => (0..rig.joints()).map(Param::Offset).collect(),
        })
        .collect();
    if rig.joints() == 1 {
        // The zero of somebody's encoder is rarely the hanging position.
        out = vec![Param::Offset(0)];
        if args.omega0_squared.is_none() && args.rig.is_none() {
            out.insert(0, Param::Omega0Squared);
        }
    }
    out
}

fn run_stage(args: &Args, file: &Path) -> anyhow::Result<(String, Vec<Outcome>)> {
    let began = std::time::Instant::now();
    let table = Table::read(file, args.header)?;
    let key = |k: &Option<String>, what: &str| {
        k.clone().ok_or_else(|| {
            Error::invalid(
                format!("a stage needs a column of {what}"),
                format!("give --{what} COLUMN"),
            )
        })
    };
    let position = table.column(file, &key(&args.angle.first().cloned(), "angle")?)?;
    let force: Vec<f64> = table
        .column(file, &key(&args.force, "force")?)?
        .iter()
        .map(|f| f * args.force_gain)
        .collect();
    let dt = match (args.rate, &args.time) {
        (Some(rate), _) => 1.0 / rate,
        (None, time) => {
            let t = table.column(file, time.as_deref().unwrap_or("1"))?;
            (t[t.len() - 1] - t[0]) / (t.len() - 1) as f64
        }
    };
    let options = stage::Options {
        asymmetric: args.asymmetric,
        ..stage::Options::default()
    };
    let found = stage::identify(dt, position, &force, &options)?;
    let seconds = began.elapsed().as_secs_f64();
    let outcome = Outcome {
        method: "stage",
        estimates: found.estimates,
        fit: vec![found.fit],
        rms: vec![found.rms],
        rms_counts: vec![None],
        seconds,
        normalised: seconds / position.len() as f64,
        notes: vec!["fit and RMS [N] are those of the force".into()],
        choice: Vec::new(),
        path: Vec::new(),
    };
    Ok((file.display().to_string(), vec![outcome]))
}
