//! `stribeck study`: do the grey box's intervals hold what they promise? Monte Carlo over random rigs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;
use stribeck_core::friction::Friction;
use stribeck_core::plant::{PlantConfig, furuta};
use stribeck_core::sim::{Bench, COUNTS_PER_REV, Encoder, Rng, Truth};

use crate::error::Error;
use crate::exit::Exit;
use crate::identify::model::{Coef, Rig};
use crate::identify::online::Precision;
use crate::identify::record::{Record, median};
use crate::identify::run::{Choices, Method, run as identify};
use crate::identify::subject::Subject;
use crate::identify::terms;

/// Coverage of the grey box's 95 % intervals over random truths
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every run has its own pendulum: friction over a decade, tilt 15 to 65°, start angles ±0.5 rad and 60 to 160°, a Stribeck peak \
of 1.2 μd in the truth; only counts at 10 kHz are identified. The result depends on the seed, not on the number of threads.
The exit code is 1 when an interval covers the truth in less than 90 % of the runs.

Example:
  stribeck study --runs 100 --seconds 25 --noise 0,5,20")]
pub struct Args {
    /// Runs per noise level
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Length of each record [s]
    #[arg(long, default_value_t = 25.0)]
    seconds: f64,
    /// White noise on the counts, RMS; one study for each value
    #[arg(long, value_delimiter = ',', default_value = "0,5,20")]
    noise: Vec<f64>,
    /// Friction terms that are fitted, or `auto`
    #[arg(long, default_value = "coulomb,viscous,stribeck")]
    terms: String,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; without it, one per core
    #[arg(long)]
    threads: Option<usize>,
    /// Machine-readable result on standard output
    #[arg(long)]
    json: bool,
}

const NAMES: [&str; 4] = ["μd0", "μv0", "μd1", "μv1"];
/// Share of the runs whose interval must hold the truth.
const PROMISE: f64 = 0.9;

/// What one run gave: per parameter its truth, its estimate and the half-width of its interval.
#[derive(Clone, Copy, Debug)]
struct Run {
    found: [Option<[f64; 3]>; 4],
    fit: [f64; 2],
    seconds: f64,
}

/// One parameter over all runs.
#[derive(Clone, Debug, Serialize)]
struct Parameter {
    name: &'static str,
    /// Runs whose 95 % interval holds the truth.
    covered: u64,
    covered_percent: f64,
    /// Median over the runs, in % of the truth.
    half_width_percent: f64,
    error_percent: f64,
}

/// All runs at one noise level.
#[derive(Clone, Debug, Serialize)]
struct Level {
    noise_counts: f64,
    runs: u64,
    parameters: Vec<Parameter>,
    /// Free-run fit of the worse joint.
    median_fit_percent: f64,
    least_fit_percent: f64,
    #[serde(skip)]
    seconds: f64,
}

/// A random rig swinging, as counts, and its four lean parameters.
fn random_run(seconds: f64, noise: f64, seed: u64) -> (Record, Rig, [f64; 4]) {
    let mut rng = Rng::new(seed);
    let tilt = rng.within(15.0, 65.0).to_radians();
    let config = furuta::Config {
        tilt: tilt as f32,
        ..furuta::Config::default()
    };
    let mut decade = |centre: f64| centre * 10f64.powf(rng.within(-0.5, 0.5));
    let truth = [decade(5e-4), decade(2.5e-4), decade(6e-4), decade(2.5e-4)];
    let law = |d: f64, v: f64| Friction::brown_mcphee([d, 1.2 * d, v, 5e-3, 1e-2]);
    let friction = [law(truth[0], truth[1]), law(truth[2], truth[3])];
    let start = [rng.within(-0.5, 0.5), rng.within(60.0, 160.0).to_radians()];
    let pendulum = Truth::new(&PlantConfig::Furuta(config), friction, start, 1e-4, 2);
    let encoder = Encoder {
        noise_counts: noise,
        ..Encoder::default()
    };
    let mut bench = Bench::new(pendulum, [encoder; 2], seed);
    let count = std::f64::consts::TAU / f64::from(COUNTS_PER_REV);
    let n = (seconds * 1e4) as usize;
    let q = (0..n)
        .map(|_| {
            bench
                .tick()
                .counts
                .map(|c| (f64::from(c as i32) + 0.5) * count)
        })
        .collect();
    let record = Record {
        name: format!("run {seed}"),
        t: (0..n).map(|i| i as f64 * 1e-4).collect(),
        q,
        joints: 2,
        quantum: [count; 2],
    };
    (record, Rig::furuta(&config), truth)
}

