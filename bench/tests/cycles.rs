//! The cost model on the flashed program: what it estimates is what the program measures, and the budget in estimated cycles.

mod harness;

use harness::{Session, scenario};
use stribeck_bench::report::Spread;
use stribeck_core::wire::Frame;

/// What a tick may take, with both observers and the stream: estimated cycles on average (20 % of its period) and at worst (30 %), with
/// snapshot, start of the joint filter and everything else, and the same in instructions.
const CYCLES: (f64, u64) = (8_000.0, 12_000);
const INSTRUCTIONS: (f64, u64) = (6_000.0, 8_500);

/// Twenty seconds of swinging with the cost model: every stage of the filter, twenty snapshots.
fn swing() -> Session {
    let mut s = Session::armed(&scenario(
        "cycles = true\n[plant]\nlift_s = [0.05, 0.15]\nrelease_s = 0.4\n",
    ));
    s.run_until(20.6);
    s
}

#[test]
fn estimated_cycles_are_what_the_program_measures_and_fit_the_budget() {
    let s = swing();
    let summary = s.bench.summary();
    println!("{summary}");
    let costs = summary.tick_costs.expect("the cost model is on");
    let worst = |f: &Frame| match f {
        Frame::Status(s) => Some(s.health.tick_cycles.max),
        _ => None,
    };
    let measured = s.frames.iter().filter_map(worst).max().unwrap_or(0);
    assert!(costs.cycles.samples > 200_000);
    // The program's meter starts after the first loads and ends before its own record; the last ticks are not in a Status yet.
    let inside = f64::from(measured) / costs.cycles.max as f64;
    assert!(
        (0.8..=1.0).contains(&inside),
        "{measured} measured, {:?}",
        costs.cycles
    );
    let fits = |spread: &Spread, (mean, worst): (f64, u64)| {
        assert!(spread.mean <= mean && spread.max <= worst, "{spread:?}");
    };
    fits(&costs.cycles, CYCLES);
    fits(&summary.tick, INSTRUCTIONS);
    let spent: f64 = costs.mean_tick.iter().map(|f| f.cycles).sum();
    let of = |name: &str| {
        let own = costs.mean_tick.iter().filter(|f| f.function.contains(name));
        own.map(|f| f.cycles).sum::<f64>()
    };
    assert!(
        (spent / costs.cycles.mean - 1.0).abs() < 1e-3,
        "{spent} cycles in functions"
    );
    assert!(of("ekf") > 500.0 && of("uas") > 200.0 && of("digest") > 100.0);
    assert!(costs.code_fills.max > 0 && costs.code_bytes.max > 4_096);
    let (equal, gaps) = s.replay();
    assert!(equal > 200_000 && gaps == 0, "{equal} ticks, {gaps} gaps");
}

/// The tick's code is in ITCM and its data in DTCM: with both caches off it takes as long as with them.
#[test]
fn the_tick_does_not_live_on_the_caches() {
    let mut s = Session::connected(&scenario("cycles = true\n"));
    s.run_until(0.2);
    let before = s.bench.summary().tick_costs.expect("on").cycles.p99;
    let cost = s.bench.machine.chip_mut().cost.as_mut().expect("on");
    cost.enable(false, false);
    s.run_until(0.4);
    let after = s.bench.summary().tick_costs.expect("on").cycles.p99;
    println!("{before} with, {after} without caches");
    assert!(
        after < before + before / 4,
        "{before} with, {after} without caches"
    );
}
