//! `stribeck study`: do the intervals cover as often as they say? Monte Carlo over random rigs, exact ones and wrong ones.

use std::time::Instant;

use crate::cli::exit::Exit;
use crate::identify::method::{self, METHODS, Method, Options, Precision};
use crate::identify::model::terms;
use crate::identify::study::tally::Tally;
use crate::identify::study::{self, Plan, Row, record};
use crate::number;

/// Coverage of the methods' 95 % intervals over random truths, and whether it is said when they fail
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every record has its own pendulum: friction over a decade, tilt 15 to 65°, start angles ±0.5 rad and 60 to 160°, a Stribeck peak \
of 1.2 μd in the truth; only counts at 10 kHz are identified. With --mismatch the bench is not its rig file: zeros, tilt, masses, \
lengths, an eccentric disc, a cable, other friction laws, a moving base, a clock; one row each. With --one-joint a pendulum has any \
encoder. The result depends on the seed, not on the number of threads.

printed: intervals called identifiable; covered: those that hold the truth. missed: records with an estimate more than three standard \
errors off; flagged: the verdict says that no interval holds. Half-widths are medians of what is printed, in % of the truth; × bound \
is their ratio to the Cramér–Rao bound with the same priors.

The exit code is 1 when less than 90 % of a row's intervals cover, fewer than 95 % of all misses are flagged, or more than 5 % of the clean
records are.

Example:
  stribeck study --runs 100 --noise 0,5,20
  stribeck study --mismatch --runs 20")]
pub struct Args {
    /// Records per row
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Length of each record of two joints [s]
    #[arg(long, default_value_t = 25.0)]
    seconds: f64,
    /// A bench that is not its rig file: one row for every difference
    #[arg(long, conflicts_with = "one_joint")]
    mismatch: bool,
    /// A pendulum with any encoder
    #[arg(long)]
    one_joint: bool,
    /// Only rows whose name contains this
    #[arg(long)]
    row: Option<String>,
    /// White noise on the counts, RMS; one row for each value
    #[arg(long, value_delimiter = ',', default_value = "0,5,20")]
    noise: Vec<f64>,
    /// The rig file is exact and the methods know it
    #[arg(long, conflicts_with = "mismatch")]
    exact: bool,
    /// Methods that are studied
    #[arg(long, value_delimiter = ',', default_value = "greybox,ekf", value_parser = names())]
    method: Vec<String>,
    /// Friction terms of the grey box, or `auto`
    #[arg(long, default_value = "auto")]
    terms: String,
    /// Seed of the truths and of the noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; without it, one per core
    #[arg(long)]
    threads: Option<usize>,
    /// What was said of each record, below the table
    #[arg(long)]
    list: bool,
    /// Machine-readable result on standard output
    #[arg(long)]
    json: bool,
}

fn names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(METHODS.iter().map(|m| m.name()))
}

/// Share of a row's intervals that must hold the truth, of all misses that must be flagged, of clean records that may be.
const COVERED: f64 = 0.9;
const FLAGGED: f64 = 0.95;
const FALSE_ALARMS: f64 = 0.05;

fn rows(args: &Args) -> Vec<Row> {
    let mut rows = if args.mismatch {
        record::mismatched(args.seconds)
    } else if args.one_joint {
        vec![record::one_joint()]
    } else {
        let clean = |&noise: &f64| record::clean(args.seconds, noise, args.exact);
        args.noise.iter().map(clean).collect()
    };
    if let Some(part) = &args.row {
        rows.retain(|r| r.name.contains(part.as_str()));
    }
    rows
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let chosen = match args.terms.as_str() {
        "auto" => None,
        list => Some(terms::parse(list).ok_or_else(|| crate::cli::identify::unknown_terms(list))?),
    };
    let methods: Vec<&'static dyn Method> =
        args.method.iter().filter_map(|m| method::find(m)).collect();
    let rows = rows(&args);
    let plan = Plan {
        rows: &rows,
        methods: &methods,
        options: Options {
            terms: chosen,
            precision: Precision::F32,
            ..Options::default()
        },
        truths: args.runs,
        seed: args.seed,
    };
    let began = Instant::now();
    let bar = indicatif::ProgressBar::new(args.runs * rows.len() as u64).with_message("records");
    let threads = args.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    let tallies = pool.install(|| study::run(&plan, &|| bar.inc(1)))?;
    bar.finish_and_clear();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&tallies)?);
    } else {
        print(&args, &tallies);
        if args.list {
            list(&tallies);
        }
    }
    eprintln!("{:.0} s in all", began.elapsed().as_secs_f64());
    Ok(if holds(&tallies) {
        Exit::Success
    } else {
        Exit::Failure
    })
}

