//! The report of logs made by the native twin: structure of the page, numbers against the known truth, and logs that
//! have gaps, end early, hold several runs, begin in the middle of one or hold none.

use std::path::{Path, PathBuf};

use stribeck::link::command;
use stribeck::link::frames::{Content, Frames};
use stribeck::link::scenario::Scenario;
use stribeck::link::source::{Arrival, Source};
use stribeck::link::twin::Twin;
use stribeck::log::recorder::{Recorder, Wall};
use stribeck::report::candidate::{Candidate, Kind};
use stribeck::report::swing::Start;
use stribeck::report::{self, Options, Report, page};
use stribeck_core::device::config::Config;
use stribeck_core::wire::{self, Ask, Frame, Health, Spread, Status, What};
use tempfile::TempDir;

/// Everything a twin says.
fn stream(seconds: f64, arm: bool, scenario: &Scenario) -> Vec<u8> {
    let mut twin = Twin::new(&Config::default(), scenario, Some(seconds), false);
    if arm {
        twin.write(&command::frame(1, Ask::Start)).unwrap();
    }
    let mut bytes = Vec::new();
    while twin.read(&mut bytes).unwrap() != Arrival::End {}
    bytes
}

/// A log of these streams, one after the other.
fn log(folder: &TempDir, streams: &[Vec<u8>]) -> PathBuf {
    let path = folder.path().join("run.mcap");
    let mut recorder = Recorder::create(&path, Wall::Epoch).unwrap();
    for stream in streams {
        for portion in stream.chunks(4096) {
            recorder.bytes(portion, |_| Ok(())).unwrap();
        }
    }
    recorder.finish(|_| Ok(())).unwrap();
    path
}

fn build(path: &Path, run: Option<usize>) -> Report {
    let options = Options {
        run,
        compare: false,
    };
    report::build(path, &options, &|_| Vec::new(), |_| {}).unwrap()
}

/// Tags close in the order they were opened, and nothing is fetched from anywhere.
fn assert_sound_html(html: &str) {
    let lower = html.to_lowercase();
    for foreign in ["http", "src=", "<script", "url(", "@import", "href="] {
        assert!(!lower.contains(foreign), "{foreign} in the page");
    }
    let mut open: Vec<&str> = Vec::new();
    let body = html.split_once("</style>").unwrap().1;
    let mut rest = body;
    // What stands before the style is closed after it.
    open.extend(["html", "head"]);
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/', '\n'])
            .next()
            .unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "closing tag");
        } else if !tag.ends_with('/') && !["br", "meta"].contains(&name) {
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}>");
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

fn headings(html: &str) -> Vec<&str> {
    html.split("<h2>")
        .skip(1)
        .map(|h| h.split_once("</h2>").unwrap().0)
        .collect()
}

/// Rows of the table of a class.
fn rows<'a>(html: &'a str, class: &str) -> Vec<Vec<&'a str>> {
    let begin = html.find(&format!("<table class=\"{class}\">")).unwrap();
    let table = html[begin..].split_once("</table>").unwrap().0;
    let body = table.split_once("<tbody>").unwrap().1;
    let cells = |row: &'a str| {
        let cells = row.split("</td>").filter(|c| c.contains("<td"));
        cells
            .map(|c| c.rsplit_once("\">").map_or(c, |x| x.1))
            .map(|c| c.trim_start_matches("<tr><td>").trim_start_matches("<td>"))
            .collect()
    };
    body.lines()
        .filter(|l| l.starts_with("<tr>"))
        .map(cells)
        .collect()
}

/// What a device or a person says is text, whatever it looks like.
#[test]
fn texts_of_others_stay_texts() {
    let folder = TempDir::new().unwrap();
    let path = log(&folder, &[stream(1.0, false, &Scenario::default())]);
    let mut report = build(&path, None);
    let hostile = "<script>alert(1)</script>&\"<b>";
    report.metadata.operator = hostile.into();
    report.metadata.notes = vec![hostile.into()];
    report.health.damage = vec![hostile.into()];
    let device = report.health.device.as_mut().unwrap();
    device.board = hostile.into();
    device.last_fault = hostile.into();
    report.log = folder.path().join("a<b>&.mcap");
    let html = page::html(&report);
    assert_sound_html(&html);
    assert!(
        html.matches("&lt;script&gt;alert(1)&lt;/script&gt;&amp;")
            .count()
            >= 6
    );
    assert!(html.contains("<title>Friction report: a&lt;b&gt;&amp;.mcap</title>"));
}

