//! Figures 5 and 7 to 10 of paper 003 as SVG, the three settings side by side.

use std::path::{Path, PathBuf};

use super::intermittent::Run;
use super::statements::{Column, Results};
use crate::error::Result;
use crate::report::chart::{Chart, Figure, Mark, Series};

/// A run that is lost is drawn up to here.
const FAR: f64 = 4.0;

fn write(folder: &Path, number: usize, charts: &mut [Chart], columns: usize) -> Result<PathBuf> {
    if let Some(first) = charts.first_mut() {
        first.title = format!("Figure {number}. {}", first.title);
    }
    let path = folder.join(format!("figure-003-{number:02}.svg"));
    Figure {
        size: (480, 230),
        columns,
        ..Figure::stacked(charts)
    }
    .write(&path)?;
    Ok(path)
}

/// One of time, cart, angle, voltage over time; cut where it is lost.
fn over_time(name: &str, colour: usize, run: &Run, of: usize, most: f64) -> Series {
    let kept = run.motion.iter().take_while(|m| m[of].abs() < most);
    Series::new(name, colour, kept.map(|m| (m[0], m[of])).collect())
}

fn motion(c: &Column, run: &Run, what: &str) -> [Chart; 2] {
    let title = format!("{}, {what} (T_U {} s)", c.name, c.t_u);
    [
        Chart::new(title, "time [s]", "cart [m], angle [rad]")
            .with(over_time("cart", 0, run, 1, FAR))
            .with(over_time("pendulum", 1, run, 2, FAR)),
        Chart::new(format!("{}: control", c.name), "time [s]", "voltage [V]")
            .with(over_time("voltage", 2, run, 3, 1e4)),
    ]
}

/// All figures; their paths.
pub fn figures(folder: &Path, r: &Results) -> Result<Vec<PathBuf>> {
    let five = &r.figure_5;
    let record = |of: usize| five.record.iter().map(|s| (s[0], s[of])).collect();
    let trace = five.r_c.iter().enumerate();
    let mut out = vec![write(
        folder,
        5,
        &mut [
            Chart::new("cart without pendulum: record", "time [s]", "[V], [m]")
                .with(Series::new("voltage", 2, record(1)))
                .with(Series::new("position", 0, record(2))),
            Chart::new("estimated friction", "iteration", "r_c [N·s/m]").with(Series::new(
                "r_c",
                0,
                trace.map(|(i, v)| (i as f64, *v)).collect(),
            )),
        ],
        2,
    )?];
    let sides = |of: &dyn Fn(&Column) -> [Chart; 2]| -> Vec<Chart> {
        r.columns.iter().flat_map(of).collect()
    };
    let clean = |c: &Column| motion(c, &c.clean, "regulation from horizontal");
    let noisy = |c: &Column| motion(c, &c.noisy, "with noise .01");
    out.push(write(folder, 7, &mut sides(&clean), 2)?);
    out.push(write(folder, 8, &mut sides(&noisy), 2)?);
    let functions = |c: &Column| {
        [(1, "cart", "[m]"), (2, "pendulum", "[rad]")].map(|(of, what, unit)| {
            let title = format!("{}: {what}, number of functions", c.name);
            let chart = Chart::new(title, "time [s]", format!("{what} {unit}"));
            c.functions
                .iter()
                .enumerate()
                .fold(chart, |chart, (n, run)| {
                    chart.with(over_time(&format!("n_U {}", n + 1), n, run, of, FAR))
                })
        })
    };
    out.push(write(folder, 9, &mut sides(&functions), 2)?);
    let mut ten: Vec<Chart> = r.columns.iter().map(iterations).collect();
    out.push(write(folder, 10, &mut ten, 1)?);
    Ok(out)
}

fn iterations(c: &Column) -> Chart {
    let line = |name: &str, colour: usize, run: &Run| {
        let points = run.iterations.iter().map(|(t, n, _)| (*t, f64::from(*n)));
        Series::new(name, colour, points.collect())
    };
    let title = format!("{}: optimisation iterations", c.name);
    Chart::new(title, "time [s]", "iterations")
        .with(line("nonlinear", 0, &c.clean))
        .with(line("nonlinear with noise", 1, &c.noisy))
        .with(line("linear", 2, &c.linear).mark(Mark::Dashed))
}
