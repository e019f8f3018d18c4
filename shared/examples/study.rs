//! Coverage study of the EKF: random truths, counts only, no friction guess. Prints the tables of docs/theory.md.
//!
//! ```text
//! cargo run --release -p stribeck-core --example study -- [--mismatch [ROW]] [--runs N] [--noise COUNTS] [--vt-ratio R] [--seed S]
//!                                                         [--exact] [--each]
//! ```
//!
//! `--mismatch` swings benches that are not the model, every row of `model/mismatch` or those whose name contains ROW; `--noise` white
//! noise in counts RMS (default 0), `--vt-ratio` the filter's vt over the true one (default 4), `--seed` first seed, `--exact` takes the
//! rig file for exact (the filter of eight states), `--each` prints every run. Without `--mismatch` the first run is the reference run; it
//! is not counted in the summary. stdout: the table. stderr: progress.

#[path = "../tests/truths/mod.rs"]
mod truths;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use stribeck_core::model::mismatch::{ROWS, Row, SEVERAL};
use stribeck_core::model::plant::tolerance::Tolerance;
use stribeck_core::observer::ekf::{self, Verdict};
use truths::{Case, Score, score};

struct Args {
    runs: u64,
    noise: f64,
    vt_ratio: f64,
    seed: u64,
    each: bool,
    exact: bool,
    /// Rows whose name contains this.
    mismatch: Option<String>,
}

fn args() -> Result<Args, String> {
    let mut a = Args {
        runs: 100,
        noise: 0.0,
        vt_ratio: 4.0,
        seed: 1,
        each: false,
        exact: false,
        mismatch: None,
    };
    let mut it = std::env::args().skip(1).peekable();
    while let Some(name) = it.next() {
        if name == "--mismatch" {
            let row = it.next_if(|next| !next.starts_with("--"));
            a.mismatch = Some(row.unwrap_or_default());
            continue;
        }
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
            "--exact" => a.exact = true,
            other => {
                return Err(format!(
                    "{other}: expected --mismatch, --runs, --noise, --vt-ratio, --seed, --exact or --each"
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
        tolerance: if a.exact {
            Tolerance::EXACT
        } else {
            Tolerance::default()
        },
        ..Default::default()
    };
    match &a.mismatch {
        Some(name) => mismatched(&a, &config, name),
        None => clean(&a, &config),
    }
    Ok(())
}

/// The score of every case, in their order, on all cores.
fn scores(cases: &[(Case, f64, u64)], config: &ekf::Config) -> Vec<Score> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::<(usize, Score)>::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some((i, (case, noise, seed))) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(i).map(|case| (i, case))
                } {
                    let s = score::<f32>(case, config, *noise, *seed);
                    let mut list = done.lock().unwrap();
                    list.push((i, s));
                    eprint!("\r{} of {} runs ", list.len(), cases.len());
                }
            });
        }
    });
    eprintln!();
    let mut list = done.into_inner().unwrap();
    list.sort_by_key(|(i, _)| *i);
    list.into_iter().map(|(_, s)| s).collect()
}

fn clean(a: &Args, config: &ekf::Config) {
    let mut cases = vec![(Case::reference(), a.noise, a.seed)];
    cases.extend((a.seed..a.seed + a.runs).map(|seed| (Case::random(seed), a.noise, seed)));
    let mut list = scores(&cases, config);
    for (i, s) in list.iter().enumerate() {
        if a.each || i == 0 {
            print(i as u64, s);
        }
    }
    list.remove(0);
    summary(&list);
}

fn mismatched(a: &Args, config: &ekf::Config, name: &str) {
    let rows: Vec<&Row> = ROWS
        .iter()
        .chain([&SEVERAL])
        .filter(|r| r.name.contains(name))
        .collect();
    let mut cases = Vec::new();
    for row in &rows {
        for seed in a.seed..a.seed + a.runs {
            let mismatch = row.mismatch(seed);
            let noise = a.noise.max(mismatch.noise_counts);
            let case = Case {
                mismatch,
                ..Case::random(seed)
            };
            cases.push((case, noise, seed));
        }
    }
    let list = scores(&cases, config);
    println!(
        "row                    kind         covered   printed: covered   flagged   >3σ missed, of these flagged   half-width % (record | with rig)"
    );
    let mut total = Tally::default();
    for (row, list) in rows.iter().zip(list.chunks(a.runs as usize)) {
        if a.each {
            for (i, s) in list.iter().enumerate() {
                print(a.seed + i as u64, s);
            }
        }
        let tally = Tally::of(list);
        println!(
            "{:<22} {:<11} {}  {}",
            row.name,
            format!("{:?}", row.kind),
            tally.line(),
            widths(list)
        );
        total.add(&tally);
    }
    println!("{:<34} {}", "all", total.line());
}

