//! `stribeck paper` and `stribeck study` through the command line: numbers, files, exit codes.

// Signals are made with the platform's mathematics.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn stribeck(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stribeck"))
        .args(args)
        .output()
        .unwrap()
}

fn json(args: &[&str]) -> Value {
    let out = stribeck(args);
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {text}");
    serde_json::from_slice(&out.stdout).unwrap()
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is not a number"))
}

/// |a/b − 1|.
fn off(a: &Value, b: &Value) -> f64 {
    (number(a) / number(b) - 1.0).abs()
}

#[test]
fn paper_000_puts_printed_and_corrected_values_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("figures");
    let tables = json(&[
        "paper",
        "000",
        "--json",
        "--figures",
        place.to_str().unwrap(),
    ]);

    let rows = tables["table_3"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let name = row["name"].as_str().unwrap();
        // The ten printed estimates are one affine function of the truth, to the printed digits.
        assert!(off(&row["affine"], &row["paper"]) < 3e-4, "{row}");
        // Neither model brings the law anywhere but to its fixed point, far from the truth.
        for formulas in ["printed_formulas", "corrected_formulas"] {
            assert!(off(&row[formulas], &row["fixed_point"]) < 1e-3, "{row}");
        }
        assert!(
            off(&row["corrected_formulas"], &row["actual"]) > 0.15,
            "{row}"
        );
        if ["μd0", "μv0", "μd1", "μv1"].contains(&name) {
            assert!(off(&row["grey_box"], &row["actual"]) < 2e-3, "{row}");
        }
    }
    for row in tables["table_4"].as_array().unwrap() {
        // Four printed digits.
        assert!(off(&row["fixed_point"], &row["paper"]) < 4e-4, "{row}");
        assert!(
            off(&row["corrected_formulas"], &row["paper"]) < 1e-3,
            "{row}"
        );
    }

    let scores = tables["table_5"].as_array().unwrap();
    let fit = |source: &str, run: &str, method: &str| -> Vec<f64> {
        let found = scores
            .iter()
            .find(|s| s["source"] == source && s["run"] == run && s["method"] == method);
        let list = &found.unwrap_or_else(|| panic!("no {source}, {run}, {method}"))["fit_percent"];
        list.as_array().unwrap().iter().map(number).collect()
    };
    assert_eq!(fit("paper", "simulation", "UAS"), [98.97, 99.53]);
    assert_eq!(fit("paper", "experiment", "optimisation"), [3.40, 24.11]);
    let estimates = fit("corrected formulas", "simulation", "Table 3's estimates");
    assert!((estimates[0] - 99.36).abs() < 0.1 && (estimates[1] - 99.54).abs() < 0.1);
    let worst = |method: &str| {
        fit("counts", "simulation", method)
            .into_iter()
            .fold(100.0, f64::min)
    };
    assert!(worst("greybox") > 99.999);
    assert!(worst("ekf") > 99.9);
    assert!(worst("uas") < 90.0);
    // Friction with the printed sign drives.
    assert!(number(&tables["printed_model_lost_at"]) < 35.0);

    let words = [
        (4, "UAS observer"),
        (5, "μs0 [m]"),
        (6, "initial guess"),
        (7, "frequency [Hz]"),
        (8, "N(k) [1/s]"),
        (9, "vt1 [rad/s]"),
        (10, "time [s]"),
        (11, "velocity [rad/s]"),
        (12, "grey box"),
    ];
    for (number, word) in words {
        let text = std::fs::read_to_string(place.join(format!("figure-{number:02}.svg"))).unwrap();
        assert!(text.starts_with("<svg"), "figure {number}");
        assert!(
            text.contains(&format!("Figure {number}.")),
            "figure {number}"
        );
        assert!(text.contains(word), "figure {number}: no {word:?}");
    }
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), words.len());
}

#[test]
fn paper_004_has_three_columns() {
    let table = json(&["paper", "004", "--json"]);
    let rows = table["table_1"].as_array().unwrap();
    assert_eq!(rows.len(), 40);
    let mut astray = 0;
    for row in rows {
        let (simulated, ours) = (
            number(&row["simulated"]),
            number(&row["corrected_formulas"]),
        );
        if let Some(error) = row["error_percent"].as_f64() {
            assert!(error.abs() < 0.1, "{row}");
        } else {
            assert!((ours - simulated).abs() < 1e-3, "{row}");
        }
        if row["name"] == "c̄" {
            // ζ of eq. (30) as printed is about π times too small, and c with it.
            let ratio = number(&row["printed_formulas"]) / simulated;
            astray += usize::from((0.2..0.5).contains(&ratio));
        }
    }
    assert_eq!(astray, 8);
}

#[test]
fn wrong_arguments_have_their_exit_codes() {
    assert_eq!(stribeck(&["paper", "999"]).status.code(), Some(2));
    assert_eq!(stribeck(&["paper"]).status.code(), Some(2));
    assert_eq!(stribeck(&["study", "--runs", "0"]).status.code(), Some(2));
    let out = stribeck(&["study", "--terms", "coulomb,oil"]);
    assert_eq!(out.status.code(), Some(7));
    assert!(String::from_utf8_lossy(&out.stderr).contains("oil"));
}

