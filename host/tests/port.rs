//! `stribeck capture` on a serial port (a pseudo-terminal with the twin behind it): stalls, kills, replugs, full speed.

mod board;

use std::path::Path;
use std::time::{Duration, Instant};

use board::{Terminal, arg, output, run, serve, signal, size, stribeck, twin};
use nix::sys::signal::Signal;
use stribeck::log::damage::Damage;
use stribeck::simulation::Scenario;
use stribeck::source::twin::Twin;
use stribeck::source::{Arrival, Source};
use stribeck::survey::survey;
use stribeck_core::config::{Config, Stream};
use stribeck_core::sim::Rng;

fn accounts(json: &str) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(json).unwrap()["accounts"].clone()
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
    let accounts = accounts(&out);
    assert_eq!(accounts["losses"]["lost_ticks"], 0);
    assert_eq!(accounts["verdict"]["differing_blocks"], 0);
    assert!(accounts["verdict"]["equal_ticks"].as_u64().unwrap() > 10_000);
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
    assert_eq!(accounts(&out)["losses"]["lost_blocks"], 0);
}

/// How long the threads of a process have waited for a processor so far [ms]: what a busy machine adds to any limit.
fn waited_ms(pid: u32) -> u64 {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return 0;
    };
    let wait = |task: std::fs::DirEntry| -> Option<u64> {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    };
    let total: u64 = tasks.flatten().filter_map(wait).sum();
    total / 1_000_000
}

/// Kill -9 at a random moment; everything but the last instant is in the log. Returns what is missing [ms].
fn kill_once(rng: &mut Rng, folder: &Path) -> u64 {
    let log = folder.join(format!("kill{}.mcap", rng.bits()));
    let mut terminal = Terminal::open();
    let mut twin = twin(rng.bits());
    let port = terminal.path.clone();
    let mut child = stribeck(&["capture", "--from", arg(&port), "--arm", "-o", arg(&log)]);
    let first = serve(&mut terminal, &mut twin, || size(&log) > 4000);
    let delay = Duration::from_micros((rng.uniform() * 600_000.0) as u64);
    let begun = Instant::now();
    let waited = || waited_ms(child.id()) + waited_ms(std::process::id());
    let before = waited();
    let sent = serve(&mut terminal, &mut twin, || begun.elapsed() > delay).max(first);
    let waited = waited() - before;
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let overview = survey(&log, false).unwrap();
    assert!(overview.damage.contains(&Damage::NotClosed));
    let a = &overview.accounts;
    assert!(a.losses.is_clean(), "{:?}", a.losses);
    let missing_ms = (sent - (a.last_tick + 1)) / 10;
    let limit = 100 + waited;
    assert!(
        missing_ms <= limit,
        "{missing_ms} ms missing, {limit} ms allowed"
    );
    std::fs::remove_file(&log).unwrap();
    missing_ms
}

#[test]
fn a_killed_capture_keeps_all_but_the_last_instant() {
    // STRIBECK_KILLS=100 for the full count.
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
    let accounts = accounts(&out);
    assert_eq!(accounts["losses"]["lost_blocks"], 0);
    assert_eq!(accounts["losses"]["corrupted"], 0);
    assert!(accounts["bytes"].as_u64().unwrap() as f64 > 0.5 * sent);
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
    let accounts = accounts(&out);
    assert_eq!(accounts["segments"], 2);
    let gaps = accounts["losses"]["gaps"].as_array().unwrap();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!(gaps[0]["unplugged"], true);
    assert_eq!(accounts["verdict"]["differing_blocks"], 0);
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
