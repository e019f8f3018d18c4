//! Figures 4 to 12 of paper 000, regenerated as SVG. The paper's experiment is not public: 8 to 11 show the observer on
//! the simulation with noise of standard deviation .1 on every state instead.

use std::path::{Path, PathBuf};

use crate::chart::{Chart, Figure, Mark, Series};
use crate::identify::outcome::Outcome;

use super::observer::{Moment, NAMES, TABLE_5};

/// Everything one run shows.
pub struct Run<'a> {
    pub t: &'a [f64],
    pub measured: &'a [[f64; 2]],
    pub velocity: &'a [[f64; 2]],
    pub history: &'a [Moment],
    /// Free run with the observer's estimates and with the initial guess.
    pub estimate: &'a [[f64; 2]],
    pub initial: &'a [[f64; 2]],
}

fn series(name: &str, colour: usize, t: &[f64], x: impl Iterator<Item = f64>) -> Series {
    Series::new(name, colour, t.iter().copied().zip(x).collect())
}

fn write(folder: &Path, number: usize, charts: &[Chart]) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("figure-{number:02}.svg"));
    Figure::stacked(charts).write(&path)?;
    Ok(path)
}

/// Four figures of one run, numbered from `first`: tracking, parameters, validation, spectrum and phase portrait.
pub fn run_figures(folder: &Path, first: usize, run: &Run<'_>) -> anyhow::Result<Vec<PathBuf>> {
    let joint = ["arm", "pendulum"];
    let mut tracking = Vec::new();
    let times: Vec<f64> = run.history.iter().map(|m| m.t).collect();
    for j in 0..2 {
        tracking.push(
            Chart::new(format!("{} angle", joint[j]), "time [s]", "angle [rad]")
                .with(series(
                    "measured",
                    6,
                    run.t,
                    run.measured.iter().map(|q| q[j]),
                ))
                .with(
                    series("UAS", 0, &times, run.history.iter().map(|m| m.q[j])).mark(Mark::Dashed),
                ),
        );
    }
    tracking.push(
        Chart::new("error norm", "time [s]", "|e| [rad/s]").with(series(
            "|e|",
            1,
            &times,
            run.history.iter().map(|m| m.error),
        )),
    );
    tracking.push(Chart::new("gain", "time [s]", "N(k) [1/s]").with(series(
        "N(k)",
        2,
        &times,
        run.history.iter().map(|m| m.gain),
    )));
    let parameters: Vec<Chart> = (0..10)
        .map(|i| {
            Chart::new(NAMES[i], "time [s]", "estimate").with(series(
                NAMES[i],
                i % 5,
                &times,
                run.history.iter().map(|m| m.z[i]),
            ))
        })
        .collect();
    let mut validation = Vec::new();
    let mut portrait = Vec::new();
    for j in 0..2 {
        validation.push(
            Chart::new(format!("{}: free run", joint[j]), "time [s]", "angle [rad]")
                .with(series(
                    "measured",
                    6,
                    run.t,
                    run.measured.iter().map(|q| q[j]),
                ))
                .with(
                    series("estimates", 0, run.t, run.estimate.iter().map(|q| q[j]))
                        .mark(Mark::Dashed),
                )
                .with(
                    series("initial guess", 1, run.t, run.initial.iter().map(|q| q[j]))
                        .mark(Mark::Dashed),
                ),
        );
        let rate = (run.t.len() - 1) as f64 / (run.t[run.t.len() - 1] - run.t[0]);
        let amplitude =
            |q: &[[f64; 2]]| spectrum(&q.iter().map(|q| q[j]).collect::<Vec<_>>(), rate);
        portrait.push(
            Chart::new(
                format!("{}: spectrum", joint[j]),
                "frequency [Hz]",
                "amplitude [rad]",
            )
            .with(Series::new("measured", 6, amplitude(run.measured)))
            .with(Series::new("estimates", 0, amplitude(run.estimate)).mark(Mark::Dashed)),
        );
        let phase = run
            .measured
            .iter()
            .zip(run.velocity)
            .map(|(q, w)| (q[j], w[j]))
            .collect();
        portrait.push(
            Chart::new(
                format!("{}: phase portrait", joint[j]),
                "angle [rad]",
                "velocity [rad/s]",
            )
            .with(Series::new("measured", 6, phase)),
        );
    }
    Ok(vec![
        write(folder, first, &tracking)?,
        write(folder, first + 1, &parameters)?,
        write(folder, first + 2, &validation)?,
        write(folder, first + 3, &portrait)?,
    ])
}

/// Figure 12: fit of the paper's methods and of ours.
pub fn comparison(folder: &Path, ours: &[Outcome]) -> anyhow::Result<PathBuf> {
    let mut chart = Chart::new(
        "fit on the simulation: 1 paper UAS, 2 paper optimisation, then ours",
        "method",
        "fit [%]",
    );
    let fits: Vec<[f64; 2]> = TABLE_5[..2]
        .iter()
        .map(|r| r.4)
        .chain(ours.iter().map(|o| [o.fit[0], o.fit[1]]))
        .collect();
    for (j, name) in ["arm", "pendulum"].into_iter().enumerate() {
        let points = fits
            .iter()
            .enumerate()
            .map(|(i, f)| (i as f64 + 1.0, f[j].max(-20.0)))
            .collect();
        chart = chart.with(Series::new(name, j, points).mark(Mark::Dots));
    }
    write(folder, 12, &[chart])
}

/// Amplitude spectrum up to 5 Hz (Goertzel on a 0.02 Hz grid).
fn spectrum(x: &[f64], rate: f64) -> Vec<(f64, f64)> {
    let step = (rate / 100.0).floor().max(1.0) as usize;
    let (x, rate): (Vec<f64>, f64) = (
        x.iter().step_by(step).copied().collect(),
        rate / step as f64,
    );
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (1..=250)
        .map(|k| {
            let f = 0.02 * f64::from(k);
            let w = std::f64::consts::TAU * f / rate;
            let (mut a, mut b) = (0.0, 0.0);
            for (i, v) in x.iter().enumerate() {
                let (s, c) = (w * i as f64).sin_cos();
                a += (v - mean) * c;
                b += (v - mean) * s;
            }
            (f, 2.0 * a.hypot(b) / x.len() as f64)
        })
        .collect()
}
