//! `stribeck report`: one page about a run, to be read, printed and filed.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;

use indicatif::ProgressBar;
use serde_json::json;

use crate::cli::exit::Exit;
use crate::file;
use crate::report::markup::percent;
use crate::report::{self, Options, Report, page};

/// Write one self-contained HTML page about a run in a log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck simulate --seconds 40 -o run.mcap
  $ stribeck report run.mcap -o report.html

The page holds the health of device and link, angles, parameters with 95 % bands, the free-run
validation, spectra, residuals, the friction curve, what could be identified, and what the numbers
cannot say. It needs no network and prints on A4. Exit code 3: the log has losses or damage;
5: nothing swung (the page then holds the health only).")]
pub struct Args {
    /// The log
    log: PathBuf,
    /// The page to write (default: the log's name with .html)
    #[arg(short, long, value_name = "HTML")]
    output: Option<PathBuf>,
    /// Overwrite the page if it exists
    #[arg(long)]
    force: bool,
    /// Which run of the log, counted from 1 (default: the longest)
    #[arg(long, value_name = "N")]
    run: Option<usize>,
    /// Run the observers again and compare every bit, even if the capture already did
    #[arg(long)]
    compare: bool,
    /// Print the numbers of the page as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let output = args
        .output
        .unwrap_or_else(|| args.log.with_extension("html"));
    file::may_write(&output, args.force, &[&args.log])?;
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::new(100)
    } else {
        ProgressBar::hidden()
    };
    let options = Options {
        run: args.run,
        compare: args.compare,
    };
    let report = report::build(&args.log, &options, &report::offline::grey_box, |part| {
        bar.set_position((100.0 * part) as u64);
    })?;
    bar.finish_and_clear();
    file::replace(&output, page::html(&report))?;
    if args.json {
        println!("{}", json!({ "page": output, "report": report }));
    } else {
        print!("{}", text(&report));
        println!("wrote {}", output.display());
    }
    Ok(exit(&report))
}

/// The short version.
fn text(report: &Report) -> String {
    let Some(a) = &report.analysis else {
        return "nothing swung in this log: the page holds the health only\n".into();
    };
    let mut text = format!(
        "run {} of {}: {:.2} s\n",
        a.number,
        report.runs.len(),
        a.seconds
    );
    text += &fits(report);
    if !report.health.is_sound() {
        text += "the health section of the page has something to say\n";
    }
    text
}

/// Free-run fit of every parameter set, one line each.
pub fn fits(report: &Report) -> String {
    let mut text = String::new();
    let Some(a) = &report.analysis else {
        return text;
    };
    for v in &a.validated {
        let fits: Vec<String> = v
            .free_run
            .fit_percent
            .iter()
            .enumerate()
            .map(|(j, fit)| format!("{} {}", a.swing.axes().name(j), percent(*fit)))
            .collect();
        let _ = writeln!(
            text,
            "  {:<14} free-run fit [%]: {}",
            v.candidate.name,
            fits.join(", ")
        );
    }
    text
}

fn exit(report: &Report) -> Exit {
    let health = &report.health;
    if health.verification.differing_blocks > 0 {
        Exit::Differs
    } else if !health.losses.is_clean() || !health.damage.is_empty() {
        Exit::Loss
    } else if report.analysis.is_none() {
        Exit::Nothing
    } else {
        Exit::Success
    }
}