/// Whether every rule of the study was kept.
fn holds(tallies: &[Tally]) -> bool {
    let covered = tallies
        .iter()
        .filter_map(Tally::coverage)
        .all(|c| c >= COVERED);
    let sum = |f: fn(&Tally) -> u64| tallies.iter().map(f).sum::<u64>() as f64;
    let flagged = sum(|t| t.missed_flagged) >= FLAGGED * sum(|t| t.missed);
    let clean = |f: fn(&Tally) -> u64| {
        let of = tallies.iter().filter(|t| t.clean).map(f);
        of.sum::<u64>() as f64
    };
    covered && flagged && clean(|t| t.flagged) <= FALSE_ALARMS * clean(|t| t.records)
}

fn print(args: &Args, tallies: &[Tally]) {
    // The parameters every record is asked for, then those that some records show.
    let mut names: Vec<&str> = Vec::new();
    for p in tallies.iter().flat_map(|t| &t.parameters) {
        if !names.contains(&p.name) {
            names.push(p.name);
        }
    }
    println!(
        "{} records per row, {}terms {}, seed {}\n",
        args.runs,
        if args.one_joint {
            String::new()
        } else {
            format!("{} s, ", args.seconds)
        },
        args.terms,
        args.seed
    );
    println!(
        "| row | method | printed | covered % | each | missed (flagged) | flagged | half-width % {0} | × bound | fit % median / least |\n|---|---|---|---|---|---|---|---|---|---|",
        names.join(" ")
    );
    for t in tallies {
        let each = |f: &dyn Fn(&study::tally::Parameter) -> String| {
            let of = |n: &&str| t.parameters.iter().find(|p| p.name == *n);
            let cell = |n: &&str| of(n).map_or("–".into(), f);
            names.iter().map(cell).collect::<Vec<_>>().join(" ")
        };
        println!(
            "| {} | {} | {} | {} | {} | {} ({}) | {} of {} | {} | {} | {:.4} / {:.4} |",
            t.row,
            t.method,
            t.printed,
            t.coverage()
                .map_or("–".into(), |c| format!("{:.0}", 100.0 * c)),
            each(&|p| if p.printed == 0 {
                "–".into()
            } else {
                format!("{:.0}", 100.0 * p.covered as f64 / p.printed as f64)
            }),
            t.missed,
            t.missed_flagged,
            t.flagged,
            t.records - t.refused,
            each(&|p| if p.printed == 0 {
                "–".into()
            } else {
                significant(p.half_width_percent)
            }),
            each(&|p| p.over_bound.map_or("–".into(), significant)),
            t.median_fit_percent,
            t.least_fit_percent
        );
    }
}

/// What was said of each record.
fn list(tallies: &[Tally]) {
    for t in tallies {
        for (k, v) in t.verdicts.iter().enumerate() {
            println!("{} {} {}: {v}", t.row, t.method, k + 1);
        }
    }
}

/// Two significant digits.
fn significant(x: f64) -> String {
    let digits = (1 - number::log10(x.abs().max(1e-9)).floor() as i32).clamp(0, 6) as usize;
    format!("{x:.digits$}")
}
