//! `stribeck demo`: everything once, with no hardware: simulated pendulum → native twin → log → replay → estimates.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use stribeck_core::device::config::Config;
use stribeck_core::model::friction::Friction;
use stribeck_core::model::parameter::{self, Parameter};
use stribeck_core::wire::Ask;

use crate::cli::capture::Display;
use crate::cli::exit::Exit;
use crate::cli::values;
use crate::error::{Error, Result};
use crate::file;
use crate::link::scenario::Scenario;
use crate::link::twin::Twin;
use crate::link::usb;
use crate::log::metadata::Metadata;
use crate::log::recorder::{Recorder, Wall};
use crate::log::summary::Summary;
use crate::log::{simulate, text};
use crate::replay;
use crate::report::candidate::{Estimate, Kind, Z95};
use crate::report::markup::percent;
use crate::report::{self, Options, Report, page};

/// Show everything once, without hardware, in under a minute
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck demo
  1 simulate  35.00 s of a tilted Furuta pendulum (Table 3 of paper 000), counts only
  2 capture   350,000 ticks through the device's own code: lost nothing
  3 replay    350,000 ticks compared: 0 differing bits
  4 identify
  …")]
pub struct Args {
    /// Folder to write to (created; files of an earlier demo are replaced)
    #[arg(short, long, default_value = "stribeck-demo", value_name = "FOLDER")]
    output: PathBuf,
    /// Length of the simulated run
    #[arg(long, default_value_t = 35.0, value_parser = values::seconds)]
    seconds: f64,
    /// White noise of both encoders [counts RMS]
    #[arg(long, default_value_t = 0.0, value_name = "COUNTS")]
    noise: f64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    let (log, rig) = (folder.join("run.mcap"), folder.join("rig.toml"));
    let say = |line: String| {
        if args.json {
            eprintln!("{line}");
        } else {
            println!("{line}");
        }
    };

    let config = Config::default();
    file::replace(&rig, crate::config::to_toml(&config)?)?;
    let scenario = Scenario {
        noise_counts: args.noise,
        ..Scenario::default()
    };
    say(format!(
        "1 simulate  {:.0} s of a tilted Furuta pendulum (truth: Table 3 of paper 000), {} counts RMS of noise",
        args.seconds, args.noise
    ));
    let summary = record(&config, &scenario, args.seconds, &log)?;
    let lost = text::losses(&summary.losses);
    say(format!(
        "2 capture   {} ticks through the device's own code, {:.1} kB/s: {}",
        text::grouped(summary.ticks),
        summary.bytes as f64 / summary.seconds().max(1e-9) / 1e3,
        if lost.is_empty() {
            "lost nothing"
        } else {
            lost.trim()
        }
    ));
    let started = Instant::now();
    let found = replay::replay(&log, &replay::Options::default(), |_| {})?;
    say(format!(
        "3 replay    {} ticks compared: {} differing bits, {:.0} x real time",
        text::grouped(found.verdict.compared_ticks),
        found.verdict.differing_bits,
        found.seconds / started.elapsed().as_secs_f64().max(1e-9)
    ));
    let report = report::build(
        &log,
        &Options::default(),
        &report::offline::grey_box,
        |_| {},
    )?;
    say(format!(
        "4 identify  friction from the counts alone; ± is the 95 % interval\n{}",
        table(&report, &scenario.friction)
    ));
    let html = folder.join("report.html");
    file::replace(&html, page::html(&report))?;
    let program = program();
    say(format!(
        "5 report    open {} in a browser: curves, spectra, what the numbers cannot say\n\n\
         wrote {}, {}, {} in {:.1} s\n\nGo on with:\n  {program} live --from sim\n  {program} info {}\n  \
         {program} replay {} --override ekf.drag=true",
        html.display(),
        log.display(),
        rig.display(),
        html.display(),
        begun.elapsed().as_secs_f64(),
        log.display(),
        log.display()
    ));
    if let Ok(port) = usb::find() {
        say(format!(
            "\nA board is connected at {port}: record it with\n  {program} capture --arm --until-rest"
        ));
    }
    if args.json {
        let value = json!({
            "log": log,
            "rig": rig,
            "page": html,
            "truth": scenario.friction,
            "replay": found.verdict,
            "parameter_sets": report.analysis.as_ref().map(|a| &a.validated),
        });
        println!("{value}");
    }
    Ok(Exit::of_recording(&summary.losses, &found.verdict))
}

