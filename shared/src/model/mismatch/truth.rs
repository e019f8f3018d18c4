//! The pendulum that has a [`Mismatch`]: Kane's equations in the arm's frame, RK4.
//!
//! Frame (x1 along the arm, y1, z0 down the tilted axis). Generalised speeds ω0, ω1 and ẋ of the base along x0. For each body, with
//! partial velocities v_i of its centre and w_i of its rotation and accelerations at zero u̇:
//!
//! ```text
//! M_ij = ∑ m·v_i·v_j + w_i·J·w_j          bias_i = ∑ m·v_i·(a − g) + w_i·(J·α + ω×J·ω)
//! M·u̇ = −bias − (f0 + cable·θ0, f1 + drag·ω1|ω1|, k·x + c·ẋ)
//! ```
//!
//! Normal forces are the reactions at the frictionless accelerations, as the model defines them.

use super::{Memory, Mismatch};
use crate::JOINTS;
use crate::model::friction::{Bristle, Friction, Law as _, LuGre, Maxwell, Springs, Step};
use crate::model::plant::furuta;
use crate::model::rk4;
use crate::number::math;

type Vector = [f64; 3];
/// θ0 θ1 ω0 ω1, base x and ẋ.
type State = [f64; 6];

/// Mass of a base that gives way \[kg\], and its damping ratio.
const BASE_KG: f64 = 1.5;
const BASE_DAMPING: f64 = 0.03;
/// Slip of the Maxwell elements, relative to the configured one.
const ELEMENTS: [f64; 4] = [0.4, 0.8, 1.2, 1.6];

/// What a joint with either memory remembers.
#[derive(Clone, Copy, Debug)]
struct Strain {
    bristle: Bristle<f64>,
    springs: Springs<f64, 4>,
}

impl Default for Strain {
    fn default() -> Self {
        Strain {
            bristle: Bristle(0.0),
            springs: Springs([0.0; 4]),
        }
    }
}

/// The true pendulum.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// m1 m2 j1z j2x j2y j2z l1 l2 L1 tilt g.
    rig: [f64; 11],
    sin_tilt: f64,
    cos_tilt: f64,
    friction: [Friction<f64>; JOINTS],
    mismatch: Mismatch,
    y: State,
    /// What the friction remembers.
    strain: [Strain; JOINTS],
    substep_s: f64,
    substeps: u32,
}

impl Truth {
    /// At rest at the true angles `q` \[rad\]; `stated` is the rig file, every [`Truth::step`] a stated `dt_s` \[s\].
    pub fn new(
        stated: &furuta::Config,
        friction: [Friction<f64>; JOINTS],
        mismatch: &Mismatch,
        q: [f64; JOINTS],
        dt_s: f64,
        substeps: u32,
    ) -> Self {
        let rig = mismatch.rig(stated);
        let (sin_tilt, cos_tilt) = math::sin_cos_f64(rig[9]);
        let substeps = substeps.max(1);
        Truth {
            rig,
            sin_tilt,
            cos_tilt,
            friction,
            mismatch: *mismatch,
            y: [q[0], q[1], 0.0, 0.0, 0.0, 0.0],
            strain: [Strain::default(); JOINTS],
            substep_s: dt_s * (1.0 + mismatch.clock) / substeps as f64,
            substeps,
        }
    }

    /// True angles \[rad\].
    pub fn q(&self) -> [f64; JOINTS] {
        [self.y[0], self.y[1]]
    }

    /// True velocities \[rad/s\].
    pub fn w(&self) -> [f64; JOINTS] {
        [self.y[2], self.y[3]]
    }

    /// Angles as the encoders' discs show them \[rad\], before noise and rounding.
    pub fn shown(&self) -> [f64; JOINTS] {
        let m = &self.mismatch;
        core::array::from_fn(|j| {
            let q = self.y[j];
            let (sin, _) = math::sin_cos_f64(q + m.phase);
            q + m.zero[j] + m.eccentricity[j] * sin
        })
    }

    /// One tick further.
    pub fn step(&mut self) {
        for _ in 0..self.substeps {
            let from = self.y;
            self.y = rk4::step(&from, self.substep_s, |y| self.rates(&from, y));
            self.strain = self.strained(&from);
        }
    }

    /// What the friction remembers at the end of a step that began at `from`.
    fn strained(&self, from: &State) -> [Strain; JOINTS] {
        if self.mismatch.memory == Memory::None {
            return self.strain;
        }
        let (_, _, normal) = self.forces(&self.y);
        core::array::from_fn(|j| self.rubbed(j, from, &self.y, normal[j]).1)
    }

    /// ẏ at `y`, within a step that began at `from`.
    fn rates(&self, from: &State, y: &State) -> State {
        let (mass, mut load, normal) = self.forces(y);
        for j in 0..JOINTS {
            load[j] -= self.rubbed(j, from, y, normal[j]).0;
        }
        let u = solved(&mass, load);
        [y[2], y[3], u[0], u[1], y[5], u[2]]
    }

    /// Weight that each joint carries \[N\].
    fn weight(&self) -> [f64; JOINTS] {
        let [m1, m2, .., gravity] = self.rig;
        [(m1 + m2) * gravity, m2 * gravity]
    }

