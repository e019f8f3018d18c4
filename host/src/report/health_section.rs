//! The section about device and link.

use super::Report;
use super::figures;
use super::health::{Health, Verification};
use super::markup::{escape, facts, table};
use super::page::Page;
use crate::log::metadata::Metadata;
use crate::log::text::{self, grouped};

/// Places of losses and runs printed; `--json` has all.
const LINES: usize = 20;

pub fn health(page: &mut Page, report: &Report) {
    let h = &report.health;
    if h.is_sound() {
        page.note(
            "sound",
            "<b>Sound.</b> Nothing lost, nothing damaged, no fault reported.",
        );
    } else {
        page.note("note", "<b>Not everything is in order;</b> see below.");
    }
    let said = recording(&report.metadata);
    if !said.is_empty() {
        page.html(&facts(&said));
    }
    page.html(&facts(&device(h)));
    page.html(&facts(&link(h)));
    losses(page, h);
    if let Some(chart) = figures::load(report) {
        page.figure(
            &[chart],
            1,
            "Processor time of a tick, from interrupt entry to its end, as a part of the tick period.",
        );
    }
    runs(page, report);
    events(page, h);
}

/// What people said about the recording.
fn recording(m: &Metadata) -> Vec<(&'static str, String)> {
    let texts = [
        ("recording began", &m.started),
        ("operator", &m.operator),
        ("rig", &m.rig),
    ];
    let mut rows: Vec<_> = texts
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name, escape(text)))
        .collect();
    if let Some(t) = m.temperature_c {
        rows.push(("temperature", format!("{t} °C")));
    }
    rows.extend(m.notes.iter().map(|note| ("note", escape(note))));
    rows
}

fn device(h: &Health) -> Vec<(&'static str, String)> {
    let Some(d) = &h.device else {
        return vec![("device", "did not introduce itself".into())];
    };
    let seconds = h.ticks as f64 / f64::from(d.tick_hz.max(1));
    let mut rows = vec![
        (
            "device",
            format!("{}, firmware {}", escape(&d.board), escape(&d.build)),
        ),
        (
            "wire protocol, numerics",
            format!("version {}, version {}", d.protocol, d.numerics),
        ),
        ("configuration", d.config_origin.to_string()),
        ("reset before the recording", d.reset_cause.to_string()),
        (
            "recorded",
            format!(
                "{seconds:.2} s: {} ticks at {} Hz in {} segment(s), {} reset(s) meanwhile",
                grouped(h.ticks),
                grouped(d.tick_hz.into()),
                h.segments,
                h.resets
            ),
        ),
    ];
    if !d.last_fault.is_empty() {
        rows.push(("fault of the previous program", escape(&d.last_fault)));
    }
    rows
}

fn link(h: &Health) -> Vec<(&'static str, String)> {
    let mut rows = vec![(
        "observers recomputed from counts",
        verification(&h.verification),
    )];
    let l = &h.losses;
    rows.push((
        "lost on the way",
        if l.is_clean() {
            "<span class=\"good\">nothing</span>".into()
        } else {
            format!(
                "<span class=\"bad\">{} ticks</span> in {} blocks; {} damaged, {} duplicated, {} reordered frames",
                grouped(l.lost_ticks),
                grouped(l.lost_blocks),
                grouped(l.corrupted),
                grouped(l.duplicated),
                grouped(l.reordered)
            )
        },
    ));
    if !h.damage.is_empty() {
        let lines: Vec<String> = h.damage.iter().take(LINES).map(|d| escape(d)).collect();
        rows.push((
            "file",
            format!("<span class=\"bad\">{}</span>", lines.join("<br>")),
        ));
    }
    rows.push((
        "tick load",
        match &h.load {
            Some(load) => format!(
                "mean {:.1} %, largest {:.1} % of the period; σ of the period at most {:.3} µs",
                load.mean_percent, load.max_percent, load.jitter_us
            ),
            None => "not measured (simulated device, or no status in the log)".into(),
        },
    ));
    if let Some(c) = &h.counters {
        rows.push((
            "ticks late, ticks missed",
            format!(
                "{}, {}",
                grouped(c.overruns.into()),
                grouped(c.missed_ticks.into())
            ),
        ));
        rows.push((
            "encoder faults",
            format!(
                "joint 0: {}, joint 1: {}",
                c.encoder_faults[0], c.encoder_faults[1]
            ),
        ));
        rows.push((
            "observer restarts",
            format!("UAS {}, EKF {}", c.uas_restarts, c.ekf_restarts),
        ));
        let queue = match c.queue_size {
            0 => String::new(),
            size => format!(
                "; at most {:.1} of {:.1} kB waited",
                f64::from(c.queue_high) * 0.064,
                f64::from(size) * 0.064
            ),
        };
        rows.push((
            "blocks the device discarded",
            format!(
                "{}{queue}; {} writes timed out",
                c.dropped_blocks, c.write_timeouts
            ),
        ));
        rows.push(("commands refused", c.bad_frames.to_string()));
    }
    rows
}

