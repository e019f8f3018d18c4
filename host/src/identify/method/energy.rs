//! Friction from the energy that is lost: linear, global, no derivative of a velocity.
//!
//! ```text
//! pendulum, per half swing a → b:   ω0²·(cosθb − cosθa) = c·|θb − θa| + b·∫ω²dt + d·∫|ω|³dt
//! Furuta, per window:               −ΔE = Σj μdj·∫Fnj·|ωj|dt + μvj·∫ωj²dt
//! ```
//!
//! At turning points the kinetic energy of a pendulum vanishes, so only angles enter the left side. ω0² and the first
//! state come from the timing of the whole record with the friction held ([`crate::identify::data::free_motion::FreeMotion::settle`]).

use stribeck_core::number::math;

use crate::error::{Error, Result};

use crate::identify::data::dataset::Dataset;
use crate::identify::data::free_motion::FreeMotion;
use crate::identify::data::record::{Record, median};
use crate::identify::data::smooth::{Smooth, local};
use crate::identify::fit::fitted::Fitted;
use crate::identify::fit::triangle::Triangle;
use crate::identify::method::{Method, Options};
use crate::identify::model::motion::free_run;
use crate::identify::model::parametric::{Coef, Model, Param};
use crate::identify::model::plant::pendulum::OMEGA0_SQ;
use crate::identify::outcome::{Knowledge, Outcome};
use crate::identify::verdict::{Verdict, by_whiteness};

/// Terms of a pendulum's balance, in the order of its columns.
const PENDULUM: [Coef; 3] = [Coef::Coulomb, Coef::Viscous, Coef::Drag];
/// A correction that leaves more than this part of the misfit is the last one.
const ENOUGH: f64 = 0.9;
/// Most corrections for what smoothing does.
const CORRECTIONS: usize = 4;

pub struct Energy;

impl Method for Energy {
    fn name(&self) -> &'static str {
        "energy"
    }

    fn suits(&self, data: &Dataset) -> std::result::Result<(), String> {
        match data.rig {
            Some(_) => Ok(()),
            None => Err("it needs the angles of a passive plant".into()),
        }
    }

    fn run(&self, data: &Dataset, _: &Options) -> Result<Outcome> {
        let motion = data.motion()?;
        let found = if motion.rig.joints() == 1 {
            pendulum(motion)?
        } else {
            windows(motion)?
        };
        let Found {
            mut model,
            settled,
            mut stderr,
            balance,
        } = found;
        settle(motion, &mut model, &mut stderr, &settled);
        let known = Knowledge {
            model: &model,
            start: &settled.start,
            stderr: &stderr,
            covariance: None,
            freedom: balance.freedom,
        };
        Ok(Outcome::of(self.name(), balance.verdict, motion, &known))
    }
}

/// Put the rig that was settled into the model. Of several joints it is not this method's to judge: its standard errors
/// are left open.
pub fn settle(motion: &FreeMotion, model: &mut Model, stderr: &mut [f64], settled: &Fitted) {
    let errors = if motion.rig.joints() == 1 {
        motion.considered(model, stderr, settled)
    } else {
        vec![f64::INFINITY; settled.stderr.len()]
    };
    for (k, &p) in settled.model.free.iter().enumerate() {
        model.set(p, settled.model.get(p));
        if let Some(i) = model.place(p) {
            stderr[i] = errors[k];
        }
    }
}

/// What the energy balance and the timing gave.
struct Found {
    model: Model,
    settled: Fitted,
    stderr: Vec<f64>,
    balance: Balance,
}

/// One balance solved: standard errors of the free parameters (0 where not its own), its degrees of freedom, its verdict.
struct Balance {
    stderr: Vec<f64>,
    freedom: f64,
    verdict: Verdict,
}

/// Several joints: the balance scales with the rig, so where that is free two rounds settle both.
fn windows(motion: &FreeMotion) -> Result<Found> {
    let mut model = motion.model(&[Coef::Coulomb, Coef::Viscous]);
    let rounds = if motion.freedom.free.is_empty() { 1 } else { 2 };
    let mut balance = by_windows(motion, &mut model)?;
    let mut settled = motion.settle(&model);
    for _ in 1..rounds {
        model.adopt(&settled.model, &settled.model.free);
        balance = by_windows(motion, &mut model)?;
        settled = motion.settle(&model);
    }
    Ok(Found {
        stderr: balance.stderr.clone(),
        model,
        settled,
        balance,
    })
}

