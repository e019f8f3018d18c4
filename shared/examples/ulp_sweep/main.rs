//! Measures the error of every function of `stribeck_core::number::math` and prints the table of its documentation.
//!
//! ```text
//! cargo run --release -p stribeck-core --example ulp_sweep            every f32, 12 minutes of processor time, shared by all cores
//! cargo run --release -p stribeck-core --example ulp_sweep -- 1009    every 1009th f32, seconds
//! cargo run --release -p stribeck-core --example ulp_sweep -- 1 tanh  one function
//! ```
//!
//! f32: every argument in the interval, both signs, against the f64 function; symmetry and monotonicity are checked on the way.
//! f64: random arguments against 192-bit arithmetic. stdout = table, stderr = progress. Exit code 1 if a published
//! bound or a requirement is broken.

mod cases;
mod double;

use cases::{CASES, Case, Finding};
use double::CASES_64;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bit patterns that a thread takes at a time.
const CHUNK: u32 = 1 << 22;

/// Random arguments per f64 function.
const SAMPLES_64: usize = 200_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let stride = match arguments.next().map(|text| text.parse()) {
        None => 1,
        Some(Ok(stride)) if stride > 0 => stride,
        Some(_) => {
            eprintln!("expected: ulp_sweep [stride ≥ 1 [function]]");
            return ExitCode::from(2);
        }
    };
    let only = arguments.next();
    let wanted = |name: &str| {
        only.as_ref()
            .is_none_or(|only| name.starts_with(only.as_str()))
    };
    let mut good = true;
    println!("| f32 function | interval of |x| | arguments | max error [ulp] | at x | faults |");
    println!("|---|---|---|---|---|---|");
    for case in CASES.iter().filter(|case| wanted(case.name)) {
        let found = sweep(case, stride);
        let [low, high] = case.interval;
        println!(
            "| {} | {low:e} … {high:e} | {} | {:.4} | {:e} | {} |",
            case.name, found.arguments, found.max_ulp, found.at, found.faults
        );
        good &= found.max_ulp <= case.bound_ulp && found.faults == 0;
    }
    println!();
    println!("| f64 function | log2 of |x| | samples | max error [ulp] | at x |");
    println!("|---|---|---|---|---|");
    for case in CASES_64.iter().filter(|case| wanted(case.name)) {
        let samples = SAMPLES_64.div_ceil(stride);
        let (ulp, at) = case.measure(samples, 1);
        let [low, high] = case.log2_interval;
        println!(
            "| {} | {low} … {high} | {samples} | {ulp:.4} | {at:e} |",
            case.name
        );
        good &= ulp <= case.bound_ulp;
    }
    if good {
        ExitCode::SUCCESS
    } else {
        eprintln!(
            "an error bound of cases.rs or double.rs is exceeded, or a requirement is broken"
        );
        ExitCode::from(1)
    }
}

/// The whole interval of `case`, spread over the processors.
fn sweep(case: &Case, stride: usize) -> Finding {
    let [first, end] = case.bits();
    let next = AtomicU32::new(first);
    let worker = || {
        let mut found = Finding::EMPTY;
        while let Ok(from) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| {
            (at < end).then(|| at.saturating_add(CHUNK).min(end))
        }) {
            let to = from.saturating_add(CHUNK).min(end);
            found = merge(found, case.measure(from, to, stride));
            if (from - first) % (64 * CHUNK) == 0 {
                let done = 100.0 * f64::from(from - first) / f64::from(end - first);
                eprintln!("{}: {done:.0} %", case.name);
            }
        }
        found
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("sweep thread"))
            .fold(Finding::EMPTY, merge)
    })
}

/// Union of two parts of a sweep.
fn merge(a: Finding, b: Finding) -> Finding {
    let worse = if b.max_ulp > a.max_ulp { b } else { a };
    Finding {
        arguments: a.arguments + b.arguments,
        faults: a.faults + b.faults,
        ..worse
    }
}
