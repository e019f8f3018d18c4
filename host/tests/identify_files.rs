//! `stribeck identify` as a user meets it: files of every kind, and what it says about the ones it cannot use.

// Signals are made with the platform's mathematics.
#![allow(clippy::disallowed_methods)]

mod board;
mod records;

use std::f64::consts::PI;
use std::path::{Path, PathBuf};

use board::{arg, run};

/// Time [s] and angle [rad] of a pendulum's decay: ω0² = 25, b/J = 0.16, c/J = 0.02, every hundredth of a second.
fn swing() -> Vec<(f64, f64)> {
    let rate = |[x, v]: [f64; 2]| [v, -25.0 * x.sin() - 0.16 * v - 0.02 * (v / 0.005).tanh()];
    let moved = |[x, v]: [f64; 2], [a, b]: [f64; 2], h: f64| [x + h * a, v + h * b];
    let (mut y, h) = ([0.3, 0.0], 1e-3);
    let mut rows = Vec::new();
    for i in 0..15_000 {
        if i % 10 == 0 {
            rows.push((f64::from(i) * h, y[0]));
        }
        let k1 = rate(y);
        let k2 = rate(moved(y, k1, 0.5 * h));
        let k3 = rate(moved(y, k2, 0.5 * h));
        let k4 = rate(moved(y, k3, h));
        for n in 0..2 {
            y[n] += h / 6.0 * (k1[n] + 2.0 * k2[n] + 2.0 * k3[n] + k4[n]);
        }
    }
    rows
}

fn table(rows: &[(f64, f64)], line: impl Fn(usize, f64, f64) -> String) -> String {
    let body: String = rows
        .iter()
        .enumerate()
        .map(|(i, &(t, x))| line(i, t, x))
        .collect();
    format!("t,angle\n{body}")
}

fn plain(rows: &[(f64, f64)]) -> String {
    table(rows, |_, t, x| format!("{t:.4},{x:.7}\n"))
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// ω0² by the energy method, from the JSON of one file.
fn omega0_sq(args: &[&str]) -> f64 {
    let mut all = vec!["identify", "--method", "energy", "--json"];
    all.extend(args);
    let (code, out, err) = run(&all);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let first = &json[0]["results"][0]["estimates"][0];
    assert_eq!(first["name"], "ω0²");
    first["value"].as_f64().unwrap()
}

#[test]
fn bad_files_are_refused_with_the_line_the_reason_and_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let rows = swing();
    let at_700 = |cell: &str| {
        let cell = cell.to_string();
        table(&rows, move |i, t, x| {
            if i == 700 {
                format!("{t:.4},{cell}\n")
            } else {
                format!("{t:.4},{x:.7}\n")
            }
        })
    };
    let mut back = rows.clone();
    back[800].0 = 3.0;
    let clipped: Vec<_> = rows.iter().map(|&(t, x)| (t, x.clamp(-0.1, 0.1))).collect();
    let still: Vec<_> = rows.iter().map(|&(t, _)| (t, 0.25)).collect();
    let rubbish: Vec<u8> = (0..5000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let cases: [(&str, Vec<u8>, &str, &str); 12] = [
        (
            "nan.csv",
            at_700("NaN").into(),
            ":702: the angle is not a number",
            "remove the line",
        ),
        (
            "inf.csv",
            at_700("inf").into(),
            ":702: the angle is not a number",
            "remove the line",
        ),
        (
            "text.csv",
            at_700("oops").into(),
            ":702: \"oops\" is not a number",
            "repair the line",
        ),
        (
            "wide.csv",
            at_700("1,2").into(),
            ":702: 3 columns, expected 2",
            "repair the line",
        ),
        (
            "back.csv",
            plain(&back).into(),
            ":802: time goes back",
            "--rate",
        ),
        (
            "short.csv",
            plain(&rows[..30]).into(),
            "30 samples, at least 50",
            "record until",
        ),
        (
            "still.csv",
            plain(&still).into(),
            "no motion",
            "choose another column",
        ),
        (
            "clip.csv",
            plain(&clipped).into(),
            "clipped at",
            "record again",
        ),
        (
            "empty.csv",
            Vec::new(),
            "no line of numbers",
            "table of numbers",
        ),
        ("rubbish.csv", rubbish.clone(), "rubbish.csv", "help"),
        (
            "rubbish.parquet",
            rubbish.clone(),
            "not a readable Parquet file",
            "help",
        ),
        ("rubbish.mcap", rubbish, "is not a log", "stribeck capture"),
    ];
    for (name, content, reason, way_out) in cases {
        let path = write(folder.path(), name, content);
        let (code, out, err) = run(&["identify", arg(&path)]);
        assert_ne!(code, 0, "{name}");
        assert!(out.is_empty(), "{name}: {out}");
        assert!(err.contains(reason), "{name}: {err}");
        assert!(err.contains(way_out), "{name}: {err}");
    }
}

#[test]
fn bad_arguments_are_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let good = write(folder.path(), "good.csv", plain(&swing()));
    let nowhere = folder.path().join("nowhere.csv");
    let two = write(
        folder.path(),
        "two.csv",
        table(&swing(), |_, t, x| {
            format!("{t:.4},{x:.7},{:.7}\n", 0.5 * x)
        })
        .replace("t,angle", "t,a,b"),
    );
    let cases: [(&[&str], &str, &str); 12] = [
        (
            &[arg(&two), "--plant", "pendulum", "--angle", "a,b"],
            "a pendulum has one angle, 2 are given",
            "one column",
        ),
        (
            &[arg(&two), "--angle", "a,b"],
            "two angles need the rig",
            "stribeck config show",
        ),
        (&[arg(&good), "--rate", "1e-300"], "is no rate", "--time"),
        (
            &[arg(&good), "--reference", "up"],
            "from hanging",
            "--reference",
        ),
        (&[arg(&nowhere)], "cannot read", "check the path"),
        (&[arg(folder.path())], "is a directory", "*.csv"),
        (
            &[arg(&good), "--angle", "speed"],
            "there is no column speed",
            "t, angle",
        ),
        (
            &[arg(&good), "--angle", "7"],
            "there is no column 7",
            "t, angle",
        ),
        (
            &[arg(&good), "--unit", "turns"],
            "turns",
            "rad, deg, counts",
        ),
        (
            &[arg(&good), "--unit", "counts"],
            "count's size",
            "--counts-per-rev",
        ),
        (
            &[arg(&good), "--terms", "magic"],
            "unknown friction terms",
            "coulomb",
        ),
        (&[arg(&good), "--rate", "0"], "0 Hz is no rate", "--time"),
    ];
    for (args, reason, way_out) in cases {
        let mut all = vec!["identify"];
        all.extend(args);
        let (code, _, err) = run(&all);
        assert_ne!(code, 0, "{args:?}");
        assert!(
            err.contains(reason) && err.contains(way_out),
            "{args:?}: {err}"
        );
    }
}

