//! `stribeck paper`: the papers' tables beside our own numbers.

mod derivations;
mod predictive;

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;

use crate::cli::exit::Exit;
use crate::paper::decrement::{TABLE_1, as_printed, corrected, simulate};
use crate::paper::figures::{Run, comparison, run_figures};
use crate::paper::observer::{score, second_simulation, simulation, table_3_config};
use crate::paper::tables::{NOISE, Observation, Parameter, Tables, compute};

/// Which paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// UAS observer, tilted Furuta pendulum: Tables 3, 4, 5, figures 4–12
    #[value(name = "000")]
    Observer,
    /// Lagrange and Kane on three underactuated systems: Tables 1 to 3, equations (21) to (32)
    #[value(name = "002")]
    Derivations,
    /// Estimation and predictive control of a cart and pendulum: figures 5, 7 to 10, and the swing-up
    #[value(name = "003")]
    Predictive,
    /// Extended logarithmic decrement: Table 1
    #[value(name = "004")]
    Decrement,
}

/// Regenerate a paper's tables: printed value, printed formulas, corrected formulas
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stribeck paper 002
  stribeck paper 003 --figures figures/
  stribeck paper 004
  stribeck paper 000 --figures figures/

What is wrong in each paper, and the test that proves it: docs/errata.md. The same seed gives the same numbers, computation
times excepted.")]
pub struct Args {
    /// Number of the paper
    #[arg(value_enum)]
    paper: Paper,
    /// Folder for the figures of papers 000 and 003 (SVG)
    #[arg(long)]
    figures: Option<PathBuf>,
    /// Paper 004: noise of the reading, part of the amplitude
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// Seed of the noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Machine-readable result on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    match args.paper {
        Paper::Observer => observer_tables(&args)?,
        Paper::Derivations => derivations::print(args.json)?,
        Paper::Predictive => predictive::print(args.json, args.figures.as_deref(), args.seed)?,
        Paper::Decrement => decrement_table(&args)?,
    }
    Ok(Exit::Success)
}

fn decrement_table(args: &Args) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for (i, (truth, printed)) in TABLE_1.iter().enumerate() {
        let (t, x) = simulate(truth, 1e-3, 30.0, args.noise, args.seed + i as u64);
        let ours = corrected(&t, &x)?;
        let literal = as_printed(&t, &x);
        // The larger of mean and difference of the same kind: a difference of zero has no relative error.
        let force = truth[1].abs().max(truth[2]);
        let scale = [truth[0], force, force, truth[3], truth[3]];
        for (k, name) in ["ω0", "f̄", "Δf", "c̄", "Δc"].into_iter().enumerate() {
            let error = (scale[k] > 0.0).then(|| 100.0 * (ours[k] - truth[k]) / scale[k]);
            rows.push(json!({
                "row": i + 1,
                "name": name,
                "simulated": truth[k],
                "paper": printed[k],
                "printed_formulas": literal.map(|l| l[k]),
                "corrected_formulas": ours[k],
                "error_percent": error,
            }));
        }
    }
    if args.json {
        let table = json!({ "noise": args.noise, "table_1": rows });
        println!("{}", serde_json::to_string_pretty(&table)?);
        return Ok(());
    }
    println!(
        "Table 1 (m = 1, dt = 1 ms, noise {} of the amplitude)",
        args.noise
    );
    println!("row  quantity   simulated      paper  printed formulas   corrected       error");
    for r in &rows {
        let number = |key: &str, digits: usize| {
            r[key]
                .as_f64()
                .map_or("–".to_string(), |x| format!("{x:.digits$}"))
        };
        println!(
            "{:>3}  {:<9} {:>10} {:>10} {:>17} {:>11} {:>9} %",
            r["row"],
            r["name"].as_str().unwrap_or_default(),
            number("simulated", 4),
            number("paper", 4),
            number("printed_formulas", 4),
            number("corrected_formulas", 5),
            number("error_percent", 4),
        );
    }
    println!("errors are relative to the larger of mean and difference of the same kind");
    Ok(())
}

