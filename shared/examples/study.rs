//! Coverage study of the EKF: random truths, counts only, no friction guess. Prints the table of docs/theory.md.
//!
//! ```text
//! cargo run --release -p stribeck-core --example study -- [--runs N] [--noise COUNTS] [--vt-ratio R] [--seed S] [--each]
//! ```
//!
//! `--noise` white noise in counts RMS (default 0), `--vt-ratio` the filter's vt over the true one (default 4), `--seed`
//! first seed, `--each` prints every run. Run 0 of the table is the reference run; it is not counted in the summary.
//! stdout: the table. stderr: progress.

#[path = "../tests/truths/mod.rs"]
mod truths;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use stribeck_core::ekf;
use truths::{Case, Score, score};

struct Args {
    runs: u64,
    noise: f64,
    vt_ratio: f64,
    seed: u64,
    each: bool,
}

fn args() -> Result<Args, String> {
    let mut a = Args {
        runs: 100,
        noise: 0.0,
        vt_ratio: 4.0,
        seed: 1,
        each: false,
    };
    let mut it = std::env::args().skip(1);
    while let Some(name) = it.next() {
        let mut value = || -> Result<f64, String> {
            let text = it.next().ok_or(format!("{name} needs a value"))?;
            text.parse()
                .map_err(|_| format!("{name}: {text} is not a number"))
        };
        match name.as_str() {
            "--runs" => a.runs = value()? as u64,
            "--noise" => a.noise = value()?,
            "--vt-ratio" => a.vt_ratio = value()?,
            "--seed" => a.seed = value()? as u64,
            "--each" => a.each = true,
            other => {
                return Err(format!(
                    "{other}: expected --runs, --noise, --vt-ratio, --seed or --each"
                ));
            }
        }
    }
    Ok(a)
}

const NAMES: [&str; 4] = ["μd0", "μv0", "μd1", "μv1"];
const INDEX: [usize; 4] = [0, 1, 3, 4];

fn main() -> Result<(), String> {
    let a = args()?;
    let config = ekf::Config {
        vt: [(5e-3 * a.vt_ratio) as f32; 2],
        ..Default::default()
    };
    let next = AtomicU64::new(0);
    let done = Mutex::new(Vec::<(u64, Score)>::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i > a.runs {
                        break;
                    }
                    let seed = a.seed + i - 1;
                    let case = if i == 0 {
                        Case::reference()
                    } else {
                        Case::random(seed)
                    };
                    let s = score::<f32>(&case, &config, a.noise, seed);
                    let mut list = done.lock().unwrap();
                    list.push((i, s));
                    eprint!("\r{} of {} runs ", list.len(), a.runs + 1);
                }
            });
        }
    });
    eprintln!();
    let mut list = done.into_inner().unwrap();
    list.sort_by_key(|(i, _)| *i);
    for (i, s) in &list {
        if a.each || *i == 0 {
            print(*i, s);
        }
    }
    list.remove(0);
    summary(&list.iter().map(|(_, s)| *s).collect::<Vec<_>>());
    Ok(())
}

fn print(i: u64, s: &Score) {
    print!("{i:4}  C from {:5.2} s ", s.start_s);
    for (name, &k) in NAMES.iter().zip(&INDEX) {
        print!(
            " {name} {:6.4} ±{:6.4} ({:5.1}σ){}",
            s.ratio[k],
            s.half_width[k],
            s.z[k],
            if s.identifiable >> k & 1 == 1 {
                ' '
            } else {
                '?'
            }
        );
    }
    println!("  fit {:8.4} {:8.4}", s.fit[0], s.fit[1]);
}

fn summary(list: &[Score]) {
    let n = list.len();
    if n == 0 {
        return;
    }
    let part = |k: usize| 100.0 * k as f64 / n as f64;
    let quantile = |mut v: Vec<f64>, q: f64| {
        v.sort_by(f64::total_cmp);
        v[((v.len() - 1) as f64 * q) as usize]
    };
    println!("{n} random truths");
    println!(
        "parameter  covered %  half-width % (median, 90 %)  |error| % (median, 90 %)  identifiable %"
    );
    for (name, &k) in NAMES.iter().zip(&INDEX) {
        let width: Vec<f64> = list.iter().map(|s| 100.0 * s.half_width[k]).collect();
        let error: Vec<f64> = list
            .iter()
            .map(|s| 100.0 * (s.ratio[k] - 1.0).abs())
            .collect();
        println!(
            "{name}        {:6.1}     {:8.2} {:8.2}            {:8.3} {:8.3}         {:6.1}",
            part(list.iter().filter(|s| s.covers(k)).count()),
            quantile(width.clone(), 0.5),
            quantile(width, 0.9),
            quantile(error.clone(), 0.5),
            quantile(error, 0.9),
            part(list.iter().filter(|s| s.identifiable >> k & 1 == 1).count()),
        );
    }
    let above = |limit: f64| {
        part(
            list.iter()
                .filter(|s| s.fit[0] > limit && s.fit[1] > limit)
                .count(),
        )
    };
    println!(
        "fit on both joints: > 99.9 % in {:.1} %, > 99 % in {:.1} %",
        above(99.9),
        above(99.0)
    );
}
