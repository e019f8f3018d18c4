//! What must hold: nothing destroys a recording, no damage passes with exit code 0, no lost terminal ends a command.

mod board;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use board::{Terminal, arg, output, run, serve, size, stribeck, twin};
use stribeck_core::model::sim::Rng;

/// A short simulated log.
fn log(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let (code, out, err) = run(&["simulate", "--seconds", "3", "-o", arg(&path)]);
    assert_eq!(code, 0, "{out}{err}");
    path
}

#[test]
fn nothing_is_overwritten_without_force_and_never_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap");
    let before = std::fs::read(&path).unwrap();
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let csv = folder.path().join("run.csv");
    let html = folder.path().join("run.html");
    let toml = folder.path().join("rig.toml");
    for file in [&csv, &html, &toml] {
        std::fs::write(file, "mine").unwrap();
    }
    let (p, c, h, t, l) = (arg(&path), arg(&csv), arg(&html), arg(&toml), arg(&link));
    let refused: [&[&str]; 8] = [
        &["simulate", "--seconds", "1", "-o", p],
        &["capture", "--from", "sim", "--seconds", "1", "-o", p],
        &["export", p, "-o", c],
        &["export", p, "-o", l, "--force"],
        &["report", p, "-o", h],
        &["report", p, "-o", p, "--force"],
        &["capture", "--from", p, "-o", p, "--force"],
        &["config", "pull", "--from", "sim", "-o", t],
    ];
    for args in refused {
        let (code, out, err) = run(args);
        assert!(code == 1 || code == 7, "{args:?}: {code} {out}{err}");
        assert!(err.contains("-o"), "{args:?}: {err}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    for file in [&csv, &html, &toml] {
        assert_eq!(std::fs::read(file).unwrap(), b"mine");
    }
    let forced: [&[&str]; 3] = [
        &["export", p, "-o", c, "--force"],
        &["report", p, "-o", h, "--force"],
        &["config", "pull", "--from", "sim", "-o", t, "--force"],
    ];
    for args in forced {
        let (code, out, err) = run(args);
        assert_eq!(code, 0, "{args:?}: {out}{err}");
    }
}

#[test]
fn a_silent_port_leaves_every_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap");
    let before = std::fs::read(&path).unwrap();
    let fresh = folder.path().join("fresh.mcap");
    let terminal = Terminal::open();
    for (file, force) in [(&path, "--force"), (&fresh, "--force")] {
        let port = arg(&terminal.path);
        let (code, _, err) = run(&["capture", "--from", port, force, "-o", arg(file)]);
        assert_eq!(code, 6, "{err}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(!fresh.exists());
}

#[test]
fn a_second_capture_into_the_same_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let args = [
        "capture",
        "--from",
        "sim",
        "--seconds",
        "4",
        "-o",
        arg(&path),
    ];
    let mut first = stribeck(&args);
    while size(&path) < 4000 && first.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let (code, _, err) = run(&args);
    assert_eq!(code, 1, "{err}");
    let forced = [
        "capture",
        "--from",
        "sim",
        "--seconds",
        "1",
        "--force",
        "-o",
        arg(&path),
    ];
    let (code, _, err) = run(&forced);
    assert_eq!(code, 7, "{err}");
    assert!(err.contains("being recorded"), "{err}");
    let (code, out, err) = output(first);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = run(&["replay", arg(&path)]);
    assert_eq!(code, 0, "{out}{err}");
}

/// Run with standard output and standard error on what cannot be written.
fn run_blind(args: &[&str], device: &str) -> i32 {
    let open = || -> Stdio {
        match device {
            // A pipe whose reader is gone.
            "pipe" => {
                let (reader, writer) = std::io::pipe().unwrap();
                drop(reader);
                writer.into()
            }
            path => std::fs::OpenOptions::new()
                .write(true)
                .open(path)
                .unwrap()
                .into(),
        }
    };
    let status = Command::new(env!("CARGO_BIN_EXE_stribeck"))
        .args(args)
        .stdin(Stdio::null())
        .stdout(open())
        .stderr(open())
        .status()
        .unwrap();
    status.code().unwrap_or(-1)
}

