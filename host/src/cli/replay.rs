//! `stribeck replay`: run the observers again from the logged counts and compare every bit.

use std::path::PathBuf;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use stribeck_core::JOINTS;
use stribeck_core::model::parameter;
use stribeck_core::wire::block::Params;

use crate::cli::exit::Exit;
use crate::config::axes::Axes;
use crate::log::damage::Damage;
use crate::log::text;
use crate::replay::{self, Options, Replayed};

/// Run the observers again from a log and compare every bit
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck replay run.mcap
  compared 350,000 ticks, 35 snapshots: 0 differing bits in 0 blocks
  35.00 s of pendulum in 0.27 s: 130 x real time

With other observer settings, to see what the device would have found (names as in `config show`):
  $ stribeck replay run.mcap --override ekf.vt=[0.005,0.005] --override ekf.drag=true

Zero ticks compared is a failure. A log whose arithmetic is of another version is refused. A log with losses or
damage is compared as far as it goes; the exit code is then 3.")]
pub struct Args {
    /// The log
    log: PathBuf,
    /// Begin at this tick (at the last snapshot before it)
    #[arg(long, value_name = "TICK")]
    from_tick: Option<u64>,
    /// Also run with another setting and compare the outcome; may be repeated
    #[arg(long = "override", value_name = "PATH=VALUE")]
    overrides: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let bar = progress();
    let begun = Instant::now();
    let options = Options {
        from_tick: args.from_tick,
        overrides: &args.overrides,
    };
    let found = replay::replay(&args.log, &options, |part| {
        bar.set_position((part * 1000.0) as u64);
    })?;
    bar.finish_and_clear();
    let speed = found.seconds / begun.elapsed().as_secs_f64().max(1e-9);
    if args.json {
        println!("{}", as_json(&found, speed));
    } else {
        print!("{}", text::verdict(&found.verdict, None));
        println!(
            "{:.2} s of pendulum in {:.2} s: {:.0} x real time",
            found.seconds,
            found.seconds / speed.max(1e-12),
            speed
        );
        if found.losses.lost_ticks > 0 {
            println!(
                "{} ticks are missing in the log (`stribeck info` lists them)",
                text::grouped(found.losses.lost_ticks)
            );
        }
        for damage in &found.damage {
            println!("{damage}");
        }
        if let (Some(device), Some(other)) = (&found.device, &found.overridden) {
            print!("{}", outcome(&found.axes, device, other));
        }
    }
    let verdict = &found.verdict;
    if verdict.compared_ticks == 0 {
        eprintln!(
            "error: not a single tick could be compared ({} in the log)",
            text::grouped(found.ticks)
        );
        eprintln!(
            "  help: replay starts at a snapshot (one per second); is the log shorter, or --from-tick beyond its end?"
        );
        return Ok(Exit::Nothing);
    }
    Ok(match verdict.differing_blocks {
        0 => Exit::of_log(&found.losses, &found.damage),
        _ => Exit::Differs,
    })
}

fn progress() -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("replay {bar:40} {percent} %") {
        bar.set_style(style);
    }
    bar
}

/// Estimates at the end, as recorded and with the overrides.
fn outcome(axes: &Axes, device: &Params, other: &Params) -> String {
    let mut table = format!(
        "\nEKF at the end   {:>24}   {:>24}\n",
        "as recorded", "with overrides"
    );
    for (i, p) in parameter::EKF.iter().enumerate() {
        let (name, unit) = (
            p.id,
            p.unit_at(axes.joints[JOINTS * i / parameter::EKF.len()]),
        );
        let cell = |p: &Params| match p.identifiable & (1 << i) {
            0 => "not identifiable".to_string(),
            _ => format!("{:.4e} ± {:.1e}", p.p[i], 1.96 * p.sigma[i]),
        };
        table += &format!(
            "{name:<6} {unit:<8}  {:>24}   {:>24}\n",
            cell(device),
            cell(other)
        );
    }
    table += &format!(
        "UAS k, |e|       {:>24}   {:>24}\n",
        pair(axes, device),
        pair(axes, other)
    );
    table
}

fn pair(axes: &Axes, p: &Params) -> String {
    format!("{:.4}, {:.2e} {}", p.k, p.error, axes.all(|u| u.velocity))
}

fn as_json(found: &Replayed, speed: f64) -> Value {
    let params = |p: &Option<Params>| {
        p.as_ref().map(|p| {
            json!({ "p": p.p, "sigma": p.sigma, "identifiable": p.identifiable, "stage": p.stage, "z": p.z, "k": p.k, "error": p.error })
        })
    };
    json!({
        "verdict": found.verdict,
        "ticks": found.ticks,
        "lost_ticks": found.losses.lost_ticks,
        "seconds": found.seconds,
        "times_real_time": speed,
        "damage": found.damage.iter().map(Damage::to_string).collect::<Vec<_>>(),
        "metadata": found.recording,
        "device": params(&found.device),
        "override": params(&found.overridden),
    })
}
