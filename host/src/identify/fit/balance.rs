//! Start values from the momentum balance: linear least squares over short windows, no guess needed.
//!
//! ```text
//! Furuta, per joint:   −(Δp − ∫(½ωᵀ(∂H/∂q)ω − G)dt) = μd·∫Fn·sgn ω dt + μv·∫ω dt          p = H·ω
//! pendulum:            −Δω = A·∫sinθ dt − B·∫cosθ dt + c·∫sgn ω dt + b·∫ω dt + d·∫ω|ω| dt
//! ```
//!
//! θ here is the reading; with the encoder's offset ε, A = ω0²·cos ε and B = ω0²·sin ε. Angles and velocities
//! come from [`crate::identify::data::smooth`]. Good to some per cent: the start of everything else.

use stribeck_core::number::math;

use crate::identify::data::record::Record;
use crate::identify::data::smooth::{Smooth, time_scale};
use crate::identify::fit::triangle::Triangle;
use crate::identify::model::parametric::{Coef, Model, Param};
use crate::identify::model::plant::pendulum::OMEGA0_SQ;
use crate::number;

/// The model with Coulomb and viscous friction (and ω0², offset of a pendulum if free) set from the record.
pub fn start_values(record: &Record, model: &Model) -> Model {
    let scale = time_scale(record);
    let step = (scale / 12.0).max(record.duration() / 40_000.0);
    let half = (0.5 * scale).max(4.0 * record.dt());
    let smooth = Smooth::new(record, step, half);
    if model.joints() == 1 {
        one_joint(&smooth, model, step, scale)
    } else {
        by_joint(&smooth, model, step, scale)
    }
}

/// Trapezoid sums of `f` over windows of `w` intervals.
fn windows(n: usize, w: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..(n.saturating_sub(1)) / w).map(move |k| k * w..(k + 1) * w)
}

fn integral(range: &std::ops::Range<usize>, step: f64, f: impl Fn(usize) -> f64) -> f64 {
    let inner: f64 = (range.start + 1..range.end).map(&f).sum();
    step * (inner + 0.5 * (f(range.start) + f(range.end)))
}

/// Any plant, its rig as configured.
fn by_joint(s: &Smooth, model: &Model, step: f64, scale: f64) -> Model {
    let terms: Vec<_> =
        model.with_plant(|p| (0..s.t.len()).map(|i| p.terms(s.q[i], s.w[i])).collect());
    let momentum = |i: usize| terms[i].h.apply(s.w[i]);
    let width = ((scale / step).round() as usize).max(4);
    let mut out = model.clone();
    for j in 0..2 {
        let corner = 0.05;
        let mut eq = Triangle::new(2);
        for r in windows(s.t.len(), width) {
            if (r.start..=r.end).any(|i| s.w[i][j].abs() < corner) {
                continue;
            }
            let drive = integral(&r, step, |i| terms[i].dt_dq[j] - terms[i].g[j]);
            let lost = -(momentum(r.end)[j] - momentum(r.start)[j] - drive);
            let coulomb = integral(&r, step, |i| terms[i].normal[j] * s.w[i][j].signum());
            let viscous = integral(&r, step, |i| s.w[i][j]);
            eq.add(&mut [coulomb, viscous, lost]);
        }
        let [mut mu_d, mut mu_v] = [0.0, 0.0];
        if eq.rows >= 8 {
            let sol = eq.solve();
            (mu_d, mu_v) = (sol[0], sol[1]);
        }
        set_free(&mut out, Param::Friction(Coef::Coulomb, j), mu_d.max(2e-5));
        set_free(&mut out, Param::Friction(Coef::Viscous, j), mu_v.max(1e-6));
    }
    out
}

/// A pendulum, whose ω0² and zero are found as well.
fn one_joint(s: &Smooth, model: &Model, step: f64, scale: f64) -> Model {
    let width = ((scale / step).round() as usize).max(4);
    let known = (!model.free.contains(&OMEGA0_SQ)).then(|| model.get(OMEGA0_SQ));
    let mut eq = Triangle::new(5);
    for r in windows(s.t.len(), width) {
        let w = |i: usize| s.w[i][0];
        let sin = |i: usize| math::sin_cos_f64(s.q[i][0]).0;
        let cos = |i: usize| math::sin_cos_f64(s.q[i][0]).1;
        let mut row = [
            integral(&r, step, sin),
            -integral(&r, step, cos),
            integral(&r, step, |i| w(i).signum()),
            integral(&r, step, w),
            integral(&r, step, |i| w(i) * w(i).abs()),
            -(w(r.end) - w(r.start)),
        ];
        if let Some(w2) = known {
            row[5] -= w2 * row[0];
            row[0] = 0.0;
        }
        eq.add(&mut row);
    }
    if known.is_some() {
        eq.add(&mut [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
    let sol = eq.solve();
    let a = known.unwrap_or(sol[0]);
    let mut out = model.clone();
    set_free(&mut out, OMEGA0_SQ, number::hypot(a, sol[1]).max(1e-3));
    set_free(&mut out, Param::Offset(0), number::atan2(sol[1], a));
    set_free(
        &mut out,
        Param::Friction(Coef::Coulomb, 0),
        sol[2].max(1e-3),
    );
    set_free(
        &mut out,
        Param::Friction(Coef::Viscous, 0),
        sol[3].max(1e-3),
    );
    out
}

fn set_free(m: &mut Model, p: Param, x: f64) {
    if m.free.contains(&p) {
        m.set(p, x);
    }
}
