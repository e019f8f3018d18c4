//! The long run, by hand: `cargo test --release -p stribeck-bench --test soak -- --ignored --nocapture`.
//!
//! Ten simulated minutes (STRIBECK_SOAK_S seconds) of one swing after another with a reading host: no overrun, no drop, every digest
//! equal. With the cost model, so that the summary has estimated cycles too.

mod harness;

use harness::{Session, scenario};
use stribeck_bench::Action;
use stribeck_core::wire::Ask;

#[test]
#[ignore = "takes as long as it simulates"]
fn ten_minutes_without_a_lost_tick_or_a_differing_bit() {
    let seconds: f64 = std::env::var("STRIBECK_SOAK_S")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(600.0);
    let mut s = Session::armed(&scenario("cycles = true\n"));
    let mut swings = 1;
    while s.bench.seconds() < seconds {
        s.run_for(30.0);
        s.ask(Ask::Stop);
        let now = s.bench.seconds();
        s.bench.schedule(now + 0.1, Action::Hold { hold_s: 1.9 });
        s.run_for(1.0);
        s.ask(Ask::Start);
        let now = s.bench.seconds();
        s.bench.schedule(
            now + 1.2,
            Action::Push {
                joint: 1,
                delta: 9.0,
            },
        );
        swings += 1;
    }
    s.run_for(1.2);
    let (equal, gaps) = s.replay();
    let status = s.status();
    println!("{swings} swings, {equal} ticks equal, {gaps} gaps, {status:?}");
    println!("{}", s.bench.summary());
    assert!(equal as f64 >= seconds * 9_990.0, "{equal}");
    assert_eq!((gaps, s.bad_frames), (0, 0));
    assert_eq!((status.health.overruns, status.health.missed_ticks), (0, 0));
    assert_eq!((status.dropped_blocks, status.dropped_notes), (0, 0));
}
