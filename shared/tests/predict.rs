//! Predictive control against judges that know nothing of it: differences, dual numbers, and motion.

use stribeck_core::control::predict::basis::Basis;
use stribeck_core::control::predict::driven::Driven;
use stribeck_core::control::predict::goal::{Goal, Term};
use stribeck_core::control::predict::horizon::Horizon;
use stribeck_core::control::predict::planner::{Planner, Settings};
use stribeck_core::control::predict::regulator::{Weights, gain};
use stribeck_core::control::predict::search::{End, Problem, Search, minimise};
use stribeck_core::control::predict::tangent::{step, step_with};
use stribeck_core::control::predict::window::Window;
use stribeck_core::control::predict::{Dynamics, STATES};
use stribeck_core::model::friction::Linear;
use stribeck_core::model::plant::{Plant, acrobot, cartpole, furuta, reactionwheel};
use stribeck_core::number::dual::Dual;
use stribeck_core::number::scalar::Scalar;

const PI: f64 = std::f64::consts::PI;

fn friction<S: Scalar>() -> [Linear<S>; 2] {
    [Linear {
        mu_d: S::lit(5e-4),
        mu_v: S::lit(2.5e-4),
        drag: S::lit(1e-5),
        steepness: S::lit(5.0),
    }; 2]
}

fn pendulum<S: Scalar>(tilt: f32) -> Driven<S, furuta::Furuta<S>> {
    let config = furuta::Config {
        tilt,
        ..Default::default()
    };
    Driven::new(furuta::Furuta::new(&config), friction())
}

/// ∂q̈ by central differences at a few states; `within` relative to the largest entry.
fn slopes_are_differences(dynamics: &impl Dynamics<f64>, within: f64) {
    for (x, u) in [
        ([0.3, 2.1, -1.2, 3.4], 0.07),
        ([-1.0, 0.2, 0.4, -0.3], -0.1),
        ([0.0, 3.0, 5.0, 1.0], 0.0),
    ] {
        let s = dynamics.slopes(&x, u);
        assert_eq!(s.acceleration, dynamics.acceleration(&x, u));
        let largest = s
            .by_state
            .iter()
            .flatten()
            .fold(1.0, |m: f64, v| m.max(v.abs()));
        let h = 1e-6;
        for k in 0..=STATES {
            let at = |h: f64| {
                let (mut x, mut u) = (x, u);
                match x.get_mut(k) {
                    Some(x) => *x += h,
                    None => u += h,
                }
                dynamics.acceleration(&x, u)
            };
            let (plus, minus) = (at(h), at(-h));
            for i in 0..2 {
                let slope = (plus[i] - minus[i]) / (2.0 * h);
                let exact = if k < STATES {
                    s.by_state[i][k]
                } else {
                    s.by_input[i]
                };
                assert!(
                    (slope - exact).abs() < within * largest,
                    "state {k} of {i}: {slope} {exact}"
                );
            }
        }
    }
}

#[test]
fn slopes_of_every_plant_are_differences() {
    slopes_are_differences(&pendulum(0.0), 1e-7);
    slopes_are_differences(&pendulum(0.7), 1e-7);
    // These plants take their own sensitivities from coarse differences.
    let cart = cartpole::Cartpole::new(&Default::default());
    slopes_are_differences(&Driven::new(cart, friction()), 2e-3);
    let acrobot = acrobot::Acrobot::new(&Default::default());
    slopes_are_differences(&Driven::new(acrobot, friction()), 2e-3);
    let wheel = reactionwheel::Reactionwheel::new(&Default::default());
    slopes_are_differences(&Driven::new(wheel, friction()), 2e-3);
}

fn goal<S: Scalar>() -> Goal<S> {
    let link = [S::ZERO, S::ONE];
    let target = S::lit(PI);
    let inertia = S::lit(0.018);
    Goal::new(
        &[
            (Term::Turn { of: link, target }, S::ONE),
            (
                Term::Swing {
                    of: link,
                    target,
                    inertia,
                },
                S::lit(10.0),
            ),
            (
                Term::State {
                    index: 0,
                    target: S::ZERO,
                },
                S::lit(0.05),
            ),
        ],
        S::lit(0.005),
    )
}

