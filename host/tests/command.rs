//! The program as a user meets it: what it prints, what it refuses, how it exits.

mod board;

use std::path::{Path, PathBuf};

use board::{arg, run};

/// A short simulated log.
fn log(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let mut args = vec!["simulate", "--seconds", "3", "-o", arg(&path)];
    args.extend(more);
    let (code, out, err) = run(&args);
    assert!(code == 0 || code == 3, "{out}{err}");
    path
}

#[test]
fn simulate_replay_info_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap", &[]);
    let (code, out, _) = run(&["replay", arg(&path)]);
    assert_eq!(code, 0);
    assert!(
        out.contains("compared 30,000 ticks") && out.contains("0 differing bits"),
        "{out}"
    );
    let (code, quick, _) = run(&["info", arg(&path)]);
    assert_eq!(code, 0);
    assert!(
        quick.contains("3.00 s, 30,000 ticks") && quick.contains("armed → swinging"),
        "{quick}"
    );
    let (code, scanned, _) = run(&["info", "--scan", arg(&path)]);
    assert_eq!(code, 0);
    assert!(
        scanned.contains("3.00 s, 30,000 ticks") && scanned.contains("armed → swinging"),
        "{scanned}"
    );
}

#[test]
fn the_same_simulation_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name, more: &[&str]| std::fs::read(log(folder.path(), name, more)).unwrap();
    let a = read("a.mcap", &["--noise", "3", "--seed", "5"]);
    assert!(a == read("b.mcap", &["--noise", "3", "--seed", "5"]));
    assert!(a != read("c.mcap", &["--noise", "3", "--seed", "6"]));
}

#[test]
fn the_log_stays_small_and_the_stream_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let (code, out, err) = run(&[
        "simulate",
        "--seconds",
        "10",
        "--noise",
        "5",
        "--json",
        "-o",
        arg(&path),
    ]);
    assert_eq!(code, 0, "{err}");
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    let wire = summary["summary"]["bytes"].as_f64().unwrap() / 10.0;
    assert!(wire <= 100_000.0, "{wire} B/s on the wire");
    let file = std::fs::metadata(&path).unwrap().len() as f64 * 6.0;
    assert!(file <= 6e6, "{file} bytes per minute");
}

#[test]
fn injected_faults_are_reported_with_their_place_and_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let (code, out, _) = run(&[
        "simulate",
        "--seconds",
        "3",
        "-o",
        arg(&path),
        "--fault",
        "drop@1:3",
        "--fault",
        "corrupt@1.5:2",
        "--fault",
        "duplicate@2:1",
        "--fault",
        "reorder@2.5:1",
    ]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("lost 500 ticks in 5 blocks"), "{out}");
    assert!(
        out.contains("2 damaged frames")
            && out.contains("1 duplicated blocks")
            && out.contains("1 blocks out of order"),
        "{out}"
    );
    // The log tells the same story afterwards.
    let (code, scanned, _) = run(&["info", "--scan", arg(&path)]);
    assert_eq!(code, 3);
    assert!(
        scanned.contains("lost 500 ticks in 5 blocks") && scanned.contains("2 damaged frames"),
        "{scanned}"
    );
    let (code, out, _) = run(&["replay", arg(&path)]);
    assert_eq!(
        code, 3,
        "what arrived is equal, and something is missing: {out}"
    );
    assert!(out.contains("0 differing bits"), "{out}");
}

#[test]
fn replay_from_the_middle_and_beyond_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap", &[]);
    let (code, out, _) = run(&["replay", arg(&path), "--from-tick", "25000", "--json"]);
    assert_eq!(code, 0, "{out}");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let compared = value["verdict"]["compared_ticks"].as_u64().unwrap();
    assert!((5_000..=16_000).contains(&compared), "{compared}");
    let (code, _, err) = run(&["replay", arg(&path), "--from-tick", "99999999"]);
    assert_eq!(code, 5, "{err}");
    assert!(err.contains("not a single tick"), "{err}");
}