/// One joint: half swings, corrected for what smoothing does.
fn pendulum(motion: &FreeMotion) -> Result<Found> {
    let mut model = motion.model(&PENDULUM);
    let balance = half_swings(&motion.record, motion.prepared.scale, &mut model)?;
    let settled = motion.settle(&model);
    model.adopt(&settled.model, &settled.model.free);
    let mut stderr = balance.stderr.clone();
    let (model, settled, last) = corrected(motion, model, settled)?;
    // The last correction shows how well the smoothing is understood.
    for (i, p) in model.free.iter().enumerate() {
        if let Some(k) = PENDULUM.iter().position(|&c| *p == Param::Friction(c, 0)) {
            stderr[i] = (stderr[i] * stderr[i] + last[k] * last[k]).sqrt();
        }
    }
    Ok(Found {
        model,
        settled,
        stderr,
        balance,
    })
}

/// Smoothing rounds the turning points, most where Coulomb friction makes the acceleration jump. What it does to the motion
/// of the estimated model is known, so it is taken off: the balance of that motion gives other numbers than the model has.
/// Kept where the free run gets better.
fn corrected(
    motion: &FreeMotion,
    mut best: Model,
    mut settled: Fitted,
) -> Result<(Model, Fitted, [f64; 3])> {
    let mut last = [0.0; 3];
    let params = PENDULUM.map(|c| Param::Friction(c, 0));
    for _ in 0..CORRECTIONS {
        // The balance scales with ω0²: both are taken at the one that was settled last.
        let mut image = best.clone();
        for &p in &settled.model.free {
            image.set(p, settled.model.get(p));
        }
        let mut measured = image.clone();
        half_swings(&motion.record, motion.prepared.scale, &mut measured)?;
        let mut record = motion.record.clone();
        record.q = free_run(&image, &settled.start, &record.t);
        let mut seen = image.clone();
        half_swings(&record, motion.prepared.scale, &mut seen)?;
        let mut next = image.clone();
        let mut change = [0.0; 3];
        for (k, p) in params.into_iter().enumerate() {
            // A term that was tied to zero stays there.
            if measured.get(p) > 1e-9 {
                let wrong = measured.get(p) - seen.get(p);
                next.set(p, (image.get(p) + wrong).max(0.0));
                change[k] = wrong;
            }
        }
        let trial = motion.settle(&next);
        let (before, after) = (100.0 - settled.fit[0], 100.0 - trial.fit[0]);
        if after < before {
            (best, settled, last) = (next, trial, change);
        }
        if after > ENOUGH * before {
            break;
        }
    }
    Ok((best, settled, last))
}

/// Set c, b, d of `model` from half swings; standard errors in the order of its free parameters.
fn half_swings(record: &Record, scale: f64, model: &mut Model) -> Result<Balance> {
    let w2 = model.get(OMEGA0_SQ);
    // Noise makes the motion look faster than a pendulum can be.
    let scale = scale.max(0.9 / w2.max(1e-6).sqrt());
    let (step, half) = (0.05 * scale, (0.4 * scale).max(4.0 * record.dt()));
    let smooth = Smooth::new(record, step, half);
    let x = record.joint(0);
    let offset = model.offset[0];
    // Turning points: velocity changes sign; the angle there from the local polynomial at the interpolated time.
    let mut turns: Vec<(usize, f64)> = Vec::new();
    for i in 1..smooth.t.len() {
        let (a, b) = (smooth.w[i - 1][0], smooth.w[i][0]);
        let t = smooth.t[i - 1] + step * a / (a - b);
        // At its ends a polynomial has samples on one side only, and its slope no meaning.
        let inside = t - record.t[0] > half && record.t[record.t.len() - 1] - t > half;
        if a * b < 0.0 && inside {
            turns.push((i, local(&record.t, &x, t, half).q - offset));
        }
    }
    let mut second: Vec<f64> = x
        .windows(3)
        .map(|w| (w[2] - 2.0 * w[1] + w[0]).abs())
        .collect();
    let least = (20.0 * record.resolution(0))
        .max(3.0 * median(&mut second))
        .max(0.01);
    let mut rows: Vec<[f64; 5]> = Vec::new();
    for pair in turns.windows(2) {
        let [(ia, a), (ib, b)] = [pair[0], pair[1]];
        if (b - a).abs() < least {
            continue;
        }
        let sum = |power: i32| -> f64 {
            (ia..ib)
                .map(|i| step * smooth.w[i][0].abs().powi(power))
                .sum()
        };
        // A zero that is off by ε changes the left side by ε·ω0²·(sinθb − sinθa), the other way in the next half swing.
        let [(sa, ca), (sb, cb)] = [math::sin_cos_f64(a), math::sin_cos_f64(b)];
        rows.push([
            (b - a).abs(),
            sum(2),
            sum(3),
            -w2 * (sb - sa),
            w2 * (cb - ca),
        ]);
    }
    if rows.len() < 5 {
        return Err(Error::invalid(
            format!(
                "{} half swings: the energy balance needs at least 5",
                rows.len()
            ),
            "record more swings, or use `--method greybox`",
        ));
    }
    // The zero's error may have either sign.
    let signed = [true, true, true, false];
    let params = PENDULUM.map(|c| Param::Friction(c, 0));
    Ok(apply(model, &rows, &signed, &params))
}

