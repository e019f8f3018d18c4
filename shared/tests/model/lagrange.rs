//! Lagrange: write down where the masses are, differentiate the energies with nested dual numbers, compare.
//!
//! L(q, ω) = T − V gives H = ∂²L/∂ω², B + G = (∂²L/∂ω∂q)·ω − ∂L/∂q. Nothing of the closed form is used: positions are
//! vectors, velocities their directional derivatives.

use stribeck_core::model::plant::furuta::Furuta;
use stribeck_core::model::plant::pendulum::Pendulum;
use stribeck_core::model::plant::{Plant, Terms};
use stribeck_core::model::sim::Rng;
use stribeck_core::number::dual::Dual;
use stribeck_core::number::scalar::Scalar;

use super::{CASES, assert_close, random_furuta, random_pendulum, random_state};

type Second = Dual<Dual<f64, 4>, 4>;

fn dot<S: Scalar>(a: [S; 3], b: [S; 3]) -> S {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Position and velocity of a point that depends on the angles.
fn moving<S: Scalar>(
    position: impl Fn([Dual<S, 1>; 2]) -> [Dual<S, 1>; 3],
    q: [S; 2],
    w: [S; 2],
) -> ([S; 3], [S; 3]) {
    let angle = |i: usize| Dual {
        re: q[i],
        du: [w[i]],
    };
    let p = position([angle(0), angle(1)]);
    (p.map(|x| x.re), p.map(|x| x.du[0]))
}

/// x1 (along the arm) and d (along the pendulum) in the tilted fixed frame.
fn axes<S: Scalar>(q: [S; 2]) -> ([S; 3], [S; 3]) {
    let (s0, c0) = q[0].sin_cos();
    let (s1, c1) = q[1].sin_cos();
    ([c0, s0, S::ZERO], [s1 * s0, -s1 * c0, c1])
}

fn furuta_energies<S: Scalar>(p: &[f64; 11], q: [S; 2], w: [S; 2]) -> (S, S) {
    let [m1, m2, j1z, j2x, j2y, j2z, l1, l2, arm, tilt, g] = p.map(S::lit);
    let (g1, v1) = moving(|q| axes(q).0.map(|x| x * Dual::constant(l1)), q, w);
    let (g2, v2) = moving(
        |q| {
            let (x1, d) = axes(q);
            std::array::from_fn(|i| x1[i] * Dual::constant(arm) + d[i] * Dual::constant(l2))
        },
        q,
        w,
    );
    // ω of the pendulum in its own axes: x1, d×x1, d.
    let (x1, d) = axes(q);
    let y2 = [
        d[1] * x1[2] - d[2] * x1[1],
        d[2] * x1[0] - d[0] * x1[2],
        d[0] * x1[1] - d[1] * x1[0],
    ];
    let spin = [x1[0] * w[1], x1[1] * w[1], w[0] + x1[2] * w[1]];
    let half = S::lit(0.5);
    let kinetic = half * m1 * dot(v1, v1)
        + half * m2 * dot(v2, v2)
        + half * j1z * w[0] * w[0]
        + half * j2x * dot(spin, x1).square()
        + half * j2y * dot(spin, y2).square()
        + half * j2z * dot(spin, d).square();
    let (sp, cp) = tilt.sin_cos();
    let down = [sp * g, S::ZERO, cp * g];
    (kinetic, -m1 * dot(down, g1) - m2 * dot(down, g2))
}

fn pendulum_energies<S: Scalar>(p: &[f64; 6], q: [S; 2], w: [S; 2]) -> (S, S) {
    let [m, l, j, tilt, g, _] = p.map(S::lit);
    let (s, c) = q[0].sin_cos();
    let (sp, cp) = tilt.sin_cos();
    // The rod swings in a plane tilted by φ: height of its centre of gravity below the pivot.
    let rod = [s * l, S::ZERO, c * l];
    let down = [S::ZERO, sp * g, cp * g];
    let kinetic = S::lit(0.5) * (j * w[0] * w[0] + w[1] * w[1]);
    (kinetic, -m * dot(down, rod))
}

/// `weight_torque` [N·m] is the scale of G: at some poses the links' weights cancel.
fn compare(
    energies: impl Fn([Second; 2], [Second; 2]) -> (Second, Second),
    t: &Terms<f64>,
    closed_energy: f64,
    weight_torque: f64,
    q: [f64; 2],
    w: [f64; 2],
) {
    let variable = |x: f64, i: usize| Dual::variable(Dual::variable(x, i), i);
    let (kinetic, potential) = energies(
        [variable(q[0], 0), variable(q[1], 1)],
        [variable(w[0], 2), variable(w[1], 3)],
    );
    let lagrangian = kinetic - potential;
    let second = |x: &Second, i: usize, j: usize| x.du[i].du[j];
    let first = |x: &Second, i: usize| x.du[i].re;

    let h_scale = t.h.a00 + t.h.a11;
    assert_close(t.h.a00, second(&lagrangian, 2, 2), h_scale, "H00");
    assert_close(t.h.a01, second(&lagrangian, 2, 3), h_scale, "H01");
    assert_close(t.h.a11, second(&lagrangian, 3, 3), h_scale, "H11");
    let w2 = w[0] * w[0] + w[1] * w[1];
    for i in 0..2 {
        let g = first(&potential, i);
        assert_close(t.g[i], g, weight_torque, "G");
        let b = second(&kinetic, 2 + i, 0) * w[0] + second(&kinetic, 2 + i, 1) * w[1]
            - first(&kinetic, i);
        assert_close(t.b[i], b, h_scale * w2, "B");
        assert_close(t.dt_dq[i], first(&kinetic, i), h_scale * w2, "∂T/∂q");
    }
    assert_close(
        closed_energy,
        kinetic.re.re + potential.re.re,
        weight_torque + h_scale * w2,
        "energy",
    );
}

#[test]
fn lagrange_agrees_with_the_closed_form_of_the_furuta_pendulum() {
    let mut rng = Rng::new(1);
    for _ in 0..CASES {
        let p = random_furuta(&mut rng);
        let (q, w) = random_state(&mut rng);
        let plant = Furuta::from_values(p);
        let (t, e) = (plant.terms(q, w), plant.energy(q, w));
        let [m1, m2, .., l1, l2, arm, _, g] = p;
        let weight_torque = (m1 * l1 + m2 * (arm + l2)) * g;
        compare(|q, w| furuta_energies(&p, q, w), &t, e, weight_torque, q, w);
    }
}

#[test]
fn lagrange_agrees_with_the_closed_form_of_the_simple_pendulum() {
    let mut rng = Rng::new(2);
    for _ in 0..CASES {
        let p = random_pendulum(&mut rng);
        let (q, w) = random_state(&mut rng);
        let plant = Pendulum::from_values(p);
        compare(
            |q, w| pendulum_energies(&p, q, w),
            &plant.terms(q, w),
            plant.energy(q, w),
            p[0] * p[1] * p[4],
            q,
            w,
        );
    }
}
