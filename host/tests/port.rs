//! `stribeck capture` on a serial port (a pseudo-terminal with the twin behind it): stalls, kills, replugs, full speed.

mod board;

use std::path::Path;
use std::time::{Duration, Instant};

use board::{Terminal, arg, output, run, serve, signal, size, stribeck, twin};
use nix::sys::signal::Signal;
use stribeck::link::scenario::Scenario;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck::log::contents;
use stribeck::log::damage::Damage;
use stribeck_core::device::config::{Config, Stream};
use stribeck_core::model::sim::Rng;

fn summary(json: &str) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(json).unwrap()["summary"].clone()
}

/// Serve until the child has exited.
fn serve_until_exit(
    terminal: &mut Terminal,
    twin: &mut Twin,
    child: std::process::Child,
) -> (i32, String, String) {
    let mut child = child;
    serve(terminal, twin, || child.try_wait().unwrap().is_some());
    output(child)
}

#[test]
fn a_run_through_a_port_is_complete_and_equal() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let mut terminal = Terminal::open();
    let mut twin = twin(11);
    let port = terminal.path.clone();
    let args = [
        "capture",
        "--from",
        arg(&port),
        "--arm",
        "--seconds",
        "2",
        "--json",
        "-o",
        arg(&log),
    ];
    let (code, out, err) = serve_until_exit(&mut terminal, &mut twin, stribeck(&args));
    assert_eq!(code, 0, "{out}{err}");
    let summary = summary(&out);
    assert_eq!(summary["losses"]["lost_ticks"], 0);
    assert_eq!(summary["verdict"]["differing_blocks"], 0);
    assert!(summary["verdict"]["equal_ticks"].as_u64().unwrap() > 10_000);
    assert!(err.contains("armed → swinging"), "{err}");
    // The log replays, and says the same.
    let (code, out, err) = run(&["replay", arg(&log)]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn a_reader_stopped_for_half_a_second_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let mut terminal = Terminal::open();
    let mut twin = twin(12);
    let port = terminal.path.clone();
    let mut child = stribeck(&[
        "capture",
        "--from",
        arg(&port),
        "--arm",
        "--seconds",
        "4",
        "--json",
        "-o",
        arg(&log),
    ]);
    // Running once its log grows.
    serve(&mut terminal, &mut twin, || size(&log) > 20_000);
    for _ in 0..3 {
        signal(&child, Signal::SIGSTOP);
        let stopped = Instant::now();
        serve(&mut terminal, &mut twin, || {
            stopped.elapsed() > Duration::from_millis(500)
        });
        signal(&child, Signal::SIGCONT);
        let running = Instant::now();
        serve(&mut terminal, &mut twin, || {
            running.elapsed() > Duration::from_millis(200)
        });
    }
    serve(&mut terminal, &mut twin, || {
        child.try_wait().unwrap().is_some()
    });
    let (code, out, err) = output(child);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(summary(&out)["losses"]["lost_blocks"], 0);
}

/// Kill -9 at a random moment: what is in the log is sound. Returns what is missing [ms of device time].
fn kill_once(rng: &mut Rng, folder: &Path) -> u64 {
    let log = folder.join(format!("kill{}.mcap", rng.bits()));
    let mut terminal = Terminal::open();
    let mut twin = twin(rng.bits());
    let port = terminal.path.clone();
    let mut child = stribeck(&["capture", "--from", arg(&port), "--arm", "-o", arg(&log)]);
    let first = serve(&mut terminal, &mut twin, || size(&log) > 4000);
    let delay = Duration::from_micros((rng.uniform() * 600_000.0) as u64);
    let begun = Instant::now();
    let sent = serve(&mut terminal, &mut twin, || begun.elapsed() > delay).max(first);
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let contents = contents::read(&log, false).unwrap();
    assert!(contents.damage.contains(&Damage::NotClosed));
    let a = &contents.summary;
    assert!(a.losses.is_clean(), "{:?}", a.losses);
    std::fs::remove_file(&log).unwrap();
    sent.saturating_sub(a.last_tick + 1) / 10
}

