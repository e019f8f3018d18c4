//! Tables 3, 4 and 5 of paper 000 as data: printed value, value with the printed formulas, value with the corrected ones.

use serde::Serialize;
use stribeck_core::model::plant::PlantConfig;
use stribeck_core::model::sim::REFERENCE_START;
use stribeck_core::observer::uas;

use crate::error::Result;
use crate::identify::data::dataset::Dataset;
use crate::identify::data::record::fit_percent;
use crate::identify::method::{self, Options};
use crate::identify::model::parametric::{Coef, Freedom, Rig};
use crate::identify::outcome::Outcome;

use super::observer::{
    Moment, NAMES, TABLE_3, TABLE_4, TABLE_5, UNITS, affine, reference_record, run_uas, score,
    table_3_config, truth,
};
use super::printed;

/// Noise on every state of the simulation, §IV-A.
pub const NOISE: f64 = 0.1;

/// One parameter of Table 3 or 4.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    pub unit: &'static str,
    /// Table 3 only: the truth of the simulation.
    pub actual: Option<f64>,
    pub guess: f64,
    pub paper: f64,
    /// Left by the observer with the printed model and law.
    pub printed_formulas: f64,
    /// Left by the observer with the corrected model.
    pub corrected_formulas: f64,
    /// Where the parameter law ends on every record.
    pub fixed_point: f64,
    /// Table 3 only: 0.9473·actual + 5.6e-6.
    pub affine: Option<f64>,
    /// Table 3 only: grey box from counts.
    pub grey_box: Option<f64>,
}

/// One line of Table 5 and of the comparison of §IV-C.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// Who computed it: paper, printed formulas, corrected formulas, counts.
    pub source: &'static str,
    pub run: &'static str,
    pub method: String,
    /// Free-run fit of arm and pendulum [%]; absent where the run did not last.
    pub fit_percent: [Option<f64>; 2],
    /// The only numbers that differ from one call to the next, and eq. (54).
    pub seconds: Option<f64>,
    pub normalised_seconds: Option<f64>,
}

/// Everything `stribeck paper 000` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Tables {
    pub table_3: Vec<Parameter>,
    pub table_4: Vec<Parameter>,
    pub table_5: Vec<Score>,
    /// When the motion of the printed model, friction added as in eq. (6), has left all bounds \[s\].
    pub printed_model_lost_at: Option<f64>,
    /// The same of the printed observer on the simulation \[s\].
    pub printed_observer_lost_at: Option<f64>,
}

/// A simulated run and what the corrected observer made of it.
pub struct Observation {
    pub t: Vec<f64>,
    pub states: Vec<[f64; 4]>,
    pub history: Vec<Moment>,
    pub guess: [f64; 10],
}

impl Observation {
    /// Observe the states with `config`, with noise of standard deviation `noise`.
    pub fn new(
        (t, states): (Vec<f64>, Vec<[f64; 4]>),
        config: &uas::Config,
        noise: f64,
        seed: u64,
    ) -> Observation {
        Observation {
            history: run_uas(&states, config, noise, seed),
            guess: config.bounds.map(|b| f64::from(b.initial)),
            t,
            states,
        }
    }

    /// The parameters at the end.
    pub fn z(&self) -> [f64; 10] {
        self.history.last().map_or([0.0; 10], |m| m.z)
    }
}

