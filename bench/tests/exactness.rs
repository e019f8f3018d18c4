//! The bench itself: same bytes twice, and a fast instruction count that is exact.

mod harness;

use harness::{Session, firmware, scenario};
use stribeck_bench::Bench;
use stribeck_core::wire::Ask;

#[test]
fn two_runs_give_the_same_bytes() {
    let run = || {
        let mut s = Session::connected(&scenario(
            "[plant]\nlift_s = [0.05, 0.15]\nrelease_s = 0.25\n",
        ));
        s.ask(Ask::Start);
        s.run_until(0.45);
        let summary = s.bench.summary();
        (
            format!("{:?}", s.frames),
            summary.instructions,
            summary.usb.packets_in,
            s.log(),
        )
    };
    let (a, b) = (run(), run());
    assert!(a.0.len() > 1000, "a stream was expected: {}", a.3);
    assert_eq!(a.0, b.0);
    assert_eq!((a.1, a.2, a.3), (b.1, b.2, b.3));
}

#[test]
fn another_seed_changes_ram_but_not_the_stream() {
    let run = |seed: u64| {
        let mut s = Session::connected(&scenario(&format!("seed = {seed}")));
        s.run_until(0.3);
        s.blocks().map(|b| b.digest).collect::<Vec<_>>()
    };
    let (a, b) = (run(1), run(2));
    assert!(a.len() > 10);
    assert_eq!(
        a, b,
        "the program must not depend on what RAM held at power-on"
    );
}

#[test]
fn block_count_equals_the_count_of_every_instruction() {
    let mut bench = Bench::new(firmware(), &scenario("")).unwrap();
    bench.machine.cpu.count_exactly();
    bench.run_until(0.12);
    let chip = bench.machine.chip();
    let exact = chip.exact.expect("counting").instructions;
    assert!(exact > 1_000_000, "{exact} instructions are not a test");
    assert_eq!(chip.instructions, exact);
    assert!(chip.profile.ticks.len() > 900, "ticks must be among them");
}
