//! `stribeck campaign`: many runs, identified alike, into one table; on one machine, or divided among many.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::campaign::plan::{self, Plan};
use crate::campaign::slurm::{self, Resources};
use crate::campaign::work::{self, Share};
use crate::campaign::{self, Summary, dataset, page};
use crate::cli::exit::Exit;
use crate::file;

/// Identify many runs alike: measured ones, simulated ones; on all cores or on many machines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A campaign is a file. Measured runs:
  output = \"grease\"                         # folder of the results, beside this file
  [[input]]
  files = [\"runs/*.mcap\"]                   # logs; tables (.csv, .txt, .parquet) too
  pattern = \"{grease}-{temperature}C-{try}\" # design variables in the files' names
  variables = { operator = \"ada\" }          # and the same for all of them
  [input.table]                             # columns of tables, named as the options of `identify`
  angle = [\"theta\"]
  unit = \"deg\"
  [identify]
  methods = [\"greybox\", \"ekf\"]
  terms = \"auto\"
  [[identify.prior]]                        # what is known of the rig
  parameter = \"tilt\"
  value = 0.785
  sigma = 0.002

Simulated runs, every value with every seed:
  output = \"noise\"
  [simulation]
  bench = \"random\"       # every seed its own rig, as `stribeck study`; or \"one-joint\", or \"scenario\"
  seeds = 100
  seconds = 25.0
  [simulation.vary]
  noise_counts = [0.0, 5.0, 20.0]   # bench \"scenario\": any number of it, as \"friction[1].mu_d\"

Example:
  stribeck campaign run noise.toml
  stribeck campaign report noise.toml -o noise.html
  duckdb -c \"select method, parameter, avg(value) from 'noise/results/**/*.parquet' group by all\"

A run that cannot be read or identified is a row with its reason. Killed at any moment, `run` goes on where it was; results are never
rewritten. Many machines: `shard --index I --of N` for every I in any order, as often as you like, then `merge`: the same bytes as `run`.

Exit code 5: the dataset is complete, but no run was identified; 3: some runs failed.")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List and hash the inputs, freeze the plan (every other command does so too)
    Plan(Common),
    /// Compute what is missing on all cores, then merge
    Run(Run),
    /// Compute one of N shares of the runs; then `merge`
    #[command(after_help = "Example:\n  stribeck campaign shard c.toml --index 3 --of 16")]
    Shard(Shard),
    /// Put the shards together: the Parquet dataset
    Merge(Common),
    /// How much is done
    Status(Common),
    /// Write a script that submits the shards to Slurm, and the merge after them
    #[command(after_help = "\
Example:
  stribeck campaign slurm c.toml --shards 64 --time 00:30:00 -o submit.sh && sh submit.sh
The campaign file, its inputs and this program must be visible on every node under their paths here.")]
    Slurm(Slurm),
    /// One page: friction against each design variable, pooled values, outliers, coverage
    Report(Report),
}

#[derive(Debug, clap::Args)]
struct Common {
    /// The campaign file (TOML)
    campaign: PathBuf,
    /// Machine-readable result on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Run {
    #[command(flatten)]
    common: Common,
    /// Threads; without it, one per core
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Debug, clap::Args)]
struct Shard {
    #[command(flatten)]
    run: Run,
    /// Which share, from 0
    #[arg(long)]
    index: u64,
    /// How many shares there are
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    of: u64,
}

#[derive(Debug, clap::Args)]
struct Slurm {
    /// The campaign file (TOML)
    campaign: PathBuf,
    /// Tasks of the array
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..))]
    shards: u64,
    /// Cores per task
    #[arg(long, default_value_t = 1)]
    cpus: u32,
    /// Time limit of a task
    #[arg(long, default_value = "01:00:00")]
    time: String,
    /// Memory of a task
    #[arg(long, default_value = "500M")]
    memory: String,
    /// Partition of the cluster
    #[arg(long)]
    partition: Option<String>,
    /// The script to write
    #[arg(short, long, value_name = "SCRIPT", default_value = "submit.sh")]
    output: PathBuf,
    /// Overwrite the script if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct Report {
    #[command(flatten)]
    common: Common,
    /// The page to write (default: the campaign file's name with .html)
    #[arg(short, long, value_name = "HTML")]
    output: Option<PathBuf>,
    /// Overwrite the page if it exists
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    match args.command {
        Command::Plan(c) => plan_only(&c),
        Command::Run(r) => whole(&r),
        Command::Shard(s) => shard(&s),
        Command::Merge(c) => {
            let plan = plan::open(&c.campaign)?;
            finished(&plan, &dataset::merge(&plan)?, c.json)
        }
        Command::Status(c) => status(&c),
        Command::Slurm(s) => write_script(&s),
        Command::Report(r) => report(&r),
    }
}

