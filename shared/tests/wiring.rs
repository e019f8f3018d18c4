//! The wiring check: one reversed channel is found in nearly every swing, a right one never raises an alarm.
//!
//! `cargo test -p stribeck-core --release --test wiring -- --nocapture`

// Only tests call the standard library.
#![allow(clippy::disallowed_methods)]

use stribeck_core::device::config::Config;
use stribeck_core::device::{Device, Identity};
use stribeck_core::model::friction::Friction;
use stribeck_core::model::joint::Joint;
use stribeck_core::model::plant::{PlantConfig, furuta, pendulum};
use stribeck_core::model::sim::{Encoder, REFERENCE_START, Rng, Simulation, Truth};
use stribeck_core::observer::encoder;
use stribeck_core::observer::tracker::{self, Gains, Tracker};
use stribeck_core::observer::wiring::Wiring;
use stribeck_core::wire::ConfigOrigin;

/// Swing for `seconds`, with a push at 1 s if asked; when the alarm came [s].
fn alarm(plant: &PlantConfig, mut bench: Simulation, seconds: u32, push: bool) -> Option<f64> {
    let cfg = encoder::Config::default();
    let gains = Gains::<f32>::new(&tracker::Config::default(), 1e-4);
    let wiring = Wiring::<f32>::new(plant);
    let mut st = wiring.start();
    let mut trackers = bench
        .tick()
        .counts
        .map(|c| Tracker::start(cfg.place(Joint::Revolute, c as i32)));
    for tick in 1..seconds * 10_000 {
        if push && tick == 10_000 {
            bench.truth.w[1] += 4.0;
        }
        let counts = bench.tick().counts;
        for (t, c) in trackers.iter_mut().zip(counts) {
            gains.step(t, cfg.place(Joint::Revolute, c as i32));
        }
        if wiring.step(&mut st, trackers.map(|t| t.q), trackers.map(|t| t.w)) {
            return Some(tick as f64 * 1e-4);
        }
    }
    None
}

/// A swing of theory's random truths: friction over a decade, tilt 15–65°, random start.
fn random_swing(rng: &mut Rng, noise_counts: f64) -> (PlantConfig, Simulation) {
    let plant = PlantConfig::Furuta(furuta::Config {
        tilt: rng.within(15.0, 65.0).to_radians() as f32,
        ..Default::default()
    });
    let q = [rng.within(-0.5, 0.5), rng.within(60.0, 160.0).to_radians()];
    let mut any = |x: f64| x * 10f64.powf(rng.within(-0.5, 0.5));
    let friction = [5e-4, 6e-4].map(|d| {
        let mu_d = any(d);
        Friction::brown_mcphee([mu_d, 1.2 * mu_d, any(2.5e-4), 5e-3, 1e-2])
    });
    let encoder = Encoder {
        noise_counts,
        ..Default::default()
    };
    let truth = Truth::new(&plant, friction, q, 1e-4, 1);
    (plant, Simulation::new(truth, [encoder; 2], rng.bits()))
}

#[test]
fn a_reversed_channel_is_found_and_a_right_one_is_not_blamed() {
    let mut rng = Rng::new(9);
    let (mut found, mut slowest, swings) = (0, 0.0f64, 30);
    for case in 0..swings {
        let noise = [0.0, 5.0, 20.0][case % 3];
        let (plant, right) = random_swing(&mut rng, noise);
        assert_eq!(alarm(&plant, right, 10, false), None, "case {case}");
        assert_eq!(alarm(&plant, right, 10, true), None, "push, case {case}");
        let mut both = right;
        both.encoders.iter_mut().for_each(|e| e.reversed = true);
        assert_eq!(alarm(&plant, both, 10, false), None, "mirror, case {case}");
        let mut wrong = right;
        wrong.encoders[case % 2].reversed = true;
        match alarm(&plant, wrong, 10, false) {
            Some(at) => {
                found += 1;
                slowest = slowest.max(at);
            }
            None => println!("case {case}, noise {noise}: not found"),
        }
    }
    println!("found {found} of {swings}, the last after {slowest:.2} s");
    assert!(found >= swings - 2, "{found}");
}

#[test]
fn the_reference_run_is_clean_and_its_mirror_is_found() {
    let plant = PlantConfig::Furuta(Default::default());
    assert_eq!(
        alarm(&plant, Simulation::reference(20.0, 1), 35, false),
        None
    );
    let mut wrong = Simulation::reference(5.0, 1);
    wrong.encoders[0].reversed = true;
    assert!(alarm(&plant, wrong, 35, false).is_some());
}

/// One joint has no cross term: nothing to see, nothing claimed.
#[test]
fn a_simple_pendulum_never_alarms() {
    let plant = PlantConfig::Pendulum(pendulum::Config::default());
    let friction = [Friction::brown_mcphee([5e-4, 6e-4, 2.5e-4, 5e-3, 1e-2]); 2];
    let truth = Truth::new(&plant, friction, [REFERENCE_START[1], 0.0], 1e-4, 1);
    let mut bench = Simulation::new(truth, [Encoder::default(); 2], 0);
    bench.encoders[0].reversed = true;
    assert_eq!(alarm(&plant, bench, 10, true), None);
}

/// The device reports it: both channels carry the flag, for one of them is wrong.
#[test]
fn the_device_flags_both_channels() {
    for reversed in [false, true] {
        let mut config = Config::default();
        config.run.auto_arm = true;
        let mut device = Device::new(Identity::new("twin"), &config, ConfigOrigin::Default);
        let mut bench = Simulation::reference(0.0, 2);
        bench.encoders[1].reversed = reversed;
        bench.hold(REFERENCE_START, 20_000);
        for _ in 0..70_000 {
            device.tick(bench.tick().counts);
        }
        let expected = if reversed { encoder::flag::REVERSED } else { 0 };
        let flags = device.engine().observers().encoder_flags();
        assert_eq!(flags, [expected; 2]);
    }
}
