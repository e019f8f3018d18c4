//! The cost model on the flashed program: what it estimates is what the program measures, and the budget in estimated cycles.

mod harness;

use harness::{Session, scenario};
use stribeck_core::wire::Frame;

/// A tick in a swing may take this many estimated cycles: 30 % of its period.
const SWING: u64 = 12_000;
/// A tick that starts the observers or carries a snapshot runs code left in flash, cold: less than half of the period.
const WORST: u64 = 20_000;

/// A second and a half of swinging with the cost model.
fn swing() -> Session {
    let mut s = Session::armed(&scenario(
        "cycles = true\n[plant]\nlift_s = [0.05, 0.15]\nrelease_s = 0.4\n",
    ));
    s.run_until(2.2);
    s
}

#[test]
fn estimated_cycles_are_what_the_program_measures_and_fit_the_budget() {
    let s = swing();
    let costs = s.bench.summary().tick_costs.expect("the cost model is on");
    println!("{}", s.bench.summary());
    let worst = |f: &Frame| match f {
        Frame::Status(s) => Some(s.health.tick_cycles.max),
        _ => None,
    };
    let measured = s.frames.iter().filter_map(worst).max().unwrap_or(0);
    assert!(costs.cycles.samples > 20_000);
    // The program's meter starts after the first loads and ends before its own record; the last ticks are not in a Status yet.
    let inside = f64::from(measured) / costs.cycles.max as f64;
    assert!(
        (0.8..=1.0).contains(&inside),
        "{measured} measured, {:?}",
        costs.cycles
    );
    assert!(costs.cycles.p99 <= SWING, "{:?}", costs.cycles);
    assert!(costs.cycles.max <= WORST, "{:?}", costs.cycles);
    assert!(costs.code_fills.max > 0 && costs.code_bytes.max > 4_096);
    let (equal, gaps) = s.replay();
    assert!(equal > 20_000 && gaps == 0, "{equal} ticks, {gaps} gaps");
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