#[test]
fn the_same_swing_in_any_form_gives_the_same_pendulum() {
    let folder = tempfile::tempdir().unwrap();
    let rows = swing();
    let file = |name: &str, text: String| write(folder.path(), name, text);
    let degrees: Vec<_> = rows.iter().map(|&(t, x)| (t, x.to_degrees())).collect();
    let up: Vec<_> = rows.iter().map(|&(t, x)| (t, x + PI)).collect();
    // Every third sample left out where the time stamps allow it.
    let uneven: Vec<_> = rows
        .iter()
        .enumerate()
        .filter(|(i, _)| i % 3 != 1 || i % 7 == 0)
        .map(|(_, r)| *r)
        .collect();
    let rad = file("rad.csv", plain(&rows));
    let truth = omega0_sq(&[arg(&rad)]);
    assert!((truth / 25.0 - 1.0).abs() < 0.02, "{truth}");
    let deg = file("deg.csv", plain(&degrees));
    let counts = file(
        "counts.csv",
        table(&rows, |_, t, x| {
            format!("{t:.4},{}\n", (x / PI * 32768.0).round())
        }),
    );
    let up = file("up.csv", plain(&up));
    let tabs = file("tabs.txt", plain(&rows).replace(',', "\t"));
    let semicolons = file("semicolons.txt", plain(&rows).replace(',', ";"));
    let bare: String = rows.iter().map(|(_, x)| format!("{x:.7}\n")).collect();
    let bare = file("bare.txt", bare);
    let uneven = file("uneven.csv", plain(&uneven));
    let cases: [&[&str]; 8] = [
        &[arg(&deg), "--unit", "deg"],
        &[
            arg(&counts),
            "--unit",
            "counts",
            "--counts-per-rev",
            "65536",
        ],
        &[arg(&up)],
        &[arg(&up), "--reference", "up"],
        &[arg(&tabs)],
        &[arg(&semicolons), "--time", "t", "--angle", "angle"],
        &[arg(&bare), "--rate", "100"],
        &[arg(&uneven)],
    ];
    for args in cases {
        let found = omega0_sq(args);
        assert!((found / truth - 1.0).abs() < 2e-3, "{args:?}: {found}");
    }
}