/// Set μd, μv of both joints from windows of one time scale.
fn by_windows(motion: &FreeMotion, model: &mut Model) -> Result<Balance> {
    let scale = motion.prepared.scale;
    let step = scale / 12.0;
    let smooth = Smooth::new(
        &motion.record,
        step,
        (0.5 * scale).max(4.0 * motion.record.dt()),
    );
    let offset = model.offset;
    let at = |i: usize| {
        let q = smooth.q[i];
        ([q[0] - offset[0], q[1] - offset[1]], smooth.w[i])
    };
    let n = smooth.t.len();
    let (normal, energy): (Vec<[f64; 2]>, Vec<f64>) = model.with_plant(|plant| {
        (0..n)
            .map(|i| {
                let (q, w) = at(i);
                (plant.terms(q, w).normal, plant.energy(q, w))
            })
            .unzip()
    });
    let mut rows: Vec<[f64; 5]> = Vec::new();
    let width = 12;
    for k in 0..(n - 1) / width {
        let (a, b) = (k * width, (k + 1) * width);
        let mut row = [0.0; 5];
        for i in a..=b {
            let weight = if i == a || i == b { 0.5 * step } else { step };
            for j in 0..2 {
                let w = smooth.w[i][j].abs();
                row[2 * j] += weight * normal[i][j] * w;
                row[2 * j + 1] += weight * w * w;
            }
        }
        row[4] = energy[a] - energy[b];
        rows.push(row);
    }
    if rows.len() < 10 {
        return Err(Error::invalid(
            format!(
                "{} windows: the energy balance needs at least 10",
                rows.len()
            ),
            "record a longer swing",
        ));
    }
    let params = [0, 1].map(|j| {
        [
            Param::Friction(Coef::Coulomb, j),
            Param::Friction(Coef::Viscous, j),
        ]
    });
    Ok(apply(model, &rows, &[true; 4], params.as_flattened()))
}

/// Put the solution of the equations into the model, no signed unknown below zero: friction only takes energy.
fn apply(model: &mut Model, rows: &[[f64; 5]], signed: &[bool], params: &[Param]) -> Balance {
    let unknowns = signed.len();
    let mut eq = Triangle::new(unknowns);
    for row in rows {
        eq.add(&mut row.clone());
    }
    let (solution, free) = eq.nonnegative(signed);
    let residuals: Vec<f64> = rows
        .iter()
        .map(|r| r[unknowns] - (0..unknowns).map(|i| r[i] * solution[i]).sum::<f64>())
        .collect();
    let square: f64 = residuals.iter().map(|r| r * r).sum();
    // Unknowns that are tied to zero take no degree of freedom.
    let freedom = (rows.len() - free.iter().filter(|f| **f).count()) as f64;
    let (verdict, inflation) = by_whiteness(&residuals);
    let variance = inflation * square / freedom.max(1.0);
    // A tied term is as uncertain as if it were free.
    let inverse = eq.inverse();
    let mut stderr = vec![0.0; model.free.len()];
    for (k, &p) in params.iter().enumerate() {
        model.set(p, solution[k]);
        if let Some(i) = model.place(p) {
            stderr[i] = (variance * inverse[(k, k)]).sqrt();
        }
    }
    Balance {
        stderr,
        freedom,
        verdict,
    }
}
