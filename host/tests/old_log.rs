//! Logs recorded by earlier builds, one per version of the observers' arithmetic: they are read for ever, and replayed for as long as
//! the arithmetic is that of their time.
//!
//! Recorded with `stribeck simulate --rig … --seconds 1 --noise 2 --hold 0.2 --seed 7`; the rig is the default with
//! `ekf.start_s` = 0.3, so that all stages of the filter are in it. Whoever raises NUMERICS adds the log of the new version.

mod board;

use board::run;
use stribeck_core::wire::NUMERICS;

/// A version of the arithmetic and its log.
const LOGS: [(u16, &str); 2] = [
    (
        1,
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/numerics_1.mcap"
        ),
    ),
    (
        2,
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/numerics_2.mcap"
        ),
    ),
];

#[test]
fn their_contents_are_read() {
    for (numerics, log) in LOGS {
        for args in [&["info", log][..], &["info", "--scan", log]] {
            let (code, out, err) = run(args);
            assert_eq!(code, 0, "{out}{err}");
            assert!(out.contains("1.00 s, 10,000 ticks"), "{out}");
            let version = format!("numerics {numerics}, protocol 1");
            assert!(out.contains(&version), "{out}");
            assert!(out.contains("tick 0 idle → armed"), "{out}");
            assert!(out.contains("armed → swinging"), "{out}");
        }
    }
}

#[test]
fn their_bits_are_equal_or_they_are_refused_by_name() {
    for (numerics, log) in LOGS {
        let (code, out, err) = run(&["replay", log]);
        if numerics == NUMERICS {
            assert_eq!(code, 0, "{out}{err}");
            assert!(out.contains("compared 10,000 ticks"), "{out}");
            assert!(out.contains("0 differing bits in 0 blocks"), "{out}");
        } else {
            assert_ne!(code, 0, "{out}");
            assert!(out.is_empty(), "{out}");
            let versions = [numerics, NUMERICS].map(|n| format!("version {n}"));
            let both = versions.iter().all(|v| err.contains(v));
            assert!(both && err.contains("stribeck 0.1.0"), "{err}");
        }
    }
}

/// The present arithmetic is among them, or nothing above compares a bit.
#[test]
fn the_present_version_has_its_log() {
    assert!(LOGS.iter().any(|(numerics, _)| *numerics == NUMERICS));
}

/// Whatever the arithmetic, counts and device records are exported as they were recorded.
#[test]
fn their_counts_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    for (numerics, log) in LOGS {
        let table = folder.path().join(format!("old-{numerics}.csv"));
        let (code, out, err) = run(&["export", log, "-o", table.to_str().unwrap()]);
        assert_eq!(code, 0, "{out}{err}");
        let text = std::fs::read_to_string(&table).unwrap();
        let rows = text.lines().filter(|l| !l.starts_with('#')).count();
        assert!(rows > 10_000, "{rows} rows");
    }
}