#[test]
fn a_run_gives_the_whole_page_and_the_right_numbers() {
    let folder = TempDir::new().unwrap();
    let scenario = Scenario {
        hold_s: 0.63,
        ..Scenario::default()
    };
    let path = log(&folder, &[stream(16.0, true, &scenario)]);
    let report = build(&path, None);
    let html = page::html(&report);
    assert_sound_html(&html);
    assert_eq!(
        headings(&html),
        [
            "1 Result",
            "2 Run and health",
            "3 Measured and estimated angles",
            "4 Error and gain of the UAS observer",
            "5 Parameters over time",
            "6 Free-run validation",
            "7 Spectrum and phase portrait",
            "8 Residuals",
            "9 Friction torque and velocity",
            "10 What could be identified",
            "11 What these numbers cannot say",
            "12 Configuration of the device",
        ]
    );
    assert_eq!(html.matches("<svg ").count(), 10);
    for number in 1..=10 {
        assert!(html.contains(&format!("<b>Figure {number}.</b>")));
    }
    assert_eq!(rows(&html, "fits").len(), 3);
    assert_eq!(rows(&html, "prior").len(), 10);
    assert_eq!(rows(&html, "identifiability").len(), 4);
    assert_eq!(rows(&html, "residuals").len(), 4);
    assert_eq!(rows(&html, "runs").len(), 1);
    let names: Vec<&str> = rows(&html, "fits").iter().map(|r| r[0]).collect();
    assert_eq!(names, ["initial guess", "UAS", "EKF"]);
    assert!(
        html.contains("every bit equal"),
        "the verdict of the capture"
    );

    let a = report.analysis.unwrap();
    // Released .63 s after power-up; the start was captured up to .25 s earlier.
    let Some(Start::Captured { tick, q }) = a.start else {
        panic!("the start was captured");
    };
    let released = tick as f64 * 1e-4 + a.release;
    assert!((released - 0.63).abs() < 2e-3, "{released}");
    assert!((q[1] - scenario.start[1]).abs() < 2e-4);
    let fit = |kind: Kind, j: usize| {
        let v = a.validated.iter().find(|v| v.candidate.kind == kind);
        v.unwrap().free_run.fit_percent[j].unwrap()
    };
    assert!(
        fit(Kind::Ekf, 0) > 99.0 && fit(Kind::Ekf, 1) > 99.5,
        "{} {}",
        fit(Kind::Ekf, 0),
        fit(Kind::Ekf, 1)
    );
    assert!(
        fit(Kind::InitialGuess, 1) < 50.0,
        "ten times the friction must not fit"
    );
    // The dots know no friction law and must lie on the true one.
    let measured = &a.torque[1];
    let truth = scenario.friction[1];
    let fast = measured.points.iter().filter(|p| p.w.abs() > 0.5);
    let ratios: Vec<f64> = fast
        .map(|p| p.torque / truth.torque(p.w, measured.normal))
        .collect();
    assert!(ratios.len() > 10);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((mean - 1.0).abs() < 0.1, "{mean}: {ratios:?}");
}

#[test]
fn the_true_friction_as_a_further_set_fits_almost_perfectly() {
    let folder = TempDir::new().unwrap();
    let scenario = Scenario::default();
    let path = log(&folder, &[stream(12.0, true, &scenario)]);
    let truth = |_: &report::swing::Swing| {
        vec![Candidate {
            name: "truth <&>".into(),
            kind: Kind::Offline,
            friction: scenario.friction,
            estimates: Vec::new(),
        }]
    };
    let report = report::build(&path, &Options::default(), &truth, |_| {}).unwrap();
    let html = page::html(&report);
    assert_sound_html(&html);
    assert_eq!(rows(&html, "fits")[3][0], "truth &lt;&amp;&gt;");
    let fits = &report.analysis.unwrap().validated[3].free_run.fit_percent;
    assert!(fits.iter().all(|f| f.unwrap() > 99.99), "{fits:?}");
}

#[test]
fn nothing_swung_still_gives_the_health() {
    let folder = TempDir::new().unwrap();
    let path = log(&folder, &[stream(3.0, false, &Scenario::default())]);
    let report = build(&path, None);
    assert!(report.analysis.is_none());
    assert_eq!(report.health.ticks, 30_000);
    let html = page::html(&report);
    assert_sound_html(&html);
    assert!(html.contains("Nothing swung."));
    assert_eq!(html.matches("<svg ").count(), 0);
    let error = report::build(
        &path,
        &Options {
            run: Some(1),
            compare: false,
        },
        &|_| Vec::new(),
        |_| {},
    );
    assert!(error.err().unwrap().to_string().contains("no run 1"));
}

