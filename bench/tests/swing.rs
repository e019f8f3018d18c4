//! A whole swing on the flashed program: nothing lost, nothing late, every bit equal on this machine.

mod harness;

use harness::{Session, scenario_file};
use stribeck_core::device::run::Phase;
use stribeck_core::wire::{ResetCause, What};

#[test]
fn twenty_seconds_replay_without_a_differing_bit() {
    let mut s = Session::armed(&scenario_file("swing.toml"));
    s.run_until(20.6);
    let (equal, gaps) = s.replay();
    assert!(equal >= 200_000, "only {equal} ticks compared");
    assert_eq!((gaps, s.bad_frames), (0, 0));
    let status = s.status();
    assert_eq!((status.health.overruns, status.health.missed_ticks), (0, 0));
    assert_eq!((status.dropped_blocks, status.dropped_notes), (0, 0));
    assert_eq!(status.encoder_faults, [0, 0]);
    assert_eq!((status.uas_restarts, status.ekf_restarts), (0, 0));
    assert_eq!(status.reset_cause, ResetCause::PowerOn);
    let swung = s.events().any(|e| {
        matches!(
            e.what,
            What::Run {
                to: Phase::Swinging,
                ..
            }
        )
    });
    assert!(swung, "the run never started: {}", s.log());

    let summary = s.bench.summary();
    println!("{summary}");
    assert!(summary.crashes.is_empty() && summary.resets.is_empty());
    assert!(
        summary.odd_accesses.is_empty(),
        "{:?}",
        summary.odd_accesses
    );
    assert!(
        summary.tick.max <= 12_000,
        "worst tick: {} instructions",
        summary.tick.max
    );
    assert!(summary.usb.most_packets_in_a_frame <= 19);
}