fn one(args: &Args, terms: Option<&[Coef]>, noise: f64, seed: u64) -> crate::error::Result<Run> {
    let (record, rig, truth) = random_run(args.seconds, noise, seed);
    let subject = Subject::new(&record, rig, &[], true)?;
    let choices = Choices {
        terms: terms.map(<[Coef]>::to_vec),
        precision: Precision::F64,
    };
    let outcome = identify(&subject, Method::Greybox, &choices)?;
    let found = std::array::from_fn(|k| {
        let e = outcome.estimates.iter().find(|e| e.name == NAMES[k])?;
        let [low, high] = e.interval()?;
        Some([truth[k], e.value, 0.5 * (high - low)])
    });
    Ok(Run {
        found,
        fit: [outcome.fit[0], outcome.fit[1]],
        seconds: outcome.seconds,
    })
}

/// All runs of one level, in the order of their seeds whatever thread made them.
fn level(args: &Args, terms: Option<&[Coef]>, noise: f64) -> anyhow::Result<Level> {
    let threads = args
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
        .max(1);
    let bar = indicatif::ProgressBar::new(args.runs).with_message("runs");
    let next = AtomicU64::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= args.runs {
                return done;
            }
            done.push((i, one(args, terms, noise, args.seed + i)));
            bar.inc(1);
        }
    };
    let mut runs: Vec<(u64, crate::error::Result<Run>)> = std::thread::scope(|s| {
        let workers: Vec<_> = (0..threads).map(|_| s.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|w| w.join().expect("a worker does not panic"))
            .collect()
    });
    bar.finish_and_clear();
    runs.sort_by_key(|(i, _)| *i);
    let runs: Vec<Run> = runs
        .into_iter()
        .map(|(i, r)| r.with_context(|| format!("run with seed {}", args.seed + i)))
        .collect::<anyhow::Result<_>>()?;
    Ok(summary(noise, &runs))
}

fn summary(noise: f64, runs: &[Run]) -> Level {
    let parameters = NAMES
        .into_iter()
        .enumerate()
        .map(|(k, name)| {
            let found: Vec<[f64; 3]> = runs.iter().filter_map(|r| r.found[k]).collect();
            let inside = |[truth, value, half]: &&[f64; 3]| (value - truth).abs() <= *half;
            let covered = found.iter().filter(inside).count() as u64;
            let share = |f: fn(&[f64; 3]) -> f64| {
                median(
                    &mut found
                        .iter()
                        .map(|x| 100.0 * f(x) / x[0])
                        .collect::<Vec<_>>(),
                )
            };
            Parameter {
                name,
                covered,
                covered_percent: 100.0 * covered as f64 / runs.len() as f64,
                half_width_percent: share(|x| x[2]),
                error_percent: share(|x| (x[1] - x[0]).abs()),
            }
        })
        .collect();
    let mut fits: Vec<f64> = runs.iter().map(|r| r.fit[0].min(r.fit[1])).collect();
    Level {
        noise_counts: noise,
        runs: runs.len() as u64,
        parameters,
        least_fit_percent: fits.iter().copied().fold(f64::INFINITY, f64::min),
        median_fit_percent: median(&mut fits),
        seconds: median(&mut runs.iter().map(|r| r.seconds).collect::<Vec<_>>()),
    }
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let chosen = if args.terms == "auto" {
        None
    } else {
        Some(terms::parse(&args.terms).ok_or_else(|| {
            Error::invalid(
                format!("unknown friction terms {:?}", args.terms),
                "auto, or some of coulomb, viscous, quadratic, stribeck, asymmetry",
            )
        })?)
    };
    let began = Instant::now();
    let mut levels = Vec::new();
    for &noise in &args.noise {
        levels.push(level(&args, chosen.as_deref(), noise)?);
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&levels)?);
    } else {
        print(&args, &levels);
    }
    let times: Vec<String> = levels.iter().map(|l| format!("{:.2}", l.seconds)).collect();
    eprintln!(
        "median time of a fit {} s; {:.0} s in all",
        times.join(", "),
        began.elapsed().as_secs_f64()
    );
    let all = levels.iter().flat_map(|l| &l.parameters);
    let held = all.clone().all(|p| p.covered_percent >= 100.0 * PROMISE);
    Ok(if held { Exit::Success } else { Exit::Failure })
}

fn print(args: &Args, levels: &[Level]) {
    println!(
        "{} runs of {} s per level, terms {}, seed {}: truth inside the 95 % interval; medians over the runs",
        args.runs, args.seconds, args.terms, args.seed
    );
    println!(
        "noise [counts]  parameter  covered [%]  half-width [%]  error [%]  fit median / least [%]"
    );
    for l in levels {
        for (i, p) in l.parameters.iter().enumerate() {
            let (noise, fit) = if i == 0 {
                let fit = format!("{:.5} / {:.5}", l.median_fit_percent, l.least_fit_percent);
                (l.noise_counts.to_string(), fit)
            } else {
                Default::default()
            };
            println!(
                "{noise:>14}  {:<9}  {:>11.0}  {:>14.4}  {:>9.4}  {fit}",
                p.name, p.covered_percent, p.half_width_percent, p.error_percent
            );
        }
    }
}
