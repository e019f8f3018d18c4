//! The charts of the report. One colour per thing in all of them: black is measured, blue the Kalman filter, vermilion
//! the UAS, green the off-line result, purple the initial guess.

use stribeck_core::JOINTS;
use stribeck_core::model::parameter::{EKF_OF_JOINT, UAS_OF_JOINT};
use stribeck_core::wire::block::Params;

use super::candidate::{Kind, Z95};
use super::swing::Swing;
use super::{Analysis, Report, joint_of, spectrum};
use crate::report::chart::{Chart, Mark, Series};

const MEASURED: usize = 6;
const EKF: usize = 0;
const UAS: usize = 1;
/// Length of the enlarged beginning [s].
const DETAIL: f64 = 4.0;
/// The phase portrait shows this much [s], at so many points.
const PORTRAIT: f64 = 60.0;
const PORTRAIT_POINTS: usize = 1500;

fn colour(kind: Kind) -> usize {
    match kind {
        Kind::InitialGuess => 3,
        Kind::Uas => UAS,
        Kind::Ekf => EKF,
        Kind::Offline => 2,
    }
}

fn mark(kind: Kind) -> Mark {
    match kind {
        Kind::Ekf | Kind::Offline => Mark::Dashed,
        Kind::InitialGuess | Kind::Uas => Mark::Line,
    }
}

/// "θ0 [rad]", "x0 [m]".
fn place_label(swing: &Swing, j: usize) -> String {
    let axes = swing.axes();
    format!("{} [{}]", axes.symbol(j), axes.units(j).coordinate)
}

/// "ω0 [rad/s]", "v0 [m/s]".
fn speed_label(swing: &Swing, j: usize) -> String {
    let axes = swing.axes();
    format!("{} [{}]", axes.speed_symbol(j), axes.units(j).velocity)
}

/// "arm, joint 0".
fn joint_title(swing: &Swing, j: usize) -> String {
    format!("{}, joint {j}", swing.axes().name(j))
}

/// A point that breaks the line wherever two neighbours are further apart than `longest` [s].
fn broken(points: Vec<(f64, f64)>, longest: f64) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for p in points {
        if let Some(last) = out.last()
            && p.0 - last.0 > longest
        {
            out.push((0.5 * (last.0 + p.0), f64::NAN));
        }
        out.push(p);
    }
    out
}

/// What counts as missing between records of the observers [s].
fn record_gap(swing: &Swing, every: u64, grid: u64) -> f64 {
    2.5 * swing.tick_s() * spacing(every, grid) as f64
}

/// Ticks between records that come at multiples of `every` and are kept at multiples of `grid`.
fn spacing(every: u64, grid: u64) -> u64 {
    let (every, grid) = (every.max(1), grid.max(1));
    let (mut a, mut b) = (every, grid);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    every / a * grid
}

/// Measured and estimated angles: the whole run, one chart per joint.
pub fn angles(a: &Analysis) -> Vec<Chart> {
    (0..a.swing.joints())
        .map(|j| angle_chart(a, j, f64::MAX))
        .collect()
}

/// The same, the beginning enlarged.
pub fn angles_detail(a: &Analysis) -> Vec<Chart> {
    let end = a.release + DETAIL;
    (0..a.swing.joints())
        .map(|j| angle_chart(a, j, end))
        .collect()
}

fn angle_chart(a: &Analysis, j: usize, end: f64) -> Chart {
    let swing = &a.swing;
    let observed = swing.observed.samples();
    let every = u64::from(swing.config.stream.state_every);
    let gap = record_gap(swing, every, swing.observed.every());
    let series = |of: &dyn Fn(&super::swing::Observed) -> f64| {
        let points = observed
            .iter()
            .map(|(tick, o)| (swing.seconds(*tick), of(o)));
        broken(points.filter(|p| p.0 <= end).collect(), gap)
    };
    Chart::new(joint_title(swing, j), "time [s]", place_label(swing, j))
        .with(Series::new(
            "measured",
            MEASURED,
            series(&|o| o.measured[j]),
        ))
        .with(Series::new("UAS", UAS, series(&|o| o.states.uas_q[j].into())).mark(Mark::Dashed))
        .with(Series::new("EKF", EKF, series(&|o| o.states.ekf_q[j].into())).mark(Mark::Dashed))
}

