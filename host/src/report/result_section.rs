//! The sections with the numbers of a run: result, validation, residuals, friction torque, identifiability.

use maud::{Markup, html};

use super::candidate::{Candidate, Estimate, Kind};
use super::markup::{Scaled, bad, good, percent, table, text};
use super::page::Page;
use super::swing::Start;
use super::{Analysis, Report, figures, free_run};

/// The first thing to read: how well the run is explained, and by which friction.
pub fn result(page: &mut Page, report: &Report, a: &Analysis) {
    let of = match report.runs.len() {
        1 => "the only run".to_string(),
        n => format!("run {} of {n}", a.number),
    };
    page.paragraph(text(format!(
        "This is {of} of the log: {:.2} s{}. {}",
        a.seconds,
        if a.rested {
            ", until both links came to rest"
        } else {
            ", which the log does not show to its end"
        },
        start(a)
    )));
    let Some(best) = best(a) else {
        let words = " the device sent none during this run, or the run is too short to validate.";
        page.note("note", html! { b { "No parameters:" } (words) });
        return;
    };
    let rows: Vec<Vec<Markup>> = best
        .candidate
        .estimates
        .iter()
        .map(|e| {
            let s = Scaled::new(e.value, e.sigma);
            let interval = match e.interval() {
                Some([lo, hi]) => format!("{} to {}", s.digits(lo), s.digits(hi)),
                None => "none".into(),
            };
            vec![
                text(format!(
                    "{}{} ({})",
                    e.symbol,
                    e.joint,
                    a.swing.axes().name(e.joint)
                )),
                text(s.digits(e.value)),
                text(interval),
                s.unit(&e.unit),
                identifiable(e),
            ]
        })
        .collect();
    let fits: Vec<String> = best
        .free_run
        .fit_percent
        .iter()
        .enumerate()
        .map(|(j, f)| format!("{} {}", a.swing.axes().name(j), percent(*f)))
        .collect();
    page.html(table(
        "result",
        &[
            "friction",
            "estimate",
            "95 % interval",
            "unit",
            "identifiable",
        ],
        &[0, 3, 4],
        &rows,
    ));
    page.paragraph(text(format!(
        "Estimated by: {}. Free-run fit over {:.1} s [%]: {}.",
        best.candidate.name,
        validated_seconds(a),
        fits.join(", ")
    )));
}

/// The set the result is taken from: the last one off line, else the Kalman filter's.
fn best(a: &Analysis) -> Option<&super::Validated> {
    let estimates = |v: &&super::Validated| matches!(v.candidate.kind, Kind::Ekf | Kind::Offline);
    a.validated.iter().rfind(estimates)
}

fn validated_seconds(a: &Analysis) -> f64 {
    (a.seconds - a.release).min(free_run::LONGEST)
}

fn start(a: &Analysis) -> String {
    match a.start {
        Some(Start::Captured { q, .. }) => {
            let angles: Vec<String> = (0..a.swing.joints())
                .map(|j| format!("{} {}", a.swing.axes().name(j), a.swing.axes().place(j, q[j])))
                .collect();
            format!(
                "Held at {} and let go {:.1} ms after the device captured that start.",
                angles.join(", ").replace('-', "−"),
                1e3 * a.release
            )
        }
        Some(Start::Joined { .. }) => {
            "Its beginning is not in the log: the validation starts from the Kalman filter's first recorded state.".into()
        }
        None => "The device sent no observer states.".into(),
    }
}

fn identifiable(e: &Estimate) -> Markup {
    if e.identifiable {
        good("yes")
    } else {
        bad("no")
    }
}

pub fn validation(page: &mut Page, a: &Analysis) {
    page.paragraph(text(
        "The model alone, started once at the captured start and never corrected, against the measurement. \
         fit = 100·(1 − Σ(x̂ − x)²/Σ(x − x̄)²).",
    ));
    if a.validated.is_empty() {
        page.note("note", text("There is no parameter set to validate."));
        return;
    }
    if a.shortened {
        page.note(
            "note",
            text(format!(
                "The run is longer than the validation, which covers its first {:.0} s.",
                free_run::LONGEST
            )),
        );
    }
    let (joints, axes) = (a.swing.joints(), a.swing.axes());
    let mut head = vec!["parameters".to_string(), "from".into()];
    for j in 0..joints {
        head.push(format!("fit {} [%]", axes.symbol(j)));
    }
    for j in 0..joints {
        head.push(format!(
            "RMS {} [m{}]",
            axes.symbol(j),
            axes.units(j).coordinate
        ));
    }
    let rows: Vec<Vec<Markup>> = a
        .validated
        .iter()
        .map(|v| {
            let mut row = vec![text(&v.candidate.name), text(origin(&v.candidate))];
            row.extend(v.free_run.fit_percent.iter().map(|f| text(percent(*f))));
            let rms = v.free_run.rms.iter();
            row.extend(rms.map(|r| text(format!("{:.3}", 1e3 * r))));
            row
        })
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    page.html(table("fits", &head, &[0, 1], &rows));
    page.figure(
        &figures::free_runs(a),
        1,
        "Free runs of every parameter set against the measurement. A line that leaves the chart has lost the swing.",
    );
    page.figure(
        &figures::free_run_errors(a),
        2,
        "Measured minus free run of the estimated sets.",
    );
}

