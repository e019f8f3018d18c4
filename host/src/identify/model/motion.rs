//! Integration of the model in any scalar, with steps that follow friction's corner.
//!
//! Dormand and Prince's pair of order 5(4). The step size is chosen by a run in plain f64 ahead of the wanted scalar, so
//! dual numbers pay only for accepted steps and follow the path of their value. Away from ω = 0 a step is some
//! 20 ms long; through the corner of the friction law it shrinks to what the corner asks for. Between steps the
//! angle is the quintic polynomial with angle, velocity and acceleration of both ends: as accurate as the step.

use stribeck_core::model::friction::Friction;
use stribeck_core::number::dual::Dual;
use stribeck_core::number::math;
use stribeck_core::number::scalar::Scalar;

use crate::identify::model::parametric::Model;
use crate::identify::model::plant::{Fitted, Visit};

/// ẏ = rate(y) with y = (angles, velocities), NS = 2·joints.
pub trait Rate<S: Scalar, const NS: usize> {
    fn rate(&self, y: &[S; NS]) -> [S; NS];
}

/// Scalars that can be combined with plain factors, without the cost of a product of two scalars.
pub trait Linear: Scalar {
    /// self + factor·x.
    fn plus(self, factor: f64, x: &Self) -> Self;
}

impl Linear for f64 {
    #[inline(always)]
    fn plus(self, factor: f64, x: &f64) -> f64 {
        self + factor * x
    }
}

impl<const N: usize> Linear for Dual<f64, N> {
    #[inline(always)]
    fn plus(mut self, factor: f64, x: &Self) -> Self {
        self.re += factor * x.re;
        for (a, b) in self.du.iter_mut().zip(&x.du) {
            *a += factor * b;
        }
        self
    }
}

/// A velocity may be wrong by this much more than an angle [1/s].
const VELOCITY_ERROR: f64 = 20.0;
/// Local error of a free run [rad].
const FREE_RUN_ERROR: f64 = 1e-9;
/// Shortest and longest step [s], and the first one tried.
const SHORTEST: f64 = 2e-6;
const LONGEST: f64 = 0.05;
const FIRST: f64 = 5e-3;
/// Parameters that drive a joint beyond this speed [rad/s] are not worth following.
const RUNAWAY: f64 = 200.0;

/// Rows of the tableau; the last one is the solution of order 5.
const STAGES: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
    ],
    &[
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
    ],
    &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];
/// Order 5 less order 4.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// The rates of the seven stages of a step from `y` with rate `first`, and the state at its end.
#[inline(never)]
fn stages<S: Linear, R: Rate<S, NS>, const NS: usize>(
    system: &R,
    y: &[S; NS],
    first: &[S; NS],
    h: f64,
) -> ([[S; NS]; 7], [S; NS]) {
    let mut k = [*first; 7];
    let mut at = *y;
    for (i, row) in STAGES.iter().enumerate() {
        at = *y;
        for (a, k) in row.iter().zip(&k).filter(|(a, _)| **a != 0.0) {
            for (x, k) in at.iter_mut().zip(k) {
                *x = x.plus(h * a, k);
            }
        }
        k[i + 1] = system.rate(&at);
    }
    (k, at)
}

/// Error of a step in units of what is allowed for an angle [rad].
fn error<const NS: usize>(k: &[[f64; NS]; 7], h: f64, angle: f64) -> f64 {
    (0..NS)
        .map(|i| {
            let e: f64 = ERROR.iter().zip(k).map(|(e, k)| e * k[i]).sum();
            let allowed = if i < NS / 2 {
                angle
            } else {
                VELOCITY_ERROR * angle
            };
            (h * e / allowed).abs()
        })
        .fold(0.0, f64::max)
}

#[derive(Clone, Copy)]
struct Knot<S, const NS: usize> {
    t: f64,
    y: [S; NS],
    rate: [S; NS],
}

/// A motion that is integrated as far as it is asked for.
pub struct Path<'a, S, R, P, const NS: usize> {
    system: &'a R,
    /// The same system in f64: it chooses the steps.
    plain: &'a P,
    from: Knot<S, NS>,
    to: Knot<S, NS>,
    end: f64,
    /// Local error allowed for an angle [rad].
    error: f64,
    /// Next step to try [s].
    step: f64,
}

impl<'a, S: Linear, R: Rate<S, NS>, P: Rate<f64, NS>, const NS: usize> Path<'a, S, R, P, NS> {
    /// From state `y` at the first time to the second \[s\], of a system and the same in f64. `error`: local error of an
    /// angle \[rad\]; `step`: the size to try first \[s\], 0 when nothing is known.
    pub fn new(
        (system, plain): (&'a R, &'a P),
        y: [S; NS],
        (t, end): (f64, f64),
        error: f64,
        step: f64,
    ) -> Self {
        let rate = system.rate(&y);
        let knot = Knot { t, y, rate };
        Path {
            system,
            plain,
            from: knot,
            to: knot,
            end,
            error,
            step: if step > 0.0 { step } else { FIRST },
        }
    }

    /// The state at `end`, and a step size to continue with.
    pub fn finish(mut self) -> ([S; NS], f64) {
        while self.to.t < self.end {
            self.advance();
        }
        (self.to.y, self.step)
    }

