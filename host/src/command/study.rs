//! `stribeck study`: do the grey box's intervals hold what they promise? Monte Carlo over random rigs.

use stribeck_core::friction::Friction;
use stribeck_core::plant::{PlantConfig, furuta};
use stribeck_core::sim::{Bench, COUNTS_PER_REV, Encoder, Rng, Truth};

use crate::exit::Exit;
use crate::identify::model::{Coef, Rig};
use crate::identify::online::Precision;
use crate::identify::record::{Record, median};
use crate::identify::run::{Choices, Method, run as identify};
use crate::identify::subject::Subject;

/// Coverage of the grey box's 95 % intervals over random truths
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Friction over a decade, tilt 15 to 65°, start angles ±0.5 rad and 60 to 160°, Stribeck peak in the truth; counts at 10 kHz.

Example:
  stribeck study --runs 100 --seconds 25")]
pub struct Args {
    #[arg(long, default_value_t = 100)]
    runs: u64,
    /// Length of each record [s]
    #[arg(long, default_value_t = 25.0)]
    seconds: f64,
    /// White noise on the counts, RMS
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const NAMES: [&str; 4] = ["μd0", "μv0", "μd1", "μv1"];

/// A random rig swinging, as counts, and its four lean parameters.
fn random_run(args: &Args, seed: u64) -> (Record, Rig, [f64; 4]) {
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
        noise_counts: args.noise,
        ..Encoder::default()
    };
    let mut bench = Bench::new(pendulum, [encoder; 2], seed);
    let count = std::f64::consts::TAU / f64::from(COUNTS_PER_REV);
    let n = (args.seconds * 1e4) as usize;
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

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let terms = vec![
        Coef::Coulomb,
        Coef::Viscous,
        Coef::Stribeck,
        Coef::Transition,
    ];
    let choices = Choices {
        terms: Some(terms),
        precision: Precision::F64,
    };
    let bar = indicatif::ProgressBar::new(args.runs).with_message("runs");
    let mut covered = [0u64; 4];
    let mut widths: [Vec<f64>; 4] = Default::default();
    let mut seconds = Vec::new();
    for i in 0..args.runs {
        let (record, rig, truth) = random_run(&args, args.seed + i);
        let subject = Subject::new(&record, rig, &[], true)?;
        let outcome = identify(&subject, Method::Greybox, &choices)?;
        seconds.push(outcome.seconds);
        for (k, name) in NAMES.into_iter().enumerate() {
            let found = outcome.estimates.iter().find(|e| e.name == name);
            if let Some([lo, hi]) = found.and_then(|e| e.interval()) {
                covered[k] += u64::from(lo <= truth[k] && truth[k] <= hi);
                widths[k].push((hi - lo) / truth[k]);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!(
        "{} runs of {} s, {} counts RMS of noise",
        args.runs, args.seconds, args.noise
    );
    println!("parameter   covered   median width of the 95 % interval, part of the truth");
    let mut held = true;
    for (k, name) in NAMES.into_iter().enumerate() {
        let share = covered[k] as f64 / args.runs as f64;
        held &= share >= 0.9;
        println!(
            "{name:<10} {:>7.1} %   {:.3e}",
            100.0 * share,
            median(&mut widths[k])
        );
    }
    println!("median time of a fit {:.2} s", median(&mut seconds));
    Ok(if held { Exit::Success } else { Exit::Differs })
}
