//! What `stribeck identify` prints: a table per method, the methods side by side, and the same as JSON.

use serde_json::json;

use crate::identify::across::Across;
use crate::identify::method::compare::Conflict;
use crate::identify::outcome::{Estimate, Outcome};
use crate::link::wording;
use crate::log::metadata::Metadata;

/// One method's table.
pub fn text(o: &Outcome) -> String {
    let mut s = format!("\n{}: {}\n", o.method, o.verdict.line());
    for line in &o.choice {
        s += &format!("  {line}\n");
    }
    s += "  parameter        estimate     std. error   95 % interval              unit     identifiable\n";
    for e in &o.estimates {
        s += &row(e);
    }
    let list = |v: &[f64], digits: usize| {
        v.iter()
            .map(|x| format!("{x:.digits$}"))
            .collect::<Vec<_>>()
            .join(" / ")
    };
    s += &format!("  fit {} %", list(&o.fit, 4));
    let counts: Option<Vec<f64>> = o.rms_counts.iter().copied().collect();
    match counts {
        Some(c) => s += &format!(", residual RMS {} counts", list(&c, 2)),
        None => {
            s += &format!(
                ", residual RMS {} {}",
                o.rms
                    .iter()
                    .map(|r| format!("{r:.3e}"))
                    .collect::<Vec<_>>()
                    .join(" / "),
                o.rms_unit
            )
        }
    }
    s += &format!(
        ", {:.2} s, normalised time {:.2e} s\n",
        o.seconds, o.normalised
    );
    for n in &o.notes {
        s += &format!("  note: {n}\n");
    }
    s
}

fn row(e: &Estimate) -> String {
    let (se, interval) = match (e.stderr, e.interval) {
        (Some(s), Some([lo, hi])) => (format!("{s:.2e}"), format!("{lo:>11.4e} … {hi:<11.4e}")),
        _ => ("–".into(), "–".into()),
    };
    let verdict = match (e.identifiable, e.why.as_str()) {
        (true, _) => match (e.record_stderr, e.stderr) {
            (Some(r), Some(t)) if r < 0.95 * t => format!("yes; the record alone: ±{r:.1e}"),
            _ => "yes".to_string(),
        },
        (false, why) => format!("no: {why}"),
    };
    let line = format!(
        "  {:<12} {:>13.5e}   {:>10}   {:<26} {:<8} {}",
        e.name, e.value, se, interval, e.unit, verdict
    );
    format!("{}\n", line.trim_end())
}

/// All methods side by side.
pub fn summary(outcomes: &[Outcome], conflicts: &[Conflict]) -> String {
    let mut s = String::from("\n  method       fit [%]                time [s]   normalised [s]\n");
    for o in outcomes {
        let fit: Vec<String> = o.fit.iter().map(|f| format!("{f:.4}")).collect();
        s += &format!(
            "  {:<12} {:<22} {:>8.3}   {:.2e}\n",
            o.method,
            fit.join(" / "),
            o.seconds,
            o.normalised
        );
    }
    for c in conflicts {
        s += &format!("  ALARM {}\n", c.line());
    }
    s
}

/// What people said about a log, to stand behind its name.
pub fn said(m: &Metadata) -> String {
    let fields = m.fields();
    let texts: Vec<String> = fields
        .iter()
        .map(|(name, text)| format!("{name} {}", wording::printable(text)))
        .collect();
    match texts.is_empty() {
        true => String::new(),
        false => format!(" ({})", texts.join("; ")),
    }
}

/// The runs side by side.
pub fn across(runs: usize, rows: &[Across]) -> String {
    let mut s = format!("\n{runs} runs: does one number describe them?\n");
    if rows.is_empty() {
        return s + "  no parameter is identifiable in more than one of them\n";
    }
    s += "  method       parameter    runs          mean      between runs   std. error   unit     agree\n";
    for r in rows {
        let shown = r.values.iter().flatten().count();
        let agree = match r.agree {
            Some(true) => "yes",
            Some(false) => "NO: the runs differ by more than their own errors",
            None => "–",
        };
        let line = format!(
            "  {:<12} {:<12} {shown:>4}  {:>12.4e}   ±{:<9.2e} ({:>4.1} %)   {:>8}   {:<8} {agree}",
            r.method,
            r.name,
            r.mean,
            r.scatter,
            100.0 * (r.scatter / r.mean).abs(),
            r.stderr.map_or("–".into(), |s| format!("{s:.1e}")),
            r.unit,
        );
        s += &format!("{}\n", line.trim_end());
    }
    s
}

pub fn as_json(o: &Outcome) -> serde_json::Value {
    let finite = |x: f64| x.is_finite().then_some(x);
    let covariance = o.covariance.as_ref().map(|c| {
        c.row_iter()
            .map(|r| r.iter().map(|x| finite(*x)).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    });
    json!({
        "method": o.method,
        "verdict": o.verdict,
        "verdict_text": o.verdict.line(),
        "estimates": o.estimates.iter().map(|e| {
            json!({
                "name": e.name, "id": e.id, "value": e.value, "stderr": e.stderr, "record_stderr": e.record_stderr,
                "interval95": e.interval.filter(|i| i.iter().all(|x| x.is_finite())),
                "unit": e.unit, "identifiable": e.identifiable, "why": e.why,
            })
        }).collect::<Vec<_>>(),
        "covariance": covariance,
        "chi2_reduced": o.residuals.as_ref().and_then(|r| finite(r.chi2)),
        "fit_percent": o.fit,
        "residual_rms": o.rms,
        "residual_rms_unit": o.rms_unit,
        "residual_rms_counts": o.rms_counts,
        "seconds": o.seconds,
        "normalised_seconds": o.normalised,
        "terms_table": o.choice,
        "notes": o.notes,
    })
}
