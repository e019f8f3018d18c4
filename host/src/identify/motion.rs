//! Integration of the model in any scalar, with steps that look after friction's corner.
//!
//! Away from ω = 0 the equations are smooth and a coarse Runge–Kutta step is exact to rounding of the
//! counts. Where a joint may pass through the corner of the friction law within the step (|ω| below what the
//! acceleration can reach, plus a few vt) the step is divided. The decision uses real parts only, so dual
//! numbers follow the path of their value.

use stribeck_core::plant::furuta::Furuta;
use stribeck_core::plant::pendulum::Pendulum;
use stribeck_core::plant::{Plant, passive};
use stribeck_core::rk4;
use stribeck_core::scalar::Scalar;

use super::model::{Model, Rig, System};

/// ẏ = rate(y) with y = (angles, velocities), NS = 2·joints.
pub trait Rate<S: Scalar, const NS: usize> {
    fn rate(&self, y: &[S; NS]) -> [S; NS];
}

impl<S: Scalar> Rate<S, 4> for System<S, Furuta<S>> {
    #[inline(always)]
    fn rate(&self, y: &[S; 4]) -> [S; 4] {
        passive(&self.plant, &self.friction, y)
    }
}

impl<S: Scalar> Rate<S, 2> for System<S, Pendulum<S>> {
    #[inline(always)]
    fn rate(&self, y: &[S; 2]) -> [S; 2] {
        let w = [y[1], S::ZERO];
        let t = self.plant.terms([y[0], S::ZERO], w);
        // The second joint is inert: its friction need not be evaluated.
        let f = self.friction[0].torque(y[1], t.normal[0]);
        [y[1], t.free[0] - t.h_inv.a00 * f]
    }
}

/// Step sizes [s], the width of the corner of each joint [rad/s] and the largest friction slope over inertia [1/s].
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub coarse: f64,
    pub fine: f64,
    pub corner: [f64; 2],
    pub stiffness: f64,
    /// Largest angle a joint may turn in one step [rad].
    pub turn: f64,
}

impl Steps {
    /// For a motion with velocities up to `fastest` [rad/s]: the coarse step keeps the error of a step near 1e-9 rad,
    /// the fine one what a crossing of ω = 0 can cost.
    pub fn new(model: &Model, fastest: f64) -> Steps {
        let (gain, floor, fine) = match model.rig {
            Rig::Furuta(_) => (0.025, 5e-4, 5e-4),
            Rig::Pendulum { .. } => (0.05, 1e-3, 1e-3),
        };
        let coarse = (gain / fastest.max(1.0)).clamp(floor, 5e-3);
        let stiffness = stiffness(model).max(1.0);
        let fine = (0.5 / stiffness).min(coarse / 3.0).min(fine);
        Steps {
            coarse,
            fine,
            corner: model.friction.map(|f| f.vt.abs()),
            stiffness,
            turn: gain,
        }
    }

    /// Into how many parts a step `h` is divided where joint `j` has velocity `w` and acceleration `a`.
    #[inline(always)]
    fn parts(&self, j: usize, w: f64, a: f64, h: f64) -> f64 {
        let vt = self.corner[j];
        let change = a.abs() * h;
        if w.abs() > 1.25 * change + vt {
            return 1.0;
        }
        // Enough to follow the corner, never more than the fine step asks for, always stable.
        (change / (0.15 * vt))
            .max(2.0 * h * self.stiffness)
            .min(h / self.fine)
            .ceil()
            .max(1.0)
    }
}

/// Largest slope of the friction law over the inertia it acts on [1/s], at twice the weight.
fn stiffness(model: &Model) -> f64 {
    let slope = |f: &stribeck_core::friction::Friction<f64>, load: f64| {
        stribeck_core::friction::Friction {
            mu_s: f.mu_s + f.mu_d,
            ..*f
        }
        .slope_at_zero(load)
    };
    let x = model.values();
    let x = &x[..model.dynamic()];
    match (model.furuta(x), model.pendulum(x)) {
        (Some(s), _) => {
            let b = s.plant.bounds();
            (0..2)
                .map(|j| slope(&model.friction[j], 2.0 * b.weight[j]) / b.inertia[j])
                .fold(0.0, f64::max)
        }
        (_, Some(_)) => slope(&model.friction[0], 1.0),
        _ => 0.0,
    }
}