/// |e| and k of the UAS.
pub fn error_and_gain(a: &Analysis) -> Vec<Chart> {
    let swing = &a.swing;
    let params = swing.params.samples();
    let gap = record_gap(
        swing,
        swing.config.stream.param_every.into(),
        swing.params.every(),
    );
    let series = |of: &dyn Fn(&Params) -> f64| {
        let points = params.iter().map(|(tick, p)| (swing.seconds(*tick), of(p)));
        broken(points.collect(), gap)
    };
    let unit = format!("|e| [{}]", swing.axes().all(|u| u.velocity));
    let mut error = Chart::new("velocity error of the UAS", "time [s]", unit).with(Series::new(
        "",
        UAS,
        series(&|p| p.error.into()),
    ));
    error.log_y = true;
    let gain = Chart::new("gain of the UAS", "time [s]", "k").with(Series::new(
        "",
        UAS,
        series(&|p| p.k.into()),
    ));
    vec![error, gain]
}

/// Kalman filter's parameters with their 95 % bands.
pub fn ekf_parameters(a: &Analysis) -> Vec<Chart> {
    let swing = &a.swing;
    let mut charts = Vec::new();
    for j in 0..swing.joints() {
        for (k, p) in EKF_OF_JOINT.into_iter().enumerate() {
            if k == 2 && !swing.config.ekf.drag {
                continue;
            }
            charts.push(ekf_parameter(
                swing,
                3 * j + k,
                &format!("{}{j}", p.symbol),
                p.unit_at(swing.axes().joints[j]),
            ));
        }
    }
    charts
}

fn ekf_parameter(swing: &Swing, i: usize, name: &str, unit: &str) -> Chart {
    let (value, sigma) = swing
        .last
        .map_or((0.0, 0.0), |p| (f64::from(p.p[i]), f64::from(p.sigma[i])));
    // The first seconds know nothing: the range is that of the result, not of the ignorance before it.
    let half = (4.0 * Z95 * sigma).max(0.3 * value.abs()).max(1e-9);
    let range = (value - half, value + half);
    let params = swing.params.samples();
    let known = |p: &Params| {
        let value = f64::from(p.p[i]);
        // Before the joint filter starts there is no estimate.
        if p.sigma[i] > 0.0 { value } else { f64::NAN }
    };
    let points: Vec<(f64, f64)> = params
        .iter()
        .map(|(tick, p)| (swing.seconds(*tick), known(p)))
        .collect();
    let band = params
        .iter()
        .map(|(_, p)| Z95 * f64::from(p.sigma[i]))
        .collect();
    let mut chart = Chart::new(name, "time [s]", format!("{name} [{unit}]"))
        .with(Series::new("", EKF, points).band(band));
    chart.y_range = Some(range);
    chart
}

/// UAS parameters, each divided by the fixed point of its law.
pub fn uas_parameters(a: &Analysis) -> Vec<Chart> {
    let swing = &a.swing;
    let fixed = swing.config.uas.fixed_point();
    (0..swing.joints())
        .map(|j| {
            let title = joint_title(swing, j);
            let mut chart = Chart::new(title, "time [s]", "estimate / fixed point");
            for (n, p) in UAS_OF_JOINT.into_iter().enumerate() {
                let symbol = p.symbol;
                let i = 5 * j + n;
                let points = swing.params.samples().iter().map(|(tick, p)| {
                    (
                        swing.seconds(*tick),
                        f64::from(p.z[i]) / f64::from(fixed[i]),
                    )
                });
                let style = if n % 2 == 0 { Mark::Line } else { Mark::Dashed };
                let series = Series::new(format!("{symbol}{j}"), n, points.collect());
                chart = chart.with(series.mark(style));
            }
            chart.log_y = true;
            chart
        })
        .collect()
}