fn plan_only(c: &Common) -> anyhow::Result<Exit> {
    let plan = plan::open(&c.campaign)?;
    let f = &plan.frozen;
    let duplicates = f.files.iter().filter(|x| x.duplicate_of.is_some()).count();
    let unreadable = f.files.iter().filter(|x| x.unreadable.is_some()).count();
    if c.json {
        println!(
            "{}",
            json!({ "folder": plan.folder, "campaign": f.campaign, "runs": f.runs, "files": f.files.len(), "duplicates": duplicates,
                "unreadable": unreadable, "chunks": plan.chunks() })
        );
    } else {
        println!(
            "{} runs ({} files, {duplicates} of them there twice, {unreadable} unreadable) in {} chunks: {}",
            f.runs,
            f.files.len(),
            plan.chunks(),
            plan.folder.display()
        );
    }
    Ok(Exit::Success)
}

/// Runs that are done, on a terminal as a bar with the time left, else as a line now and then.
struct Progress {
    bar: ProgressBar,
    lines: Option<Mutex<Lines>>,
}

/// A line at most this often.
const EVERY: Duration = Duration::from_secs(10);

struct Lines {
    done: u64,
    /// Done before this process.
    before: Option<u64>,
    of: u64,
    began: Instant,
    said: Instant,
}

impl Progress {
    fn new(runs: u64) -> Progress {
        let style = "{bar:40} {pos} of {len} runs, {elapsed} so far, {eta} left";
        let bar = ProgressBar::new(runs);
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        let now = Instant::now();
        let lines = (!std::io::stderr().is_terminal()).then(|| {
            Mutex::new(Lines {
                done: 0,
                before: None,
                of: runs,
                began: now,
                said: now,
            })
        });
        Progress { bar, lines }
    }

    fn done(&self, runs: u64) {
        let Some(lines) = &self.lines else {
            if self.bar.position() == 0 {
                self.bar.set_position(runs);
                self.bar.reset_eta();
            } else {
                self.bar.inc(runs);
            }
            return;
        };
        let mut l = lines.lock().unwrap_or_else(|e| e.into_inner());
        l.done += runs;
        let before = *l.before.get_or_insert(runs);
        if l.said.elapsed() >= EVERY && l.done > before {
            l.said = Instant::now();
            let each = l.began.elapsed().as_secs_f64() / (l.done - before) as f64;
            let left = each * (l.of - l.done.min(l.of)) as f64;
            eprintln!("{} of {} runs, {left:.0} s left", l.done, l.of);
        }
    }
}

fn whole(r: &Run) -> anyhow::Result<Exit> {
    let plan = plan::open(&r.common.campaign)?;
    let progress = Progress::new(plan.frozen.runs);
    let threads = r.threads.unwrap_or(0);
    let summary = campaign::run(&plan, threads, &|n| progress.done(n))?;
    progress.bar.finish_and_clear();
    finished(&plan, &summary, r.common.json)
}

fn shard(s: &Shard) -> anyhow::Result<Exit> {
    let share = Share::new(s.index, s.of)?;
    let plan = plan::open(&s.run.common.campaign)?;
    let runs = share.runs(&plan);
    let progress = Progress::new(runs);
    let threads = s.run.threads.unwrap_or(0);
    work::run(&plan, share, threads, &|n| progress.done(n))?;
    progress.bar.finish_and_clear();
    if s.run.common.json {
        println!("{}", json!({ "index": s.index, "of": s.of, "runs": runs }));
    } else {
        println!("shard {} of {}: {runs} runs are done", s.index, s.of);
    }
    Ok(Exit::Success)
}