#[test]
fn the_table_says_what_is_known_and_the_pictures_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let good = write(folder.path(), "good.csv", plain(&swing()));
    let svg = folder.path().join("out.svg");
    let both = [arg(&good), arg(&good)];
    let (code, out, err) = run(&[
        "identify",
        both[0],
        both[1],
        "--method",
        "all",
        "--plot",
        arg(&svg),
    ]);
    assert_eq!(code, 0, "{err}");
    for word in [
        "estimate",
        "std. error",
        "95 % interval",
        "unit",
        "identifiable",
        "BIC",
        "held-out",
        "residual RMS",
        "normalised time",
        "greybox: explained",
        "energy",
        "logdec",
        "ekf",
        "singleshoot",
    ] {
        assert!(out.contains(word), "{word} is missing:\n{out}");
    }
    for name in ["out-1.svg", "out-2.svg"] {
        let picture = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(picture.contains("residual [rad]"), "{name}");
    }
}

/// A ramp never turns round: every method says so, none panics.
#[test]
fn a_ramp_is_no_swing() {
    let folder = tempfile::tempdir().unwrap();
    let ramp: Vec<_> = (0..600)
        .map(|i| f64::from(i) * 0.01)
        .map(|t| (t, 0.2 * t))
        .collect();
    let step: Vec<_> = ramp
        .iter()
        .map(|&(t, _)| (t, if t < 3.0 { 0.4 } else { 0.1 }))
        .collect();
    let tooth: Vec<_> = ramp
        .iter()
        .map(|&(t, _)| (t, 0.3 * (t * 0.7).fract()))
        .collect();
    // One radian per second turns on and on: a pendulum without weight or friction would.
    let turning: Vec<_> = (0..400)
        .map(|i| f64::from(i) * 0.0125)
        .map(|t| (t, t))
        .collect();
    for (name, rows) in [
        ("ramp.csv", ramp),
        ("step.csv", step),
        ("tooth.csv", tooth),
        ("turning.csv", turning),
    ] {
        let path = write(folder.path(), name, plain(&rows));
        for method in ["logdec", "energy", "greybox", "ekf", "all"] {
            let (code, out, err) = run(&["identify", arg(&path), "--method", method]);
            assert!([5, 7].contains(&code), "{name} {method}: {code} {out}{err}");
            assert!(!err.contains("panicked"), "{name} {method}: {err}");
        }
    }
}

/// Swings that grow are driven by something: no friction explains them, whatever the method.
#[test]
fn motion_that_gains_energy_is_not_explained() {
    let folder = tempfile::tempdir().unwrap();
    let growing: Vec<_> = (0..400)
        .map(|i| f64::from(i) * 0.01)
        .map(|t| (t, 0.1 * (0.3 * t).exp() * (4.0 * t).sin()))
        .collect();
    let path = write(folder.path(), "growing.csv", plain(&growing));
    for method in ["logdec", "energy", "greybox", "ekf", "all"] {
        let (code, out, err) = run(&["identify", arg(&path), "--method", method]);
        assert!([5, 7].contains(&code), "{method}: {code} {out}{err}");
    }
    let (_, out, _) = run(&["identify", arg(&path), "--method", "logdec"]);
    assert!(out.contains("friction would have to drive"), "{out}");
}

#[test]
fn a_log_with_lost_blocks_is_used_where_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("gap.mcap");
    run(&[
        "simulate",
        "--seconds",
        "10",
        "--fault",
        "drop@3:60",
        "-o",
        arg(&log),
    ]);
    let (code, out, err) = run(&["identify", arg(&log), "--method", "ekf"]);
    assert_eq!(code, 3, "identified, and something is missing: {err}");
    assert!(out.contains("the record has gaps"), "{out}");
    assert!(!out.contains("does not explain"), "{out}");
}

/// A counter that slips by 300 counts: what lies before or after it is used, and said.
#[test]
fn a_slip_of_the_counter_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("jump.mcap");
    run(&[
        "simulate",
        "--seconds",
        "10",
        "--fault",
        "jump@4:300",
        "-o",
        arg(&log),
    ]);
    let (code, out, err) = run(&["identify", arg(&log)]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("gaps or jumps"), "{out}");
}

/// No pendulum swings like this: the verdict says so before any number, and so does the exit code.
#[test]
fn a_record_the_model_cannot_explain_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let odd: Vec<_> = (0..1500)
        .map(|i| f64::from(i) * 0.01)
        .map(|t| {
            (
                t,
                0.6 * (-0.1 * t).exp() * ((5.0 * t).cos() + 0.3 * (8.1 * t).sin()),
            )
        })
        .collect();
    let path = write(folder.path(), "odd.csv", plain(&odd));
    let (code, out, err) = run(&["identify", arg(&path)]);
    assert_eq!(code, 5, "{out}{err}");
    assert!(out.contains("greybox: not "), "{out}");
    assert!(!out.contains("  yes"), "{out}");
}

