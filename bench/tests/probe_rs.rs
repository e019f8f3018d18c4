//! The real probe-rs, unmodified, on the virtual bench: it identifies, erases, flashes, verifies, resets, logs, tests and debugs.
//!
//! Ignored unless asked for: `./test --full` installs the tool and runs them one after the other. By hand, with probe-rs 0.32 in PATH
//! (or STRIBECK_PROBE_RS naming it) and `cargo fw`, `cargo build --release -p stribeck` done:
//!
//! ```text
//! cargo test --release -p stribeck-bench --test probe_rs -- --ignored --test-threads=1 --nocapture
//! ```

mod harness;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use harness::probe::{PATIENCE, ProbeBench, firmware_path, output};
use harness::verdicts::{Verdicts, hil_verdicts, vhil_verdicts};
use stribeck_core::wire::{Decoder, Frame, Status};

const JUMPERS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/scenarios/on-target-tests.toml"
);

fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn tool() -> PathBuf {
    std::env::var_os("STRIBECK_PROBE_RS").map_or_else(|| "probe-rs".into(), PathBuf::from)
}

/// `probe-rs` as a person calls it in the top folder, with the bench as its probe.
fn probe_rs(bench: &ProbeBench, args: &[&str]) -> Command {
    let mut command = Command::new(tool());
    command
        .args(args)
        .current_dir(top())
        .env("PROBE_RS_PROBE", bench.selector())
        .env("RUST_LOG", "error")
        .env("NO_COLOR", "1");
    command
}

/// Runs it to a good end.
fn done(bench: &ProbeBench, args: &[&str]) -> String {
    let (code, text) = output(&mut probe_rs(bench, args));
    assert_eq!(code, Some(0), "probe-rs {args:?}: {text}\n{}", bench.log());
    text
}

fn firmware() -> String {
    firmware_path().to_str().unwrap().to_string()
}

/// Virtual time [s] of the first line of the bench's log with `text` after `from_s`.
fn time_of(bench: &ProbeBench, text: &str, from_s: f64) -> Option<f64> {
    let log = bench.log();
    let times = log.lines().filter(|l| l.contains(text));
    times
        .filter_map(|l| l.split_whitespace().next()?.parse().ok())
        .find(|&t: &f64| t >= from_s)
}

fn wait(what: &str, mut ready: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A tool in the background; killed with the test.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Running {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped());
        Running(quiet.stderr(Stdio::null()).spawn().unwrap())
    }

    /// Ctrl-C, and what it had printed.
    fn interrupt(mut self) -> String {
        // SAFETY: our own child, not yet waited for.
        unsafe { libc::kill(self.0.id() as libc::pid_t, libc::SIGINT) };
        let mut text = String::new();
        use std::io::Read;
        let out = self.0.stdout.take();
        out.unwrap().read_to_string(&mut text).unwrap();
        self.0.wait().unwrap();
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "needs probe-rs: ./test --full"]
fn it_finds_the_chip_in_every_protocol_version() {
    let (code, text) = output(Command::new(tool()).arg("list").current_dir(top()));
    assert_eq!(code, Some(0), "{text}");
    for version in ["0", "1", "2", "3", "4"] {
        let bench = ProbeBench::start(&["--blank", "--fast", "--probe-version", version]);
        let text = done(&bench, &["info", "--verbose"]);
        for line in [
            "DPv2, Designer: STMicroelectronics, Part: 0x4500",
            "0 MemoryAP (AmbaAhb3)",
            "0xe00fe000 ROM Table (Class 1), Designer: STMicroelectronics",
            "0xe00ff000 ROM Table (Class 1), Designer: ARM Ltd",
            "0xe0041000 ETM architecture",
            "1 MemoryAP (AmbaAhb3)",
            "2 MemoryAP (AmbaApb2Apb3)",
            "0xe00f4000 CoreSight TMC",
        ] {
            assert!(
                text.contains(line),
                "version {version}: no '{line}' in\n{text}"
            );
        }
        let text = done(&bench, &["read", "b32", "0xe000ed00", "1"]);
        assert!(text.contains("411fc271"), "version {version}: {text}");
        assert!(!bench.log().contains("is not known"), "{}", bench.log());
    }
}