/// Compute all tables from the two observed runs. `progress` is called with each part's name before it begins.
pub fn compute(
    runs: [&Observation; 2],
    seed: u64,
    progress: impl Fn(&'static str),
) -> Result<Tables> {
    progress("printed formulas");
    let printed: Vec<_> = runs
        .iter()
        .zip([table_3_config(), uas::Config::paper()])
        .map(|(r, config)| (printed::observe(&r.states, &config), config.fixed_point()))
        .collect();
    let truth = truth();
    let driven = printed::simulate(&truth, REFERENCE_START, 1.0);
    let outcomes = by_counts(seed, &progress)?;
    let grey = outcomes.last();
    let parameter = |table: usize, i: usize| {
        let (observed, fixed) = &printed[table];
        let simulated = table == 0;
        Parameter {
            name: NAMES[i],
            unit: UNITS[i],
            actual: simulated.then_some(truth[i]),
            guess: runs[table].guess[i],
            paper: if simulated { TABLE_3[1][i] } else { TABLE_4[i] },
            printed_formulas: observed.z[i],
            corrected_formulas: runs[table].z()[i],
            fixed_point: f64::from(fixed[i]),
            affine: simulated.then(|| affine(truth[i])),
            grey_box: grey.filter(|_| simulated).and_then(|o| value(o, i)),
        }
    };
    Ok(Tables {
        table_3: (0..10).map(|i| parameter(0, i)).collect(),
        table_4: (0..10).map(|i| parameter(1, i)).collect(),
        table_5: scores(runs, &printed[0].0, &outcomes),
        printed_model_lost_at: (driven.len() <= 35_000).then_some(driven.len() as f64 * 1e-3),
        printed_observer_lost_at: printed[0].0.lost,
    })
}

/// Parameter number `i` of an outcome; the grey box has μs as a difference from μd.
fn value(o: &Outcome, i: usize) -> Option<f64> {
    let find = |name: &str| {
        let e = o.estimates.iter().find(|e| e.name.replace(' ', "") == name);
        e.map(|e| e.value)
    };
    find(NAMES[i]).or_else(|| {
        let joint = i / 5;
        let peak = find(&format!("μs−μd{joint}")).filter(|_| i % 5 == 1)?;
        Some(peak + find(NAMES[5 * joint])?)
    })
}

/// The methods of §IV-C and ours on the counts of the reference run, grey box last.
fn by_counts(seed: u64, progress: &impl Fn(&'static str)) -> Result<Vec<Outcome>> {
    let record = reference_record(0.0, seed);
    // The rig of the simulation is exactly the one that is given.
    let rig = Rig::of(&PlantConfig::Furuta(Default::default()));
    let data = Dataset::passive(&record, rig).with(Freedom::none()).whole();
    let options = Options::terms(&[
        Coef::Coulomb,
        Coef::Viscous,
        Coef::Stribeck,
        Coef::Transition,
    ]);
    ["uas", "singleshoot", "ekf", "greybox"]
        .into_iter()
        .filter_map(method::find)
        .map(|m| {
            progress(m.name());
            method::run(m, &data, &options)
        })
        .collect()
}

fn scores(
    [first, second]: [&Observation; 2],
    printed: &printed::Observed,
    outcomes: &[Outcome],
) -> Vec<Score> {
    let some = |fit: [f64; 2]| fit.map(|f| f.is_finite().then_some(f));
    let line = |source, run, method: &str, fit| Score {
        source,
        run,
        method: method.into(),
        fit_percent: fit,
        seconds: None,
        normalised_seconds: None,
    };
    let mut out: Vec<Score> = TABLE_5
        .into_iter()
        .map(|(run, length, method, seconds, fit)| {
            let rate = if run == "simulation" { 1e3 } else { 1e4 };
            Score {
                seconds: Some(seconds),
                normalised_seconds: Some(seconds / (length * rate)),
                ..line("paper", run, method, some(fit))
            }
        })
        .collect();
    // Table 3's estimates against Table 3's truth, in the printed model with friction that opposes the motion.
    let [truth_run, estimate_run] =
        [truth(), TABLE_3[1]].map(|z| printed::simulate(&z, REFERENCE_START, -1.0));
    let fit = std::array::from_fn(|j| {
        let column = |run: &[[f64; 2]]| run.iter().map(|q| q[j]).collect::<Vec<_>>();
        let whole = truth_run.len() == estimate_run.len();
        whole.then(|| fit_percent(&column(&truth_run), &column(&estimate_run)))
    });
    out.push(line(
        "printed formulas",
        "simulation",
        "Table 3, friction reversed",
        fit,
    ));
    out.push(line(
        "printed formulas",
        "simulation",
        "UAS state",
        printed.fit.map_or([None; 2], some),
    ));
    let free = |z: &[f64; 10], run: &Observation| some(score(z, &run.t, &run.states).0);
    for (run, name, method, z) in [
        (first, "simulation", "Table 3's estimates", TABLE_3[1]),
        (first, "simulation", "UAS parameters", first.z()),
        (second, "second run", "Table 4's estimates", TABLE_4),
        (second, "second run", "UAS parameters", second.z()),
    ] {
        out.push(line("corrected formulas", name, method, free(&z, run)));
    }
    out.extend(outcomes.iter().map(|o| Score {
        seconds: Some(o.seconds),
        normalised_seconds: Some(o.normalised),
        ..line("counts", "simulation", o.method, some([o.fit[0], o.fit[1]]))
    }));
    out
}
