//! What an estimator takes from the model is the model's: derivatives against dual numbers, perturbed rigs against rebuilt ones,
//! the linear friction law against the whole one.

use stribeck_core::model::friction::{Friction, Law as _, Linear};
use stribeck_core::model::plant::furuta::{self, Furuta};
use stribeck_core::model::plant::pendulum::Pendulum;
use stribeck_core::model::plant::tolerance::Tolerance;
use stribeck_core::model::plant::{Plant, RigError, Sensitivity, Trig};
use stribeck_core::model::sim::Rng;
use stribeck_core::number::dual::Dual;

use crate::{assert_close, random_furuta, random_pendulum, random_state};

type D = Dual<f64, 1>;

fn seed(x: f64, on: bool) -> D {
    Dual {
        re: x,
        du: [if on { 1.0 } else { 0.0 }],
    }
}

/// ∂q̈/∂x_c of a plant built from dual numbers, with friction torques `f` held; x = θ0 θ1 ω0 ω1, then the rig's errors.
fn column<P: Plant<D>>(plant: &P, x: [f64; 9], f: [f64; 2], c: usize) -> [f64; 2] {
    let x: [D; 9] = core::array::from_fn(|i| seed(x[i], i == c));
    let perturbed = plant.perturbed(&RigError::from_values([x[4], x[5], x[6], x[7], x[8]]));
    let t = perturbed.terms([x[0], x[1]], [x[2], x[3]]);
    let df = t.h_inv.apply(f.map(|f| seed(f, false)));
    [(t.free[0] - df[0]).du[0], (t.free[1] - df[1]).du[0]]
}

fn check<P: Plant<f64>, Q: Plant<D>>(stated: P, dual: Q, rng: &mut Rng) {
    let (q, w) = random_state(rng);
    let mut small = || rng.within(-0.05, 0.05);
    // The tilt is turned by a series.
    let e = [0.1 * small(), small(), small(), small(), small()];
    let f = [
        rng.within(-1.0, 1.0),
        rng.within(-1.0, 1.0) * (P::DOF as f64 - 1.0),
    ];
    let error = RigError::from_values(e);
    let plant = stated.perturbed(&error);
    let trig = Trig::new(q);
    let terms = plant.terms_at(&trig, w, stribeck_core::model::plant::no_force());
    let df = terms.h_inv.apply(f);
    let a = [terms.free[0] - df[0], terms.free[1] - df[1]];
    let Sensitivity { angle, speed, rig } = plant.sensitivity(&error, &trig, w, &terms, a);
    let found: Vec<[f64; 2]> = angle.into_iter().chain(speed).chain(rig).collect();
    let x = [q[0], q[1], w[0], w[1], e[0], e[1], e[2], e[3], e[4]];
    for (c, found) in found.iter().enumerate() {
        let expected = column(&dual, x, f, c);
        for i in 0..2 {
            let scale = 1.0 + expected[0].abs().max(expected[1].abs()) + a[0].abs() + a[1].abs();
            assert_close(
                found[i],
                expected[i],
                100.0 * scale,
                &format!("column {c} of joint {i}"),
            );
        }
    }
}

#[test]
fn sensitivities_are_the_derivatives() {
    let mut rng = Rng::new(77);
    for _ in 0..2000 {
        let v = random_furuta(&mut rng);
        check(
            Furuta::from_values(v),
            Furuta::from_values(v.map(|x| seed(x, false))),
            &mut rng,
        );
        let v = random_pendulum(&mut rng);
        check(
            Pendulum::from_values(v),
            Pendulum::from_values(v.map(|x| seed(x, false))),
            &mut rng,
        );
    }
}

