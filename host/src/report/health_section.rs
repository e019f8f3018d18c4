//! The section about device and link.

use maud::{Markup, html};

use super::Report;
use super::figures;
use super::health::{Health, Verification};
use super::markup::{bad, facts, good, table, text};
use super::page::Page;
use crate::log::metadata::Metadata;
use crate::log::text::{grouped, losses as in_words};

/// Places of losses and runs printed; `--json` has all.
const LINES: usize = 20;

pub fn health(page: &mut Page, report: &Report) {
    let h = &report.health;
    if h.is_sound() {
        let words = html! { b { "Sound." } " Nothing lost, nothing damaged, no fault reported." };
        page.note("sound", words);
    } else {
        let words = html! { b { "Not everything is in order;" } " see below." };
        page.note("note", words);
    }
    let said = recording(&report.metadata);
    if !said.is_empty() {
        page.html(facts(&said));
    }
    page.html(facts(&device(h)));
    page.html(facts(&link(h)));
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
fn recording(m: &Metadata) -> Vec<(&'static str, Markup)> {
    let texts = [
        ("recording began", &m.started),
        ("operator", &m.operator),
        ("rig", &m.rig),
    ];
    let mut rows: Vec<_> = texts
        .into_iter()
        .filter(|(_, said)| !said.is_empty())
        .map(|(name, said)| (name, text(said)))
        .collect();
    if let Some(t) = m.temperature_c {
        rows.push(("temperature", text(format!("{t} °C"))));
    }
    rows.extend(m.notes.iter().map(|note| ("note", text(note))));
    rows
}

fn device(h: &Health) -> Vec<(&'static str, Markup)> {
    let Some(d) = &h.device else {
        return vec![("device", text("did not introduce itself"))];
    };
    let seconds = h.ticks as f64 / f64::from(d.tick_hz.max(1));
    let mut rows = vec![
        ("device", text(format!("{}, firmware {}", d.board, d.build))),
        (
            "wire protocol, numerics",
            text(format!("version {}, version {}", d.protocol, d.numerics)),
        ),
        ("configuration", text(d.config_origin)),
        ("reset before the recording", text(d.reset_cause)),
        (
            "recorded",
            text(format!(
                "{seconds:.2} s: {} ticks at {} Hz in {} segment(s), {} reset(s) meanwhile",
                grouped(h.ticks),
                grouped(d.tick_hz.into()),
                h.segments,
                h.resets
            )),
        ),
    ];
    if !d.last_fault.is_empty() {
        rows.push(("fault of the previous program", text(&d.last_fault)));
    }
    rows
}

fn link(h: &Health) -> Vec<(&'static str, Markup)> {
    let mut rows = vec![(
        "observers recomputed from counts",
        verification(&h.verification),
    )];
    let l = &h.losses;
    rows.push((
        "lost on the way",
        if l.is_clean() {
            good("nothing")
        } else {
            html! {
                (bad(format!("{} ticks", grouped(l.lost_ticks))))
                " in " (grouped(l.lost_blocks)) " blocks; " (grouped(l.corrupted)) " damaged, "
                (grouped(l.duplicated)) " duplicated, " (grouped(l.reordered)) " reordered frames"
            }
        },
    ));
    if !h.damage.is_empty() {
        let lines = h.damage.iter().take(LINES).enumerate();
        let lines = html! { span.bad { @for (i, line) in lines { @if i > 0 { br; } (line) } } };
        rows.push(("file", lines));
    }
    rows.push((
        "tick load",
        text(match &h.load {
            Some(load) => format!(
                "mean {:.1} %, largest {:.1} % of the period; σ of the period at most {:.3} µs",
                load.mean_percent, load.max_percent, load.jitter_us
            ),
            None => "not measured (simulated device, or no status in the log)".into(),
        }),
    ));
    if let Some(c) = &h.counters {
        rows.push((
            "ticks late, ticks missed",
            text(format!(
                "{}, {}",
                grouped(c.overruns.into()),
                grouped(c.missed_ticks.into())
            )),
        ));
        rows.push((
            "encoder faults",
            text(format!(
                "joint 0: {}, joint 1: {}",
                c.encoder_faults[0], c.encoder_faults[1]
            )),
        ));
        rows.push((
            "observer restarts",
            text(format!("UAS {}, EKF {}", c.uas_restarts, c.ekf_restarts)),
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
            text(format!(
                "{}{queue}; {} writes timed out",
                c.dropped_blocks, c.write_timeouts
            )),
        ));
        rows.push(("commands refused", text(c.bad_frames.to_string())));
    }
    rows
}

fn verification(v: &Verification) -> Markup {
    if let Some(why) = &v.not_compared {
        return html! { (bad("not compared:")) " " (why) };
    }
    let when = match v.by {
        "capture" => "while it was captured",
        "report" => "for this report",
        _ => return html! { "not compared in this file; " code { "stribeck replay" } " does" },
    };
    let ticks = grouped(v.compared_ticks);
    match (v.compared_ticks, v.differing_blocks) {
        (0, _) => html! { (bad("nothing could be compared")) " " (when) },
        (_, 0) => html! { (good("every bit equal")) " in " (ticks) " ticks, compared " (when) },
        (_, n) => html! {
            (bad(format!("{} blocks differ", grouped(n))))
            " (" (grouped(v.differing_bits)) " bits) in " (ticks) " ticks, compared " (when)
        },
    }
}

fn losses(page: &mut Page, h: &Health) {
    let words = in_words(&h.losses);
    if !words.is_empty() {
        page.subsection("Losses by place");
        let place = |line: &str| line.starts_with(' ').then_some("place");
        page.html(html! {
            ul { "\n" @for line in words.lines() { li class=[place(line)] { (line.trim()) } "\n" } } "\n"
        });
    }
}

fn runs(page: &mut Page, report: &Report) {
    if report.runs.is_empty() {
        return;
    }
    let shown = report.analysis.as_ref().map_or(0, |a| a.number);
    let rows: Vec<Vec<Markup>> = report
        .runs
        .iter()
        .filter(|r| r.number <= LINES || r.number == shown)
        .map(|r| {
            let end = if r.rested {
                "came to rest"
            } else {
                "was cut short or stopped"
            };
            let this = if r.number == shown { "this report" } else { "" };
            vec![
                text(r.number.to_string()),
                text(r.from_tick.to_string()),
                text(r.to_tick.to_string()),
                text(format!("{:.2}", r.seconds)),
                text(grouped(r.lost_ticks)),
                text(end),
                text(this),
            ]
        })
        .collect();
    page.subsection("Runs in this log");
    page.html(table(
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
        let all = report.runs.len();
        page.paragraph(html! { (all) " runs in all; " code { "--json" } " lists them." });
    }
}

fn events(page: &mut Page, h: &Health) {
    if h.events.is_empty() {
        return;
    }
    let rows: Vec<Vec<Markup>> = h
        .events
        .iter()
        .map(|e| vec![text(e.tick.to_string()), text(&e.text)])
        .collect();
    page.subsection("Events");
    page.html(table("events", &["tick", "what happened"], &[1], &rows));
    if h.events_total > rows.len() as u64 {
        page.paragraph(text(format!("{} events in all.", grouped(h.events_total))));
    }
}