fn origin(c: &Candidate) -> &'static str {
    match c.kind {
        Kind::InitialGuess => "configuration",
        Kind::Uas => "device, prior",
        Kind::Ekf => "device, estimated",
        Kind::Offline => "whole record, off line",
    }
}

pub fn residuals(page: &mut Page, a: &Analysis) {
    let rows: Vec<Vec<Markup>> = a
        .residuals
        .iter()
        .map(|r| {
            [
                r.observer.to_string(),
                format!("{} (joint {})", a.swing.axes().name(r.joint), r.joint),
                format!("{:.3}", r.mean).replace('-', "−"),
                format!("{:.3}", r.rms),
                format!("{:.2}", r.largest),
                format!("{:.2}", r.correlation).replace('-', "−"),
            ]
            .map(text)
            .to_vec()
        })
        .collect();
    page.html(table(
        "residuals",
        &[
            "observer",
            a.swing.axes().word(),
            "mean [counts]",
            "RMS [counts]",
            "largest [counts]",
            "correlation of neighbours",
        ],
        &[0, 1],
        &rows,
    ));
    page.figure(
        &figures::residuals(a),
        2,
        "Measured minus estimated at the records of the device. Rounding alone gives .29 counts RMS; a correlation near 1 is a systematic error.",
    );
}

pub fn torque(page: &mut Page, a: &Analysis) {
    let normal: Vec<String> = a
        .torque
        .iter()
        .enumerate()
        .map(|(j, m)| format!("{:.2} N (joint {j})", m.normal))
        .collect();
    page.figure(
        &figures::torques(a),
        2,
        &format!(
            "Dots: from the momentum balance of the measured motion, without any friction law, averaged over bins of velocity. \
             Lines: the law of each set at the median normal force of the run, {}; the band is the Kalman filter's 95 % \
             in the worst case of correlation. The dots saw the normal force of their moment, so they scatter about the lines. Laws that leave the chart are too strong for it.",
            normal.join(", ")
        ),
    );
}

pub fn identifiability(page: &mut Page, a: &Analysis) {
    let measured = || {
        let sets = a.validated.iter().map(|v| &v.candidate);
        sets.filter(|c| matches!(c.kind, Kind::Ekf | Kind::Offline))
    };
    let mut rows = Vec::new();
    for c in measured() {
        for e in &c.estimates {
            let s = Scaled::new(e.value, e.sigma);
            let [sigma, low, high] = match (e.sigma, e.interval()) {
                (Some(sigma), Some([lo, hi])) => [sigma, lo, hi].map(|x| s.digits(x)),
                _ => ["none", "", ""].map(String::from),
            };
            rows.push(vec![
                text(&c.name),
                text(format!("{}{}", e.symbol, e.joint)),
                text(s.digits(e.value)),
                text(sigma),
                text(format!("{low} … {high}")),
                s.unit(&e.unit),
                identifiable(e),
                text(&e.why),
            ]);
        }
    }
    page.html(table(
        "identifiability",
        &[
            "set",
            "friction",
            "estimate",
            "σ",
            "95 % interval",
            "unit",
            "identifiable",
            "why",
        ],
        &[0, 1, 5, 6, 7],
        &rows,
    ));
    let config = &a.swing.config;
    let drag = if config.ekf.drag {
        ""
    } else {
        ", drag d (switched off)"
    };
    let axes = a.swing.axes();
    let assumed: Vec<String> = (0..axes.dof)
        .map(|j| format!("{} {}", config.ekf.vt[j], axes.units(j).velocity))
        .collect();
    page.paragraph(text(format!(
        "Not estimated by the Kalman filter: μs, Fnt, vt (assumed {}){drag}.",
        assumed.join(" and ")
    )));
    let prior = a.validated.iter().find(|v| v.candidate.kind == Kind::Uas);
    let Some(prior) = prior else { return };
    let rows: Vec<Vec<Markup>> = prior
        .candidate
        .estimates
        .iter()
        .filter_map(|e| e.prior.map(|p| (e, p)))
        .map(|(e, p)| {
            let s = Scaled::new(p.fixed_point, None);
            vec![
                text(format!("{}{}", e.symbol, e.joint)),
                text(s.digits(p.initial)),
                text(s.digits(e.value)),
                text(s.digits(p.fixed_point)),
                s.unit(&e.unit),
                text(format!("{:.2}", p.way_percent).replace('-', "−")),
                text(format!("{:+.2}", 100.0 * (e.value / p.fixed_point - 1.0)).replace('-', "−")),
            ]
        })
        .collect();
    page.subsection("UAS: a prior, not a measurement");
    page.paragraph(text(
        "The law of the UAS parameters moves each from its initial guess to its fixed point on any record; the data decide only how far. \
         No value in this table is evidence about the joint.",
    ));
    page.html(table(
        "prior",
        &[
            "parameter",
            "initial guess",
            "UAS ended at",
            "fixed point",
            "unit",
            "way gone [%]",
            "from the fixed point [%]",
        ],
        &[0, 4],
        &rows,
    ));
}
