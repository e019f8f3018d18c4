//! What `stribeck identify` prints: a table per method, the methods side by side, and the same as JSON.

use serde_json::json;

use crate::identify::outcome::{Estimate, Outcome};

/// One method's table.
pub fn text(o: &Outcome) -> String {
    let mut s = format!("\n{}\n", o.method);
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
                if o.method == "stage" { "N" } else { "rad" }
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
    let (se, interval) = match (e.stderr, e.interval()) {
        (Some(s), Some([lo, hi])) if s < 1e100 => {
            (format!("{s:.2e}"), format!("{lo:>11.4e} … {hi:<11.4e}"))
        }
        _ => ("–".into(), "–".into()),
    };
    let verdict = match (e.identifiable, e.why.as_str()) {
        (true, _) => "yes".to_string(),
        (false, why) => format!("no: {why}"),
    };
    let line = format!(
        "  {:<12} {:>13.5e}   {:>10}   {:<26} {:<8} {}",
        e.name, e.value, se, interval, e.unit, verdict
    );
    format!("{}\n", line.trim_end())
}

/// All methods side by side.
pub fn summary(outcomes: &[Outcome]) -> String {
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
    s
}

pub fn as_json(o: &Outcome) -> serde_json::Value {
    json!({
        "method": o.method,
        "estimates": o.estimates.iter().map(|e| {
            let finite = |x: f64| x.is_finite().then_some(x);
            json!({
                "name": e.name, "value": e.value, "stderr": e.stderr.and_then(finite),
                "interval95": e.interval().filter(|i| i.iter().all(|x| x.is_finite())),
                "unit": e.unit, "identifiable": e.identifiable, "why": e.why,
            })
        }).collect::<Vec<_>>(),
        "fit_percent": o.fit,
        "residual_rms": o.rms,
        "residual_rms_counts": o.rms_counts,
        "seconds": o.seconds,
        "normalised_seconds": o.normalised,
        "terms_table": o.choice,
        "notes": o.notes,
    })
}
