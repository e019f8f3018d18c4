//! `stribeck replay`: run the observers again from the logged counts and compare every bit.

use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use stribeck_core::config::Config;
use stribeck_core::wire::block::Params;

use super::accounts;
use crate::check::Verdict;
use crate::config;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::log::Topic;
use crate::log::damage::Damage;
use crate::log::read::LogReader;
use crate::rerun::Rerun;
use crate::session::{Happening, Session, refusal};

/// Run the observers again from a log and compare every bit
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck replay run.mcap
  compared 350,000 ticks, 35 snapshots: 0 differing bits in 0 blocks
  35.00 s of pendulum in 0.27 s: 130 x real time

With other observer settings, to see what the device would have found (names as in `config show`):
  $ stribeck replay run.mcap --override ekf.vt=[0.005,0.005] --override ekf.drag=true

Zero ticks compared is a failure. A log whose arithmetic is of another version is refused.")]
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

/// What a replay found.
pub struct Found {
    pub verdict: Verdict,
    ticks: u64,
    seconds: f64,
    /// Times real time.
    pub speed: f64,
    damage: Vec<Damage>,
    lost_ticks: u64,
    /// Estimates at the end of the log.
    pub device: Option<Params>,
    other: Option<Params>,
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let found = replay(&args.log, args.from_tick, &args.overrides)?;
    if args.json {
        println!("{}", as_json(&found));
    } else {
        print!("{}", accounts::verdict(&found.verdict, None));
        println!(
            "{:.2} s of pendulum in {:.2} s: {:.0} x real time",
            found.seconds,
            found.seconds / found.speed.max(1e-12),
            found.speed
        );
        if found.lost_ticks > 0 {
            println!(
                "{} ticks are missing in the log (`stribeck info` lists them)",
                accounts::grouped(found.lost_ticks)
            );
        }
        for damage in &found.damage {
            println!("{damage}");
        }
        if let (Some(device), Some(other)) = (&found.device, &found.other) {
            print!("{}", outcome(device, other));
        }
    }
    let verdict = &found.verdict;
    if verdict.compared_ticks == 0 {
        eprintln!(
            "error: not a single tick could be compared ({} in the log)",
            accounts::grouped(found.ticks)
        );
        eprintln!(
            "  help: replay starts at a snapshot (one per second); is the log shorter, or --from-tick beyond its end?"
        );
        return Ok(Exit::Nothing);
    }
    Ok(if verdict.differing_blocks > 0 {
        Exit::Differs
    } else {
        Exit::Success
    })
}