#[test]
fn a_lost_terminal_ends_no_capture_and_panics_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap");
    let p = arg(&path);
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for device in ["pipe", "/dev/full"] {
        let captured = inside(&format!("captured-{}.mcap", device.len()));
        let commands: [Vec<String>; 11] = [
            vec![
                "capture".into(),
                "--from".into(),
                "sim".into(),
                "--arm".into(),
                "--seconds".into(),
                "1".into(),
                "-o".into(),
                captured.clone(),
            ],
            vec!["info".into(), p.into()],
            vec!["replay".into(), p.into()],
            vec![
                "export".into(),
                p.into(),
                "-o".into(),
                inside(&format!("{}.csv", device.len())),
            ],
            vec![
                "report".into(),
                p.into(),
                "-o".into(),
                inside(&format!("{}.html", device.len())),
            ],
            vec!["identify".into(), p.into()],
            vec!["config".into(), "show".into()],
            vec!["doctor".into()],
            vec!["completions".into(), "bash".into()],
            vec![
                "simulate".into(),
                "--seconds".into(),
                "1".into(),
                "-o".into(),
                inside(&format!("s{}.mcap", device.len())),
            ],
            vec!["replay".into(), inside("missing.mcap")],
        ];
        for args in &commands {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let code = run_blind(&args, device);
            assert!((0..=8).contains(&code), "{device} {args:?}: {code}");
        }
        let (code, out, err) = run(&["info", &captured]);
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains(", closed"), "{out}");
    }
}

#[test]
fn every_command_agrees_on_what_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap");
    let whole = std::fs::read(&path).unwrap();
    let mut rng = Rng::new(31);
    let mut damaged = 0;
    for n in 0..30 {
        let mut bytes = whole.clone();
        let at = (rng.bits() as usize) % bytes.len();
        if n % 3 == 0 {
            bytes.truncate(at.max(4000));
        } else {
            bytes[at] ^= 1 << (rng.bits() % 8);
        }
        let bad = folder.path().join(format!("{n}.mcap"));
        std::fs::write(&bad, &bytes).unwrap();
        let out = folder.path().join(format!("{n}.csv"));
        let page = folder.path().join(format!("{n}.html"));
        let codes = [
            run(&["info", arg(&bad)]).0,
            run(&["replay", arg(&bad)]).0,
            run(&["export", arg(&bad), "-o", arg(&out)]).0,
            run(&["report", arg(&bad), "-o", arg(&page)]).0,
            run(&["identify", arg(&bad), "--method", "ekf"]).0,
            run(&["recover", arg(&bad)]).0,
        ];
        // A file cut too early holds nothing to compare, to report (5) or to identify (7): that comes first.
        let said: Vec<i32> = codes.into_iter().filter(|c| ![5, 7].contains(c)).collect();
        assert!(said.iter().all(|c| *c == said[0]), "{n} at {at}: {codes:?}");
        if n % 3 == 0 {
            assert_eq!(said[0], 3, "cut at {at}: {codes:?}");
        }
        damaged += usize::from(said[0] == 3);
    }
    assert!(damaged >= 25, "{damaged} of 30");
}

#[test]
fn a_flipped_closing_record_never_changes_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap");
    let whole = std::fs::read(&path).unwrap();
    let right = run(&["config", "show", arg(&path)]).1;
    let at = whole
        .windows(9)
        .rposition(|w| w == b"\"config\":")
        .expect("the closing record holds the configuration");
    for n in 0..40 {
        let mut bytes = whole.clone();
        bytes[at + 20 + 37 * n] ^= 0x01;
        let bad = folder.path().join("bad.mcap");
        std::fs::write(&bad, &bytes).unwrap();
        let (code, shown, err) = run(&["config", "show", arg(&bad)]);
        assert!(code != 0 || shown == right, "{n}: {err}");
        let (code, out, _) = run(&["info", arg(&bad)]);
        assert_eq!(code, 3, "{n}: {out}");
        assert!(out.contains("closing record is damaged"), "{out}");
    }
}

#[test]
fn times_that_are_no_numbers_are_refused() {
    for bad in ["nan", "inf", "-1", "0", "1e999"] {
        for command in ["capture", "simulate"] {
            let (code, _, err) = run(&[command, &format!("--seconds={bad}")]);
            assert_eq!(code, 2, "{command} {bad}: {err}");
        }
    }
}

#[test]
fn a_device_that_is_reset_in_mid_run_is_said_to_be_in_log_info_and_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let mut terminal = Terminal::open();
    let (mut first, mut second) = (twin(41), twin(42));
    let port = terminal.path.clone();
    let mut child = stribeck(&[
        "capture",
        "--from",
        arg(&port),
        "--arm",
        "--seconds",
        "3",
        "-o",
        arg(&path),
    ]);
    serve(&mut terminal, &mut first, || size(&path) > 20_000);
    serve(&mut terminal, &mut second, || {
        child.try_wait().unwrap().is_some()
    });
    let (code, out, err) = output(child);
    assert_eq!(code, 8, "{out}{err}");
    assert!(out.contains("the device was reset after tick"), "{out}");
    for scan in ["--scan", "--config"] {
        let (code, out, err) = run(&["info", scan, arg(&path)]);
        assert_eq!(code, 8, "{out}{err}");
        assert!(
            out.contains("the device was reset after tick") && out.contains("power on"),
            "{out}"
        );
    }
}

