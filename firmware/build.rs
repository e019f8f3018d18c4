//! Links with the memory.x at the top of the workspace, on-target tests with embedded-test's script;
//! names the build after version and source revision; and computes on this machine what the test of
//! bit-exactness must find on the chip.

#[path = "tests/cases/mod.rs"]
mod cases;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use stribeck_core::sim::{Bench, REFERENCE_START};

fn main() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    println!("cargo:rustc-link-search={}", workspace.display());
    println!("cargo:rerun-if-changed=../memory.x");
    println!("cargo:rustc-link-arg-tests=-Tembedded-test.x");
    println!("cargo:rustc-check-cfg=cfg(rust_analyzer)");
    println!("cargo:rustc-env=STRIBECK_BUILD={}", build_name());
    println!("cargo:rerun-if-changed=tests/cases/mod.rs");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    write_expected(Path::new(&out));
}

/// "0.1.0 3fa2b1c", with "+" after the revision if the sources were changed since.
fn build_name() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    match git(&["rev-parse", "--short=7", "HEAD"]) {
        Some(revision) => {
            let changed = git(&["status", "--porcelain", "-uno"]).is_some_and(|s| !s.is_empty());
            format!("{version} {revision}{}", if changed { "+" } else { "" })
        }
        None => version.to_owned(),
    }
}

/// `counts.bin`: the two raw counts of every tick of a simulated swing, as differences (i8, i8) from the
/// tick before, starting from 0. `expected.rs`: the digests.
fn write_expected(out: &Path) {
    let mut bench = Bench::reference(0.5, 7);
    bench.hold(REFERENCE_START, 500);
    let samples: Vec<[u32; 2]> = bench.take(cases::STEPS).map(|s| s.counts).collect();
    let start = samples[0];
    let mut last = start;
    let mut bytes = Vec::new();
    for counts in &samples {
        for joint in 0..2 {
            let step = counts[joint].wrapping_sub(last[joint]) as i32;
            bytes.push(i8::try_from(step).expect("a pendulum moves few counts per tick") as u8);
        }
        last = *counts;
    }
    fs::write(out.join("counts.bin"), bytes).expect("OUT_DIR is writable");

    let mut digests = Vec::new();
    cases::observe(samples.iter().copied(), |_, digest| digests.push(digest));
    let source = format!(
        "pub const MATH: u32 = {:#010x};\n\
         pub const START: [u32; 2] = {start:?};\n\
         pub const OBSERVERS: [u32; {}] = {digests:#010x?};\n\
         pub static COUNTS: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/counts.bin\"));\n",
        cases::math_digest(),
        digests.len()
    );
    fs::write(out.join("expected.rs"), source).expect("OUT_DIR is writable");
}