#[test]
fn replay_with_other_settings_shows_both_outcomes() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap", &[]);
    let (code, out, err) = run(&[
        "replay",
        arg(&path),
        "--override",
        "tracker.bandwidth_hz=60.0",
    ]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("as recorded") && out.contains("with overrides"),
        "{out}"
    );
    let (code, _, err) = run(&["replay", arg(&path), "--override", "tracker.bandwidth=60"]);
    assert_eq!(code, 7, "{err}");
    assert!(err.contains("tracker.bandwidth"), "{err}");
}

#[test]
fn files_that_are_no_logs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.mcap");
    std::fs::write(&empty, b"").unwrap();
    let text = folder.path().join("text.mcap");
    std::fs::write(&text, b"time,theta\n").unwrap();
    let missing = folder.path().join("missing.mcap");
    for command in ["replay", "info"] {
        for (path, code, words) in [
            (&empty, 7, "empty"),
            (&text, 7, "not a log"),
            (&missing, 6, "cannot read"),
        ] {
            let (found, _, err) = run(&[command, arg(path)]);
            assert_eq!(found, code, "{command} {err}");
            assert!(err.contains(words), "{command}: {err}");
        }
    }
}

#[test]
fn a_log_of_another_arithmetic_is_refused() {
    use stribeck::link::frames::{Content, Frames};
    use stribeck::log::Topic;
    use stribeck::log::read::LogReader;
    use stribeck::log::write::LogWriter;
    use stribeck_core::wire::Frame;

    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap", &[]);
    let old = folder.path().join("old.mcap");
    let mut from = LogReader::open(&path).unwrap();
    let mut to = LogWriter::create(&old, false).unwrap();
    while let Some(item) = from.read_next().unwrap() {
        let mut bytes = item.data.to_vec();
        if item.topic == Topic::Hello {
            Frames::default()
                .push::<()>(item.data, |piece| {
                    let Content::Frame(Frame::Hello(mut hello)) = piece.content else {
                        panic!()
                    };
                    hello.numerics += 1;
                    bytes = vec![0; stribeck_core::wire::MAX_FRAME];
                    let n = stribeck_core::wire::encode(&hello, &mut bytes).unwrap();
                    bytes.truncate(n);
                    Ok(())
                })
                .unwrap();
        }
        if item.topic.is_wire() {
            to.frame(item.topic, item.at, &bytes).unwrap();
        }
    }
    to.finish(Default::default()).unwrap();
    let (code, _, err) = run(&["replay", arg(&old)]);
    assert_eq!(code, 5, "{err}");
    let other = format!(
        "arithmetic is version {}",
        stribeck_core::wire::NUMERICS + 1
    );
    assert!(err.contains(&other), "{err}");
}

#[test]
fn a_log_of_another_wire_layout_is_refused_with_the_reason() {
    use stribeck::log::Topic;
    use stribeck::log::write::{LogWriter, Stamp};

    // A sound frame of a kind nobody knows yet, where the Hello should be.
    let plain = [99u8, 1, 7, 7];
    let crc = stribeck_core::wire::crc32(&plain).to_le_bytes();
    let mut frame = vec![9];
    frame.extend(plain);
    frame.extend(crc);
    frame.push(0);
    assert!(!frame[..9].contains(&0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("future.mcap");
    let mut log = LogWriter::create(&path, false).unwrap();
    log.frame(Topic::Hello, Stamp::default(), &frame).unwrap();
    log.finish(Default::default()).unwrap();
    for command in ["replay", "info"] {
        let (code, _, err) = run(&[command, arg(&path)]);
        assert_eq!(code, 5, "{err}");
        assert!(err.contains("wire layout is of another version"), "{err}");
    }
}

#[test]
fn a_log_cut_short_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.mcap", &[]);
    let bytes = std::fs::read(&path).unwrap();
    let cut = folder.path().join("cut.mcap");
    std::fs::write(&cut, &bytes[..bytes.len() / 2 + 3]).unwrap();
    let (code, out, _) = run(&["info", arg(&cut)]);
    assert_eq!(code, 3, "{out}");
    assert!(
        out.contains("not closed") && out.contains("ends inside a message"),
        "{out}"
    );
    let (code, out, _) = run(&["replay", arg(&cut)]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("not closed"), "{out}");
}

#[test]
fn a_full_disk_is_reported_and_costs_only_the_rest() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let (code, _, err) = run(&["simulate", "--seconds", "3", "-o", "/dev/full"]);
    assert_eq!(code, 1, "{err}");
    assert!(
        err.contains("/dev/full") && err.contains("No space left"),
        "{err}"
    );
    assert!(err.contains("help:"), "{err}");
}

