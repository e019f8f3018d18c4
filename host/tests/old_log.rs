//! A log recorded by the first layout of this code (numerics 1): it is read for ever, and replayed for as long as the
//! observers' arithmetic is that of its time.
//!
//! Recorded with `stribeck simulate --rig … --seconds 1 --noise 2 --hold 0.2 --seed 7`; the rig is the default with
//! `ekf.start_s` = 0.3, so that all stages of the filter are in it.

mod board;

use board::run;
use stribeck_core::wire::NUMERICS;

const LOG: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/numerics_1.mcap"
);

#[test]
fn its_contents_are_read() {
    for args in [&["info", LOG][..], &["info", "--scan", LOG]] {
        let (code, out, err) = run(args);
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("1.00 s, 10,000 ticks"), "{out}");
        assert!(out.contains("numerics 1, protocol 1"), "{out}");
        assert!(out.contains("tick 0 idle → armed"), "{out}");
        assert!(out.contains("armed → swinging"), "{out}");
    }
}

#[test]
fn its_bits_are_equal_or_it_is_refused_by_name() {
    let (code, out, err) = run(&["replay", LOG]);
    if NUMERICS == 1 {
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("compared 10,000 ticks"), "{out}");
        assert!(out.contains("0 differing bits in 0 blocks"), "{out}");
    } else {
        assert_ne!(code, 0, "{out}");
        assert!(out.is_empty(), "{out}");
        let both = err.contains("version 1") && err.contains(&format!("version {NUMERICS}"));
        assert!(both && err.contains("stribeck 0.1.0"), "{err}");
    }
}

/// Whatever the arithmetic, counts and device records are exported as they were recorded.
#[test]
fn its_counts_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("old.csv");
    let (code, out, err) = run(&["export", LOG, "-o", table.to_str().unwrap()]);
    assert_eq!(code, 0, "{out}{err}");
    let text = std::fs::read_to_string(&table).unwrap();
    let rows = text.lines().filter(|l| !l.starts_with('#')).count();
    assert!(rows > 10_000, "{rows} rows");
}