#[test]
#[ignore = "needs probe-rs: ./test --full"]
fn a_blank_chip_is_erased_flashed_verified_and_boots() {
    let bench = ProbeBench::start(&["--blank", "--fast"]);
    done(&bench, &["erase"]);
    let begun = Instant::now();
    done(&bench, &["download", "--verify", &firmware()]);
    println!(
        "flashed and verified in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    done(&bench, &["verify", &firmware()]);

    // Bank 2 as well.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("image.bin");
    let image: Vec<u8> = (0..3000u32).map(|i| (i * 7 + (i >> 8)) as u8).collect();
    std::fs::write(&file, &image).unwrap();
    let file = file.to_str().unwrap();
    let place = ["--binary-format", "bin", "--base-address", "0x08180000"];
    done(
        &bench,
        &[&["download", "--verify", file][..], &place].concat(),
    );
    let text = done(&bench, &["read", "b8", "0x08180000", "3000"]);
    let read: Vec<u8> = text
        .split_whitespace()
        .filter_map(|w| u8::from_str_radix(w, 16).ok())
        .collect();
    assert_eq!(read, image);

    // Something else in flash is noticed.
    done(&bench, &["verify", &firmware()]);
    std::fs::write(file, &image[1..]).unwrap();
    let (code, text) = output(&mut probe_rs(
        &bench,
        &[&["verify", file][..], &place].concat(),
    ));
    assert!(text.contains("Verification failed"), "{code:?} {text}");

    let starts = |bench: &ProbeBench| bench.log().matches("usb: configured").count();
    let before = starts(&bench);
    done(&bench, &["reset"]);
    wait("it does not boot", || starts(&bench) > before);
}

#[test]
#[ignore = "needs probe-rs: ./test --full"]
fn killed_while_flashing_it_flashes_again() {
    let mut bench = ProbeBench::start(&["--blank", "--fast"]);
    let mut first = Running::start(&mut probe_rs(&bench, &["download", &firmware()]));
    bench.wait_for("connected");
    std::thread::sleep(Duration::from_millis(300));
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    bench.wait_for("left after");
    done(&bench, &["download", "--verify", &firmware()]);
    done(&bench, &["reset"]);
    bench.wait_for("usb: configured");
}

#[test]
#[ignore = "needs probe-rs: ./test --full"]
fn every_on_target_test_has_the_same_verdict_with_both_runners() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let bench = ProbeBench::start(&["--blank", "--fast", "--scenario", JUMPERS]);
    let mut paths = vec![tool().parent().unwrap_or(Path::new("")).to_path_buf()];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let paths = std::env::join_paths(paths).unwrap();
    let hil = |args: &[&str]| {
        let mut hil = Command::new(&cargo);
        hil.args(args)
            .current_dir(top())
            .env("PATH", &paths)
            .env("PROBE_RS_PROBE", bench.selector())
            .env("RUST_LOG", "error")
            .env("NO_COLOR", "1");
        hil
    };
    let (code, text) = output(&mut hil(&["hil", "--no-run"]));
    assert_eq!(code, Some(0), "{text}");
    let begun = Instant::now();
    let (code, hil_text) = output(&mut hil(&["hil", "--no-fail-fast"]));
    let hil_s = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let (vhil_code, vhil_text) = output(
        Command::new(env!("CARGO_BIN_EXE_stribeck-bench"))
            .arg("vhil")
            .current_dir(top()),
    );
    let vhil_s = begun.elapsed().as_secs_f64();
    let (hil, vhil) = (hil_verdicts(&hil_text), vhil_verdicts(&vhil_text));
    let passed = |v: &Verdicts| v.values().filter(|v| *v == "ok").count();
    println!("runner            tests  passed  time");
    println!(
        "cargo hil         {:>5}  {:>6}  {hil_s:.1} s (probe-rs)",
        hil.len(),
        passed(&hil)
    );
    println!(
        "cargo vhil        {:>5}  {:>6}  {vhil_s:.1} s",
        vhil.len(),
        passed(&vhil)
    );
    assert!(hil.len() >= 30, "{hil_text}");
    assert_eq!(hil, vhil, "{hil_text}\n{vhil_text}");
    assert_eq!(
        (code, vhil_code),
        (Some(0), Some(0)),
        "{hil_text}\n{vhil_text}"
    );
    assert_eq!(hil.keys().filter(|k| k.starts_with("watchdog")).count(), 4);
    let resets = bench.log().matches("reset: Watchdog").count();
    assert_eq!(resets, 3, "three of the four watchdog tests expect a reset");
}

