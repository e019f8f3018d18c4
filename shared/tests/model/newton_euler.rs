//! Newton–Euler: accelerations of both bodies from vectors, forces and moments body by body, compare.
//!
//! Inverse dynamics in the fixed frame: given q, ω and *any* q̈ it returns the joint torques and the force each joint
//! carries. H·q̈ + B + G must equal the torques for every q̈, and the normal forces of the model must be the
//! joint forces at its frictionless accelerations.

use stribeck_core::model::plant::Plant;
use stribeck_core::model::plant::furuta::Furuta;
use stribeck_core::model::plant::pendulum::Pendulum;
use stribeck_core::model::sim::Rng;

use super::{CASES, assert_close, random_furuta, random_pendulum, random_state};

#[derive(Clone, Copy)]
struct V([f64; 3]);

impl V {
    fn dot(self, o: V) -> f64 {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }
    fn cross(self, o: V) -> V {
        let ([a, b, c], [d, e, f]) = (self.0, o.0);
        V([b * f - c * e, c * d - a * f, a * e - b * d])
    }
    fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }
}
impl std::ops::Add for V {
    type Output = V;
    fn add(self, o: V) -> V {
        V(std::array::from_fn(|i| self.0[i] + o.0[i]))
    }
}
impl std::ops::Sub for V {
    type Output = V;
    fn sub(self, o: V) -> V {
        self + o * -1.0
    }
}
impl std::ops::Mul<f64> for V {
    type Output = V;
    fn mul(self, k: f64) -> V {
        V(self.0.map(|x| x * k))
    }
}

/// Turn `v` about the unit axis `n` by `angle` (Rodrigues).
fn turned(v: V, n: V, angle: f64) -> V {
    let (s, c) = angle.sin_cos();
    v * c + n.cross(v) * s + n * (n.dot(v) * (1.0 - c))
}

struct Forces {
    torque: [f64; 2],
    /// Force carried by joint 0 (bench on arm) and joint 1 (arm on pendulum) [N].
    joint: [V; 2],
    /// Sum of the magnitudes of everything that was added up.
    scale: f64,
}

fn furuta(p: &[f64; 11], q: [f64; 2], w: [f64; 2], a: [f64; 2]) -> Forces {
    let [m1, m2, j1z, j2x, j2y, j2z, l1, l2, arm, tilt, g] = *p;
    let z0 = V([0.0, 0.0, 1.0]);
    let gravity = V([tilt.sin() * g, 0.0, tilt.cos() * g]);
    let x1 = turned(V([1.0, 0.0, 0.0]), z0, q[0]);
    let d = turned(z0, x1, q[1]);
    let y2 = d.cross(x1);

    // Arm: spin about z0. Pendulum: the arm's spin plus its own about x1, whose axis turns with the arm.
    let (spin1, spin1_dot) = (z0 * w[0], z0 * a[0]);
    let spin2 = spin1 + x1 * w[1];
    let spin2_dot = spin1_dot + x1 * a[1] + spin1.cross(x1) * w[1];
    let swing = |spin: V, spin_dot: V, r: V| spin_dot.cross(r) + spin.cross(spin.cross(r));
    let a1 = swing(spin1, spin1_dot, x1 * l1);
    let a2 = swing(spin1, spin1_dot, x1 * arm) + swing(spin2, spin2_dot, d * l2);

    // Pendulum: force and moment from the arm, about the pendulum's pivot.
    let inertia = |v: V| x1 * (j2x * v.dot(x1)) + y2 * (j2y * v.dot(y2)) + d * (j2z * v.dot(d));
    let force2 = (a2 - gravity) * m2;
    let spin_moment = inertia(spin2_dot) + spin2.cross(inertia(spin2));
    let moment2 = spin_moment + (d * l2).cross(force2);
    // Arm: its own, plus what it hands to the pendulum; only the moment about z0 matters.
    let force1 = (a1 - gravity) * m1;
    let moment1 = z0 * (j1z * a[0]) + (x1 * l1).cross(force1) + (x1 * arm).cross(force2) + moment2;
    Forces {
        torque: [moment1.dot(z0), moment2.dot(x1)],
        joint: [force1 + force2, force2],
        scale: (force1.norm() + force2.norm()) * (l1 + l2 + arm)
            + spin_moment.norm()
            + (j1z * a[0]).abs(),
    }
}

#[test]
fn newton_euler_agrees_with_the_closed_form_of_the_furuta_pendulum() {
    let mut rng = Rng::new(3);
    for _ in 0..CASES {
        let p = random_furuta(&mut rng);
        let (q, w) = random_state(&mut rng);
        let a = [rng.within(-100.0, 100.0), rng.within(-100.0, 100.0)];
        let t = Furuta::from_values(p).terms(q, w);
        let forces = furuta(&p, q, w, a);
        let [h0, h1] = t.h.apply(a);
        let closed = [h0 + t.b[0] + t.g[0], h1 + t.b[1] + t.g[1]];
        for (closed, torque) in closed.into_iter().zip(forces.torque) {
            assert_close(closed, torque, forces.scale, "H·q̈ + B + G");
        }
    }
}

#[test]
fn reactions_and_frictionless_accelerations_obey_newton_on_each_body() {
    let mut rng = Rng::new(4);
    for _ in 0..CASES {
        let p = random_furuta(&mut rng);
        let (q, w) = random_state(&mut rng);
        let t = Furuta::from_values(p).terms(q, w);
        // No torque in either joint: the frictionless motion.
        let forces = furuta(&p, q, w, t.free);
        for i in 0..2 {
            // q̈ = H⁻¹(…) carries the condition of H into the residual.
            let condition = (t.h.a00 + t.h.a11).powi(2) / (t.h.a00 * t.h.a11 - t.h.a01.powi(2));
            assert_close(0.0, forces.torque[i], forces.scale * condition, "torque");
            let expected = forces.joint[i].norm();
            let scale = (forces.joint[0].norm() + forces.joint[1].norm()) * condition;
            assert_close(t.normal[i], expected, scale, "normal force");
        }
    }
}

#[test]
fn newton_euler_agrees_with_the_simple_pendulum_and_its_reaction() {
    let mut rng = Rng::new(5);
    for _ in 0..CASES {
        let p = random_pendulum(&mut rng);
        let [m, l, j, tilt, g, _] = p;
        let (q, w) = random_state(&mut rng);
        let t = Pendulum::from_values(p).terms(q, w);
        let axis = V([0.0, -1.0, 0.0]);
        let gravity = V([0.0, tilt.sin() * g, tilt.cos() * g]);
        let rod = turned(V([0.0, 0.0, 1.0]), axis, -q[0]);
        let force_at = |a: f64| {
            let (spin, spin_dot) = (axis * -w[0], axis * -a);
            let r = rod * l;
            (spin_dot.cross(r) + spin.cross(spin.cross(r)) - gravity) * m
        };
        // About the pivot: J·θ̈ = moment of the weight about the axis.
        let a = rng.within(-100.0, 100.0);
        let weight_moment = (rod * l).cross(gravity * m).dot(axis * -1.0);
        let scale = m * g * l + (j * a).abs();
        assert_close(
            t.h.a00 * a + t.b[0] + t.g[0],
            j * a - weight_moment,
            scale,
            "J·θ̈ + G",
        );
        assert_close(
            t.normal[0],
            force_at(t.free[0]).norm(),
            t.normal[0],
            "reaction",
        );
        // The second joint is inert.
        assert_eq!(
            (t.h.a01, t.h.a11, t.free[1], t.normal[1]),
            (0.0, 1.0, 0.0, 0.0)
        );
    }
}