#[test]
fn a_log_and_its_exports_give_the_same_friction() {
    let folder = tempfile::tempdir().unwrap();
    let friction = |args: &[&str], method: &str| {
        let mut all = vec!["identify", "--json", "--method", method];
        all.extend(args);
        let (code, out, err) = run(&all);
        assert_eq!(code, 0, "{err}");
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        json[0]["results"][0]["estimates"]
            .as_array()
            .unwrap()
            .iter()
            .find(|e| e["name"] == "μd1")
            .unwrap()["value"]
            .as_f64()
            .unwrap()
    };
    let rig = write(folder.path(), "rig.toml", "[plant.Furuta]\n");
    // The filter's verdict needs more of a swing than the energy balance.
    for (method, seconds) in [("ekf", "14"), ("energy", "8")] {
        let log = folder.path().join(format!("{method}.mcap"));
        let (code, _, err) = run(&[
            "simulate",
            "--seconds",
            seconds,
            "--noise",
            "1",
            "-o",
            arg(&log),
        ]);
        assert_eq!(code, 0, "{err}");
        let from_log = friction(&[arg(&log)], method);
        assert!((from_log / 6e-4 - 1.0).abs() < 0.05, "{method}: {from_log}");
        for end in ["csv", "parquet"] {
            let table = folder.path().join(format!("run.{end}"));
            let (code, _, err) = run(&["export", arg(&log), "--force", "-o", arg(&table)]);
            assert_eq!(code, 0, "{err}");
            // Our own columns are known by their names; the rig is not in a table.
            let args = [arg(&table), "--rig", arg(&rig)];
            let found = friction(&args, method);
            assert!(
                (found / from_log - 1.0).abs() < 0.02,
                "{method} {end}: {found}, log {from_log}"
            );
        }
    }
}

#[test]
fn several_runs_are_compared_in_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let run_of = |name: &str, more: &[&str]| {
        let path = folder.path().join(name);
        let mut args = vec!["simulate", "--seconds", "8", "--noise", "1"];
        args.extend(["--note", name, "-o", arg(&path)]);
        args.extend(more);
        let (code, _, err) = run(&args);
        assert_eq!(code, 0, "{err}");
        path
    };
    let a = run_of("a.mcap", &["--seed", "1"]);
    let b = run_of("b.mcap", &["--seed", "2", "--start", "5,100"]);
    let other = run_of("c.mcap", &["--seed", "3", "--joint1", "mu_d=9e-4"]);
    let method = ["identify", "--method", "energy"];
    let (code, out, err) = run(&[&method[..], &[arg(&a), arg(&b)]].concat());
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("2 runs: does one number"), "{out}");
    assert!(out.contains("(note.000 a.mcap)"), "{out}");
    let args = [&method[..], &["--json", arg(&a), arg(&b), arg(&other)]].concat();
    let (_, out, err) = run(&args);
    let json: serde_json::Value = serde_json::from_str(&out).expect(&err);
    assert_eq!(json.as_array().unwrap().len(), 4);
    assert_eq!(json[1]["metadata"]["notes"][0], "b.mcap");
    let rows = json[3]["across_runs"].as_array().unwrap();
    let row = rows.iter().find(|r| r["id"] == "mu_d1").expect(&out);
    assert_eq!(row["values"].as_array().unwrap().len(), 3);
    // Two runs at 6e-4 and one at 9e-4: nobody may call that one number.
    assert_eq!(row["agree"], false, "{row}");
    let mean = row["mean"].as_f64().unwrap();
    assert!((mean / 7e-4 - 1.0).abs() < 0.05, "{row}");
}

#[test]
fn the_stage_of_the_benchmark_comes_out_of_the_program_too() {
    let Some(path) = records::find("emps/DATA_EMPS.csv") else {
        return;
    };
    let (code, out, err) = run(&[
        "identify",
        arg(&path),
        "--plant",
        "stage",
        "--time",
        "t_s",
        "--angle",
        "qm_m",
        "--force",
        "vir_V",
        "--force-gain",
        "35.15",
        "--json",
    ]);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let estimates = json[0]["results"][0]["estimates"].as_array().unwrap();
    for (e, published) in estimates.iter().zip([95.109, 203.50, 20.39, -3.16]) {
        let value = e["value"].as_f64().unwrap();
        assert!(
            (value / published - 1.0).abs() < 2e-3,
            "{} = {value}",
            e["name"]
        );
    }
    assert_eq!(estimates.len(), 4);
}
