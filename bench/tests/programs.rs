//! Programs that are not our firmware, in the style of what others write on embassy: the bench is judged by more than one.
//!
//! Built by `cargo programs`; a program that checks something itself ends with exit code 0 when it was right.

mod harness;

use std::path::PathBuf;
use std::rc::Rc;

use harness::scenario;
use stribeck_bench::{Bench, Outcome, Program};

fn program(name: &str) -> Rc<Program> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../target/thumbv7em-none-eabihf/programs")
        .join(name);
    match Program::load(&path) {
        Ok(p) => Rc::new(p),
        Err(e) => panic!("{e}\nbuild the programs first: cargo programs"),
    }
}

/// The program on a bench, run for at most `seconds`.
fn run(name: &str, text: &str, seconds: f64) -> (Bench, Outcome) {
    let mut bench = Bench::new(program(name), &scenario(text)).unwrap();
    let outcome = bench.run_until(seconds);
    (bench, outcome)
}

fn log(bench: &Bench) -> String {
    let lines = bench.log().iter().map(|l| format!("\n{}", l.text));
    lines.collect()
}

/// It ends by itself, content, within `seconds`, and touches nothing that is not there.
fn passes(name: &str, text: &str, seconds: f64) -> Bench {
    let (bench, outcome) = run(name, text, seconds);
    assert_eq!(
        outcome,
        Outcome::Exit(0),
        "{name}: {}{}",
        log(&bench),
        bench.summary()
    );
    let odd = bench.summary().odd_accesses;
    assert!(odd.is_empty(), "{name}: {odd:?}");
    bench
}

#[test]
fn usb_echo_sends_back_what_it_gets() {
    let (mut bench, _) = run("usb_echo", "", 0.1);
    assert!(bench.usb_ready(), "{}", log(&bench));
    // One packet, several, and one of exactly 64 bytes.
    for n in [5usize, 500, 64] {
        let sent: Vec<u8> = (0..n).map(|i| (i * 7 + n) as u8).collect();
        bench.send(&sent);
        bench.run_for(0.05);
        assert_eq!(bench.take_received(), sent, "{n} bytes {}", log(&bench));
    }
    assert_eq!(bench.summary().usb.pullup_without_vbus_ms, 0);
}

#[test]
fn pwm_has_its_frequency_and_duty() {
    let (bench, outcome) = run("pwm", "", 0.05);
    assert_eq!(outcome, Outcome::Time, "{}", log(&bench));
    let pwm = bench.summary().pwm;
    let seen: Vec<(&str, usize, f64)> = pwm
        .iter()
        .map(|p| (p.timer, p.channel, (p.duty * 1e3).round() / 1e3))
        .collect();
    assert_eq!(seen, [("TIM4", 1, 0.25), ("TIM4", 2, 0.75)]);
    assert!(
        pwm.iter()
            .all(|p| (p.frequency_hz / 20e3 - 1.0).abs() < 1e-3),
        "{pwm:?}"
    );
}

#[test]
fn qei_counts_both_encoders() {
    passes("qei", "", 1.0);
}

#[test]
fn interrupt_executors_come_in_by_priority() {
    passes("priorities", "", 1.0);
}

#[test]
fn edges_of_the_button_wake_a_task() {
    let presses = [0.1, 0.3, 0.5]
        .map(|at| format!("[[event]]\nat_s = {at}\ndo = \"button\"\nhold_s = 0.05\n"))
        .concat();
    let bench = passes("edges", &presses, 1.0);
    assert!(bench.seconds() > 0.54);
    let (_, outcome) = run("edges", "", 0.5);
    assert_eq!(outcome, Outcome::Time, "without a press it waits");
}

#[test]
fn flash_is_erased_programmed_and_read_back() {
    let bench = passes("flash", "", 5.0);
    let summary = bench.summary();
    assert_eq!(
        (summary.flash_sectors_erased, summary.flash_words_programmed),
        (1, 2)
    );
}

#[test]
fn a_starved_watchdog_resets() {
    let bench = passes("watchdog", "", 2.0);
    let resets = bench.summary().resets;
    assert_eq!(resets.len(), 1, "{resets:?}");
    // Fed for .25 s, then .1 s of patience.
    assert!((0.34..0.37).contains(&resets[0].0), "{resets:?}");
}

#[test]
fn exceptions_keep_the_thread_s_floating_point() {
    let bench = passes("exceptions", "", 1.0);
    let entries = |irq: i64| {
        let all = bench.summary().exceptions;
        all.iter().find(|e| e.irq == irq).map_or(0, |e| e.entries)
    };
    assert!(entries(-1) >= 100 && entries(-2) >= 99, "SysTick, PendSV");
}

#[test]
fn a_bus_fault_finds_its_cause_and_address() {
    let bench = passes("bus_fault", "", 0.1);
    let crashes = bench.summary().crashes;
    assert_eq!(crashes.len(), 1);
    assert_eq!(crashes[0].bfar, 0x6000_0010);
}

/// Every program also runs with estimated cycles, to the same end.
#[test]
fn the_cost_model_changes_no_result() {
    for (name, seconds) in [("qei", 1.0), ("priorities", 1.0), ("exceptions", 1.0)] {
        passes(name, "cycles = true\n", seconds);
    }
}
