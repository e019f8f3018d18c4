//! The piecewise solution of an oscillator with Coulomb and viscous friction per direction, and its least-squares adjustment.
//!
//! Seven numbers: ω0, ζ and the centre S of each direction, time and place of the first turning point. Given the number of
//! half swings before it rests, the path is smooth in all of them.

use stribeck_core::number::math;

use crate::identify::fit::damping::Damping;
use crate::identify::fit::triangle::Triangle;

/// Numbers of the piecewise solution.
pub const UNKNOWNS: usize = 7;
/// Steps of each adjustment.
const ITERATIONS: usize = 40;

/// A turning point.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub t: f64,
    pub x: f64,
}

/// The seven numbers of the piecewise solution.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub omega0: f64,
    /// ζ for ẋ > 0 and ẋ < 0.
    pub zeta: [f64; 2],
    /// Centre of motion S for ẋ > 0 and ẋ < 0.
    pub centre: [f64; 2],
    pub first: Turn,
}

impl Shape {
    fn to_array(self) -> [f64; UNKNOWNS] {
        let s = self;
        [
            s.omega0,
            s.zeta[0],
            s.zeta[1],
            s.centre[0],
            s.centre[1],
            s.first.t,
            s.first.x,
        ]
    }

    fn from_array(a: [f64; UNKNOWNS]) -> Shape {
        Shape {
            omega0: a[0],
            zeta: [a[1], a[2]],
            centre: [a[3], a[4]],
            first: Turn { t: a[5], x: a[6] },
        }
    }

    /// Values for which the piecewise solution exists.
    pub fn oscillates(&self) -> bool {
        self.to_array().iter().all(|x| x.is_finite())
            && self.omega0 > 0.0
            && self.zeta.iter().all(|z| z.abs() < 0.95)
    }

    /// Half swings until friction holds, at most `limit`: it goes up only from below S₊ and down only from above S₋.
    pub fn swings(&self, rising: bool, limit: usize) -> usize {
        let mut dir = usize::from(!rising);
        let mut x = self.first.x;
        for n in 0..limit {
            let distance = x - self.centre[dir];
            if (dir == 0) == (distance >= 0.0) {
                return n;
            }
            let zeta = self.zeta[dir];
            let beta = zeta / (1.0 - zeta * zeta).sqrt();
            x = self.centre[dir] - distance * math::exp_f64(-std::f64::consts::PI * beta);
            dir = 1 - dir;
        }
        limit
    }

    /// The displacement at increasing times from the first turning point: `swings` half swings, then rest. A sample shortly before the
    /// turning point belongs to the half swing that ended there.
    pub fn path(&self, times: &[f64], rising: bool, swings: usize) -> Vec<f64> {
        let constants = |dir: usize| {
            let zeta = self.zeta[dir];
            let wd = self.omega0 * (1.0 - zeta * zeta).sqrt();
            (zeta * self.omega0, wd, zeta / (1.0 - zeta * zeta).sqrt())
        };
        let constants = [constants(0), constants(1)];
        let on = |dir: usize, y: f64, u: f64| {
            let (rate, wd, beta) = constants[dir];
            let (sin, cos) = math::sin_cos_f64(wd * u);
            self.centre[dir] + y * math::exp_f64(-rate * u) * (cos + beta * sin)
        };
        let mut dir = usize::from(!rising);
        let mut at = self.first;
        let mut out = Vec::with_capacity(times.len());
        let mut done = 0;
        for &t in times {
            if t < self.first.t {
                let before = 1 - dir;
                out.push(on(before, at.x - self.centre[before], t - at.t));
                continue;
            }
            while done < swings {
                let (_, wd, beta) = constants[dir];
                let end = at.t + std::f64::consts::PI / wd;
                if t <= end {
                    break;
                }
                let next = self.centre[dir]
                    - (at.x - self.centre[dir]) * math::exp_f64(-std::f64::consts::PI * beta);
                at = Turn { t: end, x: next };
                dir = 1 - dir;
                done += 1;
            }
            out.push(if done < swings {
                on(dir, at.x - self.centre[dir], t - at.t)
            } else {
                at.x
            });
        }
        out
    }
}

/// A shape moved to the least squares of some samples.
pub struct Moved {
    pub shape: Shape,
    pub cost: f64,
    pub eq: Triangle,
}

/// The samples to be explained.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    pub t: &'a [f64],
    pub x: &'a [f64],
    /// The first half swing goes up.
    pub rising: bool,
    /// Half swings before the final rest.
    pub swings: usize,
    /// Size of the first half swing.
    pub amplitude: f64,
}

/// Levenberg–Marquardt on the samples given.
pub fn adjust(samples: Samples, shape: Shape) -> Moved {
    let Samples {
        t,
        x,
        rising,
        swings,
        amplitude,
    } = samples;
    let cost_of = |s: &Shape| -> f64 {
        s.path(t, rising, swings)
            .iter()
            .zip(x)
            .map(|(p, v)| (v - p).powi(2))
            .sum()
    };
    let mut now = Moved {
        cost: cost_of(&shape),
        eq: Triangle::new(UNKNOWNS),
        shape,
    };
    let mut damping = Damping::default();
    for _ in 0..ITERATIONS {
        let base = now.shape.to_array();
        let w = base[0];
        let sizes = [w, 1.0, 1.0, amplitude, amplitude, 1.0 / w, amplitude];
        now.eq = equations(&samples, &now.shape, &sizes);
        let before = now.cost;
        let mut small = false;
        let moved = damping.step(&now.eq, |step| {
            small = (0..UNKNOWNS).all(|i| step[i].abs() < 1e-9 * sizes[i]);
            let trial = Shape::from_array(std::array::from_fn(|i| base[i] + step[i]));
            let cost = if trial.oscillates() {
                cost_of(&trial)
            } else {
                f64::INFINITY
            };
            (cost <= before || small).then_some((trial, cost))
        });
        let Some((shape, cost)) = moved.filter(|(_, cost)| *cost <= before) else {
            break;
        };
        (now.shape, now.cost) = (shape, cost);
        if small || before - cost < 1e-10 * before {
            break;
        }
    }
    now
}

/// The linearised problem: derivatives of every sample by the seven numbers, and what is left.
fn equations(samples: &Samples, shape: &Shape, sizes: &[f64; UNKNOWNS]) -> Triangle {
    let &Samples {
        t,
        x,
        rising,
        swings,
        ..
    } = samples;
    let base = shape.to_array();
    let now = shape.path(t, rising, swings);
    let columns: [Vec<f64>; UNKNOWNS] = std::array::from_fn(|i| {
        let h = 1e-6 * sizes[i];
        let shifted = |sign: f64| {
            let mut a = base;
            a[i] += sign * h;
            Shape::from_array(a).path(t, rising, swings)
        };
        let (mut up, down) = (shifted(1.0), shifted(-1.0));
        for (u, d) in up.iter_mut().zip(down) {
            *u = (*u - d) / (2.0 * h);
        }
        up
    });
    let mut eq = Triangle::new(UNKNOWNS);
    let mut row = [0.0; UNKNOWNS + 1];
    for (i, (v, p)) in x.iter().zip(&now).enumerate() {
        for (r, c) in row.iter_mut().zip(&columns) {
            *r = c[i];
        }
        row[UNKNOWNS] = v - p;
        eq.add(&mut row);
    }
    eq
}
