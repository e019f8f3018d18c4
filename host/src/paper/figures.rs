//! Figures 4 to 12 of paper 000, regenerated as SVG. The record of the paper's experiment is not public: 8 to 11 show a
//! simulated run of the same start and length instead.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::number;
use crate::report::chart::{Chart, Figure, Mark, Series};

use super::observer::{NAMES, UNITS, truth};
use super::tables::{Observation, Score};

const JOINTS: [&str; 2] = ["arm", "pendulum"];
/// Fits below this are drawn here [%].
const LOWEST: f64 = -20.0;

/// Everything one run shows.
pub struct Run<'a> {
    pub observation: &'a Observation,
    /// Free run with the observer's estimates and with the initial guess.
    pub estimate: &'a [[f64; 2]],
    pub initial: &'a [[f64; 2]],
    /// The run of Table 3, with noise on every state; else the one in place of the experiment.
    pub simulated: bool,
}

fn series(name: &str, colour: usize, t: &[f64], x: impl Iterator<Item = f64>) -> Series {
    Series::new(name, colour, t.iter().copied().zip(x).collect())
}

fn write(folder: &Path, number: usize, charts: &mut [Chart], columns: usize) -> Result<PathBuf> {
    if let Some(first) = charts.first_mut() {
        first.title = format!("Figure {number}. {}", first.title);
    }
    let path = folder.join(format!("figure-{number:02}.svg"));
    Figure {
        size: if columns == 1 { (760, 260) } else { (480, 230) },
        columns,
        ..Figure::stacked(charts)
    }
    .write(&path)?;
    Ok(path)
}

/// Four figures of one run, numbered from `first`: tracking, parameters, validation, spectrum and phase portrait.
pub fn run_figures(folder: &Path, first: usize, run: &Run<'_>) -> Result<Vec<PathBuf>> {
    let mut portraits: Vec<Chart> = Vec::new();
    for j in 0..2 {
        portraits.push(spectra(run, j));
        portraits.push(portrait(run, j));
    }
    Ok(vec![
        write(folder, first, &mut tracking(run), 1)?,
        write(folder, first + 1, &mut parameters(run), 2)?,
        write(folder, first + 2, &mut validation(run), 1)?,
        write(folder, first + 3, &mut portraits, 2)?,
    ])
}

/// The angles as they are.
fn measured(run: &Run<'_>, j: usize) -> Series {
    let o = run.observation;
    series("motion", 6, &o.t, o.states.iter().map(|s| s[j]))
}

/// Observer against motion, its error and its gain.
fn tracking(run: &Run<'_>) -> Vec<Chart> {
    let history = &run.observation.history;
    let t: Vec<f64> = history.iter().map(|m| m.t).collect();
    let noisy = if run.simulated {
        "noise of 0.1 on every state"
    } else {
        "no noise"
    };
    let mut charts: Vec<Chart> = (0..2)
        .map(|j| {
            let title = format!("UAS observer, {noisy}: {} angle", JOINTS[j]);
            let observer = series("UAS observer", 0, &t, history.iter().map(|m| m.q[j]));
            Chart::new(title, "time [s]", "angle [rad]")
                .with(measured(run, j))
                .with(observer.mark(Mark::Dashed))
        })
        .collect();
    let error = series("|e|", 1, &t, history.iter().map(|m| m.error));
    charts.push(Chart::new("norm of the velocity error", "time [s]", "|e| [rad/s]").with(error));
    let gain = series("N(k)", 2, &t, history.iter().map(|m| m.gain));
    charts.push(Chart::new("gain", "time [s]", "N(k) [1/s]").with(gain));
    charts
}

/// The ten parameters over time, with the truth.
fn parameters(run: &Run<'_>) -> Vec<Chart> {
    let history = &run.observation.history;
    let t: Vec<f64> = history.iter().map(|m| m.t).collect();
    let ends = [t[0], t[t.len() - 1]];
    // Joint by joint beside each other.
    (0..10)
        .map(|k| (k % 2) * 5 + k / 2)
        .map(|i| {
            let label = format!("{} [{}]", NAMES[i], UNITS[i]);
            let actual = ends.map(|t| (t, truth()[i])).to_vec();
            let mut chart = Chart::new(NAMES[i], "time [s]", label)
                .with(series("UAS", 0, &t, history.iter().map(|m| m.z[i])))
                .with(Series::new("truth", 1, actual).mark(Mark::Dashed));
            let all = history.iter().map(|m| m.z[i]).chain([truth()[i]]);
            let (low, high) = all.fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
            chart.y_range = Some((0.7 * low, 1.4 * high));
            chart.log_y = true;
            chart
        })
        .collect()
}