fn verification(v: &Verification) -> String {
    if let Some(why) = &v.not_compared {
        return format!("<span class=\"bad\">not compared:</span> {}", escape(why));
    }
    let when = match v.by {
        "capture" => "while it was captured",
        "report" => "for this report",
        _ => return "not compared in this file; <code>stribeck replay</code> does".into(),
    };
    let ticks = grouped(v.compared_ticks);
    match (v.compared_ticks, v.differing_blocks) {
        (0, _) => format!("<span class=\"bad\">nothing could be compared</span> {when}"),
        (_, 0) => {
            format!("<span class=\"good\">every bit equal</span> in {ticks} ticks, compared {when}")
        }
        (_, n) => format!(
            "<span class=\"bad\">{} blocks differ</span> ({} bits) in {ticks} ticks, compared {when}",
            grouped(n),
            grouped(v.differing_bits)
        ),
    }
}

fn losses(page: &mut Page, h: &Health) {
    let text = text::losses(&h.losses);
    if !text.is_empty() {
        page.html("<h3>Losses by place</h3>\n<ul>\n");
        for line in text.lines() {
            let place = if line.starts_with(' ') {
                " class=\"place\""
            } else {
                ""
            };
            page.html(&format!("<li{place}>{}</li>\n", escape(line.trim())));
        }
        page.html("</ul>\n");
    }
}

fn runs(page: &mut Page, report: &Report) {
    if report.runs.is_empty() {
        return;
    }
    let shown = report.analysis.as_ref().map_or(0, |a| a.number);
    let rows: Vec<Vec<String>> = report
        .runs
        .iter()
        .filter(|r| r.number <= LINES || r.number == shown)
        .map(|r| {
            vec![
                r.number.to_string(),
                r.from_tick.to_string(),
                r.to_tick.to_string(),
                format!("{:.2}", r.seconds),
                grouped(r.lost_ticks),
                if r.rested {
                    "came to rest"
                } else {
                    "was cut short or stopped"
                }
                .into(),
                if r.number == shown { "this report" } else { "" }.into(),
            ]
        })
        .collect();
    page.html("<h3>Runs in this log</h3>\n");
    page.html(&table(
        "runs",
        &[
            "run",
            "first tick",
            "last tick",
            "seconds",
            "lost ticks",
            "end",
            "",
        ],
        &[5, 6],
        &rows,
    ));
    if report.runs.len() > rows.len() {
        page.paragraph(&format!(
            "{} runs in all; <code>--json</code> lists them.",
            report.runs.len()
        ));
    }
}

fn events(page: &mut Page, h: &Health) {
    if h.events.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = h
        .events
        .iter()
        .map(|e| vec![e.tick.to_string(), escape(&e.text)])
        .collect();
    page.html("<h3>Events</h3>\n");
    page.html(&table("events", &["tick", "what happened"], &[1], &rows));
    if h.events_total > rows.len() as u64 {
        page.paragraph(&format!("{} events in all.", grouped(h.events_total)));
    }
}
