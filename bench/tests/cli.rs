//! The whole chain with nothing replaced: the firmware's ELF on the emulated chip, its USB as a terminal of this machine, the ordinary
//! `stribeck` program that opens it through serialport, captures a swing and replays it on this processor. Not one bit may differ.
//!
//! Needs `cargo fw` and `cargo build --release -p stribeck` (`./test` runs both); fails, and says so, without them.

mod harness;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Lets go after the host has had time to connect and arm, then swings on.
const SCENARIO: &str =
    "seconds = 120.0\n[plant]\nangles = [0.17, 2.09]\nlift_s = [0.1, 0.4]\nrelease_s = 4.0\n";
/// Device seconds to record.
const SECONDS: &str = "21";

/// Ends with the test, however it ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The `stribeck` program beside the bench's own.
fn stribeck() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_stribeck-bench")).with_file_name("stribeck");
    assert!(
        path.is_file(),
        "{} is missing: cargo build --release -p stribeck",
        path.display()
    );
    path
}

fn output(program: &mut Command) -> (Option<i32>, String) {
    let out = program.output().unwrap();
    let text =
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.code(), text)
}

#[test]
fn the_ordinary_program_captures_a_swing_and_replays_it_bit_for_bit() {
    harness::firmware();
    let elf = std::env::var("STRIBECK_FIRMWARE_ELF").unwrap_or_else(|_| {
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../target/thumbv7em-none-eabihf/firmware/stribeck-firmware"
        )
        .into()
    });
    let dir = tempfile::tempdir().unwrap();
    let (scenario, port, log) = (
        dir.path().join("s.toml"),
        dir.path().join("port"),
        dir.path().join("run.mcap"),
    );
    std::fs::write(&scenario, SCENARIO).unwrap();
    let told = dir.path().join("bench.log");
    let bench = Command::new(env!("CARGO_BIN_EXE_stribeck-bench"))
        .args(["run", &elf, "--scenario"])
        .arg(&scenario)
        .arg("--pty")
        .arg(&port)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&told).unwrap())
        .spawn();
    let _bench = Running(bench.unwrap());
    // As a person would: not before the board has started. That takes as long as it takes on a busy machine.
    let begun = Instant::now();
    loop {
        let log = std::fs::read_to_string(&told).unwrap();
        if port.exists() && log.contains("usb: configured") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{log}");
        std::thread::sleep(Duration::from_millis(20));
    }

    let mut capture = Command::new(stribeck());
    capture
        .args(["capture", "--arm", "--seconds", SECONDS, "--from"])
        .arg(&port)
        .arg("-o")
        .arg(&log);
    let (code, text) = output(&mut capture);
    assert_eq!(code, Some(0), "{text}");

    let (code, text) = output(Command::new(stribeck()).arg("info").arg(&log));
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("NUCLEO-H743ZI2") && text.contains("armed → swinging"),
        "{text}"
    );

    let (code, text) = output(
        Command::new(stribeck())
            .args(["replay", "--json"])
            .arg(&log),
    );
    assert_eq!(code, Some(0), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text[..=text.rfind('}').unwrap()]).unwrap();
    let verdict = &json["verdict"];
    println!("{verdict}");
    assert!(
        verdict["compared_ticks"].as_u64().unwrap() >= 200_000,
        "{verdict}"
    );
    assert_eq!(verdict["differing_blocks"].as_u64(), Some(0), "{verdict}");
    assert_eq!(verdict["differing_bits"].as_u64(), Some(0), "{verdict}");

    // What the first person with a board sends us.
    let report = dir.path().join("board.json");
    let mut doctor = Command::new(stribeck());
    doctor
        .args(["doctor", "--listen", "4", "--bench-report"])
        .arg(&report)
        .arg("--port")
        .arg(&port);
    let (code, text) = output(&mut doctor);
    assert_eq!(code, Some(0), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&report).unwrap()).unwrap();
    let readings = &json["readings"];
    assert_eq!(readings["device"]["board"], "NUCLEO-H743ZI2");
    assert_eq!(readings["device"]["clock"], "Crystal");
    assert_eq!(readings["blocks_missing"], 0, "{readings}");
    let health = &readings["statuses"][1]["health"];
    assert!(
        health["tick_cycles"]["max"].as_u64() > Some(1_000),
        "{readings}"
    );
    assert_eq!(health["missed_ticks"], 0);
    let (code, text) = output(&mut doctor);
    assert_ne!(code, Some(0), "the report was overwritten: {text}");
}