#[test]
fn the_study_depends_on_the_seed_and_not_on_the_threads() {
    let study = |seed: &str, threads: &str| {
        let out = stribeck(&[
            "study",
            "--runs",
            "3",
            "--seconds",
            "6",
            "--noise",
            "0,5",
            "--json",
            "--seed",
            seed,
            "--threads",
            threads,
        ]);
        // 1 where so few runs miss the interval.
        assert!(matches!(out.status.code(), Some(0 | 1)));
        out.stdout
    };
    let one = study("3", "1");
    assert_eq!(one, study("3", "3"));
    assert_ne!(one, study("4", "3"));
    let levels: Value = serde_json::from_slice(&one).unwrap();
    let levels = levels.as_array().unwrap();
    let greybox: Vec<_> = levels.iter().filter(|l| l["method"] == "greybox").collect();
    let rows: Vec<_> = greybox.iter().map(|l| l["row"].as_str().unwrap()).collect();
    assert_eq!(rows, ["noise 0 counts", "noise 5 counts"]);
    for level in greybox {
        for p in level["parameters"].as_array().unwrap() {
            // Six seconds say little about the Stribeck peak: it may be in no row of theirs.
            let name = p["name"].as_str().unwrap();
            if name.starts_with("μd") || name.starts_with("μv") {
                assert!(number(&p["half_width_percent"]) > 0.0, "{p}");
                assert!(number(&p["error_percent"]) < 20.0, "{p}");
            }
        }
    }
}

#[test]
fn figures_need_a_folder_that_can_be_made() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Path::new(file.path()).is_file());
    let out = stribeck(&["paper", "000", "--figures", file.path().to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("figures cannot be written"));
}

/// Turning points of a simulated decay of paper 004, refined by a parabola through three samples; the first is the release.
fn turning_points(row: &[f64; 5]) -> Vec<(f64, f64)> {
    let (t, x) = stribeck::paper::decrement::simulate(row, 1e-3, 12.0, 0.0, 1);
    let mut out = vec![(t[0], x[0])];
    for i in 1..x.len() - 1 {
        if (x[i] - x[i - 1]) * (x[i + 1] - x[i]) < 0.0 {
            let (left, right) = (x[i] - x[i - 1], x[i] - x[i + 1]);
            let shift = 0.5 * (right - left) / (left + right);
            out.push((t[i] - 1e-3 * shift, x[i] - 0.25 * shift * (right - left)));
        }
    }
    out
}

/// Per direction of motion (up, down): E of eq. (28) and the centre S of the half swing.
fn half_swings(y: &[(f64, f64)]) -> [[f64; 2]; 2] {
    let mut out = [[0.0; 2]; 2];
    for n in 3..5 {
        let e = -(y[n].1 - y[n - 2].1) / (y[n - 1].1 - y[n - 3].1);
        let centre = (y[n].1 + y[n - 1].1 * e) / (1.0 + e);
        out[usize::from(y[n].1 < y[n - 1].1)] = [e, centre];
    }
    out
}

/// ω0, f̄, Δf, c̄, Δc: all directions of motion differ, and the upward one is damped less.
const ASYMMETRIC: [f64; 5] = [4.0, 6.25, 5.75, 0.625, -0.125];

#[test]
fn erratum_004_damping_ratio() {
    let y = turning_points(&ASYMMETRIC);
    let [[up, _], [down, _]] = half_swings(&y);
    for (e, sign) in [(up, 1.0), (down, -1.0)] {
        let truth = (ASYMMETRIC[3] + sign * ASYMMETRIC[4]) / (2.0 * ASYMMETRIC[0]);
        let beta = -e.ln() / std::f64::consts::PI;
        let correct = beta / (1.0 + beta * beta).sqrt();
        let printed = beta / (std::f64::consts::PI.powi(2) + beta * beta).sqrt();
        assert!(
            (correct / truth - 1.0).abs() < 0.01,
            "{correct} for {truth}"
        );
        assert!(
            (truth / printed - std::f64::consts::PI).abs() < 0.1,
            "{printed} for {truth}"
        );
    }
}

#[test]
fn erratum_004_centres() {
    let y = turning_points(&ASYMMETRIC);
    let [[_, up], [_, down]] = half_swings(&y);
    let k = ASYMMETRIC[0].powi(2);
    // Rest position x0 = 0: x̄k = (S₋ − S₊)/2, Δxk = x0 − (S₊ + S₋)/2; printed with the other sign.
    let (mean, delta) = (k * 0.5 * (down - up), -k * 0.5 * (up + down));
    assert!((mean / ASYMMETRIC[1] - 1.0).abs() < 0.01, "f̄ {mean}");
    assert!((delta / ASYMMETRIC[2] - 1.0).abs() < 0.01, "Δf {delta}");
    let printed = k * 0.5 * (up + down);
    assert!(
        (printed / ASYMMETRIC[2] + 1.0).abs() < 0.01,
        "Δf as printed {printed}"
    );
}

#[test]
fn erratum_004_sign_of_the_damping_difference() {
    let y = turning_points(&ASYMMETRIC);
    let [[up, _], [down, _]] = half_swings(&y);
    let zeta = |e: f64| {
        let beta = -e.ln() / std::f64::consts::PI;
        beta / (1.0 + beta * beta).sqrt()
    };
    let difference = 0.5 * (zeta(up) - zeta(down));
    let truth = ASYMMETRIC[4] / (2.0 * ASYMMETRIC[0]);
    assert!(
        (difference / truth - 1.0).abs() < 0.02,
        "{difference} for {truth}"
    );
    assert!(
        difference < 0.0,
        "the absolute value of eq. (31) loses this sign"
    );
}

#[test]
fn erratum_004_natural_frequency() {
    let y = turning_points(&ASYMMETRIC);
    let zeta = (ASYMMETRIC[3] + ASYMMETRIC[4]) / (2.0 * ASYMMETRIC[0]);
    // The first half swing goes down, the second up.
    let damped = std::f64::consts::PI / (y[2].0 - y[1].0);
    let correct = damped / (1.0 - zeta * zeta).sqrt();
    let printed = damped / (1.0 - zeta).sqrt();
    assert!((correct / 4.0 - 1.0).abs() < 1e-3, "{correct}");
    assert!((printed / 4.0 - 1.0) > 0.025, "{printed}");
}