/// What a row is judged by.
#[derive(Default)]
struct Tally {
    /// Intervals narrow enough to be identifiable, and those of them that cover; the same of those that the verdict lets print.
    narrow: [usize; 2],
    printed: [usize; 2],
    records: usize,
    flagged: usize,
    /// Records with a narrow interval more than 3 σ from the truth, and those of them that are flagged.
    missed: usize,
    missed_flagged: usize,
}

impl Tally {
    fn of(list: &[Score]) -> Self {
        let mut t = Tally {
            records: list.len(),
            ..Tally::default()
        };
        for s in list {
            let flagged = !s.verdict.trusts();
            t.flagged += usize::from(flagged);
            let mut missed = false;
            for k in INDEX {
                // The rule of the filter, without its verdict.
                if s.half_width[k] <= 0.5 * s.ratio[k] {
                    t.narrow[0] += 1;
                    t.narrow[1] += usize::from(s.covers(k));
                    missed |= s.z[k].abs() > 3.0;
                }
                if s.identifiable >> k & 1 == 1 {
                    t.printed[0] += 1;
                    t.printed[1] += usize::from(s.covers(k));
                }
            }
            t.missed += usize::from(missed);
            t.missed_flagged += usize::from(missed && flagged);
        }
        t
    }

    fn add(&mut self, o: &Self) {
        for i in 0..2 {
            self.narrow[i] += o.narrow[i];
            self.printed[i] += o.printed[i];
        }
        self.records += o.records;
        self.flagged += o.flagged;
        self.missed += o.missed;
        self.missed_flagged += o.missed_flagged;
    }

    fn line(&self) -> String {
        let part = |[n, k]: [usize; 2]| format!("{k}/{n}");
        format!(
            "{:>9}   {:>9}   {:>5}/{:<4} {:>4}, {:<4}",
            part(self.narrow),
            part(self.printed),
            self.flagged,
            self.records,
            self.missed,
            self.missed_flagged
        )
    }
}

/// Median half-widths of the four parameters.
fn widths(list: &[Score]) -> String {
    let of = |pick: fn(&Score) -> [f64; 6]| -> String {
        let median = |k: usize| quantile(list.iter().map(|s| 100.0 * pick(s)[k]).collect(), 0.5);
        INDEX.map(|k| format!("{:.2}", median(k))).join(" ")
    };
    format!("{} | {}", of(|s| s.record_half_width), of(|s| s.half_width))
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
    println!(
        "  fit {:8.4} {:8.4}  {} (colour {:.2}, drift {:.2})",
        s.fit[0],
        s.fit[1],
        s.verdict.text(),
        s.colour,
        s.drift
    );
    let rig: Vec<_> = s.rig.iter().zip(s.rig_sigma).collect();
    let rig = rig.iter().map(|(z, sigma)| format!("{z:.5}±{sigma:.5}"));
    println!(
        "      rig {}  gated {} resumed {} floored {}",
        rig.collect::<Vec<_>>().join(" "),
        s.counters.gated,
        s.counters.resumes,
        s.counters.floored
    );
}

fn quantile(mut v: Vec<f64>, q: f64) -> f64 {
    v.sort_by(f64::total_cmp);
    v[((v.len() - 1) as f64 * q) as usize]
}

fn summary(list: &[Score]) {
    let n = list.len();
    if n == 0 {
        return;
    }
    let part = |k: usize| 100.0 * k as f64 / n as f64;
    println!("{n} random truths");
    println!(
        "parameter  covered %  half-width % record (median, 90 %)  with rig (median)  |error| % (median, 90 %)  identifiable %"
    );
    for (name, &k) in NAMES.iter().zip(&INDEX) {
        let record: Vec<f64> = list
            .iter()
            .map(|s| 100.0 * s.record_half_width[k])
            .collect();
        let width: Vec<f64> = list.iter().map(|s| 100.0 * s.half_width[k]).collect();
        let error: Vec<f64> = list
            .iter()
            .map(|s| 100.0 * (s.ratio[k] - 1.0).abs())
            .collect();
        println!(
            "{name}        {:6.1}     {:8.2} {:8.2}     {:8.2}            {:8.3} {:8.3}         {:6.1}",
            part(list.iter().filter(|s| s.covers(k)).count()),
            quantile(record.clone(), 0.5),
            quantile(record, 0.9),
            quantile(width, 0.5),
            quantile(error.clone(), 0.5),
            quantile(error, 0.9),
            part(list.iter().filter(|s| s.identifiable >> k & 1 == 1).count()),
        );
    }
    for &verdict in Verdict::ALL {
        let found = list.iter().filter(|s| s.verdict == verdict).count();
        println!("{}: {:.1} %", verdict.text(), part(found));
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