/// Every command there is, from the program itself.
fn commands() -> Vec<String> {
    use clap::CommandFactory;
    let program = stribeck::cli::Cli::command();
    let names = program.get_subcommands().map(|c| c.get_name().to_owned());
    names.collect()
}

#[test]
fn help_and_completions_name_every_command() {
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, 0);
    assert!(help.contains("Exit codes"));
    let (code, script, _) = run(&["completions", "bash"]);
    assert_eq!(code, 0);
    let commands = commands();
    assert!(commands.len() >= 16, "{commands:?}");
    for command in &commands {
        assert!(
            help.contains(command) && script.contains(command),
            "{command}"
        );
        let (code, text, _) = run(&[command, "--help"]);
        assert_eq!(code, 0);
        assert!(text.contains("Example"), "{command} --help has no example");
    }
}

/// Every option has a text, and none stands under a heading that is not its own.
#[test]
fn every_option_is_explained_under_its_own_heading() {
    use clap::CommandFactory;
    fn check(command: &clap::Command, path: &str) {
        let bench = [
            "rig", "scenario", "joint0", "joint1", "start", "noise", "seed", "hold", "fault",
        ];
        let about = ["note", "operator", "rig_id", "temperature"];
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            if ["help", "version"].contains(&id) {
                continue;
            }
            assert!(
                arg.get_help().is_some_and(|h| !h.to_string().is_empty()),
                "{path}: {id} has no text"
            );
            let heading = arg.get_help_heading().unwrap_or_default();
            assert!(
                !heading.starts_with("Simulated bench") || bench.contains(&id),
                "{path}: {id} under {heading:?}"
            );
            assert!(
                !heading.starts_with("About") || about.contains(&id),
                "{path}: {id} under {heading:?}"
            );
        }
        for inner in command.get_subcommands() {
            if inner.get_name() != "help" {
                check(inner, &format!("{path} {}", inner.get_name()));
            }
        }
    }
    let mut program = stribeck::cli::Cli::command();
    program.build();
    check(&program, "stribeck");
    let identify = program.find_subcommand("identify").unwrap();
    let method = identify.get_arguments().find(|a| a.get_id() == "method");
    for value in method.unwrap().get_possible_values() {
        let text = value.get_help().map(ToString::to_string);
        assert!(text.is_some_and(|t| !t.is_empty()), "{}", value.get_name());
    }
}

