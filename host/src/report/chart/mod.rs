//! Charts for reports, `--plot` and the papers' figures: one description, drawn as SVG or PNG.
//!
//! Colours are Okabe and Ito's colour-blind-safe set; every series also differs in its dash pattern or
//! marker, so the charts survive a black-and-white printer. Series are thinned to what a page can show
//! ([`thin`]): the extremes of every pixel column are kept, so a spike cannot disappear.

mod points;

#[cfg(feature = "png")]
use std::io;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::error::{Error, Result};
use crate::file;
use crate::number;
pub use points::thin;
use points::{MAX_POINTS, outline, unbroken};

/// Okabe–Ito without yellow, which is illegible on white paper.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];

/// Height of the title and of the legend, length of a line in the legend [px].
const TITLE: i32 = 26;
const LEGEND: i32 = 18;
const SAMPLE: i32 = 26;
/// A longer line [px] fills its chart: dashes would not be seen, only stored by the thousand.
const DASHED_LENGTH: f64 = 20_000.0;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    Line,
    Dashed,
    Dots,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub mark: Mark,
    /// Index into the colour set; series of the same thing in different charts share it.
    pub colour: usize,
    pub points: Vec<(f64, f64)>,
    /// Half-width of a shaded band around the curve, one per point (empty: none).
    pub band: Vec<f64>,
}

impl Series {
    pub fn new(name: impl Into<String>, colour: usize, points: Vec<(f64, f64)>) -> Self {
        Series {
            name: name.into(),
            mark: Mark::Line,
            colour,
            points,
            band: Vec::new(),
        }
    }

    pub fn mark(mut self, mark: Mark) -> Self {
        self.mark = mark;
        self
    }

    /// Colour and width of the line; black is thin.
    fn style(&self) -> (RGBColor, u32) {
        let colour = self.colour % COLOURS.len();
        (COLOURS[colour], if colour == 6 { 1 } else { 2 })
    }

    /// Shade ± `half_width` around the curve, e.g. 1.96 σ.
    pub fn band(mut self, half_width: Vec<f64>) -> Self {
        assert_eq!(
            half_width.len(),
            self.points.len(),
            "one band value per point"
        );
        self.band = half_width;
        self
    }
}

/// One pair of axes.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    pub title: String,
    /// Axis labels, with the unit in brackets.
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<Series>,
    /// Logarithmic vertical axis; values ≤ 0 are left out.
    pub log_y: bool,
    /// Vertical range; without it, that of the data.
    pub y_range: Option<(f64, f64)>,
}

impl Chart {
    pub fn new(
        title: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
    ) -> Self {
        Chart {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            ..Chart::default()
        }
    }

    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    fn ranges(&self) -> ((f64, f64), (f64, f64)) {
        let usable =
            |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && (!self.log_y || y > 0.0);
        let (mut x, mut y) = ((f64::MAX, f64::MIN), (f64::MAX, f64::MIN));
        for s in &self.series {
            for (i, p) in s.points.iter().enumerate().filter(|(_, p)| usable(p)) {
                let half = s
                    .band
                    .get(i)
                    .copied()
                    .filter(|b| b.is_finite() && !self.log_y)
                    .unwrap_or(0.0);
                x = (x.0.min(p.0), x.1.max(p.0));
                y = (y.0.min(p.1 - half), y.1.max(p.1 + half));
            }
        }
        if x.0 > x.1 {
            (x, y) = ((0.0, 1.0), if self.log_y { (0.1, 1.0) } else { (0.0, 1.0) });
        }
        if let Some(fixed) = self.y_range {
            y = fixed;
        }
        let widen = |(lo, hi): (f64, f64)| {
            if hi > lo {
                (lo, hi)
            } else {
                (lo - 0.5, lo + 0.5)
            }
        };
        if self.log_y {
            let hi = if y.1 > y.0 { y.1 } else { y.0 * 10.0 };
            (widen(x), (y.0, hi))
        } else {
            let (lo, hi) = widen(y);
            let margin = if self.y_range.is_some() {
                0.0
            } else {
                0.04 * (hi - lo)
            };
            (widen(x), (lo - margin, hi + margin))
        }
    }

    /// A point that can be drawn; any other breaks the line.
    fn shows(&self, &(x, y): &(f64, f64)) -> bool {
        let inside = self.y_range.is_none_or(|(lo, hi)| (lo..=hi).contains(&y));
        x.is_finite() && y.is_finite() && inside && (!self.log_y || y > 0.0)
    }

    /// Length of a line on the page [px].
    fn length(&self, points: &[(f64, f64)], x: (f64, f64), y: (f64, f64), size: (u32, u32)) -> f64 {
        let height = |v: f64| if self.log_y { number::ln(v) } else { v };
        let scale_x = f64::from(size.0) / (x.1 - x.0);
        let scale_y = f64::from(size.1) / (height(y.1) - height(y.0));
        let step = |w: &[(f64, f64)]| {
            let (dx, dy) = (w[1].0 - w[0].0, height(w[1].1) - height(w[0].1));
            number::hypot(dx * scale_x, dy * scale_y)
        };
        points.windows(2).map(step).sum()
    }

