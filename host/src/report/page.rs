//! The report as one HTML page: no scripts, no addresses, all figures inline; made to be printed on A4 and filed.
//!
//! This file is the order of the sections; `health_section` and `result_section` write the long ones.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use stribeck_core::model::joint::Joint;
use stribeck_core::model::plant::PlantConfig;

use super::markup::figure;
use super::{Analysis, Report, figures, health_section, result_section};
use crate::config;
use crate::config::axes::Axes;

/// Sections and figures, numbered as they come.
#[derive(Default)]
pub struct Page {
    body: String,
    sections: usize,
    figures: usize,
}

impl Page {
    pub fn section(&mut self, title: &str) {
        self.sections += 1;
        self.html(html! { h2 { (self.sections) " " (title) } "\n" });
    }

    pub fn subsection(&mut self, title: &str) {
        self.html(html! { h3 { (title) } "\n" });
    }

    pub fn paragraph(&mut self, content: Markup) {
        self.html(html! { p { (content) } "\n" });
    }

    pub fn note(&mut self, class: &str, content: Markup) {
        self.html(html! { p class=(class) { (content) } "\n" });
    }

    pub fn html(&mut self, html: Markup) {
        self.body.push_str(&html.into_string());
    }

    /// The document with these sections.
    pub fn document(self, title: &str, of: &str, below: Markup) -> String {
        document(title, of, below, self.body).into_string()
    }

    pub fn figure(
        &mut self,
        charts: &[crate::report::chart::Chart],
        columns: usize,
        caption: &str,
    ) {
        if !charts.is_empty() {
            self.figures += 1;
            self.html(figure(self.figures, charts, columns, caption));
        }
    }
}

/// The whole page.
pub fn html(report: &Report) -> String {
    let mut page = Page::default();
    page.section("Result");
    match &report.analysis {
        Some(analysis) => result_section::result(&mut page, report, analysis),
        None => page.note("note", never_swung(report)),
    }
    page.section("Run and health");
    health_section::health(&mut page, report);
    if let Some(analysis) = &report.analysis {
        sections(&mut page, analysis);
    }
    page.section("What these numbers cannot say");
    page.html(limits(report));
    if let Some(text) = report.config.as_ref().and_then(|c| config::to_toml(c).ok()) {
        page.section("Configuration of the device");
        page.html(html! { pre { (text) } "\n" });
    }
    frame(report, page.body).into_string()
}

fn frame(report: &Report, body: String) -> Markup {
    let log = report.log.file_name().unwrap_or(report.log.as_os_str());
    let log = log.to_string_lossy();
    let date = report.health.recorded_ns.map(super::markup::date);
    let below = html! {
        (log)
        @if let Some(d) = &report.health.device { " · " (d.board) " · firmware " (d.build) }
        @if let Some(date) = date { " · recorded " (date) }
    };
    document("Friction report", &log, below, body)
}

/// A page that needs nothing else.
fn document(title: &str, of: &str, below: Markup, body: String) -> Markup {
    html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                "\n" meta charset="utf-8"; "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                title { (title) ": " (of) } "\n"
                style { "\n" (PreEscaped(include_str!("style.css"))) } "\n"
            }
            "\n"
            body {
                "\n"
                header {
                    h1 { (title) }
                    p { (below) }
                }
                "\n"
                main { "\n" (PreEscaped(body)) } "\n"
                footer { "Written by stribeck " (env!("CARGO_PKG_VERSION")) ". Nothing on this page is loaded from elsewhere." }
                "\n"
            }
        }
        "\n"
    }
}

fn never_swung(report: &Report) -> Markup {
    let seconds = report.health.ticks as f64
        / f64::from(
            report
                .health
                .device
                .as_ref()
                .map_or(1, |d| d.tick_hz.max(1)),
        );
    html! {
        b { "Nothing swung." }
        " In " (format!("{seconds:.1}")) " s of log the device was never in the phase " i { "swinging" }
        ": it was not armed, or the links were not let go. There is nothing to identify; the health of device and link follows."
    }
}

