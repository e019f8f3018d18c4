//! Motion: energy is kept without friction, RK4 has order 4, and what an energy test cannot see.

use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::furuta::Furuta;
use stribeck_core::model::plant::pendulum::Pendulum;
use stribeck_core::model::plant::{self, Plant, PlantConfig, furuta, pendulum};
use stribeck_core::model::rk4;
use stribeck_core::model::sim::{REFERENCE_START, Rng, Truth};

const FREE: [Friction<f64>; 2] = [Friction::NONE; 2];

fn run(
    y0: [f64; 4],
    seconds: f64,
    dt: f64,
    mut rates: impl FnMut(&[f64; 4]) -> [f64; 4],
) -> [f64; 4] {
    let steps = (seconds / dt).round() as usize;
    (0..steps).fold(y0, |y, _| rk4::step(&y, dt, &mut rates))
}

fn start() -> [f64; 4] {
    [REFERENCE_START[0], REFERENCE_START[1], 0.0, 0.0]
}

fn split(y: &[f64; 4]) -> ([f64; 2], [f64; 2]) {
    ([y[0], y[1]], [y[2], y[3]])
}

#[test]
fn frictionless_energy_drifts_less_than_a_nanojoule_in_ten_seconds() {
    let mut worst: f64 = 0.0;
    let mut rng = Rng::new(6);
    for case in 0..10 {
        let q = if case == 0 {
            REFERENCE_START
        } else {
            [rng.within(-3.0, 3.0), rng.within(-3.0, 3.0)]
        };
        for config in [
            PlantConfig::Furuta(furuta::Config::default()),
            PlantConfig::Pendulum(pendulum::Config::default()),
        ] {
            let mut truth = Truth::new(&config, FREE, q, 1e-4, 1);
            let before = truth.energy();
            for _ in 0..100_000 {
                truth.step();
                worst = worst.max((truth.energy() - before).abs());
            }
        }
    }
    println!("worst energy error in 20 runs of 10 s: {worst:.2e} J");
    assert!(worst < 1e-9, "{worst:e} J");
}

#[test]
fn rk4_has_order_four() {
    let plant = Furuta::<f64>::new(&furuta::Config::default());
    let rates = |y: &[f64; 4]| plant::passive(&plant, &FREE, y);
    let exact = run(start(), 2.0, 1e-4, rates);
    let error = |dt: f64| {
        let y = run(start(), 2.0, dt, rates);
        y.iter().zip(exact).map(|(a, b)| (a - b).abs()).sum::<f64>()
    };
    let errors = [8e-3, 4e-3, 2e-3].map(error);
    let orders = [
        (errors[0] / errors[1]).log2(),
        (errors[1] / errors[2]).log2(),
    ];
    println!("errors {errors:?}, orders {orders:?}");
    for order in orders {
        assert!((order - 4.0).abs() < 0.15, "order {order}");
    }
}

#[test]
fn friction_only_ever_takes_energy() {
    let mut bench = stribeck_core::model::sim::Simulation::reference(0.0, 0);
    let mut last = bench.truth.energy();
    for _ in 0..100_000 {
        bench.truth.step();
        let now = bench.truth.energy();
        assert!(now <= last + 1e-12, "energy rose by {:e} J", now - last);
        last = now;
    }
}

/// Model with another B: q̈ = H⁻¹(−B′ − G).
fn with_b(
    plant: &Furuta<f64>,
    change: impl Fn([f64; 2], &[f64; 4]) -> [f64; 2],
) -> impl Fn(&[f64; 4]) -> [f64; 4] {
    move |y| {
        let (q, w) = split(y);
        let t = plant.terms(q, w);
        let b = change(t.b, y);
        let a = t.h_inv.apply([-b[0] - t.g[0], -b[1] - t.g[1]]);
        [w[0], w[1], a[0], a[1]]
    }
}

