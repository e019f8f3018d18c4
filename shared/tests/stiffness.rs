//! The stiffness bound: it is safe, it is not far from the edge, and what violates it is refused or floored.
//!
//! `cargo test -p stribeck-core --release --test stiffness`

// The standard library's functions are the independent reference here.
#![allow(clippy::disallowed_methods)]

use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::{self, AnyPlant, Plant, PlantConfig};
use stribeck_core::model::rk4;
use stribeck_core::model::sim::Rng;
use stribeck_core::model::stiffness::{Limit, check_configuration};

const DT: f64 = 1e-4;

fn plant() -> AnyPlant<f64> {
    PlantConfig::Furuta(Default::default()).build()
}

fn friction(mu_d: f64, vt: f64) -> [Friction<f64>; 2] {
    [Friction::brown_mcphee([mu_d, 1.2 * mu_d, 1e-4, vt, 0.01]); 2]
}

/// Start hanging, creeping at 0.3·vt: the largest |ω|/vt after 0.2 s.
fn settle(friction: &[Friction<f64>; 2]) -> f64 {
    let plant = plant();
    let mut y = [0.0, 0.0, 0.3 * friction[0].vt, -0.3 * friction[1].vt];
    for _ in 0..2_000 {
        y = rk4::step(&y, DT, |y| plant::passive(&plant, friction, y));
    }
    (y[2] / friction[0].vt)
        .abs()
        .max((y[3] / friction[1].vt).abs())
}

/// Bring vt to `ratio` times the bound.
fn scaled(mu_d: f64, ratio: f64) -> [Friction<f64>; 2] {
    let bounds = plant().bounds();
    let limit = Limit::new(&bounds, DT);
    let mut f = friction(mu_d, 1.0);
    let at_one = limit.ratio(&f, bounds.weight);
    for (f, r) in f.iter_mut().zip(at_one) {
        f.vt = r / ratio;
    }
    f
}

#[test]
fn at_the_bound_friction_settles_and_beyond_the_edge_of_rk4_it_does_not() {
    let safe = settle(&scaled(5e-3, 1.0));
    let wild = settle(&scaled(5e-3, 4.0));
    println!("ω/vt after 0.2 s: {safe:.2e} at the bound, {wild:.2e} at four times");
    assert!(safe < 1e-3, "{safe}");
    assert!(wild > 1e-2, "{wild}");
}

#[test]
fn stiff_configurations_are_refused_by_name_with_the_smallest_value_that_would_do() {
    let plant: AnyPlant<f32> = PlantConfig::Furuta(Default::default()).build();
    let bounds = plant.bounds();
    let fields = ["ekf.vt[0]", "ekf.vt[1]"];
    let check = |vt: [f32; 2]| {
        let f = vt.map(|vt| Friction::brown_mcphee([5e-4, 6e-4, 2.5e-4, vt, 0.01]));
        check_configuration(fields, &f, &bounds, 1e-4)
    };
    assert_eq!(check([5e-3, 5e-3]), Ok(()));
    let refused = check([5e-3, 1e-6]).unwrap_err();
    assert_eq!(refused.field, "ekf.vt[1]");
    assert_eq!(refused.value, 1e-6);
    // The value it asks for is accepted.
    assert_eq!(check([5e-3, refused.min]), Ok(()));
    assert!(check([f32::NAN, 5e-3]).is_err());
    assert!(check([0.0, 5e-3]).is_err());
}

/// Whatever the parameters, after the floor the slope is within the bound and nothing divides by zero; what the observer computes is the
/// whole law's torque to the last bit.
#[test]
fn floored_friction_is_always_integrable() {
    let bounds = plant().bounds();
    let limit = Limit::new(&bounds, DT);
    let mut rng = Rng::new(3);
    let (mut acted, mut loose) = (0, 0);
    for _ in 0..100_000 {
        let mut any = |low: f64, high: f64| 10f64.powf(rng.within(low, high));
        let parameters = [0, 1].map(|_| {
            let mu_d = any(-6.0, -2.0);
            // The static coefficient is an exact sum, so that the law can be put together again from its parts.
            let rise = mu_d * (any(-1.0, 1.0) as u32 as f64);
            [
                mu_d,
                mu_d + rise,
                any(-6.0, 1.0),
                any(-4.0, 1.0),
                any(-7.0, 2.5),
            ]
        });
        let normal = [any(-2.0, 2.0), any(-2.0, 2.0)];
        let w = [any(-3.0, 1.0), -any(-3.0, 1.0)];
        let bounded = [0, 1].map(|j| limit.bound(j, parameters[j]));
        let friction = [0, 1].map(|j| bounded[j].friction(normal[j]).0);
        for j in 0..2 {
            let before = Friction::brown_mcphee(parameters[j]);
            let (law, floored) = bounded[j].friction(normal[j]);
            assert_eq!(floored, law != before, "{law:?} {before:?}");
            acted += u32::from(floored);
            assert!(law.vt >= 1e-6 && law.fnt >= 1e-6);
            let mut both = [before; 2];
            assert_eq!(
                limit.floor(&mut both, [normal[j]; 2]),
                both[0] != before || both[1] != before
            );
            assert_eq!(both[j], law);
            let (torque, also) = bounded[j].torque(w[j], normal[j]);
            assert_eq!(also, floored);
            let whole = law.torque(w[j], normal[j]);
            assert_eq!(torque.to_bits(), whole.to_bits(), "{law:?}");
            loose += u32::from(4.0 * normal[j] / law.fnt < 20.0);
            let calmer = [
                law.mu_d,
                law.mu_s,
                law.mu_v,
                law.vt * (1.0 + 1e-12),
                law.fnt,
            ];
            assert!(!limit.bound(j, calmer).friction(normal[j]).1);
        }
        for r in limit.ratio(&friction, normal) {
            assert!(r <= 1.0 + 1e-12, "{r}");
        }
    }
    assert!(acted > 20_000 && acted < 180_000, "{acted}");
    assert!(loose > 20_000, "{loose}: the load's tanh was never below 1");
}