/// Status frames in what the host received.
fn statuses(file: &Path) -> Vec<Status> {
    let mut found = Vec::new();
    let bytes = std::fs::read(file).unwrap();
    let mut decoder: Decoder = Decoder::new();
    decoder.feed(&bytes, |raw| {
        if let Ok(Ok(Frame::Status(s))) = raw.map(|r| r.decode()) {
            found.push(s);
        }
    });
    found
}

#[test]
#[ignore = "needs probe-rs: ./test --full"]
fn attached_and_detached_with_ctrl_c_the_ticks_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let received = dir.path().join("usb");
    let usb = received.to_str().unwrap();
    let mut bench = ProbeBench::start(&[&firmware(), "--realtime", "--usb-out", usb]);
    bench.wait_for("usb: configured");
    let attach = Running::start(&mut probe_rs(
        &bench,
        &["attach", "--preset", "attach", &firmware()],
    ));
    bench.wait_for("connected");
    std::thread::sleep(Duration::from_millis(1500));
    attach.interrupt();
    bench.wait_for("left after");
    let detached = time_of(&bench, "left after", 0.0).unwrap();
    wait("the bench stands still", || {
        statuses(&received)
            .last()
            .is_some_and(|s| s.tick as f64 * 1e-4 > detached + 3.0)
    });
    let log = bench.log();
    bench.finish();
    let after: Vec<Status> = statuses(&received)
        .into_iter()
        .filter(|s| s.tick as f64 * 1e-4 > detached + 0.1)
        .collect();
    let (first, last) = (&after[0], &after[after.len() - 1]);
    println!(
        "after the detach at {detached:.1} s: {} ticks, {} missed",
        last.tick - first.tick,
        last.health.missed_ticks - first.health.missed_ticks
    );
    assert!(last.tick - first.tick >= 20_000, "{first:?} {last:?}");
    assert_eq!(last.health.missed_ticks, first.health.missed_ticks);
    assert!(!log.contains("reset:"), "{log}");
}

#[test]
#[ignore = "needs probe-rs: ./test --full"]
fn run_prints_the_log_live_and_reset_starts_again() {
    let mut bench = ProbeBench::start(&["--blank", "--fast"]);
    let run = Running::start(&mut probe_rs(&bench, &["run", &firmware()]));
    bench.wait_for("usb: configured");
    std::thread::sleep(Duration::from_millis(1000));

    // Somebody else is told so, and the first is not disturbed.
    let (code, text) = output(&mut probe_rs(&bench, &["read", "b32", "0xe000ed00", "1"]));
    assert_ne!(code, Some(0), "{text}");
    bench.wait_for("refused");

    let text = run.interrupt();
    assert!(text.contains("crashed before: false"), "{text}");
    assert!(text.contains("usb: host connected"), "{text}");
    bench.wait_for("left after");
    let before = time_of(&bench, "left after", 0.0).unwrap();
    done(&bench, &["reset"]);
    wait("no second start", || {
        time_of(&bench, "usb: configured", before).is_some()
    });
}

