//! Paper 003: figures 5 and 7 to 10 as printed, as archived and ours; what the paper says against what came out.

use std::path::Path;

use anyhow::Context;

use crate::paper::predictive::animation;
use crate::paper::predictive::charts::figures;
use crate::paper::predictive::statements::{Column, Results, compute};

pub(super) fn print(as_json: bool, folder: Option<&Path>, seed: u64) -> anyhow::Result<()> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("figures cannot be written to {}", folder.display()))?;
    }
    let bar = indicatif::ProgressBar::new(12).with_message("paper 003");
    let results = compute(seed, |name| {
        bar.inc(1);
        bar.set_message(name);
    })?;
    bar.finish_and_clear();
    if as_json {
        println!("{}", serde_json::to_string_pretty(&results)?);
    } else {
        text(&results);
    }
    if let Some(folder) = folder {
        let mut written = figures(folder, &results)?;
        written.push(animation::write(folder, &results.shown)?);
        for path in written {
            eprintln!("wrote {}", path.display());
        }
    }
    Ok(())
}

fn text(r: &Results) {
    println!("Paper 003: what it says and what came out");
    for s in &r.statements {
        println!(
            "\n{} {}: {}\n  found {}",
            if s.holds { "holds   " } else { "does not" },
            s.place,
            s.says,
            s.found
        );
    }
    let trace: Vec<String> = r.figure_5.r_c.iter().map(|v| format!("{v:.3}")).collect();
    println!("\nFigure 5: r_c by iteration {}", trace.join(", "));
    println!(
        "\nFigures 7 to 10      T_U [s]  l [m]    settled [s]  largest [V]  iterations  linear     noise .01  n_U 1/2/3/4 settle [s]"
    );
    r.columns.iter().for_each(row);
    println!("\nOurs, f32, noise .01, random starts, fresh seeds");
    for (name, t) in &r.fresh {
        println!("  {name:<28} {} of {}", t.succeeded, t.runs);
    }
    let mut up: Vec<f64> = r.swing_up.iter().flatten().copied().collect();
    up.sort_by(f64::total_cmp);
    let median = up
        .get(up.len() / 2)
        .map_or("–".into(), |t| format!("{t:.1} s"));
    println!(
        "\nSwing-up of the Furuta pendulum from hanging, .1 N·m, f32 (the experiment the paper could not do): {} of {}, median {median}",
        up.len(),
        r.swing_up.len()
    );
    println!("\nWhat is wrong in the paper, and the test that proves it: docs/errata.md");
}

fn row(c: &Column) {
    let time = |t: Option<f64>| t.map_or("never".into(), |t| format!("{t:.1}"));
    let (first, later) = c.clean.first_and_later();
    let (linear_first, linear) = c.linear.first_and_later();
    let functions: Vec<String> = c.functions.iter().map(|f| time(f.settled)).collect();
    println!(
        "  {:<18} {:>7} {:>6}   {:>12} {:>12.0} {:>5} / {:<4} {:>4} / {:<3} {:>4} of {} {:>24}",
        c.name,
        c.t_u,
        c.length,
        time(c.clean.settled),
        c.clean.largest_voltage,
        first,
        later,
        linear_first,
        linear,
        c.noise.succeeded,
        c.noise.runs,
        functions.join(" / ")
    );
}
