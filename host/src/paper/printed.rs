//! Paper 000 exactly as printed: equations (5), (7), (8), (9) with their errors (docs/errata.md), to show what they give.
//!
//! The normal forces are not printed; those of the corrected model are used. The tilt is 45°, as everywhere here.
//! `sign` is that of the friction in (6): +1 as printed, which drives the joints; −1 to see the other errors alone.

use crate::number;

use stribeck_core::model::plant::furuta::{Config, Furuta};
use stribeck_core::model::plant::{Plant, Sym2};
use stribeck_core::model::rk4;

/// Accelerations [rad/s²] at state y = (angles, velocities) with the ten parameters `z`.
pub fn acceleration(y: &[f64; 4], z: &[f64; 10], sign: f64) -> [f64; 2] {
    let c = Config::default();
    let [m1, m2, j1z, j2x, j2y, j2z, l1, l2, arm, tilt, g] = c.values().map(f64::from);
    let [q0, q1, w0, w1] = *y;
    let ((s0, c0), (s1, c1), (sp, cp)) = (
        number::sin_cos(q0),
        number::sin_cos(q1),
        number::sin_cos(tilt),
    );
    // (7): no m2·L1².
    let h = Sym2 {
        a00: j1z + m1 * l1 * l1 + (m2 * l2 * l2 + j2y) * s1 * s1 + j2z * c1 * c1,
        a01: -m2 * l2 * arm * c1,
        a11: j2x + m2 * l2 * l2,
    };
    // (8): signs and inertias as printed.
    let b = [
        -(m2 * l2 * l2 - j2y + j2x) * number::sin(2.0 * q1) * w0 * w1
            - m2 * l2 * arm * s1 * w1 * w1,
        (m2 * l2 * l2 - j2y + j2z) * s1 * c1 * w0 * w0,
    ];
    // (9).
    let gravity = [
        m1 * g * l1 * s0 * sp + m2 * g * (arm * s0 - l2 * s1 * c0) * sp,
        -m2 * g * l2 * (s0 * c1 * sp - s1 * cp),
    ];
    let normal = Furuta::<f64>::new(&c).terms([q0, q1], [w0, w1]).normal;
    let f: [f64; 2] = std::array::from_fn(|j| torque(&z[5 * j..5 * j + 5], y[2 + j], normal[j]));
    h.inverse()
        .apply(std::array::from_fn(|j| sign * f[j] - b[j] - gravity[j]))
}

/// (5): the Stribeck term without its square.
pub fn torque(z: &[f64], w: f64, normal: f64) -> f64 {
    let [mu_d, mu_s, mu_v, vt, fnt] = [z[0], z[1], z[2], z[3], z[4]];
    let r = w / vt;
    normal * mu_d * number::tanh(4.0 * r)
        + normal * (mu_s - mu_d) * r / (0.25 * r * r + 0.75)
        + mu_v * w * number::tanh(4.0 * normal / fnt)
}

/// Angles every millisecond for 35 s from the reference start; cut off where no pendulum turns that fast.
pub fn simulate(z: &[f64; 10], start: [f64; 2], sign: f64) -> Vec<[f64; 2]> {
    let mut y = [start[0], start[1], 0.0, 0.0];
    let mut out = vec![start];
    for _ in 0..35_000 {
        for _ in 0..10 {
            y = rk4::step(&y, 1e-4, |y| {
                let a = acceleration(y, z, sign);
                [y[2], y[3], a[0], a[1]]
            });
        }
        if !y.iter().all(|x| x.is_finite()) || y[2].abs().max(y[3].abs()) > 1e3 {
            break;
        }
        out.push([y[0], y[1]]);
    }
    out
}

/// What the observer as printed leaves after the simulated `states` (every millisecond, angles and velocities).
pub struct Observed {
    pub z: [f64; 10],
    /// Fit of its angles to the states [%]; absent when it was lost on the way.
    pub fit: Option<[f64; 2]>,
    /// When it was lost \[s\].
    pub lost: Option<f64>,
}

/// Equations (16) to (23) with the printed model, λ = 1: γ and k0 as everywhere here, bounds of Table 2.
pub fn observe(states: &[[f64; 4]], config: &stribeck_core::observer::uas::Config) -> Observed {
    let bounds = config.bounds;
    let law = |z: &[f64; 10], e: f64| -> [f64; 10] {
        std::array::from_fn(|n| {
            let b = &bounds[n];
            let up = f64::from(b.lambda_upper) * (f64::from(b.upper) - z[n]);
            let low = f64::from(b.lambda_lower) * (f64::from(b.lower) - z[n]);
            (f64::from(config.gamma) + up + low) * e
        })
    };
    let mut q = [states[0][0], states[0][1], 0.0, 0.0];
    let mut k = f64::from(config.k0);
    let mut z: [f64; 10] = std::array::from_fn(|n| f64::from(bounds[n].initial));
    let mut angles = vec![[q[0], q[1]]];
    // Friction as steep as its estimate becomes needs shorter steps than the measurement's.
    let (parts, dt) = (50, 1e-3);
    let h = dt / f64::from(parts);
    for (i, s) in states.iter().enumerate().skip(1) {
        for _ in 0..parts {
            let e = [s[2] - q[2], s[3] - q[3]];
            let norm2 = e[0] * e[0] + e[1] * e[1];
            let root = 0.75f64.sqrt() * k;
            let gain = number::exp(-k) / 3.0 + 2.0 / 3.0 * number::exp(0.5 * k) * number::cos(root);
            let dz = law(&z, norm2.sqrt());
            q = rk4::step(&q, h, |y| {
                let a = acceleration(y, &z, 1.0);
                [y[2], y[3], a[0] + gain * e[0], a[1] + gain * e[1]]
            });
            k += h * norm2;
            for (z, d) in z.iter_mut().zip(dz) {
                *z += h * d;
            }
        }
        if !q.iter().all(|x| x.is_finite()) || q[2].abs().max(q[3].abs()) > 1e3 {
            return Observed {
                z,
                fit: None,
                lost: Some(i as f64 * dt),
            };
        }
        angles.push([q[0], q[1]]);
    }
    let fit = std::array::from_fn(|j| {
        let truth: Vec<f64> = states.iter().map(|s| s[j]).collect();
        let ours: Vec<f64> = angles.iter().map(|q| q[j]).collect();
        crate::identify::data::record::fit_percent(&truth, &ours)
    });
    Observed {
        z,
        fit: Some(fit),
        lost: None,
    }
}