/// A tilt error is another tilt, an arm-length error in the coupling another length, to the last digits.
#[test]
fn a_perturbed_rig_is_the_rebuilt_one() {
    let mut rng = Rng::new(78);
    for _ in 0..500 {
        let v = random_furuta(&mut rng);
        let (q, w) = random_state(&mut rng);
        let none = [0.0; 5];
        let at = |v: [f64; 11], e: [f64; 5]| {
            let t = Furuta::from_values(v)
                .perturbed(&RigError::from_values(e))
                .terms(q, w);
            [
                t.h.a00,
                t.h.a01,
                t.h.a11,
                t.b[0],
                t.b[1],
                t.g[0],
                t.g[1],
                t.normal[0],
                t.normal[1],
            ]
        };
        let same = |a: [f64; 9], b: [f64; 9], what: &str| {
            for (a, b) in a.into_iter().zip(b) {
                assert_close(a, b, 1e3 * (1.0 + a.abs()), what);
            }
        };
        same(at(v, none), at(v, [0.0, 0.0, 0.0, 0.0, 0.0]), "none");
        let mut tilted = v;
        tilted[9] += 0.02;
        same(at(v, [0.02, 0.0, 0.0, 0.0, 0.0]), at(tilted, none), "tilt");
        let mut heavier = v;
        let arm = v[2] + v[0] * v[6] * v[6] + v[1] * v[8] * v[8];
        heavier[2] += 0.03 * arm;
        same(at(v, [0.0, 0.03, 0.0, 0.0, 0.0]), at(heavier, none), "arm");
        let mut link = v;
        let shift = 0.03 * (v[3] + v[1] * v[7] * v[7]);
        link[3] += shift;
        link[4] += shift;
        same(at(v, [0.0, 0.0, 0.03, 0.0, 0.0]), at(link, none), "link");
    }
}

/// Linear is Friction without peak, load and asymmetry: torque, slope and regressors.
#[test]
fn the_linear_law_is_part_of_the_whole_one() {
    let mut rng = Rng::new(79);
    for _ in 0..5000 {
        let (d, v, drag) = (
            rng.within(0.0, 1e-2),
            rng.within(0.0, 1e-2),
            rng.within(0.0, 1e-3),
        );
        let (vt, fn_, w) = (
            rng.within(1e-3, 0.1),
            rng.within(0.1, 10.0),
            rng.within(-1.0, 1.0),
        );
        let linear = Linear {
            mu_d: d,
            mu_v: v,
            drag,
            steepness: 4.0 / vt,
        };
        let whole = |w: D, d: D, v: D, drag: D| -> D {
            Friction {
                drag,
                ..Friction::brown_mcphee([d, d, v, seed(vt, false), seed(1e-6, false)])
            }
            .torque(w, seed(fn_, false))
        };
        let by = |c: usize| {
            whole(
                seed(w, c == 0),
                seed(d, c == 1),
                seed(v, c == 2),
                seed(drag, c == 3),
            )
            .du[0]
        };
        let r = linear.response(w, fn_);
        let scale = 1.0 + by(0).abs();
        assert_close(
            r.torque,
            whole(
                seed(w, false),
                seed(d, false),
                seed(v, false),
                seed(drag, false),
            )
            .re,
            scale,
            "torque",
        );
        assert_close(
            r.torque,
            linear.torque(&(), w, fn_),
            1e-12,
            "the same through the trait",
        );
        assert_close(r.slope, by(0), 100.0 * scale, "slope");
        for i in 0..3 {
            // The whole law's μs is tied to its μd here, so ∂/∂μd is the Coulomb term alone.
            assert_close(r.regressor[i], by(1 + i), 10.0, "regressor");
        }
    }
}

/// The recipe's numbers come out of the default tolerances on the paper's rig.
#[test]
fn tolerances_propagate() {
    let p = furuta::Config::default().prior(&Tolerance::default());
    let near =
        |x: f32, percent: f32| assert!((100.0 * x / percent - 1.0).abs() < 0.05, "{x} {percent}");
    near(p.coulomb[0], 1.35);
    near(p.coulomb[1], 0.577);
    near(p.viscous, 1.29);
    let exact = furuta::Config::default().prior(&Tolerance::EXACT);
    assert!(exact.rig == [0.0; 5] && exact.zero == [0.0; 2] && exact.viscous == 0.0);
}