    /// Mass matrix, forces without friction, and normal forces \[N\].
    fn forces(&self, y: &State) -> ([[f64; 3]; 3], [f64; 3], [f64; JOINTS]) {
        let [m1, m2, j1z, j2x, j2y, j2z, l1, l2, arm_length, _, gravity] = self.rig;
        let m = &self.mismatch;
        let [q0, q1, w0, w1, x, v] = *y;
        let (s0, c0) = math::sin_cos_f64(q0);
        let (s1, c1) = math::sin_cos_f64(q1);
        let movable = m.base_hz > 0.0;
        // Gravity and the base's direction x0 in the arm's frame.
        let g = scaled(
            gravity,
            [self.sin_tilt * c0, -self.sin_tilt * s0, self.cos_tilt],
        );
        let base = if movable { [c0, -s0, 0.0] } else { [0.0; 3] };
        let axis = [0.0, 0.0, 1.0];
        let along = [1.0, 0.0, 0.0];
        // The pendulum hangs along d; y2 = d × x1 is its second axis.
        let d = [0.0, -s1, c1];
        let y2 = [0.0, c1, s1];
        let lever = scaled(l2, d);
        let spin = add(scaled(w0, axis), scaled(w1, along));
        let pivot = scaled(arm_length, along);

        // Arm: partial velocities and acceleration at zero u̇.
        let arm_v = [scaled(l1, cross(axis, along)), [0.0; 3], base];
        let arm_a = scaled(-l1 * w0 * w0, along);
        // Pendulum.
        let pendulum_v = [cross(axis, add(pivot, lever)), cross(along, lever), base];
        let pendulum_w = [axis, along, [0.0; 3]];
        let alpha = scaled(w0 * w1, cross(axis, along));
        let pendulum_a = add(
            scaled(-arm_length * w0 * w0, along),
            add(cross(alpha, lever), cross(spin, cross(spin, lever))),
        );
        let inertia = |u: Vector| {
            add(
                scaled(j2x * dot(u, along), along),
                add(scaled(j2y * dot(u, y2), y2), scaled(j2z * dot(u, d), d)),
            )
        };
        let moment = add(inertia(alpha), cross(spin, inertia(spin)));

        let mut mass = [[0.0; 3]; 3];
        let mut bias = [0.0; 3];
        for i in 0..3 {
            for k in 0..3 {
                mass[i][k] = m1 * dot(arm_v[i], arm_v[k])
                    + m2 * dot(pendulum_v[i], pendulum_v[k])
                    + dot(pendulum_w[i], inertia(pendulum_w[k]));
            }
            bias[i] = m1 * dot(arm_v[i], sub(arm_a, g))
                + m2 * dot(pendulum_v[i], sub(pendulum_a, g))
                + dot(pendulum_w[i], moment);
        }
        mass[0][0] += j1z;
        mass[2][2] += BASE_KG;
        let base_rate = 2.0 * core::f64::consts::PI * m.base_hz;
        let external = [
            m.cable * q0,
            m.drag * w1 * w1.abs(),
            BASE_KG * base_rate * (base_rate * x + 2.0 * BASE_DAMPING * v),
        ];
        let load = core::array::from_fn(|i| -bias[i] - external[i]);

        let free = solved(&mass, load);
        let acceleration = |partial: &[Vector; 3], at_rest: Vector| {
            (0..3).fold(at_rest, |a, i| add(a, scaled(free[i], partial[i])))
        };
        let on_pendulum = scaled(m2, sub(acceleration(&pendulum_v, pendulum_a), g));
        let on_arm = scaled(m1, sub(acceleration(&arm_v, arm_a), g));
        let normal = if m.preload {
            self.weight()
        } else {
            [length(add(on_pendulum, on_arm)), length(on_pendulum)]
        };
        (mass, load, normal)
    }

    /// Friction torque of joint `j` \[N·m\] at `y`, within a step that began at `from`, and what it remembers there.
    fn rubbed(&self, j: usize, from: &State, y: &State, fn_: f64) -> (f64, Strain) {
        let m = &self.mismatch;
        let w = y[2 + j];
        let mut f = self.friction[j];
        if j == 0 {
            let (sin, _) = math::sin_cos_f64(2.0 * y[0]);
            let here = 1.0 + m.position * sin;
            f.mu_d *= here;
            f.mu_s *= here;
        }
        f.delta_d = -m.asymmetry * f.mu_d;
        let step = Step {
            turn: y[j] - from[j],
            w: 0.5 * (w + from[2 + j]),
            dt_s: self.substep_s,
            fn_,
        };
        let mut strain = self.strain[j];
        let torque = match m.memory {
            Memory::None => f.torque(w, fn_),
            Memory::LuGre(slip) => {
                let stiffness = f.mu_d * self.weight()[j] / slip;
                let law = LuGre {
                    stiffness,
                    // A tenth of critical on 5 g·m², fading as the bristles slide.
                    damping: 0.2 * math::sqrt_f64(stiffness * 5e-3),
                    fade: 1.0 / f.vt,
                    mu_d: f.mu_d,
                    mu_s: f.mu_s,
                    vs: f.vt,
                    mu_v: f.mu_v,
                };
                strain.bristle = law.advance(&strain.bristle, &step);
                law.torque(&strain.bristle, w, fn_)
            }
            Memory::Maxwell(slip) => {
                let law = Maxwell::equal_shares(f.mu_d, ELEMENTS.map(|e| slip * e), f.mu_v);
                strain.springs = law.advance(&strain.springs, &step);
                law.torque(&strain.springs, w, fn_)
            }
        };
        (torque, strain)
    }
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn scaled(s: f64, a: Vector) -> Vector {
    a.map(|x| s * x)
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn length(a: Vector) -> f64 {
    math::sqrt_f64(dot(a, a))
}

/// M⁻¹·b of a symmetric positive definite M, by Cramer's rule.
fn solved(m: &[[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let det = dot(m[0], cross(m[1], m[2]));
    [
        dot(b, cross(m[1], m[2])) / det,
        dot(m[0], cross(b, m[2])) / det,
        dot(m[0], cross(m[1], b)) / det,
    ]
}
