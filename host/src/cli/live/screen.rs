//! Drawing of the live view: four plots, the parameters with their intervals, health, events, keys.
//!
//! In: a [`Feed`] and the [`View`] settings. Out: cells of a ratatui frame. Works from 80×24 up; colour is never the only
//! difference between two curves (the legend names them, the second one is dotted).

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Clear, Dataset, GraphType, Paragraph, Wrap};
use stribeck_core::device::run::Phase;
use stribeck_core::model::parameter;

use crate::cli::live::feed::{Curve, Feed};

/// What the keys change.
#[derive(Clone, Debug)]
pub struct View {
    /// Seconds shown.
    pub span_s: f64,
    pub paused: bool,
    pub help: bool,
    /// Where the recording goes, while there is one.
    pub recording: Option<String>,
    pub source: String,
    /// The connection is broken; the view waits for it.
    pub lost: bool,
}

const BLUE: Color = Color::Rgb(86, 180, 233);
const ORANGE: Color = Color::Rgb(230, 159, 0);
const RED: Color = Color::Rgb(213, 94, 0);
const GREEN: Color = Color::Rgb(0, 158, 115);
const GREY: Color = Color::DarkGray;

pub const HELP: &str = "\
 a  arm: hold the links, then release them
 s  stop the run
 z  zero: links hanging at rest
 r  start or stop recording
 space  pause the picture
 + -  zoom the time axis
 ?  this help
 q  quit";

