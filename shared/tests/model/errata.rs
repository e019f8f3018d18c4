//! Errors of paper 000's printed model, each shown against the derivations; listed in docs/errata.md.

use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::{Plant, PlantConfig, acceleration, furuta};
use stribeck_core::model::rk4;
use stribeck_core::model::sim::{REFERENCE_FRICTION, REFERENCE_START};

fn rig() -> (furuta::Config, furuta::Furuta<f64>) {
    let c = furuta::Config::default();
    (c, furuta::Furuta::new(&c))
}

/// Eq. (7): H11 is printed without m2·L1².
#[test]
fn printed_h11_lacks_the_pendulum_carried_by_the_arm() {
    let (c, plant) = rig();
    let right = plant.terms([0.0; 2], [0.0; 2]).h.a00;
    let printed = (c.j1z + c.m1 * c.l1 * c.l1 + c.j2z) as f64;
    let carried = (c.m2 * c.arm_length * c.arm_length) as f64;
    assert!((right - printed - carried).abs() < 1e-9);
    assert!((right / printed - 2.32).abs() < 0.01, "{}", right / printed);
}

/// Eq. (8): the overall sign is reversed, and with it the indices of the inertias are wrong.
#[test]
fn printed_b_has_the_wrong_sign_and_the_wrong_inertias() {
    let (c, plant) = rig();
    let [m2, l2, arm, j2x, j2y, j2z] =
        [c.m2, c.l2, c.arm_length, c.j2x, c.j2y, c.j2z].map(f64::from);
    let (q, w) = ([0.3f64, 1.1], [2.0, -3.0]);
    let (s1, c1) = q[1].sin_cos();
    let printed = [
        -(m2 * l2 * l2 - j2y + j2x) * (2.0 * q[1]).sin() * w[0] * w[1]
            - m2 * l2 * arm * s1 * w[1] * w[1],
        (m2 * l2 * l2 - j2y + j2z) * s1 * c1 * w[0] * w[0],
    ];
    let right = plant.terms(q, w).b;
    // The centripetal term is the right one with the other sign …
    let coriolis = right[0] - m2 * l2 * arm * s1 * w[1] * w[1];
    let printed_coriolis = printed[0] + m2 * l2 * arm * s1 * w[1] * w[1];
    // … but K must be m2·l2² + j2y − j2z, eleven times the printed m2·l2² − j2y + j2x.
    assert!(
        (coriolis / printed_coriolis + 11.66).abs() < 0.1,
        "{}",
        coriolis / printed_coriolis
    );
    assert!(
        (right[1] / printed[1] - 1.2).abs() < 0.1,
        "{}",
        right[1] / printed[1]
    );
}

/// Eqs. (6) and (10): H·q̈ + B + G = +f drives the pendulum.
#[test]
fn printed_friction_sign_adds_energy() {
    let (_, plant) = rig();
    let friction: [Friction<f64>; 2] = REFERENCE_FRICTION.map(Friction::brown_mcphee);
    let after = |sign: f64| {
        let mut y = [REFERENCE_START[0], REFERENCE_START[1], 0.0, 0.0];
        for _ in 0..20_000 {
            y = rk4::step(&y, 1e-4, |y| {
                let (q, w) = ([y[0], y[1]], [y[2], y[3]]);
                let t = plant.terms(q, w);
                let a = acceleration(&t, w, &friction);
                let with = |i: usize| t.free[i] + sign * (a[i] - t.free[i]);
                [w[0], w[1], with(0), with(1)]
            });
        }
        plant.energy([y[0], y[1]], [y[2], y[3]]) - plant.energy(REFERENCE_START, [0.0; 2])
    };
    let (right, printed) = (after(1.0), after(-1.0));
    assert!(right < -1e-3 && printed > 1e-3, "{right} {printed}");
}

/// §II-B: friction needs the normal force, the normal force the acceleration, the acceleration friction. The
/// reactions are taken at the frictionless accelerations, so nothing has to be solved: they do not see friction.
#[test]
fn normal_forces_are_explicit() {
    let plant = PlantConfig::Furuta(Default::default()).build::<f64>();
    let t = plant.terms([0.2, 0.9], [1.0, 4.0]);
    let none = acceleration(&t, [1.0, 4.0], &[Friction::NONE; 2]);
    assert_eq!(none, t.free);
}
