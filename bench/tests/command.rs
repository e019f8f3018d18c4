//! The command as people meet it: errors that say what to do, and a serial port that other programs can open.

mod harness;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use stribeck_core::wire::{self, Ask, Decoder, Frame, MAX_FRAME};

fn bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_stribeck-bench"))
}

fn fails(args: &[&str], says: &str) {
    let Output { status, stderr, .. } = bench().args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(2), "{args:?}: {stderr}");
    assert!(stderr.contains(says), "{args:?} says: {stderr}");
}

fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("stribeck-bench-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// The firmware's path, checked to be there.
fn elf() -> String {
    harness::firmware();
    std::env::var("STRIBECK_FIRMWARE_ELF").unwrap_or_else(|_| {
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../target/thumbv7em-none-eabihf/firmware/stribeck-firmware"
        )
        .into()
    })
}

#[test]
fn wrong_files_are_refused() {
    let dir = scratch("wrong");
    let text = dir.join("notes.txt");
    std::fs::write(&text, "not a program").unwrap();
    fails(&["run", text.to_str().unwrap()], "not a 32-bit ELF");
    fails(&["run", "/nonexistent.elf"], "/nonexistent.elf");
    fails(&["run", env!("CARGO_BIN_EXE_stribeck-bench")], "ELF");
    fails(&["test", &elf()], "no tests");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn bad_scenarios_and_ports_are_refused() {
    let dir = scratch("bad");
    let scenario = dir.join("s.toml");
    std::fs::write(&scenario, "[[event]]\nat_s = 1\ndo = \"cut\"\njoint = 7\n").unwrap();
    fails(
        &["run", &elf(), "--scenario", scenario.to_str().unwrap()],
        "event[0].joint",
    );
    std::fs::write(
        &scenario,
        "[[event]]\nat_s = 1\ndo = \"bit-flip\"\nbit = 1\nsymbol = \"no_such\"\n",
    )
    .unwrap();
    fails(
        &["run", &elf(), "--scenario", scenario.to_str().unwrap()],
        "no_such",
    );
    fails(
        &["run", &elf(), "--pty", "/nonexistent/dir/port"],
        "/nonexistent/dir/port",
    );
    fails(
        &["run", &elf(), "--pty", scenario.to_str().unwrap()],
        "is not a link",
    );
    fails(
        &["run", &elf(), "--usb-out", "/nonexistent/dir/file"],
        "/nonexistent/dir/file",
    );
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_run_prints_its_summary_as_json() {
    let out = bench()
        .args(["run", &elf(), "--seconds", "0.1", "--json", "--quiet"])
        .output()
        .unwrap();
    assert!(out.status.success());
    let v: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(v["cpu_hz"], 400_000_000);
    assert!(v["tick"]["samples"].as_u64().unwrap() > 500);
    assert!(
        v["worst_tick"]
            .as_array()
            .unwrap()
            .iter()
            .all(|f| f["function"] != "?")
    );
    assert!(v["stack_used"].as_u64().unwrap() > 0);
}

#[test]
fn every_scenario_of_the_folder_parses() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut seen = 0;
    for f in std::fs::read_dir(dir).unwrap() {
        let name = f.unwrap().file_name();
        harness::scenario_file(name.to_str().unwrap());
        seen += 1;
    }
    assert!(seen >= 15, "{seen}");
}

/// Opens the port, asks for a Hello and waits for it.
fn greet(port: &Path) {
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(port)
        .unwrap();
    let mut buf = [0; MAX_FRAME];
    let ask = wire::Command {
        id: 9,
        ask: Ask::Hello,
    };
    let n = wire::encode(&ask, &mut buf).unwrap();
    let mut decoder: Decoder = Decoder::new();
    let (mut hello, mut block) = (false, false);
    let started = Instant::now();
    let mut asked = Instant::now() - Duration::from_secs(60);
    while !(hello && block) {
        assert!(
            started.elapsed() < Duration::from_secs(300),
            "no answer through the port"
        );
        if asked.elapsed() > Duration::from_secs(2) {
            file.write_all(&buf[..n]).unwrap();
            asked = Instant::now();
        }
        let mut bytes = [0; 1024];
        let got = file.read(&mut bytes).unwrap();
        decoder.feed(&bytes[..got], |raw| match raw.map(|r| r.decode()) {
            Ok(Ok(Frame::Hello(_))) => hello = true,
            Ok(Ok(Frame::Block(_))) => block = true,
            _ => {}
        });
    }
}

/// A bench that does not outlive its test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_port_serves_one_client_after_another() {
    let dir = scratch("port");
    let port = dir.join("port");
    let child = bench()
        .args([
            "run",
            &elf(),
            "--pty",
            port.to_str().unwrap(),
            "--seconds",
            "0",
            "--quiet",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut child = Running(child);
    let started = Instant::now();
    while !port.exists() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    greet(&port);
    std::thread::sleep(Duration::from_millis(300));
    greet(&port);
    // SAFETY: our own child's id.
    unsafe { libc::kill(child.0.id() as i32, libc::SIGTERM) };
    assert!(child.0.wait().unwrap().success());
    assert!(
        std::fs::symlink_metadata(&port).is_err(),
        "the link is removed on exit"
    );
    std::fs::remove_dir_all(dir).unwrap();
}