    /// Angle of joint `j` at time `t`, not before the last time asked for and not after `end`.
    #[inline(always)]
    pub fn angle(&mut self, j: usize, t: f64) -> S {
        while self.to.t < t.min(self.end) {
            self.advance();
        }
        let (a, b) = (&self.from, &self.to);
        let h = b.t - a.t;
        if h <= 0.0 {
            return b.y[j];
        }
        let u = (t - a.t) / h;
        let (u3, v) = (u * u * u, 1.0 - u);
        let w = NS / 2 + j;
        let end = u3 * (10.0 - 15.0 * u + 6.0 * u * u);
        // Quintic Hermite polynomial: angle, velocity and acceleration of both ends.
        a.y[j]
            .plus(-end, &a.y[j])
            .plus(end, &b.y[j])
            .plus(
                h * u * (1.0 - u * u * (6.0 - 8.0 * u + 3.0 * u * u)),
                &a.y[w],
            )
            .plus(h * u3 * (7.0 * u - 4.0 - 3.0 * u * u), &b.y[w])
            .plus(0.5 * h * h * u * u * v * v * v, &a.rate[w])
            .plus(0.5 * h * h * u3 * v * v, &b.rate[w])
    }

    /// A motion that no pendulum makes ends here, as not a number.
    fn lose(&mut self) {
        self.from = self.to;
        self.to = Knot {
            t: self.end,
            y: [S::lit(f64::NAN); NS],
            rate: [S::lit(f64::NAN); NS],
        };
    }

    /// One accepted step further.
    fn advance(&mut self) {
        let y = self.to.y.map(|x| x.to_f64());
        let first = self.to.rate.map(|x| x.to_f64());
        let left = self.end - self.to.t;
        let mut h = self.step.clamp(SHORTEST, LONGEST);
        let mut refused = false;
        let h = loop {
            // The rest in one step, or in two equal ones rather than a long and a tiny one.
            let try_h = if h >= left {
                left
            } else if 2.0 * h > left {
                0.5 * left
            } else {
                h
            };
            let (k, _) = stages(self.plain, &y, &first, try_h);
            let e = error(&k, try_h, self.error);
            let fits = e <= 1.0;
            let factor = if e.is_finite() {
                (0.9 * math::exp_f64(-0.2 * math::ln_f64(e.max(1e-6))))
                    .clamp(0.1, if refused { 1.0 } else { 5.0 })
            } else {
                0.1
            };
            if fits {
                self.step = try_h * factor;
                break try_h;
            }
            if try_h <= SHORTEST {
                return self.lose();
            }
            refused = true;
            h = try_h * factor;
        };
        if y[NS / 2..].iter().any(|w| w.abs() > RUNAWAY) {
            return self.lose();
        }
        let (k, y) = stages(self.system, &self.to.y, &self.to.rate, h);
        self.from = self.to;
        self.to = Knot {
            t: if h == left { self.end } else { self.from.t + h },
            y,
            rate: k[6],
        };
    }
}

/// Largest slope of the friction law over the inertia it acts on [1/s], at twice the weight.
pub fn stiffness(model: &Model) -> f64 {
    let slope = |f: &Friction<f64>, load: f64| {
        let law = Friction {
            mu_s: f.mu_s + f.mu_d,
            ..*f
        };
        law.slope_at_zero(load)
    };
    model.with_plant(|plant| {
        let b = plant.bounds();
        (0..model.joints())
            .map(|j| slope(&model.friction[j], 2.0 * b.weight[j]) / b.inertia[j])
            .fold(0.0, f64::max)
    })
}

/// Free run: angles at times `t` \[s\] (increasing) from state `start` = (angles, velocities) at `t[0]`,
/// read as the encoders would (offset added). Dense times are interpolated between steps.
///
/// ```
/// use stribeck::stribeck_core::model::friction::Friction;
/// use stribeck::{Config, Model, Rig, free_run};
///
/// let rig = Rig::of(&Config::default().plant);
/// let none = Friction { mu_d: 0.0, mu_s: 0.0, mu_v: 0.0, vt: 1e-2, fnt: 1.0, drag: 0.0, delta_d: 0.0, delta_v: 0.0 };
/// let model = Model::new(rig, [none; 2], &[]);
/// let q = free_run(&model, &[0.0, 0.0, 0.0, 0.0], &[0.0, 0.5, 1.0]);
/// assert_eq!(q, [[0.0; 2]; 3], "hanging, nothing moves");
/// ```
pub fn free_run(model: &Model, start: &[f64], t: &[f64]) -> Vec<[f64; 2]> {
    struct Run<'a>(&'a Model, &'a [f64], &'a [f64]);
    impl Visit for Run<'_> {
        type Out = Vec<[f64; 2]>;
        fn at<R: Fitted<NS>, const NS: usize>(self, rig: &R) -> Self::Out {
            let Run(model, start, t) = self;
            let x = model.values();
            let system = model.motion::<f64, R, NS>(rig, &x[..model.dynamic()]);
            run(&system, std::array::from_fn(|i| start[i]), t)
        }
    }
    let mut q = model.rig.visit(Run(model, start, t));
    for q in &mut q {
        for j in 0..2 {
            let eccentric = if model.disc[j] == [0.0; 2] {
                0.0
            } else {
                Model::shown(&model.disc[j], q[j]).0
            };
            q[j] += model.offset[j] + eccentric;
        }
    }
    q
}

fn run<R: Rate<f64, NS>, const NS: usize>(
    system: &R,
    start: [f64; NS],
    t: &[f64],
) -> Vec<[f64; 2]> {
    let (Some(&first), Some(&last)) = (t.first(), t.last()) else {
        return Vec::new();
    };
    let mut path = Path::new((system, system), start, (first, last), FREE_RUN_ERROR, 0.0);
    t.iter()
        .map(|&t| std::array::from_fn(|j| if j < NS / 2 { path.angle(j, t) } else { 0.0 }))
        .collect()
}
