//! Friction from the energy that is lost: linear, global, no derivative of a velocity.
//!
//! ```text
//! pendulum, per half swing a → b:   ω0²·(cosθb − cosθa) = c·|θb − θa| + b·∫ω²dt + d·∫|ω|³dt
//! Furuta, per window:               −ΔE = Σj μdj·∫Fnj·|ωj|dt + μvj·∫ωj²dt
//! ```
//!
//! At turning points the kinetic energy of a pendulum vanishes, so only angles enter the left side. ω0² and the first
//! state come from the timing of the whole record with the friction held ([`super::subject::Subject::settle`]).

use stribeck_core::plant::Plant;

use crate::error::{Error, Result};

use super::greybox::Fitted;
use super::model::{Coef, Model, Param, Rig};
use super::motion::free_run;
use super::outcome::Outcome;
use super::record::{Record, median};
use super::smooth::{Smooth, local};
use super::subject::Subject;
use super::triangle::Triangle;

/// Terms of a pendulum's balance, in the order of its columns.
const PENDULUM: [Coef; 3] = [Coef::Coulomb, Coef::Viscous, Coef::Drag];
/// A correction that leaves more than this part of the misfit is the last one.
const ENOUGH: f64 = 0.9;
/// Most corrections for what smoothing does.
const CORRECTIONS: usize = 4;

/// Identify from the energy balance.
pub fn identify(subject: &Subject) -> Result<Outcome> {
    let began = std::time::Instant::now();
    let terms: &[Coef] = match subject.rig {
        Rig::Pendulum { .. } => &PENDULUM,
        Rig::Furuta(_) => &[Coef::Coulomb, Coef::Viscous],
    };
    let mut model = subject.model(terms);
    let pendulous = matches!(subject.rig, Rig::Pendulum { .. });
    // The balance scales with the rig: where that is refined, two rounds settle both. A pendulum's is corrected below.
    let rounds = if pendulous || subject.free_rig.is_empty() {
        1
    } else {
        2
    };
    let (mut settled, mut stderr) = (None, Vec::new());
    for _ in 0..rounds {
        stderr = if pendulous {
            pendulum(&subject.record, subject.prepared.scale, &mut model)?
        } else {
            furuta(subject, &mut model)?
        };
        let found = subject.settle(&model);
        for &p in &found.model.free {
            model.set(p, found.model.get(p));
        }
        settled = Some(found);
    }
    let Some(mut settled) = settled else {
        unreachable!("at least one round")
    };
    if pendulous {
        let last;
        (model, settled, last) = corrected(subject, model, settled)?;
        // The last correction shows how well the smoothing is understood.
        for (i, p) in model.free.iter().enumerate() {
            if let Some(k) = PENDULUM.iter().position(|&c| *p == Param::Friction(c, 0)) {
                stderr[i] = f64::hypot(stderr[i], last[k]);
            }
        }
    }
    for (i, &p) in model.free.clone().iter().enumerate() {
        if let Some(k) = settled.model.free.iter().position(|s| *s == p) {
            model.set(p, settled.model.get(p));
            stderr[i] = settled.stderr[k];
        }
    }
    Ok(subject.outcome("energy", &model, &settled.start, &stderr, began))
}

/// Smoothing rounds the turning points, most where Coulomb friction makes the acceleration jump. What it does to the motion
/// of the estimated model is known, so it is taken off: the balance of that motion gives other numbers than the model has.
/// Kept where the free run gets better.
fn corrected(
    subject: &Subject,
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
        pendulum(&subject.record, subject.prepared.scale, &mut measured)?;
        let mut record = subject.record.clone();
        record.q = free_run(&image, &settled.start, &record.t);
        let mut seen = image.clone();
        pendulum(&record, subject.prepared.scale, &mut seen)?;
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
        let trial = subject.settle(&next);
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
fn pendulum(record: &Record, scale: f64, model: &mut Model) -> Result<Vec<f64>> {
    let w2 = model.get(Param::Omega0Squared);
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
    let mut eq = Triangle::new(4);
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
        eq.add(&mut [
            (b - a).abs(),
            sum(2),
            sum(3),
            -w2 * (b.sin() - a.sin()),
            w2 * (b.cos() - a.cos()),
        ]);
    }
    if eq.rows < 5 {
        return Err(Error::invalid(
            format!(
                "{} half swings: the energy balance needs at least 5",
                eq.rows
            ),
            "record more swings, or use `--method greybox`",
        ));
    }
    Ok(apply(
        model,
        &dissipative(&eq),
        &PENDULUM.map(|c| Param::Friction(c, 0)),
    ))
}

/// Friction only takes energy: columns whose coefficient comes out negative are tied to zero, quadratic drag first.
fn dissipative(eq: &Triangle) -> Triangle {
    let mut tied = eq.clone();
    for column in [2, 1, 0] {
        if tied
            .solve()
            .iter()
            .take(PENDULUM.len())
            .all(|x| *x >= -1e-9)
        {
            break;
        }
        let mut row = [0.0; 5];
        row[column] = 1e9;
        tied.add(&mut row);
    }
    tied
}

/// Set μd, μv of both joints from windows of one time scale.
fn furuta(subject: &Subject, model: &mut Model) -> Result<Vec<f64>> {
    let scale = subject.prepared.scale;
    let step = scale / 12.0;
    let smooth = Smooth::new(
        &subject.record,
        step,
        (0.5 * scale).max(4.0 * subject.record.dt()),
    );
    let values = model.values();
    let Some(system) = model.furuta::<f64>(&values[..model.dynamic()]) else {
        unreachable!("the caller matched the rig")
    };
    let at = |i: usize| (smooth.q[i], smooth.w[i]);
    let normal: Vec<[f64; 2]> = (0..smooth.t.len())
        .map(|i| system.plant.terms(at(i).0, at(i).1).normal)
        .collect();
    let mut eq = Triangle::new(4);
    let width = 12;
    for k in 0..(smooth.t.len() - 1) / width {
        let (a, b) = (k * width, (k + 1) * width);
        let energy = |i: usize| system.plant.energy(at(i).0, at(i).1);
        let mut row = [0.0; 5];
        for i in a..=b {
            let weight = if i == a || i == b { 0.5 * step } else { step };
            for j in 0..2 {
                let w = smooth.w[i][j].abs();
                row[2 * j] += weight * normal[i][j] * w;
                row[2 * j + 1] += weight * w * w;
            }
        }
        row[4] = energy(a) - energy(b);
        eq.add(&mut row);
    }
    if eq.rows < 10 {
        return Err(Error::invalid(
            format!("{} windows: the energy balance needs at least 10", eq.rows),
            "record a longer swing",
        ));
    }
    let params = [0, 1].map(|j| {
        [
            Param::Friction(Coef::Coulomb, j),
            Param::Friction(Coef::Viscous, j),
        ]
    });
    Ok(apply(model, &eq, params.as_flattened()))
}

/// Put the solution of `eq` into the model; standard errors for all its free parameters (0 where not in `params`).
fn apply(model: &mut Model, eq: &Triangle, params: &[Param]) -> Vec<f64> {
    let solution = eq.solve();
    let variance = eq.residual() / (eq.rows as f64 - params.len() as f64).max(1.0);
    let covariance = eq.covariance();
    let mut stderr = vec![0.0; model.free.len()];
    for (k, &p) in params.iter().enumerate() {
        model.set(p, solution[k]);
        if let Some(i) = model.free.iter().position(|f| *f == p) {
            stderr[i] = (variance * covariance[(k, k)]).sqrt();
        }
    }
    stderr
}