#[test]
fn bombs_and_false_heads_cost_bounded_memory_and_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap");
    let whole = std::fs::read(&path).unwrap();
    let chunk = |uncompressed: u64, compression: &str, records: &[u8]| {
        let mut body = Vec::new();
        body.extend(0u64.to_le_bytes());
        body.extend(0u64.to_le_bytes());
        body.extend(uncompressed.to_le_bytes());
        body.extend(7u32.to_le_bytes());
        body.extend((compression.len() as u32).to_le_bytes());
        body.extend(compression.as_bytes());
        body.extend((records.len() as u64).to_le_bytes());
        body.extend(records);
        let mut record = vec![0x06];
        record.extend((body.len() as u64).to_le_bytes());
        record.extend(body);
        record
    };
    // 4 GB of zeros in a few kilobytes, claimed and not claimed.
    let zeros = zstd::encode_all(std::io::Read::take(std::io::repeat(0), 1 << 32), 1).unwrap();
    for claimed in [1 << 32, 100] {
        let mut bytes = whole[..8].to_vec();
        bytes.extend(chunk(claimed, "zstd", &zeros));
        bytes.extend(&whole[8..]);
        let bad = folder.path().join(format!("bomb{claimed}.mcap"));
        std::fs::write(&bad, &bytes).unwrap();
        let (code, out, err) = run(&["info", arg(&bad)]);
        assert_eq!(code, 3, "{out}{err}");
        assert!(out.contains("cannot be decompressed"), "{out}");
    }
    // Heads of chunks of a megabyte at every 49 bytes: each would have to be checked.
    let mut head = chunk(1 << 20, "", &[]);
    let body = (1u64 << 20) + 40;
    head[1..9].copy_from_slice(&body.to_le_bytes());
    let at = head.len() - 8;
    head[at..].copy_from_slice(&(1u64 << 20).to_le_bytes());
    let mut bytes = whole[..8].to_vec();
    bytes.push(0x7F);
    while bytes.len() < 6 << 20 {
        bytes.extend(&head);
    }
    bytes.extend(&whole[8..]);
    let bad = folder.path().join("heads.mcap");
    std::fs::write(&bad, &bytes).unwrap();
    let (code, out, err) = run(&["info", arg(&bad)]);
    assert!(code == 3 || code == 5, "{code} {out}{err}");
}

#[test]
fn what_was_said_about_a_recording_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let (code, _, err) = run(&[
        "capture",
        "--from",
        "sim",
        "--seconds",
        "0.5",
        "-o",
        arg(&path),
        "--note",
        "new bearing",
        "--operator",
        "M. Muster",
        "--rig-id",
        "furuta-2",
        "--temperature",
        "21.5",
    ]);
    assert_eq!(code, 0, "{err}");
    let (_, out, _) = run(&["info", arg(&path)]);
    for words in [
        "new bearing",
        "M. Muster",
        "furuta-2",
        "21.5",
        "started: 20",
    ] {
        assert!(out.contains(words), "{words} not in {out}");
    }
    // And goes along wherever the log goes.
    let html = folder.path().join("report.html");
    let csv = folder.path().join("run.csv");
    let commands: [(&[&str], &str); 4] = [
        (&["info", "--json", arg(&path)], "/summary/metadata"),
        (&["replay", "--json", arg(&path)], "/metadata"),
        (
            &["report", "--json", arg(&path), "-o", arg(&html)],
            "/report/metadata",
        ),
        (
            &["export", "--json", arg(&path), "-o", arg(&csv)],
            "/metadata",
        ),
    ];
    for (args, place) in commands {
        let (_, out, err) = run(args);
        let value: serde_json::Value = serde_json::from_str(&out).expect(&err);
        let said = value.pointer(place).expect(&out);
        assert_eq!(said["operator"], "M. Muster", "{args:?}");
        assert_eq!(said["temperature_c"], 21.5, "{args:?}");
    }
    let page = std::fs::read_to_string(&html).unwrap();
    for words in ["new bearing", "M. Muster", "furuta-2", "21.5 °C"] {
        assert!(page.contains(words), "{words} not in the report");
    }
    // A capture that was killed keeps it too.
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let (code, out, _) = run(&["info", "--json", arg(&path)]);
    assert_eq!(code, 3);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let said = &value["summary"]["metadata"];
    assert_eq!(said["operator"], "M. Muster");
    assert_eq!(said["notes"][0], "new bearing");
}

