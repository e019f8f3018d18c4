//! The same bits at every optimisation level: builds `examples/twin_digest.rs` several ways and compares what it prints.
//!
//! In the normal suite: opt-level 0 with debug assertions and overflow checks, against opt-level 3. With `STRIBECK_BITS=all`
//! also 1, s, and 3 for this very processor. Only this crate and the f64 library are rebuilt, in a target directory of their own.

use std::path::Path;
use std::process::Command;

use stribeck_core::wire::NUMERICS;

#[path = "../examples/twin_digest.rs"]
#[allow(dead_code)] // its main
mod twin_digest;

/// 3 s of every case: start-up, all stages of the EKF.
const TICKS: u32 = 30_000;

fn digests(level: &str, flags: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--release", "--quiet", "-p", "stribeck-core"]);
    cargo.args(["--example", "twin_digest"]);
    let debug = level == "0";
    let level_value = if level == "s" { "\"s\"" } else { level };
    for package in ["stribeck-core", "libm"] {
        for (key, value) in [
            ("opt-level", level_value),
            ("debug-assertions", if debug { "true" } else { "false" }),
            ("overflow-checks", if debug { "true" } else { "false" }),
        ] {
            cargo.arg("--config");
            cargo.arg(format!("profile.release.package.{package}.{key}={value}"));
        }
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bits");
    cargo.arg("--target-dir").arg(target);
    cargo.args(["--", &TICKS.to_string()]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.env("RUSTFLAGS", flags.join(" "));
    let output = cargo.output().expect("cargo runs");
    assert!(
        output.status.success(),
        "opt-level {level} {flags:?}:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn digests_do_not_depend_on_the_optimisation() {
    let mut builds = vec![("3", vec![]), ("0", vec![])];
    if std::env::var_os("STRIBECK_BITS").is_some_and(|v| v == "all") {
        builds.push(("1", vec![]));
        builds.push(("s", vec![]));
        builds.push(("3", vec!["-Ctarget-cpu=native"]));
    }
    let mut reference: Option<String> = None;
    for (level, flags) in builds {
        let found = digests(level, &flags);
        println!("opt-level {level} {}\n{found}", flags.join(" "));
        assert!(found.lines().count() >= 6, "every case ran");
        assert_eq!(
            *reference.get_or_insert(found.clone()),
            found,
            "opt-level {level}"
        );
    }
}

/// Logs are replayed bit for bit, so whoever changes the bits must say so.
#[test]
fn changed_bits_need_another_numerics_version() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/digests.txt");
    let found = format!("numerics {NUMERICS}\n{}", twin_digest::report(TICKS));
    if std::env::var_os("STRIBECK_BLESS").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == expected,
        "the observers, the block layout or the default configuration changed what the device sends.\n\
         Logs of released versions would no longer replay: raise wire::NUMERICS, then\n\
         STRIBECK_BLESS=1 cargo test --release -p stribeck-core --test bits changed\n\
         expected:\n{expected}found:\n{found}"
    );
}