/// Gradient and Gauss–Newton matrix of the whole horizon against the same model run in dual numbers by the weights.
#[test]
fn the_horizons_gradient_is_that_of_dual_numbers() {
    const N: usize = 5;
    type D = Dual<f64, N>;
    fn horizon<S: Scalar>(tables: &[[S; N]], at: &[S; N]) -> (S, Vec<S>) {
        let (dynamics, goal) = (pendulum::<S>(0.3), goal());
        let h = Horizon {
            dynamics: &dynamics,
            start: [0.2, 0.5, -0.3, 1.0].map(S::lit),
            basis: tables,
            step: S::lit(0.02),
            steps: 40,
            from: 20,
            early: S::lit(0.5),
            limit: Some(S::lit(0.1)),
            goal: &goal,
        };
        let mut states = Vec::new();
        h.trajectory(at, |_, x, _| states.extend_from_slice(x));
        (h.cost(at), states)
    }
    let basis = Basis::Laguerre { time: 0.25 };
    let mut table = [[0.0; N]; 81];
    basis.fill(0.01, &mut table);
    let at = [0.4, -0.8, 0.3, 0.5, -0.1];
    let lifted: Vec<[D; N]> = table.iter().map(|r| r.map(D::constant)).collect();
    let unknown = std::array::from_fn(|i| D::variable(at[i], i));
    let (cost, _) = horizon(&lifted, &unknown);
    let (dynamics, goal) = (pendulum::<f64>(0.3), goal());
    let problem = Horizon {
        dynamics: &dynamics,
        start: [0.2, 0.5, -0.3, 1.0],
        basis: &table,
        step: 0.02,
        steps: 40,
        from: 20,
        early: 0.5,
        limit: Some(0.1),
        goal: &goal,
    };
    let normal = problem.linearised(&at);
    assert!((normal.cost - cost.re).abs() < 1e-12 * cost.re);
    assert!((normal.cost - problem.cost(&at)).abs() < 1e-12 * cost.re);
    for i in 0..N {
        // The cost's derivative is twice the gradient of least squares.
        let wanted = 0.5 * cost.du[i];
        assert!(
            (normal.gradient[i] - wanted).abs() < 1e-9 * (1.0 + wanted.abs()),
            "{i}: {} {wanted}",
            normal.gradient[i]
        );
    }
}

/// The pass with sensitivities and the pass without walk the same path to the last bit: the search compares their costs.
#[test]
fn both_passes_give_the_same_bits() {
    let dynamics = pendulum::<f32>(0.4);
    let mut x = [0.1f32, 0.4, -0.2, 0.9];
    let mut y = x;
    let mut dy = [[0.0f32; 3]; STATES];
    for k in 0..200 {
        let u = [0.05, 0.06, 0.07].map(|u: f32| if k % 50 < 25 { u } else { -u });
        x = step(&dynamics, &x, 0.01, u);
        step_with(&dynamics, &mut y, &mut dy, 0.01, u, |_, s, i| {
            [s.by_input[i]; 3]
        });
        assert_eq!(x.map(f32::to_bits), y.map(f32::to_bits), "step {k}");
    }
    assert!(dy[1][0].abs() > 0.1);
}

#[test]
fn readings_of_an_interval_give_state_and_parameter() {
    /// ẍ = u − p·v, twice.
    #[derive(Clone, Copy)]
    struct Carts(f64);
    impl Dynamics<f64> for Carts {
        fn acceleration(&self, x: &[f64; STATES], u: f64) -> [f64; 2] {
            [u - self.0 * x[2], -u - 2.0 * self.0 * x[3]]
        }
        fn slopes(
            &self,
            x: &[f64; STATES],
            u: f64,
        ) -> stribeck_core::control::predict::Slopes<f64> {
            stribeck_core::control::predict::Slopes {
                acceleration: self.acceleration(x, u),
                by_state: [[0.0, 0.0, -self.0, 0.0], [0.0, 0.0, 0.0, -2.0 * self.0]],
                by_input: [1.0, -1.0],
                by_parameter: [-x[2], -2.0 * x[3]],
            }
        }
        fn with_parameter(&self, p: f64) -> Self {
            Carts(p)
        }
    }
    let truth = Carts(0.8);
    let input: Vec<f64> = (0..=80)
        .map(|k| Scalar::sin_cos(0.2 * f64::from(k)).0)
        .collect();
    let first = [0.3, -0.2, 1.1, 0.4];
    let mut x = first;
    let mut readings = Vec::new();
    for k in 0..40 {
        x = step(
            &truth,
            &x,
            0.05,
            [input[2 * k], input[2 * k + 1], input[2 * k + 2]],
        );
        readings.push([x[0], x[1]]);
    }
    let window = Window {
        dynamics: &Carts(0.0),
        input: &input,
        readings: &readings,
        step: 0.05,
        expected: [0.0; 5],
        prior: [0.0; 5],
    };
    let mut at = [0.0; 5];
    let search = Search {
        iterations: 20,
        halvings: 12,
        shorter: 0.5,
        relative: 1e-9,
        absolute: 1e-20,
        cut: 1e-12,
        damping: 0.0,
    };
    let done = minimise(&window, &mut at, &search);
    assert_eq!(done.end, End::Converged);
    for (found, wanted) in at.iter().zip(first.iter().chain([&0.8])) {
        assert!((found - wanted).abs() < 1e-7, "{at:?}");
    }
    let end = window.end(&at);
    assert!((end[0] - x[0]).abs() < 1e-7 && (end[3] - x[3]).abs() < 1e-6);
}

