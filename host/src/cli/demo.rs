//! `stribeck demo`: everything once, with no hardware: simulated pendulum → native twin → log → replay → estimates.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde_json::json;
use stribeck_core::config::Config;
use stribeck_core::plant::PlantConfig;
use stribeck_core::wire::Ask;

use super::accounts;
use super::capture::Display;
use super::replay;
use super::report::fits;
use crate::ask;
use crate::capture::{self, Plan};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::identify::import;
use crate::identify::model::Rig;
use crate::identify::online::Precision;
use crate::identify::outcome::{Estimate, Outcome};
use crate::identify::run::{self as methods, Choices, Method};
use crate::identify::subject::Subject;
use crate::recorder::{Recorder, Wall};
use crate::report::{self, Options, page};
use crate::simulation::{Scenario, TrueFriction};
use crate::source::Source;
use crate::source::twin::Twin;
use crate::source::usb;

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
    #[arg(long, default_value_t = 35.0)]
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
    std::fs::write(&rig, crate::config::to_toml(&config)?).map_err(|e| Error::write(&rig, e))?;
    let scenario = Scenario {
        noise_counts: args.noise,
        ..Scenario::default()
    };
    say(format!(
        "1 simulate  {:.0} s of a tilted Furuta pendulum (truth: Table 3 of paper 000), {} counts RMS of noise",
        args.seconds, args.noise
    ));
    let accounts = record(&config, &scenario, args.seconds, &log)?;
    let lost = accounts::losses(&accounts.losses);
    say(format!(
        "2 capture   {} ticks through the device's own code, {:.1} kB/s: {}",
        accounts::grouped(accounts.ticks),
        accounts.bytes as f64 / accounts.seconds().max(1e-9) / 1e3,
        if lost.is_empty() {
            "lost nothing"
        } else {
            lost.trim()
        }
    ));
    let found = replay::replay(&log, None, &[])?;
    say(format!(
        "3 replay    {} ticks compared: {} differing bits, {:.0} x real time",
        accounts::grouped(found.verdict.compared_ticks),
        found.verdict.differing_bits,
        found.speed
    ));
    let outcomes = identify(&log)?;
    say(format!(
        "4 identify\n{}",
        table(&outcomes, &scenario.friction)
    ));
    let report = report::build(
        &log,
        &Options::default(),
        &report::offline::grey_box,
        |_| {},
    )?;
    let html = folder.join("report.html");
    std::fs::write(&html, page::html(&report)).map_err(|e| Error::write(&html, e))?;
    say(format!(
        "5 report    free run of the model alone\n{}",
        fits(&report)
    ));
    say(format!(
        "\nwrote {}, {}, {} in {:.1} s\n\nGo on with:\n  stribeck live --from sim\n  stribeck info {}\n  stribeck replay {} --override ekf.drag=true",
        log.display(),
        rig.display(),
        html.display(),
        begun.elapsed().as_secs_f64(),
        log.display(),
        log.display()
    ));
    if let Ok(port) = usb::find() {
        say(format!(
            "\nA board is connected at {port}: record it with\n  stribeck capture --arm --until-rest -o bench.mcap"
        ));
    }
    if args.json {
        let value = json!({
            "log": log,
            "rig": rig,
            "page": html,
            "truth": scenario.friction,
            "replay": found.verdict,
        });
        println!("{value}");
    }
    Ok(accounts::exit(&accounts.losses, &found.verdict))
}

/// Simulate into a log, through the same code as a capture.
fn record(
    config: &Config,
    scenario: &Scenario,
    seconds: f64,
    log: &Path,
) -> Result<crate::accounts::Accounts> {
    let mut twin = Twin::new(config, scenario, Some(seconds), false);
    twin.write(&ask::frame(1, Ask::Start))?;
    let recorder = Recorder::create(log, Wall::Epoch)?;
    let mut display = Display::new();
    let never = AtomicBool::new(false);
    let outcome = capture::run(
        Box::new(twin),
        recorder,
        Plan::default(),
        &never,
        &mut |p| {
            display.show_quietly(p);
        },
    )?;
    display.bar.finish_and_clear();
    Ok(outcome.accounts)
}

/// The two observers of the device and the grey box on the run of a log.
fn identify(log: &Path) -> Result<Vec<Outcome>> {
    let logged = import::read_log(log)?;
    let PlantConfig::Furuta(rig) = &logged.config.plant else {
        return Ok(Vec::new());
    };
    let subject = Subject::new(&logged.record, Rig::furuta(rig), &[], true)?;
    let choices = Choices {
        terms: Some(report::offline::TERMS.to_vec()),
        precision: Precision::F32,
    };
    [Method::Uas, Method::Ekf, Method::Greybox]
        .into_iter()
        .map(|method| methods::run(&subject, method, &choices))
        .collect()
}

/// True values beside every method's estimate with its 95 % interval, then the fit of a free run.
fn table(outcomes: &[Outcome], truth: &[TrueFriction; 2]) -> String {
    let mut text = format!("  {:<14}{:>11}", "", "true");
    for o in outcomes {
        let name = if o.method == "uas" {
            "uas (a prior)"
        } else {
            o.method
        };
        let _ = write!(text, "{name:>24}");
    }
    text.push('\n');
    for (joint, friction) in truth.iter().enumerate() {
        for (symbol, unit, value) in [("μd", "m", friction.mu_d), ("μv", "N·m·s", friction.mu_v)]
        {
            let name = format!("{symbol}{joint}");
            let _ = write!(text, "  {:<14}{value:>11.3e}", format!("{name} [{unit}]"));
            for o in outcomes {
                let estimate = o.estimates.iter().find(|e| e.name == name);
                let _ = write!(text, "{:>24}", estimate.map_or("–".into(), |e| cell(o, e)));
            }
            text.push('\n');
        }
    }
    for joint in 0..truth.len() {
        let _ = write!(text, "  {:<25}", format!("free-run fit θ{joint} [%]"));
        for o in outcomes {
            let fit = o.fit.get(joint).map_or("–".into(), |f| format!("{f:.4}"));
            let _ = write!(text, "{fit:>24}");
        }
        text.push('\n');
    }
    text + "  The UAS parameters follow their bounds, not the data: they are a prior."
}

fn cell(outcome: &Outcome, e: &Estimate) -> String {
    match e.stderr {
        _ if outcome.method == "uas" => format!("{:.3e}", e.value),
        _ if !e.identifiable => "not identifiable".into(),
        Some(s) => format!("{:.3e} ± {:.1e}", e.value, 1.96 * s),
        None => format!("{:.3e}", e.value),
    }
}
