//! Links with the memory.x at the top of the workspace, on-target tests with embedded-test's script;
//! names the build after version and source revision; and computes on this machine what the test of
//! bit-exactness must find on the chip.

#[path = "tests/cases/mod.rs"]
mod cases;
#[path = "tests/cases/plan.rs"]
#[allow(dead_code)] // What the test needs beside the digest.
mod plan;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::PlantConfig;
use stribeck_core::model::sim::{Encoder, REFERENCE_START, Simulation, Truth};

fn main() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    println!("cargo:rustc-link-search={}", workspace.display());
    println!("cargo:rerun-if-changed=../memory.x");
    println!("cargo:rustc-link-arg-tests=-Tembedded-test.x");
    println!("cargo:rustc-check-cfg=cfg(rust_analyzer)");
    println!("cargo:rustc-env=STRIBECK_BUILD={}", build_name());
    println!("cargo:rerun-if-changed=tests/cases/mod.rs");
    println!("cargo:rerun-if-changed=tests/cases/plan.rs");
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
/// tick before, starting from 0; `plantN.bin` the same for each plant. `expected.rs`: the digests.
fn write_expected(out: &Path) {
    let mut bench = Simulation::reference(0.5, 7);
    bench.hold(REFERENCE_START, 500);
    let samples: Vec<[u32; 2]> = bench.take(cases::STEPS).map(|s| s.counts).collect();
    let start = samples[0];
    fs::write(out.join("counts.bin"), differences(&samples)).expect("OUT_DIR is writable");

    let plants: Vec<Vec<[u32; 2]>> = (0..PlantConfig::NAMES.len()).map(swing_of).collect();
    let mut files = Vec::new();
    for (n, samples) in plants.iter().enumerate() {
        let name = format!("plant{n}.bin");
        fs::write(out.join(&name), differences(samples)).expect("OUT_DIR is writable");
        files.push(format!(
            "({:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\")))",
            samples[0]
        ));
    }
    let mut plant_digests = Vec::new();
    cases::switch_plants(
        |n| plants[n].iter().copied(),
        |_, digest| plant_digests.push(digest),
    );

    let mut digests = Vec::new();
    cases::observe(samples.iter().copied(), |_, digest| digests.push(digest));
    let source = format!(
        "pub const MATH: u32 = {:#010x};\n\
         pub const START: [u32; 2] = {start:?};\n\
         pub const OBSERVERS: [u32; {}] = {digests:#010x?};\n\
         pub static COUNTS: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/counts.bin\"));\n",
        cases::math_digest(),
        digests.len()
    ) + &format!(
        "pub const PLANT_DIGESTS: [u32; {n}] = {plant_digests:#010x?};\n\
         /// First counts and their differences from tick to tick.\n\
         pub static PLANTS: [([u32; 2], &[u8]); {n}] = [{}];\n",
        files.join(", "),
        n = plants.len()
    );
    fs::write(out.join("expected.rs"), source).expect("OUT_DIR is writable");
    let source = format!("pub const PLANS: u32 = {:#010x};\n", plan::digest());
    fs::write(out.join("plan.rs"), source).expect("OUT_DIR is writable");
}

/// Each tick's counts as differences (i8, i8) from the tick before.
fn differences(samples: &[[u32; 2]]) -> Vec<u8> {
    let mut last = samples[0];
    let mut bytes = Vec::new();
    for counts in samples {
        for joint in 0..2 {
            let step = counts[joint].wrapping_sub(last[joint]) as i32;
            bytes.push(i8::try_from(step).expect("a pendulum moves few counts per tick") as u8);
        }
        last = *counts;
    }
    bytes
}

/// What the counters of a simulated swing of this plant show, from 0 where it hangs: held for 50 ms, then let go.
fn swing_of(plant: usize) -> Vec<[u32; 2]> {
    let config = cases::configuration_of(plant);
    let (joints, start) = (config.plant.joints(), config.plant.reference_start());
    let friction = config
        .plant
        .reference_friction()
        .map(Friction::brown_mcphee);
    let truth = Truth::new(&config.plant, friction, start, 1e-4, 2);
    let encoders = std::array::from_fn(|j| Encoder {
        joint: joints[j],
        counts_per_rev: config.encoders[j].counts_per_rev,
        offset: config.encoders[j].zero as u32,
        noise_counts: 0.5,
        ..Encoder::default()
    });
    let mut bench = Simulation::new(truth, encoders, 7);
    bench.hold(start, 500);
    bench.take(cases::PLANT_STEPS).map(|s| s.counts).collect()
}