/// The state after `span` [s].
#[inline(always)]
pub fn advance<S: Scalar, R: Rate<S, NS>, const NS: usize>(
    system: &R,
    mut y: [S; NS],
    span: f64,
    steps: &Steps,
) -> [S; NS] {
    if span <= 0.0 {
        return y;
    }
    let joints = NS / 2;
    // Slow motion allows longer steps than the fastest part of the record.
    let speed = (0..joints)
        .map(|j| y[joints + j].to_f64().abs())
        .fold(0.0, f64::max);
    let longest = (steps.turn / (speed + 1.0)).clamp(steps.coarse, steps.coarse.max(5e-3));
    let n = (span / longest - 1e-9).ceil().max(1.0);
    let h = span / n;
    for _ in 0..n as usize {
        let k1 = system.rate(&y);
        let parts = (0..joints)
            .map(|j| steps.parts(j, y[joints + j].to_f64(), k1[joints + j].to_f64(), h))
            .fold(1.0, f64::max);
        let part = S::lit(h / parts);
        let mut first = Some(k1);
        for _ in 0..parts as usize {
            y = rk4::step(&y, part, |y| first.take().unwrap_or_else(|| system.rate(y)));
        }
    }
    y
}

/// Free run: angles at times `t` [s] (increasing) from state `start` = (angles, velocities) at `t[0]`,
/// read as the encoders would (offset added). Dense times are interpolated between steps.
pub fn free_run(model: &Model, start: &[f64], t: &[f64], fastest: f64) -> Vec<[f64; 2]> {
    let x = model.values();
    let x = &x[..model.dynamic()];
    let steps = Steps::new(model, fastest);
    let states: Vec<[f64; 4]> = match (model.furuta(x), model.pendulum(x)) {
        (Some(s), _) => run_states(&s, [start[0], start[1], start[2], start[3]], t, &steps),
        (_, Some(s)) => run_states(&s, [start[0], start[1]], t, &steps)
            .into_iter()
            .map(|[q, w]| [q, 0.0, w, 0.0])
            .collect(),
        _ => Vec::new(),
    };
    states
        .iter()
        .map(|y| [y[0] + model.offset[0], y[1] + model.offset[1]])
        .collect()
}

/// States at times `t` by coarse steps and cubic Hermite interpolation.
pub fn run_states<R: Rate<f64, NS>, const NS: usize>(
    system: &R,
    start: [f64; NS],
    t: &[f64],
    steps: &Steps,
) -> Vec<[f64; NS]> {
    let mut out = Vec::with_capacity(t.len());
    let Some(&t0) = t.first() else { return out };
    let (mut ta, mut ya) = (t0, start);
    let (mut tb, mut yb) = (t0, start);
    for &at in t {
        while tb < at {
            (ta, ya) = (tb, yb);
            // A long gap is crossed in one call; dense samples share one step.
            let span = steps.coarse.max(at - tb);
            yb = advance(system, ya, span, steps);
            tb = ta + span;
        }
        out.push(if tb == at {
            yb
        } else {
            hermite(system, (ta, &ya), (tb, &yb), at)
        });
    }
    out
}

fn hermite<R: Rate<f64, NS>, const NS: usize>(
    system: &R,
    (ta, ya): (f64, &[f64; NS]),
    (tb, yb): (f64, &[f64; NS]),
    at: f64,
) -> [f64; NS] {
    let h = tb - ta;
    let u = (at - ta) / h;
    let joints = NS / 2;
    let value = |a: f64, da: f64, b: f64, db: f64| {
        let v = 1.0 - u;
        v * v * (1.0 + 2.0 * u) * a + u * v * v * h * da + u * u * (3.0 - 2.0 * u) * b
            - u * u * v * h * db
    };
    let (ra, rb) = (system.rate(ya), system.rate(yb));
    std::array::from_fn(|i| {
        if i < joints {
            value(ya[i], ya[i + joints], yb[i], yb[i + joints])
        } else {
            value(ya[i], ra[i], yb[i], rb[i])
        }
    })
}