#[test]
#[ignore = "needs probe-rs: ./test --full"]
fn a_whole_session_flash_attach_capture_replay_detach() {
    let stribeck = Path::new(env!("CARGO_BIN_EXE_stribeck-bench")).with_file_name("stribeck");
    assert!(stribeck.is_file(), "cargo build --release -p stribeck");
    let dir = tempfile::tempdir().unwrap();
    let (port, log) = (dir.path().join("port"), dir.path().join("run.mcap"));
    let mut bench = ProbeBench::start(&["--blank", "--pty", port.to_str().unwrap()]);
    done(&bench, &["download", "--verify", &firmware()]);
    done(&bench, &["reset"]);
    bench.wait_for("usb: configured");
    let attach = Running::start(&mut probe_rs(
        &bench,
        &["attach", "--preset", "attach", &firmware()],
    ));
    wait("not attached", || {
        bench.log().matches(" connected").count() >= 3
    });
    std::thread::sleep(Duration::from_millis(1000));

    let mut capture = Command::new(&stribeck);
    capture
        .args(["capture", "--seconds", "5", "--from"])
        .arg(&port);
    let (code, text) = output(capture.arg("-o").arg(&log));
    assert_eq!(code, Some(0), "{text}\n{}", bench.log());
    let printed = attach.interrupt();
    assert!(
        printed.contains("usb: "),
        "the log came through the probe: {printed}"
    );

    let mut replay = Command::new(&stribeck);
    let (code, text) = output(replay.args(["replay", "--json"]).arg(&log));
    assert_eq!(code, Some(0), "{text}");
    let from = text.find('{').unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&text[from..=text.rfind('}').unwrap()]).unwrap();
    let verdict = &json["verdict"];
    println!("{verdict}");
    assert!(
        verdict["compared_ticks"].as_u64().unwrap() >= 40_000,
        "{verdict}"
    );
    assert_eq!(verdict["differing_bits"].as_u64(), Some(0), "{verdict}");
}

#[test]
#[ignore = "needs probe-rs and gdb-multiarch: ./test --full"]
fn gdb_stops_in_the_tick_and_the_watchdog_waits() {
    if Command::new("gdb-multiarch")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("\nskipped: no gdb-multiarch here");
        return;
    }
    let mut bench = ProbeBench::start(&[&firmware(), "--fast"]);
    bench.wait_for("usb: configured");
    // On a busy machine gdb gives up its first connection, which ends probe-rs' server: then once more.
    let sessions = (0..5).map(|_| gdb_session(&bench));
    let text = sessions
        .into_iter()
        .find(|text| !text.contains("Connection timed out"))
        .expect("gdb never reached the server");
    assert_eq!(
        text.matches("\nBreakpoint 1, ").count(),
        2,
        "{text}\n{}",
        bench.log()
    );
    assert!(text.contains("stribeck_firmware::tick::"), "{text}");
    // Exception 71 is interrupt 55, TIM7.
    assert!(text.contains("47 "), "{text}");
    assert!(
        !bench.log().contains("reset:"),
        "the watchdog did not wait:\n{}",
        bench.log()
    );
}

/// gdb against `probe-rs gdb`: to the tick, a look round, two seconds of thinking, one instruction, to the next tick, and off.
fn gdb_session(bench: &ProbeBench) -> String {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let at = format!("127.0.0.1:{port}");
    let elf = firmware();
    let arguments = [
        "gdb",
        "--preset",
        "attach",
        "--gdb-connection-string",
        &at,
        &elf,
    ];
    let _server = Running::start(&mut probe_rs(bench, &arguments));
    // The server takes one connection: looking whether it listens must not use it up.
    let listening = format!(":{port:04X} 00000000:0000 0A");
    wait("no gdb server", || {
        let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
        sockets.contains(&listening)
    });
    let script = format!(
        "set pagination off
         target remote {at}
         hbreak TIM7
         continue
         backtrace 4
         shell sleep 2
         stepi
         info registers pc
         continue
         info registers xpsr
         delete
         detach"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("script");
    std::fs::write(&file, script).unwrap();
    let mut gdb = Command::new("timeout");
    gdb.args(["240", "gdb-multiarch", "-q", "-batch", "-x"]);
    output(gdb.arg(&file).arg(elf)).1
}