#[test]
fn a_killed_capture_leaves_a_sound_log() {
    // STRIBECK_KILLS=100 for the full count; what is missing depends on the machine's load and is printed, not judged.
    let kills = std::env::var("STRIBECK_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(12);
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(2024);
    let worst = (0..kills).map(|_| kill_once(&mut rng, folder.path())).max();
    println!("{kills} kills, at most {} ms missing", worst.unwrap_or(0));
}

#[test]
fn everything_sent_is_in_the_file_before_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let mut terminal = Terminal::open();
    let mut twin = twin(15);
    let port = terminal.path.clone();
    let mut child = stribeck(&["capture", "--from", arg(&port), "--arm", "-o", arg(&log)]);
    let sent = serve(&mut terminal, &mut twin, || size(&log) > 20_000);
    // The device falls silent; the capture goes on listening, and nothing stays in its memory.
    let begun = Instant::now();
    while contents::read(&log, true).map_or(0, |c| c.summary.last_tick + 1) < sent {
        assert!(begun.elapsed() < Duration::from_secs(60), "still in memory");
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let contents = contents::read(&log, true).unwrap();
    assert_eq!(contents.damage, [Damage::NotClosed]);
    assert_eq!(contents.summary.last_tick + 1, sent);
}

#[test]
fn full_speed_loses_nothing() {
    // STRIBECK_FULL_SPEED_S=300 for the full length.
    let seconds: f64 = std::env::var("STRIBECK_FULL_SPEED_S")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3.0);
    let rate = 1.2e6;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("fast.mcap");
    let mut terminal = Terminal::open();
    let config = Config {
        stream: Stream::FULL_RATE,
        ..Config::default()
    };
    let mut twin = Twin::new(&config, &Scenario::default(), None, false);
    let port = terminal.path.clone();
    let child = stribeck(&[
        "capture",
        "--from",
        arg(&port),
        "--arm",
        "--json",
        "-o",
        arg(&log),
    ]);
    let (mut sent, begun) = (0.0, Instant::now());
    while begun.elapsed().as_secs_f64() < seconds {
        let commands = terminal.read();
        twin.write(&commands).unwrap();
        let mut bytes = Vec::new();
        while sent < rate * begun.elapsed().as_secs_f64() && bytes.len() < 16_384 {
            let before = bytes.len();
            assert_ne!(twin.read(&mut bytes).unwrap(), Arrival::End);
            sent += (bytes.len() - before) as f64;
        }
        terminal.write(&bytes);
    }
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, Signal::SIGINT);
    let (code, out, err) = output(child);
    assert_eq!(code, 0, "{out}{err}");
    let summary = summary(&out);
    assert_eq!(summary["losses"]["lost_blocks"], 0);
    assert_eq!(summary["losses"]["corrupted"], 0);
    assert!(summary["bytes"].as_u64().unwrap() as f64 > 0.5 * sent);
}

#[test]
fn a_replugged_board_continues_as_a_new_segment() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let port = folder.path().join("port");
    let mut twin = twin(13);
    let mut terminal = Terminal::open();
    std::os::unix::fs::symlink(&terminal.path, &port).unwrap();
    let mut child = stribeck(&[
        "capture",
        "--from",
        arg(&port),
        "--arm",
        "--json",
        "-o",
        arg(&log),
    ]);
    serve(&mut terminal, &mut twin, || size(&log) > 20_000);
    // Unplug: the terminal disappears. The pendulum goes on.
    std::fs::remove_file(&port).unwrap();
    drop(terminal);
    std::thread::sleep(Duration::from_millis(200));
    let mut ignored = Vec::new();
    twin.read(&mut ignored).unwrap();
    let mut terminal = Terminal::open();
    std::os::unix::fs::symlink(&terminal.path, &port).unwrap();
    let grown = size(&log) + 20_000;
    serve(&mut terminal, &mut twin, || {
        size(&log) > grown || child.try_wait().unwrap().is_some()
    });
    signal(&child, Signal::SIGINT);
    let (code, out, err) = output(child);
    assert_eq!(code, 3, "{out}{err}");
    let summary = summary(&out);
    assert_eq!(summary["segments"], 2);
    let gaps = summary["losses"]["gaps"].as_array().unwrap();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!(gaps[0]["unplugged"], true);
    assert_eq!(summary["verdict"]["differing_blocks"], 0);
}

#[test]
fn a_port_where_nobody_answers_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let terminal = Terminal::open();
    let (code, _, err) = run(&["capture", "--from", arg(&terminal.path), "-o", arg(&log)]);
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("no stribeck device answers"), "{err}");
    let (code, _, err) = run(&["capture", "--from", "/dev/ttyDoesNotExist", "-o", arg(&log)]);
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("no such port"), "{err}");
}

#[test]
fn a_port_in_use_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let mut terminal = Terminal::open();
    let mut twin = twin(14);
    let port = terminal.path.clone();
    let child = stribeck(&["capture", "--from", arg(&port), "-o", arg(&log)]);
    serve(&mut terminal, &mut twin, || size(&log) > 4000);
    let other = folder.path().join("other.mcap");
    let (code, _, err) = run(&["capture", "--from", arg(&port), "-o", arg(&other)]);
    signal(&child, Signal::SIGINT);
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("in use"), "{err}");
    let (code, out, err) = output(child);
    assert_eq!(code, 0, "{out}{err}");
}
