//! What paper 003 says of its figures, and what came out with the settings as printed, as archived, and ours.

use std::f64::consts::PI;

use serde::Serialize;

use super::friction::{Figure5, figure_5};
use super::intermittent::{Choice, Run, Tally, run, tally};
use super::swingup::{Swing, furuta, scattered};
use crate::error::Result;

/// One set of settings and its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    pub name: &'static str,
    pub t_u: f64,
    pub length: f64,
    /// Figures 7 and 10, without noise; the linear case from −π/100.
    pub clean: Run,
    pub linear: Run,
    /// Figure 9: one to four functions.
    pub functions: [Run; 4],
    /// Figure 8: one run, and twenty seeds of noise .01.
    pub noisy: Run,
    pub noise: Tally,
}

/// A sentence of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    pub place: &'static str,
    pub says: &'static str,
    pub found: String,
    pub holds: bool,
}

/// Everything `stribeck paper 003` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    pub figure_5: Figure5,
    pub columns: Vec<Column>,
    /// Figure 8 over the time constant, with the archive's length.
    pub figure_8: Vec<(f64, Tally)>,
    /// Ours over fresh seeds and random starts, f32: friction right, ×.8 and ×1.2 estimated, ×.8 and ×1.2 fixed.
    pub fresh: Vec<(&'static str, Tally)>,
    /// Furuta pendulum from hanging, .1 N·m: since when it was up, per seed \[s\].
    pub swing_up: Vec<Option<f64>>,
    pub statements: Vec<Statement>,
    /// A run for the picture.
    #[serde(skip)]
    pub shown: Swing,
}

fn column(name: &'static str, choice: Choice, seed: u64) -> Column {
    let linear = Choice {
        alpha: -PI / 100.0,
        ..choice
    };
    let noisy = Choice {
        noise: 0.01,
        ..choice
    };
    Column {
        name,
        t_u: choice.t_u,
        length: choice.rig.l,
        clean: run::<f64, 4>(&choice, seed),
        linear: run::<f64, 4>(&linear, seed),
        functions: [
            run::<f64, 1>(&choice, seed),
            run::<f64, 2>(&choice, seed),
            run::<f64, 3>(&choice, seed),
            run::<f64, 4>(&choice, seed),
        ],
        noisy: run::<f64, 4>(&noisy, seed),
        noise: tally::<f64, 4>(&noisy, seed..seed + 20, false),
    }
}

/// Runs of the fresh seeds, and of the swing-up.
const FRESH: u64 = 50;
const SWINGS: u64 = 30;