    /// Title and legend, above the axes where they hide nothing.
    fn draw_head<B: DrawingBackend>(
        &self,
        head: &DrawingArea<B, Shift>,
        title: i32,
    ) -> Result<(), DrawingError<B>> {
        let (width, _) = head.dim_in_pixel();
        let middle = |text: u32| (width.saturating_sub(text) / 2) as i32;
        if title > 0 {
            let style = ("sans-serif", 17).into_text_style(head);
            let (wide, _) = head.estimate_text_size(&self.title, &style)?;
            head.draw_text(&self.title, &style, (middle(wide), 6))?;
        }
        let style = ("sans-serif", 13).into_text_style(head);
        let mut items = Vec::new();
        for s in self.series.iter().filter(|s| !s.name.is_empty()) {
            let (wide, _) = head.estimate_text_size(&s.name, &style)?;
            items.push((s, wide as i32 + SAMPLE + 24));
        }
        let mut x = middle(items.iter().map(|i| i.1 as u32).sum());
        let y = title + LEGEND / 2 + 1;
        for (s, wide) in items {
            let (colour, stroke) = s.style();
            let stroke = colour.stroke_width(stroke);
            match s.mark {
                Mark::Line => {
                    head.draw(&PathElement::new(vec![(x, y), (x + SAMPLE, y)], stroke))?;
                }
                Mark::Dashed => {
                    for from in [x, x + 10, x + 20] {
                        head.draw(&PathElement::new(vec![(from, y), (from + 6, y)], stroke))?;
                    }
                }
                Mark::Dots => head.draw(&Circle::new((x + SAMPLE / 2, y), 2, colour.filled()))?,
            }
            head.draw_text(&s.name, &style, (x + SAMPLE + 6, y - 7))?;
            x += wide;
        }
        Ok(())
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawingError<B>> {
        let (x, y) = self.ranges();
        let named = self.series.iter().any(|s| !s.name.is_empty());
        let title = if self.title.is_empty() { 0 } else { TITLE };
        let (head, area) = area.split_vertically(title + if named { LEGEND } else { 0 });
        self.draw_head(&head, title)?;
        let size = area.dim_in_pixel();
        let mut builder = ChartBuilder::on(&area);
        builder
            .margin(10)
            .margin_top(4)
            .x_label_area_size(38)
            .y_label_area_size(66);
        // A zero of the axis is never exactly zero.
        let label = |(lo, hi): (f64, f64)| {
            let zero = if self.log_y { 0.0 } else { 1e-9 * (hi - lo) };
            move |v: &f64| tick_label(if v.abs() < zero { 0.0 } else { *v })
        };
        let (x_label, y_label) = (label(x), label(y));
        macro_rules! finish {
            ($chart:expr) => {{
                let mut chart = $chart;
                chart
                    .configure_mesh()
                    .light_line_style(RGBColor(240, 240, 240))
                    .bold_line_style(RGBColor(215, 215, 215))
                    .x_desc(&self.x_label)
                    .y_desc(&self.y_label)
                    .x_labels(8)
                    .y_labels(6)
                    .max_light_lines(1)
                    .x_label_formatter(&x_label)
                    .y_label_formatter(&y_label)
                    .label_style(("sans-serif", 13))
                    .axis_desc_style(("sans-serif", 14))
                    .draw()?;
                for s in &self.series {
                    let (colour, stroke) = s.style();
                    let style = colour.stroke_width(stroke);
                    if !s.band.is_empty() {
                        for part in unbroken(&s.points, |p| p.0.is_finite() && p.1.is_finite()) {
                            chart.draw_series(std::iter::once(Polygon::new(
                                outline(&s.points[part.clone()], &s.band[part], y),
                                colour.mix(0.2).filled(),
                            )))?;
                        }
                    }
                    for part in unbroken(&s.points, |p| self.shows(p)) {
                        let share = MAX_POINTS * part.len() / s.points.len() + 2;
                        let points = thin(&s.points[part], share);
                        let room = self.length(&points, x, y, size) < DASHED_LENGTH;
                        match s.mark {
                            Mark::Line => chart.draw_series(LineSeries::new(points, style))?,
                            Mark::Dashed if room => {
                                chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?
                            }
                            Mark::Dashed => chart.draw_series(LineSeries::new(points, style))?,
                            Mark::Dots => chart.draw_series(
                                points
                                    .into_iter()
                                    .map(|p| Circle::new(p, 2, colour.filled())),
                            )?,
                        };
                    }
                }
            }};
        }
        if self.log_y {
            finish!(builder.build_cartesian_2d(x.0..x.1, (y.0..y.1).log_scale())?)
        } else {
            finish!(builder.build_cartesian_2d(x.0..x.1, y.0..y.1)?)
        }
        Ok(())
    }
}

type DrawingError<B> = DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>;

/// Charts above one another, one picture.
pub struct Figure<'a> {
    pub charts: &'a [Chart],
    /// Size of one chart \[px\].
    pub size: (u32, u32),
    pub columns: usize,
}