/// A force square to the velocity does no work: Coriolis halved and centrifugal dropped keeps the energy to the
/// last digit and swings elsewhere. Only the derivations in `lagrange.rs` and `newton_euler.rs` see it. (Flipping all of
/// B is coarser: it does show in the energy.)
#[test]
fn trap_energy_is_blind_to_a_wrong_b() {
    let plant = Furuta::<f64>::new(&furuta::Config::default());
    let energy = |y: &[f64; 4]| {
        let (q, w) = split(y);
        plant.energy(q, w)
    };
    let right = run(start(), 5.0, 1e-4, with_b(&plant, |b, _| b));
    // B1 = −K·s1·c1·ω0² goes; its power goes into B0: ω0·(B1·ω1/ω0) = ω1·B1, and K·sin2θ1·ω0·ω1 becomes half of itself.
    let blind = with_b(&plant, |b, y| [b[0] + half_coriolis(b[1], y), 0.0]);
    let wrong = run(start(), 5.0, 1e-4, blind);
    let drift = (energy(&wrong) - energy(&start())).abs();
    let astray = (wrong[0] - right[0]).abs() + (wrong[1] - right[1]).abs();
    println!("wrong B: energy error {drift:.1e} J, {astray:.2} rad astray after 5 s");
    assert!(drift < 1e-9 && astray > 0.1);

    let flipped = run(start(), 5.0, 1e-4, with_b(&plant, |b, _| b.map(|x| -x)));
    let drift = (energy(&flipped) - energy(&start())).abs();
    println!("flipped B: energy error {drift:.1e} J");
    assert!(drift > 1e-2);
}

/// ω1·B1/ω0 = −K·s1·c1·ω0·ω1.
fn half_coriolis(b1: f64, y: &[f64; 4]) -> f64 {
    if y[2] == 0.0 { 0.0 } else { b1 * y[3] / y[2] }
}

#[test]
fn pendulum_period_is_the_elliptic_integral() {
    // T = 4·K(sin(θ0/2))·√(J/mgl), K by the arithmetic-geometric mean.
    let c = pendulum::Config::default();
    let plant = Pendulum::<f64>::new(&c);
    let amplitude = 2.0f64;
    let (mut a, mut b) = (1.0f64, (amplitude / 2.0).cos());
    for _ in 0..8 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    let mgl = c.mass as f64 * c.gravity as f64 * c.length as f64;
    let period = 2.0 * std::f64::consts::PI / a * (c.inertia as f64 / mgl).sqrt();
    let dt = period / 10_000.0;
    let rates = |y: &[f64; 4]| plant::passive(&plant, &FREE, y);
    let y = run([amplitude, 0.0, 0.0, 0.0], 10_000.0 * dt, dt, rates);
    assert!(
        (y[0] - amplitude).abs() < 1e-9 && y[2].abs() < 1e-8,
        "{y:?}"
    );
}

/// The work of the applied force is the energy gained, at every instant: Ė = τ·ω. All plants, generated ones too.
#[test]
fn work_in_is_energy_gained() {
    fn check<P: Plant<f64>>(name: &str, plant: P) {
        let mut rng = Rng::new(31);
        for _ in 0..200 {
            let mut two = |x: f64| [rng.within(-x, x), rng.within(-x, x)];
            let (q, mut w, mut tau) = (two(3.0), two(5.0), two(0.5));
            if P::DOF < 2 {
                (w[1], tau[1]) = (0.0, 0.0);
            }
            let rates = |y: &[f64; 4]| plant::driven(&plant, &FREE, y, tau);
            let (h, y0) = (1e-4, [q[0], q[1], w[0], w[1]]);
            let energy = |y: [f64; 4]| {
                let (q, w) = split(&y);
                plant.energy(q, w)
            };
            let (ahead, behind) = (rk4::step(&y0, h, rates), rk4::step(&y0, -h, rates));
            let gained = (energy(ahead) - energy(behind)) / (2.0 * h);
            let power = tau[0] * w[0] + tau[1] * w[1];
            assert!(
                (gained - power).abs() < 1e-4 * (1.0 + power.abs()),
                "{name}: {gained} {power}"
            );
        }
    }
    check("furuta", Furuta::new(&furuta::Config::default()));
    check("pendulum", Pendulum::new(&pendulum::Config::default()));
    check(
        "cartpole",
        plant::cartpole::Cartpole::new(&Default::default()),
    );
    check("acrobot", plant::acrobot::Acrobot::new(&Default::default()));
    check(
        "wheel",
        plant::reactionwheel::Reactionwheel::new(&Default::default()),
    );
}