fn observer_tables(args: &Args) -> anyhow::Result<()> {
    if let Some(folder) = &args.figures {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("figures cannot be written to {}", folder.display()))?;
    }
    let bar = indicatif::ProgressBar::new(6).with_style(
        indicatif::ProgressStyle::with_template("{pos}/{len} {msg}").expect("a constant template"),
    );
    let progress = |name: &'static str| {
        bar.inc(1);
        bar.set_message(name);
    };
    progress("observer");
    let first = Observation::new(simulation(), &table_3_config(), NOISE, args.seed);
    let paper = stribeck_core::observer::uas::Config::paper();
    let second = Observation::new(second_simulation(), &paper, 0.0, args.seed);
    let tables = compute([&first, &second], args.seed, progress)?;
    bar.finish_and_clear();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&tables)?);
    } else {
        print(&tables);
    }
    if let Some(folder) = &args.figures {
        for path in figures(folder, [&first, &second], &tables)? {
            eprintln!("wrote {}", path.display());
        }
    }
    Ok(())
}

fn figures(
    folder: &Path,
    runs: [&Observation; 2],
    tables: &Tables,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for (number, o) in [4, 8].into_iter().zip(runs) {
        let run = Run {
            observation: o,
            estimate: &score(&o.z(), &o.t, &o.states).1,
            initial: &score(&o.guess, &o.t, &o.states).1,
            simulated: number == 4,
        };
        written.extend(run_figures(folder, number, &run)?);
    }
    written.push(comparison(folder, &tables.table_5)?);
    Ok(written)
}

fn print(tables: &Tables) {
    println!(
        "Table 3: simulation. The observer's parameters end at the fixed point of their law, whatever the model"
    );
    println!(
        "parameter           actual      paper    printed  corrected      fixed  0.9473·a+    grey box"
    );
    println!(
        "                                       formulas   formulas      point     5.6e-6  (counts)"
    );
    let row = |p: &Parameter| {
        let number = |x: Option<f64>| x.map_or("–".to_string(), |x| format!("{x:.3e}"));
        let label = format!("{} [{}]", p.name, p.unit);
        let list = [
            p.actual,
            Some(p.paper),
            Some(p.printed_formulas),
            Some(p.corrected_formulas),
            Some(p.fixed_point),
            p.affine,
            p.grey_box,
        ];
        let cells: Vec<String> = list
            .into_iter()
            .map(|x| format!("{:>10}", number(x)))
            .collect();
        println!("{label:<15} {}", cells.join(" "));
    };
    tables.table_3.iter().for_each(row);
    println!(
        "\nTable 4: experiment; ours on a simulated run of the same start and length (the record is not public)"
    );
    tables.table_4.iter().for_each(row);
    println!(
        "\nTable 5 and §IV-C: fit of a free run, computation time, normalised time of eq. (54)"
    );
    println!(
        "source              run         method                          arm [%]  pendulum [%]    time [s]  normalised [s]"
    );
    for s in &tables.table_5 {
        let fit = |j: usize| s.fit_percent[j].map_or("lost".to_string(), |f| format!("{f:.4}"));
        let time = s.seconds.map_or("–".to_string(), |t| format!("{t:.2}"));
        let normalised = s
            .normalised_seconds
            .map_or("–".to_string(), |t| format!("{t:.1e}"));
        println!(
            "{:<19} {:<11} {:<28} {:>11} {:>13} {time:>11} {normalised:>15}",
            s.source,
            s.run,
            s.method,
            fit(0),
            fit(1)
        );
    }
    let when = |t: Option<f64>| t.map_or("not lost".to_string(), |t| format!("lost at {t:.2} s"));
    println!(
        "with the friction's sign of eq. (6): the printed model is {}, its observer {}",
        when(tables.printed_model_lost_at),
        when(tables.printed_observer_lost_at)
    );
    println!(
        "single shooting from a cold start is what the paper calls optimisation; UAS parameters are a prior"
    );
}