/// The words of a shell line.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut open) = (false, false);
    for c in line.chars() {
        match c {
            '"' => (quoted, open) = (!quoted, true),
            ' ' if !quoted => {
                if open || !words.last().unwrap().is_empty() {
                    words.push(String::new());
                }
                open = false;
            }
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// Command lines in a help text, without comments and redirections.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start);
    lines
        .filter_map(|line| {
            line.strip_prefix("$ ")
                .or(line.starts_with("stribeck ").then_some(line))
        })
        .filter_map(|line| line.strip_prefix("stribeck "))
        .map(|line| {
            let ends = [" #", " > ", "   "].map(|mark| line.find(mark).unwrap_or(line.len()));
            let end = ends.into_iter().min().unwrap_or(0);
            line[..end].trim().to_owned()
        })
        .collect()
}

#[test]
fn the_examples_in_the_help_are_accepted_and_run() {
    use clap::{CommandFactory, Parser};
    let folder = tempfile::tempdir().unwrap();
    let (mut found, mut ran) = (0, 0);
    let program = env!("CARGO_BIN_EXE_stribeck");
    let simulated = ["simulate", "--seconds", "3", "-o", "run.mcap"];
    let all = stribeck::cli::Cli::command();
    for subcommand in all.get_subcommands() {
        // As written: the program wraps long lines.
        let command = subcommand.get_name();
        let help = subcommand.get_after_help();
        let help = help.map_or(String::new(), |text| text.to_string());
        for example in examples(&help) {
            found += 1;
            let words = words(&example);
            let parsed = stribeck::cli::Cli::try_parse_from(
                std::iter::once("stribeck".to_owned()).chain(words.clone()),
            );
            assert!(
                parsed.is_ok(),
                "{command}: {example}: {}",
                parsed.unwrap_err()
            );
            // Those that need no hardware, no other file than a log and no long time also do what they say.
            let quick = [
                "simulate", "replay", "info", "export", "report", "recover", "note",
            ];
            if !quick.contains(&words[0].as_str()) {
                continue;
            }
            let _ = std::fs::remove_dir_all(folder.path());
            std::fs::create_dir(folder.path()).unwrap();
            for args in [&simulated.map(str::to_owned)[..], &words[..]] {
                if words[0] == "simulate" && args[0] == "simulate" && args != &words[..] {
                    continue;
                }
                let out = std::process::Command::new(program)
                    .args(args)
                    .current_dir(folder.path())
                    .output()
                    .unwrap();
                let code = out.status.code().unwrap_or(-1);
                let err = String::from_utf8_lossy(&out.stderr);
                assert!(code == 0 || code == 3, "{example}: {code} {err}");
            }
            ran += 1;
        }
    }
    assert!(found >= 20 && ran >= 8, "{found} examples found, {ran} run");
}

#[test]
fn configuration_files_are_shown_changed_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rig = folder.path().join("rig.toml");
    let (code, out, err) = run(&[
        "config",
        "edit",
        arg(&rig),
        "--set",
        "plant.Furuta.tilt=0.5",
    ]);
    assert_eq!(code, 0, "{out}{err}");
    let (_, shown, _) = run(&["config", "show", arg(&rig)]);
    assert!(shown.contains("tilt = 0.5 "), "{shown}");
    let (code, _, err) = run(&["config", "edit", arg(&rig), "--set", "plant.Furuta.m1=-1.0"]);
    assert_eq!(code, 7);
    assert!(err.contains("m1") && err.contains("help:"), "{err}");
    let (code, out, err) = run(&["config", "pull", "--from", "sim", "--rig", arg(&rig)]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out, shown);
    let (code, out, err) = run(&["config", "push", arg(&rig), "--from", "sim"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("in force from tick"), "{out}");
}

#[test]
fn demo_shows_everything_and_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo");
    let (code, out, err) = run(&["demo", "--seconds", "20", "-o", arg(&demo)]);
    assert_eq!(code, 0, "{out}{err}");
    for words in [
        "200,000 ticks",
        "lost nothing",
        "0 differing bits",
        "μd1",
        "EKF",
    ] {
        assert!(out.contains(words), "{words} not in\n{out}");
    }
    for file in ["run.mcap", "rig.toml", "report.html"] {
        assert!(demo.join(file).exists(), "{file}");
    }
    let (code, _, err) = run(&["config", "validate", arg(&demo.join("rig.toml"))]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn an_edited_configuration_keeps_its_comments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rig.toml");
    let text = "# my rig\n[plant.Furuta]\ntilt = 0.5 # by hand\n\n# why\n[run]\nauto_arm = false\n";
    std::fs::write(&path, text).unwrap();
    let (code, out, err) = run(&[
        "config",
        "edit",
        arg(&path),
        "--set",
        "plant.Furuta.tilt=0.6",
        "--set",
        "ekf.drag=true",
        "--set",
        "encoders[1].counts_per_rev=4096",
    ]);
    assert_eq!(code, 0, "{out}{err}");
    let edited = std::fs::read_to_string(&path).unwrap();
    for words in [
        "# my rig",
        "tilt = 0.6 # by hand",
        "# why\n[run]",
        "drag = true",
    ] {
        assert!(edited.contains(words), "{words} not in\n{edited}");
    }
    assert!(!edited.contains("m1 ="), "only what differs:\n{edited}");
    let (code, json, _) = run(&["config", "show", "--json", arg(&path)]);
    assert_eq!(code, 0);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["encoders"][1]["counts_per_rev"], 4096);
    assert_eq!(value["encoders"][0]["counts_per_rev"], 40000);
    assert_eq!(value["ekf"]["drag"], true);
    // A value that is not allowed changes nothing.
    let (code, _, _) = run(&["config", "edit", arg(&path), "--set", "ekf.substeps=101"]);
    assert_eq!(code, 7);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), edited);
}