#[test]
fn a_damaged_log_is_recovered_and_a_whole_one_annotated() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap");
    let whole = std::fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0xEE);
    bytes.truncate(bytes.len() * 3 / 4);
    let bad = folder.path().join("bad.mcap");
    std::fs::write(&bad, &bytes).unwrap();
    let saved = folder.path().join("saved.mcap");
    let (code, out, err) = run(&["recover", arg(&bad), "-o", arg(&saved)]);
    assert_eq!(code, 3, "{out}{err}");
    assert!(out.contains("saved") && out.contains("not closed"), "{out}");
    let (_, before, _) = run(&["info", "--json", arg(&bad)]);
    let (_, after, _) = run(&["info", "--json", arg(&saved)]);
    let [before, after] = [before, after].map(|t| {
        let value: serde_json::Value = serde_json::from_str(&t).unwrap();
        value
    });
    assert_eq!(before["summary"]["ticks"], after["summary"]["ticks"]);
    assert_eq!(after["closed"], true);
    assert_eq!(after["damage"].as_array().unwrap().len(), 0);

    // A note changes nothing else, and a damaged log gets none.
    let (code, out, err) = run(&["note", arg(&path), "--note", "second run"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, _) = run(&["info", arg(&path)]);
    assert_eq!(code, 0);
    assert!(out.contains("second run"), "{out}");
    let (code, out, _) = run(&["replay", arg(&path)]);
    assert_eq!(code, 0);
    assert!(out.contains("compared 30,000 ticks"), "{out}");
    let (code, _, err) = run(&["note", arg(&bad), "--note", "x"]);
    assert_eq!(code, 5, "{err}");
    assert_eq!(std::fs::read(&bad).unwrap(), bytes);
}

/// What a device says is shown, never executed by the terminal.
#[test]
fn a_refusal_with_terminal_escapes_is_shown_as_text() {
    use stribeck_core::wire::{Frame, Refusal, text};
    let mut terminal = Terminal::open();
    let mut twin = twin(43);
    let port = terminal.path.clone();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let mut child = stribeck(&["capture", "--from", arg(&port), "--arm", "-o", arg(&log)]);
    let mut frames = stribeck::link::frames::Frames::default();
    let begun = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed().as_secs() < 120);
        let asked = terminal.read();
        stribeck::link::source::Source::write(&mut twin, &asked).unwrap();
        let mut bytes = Vec::new();
        stribeck::link::source::Source::read(&mut twin, &mut bytes).unwrap();
        let mut out = Vec::new();
        frames
            .push::<()>(&bytes, |piece| {
                let mut buf = [0; stribeck_core::wire::MAX_FRAME];
                match piece.content {
                    stribeck::link::frames::Content::Frame(Frame::Reply(mut reply)) => {
                        reply.refusal = Some(Refusal::OutOfRange {
                            field: text("\x1b[2Jfield\x07"),
                            value: f32::NAN,
                            min: 0.0,
                            max: 0.0,
                        });
                        let n = Frame::Reply(reply).encode(&mut buf).unwrap();
                        out.extend_from_slice(&buf[..n]);
                    }
                    _ => out.extend_from_slice(piece.bytes),
                }
                Ok(())
            })
            .unwrap();
        terminal.offer(&out);
    }
    let (code, out, err) = output(child);
    assert_ne!(code, 0, "{out}{err}");
    assert!(err.contains("refused") && err.contains("field"), "{err}");
    assert!(!err.contains('\x1b') && !out.contains('\x1b'), "{err:?}");
}

#[test]
fn the_doctor_listens_and_finds_a_faulty_encoder() {
    for (fault, healthy) in [(None, true), (Some("jump@0.6:9000:1"), false)] {
        let mut terminal = Terminal::open();
        let scenario = stribeck::link::scenario::Scenario {
            faults: fault
                .into_iter()
                .map(|f: &str| f.parse().unwrap())
                .collect(),
            ..Default::default()
        };
        let config = stribeck_core::device::config::Config::default();
        let mut twin = stribeck::link::twin::Twin::new(&config, &scenario, None, true);
        let port = terminal.path.clone();
        let mut child = stribeck(&["doctor", "--port", arg(&port)]);
        serve(&mut terminal, &mut twin, || {
            child.try_wait().unwrap().is_some()
        });
        let (code, out, err) = output(child);
        assert!(
            out.contains("blocks in 2 s") && out.contains("tick rate"),
            "{out}{err}"
        );
        // Rate and loss depend on how busy this machine is; the encoders do not.
        assert!(out.contains("ok    encoder 0"), "{out}");
        assert_eq!(out.contains("FAIL  encoder 1"), !healthy, "{out}");
        assert!(code == 6 || healthy, "{out}");
    }
}
