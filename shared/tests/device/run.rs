//! Run logic: a whole run by itself, hold and release, noise, button, re-arm.

use stribeck_core::device::Input;
use stribeck_core::device::config::Config;
use stribeck_core::device::run::{Cause, Phase};
use stribeck_core::model::sim::Simulation;
use stribeck_core::wire::{Ask, What};

use crate::host::Host;

const PRESSED: Input = Input {
    counts: [0; 2],
    missed: 0,
    button: true,
    cycles: 0,
    bridge_fault: false,
};

#[test]
fn the_reference_run_starts_and_ends_by_itself() {
    let mut host = Host::reference();
    host.run_until(Phase::Swinging, 1000);
    host.run_until(Phase::AtRest, 1_000_000);
    let end = host.device.engine().next_tick();
    println!("at rest at tick {end}");
    // Frozen: the estimate stays as it was at the end of the run.
    let last = host.device.engine().observers().params();
    host.run(5000);
    assert_eq!(host.device.engine().observers().params(), last);
    assert_eq!(
        host.transitions()[..2],
        [
            (Phase::Armed, Phase::Swinging),
            (Phase::Swinging, Phase::AtRest)
        ]
    );
    // With auto_arm it arms again after another rest time, and waits.
    host.run_until(Phase::Armed, 30_000);
    host.run(30_000);
    assert_eq!(host.device.engine().phase(), Phase::Armed);
}

#[test]
fn a_held_pendulum_waits_and_the_run_starts_where_it_was_released() {
    for noise in [0.0, 5.0, 20.0] {
        let mut config = Config::default();
        config.run.auto_arm = true;
        let mut host = Host::new(&config, Simulation::reference(noise, 3));
        let q = [0.2, 1.5];
        host.bench.hold(q, 40_000);
        host.run(40_000);
        assert_eq!(host.device.engine().phase(), Phase::Armed, "noise {noise}");
        host.run_until(Phase::Swinging, 2000);
        host.run(1);
        let event = host.heard.events.last().unwrap();
        let What::Run {
            initial: Some(initial),
            cause: Cause::Motion,
            ..
        } = event.what
        else {
            panic!("{event:?}");
        };
        let hold_ticks = config.run.hold_ms as u64 * 10;
        assert!(initial.tick <= 40_000 + hold_ticks && initial.tick + hold_ticks >= 40_000);
        for (found, true_q) in initial.q.iter().zip(q) {
            let tolerance = 5.0 * noise as f32 * 1.6e-4 + 1e-2;
            assert!((found - true_q as f32).abs() < tolerance, "{found}");
        }
    }
}

#[test]
fn a_hanging_pendulum_does_not_swing_in_noise_and_a_noisy_run_ends() {
    let mut config = Config::default();
    config.run.auto_arm = true;
    let mut host = Host::new(&config, Simulation::reference(20.0, 4));
    host.bench.hold([0.0, 0.0], 100_000);
    host.run(100_000);
    assert_eq!(host.device.engine().phase(), Phase::Armed);
    host.bench.hold([0.0, 0.3], 0);
    host.run_until(Phase::Swinging, 2000);
    host.run_until(Phase::AtRest, 1_000_000);
}

#[test]
fn the_button_arms_stops_and_zeroes() {
    let mut host = Host::new(&Config::default(), Simulation::reference(0.0, 1));
    host.bench.hold([0.1, 0.2], u32::MAX);
    let press = |host: &mut Host, ticks| {
        host.run_input(ticks, PRESSED);
        host.run(10);
    };
    press(&mut host, 100); // 10 ms: bounce
    assert_eq!(host.device.engine().phase(), Phase::Idle);
    press(&mut host, 2000);
    assert_eq!(host.device.engine().phase(), Phase::Armed);
    press(&mut host, 2000);
    assert_eq!(host.device.engine().phase(), Phase::Idle);
    press(&mut host, 15_000);
    assert_eq!(host.device.engine().phase(), Phase::Idle, "long: no arming");
    let zeroed = |e: &&stribeck_core::wire::Event| matches!(e.what, What::Zeroed { .. });
    assert_eq!(host.heard.events.iter().filter(zeroed).count(), 1);
    let causes: Vec<_> = host
        .heard
        .events
        .iter()
        .map(|e| match e.what {
            What::Run { cause, .. } | What::Zeroed { cause, .. } => cause,
            _ => panic!("{e:?}"),
        })
        .collect();
    assert_eq!(causes, [Cause::Button; 3]);
}

#[test]
fn a_second_run_starts_fresh() {
    let mut host = Host::reference();
    host.run_until(Phase::Swinging, 1000);
    host.run(110_000);
    let stage = host.device.engine().observers().params().stage;
    assert_eq!(host.ask(Ask::Stop).refusal, None);
    host.bench.hold([0.0, 1.0], 5000);
    assert_eq!(host.ask(Ask::Start).refusal, None);
    host.run_until(Phase::Swinging, 10_000);
    let observers = host.device.engine().observers();
    assert!(observers.params().stage < stage);
    assert!((observers.states().ekf_q[1] - 1.0).abs() < 0.05);
}

/// Durations are durations at every tick rate, not only at multiples of 100 Hz.
#[test]
fn the_hold_lasts_as_long_as_configured_at_any_tick_rate() {
    use stribeck_core::device::run::{Config, Drive, Run};
    for tick_hz in [100, 150, 199, 250, 999, 1024, 10_000, 12_345] {
        let config = Config::default();
        let run = Run::new(&config, tick_hz);
        let mut state = run.start();
        run.order(&mut state, Phase::Armed, Cause::Host);
        let starts: Vec<u64> = (0..2 * tick_hz as u64)
            .filter(|tick| run.step(&mut state, *tick, [0, 0]).0 == Drive::Start)
            .collect();
        let hold_s = (starts[1] - starts[0]) as f64 / tick_hz as f64;
        let error = (hold_s - config.hold_ms as f64 * 1e-3).abs();
        assert!(error < 1.0 / tick_hz as f64, "{tick_hz} Hz: {hold_s} s");
    }
}