/// Draw one frame.
pub fn draw(frame: &mut Frame<'_>, feed: &Feed, view: &View) {
    let [head, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(10),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let [plots, side] =
        Layout::horizontal([Constraint::Min(36), Constraint::Length(44)]).areas(body);
    let rows: [Rect; 3] = Layout::vertical([Constraint::Ratio(1, 3); 3]).areas(plots);
    let [error, gain] = Layout::horizontal([Constraint::Ratio(1, 2); 2]).areas(rows[2]);

    header(frame, head, feed, view);
    let joints = |curves: &[Curve; 2]| -> Vec<(&'static str, Vec<(f64, f64)>)> {
        let names = ["θ0 arm", "θ1 pendulum"];
        let shown = feed.dof.clamp(1, 2);
        (0..shown)
            .map(|j| (names[j], curves[j].window(feed.now_s, view.span_s)))
            .collect()
    };
    plot(
        frame,
        rows[0],
        "angle [deg]  ── θ0 arm  •• θ1 pendulum",
        &joints(&feed.angle),
        view,
    );
    plot(
        frame,
        rows[1],
        "velocity [rad/s]  ── ω0  •• ω1",
        &joints(&feed.velocity),
        view,
    );
    let one = |c: &Curve| vec![("", c.window(feed.now_s, view.span_s))];
    plot(
        frame,
        error,
        "UAS error |e| [rad/s]",
        &one(&feed.error),
        view,
    );
    plot(frame, gain, "UAS gain k", &one(&feed.gain), view);

    let [table, health, events] = Layout::vertical([
        Constraint::Length(11),
        Constraint::Length(7),
        Constraint::Min(3),
    ])
    .areas(side);
    parameters(frame, table, feed);
    condition(frame, health, feed);
    let mut lines: Vec<Line> = feed.events.iter().map(|e| Line::raw(e.as_str())).collect();
    if lines.is_empty() {
        let hint = "none yet: a arms the device, then let the pendulum go";
        lines.push(Line::styled(hint, Style::new().fg(GREY)));
    }
    frame.render_widget(
        Paragraph::new(lines)
            .wrap(Wrap { trim: false })
            .block(Block::bordered().title("events")),
        events,
    );
    let keys = " a arm  s stop  z zero  r record  space pause  +/- zoom  ? help  q quit";
    frame.render_widget(Paragraph::new(keys).style(Style::new().fg(GREY)), foot);
    if view.help {
        overlay(frame, HELP);
    }
}

fn header(frame: &mut Frame<'_>, area: Rect, feed: &Feed, view: &View) {
    let (phase, colour) = match feed.phase {
        Phase::Idle => ("idle", GREY),
        Phase::Armed => ("armed", ORANGE),
        Phase::Swinging => ("swinging", GREEN),
        Phase::AtRest => ("at rest", BLUE),
        Phase::Driving => ("driving", ORANGE),
    };
    let mut spans = vec![
        Span::styled(" stribeck ", Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(format!("{} · {} ", view.source, feed.device)),
        Span::styled(
            format!(" {phase} "),
            Style::new().fg(Color::Black).bg(colour),
        ),
        Span::raw(format!(" {:.1} s ", feed.now_s)),
    ];
    if let Some(path) = &view.recording {
        spans.push(Span::styled(format!(" ● {path} "), Style::new().fg(RED)));
    }
    if view.paused {
        spans.push(Span::styled(
            " paused ",
            Style::new().fg(Color::Black).bg(ORANGE),
        ));
    }
    if view.lost {
        spans.push(Span::styled(
            " unplugged, waiting ",
            Style::new().fg(Color::Black).bg(RED),
        ));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn plot(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    curves: &[(&'static str, Vec<(f64, f64)>)],
    view: &View,
) {
    let (mut lo, mut hi) = (f64::MAX, f64::MIN);
    for (_, points) in curves {
        for p in points.iter().filter(|p| p.1.is_finite()) {
            (lo, hi) = (lo.min(p.1), hi.max(p.1));
        }
    }
    if lo > hi {
        (lo, hi) = (0.0, 1.0);
    }
    // Wide enough for the labels' two digits to differ.
    let margin = (0.05 * (hi - lo)).max(0.02);
    let (lo, hi) = (lo - margin, hi + margin);
    let datasets = curves
        .iter()
        .enumerate()
        .map(|(i, (name, points))| {
            Dataset::default()
                .name(*name)
                .marker(if i == 0 { Marker::Braille } else { Marker::Dot })
                .graph_type(if i == 0 {
                    GraphType::Line
                } else {
                    GraphType::Scatter
                })
                .style(Style::new().fg(if i == 0 { BLUE } else { ORANGE }))
                .data(points)
        })
        .collect();
    let label = |v: f64| {
        if v.abs() >= 100.0 {
            format!("{v:.0}")
        } else {
            format!("{v:.2}")
        }
    };
    let chart = Chart::new(datasets)
        .block(Block::bordered().title(title))
        .x_axis(
            Axis::default()
                .style(Style::new().fg(GREY))
                .bounds([-view.span_s, 0.0])
                .labels([format!("−{} s", view.span_s), "now".to_string()]),
        )
        .y_axis(
            Axis::default()
                .style(Style::new().fg(GREY))
                .bounds([lo, hi])
                .labels([label(lo), label(hi)]),
        );
    frame.render_widget(chart, area);
}

/// Estimates with their 95 % intervals: the bar is the interval relative to the estimate, full at ±100 %.
fn parameters(frame: &mut Frame<'_>, area: Rect, feed: &Feed) {
    let block = Block::bordered().title("friction (EKF) ± 95 %");
    let Some(params) = &feed.params else {
        frame.render_widget(Paragraph::new("waiting for data").block(block), area);
        return;
    };
    let stage = ["states only", "momentum balance", "joint filter"];
    let stage = stage.get(params.stage as usize).copied().unwrap_or("?");
    let mut lines = vec![Line::styled(
        format!("stage: {stage}"),
        Style::new().fg(GREY),
    )];
    for (i, p) in parameter::EKF
        .iter()
        .enumerate()
        .take(3 * feed.dof.clamp(1, 2))
    {
        let (name, unit) = (p.symbol, p.unit);
        let (p, half) = (f64::from(params.p[i]), 1.96 * f64::from(params.sigma[i]));
        if params.sigma[i] == 0.0 {
            continue;
        }
        let relative = if p == 0.0 {
            f64::INFINITY
        } else {
            (half / p).abs()
        };
        let percent = match relative {
            r if r < 0.1 => format!("{:.2} %", 100.0 * r),
            r if r < 10.0 => format!("{:.0} %", 100.0 * r),
            _ => "> 1000 %".to_string(),
        };
        let bar = "█".repeat((relative.min(1.0) * 8.0).ceil() as usize);
        let known = params.identifiable >> i & 1 == 1;
        let (mark, colour) = if known { (' ', GREEN) } else { ('?', GREY) };
        lines.push(Line::styled(
            format!("{name} {p:10.3e} ±{percent:>8} {unit:<6} {mark} {bar}"),
            Style::new().fg(colour),
        ));
    }
    let grey = Style::new().fg(GREY);
    lines.push(Line::styled("? the data do not show it (yet)", grey));
    lines.push(Line::styled(
        "UAS parameters are a prior: see the report",
        grey,
    ));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn condition(frame: &mut Frame<'_>, area: Rect, feed: &Feed) {
    let good = |ok: bool| Style::new().fg(if ok { GREEN } else { RED });
    let mut lines = vec![
        Line::styled(
            format!("ticks {}  lost {}", feed.ticks, feed.lost_ticks),
            good(feed.lost_ticks == 0),
        ),
        Line::styled(
            format!(
                "bits: {} blocks equal, {} differ",
                feed.compared - feed.differing,
                feed.differing
            ),
            good(feed.differing == 0),
        ),
    ];
    if let Some(s) = &feed.status {
        let h = &s.health;
        if h.clock_hz > 0 && h.period_cycles.mean > 0.0 {
            let load = |cycles: f64| 100.0 * cycles / f64::from(h.period_cycles.mean);
            lines.push(Line::raw(format!(
                "tick load {:.1} %, worst {:.1} %",
                load(f64::from(h.tick_cycles.mean)),
                load(f64::from(h.tick_cycles.max))
            )));
        }
        lines.push(Line::styled(
            format!("overruns {}  device drops {}", h.overruns, s.dropped_blocks),
            good(h.overruns == 0 && s.dropped_blocks == 0),
        ));
        let faults: u32 = s.encoder_faults.iter().sum();
        lines.push(Line::styled(
            format!(
                "encoder faults {faults}  restarts {}/{}",
                s.uas_restarts, s.ekf_restarts
            ),
            good(faults + s.uas_restarts + s.ekf_restarts == 0),
        ));
    }
    frame.render_widget(
        Paragraph::new(lines).block(Block::bordered().title("health")),
        area,
    );
}

fn overlay(frame: &mut Frame<'_>, text: &str) {
    let (w, h) = (50, text.lines().count() as u16 + 2);
    let area = frame.area();
    let at = Rect {
        x: area.width.saturating_sub(w) / 2,
        y: area.height.saturating_sub(h) / 2,
        width: w.min(area.width),
        height: h.min(area.height),
    };
    frame.render_widget(Clear, at);
    frame.render_widget(
        Paragraph::new(text).block(Block::bordered().title("keys")),
        at,
    );
}