impl<'a> Figure<'a> {
    pub fn stacked(charts: &'a [Chart]) -> Self {
        Figure {
            charts,
            size: (760, 260),
            columns: 1,
        }
    }

    fn pixels(&self) -> (u32, u32) {
        let rows = self.charts.len().div_ceil(self.columns).max(1);
        (self.size.0 * self.columns as u32, self.size.1 * rows as u32)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawingError<B>> {
        area.fill(&WHITE)?;
        let rows = self.charts.len().div_ceil(self.columns).max(1);
        for (chart, cell) in self
            .charts
            .iter()
            .zip(area.split_evenly((rows, self.columns)))
        {
            chart.draw(&cell)?;
        }
        area.present()
    }

    /// The figure as a self-contained SVG document.
    pub fn svg(&self) -> String {
        fonts();
        let mut text = String::new();
        {
            let backend = SVGBackend::with_string(&mut text, self.pixels());
            // Writing to a string cannot fail; a drawing error here is a bug in this file.
            self.draw(&backend.into_drawing_area())
                .expect("drawing to memory");
        }
        // Scale with the page instead of a fixed width.
        text.replacen("<svg ", "<svg style=\"max-width:100%;height:auto\" ", 1)
    }

    /// Write the figure; the file name's ending (`.svg` or `.png`) decides the format.
    pub fn write(&self, path: &Path) -> Result<()> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => file::replace(path, self.svg()),
            #[cfg(not(feature = "png"))]
            Some("png") => Err(Error::left_out(path, "png", "plot.svg")),
            #[cfg(feature = "png")]
            Some("png") => {
                fonts();
                // The drawing library writes files only: beside the name first, then renamed.
                let at = file::beside(path);
                let drawn = {
                    let backend = BitMapBackend::new(&at, self.pixels());
                    self.draw(&backend.into_drawing_area())
                };
                drawn
                    .map_err(|e| Error::write(path, io::Error::other(e.to_string())))
                    .and_then(|()| std::fs::rename(&at, path).map_err(|e| Error::write(path, e)))
                    .inspect_err(|_| drop(std::fs::remove_file(&at)))
            }
            _ => Err(Error::invalid(
                format!("{}: a plot ends in .svg or .png", path.display()),
                "name the picture plot.svg or plot.png",
            )),
        }
    }
}

fn fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A font that cannot be registered shows as missing text, never as an error.
        let _ = register_font(
            "sans-serif",
            FontStyle::Normal,
            epaint_default_fonts::UBUNTU_LIGHT,
        );
    });
}

/// Tick labels without trailing zeros; powers of ten where decimals would be long.
fn tick_label(v: f64) -> String {
    let a = v.abs();
    if v == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&a) {
        let text = format!("{v:.2e}");
        text.replace(".00e", "e").replace("0e", "e")
    } else {
        let text = format!("{v:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_distant_value_breaks_the_line() {
        let points = vec![
            (0.0, 1.0),
            (1.0, 2.0),
            (2.0, f64::NAN),
            (3.0, 9.0),
            (4.0, 1.0),
            (5.0, 2.0),
        ];
        let mut chart = Chart::new("", "x", "y").with(Series::new("s", 0, points));
        chart.y_range = Some((0.0, 3.0));
        let parts = unbroken(&chart.series[0].points, |p| chart.shows(p));
        assert_eq!(parts, [0..2, 4..6]);
        let svg = Figure::stacked(&[chart]).svg();
        assert_eq!(
            svg.matches("#0072B2").count(),
            3,
            "two stretches and the legend: {svg}"
        );
    }

    #[test]
    fn svg_names_axes_units_and_series() {
        let band = Series::new("estimate", 0, vec![(0.0, 1.0), (1.0, 2.0)]).band(vec![0.5, 0.1]);
        let chart = Chart::new("angle", "time [s]", "θ0 [rad]").with(band);
        let svg = Figure::stacked(&[chart]).svg();
        for text in ["time [s]", "θ0 [rad]", "estimate", "angle", "<polygon"] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }

    #[test]
    fn empty_and_constant_data_still_draw() {
        let flat =
            Chart::new("flat", "x", "y").with(Series::new("c", 0, vec![(0.0, 3.0), (1.0, 3.0)]));
        let mut log =
            Chart::new("log", "x", "y").with(Series::new("n", 1, vec![(0.0, 0.0), (1.0, -1.0)]));
        log.log_y = true;
        let svg = Figure::stacked(&[Chart::new("empty", "x", "y"), flat, log]).svg();
        assert!(svg.starts_with("<svg"));
    }
}
