//! The picture of `stribeck identify --plot`.

use std::path::Path;

use crate::config::axes::Axes;
use crate::identify::data::record::Record;
use crate::identify::outcome::Outcome;
use crate::report::chart::{Chart, Figure, Mark, Series};

/// Measurement and free runs above, residuals below, per joint.
pub fn plot(record: &Record, axes: &Axes, outcomes: &[Outcome], path: &Path) -> anyhow::Result<()> {
    let mut charts = Vec::new();
    for j in 0..record.joints {
        let at = |q: &[[f64; 2]]| {
            record
                .t
                .iter()
                .zip(q)
                .map(|(&t, q)| (t, q[j]))
                .collect::<Vec<_>>()
        };
        let unit = axes.units(j).coordinate;
        let label = format!("{} [{unit}]", axes.symbol(j));
        let mut angle = Chart::new(format!("joint {j}"), "time [s]", label).with(Series::new(
            "measured",
            6,
            at(&record.q),
        ));
        let mut residual = Chart::new(
            format!("joint {j}: free run − measurement"),
            "time [s]",
            format!("residual [{unit}]"),
        );
        for (i, o) in outcomes
            .iter()
            .enumerate()
            .filter(|(_, o)| !o.path.is_empty())
        {
            let difference: Vec<(f64, f64)> = record
                .t
                .iter()
                .zip(o.path.iter().zip(&record.q))
                .map(|(&t, (a, b))| (t, a[j] - b[j]))
                .collect();
            angle = angle.with(Series::new(o.method, i, at(&o.path)).mark(Mark::Dashed));
            residual = residual.with(Series::new(o.method, i, difference));
        }
        charts.push(angle);
        charts.push(residual);
    }
    Figure::stacked(&charts).write(path)?;
    Ok(())
}