/// Simulate into a log, through the same code as a capture.
fn record(config: &Config, scenario: &Scenario, seconds: f64, log: &Path) -> Result<Summary> {
    let twin = Twin::new(config, scenario, Some(seconds), false);
    let recorder = Recorder::create_with(log, Wall::Epoch, true, Metadata::default())?;
    let mut display = Display::new();
    let outcome = simulate::record(twin, recorder, Some(Ask::Start), &mut |p| {
        display.show_quietly(p)
    })?;
    display.bar.finish_and_clear();
    Ok(outcome.summary)
}

/// How this program is called: by its name where it is installed, by `cargo run` where it was just built.
fn program() -> String {
    let called = std::env::args_os().next().map(PathBuf::from);
    let built = called.is_some_and(|path| path.components().any(|c| c.as_os_str() == "target"));
    if built && std::env::var_os("CARGO").is_some() {
        "cargo run --release --".into()
    } else {
        "stribeck".into()
    }
}

/// What a parameter set is, for somebody who has not read the papers.
fn heading(kind: Kind) -> Option<[&'static str; 2]> {
    match kind {
        Kind::InitialGuess => None,
        Kind::Uas => Some(["UAS observer", "on chip, a prior"]),
        Kind::Ekf => Some(["Kalman filter (EKF)", "on chip, live"]),
        Kind::Offline => Some(["grey box", "off line, whole run"]),
    }
}

/// True values beside every parameter set, then how much of the measured swing each of them explains.
fn table(report: &Report, truth: &[Friction<f64>; 2]) -> String {
    let Some(analysis) = &report.analysis else {
        return "  nothing swung: there is nothing to identify\n".into();
    };
    let sets: Vec<_> = analysis
        .validated
        .iter()
        .filter_map(|v| Some((heading(v.candidate.kind)?, v)))
        .collect();
    let mut text = String::new();
    for line in 0..2 {
        let first = if line == 0 { "true" } else { "" };
        let _ = write!(text, "  {:<42}{first:>11}", "");
        for (heading, _) in &sets {
            let _ = write!(text, "{:>24}", heading[line]);
        }
        text.push('\n');
    }
    for (joint, friction) in truth.iter().enumerate() {
        let part = analysis.swing.axes().name(joint);
        for (Parameter { symbol, unit, .. }, words, value) in [
            (parameter::MU_D, "Coulomb friction", friction.mu_d),
            (parameter::MU_V, "viscous friction", friction.mu_v),
        ] {
            let name = format!("{part}, {words} ({symbol}{joint}) [{unit}]");
            let _ = write!(text, "  {name:<42}{value:>11.3e}");
            for (_, set) in &sets {
                let estimates = &set.candidate.estimates;
                let estimate = estimates
                    .iter()
                    .find(|e| e.joint == joint && e.symbol == symbol);
                let _ = write!(text, "{:>24}", estimate.map_or("–".into(), cell));
            }
            text.push('\n');
        }
    }
    text += "  free run: how much of the measured swing the model alone explains\n";
    for joint in 0..truth.len() {
        let part = analysis.swing.axes().name(joint);
        let _ = write!(text, "  {:<53}", format!("{part} (θ{joint}) [%]"));
        for (_, set) in &sets {
            let fit = set.free_run.fit_percent.get(joint);
            let _ = write!(text, "{:>24}", fit.map_or("–".into(), |f| percent(*f)));
        }
        text.push('\n');
    }
    text + "  The UAS parameters follow their bounds, not the data: they are a prior, without an interval."
}

fn cell(e: &Estimate) -> String {
    match e.sigma {
        _ if !e.identifiable && e.prior.is_none() => "not identifiable".into(),
        Some(s) => format!("{:.3e} ± {:.1e}", e.value, Z95 * s),
        None => format!("{:.3e}", e.value),
    }
}