/// The sections that only a run has, in the order of the argument: seen, estimated, validated, questioned.
fn sections(page: &mut Page, a: &Analysis) {
    let axes = a.swing.axes();
    page.section(&format!("Measured and estimated {}s", axes.word()));
    page.figure(
        &figures::angles(a),
        1,
        "The whole run: measured by the encoders, estimated on the device by both observers. Gaps in the lines are lost ticks.",
    );
    page.figure(
        &figures::angles_detail(a),
        2,
        "The first seconds after the release, enlarged.",
    );
    page.section("Error and gain of the UAS observer");
    page.figure(
        &figures::error_and_gain(a),
        2,
        "Velocity error |e| that drives the adaptation, and the gain k, which never decreases.",
    );
    page.section("Parameters over time");
    page.figure(
        &figures::ekf_parameters(a),
        2,
        "Kalman filter: estimates and their 95 % bands. The vertical range is that of the result; what lies outside it at the beginning is not shown.",
    );
    page.figure(
        &figures::uas_parameters(a),
        2,
        "UAS: each parameter divided by the fixed point of its law. Every line runs towards 1 on any record, as far as the error carries it: a prior running down, not a measurement.",
    );
    page.section("Free-run validation");
    result_section::validation(page, a);
    page.section("Spectrum and phase portrait");
    let mut both = figures::spectra(a);
    both.extend(figures::portraits(a));
    let dominant: Vec<String> = a
        .dominant_hz
        .iter()
        .enumerate()
        .filter_map(|(j, f)| f.map(|f| format!("{} at {f:.3} Hz", axes.symbol(j))))
        .collect();
    let caption = format!(
        "Above: amplitude spectrum of each joint (Hann window); strongest: {}. Below: velocity over {}, from the Kalman filter, first 60 s at most.",
        if dominant.is_empty() {
            "none".into()
        } else {
            dominant.join(", ")
        },
        axes.word()
    );
    page.figure(&both, 2, &caption);
    page.section("Residuals");
    result_section::residuals(page, a);
    page.section(&format!(
        "Friction {} and velocity",
        efforts(&axes).join(" or ")
    ));
    result_section::torque(page, a);
    page.section("What could be identified");
    result_section::identifiability(page, a);
}

/// "torque", "force", or both in the order of the joints.
fn efforts(axes: &Axes) -> Vec<&'static str> {
    let mut words: Vec<_> = axes.joints[..axes.dof].iter().map(|j| j.effort()).collect();
    words.dedup();
    words
}

/// What the Coulomb coefficients of this plant are, and are not.
fn coulomb(report: &Report) -> &'static str {
    let joints = report.config.as_ref().map(|c| Axes::of(&c.plant));
    let slides = joints.is_some_and(|a| a.joints[..a.dof].contains(&Joint::Prismatic));
    match slides {
        false => {
            "Coulomb friction here is a torque per newton of joint force (metres): coefficient times effective radius. Neither of them alone is known."
        }
        true => {
            "Coulomb friction of a joint that slides is a force per newton of normal force, its coefficient. Of a joint that turns it is a torque \
             per newton of joint force (metres): coefficient times effective radius, and neither of them alone is known."
        }
    }
}

fn limits(report: &Report) -> Markup {
    let mut items: Vec<String> = Vec::new();
    if let Some(config) = &report.config {
        items.push(match &config.plant {
            PlantConfig::Furuta(f) => format!(
                "The rig is taken as configured: masses, lengths, inertias and the tilt of {:.2}°. An error of 1 % in an inertia or \
                 lever moves the friction values by about as much, and no interval here contains it.",
                f.tilt.to_degrees()
            ),
            _ => "The rig is taken as configured: masses, lengths and inertias. An error of 1 % in them moves the \
                 friction values by about as much, and no interval here contains it."
                .into(),
        });
    }
    items.push(
        "Intervals assume that the friction law of the method is the true one. Where it is not (Stribeck peak, asymmetry, drag, a bearing \
         that warms up) the residuals and the measured torque show it; the intervals do not."
            .into(),
    );
    let skipped = report.health.losses.skipped_ticks;
    if skipped > 0 {
        items.push(format!(
            "{skipped} ticks never happened because the processor was busy. Gaps of up to 20 ms are bridged and widen the intervals of the \
             observers; after a longer one they start again and know only what came later."
        ));
    }
    if let Some(a) = &report.analysis {
        let reach: Vec<String> = a
            .torque
            .iter()
            .enumerate()
            .map(|(j, m)| {
                format!(
                    "joint {j} up to {:.2} {} at a median load of {:.2} N",
                    m.fastest,
                    a.swing.axes().units(j).velocity,
                    m.normal
                )
            })
            .collect();
        items.push(format!(
            "The run visited {}. Beyond that the laws are extrapolated.",
            reach.join(", ")
        ));
    }
    items.extend(
        [
            "Fnt has no influence on such a swing. μs and vt act only in the instants around standstill, below the resolution of the \
             encoders: the Kalman filter assumes them, and what the grey box finds for them is what makes its law fit there, good for as \
             long as that law is the true one.",
            "UAS parameters are not measurements. Their law contains no measurement except the size of the error, so they move from the \
             guess to a fixed point that is known beforehand. The UAS coordinates and velocities are sound.",
            "A free-run fit is dominated by the large swings at the beginning. 99.9 % does not mean parameters within .1 %; \
             two different laws may fit equally well.",
            coulomb(report),
            "One run is one temperature, one lubrication, one assembly. Repeat the run to learn how much the values scatter.",
            "Equal digests prove that the device computed what this program computes from the same counts; they say nothing about \
             whether an encoder slipped or was mounted with an offset.",
        ]
        .map(String::from),
    );
    html! { ul { "\n" @for item in items { li { (item) } "\n" } } "\n" }
}