pub fn compute(seed: u64, progress: impl Fn(&'static str)) -> Result<Results> {
    progress("figure 5");
    let figure_5 = figure_5(1e-3, 1.0, seed)?;
    let mut columns = Vec::new();
    for (name, choice) in [
        ("printed", Choice::printed()),
        ("archive", Choice::archive()),
        ("ours", Choice::ours()),
    ] {
        progress(name);
        columns.push(column(name, choice, seed));
    }
    progress("figure 8");
    let figure_8 = [0.02, 0.05, 0.1, 0.2].map(|t_u| {
        let choice = Choice {
            t_u,
            noise: 0.01,
            ..Choice::archive()
        };
        (t_u, tally::<f64, 4>(&choice, seed..seed + 20, false))
    });
    let ours = Choice {
        noise: 0.01,
        ..Choice::ours()
    };
    let mut fresh = Vec::new();
    for (name, factor, adapt) in [
        ("friction right", 1.0, true),
        ("friction × 0.8, estimated", 0.8, true),
        ("friction × 1.2, estimated", 1.2, true),
        ("friction × 0.8, fixed", 0.8, false),
        ("friction × 1.2, fixed", 1.2, false),
    ] {
        progress(name);
        let choice = Choice {
            r_c: factor * ours.r_c,
            adapt,
            ..ours
        };
        let seeds = 1000 * seed..1000 * seed + FRESH;
        fresh.push((name, tally::<f32, 4>(&choice, seeds, true)));
    }
    progress("swing-up");
    let swing = |s: u64| furuta(0.1, scattered(s)).run(s);
    let seeds = 1000 * seed..1000 * seed + SWINGS;
    let swing_up = seeds.map(|s| swing(s).up).collect();
    let mut out = Results {
        figure_5,
        columns,
        figure_8: figure_8.to_vec(),
        fresh,
        swing_up,
        statements: Vec::new(),
        shown: furuta(0.1, [0.0; 4]).run(seed),
    };
    out.statements = statements(&out);
    Ok(out)
}

fn statements(r: &Results) -> Vec<Statement> {
    let [printed, archive, ours] = [&r.columns[0], &r.columns[1], &r.columns[2]];
    let later = |run: &Run| run.first_and_later();
    let each = |of: &dyn Fn(&Column) -> String| {
        format!(
            "printed {}; archive {}; ours {}",
            of(printed),
            of(archive),
            of(ours)
        )
    };
    let settled = |run: &Run| run.settled.map_or("never".into(), |t| format!("{t:.1} s"));
    let iterations = r.figure_5.r_c.len() - 1;
    let last = r.figure_5.r_c.last().copied().unwrap_or(f64::NAN);
    let (first, after) = later(&archive.clean);
    let (_, linear) = later(&archive.linear);
    let eight: Vec<String> = r
        .figure_8
        .iter()
        .map(|(t, n)| format!("{} of {} at T_U {t}", n.succeeded, n.runs))
        .collect();
    let stable = r.figure_8.iter().all(|(_, n)| n.succeeded == n.runs);
    let largest = printed.clean.largest_voltage;
    vec![
        Statement {
            place: "§5.2, figure 5",
            says: "r_c converges in about three iterations from 0, to 7.198",
            found: format!(
                "{iterations} iterations to {last:.3} ± {:.3} N·s/m; {:.0} % of the armature current's initial value is not in the record",
                r.figure_5.stderr,
                100.0 * r.figure_5.current_hidden
            ),
            holds: iterations <= 4 && (last - 7.198).abs() < 4.0 * r.figure_5.stderr,
        },
        Statement {
            place: "§5.3, figure 7",
            says: "regulation from horizontal, both outputs close to zero at the end",
            found: each(&|c| {
                format!(
                    "settled {} with {:.0} V",
                    settled(&c.clean),
                    c.clean.largest_voltage
                )
            }),
            holds: printed.clean.succeeded(),
        },
        Statement {
            place: "§5.3, figure 7",
            says: "the control is considerably outside ±10 V",
            found: format!("{largest:.0} V as printed"),
            holds: largest > 20.0,
        },
        Statement {
            place: "§5.3, figure 8",
            says: "with noise of .01 a stable result is still achieved",
            found: format!(
                "{}; ours {} of {}",
                eight.join(", "),
                ours.noise.succeeded,
                ours.noise.runs
            ),
            holds: stable,
        },
        Statement {
            place: "§5.3, figure 9",
            says: "three functions lose little, fewer are unsatisfactory",
            found: each(&|c| {
                let all: Vec<String> = c.functions.iter().map(settled).collect();
                all.join(", ")
            }),
            holds: archive.functions[2].succeeded() && !archive.functions[1].succeeded(),
        },
        Statement {
            place: "§5.3, figure 10",
            says: "over 40 iterations first, then less than 10",
            found: each(&|c| {
                let (first, after) = later(&c.clean);
                format!("{first} then ≤ {after}")
            }),
            holds: first > 40 && after < 10,
        },
        Statement {
            place: "§5.3, figure 10",
            says: "the linear case needs 2 iterations after the first",
            found: each(&|c| {
                let (first, after) = later(&c.linear);
                format!("{first} then ≤ {after}")
            }),
            holds: linear <= 2,
        },
    ]
}