/// Free runs with the estimates and with the initial guess.
fn validation(run: &Run<'_>) -> Vec<Chart> {
    let t = &run.observation.t;
    (0..2)
        .map(|j| {
            let title = format!("free run with the UAS's parameters: {}", JOINTS[j]);
            let free = |name: &str, colour: usize, q: &[[f64; 2]]| {
                series(name, colour, t, q.iter().map(|q| q[j])).mark(Mark::Dashed)
            };
            Chart::new(title, "time [s]", "angle [rad]")
                .with(measured(run, j))
                .with(free("UAS parameters", 0, run.estimate))
                .with(free("initial guess", 1, run.initial))
        })
        .collect()
}

fn spectra(run: &Run<'_>, j: usize) -> Chart {
    let o = run.observation;
    let rate = (o.t.len() - 1) as f64 / (o.t[o.t.len() - 1] - o.t[0]);
    let motion: Vec<f64> = o.states.iter().map(|s| s[j]).collect();
    let free: Vec<f64> = run.estimate.iter().map(|q| q[j]).collect();
    let title = format!("spectrum of the {}", JOINTS[j]);
    Chart::new(title, "frequency [Hz]", "amplitude [rad]")
        .with(Series::new("motion", 6, spectrum(&motion, rate)))
        .with(Series::new("UAS parameters", 0, spectrum(&free, rate)).mark(Mark::Dashed))
}

fn portrait(run: &Run<'_>, j: usize) -> Chart {
    let o = run.observation;
    let motion = o.states.iter().map(|s| (s[j], s[2 + j])).collect();
    // Central differences of the free run, 1 ms apart.
    let free = run.estimate.windows(3).map(|q| {
        let dt = o.t[1] - o.t[0];
        (q[1][j], (q[2][j] - q[0][j]) / (2.0 * dt))
    });
    let title = format!("phase portrait of the {}", JOINTS[j]);
    Chart::new(title, "angle [rad]", "velocity [rad/s]")
        .with(Series::new("motion", 6, motion))
        .with(Series::new("UAS parameters", 0, free.collect()).mark(Mark::Dashed))
}

/// Figure 12: fit of the paper's methods and of ours, as bars.
pub fn comparison(folder: &Path, scores: &[Score]) -> Result<PathBuf> {
    let of = |source: &str, method: &str| {
        let found = scores
            .iter()
            .find(|s| s.source == source && s.run == "simulation" && s.method == method);
        found.map_or([None; 2], |s| s.fit_percent)
    };
    let bars = [
        ("paper: UAS", of("paper", "UAS")),
        ("paper: optimisation", of("paper", "optimisation")),
        ("UAS", of("counts", "uas")),
        ("single shooting", of("counts", "singleshoot")),
        ("EKF", of("counts", "ekf")),
        ("grey box", of("counts", "greybox")),
    ];
    let mut charts: Vec<Chart> = (0..2)
        .map(|j| {
            let title = format!("fit of a free run on the simulation: {}", JOINTS[j]);
            let mut chart = Chart::new(title, "method, in the order of the legend", "fit [%]");
            for (i, (name, fit)) in bars.iter().enumerate() {
                let (x, top) = (i as f64 + 1.0, fit[j].unwrap_or(LOWEST).max(LOWEST));
                let outline = [
                    (x - 0.3, 0.0),
                    (x - 0.3, top),
                    (x + 0.3, top),
                    (x + 0.3, 0.0),
                    (x - 0.3, 0.0),
                ];
                chart = chart.with(Series::new(*name, i, outline.to_vec()));
            }
            chart.y_range = Some((1.2 * LOWEST, 105.0));
            chart
        })
        .collect();
    write(folder, 12, &mut charts, 1)
}

/// Amplitude spectrum up to 3 Hz, every 0.02 Hz.
fn spectrum(x: &[f64], rate: f64) -> Vec<(f64, f64)> {
    let step = (rate / 100.0).floor().max(1.0) as usize;
    let (x, rate): (Vec<f64>, f64) = (
        x.iter().step_by(step).copied().collect(),
        rate / step as f64,
    );
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (1..=150)
        .map(|k| {
            let f = 0.02 * f64::from(k);
            let w = std::f64::consts::TAU * f / rate;
            let (mut a, mut b) = (0.0, 0.0);
            for (i, v) in x.iter().enumerate() {
                let (s, c) = number::sin_cos(w * i as f64);
                a += (v - mean) * c;
                b += (v - mean) * s;
            }
            (f, 2.0 * number::hypot(a, b) / x.len() as f64)
        })
        .collect()
}
