//! Charts for reports, `--plot` and the papers' figures: one description, drawn as SVG or PNG.
//!
//! Colours are Okabe and Ito's colour-blind-safe set; every series also differs in its dash pattern or
//! marker, so the charts survive a black-and-white printer. Series are thinned to what a page can show
//! ([`thin`]): the extremes of every pixel column are kept, so a spike cannot disappear.

use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

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

/// Points kept per series: two per pixel column of the widest chart.
const MAX_POINTS: usize = 1600;

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

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawingError<B>> {
        let (x, y) = self.ranges();
        let mut builder = ChartBuilder::on(area);
        builder
            .margin(10)
            .x_label_area_size(38)
            .y_label_area_size(66);
        if !self.title.is_empty() {
            builder.caption(&self.title, ("sans-serif", 17));
        }
        let labels = |v: &f64| tick_label(*v);
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
                    .x_label_formatter(&labels)
                    .y_label_formatter(&labels)
                    .label_style(("sans-serif", 13))
                    .axis_desc_style(("sans-serif", 14))
                    .draw()?;
                for s in &self.series {
                    let colour = COLOURS[s.colour % COLOURS.len()];
                    let points = thin(&s.points, MAX_POINTS);
                    let points: Vec<(f64, f64)> = points
                        .into_iter()
                        .filter(|p| p.1.is_finite() && (!self.log_y || p.1 > 0.0))
                        .collect();
                    if !s.band.is_empty() {
                        let edge = |sign: f64| {
                            let edge = s
                                .points
                                .iter()
                                .zip(&s.band)
                                .map(|(p, b)| (p.0, p.1 + sign * b));
                            thin(&edge.collect::<Vec<_>>(), MAX_POINTS)
                        };
                        let clamp = |p: (f64, f64)| (p.0, p.1.clamp(y.0, y.1));
                        let mut outline: Vec<_> = edge(1.0).into_iter().map(clamp).collect();
                        outline.extend(edge(-1.0).into_iter().rev().map(clamp));
                        outline.retain(|p| p.1.is_finite());
                        chart.draw_series(std::iter::once(Polygon::new(
                            outline,
                            colour.mix(0.2).filled(),
                        )))?;
                    }
                    let style = colour.stroke_width(if s.colour == 6 { 1 } else { 2 });
                    let drawn = match s.mark {
                        Mark::Line => chart.draw_series(LineSeries::new(points, style))?,
                        Mark::Dashed => {
                            chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?
                        }
                        Mark::Dots => chart.draw_series(
                            points
                                .into_iter()
                                .map(|p| Circle::new(p, 2, colour.filled())),
                        )?,
                    };
                    if !s.name.is_empty() {
                        let mark = s.mark;
                        drawn.label(s.name.as_str()).legend(move |(x, y)| {
                            let to = if mark == Mark::Dashed { x + 9 } else { x + 18 };
                            let from = if mark == Mark::Dots { to - 3 } else { x };
                            PathElement::new(vec![(from, y), (to, y)], style)
                        });
                    }
                }
                if self.series.iter().any(|s| !s.name.is_empty()) {
                    chart
                        .configure_series_labels()
                        .position(SeriesLabelPosition::UpperRight)
                        .background_style(WHITE.mix(0.8))
                        .border_style(RGBColor(200, 200, 200))
                        .label_font(("sans-serif", 13))
                        .draw()?;
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
    /// Size of one chart [px].
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
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => std::fs::write(path, self.svg())
                .map_err(|e| anyhow::anyhow!("cannot write {}: {e}", path.display())),
            Some("png") => {
                fonts();
                let backend = BitMapBackend::new(path, self.pixels());
                self.draw(&backend.into_drawing_area())
                    .map_err(|e| anyhow::anyhow!("cannot write {}: {e}", path.display()))
            }
            _ => anyhow::bail!("{}: a plot ends in .svg or .png", path.display()),
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

/// At most `max` points: per bucket of the horizontal axis the lowest and the highest, in order.
pub fn thin(points: &[(f64, f64)], max: usize) -> Vec<(f64, f64)> {
    if points.len() <= max {
        return points.to_vec();
    }
    let buckets = max / 2;
    let mut kept = Vec::with_capacity(max);
    for b in 0..buckets {
        let bucket = &points[b * points.len() / buckets..(b + 1) * points.len() / buckets];
        let extreme = |pick: fn(f64, f64) -> bool| {
            bucket
                .iter()
                .enumerate()
                .fold(None, |best: Option<usize>, (i, p)| match best {
                    Some(j) if !pick(p.1, bucket[j].1) => Some(j),
                    _ if p.1.is_nan() => best,
                    _ => Some(i),
                })
        };
        let (Some(lo), Some(hi)) = (extreme(|a, b| a < b), extreme(|a, b| a > b)) else {
            continue;
        };
        kept.push(bucket[lo.min(hi)]);
        if lo != hi {
            kept.push(bucket[lo.max(hi)]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_spike_and_the_order() {
        let mut points: Vec<(f64, f64)> = (0..100_000)
            .map(|i| (i as f64, (i as f64 * 1e-3).sin()))
            .collect();
        points[54_321].1 = 7.0;
        let kept = thin(&points, 1000);
        assert!(kept.len() <= 1000);
        assert!(kept.contains(&(54_321.0, 7.0)));
        assert!(kept.windows(2).all(|w| w[0].0 < w[1].0));
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
