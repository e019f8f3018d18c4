//! Drawing of the live view: plots of every joint on its own axis, friction with its band over time, the parameters with
//! their intervals, health, events, keys.
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
use stribeck_core::model::motor::Duty;
use stribeck_core::model::parameter;

use crate::cli::live::feed::{Curve, Feed, shown};

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
    header(frame, head, feed, view);
    curves(frame, plots, feed, view);

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
    if let (Phase::Driving, Some(drive), Some([torque, duty])) = (
        feed.phase,
        feed.params.as_ref().and_then(|p| p.drive),
        feed.most,
    ) {
        let percent = 100.0 * f32::from(drive.duty) / f32::from(Duty::FULL);
        spans.push(Span::raw(format!(
            " u {:+.4} of {torque} N·m, duty {percent:+.1} of {:.0} % ",
            drive.u,
            100.0 * duty
        )));
        if drive.saturated {
            spans.push(Span::styled(
                " saturated ",
                Style::new().fg(Color::Black).bg(ORANGE),
            ));
        }
    }
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

/// Lines a row of plots needs to show anything.
const ROW: u16 = 7;

/// Rows of plots, the most telling first; a small terminal shows fewer.
fn curves(frame: &mut Frame<'_>, area: Rect, feed: &Feed, view: &View) {
    let (axes, joints) = (&feed.axes, feed.axes.dof);
    let window = |curve: &Curve| curve.window(feed.now_s, view.span_s);
    let per_joint = |title: &dyn Fn(usize) -> String, curves: &[Curve; 2]| -> Vec<Plot> {
        (0..joints)
            .map(|j| Plot::line(format!("{} {}", title(j), axes.name(j)), window(&curves[j])))
            .collect()
    };
    // "angle [deg] θ0", "position [mm] x0".
    let place = |j: usize| {
        let (_, unit) = shown(axes.joints[j]);
        format!(
            "{} [{unit}] {}",
            axes.joints[j].coordinate(),
            axes.symbol(j)
        )
    };
    let speed = |j: usize| {
        let unit = axes.units(j).velocity;
        format!("velocity [{unit}] {}", axes.speed_symbol(j))
    };
    // Three parameters of a joint, the next joint's behind them.
    let friction = |k: usize| -> Vec<Plot> {
        (0..joints)
            .map(|j| {
                let (p, band) = (&parameter::EKF[3 * j + k], &feed.friction[3 * j + k]);
                let title = format!(
                    "{} {} [{}] ·· 95 %",
                    p.symbol,
                    axes.name(j),
                    p.unit_at(axes.joints[j])
                );
                let [value, low, high] = [&band.value, &band.low, &band.high].map(window);
                Plot::band(title, value, low, high)
            })
            .collect()
    };
    let adaptation = vec![
        Plot::line(
            format!("UAS error |e| [{}]", axes.all(|u| u.velocity)),
            window(&feed.error),
        ),
        Plot::line("UAS gain k", window(&feed.gain)),
    ];
    let rows = [
        per_joint(&place, &feed.angle),
        friction(0),
        friction(1),
        per_joint(&speed, &feed.velocity),
        adaptation,
    ];
    let count = usize::from(area.height / ROW).clamp(2, rows.len());
    let places = Layout::vertical(vec![Constraint::Ratio(1, count as u32); count]).split(area);
    for (row, place) in rows.iter().zip(places.iter()) {
        let parts = vec![Constraint::Ratio(1, row.len() as u32); row.len()];
        for (plot, place) in row
            .iter()
            .zip(Layout::horizontal(parts).split(*place).iter())
        {
            plot.draw(frame, *place, view);
        }
    }
}

/// One plot: a curve, perhaps within a band.
struct Plot {
    title: String,
    value: Vec<(f64, f64)>,
    band: [Vec<(f64, f64)>; 2],
    /// Vertical range.
    range: [f64; 2],
}

impl Plot {
    fn line(title: impl Into<String>, value: Vec<(f64, f64)>) -> Plot {
        let (mut lo, mut hi) = (f64::MAX, f64::MIN);
        for p in value.iter().filter(|p| p.1.is_finite()) {
            (lo, hi) = (lo.min(p.1), hi.max(p.1));
        }
        if lo > hi {
            (lo, hi) = (0.0, 1.0);
        }
        // Wide enough for the labels' two digits to differ.
        let margin = (0.05 * (hi - lo)).max(0.02);
        Plot {
            title: title.into(),
            value,
            band: [Vec::new(), Vec::new()],
            range: [lo - margin, hi + margin],
        }
    }

    /// The range is three times the band at the end: how wide it was at first says nothing.
    fn band(
        title: String,
        value: Vec<(f64, f64)>,
        low: Vec<(f64, f64)>,
        high: Vec<(f64, f64)>,
    ) -> Plot {
        let range = match (low.last(), high.last()) {
            (Some(lo), Some(hi)) if (hi.1 - lo.1).is_finite() && hi.1 > lo.1 => {
                let width = hi.1 - lo.1;
                [lo.1 - width, hi.1 + width]
            }
            _ => [0.0, 1.0],
        };
        Plot {
            title,
            value,
            band: [low, high],
            range,
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, view: &View) {
        let mut datasets: Vec<Dataset> = self
            .band
            .iter()
            .filter(|points| !points.is_empty())
            .map(|points| {
                Dataset::default()
                    .marker(Marker::Dot)
                    .graph_type(GraphType::Scatter)
                    .style(Style::new().fg(ORANGE))
                    .data(points)
            })
            .collect();
        datasets.push(
            Dataset::default()
                .marker(Marker::Braille)
                .graph_type(GraphType::Line)
                .style(Style::new().fg(BLUE))
                .data(&self.value),
        );
        let label = |v: f64| match v.abs() {
            x if x >= 100.0 => format!("{v:.0}"),
            x if x >= 0.01 || x == 0.0 => format!("{v:.2}"),
            _ => format!("{v:.1e}"),
        };
        let [lo, hi] = self.range;
        let chart = Chart::new(datasets)
            .block(Block::bordered().title(self.title.as_str()))
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
    for (i, p) in parameter::EKF.iter().enumerate().take(3 * feed.axes.dof) {
        let (name, unit) = (p.symbol, p.unit_at(feed.axes.joints[i / 3]));
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
