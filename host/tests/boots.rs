//! Several boots in one log: their ticks begin again, and a run never spans two of them. Identify and report see the same runs.

use std::path::Path;

use stribeck::identify::data::import;
use stribeck::link::command;
use stribeck::link::scenario::Scenario;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck::log::recorder::{Recorder, Wall};
use stribeck::report;
use stribeck_core::device::config::Config;
use stribeck_core::wire::Ask;

/// A log of boots of these lengths [s], armed or idle, each cut off by a reset.
fn log_of(path: &Path, boots: &[(f64, bool)]) {
    let mut recorder = Recorder::create(path, Wall::Epoch).unwrap();
    for (n, (seconds, armed)) in boots.iter().enumerate() {
        let scenario = Scenario {
            seed: 100 + n as u64,
            ..Scenario::default()
        };
        let mut twin = Twin::new(&Config::default(), &scenario, Some(*seconds), false);
        if *armed {
            twin.write(&command::frame(1, Ask::Start)).unwrap();
        }
        let mut bytes = Vec::new();
        while twin.read(&mut bytes).unwrap() != Arrival::End {
            recorder.bytes(&bytes, |_| Ok(())).unwrap();
            bytes.clear();
        }
    }
    recorder.finish(|_| Ok(())).unwrap();
}

fn no_extra(_: &report::swing::Swing) -> Vec<report::candidate::Candidate> {
    Vec::new()
}

#[test]
fn two_to_five_boots_are_never_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [&[(f64, bool)]; 5] = [
        &[(3.0, true), (5.0, true)],
        &[(5.0, true), (3.0, true)],
        &[(2.0, false), (4.0, true), (1.0, false)],
        &[(4.0, true), (2.0, false), (1.5, true), (6.0, true)],
        &[
            (1.0, true),
            (6.0, true),
            (1.0, false),
            (4.0, true),
            (0.3, true),
        ],
    ];
    for (n, boots) in cases.into_iter().enumerate() {
        let path = folder.path().join(format!("{n}.mcap"));
        log_of(&path, boots);
        // The links are held for half a second, then swing until the reset.
        let runs: Vec<f64> = boots
            .iter()
            .filter(|(s, armed)| *armed && *s > 0.6)
            .map(|(s, _)| s - 0.55)
            .collect();
        let longest = runs.iter().copied().fold(0.0, f64::max);
        let report = report::build(&path, &report::Options::default(), &no_extra, |_| {}).unwrap();
        assert_eq!(report.runs.len(), runs.len(), "{boots:?}");
        assert_eq!(report.health.resets as usize, boots.len() - 1, "{boots:?}");
        for (run, expected) in report.runs.iter().zip(&runs) {
            assert!((run.seconds - expected).abs() < 0.1, "{run:?} {boots:?}");
        }
        let logged = import::read_log(&path).unwrap();
        let run = logged.run.unwrap();
        let analysis = report.analysis.unwrap();
        assert_eq!(run.number, analysis.number, "{boots:?}");
        let length = *logged.record.t.last().unwrap();
        assert!((length - longest).abs() < 0.1, "{length} s, {boots:?}");
        // Times rise by one tick each: nothing was spliced.
        let steps = logged.record.t.windows(2).map(|t| t[1] - t[0]);
        assert!(steps.into_iter().all(|dt| (dt - 1e-4).abs() < 1e-9));
    }
}

/// Whoever plots the log sorts by these times.
#[test]
fn times_never_run_back_over_a_reset_and_replay_finds_its_tick() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    log_of(&path, &[(3.0, true), (2.0, false), (4.0, true)]);
    let bytes = std::fs::read(&path).unwrap();
    let mut latest: std::collections::HashMap<String, (u64, u64)> = Default::default();
    let mut messages = 0;
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        let now = (message.publish_time, message.log_time);
        let last = latest
            .entry(message.channel.topic.clone())
            .or_insert((0, 0));
        assert!(
            now.0 >= last.0 && now.1 >= last.1,
            "{} runs back from {last:?} to {now:?}",
            message.channel.topic
        );
        *last = now;
        messages += 1;
    }
    assert!(messages > 1000);
    // Nine seconds of three boots are nine seconds.
    let end = latest["/wire/block"].0 as f64 * 1e-9;
    assert!((end - 9.0).abs() < 0.1, "{end} s");
    // A tick is one of its boot: of three boots two have a third second.
    let replay = |from_tick| {
        let options = stribeck::replay::Options {
            from_tick,
            overrides: &[],
        };
        let found = stribeck::replay::replay(&path, &options, |_| {}).unwrap();
        assert_eq!(found.verdict.differing_blocks, 0);
        found.verdict.compared_ticks
    };
    assert!(replay(None) > 85_000);
    let late = replay(Some(29_000));
    assert!((10_000..40_000).contains(&late), "{late}");
}

#[test]
fn without_a_run_the_longest_boot_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("idle.mcap");
    log_of(&path, &[(1.0, false), (3.0, false), (2.0, false)]);
    let logged = import::read_log(&path).unwrap();
    assert!(logged.run.is_none());
    assert!((logged.record.t.last().unwrap() - 3.0).abs() < 0.02);
}