/// Free runs against the measurement, per joint.
pub fn free_runs(a: &Analysis) -> Vec<Chart> {
    let Some(measured) = &a.measured else {
        return Vec::new();
    };
    let gap = 2.5 * a.swing.tick_s() * a.swing.measured.every() as f64;
    let mut charts = Vec::new();
    for j in 0..a.swing.joints() {
        let points = joint_of(&measured.trace, j);
        let range = span(points.iter().map(|p| p.1));
        let margin = 0.25 * (range.1 - range.0);
        let label = place_label(&a.swing, j);
        let mut chart = Chart::new(joint_title(&a.swing, j), "time [s]", label);
        chart = chart.with(Series::new("measured", MEASURED, broken(points, gap)));
        for v in &a.validated {
            let points = measured.trace.iter().zip(&v.free_run.q);
            let points = points.map(|((t, _), q)| (*t, q[j]));
            let kind = v.candidate.kind;
            let series = Series::new(v.candidate.name.clone(), colour(kind), points.collect());
            chart = chart.with(series.mark(mark(kind)));
        }
        // A wrong law may run away: it leaves the chart instead of flattening everything else.
        chart.y_range = Some((range.0 - margin, range.1 + margin));
        charts.push(chart);
    }
    charts
}

/// Measured minus free run [mrad or mm] of the sets that are estimates, per joint.
pub fn free_run_errors(a: &Analysis) -> Vec<Chart> {
    let Some(measured) = &a.measured else {
        return Vec::new();
    };
    let estimates = || {
        let all = a.validated.iter();
        all.filter(|v| matches!(v.candidate.kind, Kind::Ekf | Kind::Offline))
    };
    (0..a.swing.joints())
        .map(|j| {
            let unit = a.swing.axes().units(j).coordinate;
            let label = format!("measured − free run [m{unit}]");
            let mut chart = Chart::new(joint_title(&a.swing, j), "time [s]", label);
            for v in estimates() {
                let points = measured.trace.iter().zip(&v.free_run.q);
                let points = points
                    .map(|((t, x), q)| (*t, 1e3 * (x[j] - q[j])))
                    .collect();
                let name = v.candidate.name.clone();
                chart = chart.with(Series::new(name, colour(v.candidate.kind), points));
            }
            chart
        })
        .collect()
}

/// Amplitude spectra: measured, and the best free run.
pub fn spectra(a: &Analysis) -> Vec<Chart> {
    let best = a
        .validated
        .iter()
        .rfind(|v| matches!(v.candidate.kind, Kind::Ekf | Kind::Offline));
    (0..a.swing.joints())
        .map(|j| {
            let title = format!("spectrum of the {}", a.swing.axes().name(j));
            let label = format!("amplitude of {}", place_label(&a.swing, j));
            let mut chart = Chart::new(title, "frequency [Hz]", label).with(Series::new(
                "measured",
                MEASURED,
                a.spectra[j].clone(),
            ));
            if let (Some(best), Some(measured)) = (best, &a.measured) {
                let times = measured.trace.iter().zip(&best.free_run.q);
                let points: Vec<_> = times.map(|((t, _), q)| (*t, q[j])).collect();
                let name = format!("free run, {}", best.candidate.name);
                let series = Series::new(
                    name,
                    colour(best.candidate.kind),
                    spectrum::amplitude(&points),
                );
                chart = chart.with(series.mark(Mark::Dashed));
            }
            chart.log_y = true;
            chart
        })
        .collect()
}

/// Velocity over coordinate, both from the Kalman filter.
pub fn portraits(a: &Analysis) -> Vec<Chart> {
    let swing = &a.swing;
    let records = swing.observed.samples();
    let end = records.partition_point(|(tick, _)| swing.seconds(*tick) <= PORTRAIT);
    let stride = end.div_ceil(PORTRAIT_POINTS).max(1);
    (0..swing.joints())
        .map(|j| {
            let title = format!("phase portrait of the {}", swing.axes().name(j));
            let points = records[..end].iter().step_by(stride);
            let points =
                points.map(|(_, o)| (f64::from(o.states.ekf_q[j]), f64::from(o.states.ekf_w[j])));
            Chart::new(title, place_label(swing, j), speed_label(swing, j)).with(Series::new(
                "",
                EKF,
                points.collect(),
            ))
        })
        .collect()
}

/// Residuals of the observers \[counts\], per joint.
pub fn residuals(a: &Analysis) -> Vec<Chart> {
    (0..a.swing.joints())
        .map(|j| {
            let title = joint_title(&a.swing, j);
            let mut chart = Chart::new(title, "time [s]", "measured − estimated [counts]");
            // The larger one first, so that the smaller one stays visible.
            for r in a.residuals.iter().rev().filter(|r| r.joint == j) {
                let colour = if r.observer == "EKF" { EKF } else { UAS };
                chart = chart.with(Series::new(r.observer, colour, r.points.clone()));
            }
            chart
        })
        .collect()
}

