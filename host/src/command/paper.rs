//! `stribeck paper`: the papers' tables beside our own numbers.

use std::path::PathBuf;

use stribeck_core::plant::furuta;

use crate::exit::Exit;
use crate::identify::model::{Coef, Rig};
use crate::identify::online::Precision;
use crate::identify::outcome::Outcome;
use crate::identify::run::{Choices, Method, run as identify};
use crate::identify::subject::Subject;
use crate::paper::decrement::{TABLE_1, as_printed, corrected, simulate};
use crate::paper::figures::{Run, comparison, run_figures};
use crate::paper::observer::{
    self, NAMES, TABLE_3, TABLE_4, TABLE_5, affine, reference_record, run_uas, score, simulation,
};

/// Which paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// UAS observer, tilted Furuta pendulum: Tables 3, 4, 5, figures 4–12
    #[value(name = "000")]
    Observer,
    /// Extended logarithmic decrement: Table 1
    #[value(name = "004")]
    Decrement,
}

/// Regenerate a paper's tables: printed value, printed formulas, corrected formulas
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stribeck paper 004
  stribeck paper 000 --figures figures/

What is wrong in each paper, and the test that proves it: docs/errata.md.")]
pub struct Args {
    #[arg(value_enum)]
    paper: Paper,
    /// Folder for the figures of paper 000 (SVG)
    #[arg(long)]
    figures: Option<PathBuf>,
    /// Paper 004: noise of the reading, part of the amplitude
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    match args.paper {
        Paper::Observer => observer_tables(&args)?,
        Paper::Decrement => decrement_table(&args)?,
    }
    Ok(Exit::Success)
}

fn decrement_table(args: &Args) -> anyhow::Result<()> {
    println!(
        "Table 1 (m = 1, dt = 1 ms, noise {} of the amplitude)",
        args.noise
    );
    println!("row  quantity   simulated    paper      printed formulas   corrected    error");
    for (i, (truth, printed)) in TABLE_1.iter().enumerate() {
        let (t, x) = simulate(truth, 1e-3, 30.0, args.noise, args.seed + i as u64);
        let ours = corrected(&t, &x)?;
        let literal = as_printed(&t, &x);
        for (k, name) in ["ω0", "f̄", "Δf", "c̄", "Δc"].into_iter().enumerate() {
            let scale = [
                truth[0],
                truth[1].abs().max(truth[2]),
                truth[1].abs().max(truth[2]),
                truth[3],
                truth[3],
            ][k];
            let error = if scale > 0.0 {
                format!("{:.4} %", 100.0 * (ours[k] - truth[k]) / scale)
            } else {
                format!("{:.1e}", ours[k])
            };
            let literal = literal.map_or("–".into(), |l| format!("{:.4}", l[k]));
            println!(
                "{:>3}  {name:<9} {:>10.4} {:>10.4} {literal:>18} {:>11.5}    {error}",
                i + 1,
                truth[k],
                printed[k],
                ours[k]
            );
        }
    }
    println!("errors are relative to the larger of mean and difference of the same kind");
    Ok(())
}

fn observer_tables(args: &Args) -> anyhow::Result<()> {
    let (t, states) = simulation();
    let config = observer::table_3_config();
    let history = run_uas(&states, &config, 0.0, args.seed);
    let Some(end) = history.last() else {
        unreachable!("35,000 steps")
    };
    let truth = observer::truth();
    println!("Table 3: simulation, actual values and estimates");
    println!(
        "param    actual       guess        paper        .9473·a+5.6e-6   UAS (Table 2)  fixed point"
    );
    let fixed = config.fixed_point();
    for i in 0..10 {
        println!(
            "{:<6} {:>12.4e} {:>12.4e} {:>12.4e} {:>14.4e} {:>14.4e} {:>12.4e}",
            NAMES[i],
            truth[i],
            TABLE_3[0][i],
            TABLE_3[1][i],
            affine(truth[i]),
            end.z[i],
            fixed[i]
        );
    }
    println!(
        "\nTable 4: experiment, printed estimates and the fixed point of the law with Table 2's bounds"
    );
    let paper = stribeck_core::uas::Config::paper().fixed_point();
    for i in 0..10 {
        println!(
            "{:<6} paper {:>12.3e}   fixed point {:>12.3e}",
            NAMES[i], TABLE_4[i], paper[i]
        );
    }
    println!("the parameter law contains no measurement: every record gives these ten numbers\n");

    let record = reference_record(0.0, args.seed);
    let rig = Rig::furuta(&furuta::Config::default());
    let subject = Subject::new(&record, rig, &[], false)?;
    let terms = vec![
        Coef::Coulomb,
        Coef::Viscous,
        Coef::Stribeck,
        Coef::Transition,
    ];
    let choices = Choices {
        terms: Some(terms),
        precision: Precision::F32,
    };
    let mut outcomes: Vec<Outcome> = Vec::new();
    let methods = [
        Method::Uas,
        Method::Singleshoot,
        Method::Ekf,
        Method::Greybox,
    ];
    let bar = indicatif::ProgressBar::new(methods.len() as u64).with_message("reference run");
    for m in methods {
        outcomes.push(identify(&subject, m, &choices)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("Table 5 and §IV-C: fit of a free run [%], time [s], normalised time of eq. (54) [s]");
    for (run, seconds, method, time, fit) in TABLE_5 {
        let rate = if run == "simulation" { 1e3 } else { 1e4 };
        println!(
            "  paper, {run:<11} {method:<13} {:>8.2} / {:<8.2} {time:>9.2}   {:.2e}",
            fit[0],
            fit[1],
            time / (seconds * rate)
        );
    }
    let (printed, _) = score(&TABLE_3[1], &t, &states);
    println!(
        "  Table 3's estimates, corrected model  {:>8.2} / {:<8.2}",
        printed[0], printed[1]
    );
    for o in &outcomes {
        println!(
            "  ours, counts      {:<13} {:>8.3} / {:<8.3} {:>9.2}   {:.2e}",
            o.method, o.fit[0], o.fit[1], o.seconds, o.normalised
        );
    }
    println!("\nparameters against the truth (ratio)");
    for o in &outcomes {
        for e in &o.estimates {
            if let Some(i) = NAMES.iter().position(|n| *n == e.name) {
                println!("  {:<12} {:<5} {:.5}", o.method, e.name, e.value / truth[i]);
            }
        }
    }
    if let Some(folder) = &args.figures {
        std::fs::create_dir_all(folder)?;
        let measured: Vec<[f64; 2]> = states.iter().map(|s| [s[0], s[1]]).collect();
        let velocity: Vec<[f64; 2]> = states.iter().map(|s| [s[2], s[3]]).collect();
        let (_, estimate) = score(&end.z, &t, &states);
        let (_, initial) = score(&TABLE_3[0], &t, &states);
        let noisy = run_uas(&states, &config, 0.1, args.seed);
        let mut written = Vec::new();
        for (first, history) in [(4, &history), (8, &noisy)] {
            let run = Run {
                t: &t,
                measured: &measured,
                velocity: &velocity,
                history,
                estimate: &estimate,
                initial: &initial,
            };
            written.extend(run_figures(folder, first, &run)?);
        }
        written.push(comparison(folder, &outcomes)?);
        for path in written {
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}