/// Replay a log from a tick on, and with overrides beside it.
pub fn replay(path: &Path, from_tick: Option<u64>, overrides: &[String]) -> Result<Found> {
    let mut log = LogReader::open(path)?;
    let mut session = Session::log(true);
    let mut skip = Skip::new(from_tick);
    let mut other: Option<Rerun> = None;
    let bar = progress();
    let begun = Instant::now();
    let mut n = 0u32;
    while let Some(item) = log.read_next()? {
        if !item.topic.is_wire() || skip.skips(item.topic, item.at.device_ns) {
            continue;
        }
        session.bytes(item.data, |happening| {
            match &happening {
                Happening::Hello { hello, .. } => {
                    if let Some(why) = refusal(hello) {
                        return Err(Error::refused(
                            format!("{} cannot be replayed: {why}", path.display()),
                            format!(
                                "replay it with the stribeck version that belongs to firmware {}",
                                hello.build
                            ),
                        ));
                    }
                    let config = hello
                        .config()
                        .map_err(|e| unreadable(path, &e.to_string()))?;
                    skip.set_config(&config);
                    if !overrides.is_empty() && other.is_none() {
                        other = Some(Rerun::new(&config::with_overrides(&config, overrides)?));
                    }
                }
                Happening::Block { block, .. } => {
                    if let Some(other) = &mut other {
                        other.block(block);
                    }
                }
                Happening::Gap(_) => {
                    if let Some(other) = &mut other {
                        other.gap();
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        n += 1;
        if n.is_multiple_of(256) {
            bar.set_position((log.progress() * 1000.0) as u64);
        }
    }
    session.end(|_| Ok::<(), Error>(()))?;
    bar.finish_and_clear();
    if let Some(why) = session.no_hello() {
        return Err(Error::refused(
            format!(
                "{} {why}: there is no configuration to replay with",
                path.display()
            ),
            "use the stribeck version that wrote it; a log cut before its first whole message is lost",
        ));
    }
    let seconds =
        session.ticks() as f64 / f64::from(session.hello().map_or(1, |h| h.tick_hz.max(1)));
    Ok(Found {
        verdict: session.verdict(),
        ticks: session.ticks(),
        seconds,
        speed: seconds / begun.elapsed().as_secs_f64().max(1e-9),
        damage: log.damage().to_vec(),
        lost_ticks: session.losses().lost_ticks,
        device: session
            .checker()
            .and_then(|c| c.observers())
            .map(|o| o.params()),
        other: other
            .as_ref()
            .and_then(Rerun::observers)
            .map(|o| o.params()),
    })
}

fn unreadable(path: &Path, why: &str) -> Error {
    Error::refused(
        format!(
            "{}: the device's configuration cannot be read: {why}",
            path.display()
        ),
        "replay it with the stribeck version that wrote it",
    )
}

/// Leaves out blocks that lie before the last snapshot before the tick asked for.
struct Skip {
    from: Option<u64>,
    tick_hz: u64,
    lead: u64,
}

impl Skip {
    fn new(from: Option<u64>) -> Self {
        Skip {
            from,
            tick_hz: 10_000,
            lead: 0,
        }
    }

    fn set_config(&mut self, config: &Config) {
        self.tick_hz = u64::from(config.tick_hz);
        self.lead =
            u64::from(config.stream.snapshot_every) + 2 * u64::from(config.stream.block_ticks);
    }

    fn skips(&self, topic: Topic, device_ns: u64) -> bool {
        let Some(from) = self.from else { return false };
        let tick = (u128::from(device_ns) * u128::from(self.tick_hz) / 1_000_000_000) as u64;
        topic == Topic::Block && tick + self.lead < from
    }
}

fn progress() -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("replay {bar:40} {percent} %") {
        bar.set_style(style);
    }
    bar
}

const EKF: [(&str, &str); 6] = [
    ("mu_d0", "m"),
    ("mu_v0", "N·m·s"),
    ("d0", "N·m·s²"),
    ("mu_d1", "m"),
    ("mu_v1", "N·m·s"),
    ("d1", "N·m·s²"),
];

/// Estimates at the end, as recorded and with the overrides.
fn outcome(device: &Params, other: &Params) -> String {
    let mut text = format!(
        "\nEKF at the end   {:>24}   {:>24}\n",
        "as recorded", "with overrides"
    );
    for (i, (name, unit)) in EKF.iter().enumerate() {
        let cell = |p: &Params| match p.identifiable & (1 << i) {
            0 => "not identifiable".to_string(),
            _ => format!("{:.4e} ± {:.1e}", p.p[i], 1.96 * p.sigma[i]),
        };
        text += &format!(
            "{name:<6} {unit:<8}  {:>24}   {:>24}\n",
            cell(device),
            cell(other)
        );
    }
    text += &format!(
        "UAS k, |e|       {:>24}   {:>24}\n",
        pair(device),
        pair(other)
    );
    text
}

fn pair(p: &Params) -> String {
    format!("{:.4}, {:.2e} rad/s", p.k, p.error)
}

fn as_json(found: &Found) -> Value {
    let params = |p: &Option<Params>| {
        p.as_ref().map(|p| {
            json!({ "p": p.p, "sigma": p.sigma, "identifiable": p.identifiable, "stage": p.stage, "z": p.z, "k": p.k, "error": p.error })
        })
    };
    json!({
        "verdict": found.verdict,
        "ticks": found.ticks,
        "lost_ticks": found.lost_ticks,
        "seconds": found.seconds,
        "times_real_time": found.speed,
        "damage": found.damage.iter().map(Damage::to_string).collect::<Vec<_>>(),
        "device": params(&found.device),
        "override": params(&found.other),
    })
}
