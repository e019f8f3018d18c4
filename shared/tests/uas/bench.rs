//! Bench mode: counts, noise, rest, for ever; f32 on chip is f64 off line.

use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::{PlantConfig, pendulum};
use stribeck_core::model::sim::{Encoder, REFERENCE_START, Sample, Simulation, Truth};
use stribeck_core::observer::uas::{Config, State, Uas};

use super::{angles, observer};

/// Ticks of one session: 35 s to rest, 22 s at rest, 3 s in the hand.
const SESSION: u32 = 600_000;
const HAND: u32 = 30_000;

struct Result {
    state: State<f32>,
    largest_gain: f32,
    /// Worst |q̂ − q| [rad] and |ω̂ − ω| [rad/s], from one second after the release until the hand comes back.
    worst: [f64; 2],
}

fn worst(st: &State<f32>, s: &Sample) -> [f64; 2] {
    let largest =
        |a: [f32; 2], b: [f64; 2]| (a[0] as f64 - b[0]).abs().max((a[1] as f64 - b[1]).abs());
    [largest(st.q, s.q), largest(st.w, s.w)]
}

fn ten_minutes(noise_counts: f64) -> Result {
    let uas = observer::<f32>(&Config::default());
    let mut bench = Simulation::reference(noise_counts, 21);
    let mut r = Result {
        state: uas.start(angles(bench.tick().counts)),
        largest_gain: 0.0,
        worst: [0.0; 2],
    };
    for tick in 1..10 * SESSION {
        let at = tick % SESSION;
        if at == SESSION - HAND {
            bench.carry(REFERENCE_START, HAND);
        }
        let s = bench.tick();
        uas.step(&mut r.state, angles(s.counts));
        let st = &r.state;
        assert!(st.q.iter().chain(&st.w).chain(&st.z).all(|x| x.is_finite()));
        r.largest_gain = r.largest_gain.max(st.gain.n.abs());
        if (10_000..SESSION - HAND).contains(&at) {
            let now = worst(st, &s);
            r.worst = [r.worst[0].max(now[0]), r.worst[1].max(now[1])];
        }
    }
    r
}

#[test]
fn ten_minutes_of_bench_keep_the_gain_bounded() {
    for noise in [5.0, 20.0] {
        let r = ten_minutes(noise);
        println!(
            "noise {noise:4}: gain ≤ {:.1}, k {:.3}, restarts {}, floored {}, worst angle error {:.2e} rad, velocity {:.3} rad/s",
            r.largest_gain, r.state.k, r.state.restarts, r.state.floored, r.worst[0], r.worst[1]
        );
        assert!(r.largest_gain <= Config::default().gain_max);
        assert!(r.state.restarts <= 10 && r.state.floored == 0);
        assert!(r.worst[0] < 0.004 && r.worst[1] < 0.5, "{:?}", r.worst);
    }
}

/// One swing of 60 s in both precisions, from the same counts.
#[test]
fn f32_stays_within_half_a_count_of_f64_over_a_minute() {
    let (chip, reference) = (
        observer::<f32>(&Config::default()),
        observer::<f64>(&Config::default()),
    );
    let quantum = 2.0 * std::f64::consts::PI / 40_000.0;
    for noise in [0.0, 5.0] {
        let mut bench = Simulation::reference(noise, 22);
        let first = bench.tick().counts;
        let (mut a, mut b) = (chip.start(angles(first)), reference.start(angles(first)));
        let mut apart = 0.0f64;
        for _ in 1..600_000 {
            let counts = bench.tick().counts;
            chip.step(&mut a, angles(counts));
            reference.step(&mut b, angles(counts));
            for i in 0..2 {
                apart = apart.max((a.q[i] as f64 - b.q[i]).abs() / quantum);
            }
        }
        println!(
            "noise {noise}: f32 and f64 at most {apart:.3} counts apart, k {} {}",
            a.k, b.k
        );
        assert!(apart < 0.5, "{apart} counts");
        assert_eq!((a.restarts, b.restarts), (0, 0));
    }
}

/// One joint: the second is inert, its counter stands at zero, and the observer follows the first.
#[test]
fn a_simple_pendulum_is_followed() {
    let plant = PlantConfig::Pendulum(pendulum::Config::default());
    let friction = [
        Friction::brown_mcphee([5e-4, 6e-4, 2.5e-4, 1e-2, 1e-2]),
        Friction::NONE,
    ];
    let uas = Uas::<f32>::new(&plant, &Config::default(), &Default::default(), 1e-4);
    let truth = Truth::new(&plant, friction, [2.0, 0.0], 1e-4, 2);
    let mut bench = Simulation::new(truth, [Encoder::default(); 2], 0);
    let mut st = uas.start(angles(bench.tick().counts));
    let mut furthest = 0.0f64;
    for tick in 0..200_000 {
        let s = bench.tick();
        uas.step(&mut st, angles(s.counts));
        if tick > 10_000 {
            furthest = furthest.max((st.q[0] as f64 - s.q[0]).abs());
        }
    }
    println!("furthest {furthest:.1e} rad, gain {:?}", st.gain);
    assert!(furthest < 4e-3, "{furthest}");
    assert_eq!((st.restarts, st.w[1]), (0, 0.0));
}