/// Friction torque, or force, over velocity: measured points and the law of every set, per joint.
pub fn torques(a: &Analysis) -> Vec<Chart> {
    a.torque
        .iter()
        .enumerate()
        .map(|(j, measured)| {
            let axes = a.swing.axes();
            let title = format!("friction of the {}", axes.name(j));
            let label = format!("{} [m{}]", axes.joints[j].effort(), axes.units(j).effort);
            let mut chart = Chart::new(title, speed_label(&a.swing, j), label);
            let reach = measured.fastest.max(0.1);
            for v in &a.validated {
                let f = v.candidate.friction[j];
                let sigma = |symbol: &str| {
                    let mut rows = v.candidate.estimates.iter();
                    let row = rows.find(|e| e.joint == j && e.symbol == symbol);
                    row.and_then(|e| e.sigma).unwrap_or(0.0)
                };
                let [d, u, q] = EKF_OF_JOINT.map(|p| sigma(p.symbol));
                let (mut points, mut band) = (Vec::new(), Vec::new());
                for i in -200..=200 {
                    // Dense around standstill, where the law bends.
                    let part = f64::from(i) / 200.0;
                    let w = reach * part * part.abs();
                    points.push((w, 1e3 * f.torque(w, measured.normal)));
                    // Correlations are not on the wire: this is their worst case.
                    band.push(1e3 * Z95 * (measured.normal * d + w.abs() * u + w * w * q));
                }
                let kind = v.candidate.kind;
                let mut series = Series::new(v.candidate.name.clone(), colour(kind), points);
                if kind == Kind::Ekf {
                    series = series.band(band);
                }
                chart = chart.with(series.mark(mark(kind)));
            }
            let dots = measured
                .points
                .iter()
                .map(|p| (p.w, 1e3 * p.torque))
                .collect();
            chart = chart.with(Series::new("measured", MEASURED, dots).mark(Mark::Dots));
            chart.y_range = torque_range(a, j, measured);
            chart
        })
        .collect()
}

/// The range that shows points and estimates well, whatever the priors do.
fn torque_range(a: &Analysis, j: usize, measured: &super::torque::Measured) -> Option<(f64, f64)> {
    let estimates = a
        .validated
        .iter()
        .filter(|v| matches!(v.candidate.kind, Kind::Ekf | Kind::Offline));
    let ends = estimates.map(|v| {
        v.candidate.friction[j]
            .torque(measured.fastest, measured.normal)
            .abs()
    });
    let dots = measured.points.iter().map(|p| p.torque.abs());
    let largest = ends.chain(dots).fold(0.0, f64::max);
    (largest > 0.0).then_some((-1.6e3 * largest, 1.6e3 * largest))
}

/// Tick load over the log, if the device measured it.
pub fn load(report: &Report) -> Option<Chart> {
    report.health.load?;
    let loads = report.health.loads.samples();
    let series =
        |of: &dyn Fn(&(f64, f64)) -> f64| loads.iter().map(|(s, l)| (*s as f64, of(l))).collect();
    let mut chart = Chart::new("", "time [s]", "tick load [% of the period]")
        .with(Series::new("largest in each second", UAS, series(&|l| l.1)))
        .with(Series::new("mean", EKF, series(&|l| l.0)));
    let top = loads.iter().map(|(_, l)| l.1).fold(0.0, f64::max);
    chart.y_range = Some((0.0, top.max(100.0)));
    Some(chart)
}

fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (lo, hi) = values.fold((f64::MAX, f64::MIN), |(lo, hi), x| (lo.min(x), hi.max(x)));
    if lo < hi { (lo, hi) } else { (-0.5, 0.5) }
}

const _: () = assert!(JOINTS == 2, "charts are laid out for two joints");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_records_are_not_gaps() {
        let spacings = [(50, 1), (50, 16), (100, 4), (1, 8), (0, 8)].map(|(e, g)| spacing(e, g));
        assert_eq!(spacings, [50, 400, 100, 8, 8]);
    }
}