fn finished(plan: &Plan, summary: &Summary, as_json: bool) -> anyhow::Result<Exit> {
    let results = plan.folder.join("results");
    if as_json {
        println!("{}", json!({ "results": results, "summary": summary }));
    } else {
        println!(
            "{} runs: {} identified, {} failed, {} there twice; {} rows in {}",
            summary.runs,
            summary.ok,
            summary.failed,
            summary.duplicates,
            summary.rows,
            results.display()
        );
    }
    Ok(match (summary.ok, summary.failed) {
        (0, _) => Exit::Nothing,
        (_, 0) => Exit::Success,
        _ => Exit::Loss,
    })
}

fn status(c: &Common) -> anyhow::Result<Exit> {
    let plan = plan::open(&c.campaign)?;
    let missing = dataset::missing(&plan);
    let left: u64 = missing
        .iter()
        .map(|m| plan.chunk(*m))
        .map(|r| r.end - r.start)
        .sum();
    let done = plan.frozen.runs - left;
    if c.json {
        println!(
            "{}",
            json!({ "runs": plan.frozen.runs, "done": done, "chunks": plan.chunks(), "missing_chunks": missing })
        );
    } else {
        println!("{done} of {} runs are done", plan.frozen.runs);
    }
    Ok(Exit::Success)
}

fn write_script(s: &Slurm) -> anyhow::Result<Exit> {
    file::may_write(&s.output, s.force, &[&s.campaign])?;
    let plan = plan::open(&s.campaign)?;
    let full = std::path::absolute(&s.campaign)?;
    let name = s.campaign.file_stem().unwrap_or_default().to_string_lossy();
    let resources = Resources {
        shards: s.shards.min(plan.chunks()),
        cpus: s.cpus.max(1),
        time: s.time.clone(),
        memory: s.memory.clone(),
        partition: s.partition.clone(),
    };
    let program = std::env::current_exe()?;
    file::replace(&s.output, slurm::script(&program, &full, &name, &resources))?;
    println!("wrote {}: submit it with `sh {0}`", s.output.display());
    Ok(Exit::Success)
}

fn report(r: &Report) -> anyhow::Result<Exit> {
    let c = &r.common;
    let output = r.output.clone();
    let output = output.unwrap_or_else(|| c.campaign.with_extension("html"));
    file::may_write(&output, r.force, &[&c.campaign])?;
    let plan = plan::open(&c.campaign)?;
    if !dataset::missing(&plan).is_empty() {
        // Says what is missing and what to do.
        dataset::merge(&plan)?;
    }
    let report = page::build(&plan)?;
    file::replace(&output, page::html(&plan, &report))?;
    if c.json {
        println!("{}", json!({ "page": output, "report": report }));
    } else {
        print!("{}", text(&report));
        println!("wrote {}", output.display());
    }
    Ok(Exit::Success)
}

/// The short version.
fn text(report: &page::Report) -> String {
    let mut out = String::new();
    for f in &report.found {
        if let Some(p) = &f.pooled {
            let half = p
                .half_width
                .map_or(String::new(), |h| format!(" ± {h:.1e}"));
            out += &format!(
                "{:<12}{:<10}{:.4e}{half} {} over {} runs (between {:.1e}, within {:.1e})\n",
                f.method, f.parameter, p.mean, f.unit, p.runs, p.between, p.within
            );
        }
    }
    for t in &report.coverage {
        let share = t
            .coverage()
            .map_or("–".into(), |c| format!("{:.1} %", 100.0 * c));
        out += &format!(
            "{:<12}{}: {} runs, {} intervals printed, {share} hold the truth, {} missed ({} flagged)\n",
            t.method, t.row, t.records, t.printed, t.missed, t.missed_flagged
        );
    }
    let outliers: usize = report.found.iter().map(|f| f.outliers.len()).sum();
    out + &format!(
        "{outliers} outliers, {} judgements failed\n",
        report.failed.len()
    )
}