#[test]
fn gaps_and_a_cut_file_are_reported_and_survived() {
    let folder = TempDir::new().unwrap();
    let scenario = Scenario {
        faults: vec!["drop@4:30".parse().unwrap(), "corrupt@6:1".parse().unwrap()],
        ..Scenario::default()
    };
    let path = log(&folder, &[stream(12.0, true, &scenario)]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() * 4 / 5]).unwrap();
    let report = build(&path, None);
    assert_eq!(
        report.health.verification.by, "report",
        "no verdict left in the file"
    );
    assert!(report.health.verification.compared_ticks > 50_000);
    assert_eq!(report.health.losses.lost_ticks, 3100);
    assert!(!report.health.damage.is_empty() && !report.health.is_sound());
    assert_eq!(report.runs[0].lost_ticks, 3100);
    let html = page::html(&report);
    assert_sound_html(&html);
    assert!(html.contains("Losses by place"));
    let a = report.analysis.unwrap();
    assert!(!a.rested && a.seconds > 7.0);
    let ekf = a
        .validated
        .iter()
        .find(|v| v.candidate.kind == Kind::Ekf)
        .unwrap();
    assert!(
        ekf.free_run.fit_percent[1].unwrap() > 98.0,
        "{:?}",
        ekf.free_run.fit_percent
    );
}

#[test]
fn the_longest_of_several_runs_or_the_one_asked_for() {
    let folder = TempDir::new().unwrap();
    let scenarios = [1, 2, 3].map(|seed| Scenario {
        seed,
        ..Scenario::default()
    });
    let streams = [
        stream(3.0, true, &scenarios[0]),
        stream(6.0, true, &scenarios[1]),
        stream(2.0, true, &scenarios[2]),
    ];
    let path = log(&folder, &streams);
    let report = build(&path, None);
    assert_eq!(report.runs.len(), 3);
    assert_eq!((report.health.segments, report.health.resets), (3, 2));
    let a = report.analysis.as_ref().unwrap();
    assert!(
        a.number == 2 && (a.seconds - 5.5).abs() < 0.01,
        "{} {}",
        a.number,
        a.seconds
    );
    let third = build(&path, Some(3)).analysis.unwrap();
    assert!(third.number == 3 && (third.seconds - 1.5).abs() < 0.01);
    let html = page::html(&report);
    assert_sound_html(&html);
    assert_eq!(rows(&html, "runs")[1][6], "this report");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["analysis"]["validated"][2]["name"], "EKF");
    assert_eq!(json["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_log_that_begins_in_the_middle_of_a_run() {
    let folder = TempDir::new().unwrap();
    let bytes = stream(10.0, true, &Scenario::default());
    // Only the introduction, then everything from 5 s on. Whoever joins a port waits for the first delimiter.
    let mut late = vec![0];
    Frames::default()
        .push::<()>(&bytes, |piece| {
            let keep = match &piece.content {
                Content::Frame(Frame::Block(b)) => b.first_tick >= 50_000,
                Content::Frame(Frame::Event(e)) => !matches!(e.what, What::Run { .. }),
                Content::Frame(Frame::Hello(h)) => h.initial.is_none(),
                Content::Frame(_) => true,
                _ => false,
            };
            if keep {
                late.extend_from_slice(piece.bytes);
            }
            Ok(())
        })
        .unwrap();
    let path = log(&folder, &[late]);
    let report = build(&path, None);
    let html = page::html(&report);
    assert_sound_html(&html);
    let a = report.analysis.expect("a run");
    assert!(
        matches!(a.start, Some(Start::Joined { .. })),
        "{:?}",
        a.start
    );
    assert!(html.contains("Its beginning is not in the log"));
    let ekf = a
        .validated
        .iter()
        .find(|v| v.candidate.kind == Kind::Ekf)
        .unwrap();
    assert!(
        ekf.free_run.fit_percent[1].unwrap() > 97.0,
        "{:?}",
        ekf.free_run.fit_percent
    );
}

#[test]
fn the_tick_load_is_drawn_when_the_device_measured_it() {
    let folder = TempDir::new().unwrap();
    let mut bytes = stream(1.0, false, &Scenario::default());
    for (tick, max) in [(20_000, 11_000), (30_000, 12_000)] {
        // 40,000 cycles per tick.
        let health = Health {
            clock_hz: 400_000_000,
            tick_cycles: Spread {
                min: 9_000,
                max,
                mean: 10_000.0,
                sigma: 100.0,
            },
            missed_ticks: 7,
            ..Health::default()
        };
        let status = Status {
            tick,
            health,
            ..Status::default()
        };
        let mut frame = [0; wire::MAX_FRAME];
        let n = wire::encode(&status, &mut frame).unwrap();
        bytes.extend_from_slice(&frame[..n]);
    }
    let report = build(&log(&folder, &[bytes]), None);
    let load = report.health.load.unwrap();
    assert!((load.mean_percent - 25.0).abs() < 1e-9 && (load.max_percent - 30.0).abs() < 1e-9);
    assert!(!report.health.is_sound(), "seven ticks were missed");
    let html = page::html(&report);
    assert_sound_html(&html);
    assert_eq!(html.matches("<svg ").count(), 1);
    assert!(html.contains("mean 25.0 %, largest 30.0 %"));
}