#[test]
fn the_regulator_holds_what_falls_without_it() {
    let dynamics = pendulum::<f32>(0.0);
    let upright = [0.0, std::f32::consts::PI, 0.0, 0.0];
    let weights = Weights {
        state: [0.3, 3.0, 0.03, 0.1],
        input: 100.0,
        step: 0.01,
        steps: 3000,
    };
    let k = gain(&dynamics, upright, &weights);
    let fall = |held: bool| {
        let mut x = [0.0, upright[1] + 0.05, 0.0, 0.0];
        for _ in 0..500 {
            let off: f32 = (0..4).map(|i| k[i] * (x[i] - upright[i])).sum();
            let u = if held { -off.clamp(-0.1, 0.1) } else { 0.0 };
            x = step(&dynamics, &x, 0.01, [u; 3]);
        }
        (x[1] - upright[1]).abs()
    };
    assert!(fall(true) < 0.01, "{} {k:?}", fall(true));
    assert!(fall(false) > 0.5);
}

/// Work of one plan: never more passes than the settings allow, whatever the start.
#[test]
fn a_plan_is_bounded_and_ends_lower_than_it_began() {
    const ROWS: usize = 161;
    let settings = Settings {
        basis: Basis::Hat { spacing: 0.2f32 },
        step: 0.02,
        steps: 80,
        from: 50,
        early: 0.5,
        interval: 5,
        limit: Some(0.1),
        goal: goal(),
        search: Search {
            iterations: 4,
            halvings: 3,
            shorter: 0.5,
            relative: 1e-3,
            absolute: 1e-5,
            cut: 1e-6,
            damping: 1e-3,
        },
        nudge: 1e-3,
    };
    let planner: Planner<f32, 8, ROWS> = Planner::new(settings);
    let dynamics = pendulum::<f32>(0.0);
    for start in [[0.0; 4], [0.3, 2.0, -5.0, 8.0], [0.0, 3.1, 0.0, 0.2]] {
        let (weights, done) = planner.next(&dynamics, start);
        assert!(done.iterations <= 4 && done.passes <= 16, "{done:?}");
        let horizon = planner.horizon(&dynamics, start);
        assert!(
            horizon.cost(&weights) <= horizon.cost(&[1e-3; 8]),
            "{start:?}"
        );
    }
    // A state that is no number: nothing is searched, the old plan goes on.
    let (weights, done) = planner.next(&dynamics, [f32::NAN; 4]);
    assert_eq!(done.end, End::NotFinite);
    assert_eq!(weights, [1e-3; 8]);
    println!("planner: {} bytes", core::mem::size_of_val(&planner));
}

/// The energy of the goal is zero where the plant's own energy is that of upright rest.
#[test]
fn the_swing_term_is_the_links_energy() {
    let plant = furuta::Furuta::<f64>::new(&furuta::Config {
        tilt: 0.0,
        ..Default::default()
    });
    let (j, mgl) = (5.25e-3 + 0.128 * 0.062 * 0.062, 0.128 * 9.81 * 0.062);
    let term = Term::Swing {
        of: [0.0, 1.0],
        target: PI,
        inertia: j / (4.0 * mgl),
    };
    let top = plant.energy([0.0, PI], [0.0, 0.0]);
    for (q, w) in [(0.3, 2.0), (2.0, -5.0), (PI, 1.0)] {
        let (r, _) = term.residual(&[0.0, q, 0.0, w]);
        let wanted = (plant.energy([0.0, q], [0.0, w]) - top) / (2.0 * mgl);
        assert!((r - wanted).abs() < 1e-6, "{r} {wanted}");
    }
}
