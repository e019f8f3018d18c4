//! What the modes do with a simulated rig.

use stribeck_core::number::math::sqrt_f64;
use stribeck_core::wire::{Mode, Shape, Signal};

use crate::rig::{Rig, friction, furuta, sine};

const PI: f64 = std::f64::consts::PI;

/// Upright for 60 s with 5 counts of noise, replayed bit for bit: from 7° with 0.1 N·m, from −10° with 0.3 N·m. With 0.1 N·m nothing
/// catches it from 10°: the arm must turn so fast that the centrifugal moment alone is more than the motor's.
#[test]
fn balances_a_furuta_pendulum_for_a_minute() {
    for (seed, degrees, limit) in [(1, 7.0f64, 0.1), (4, -10.0, 0.3)] {
        let mut config = furuta();
        config.drive.as_mut().unwrap().motor.torque_limit = limit;
        let mut rig = Rig::new(
            &config,
            friction(1.0),
            [0.0, PI + degrees.to_radians()],
            5.0,
            seed,
        );
        rig.drive(Mode::Balance, Signal::default());
        let samples = rig.run(60.0);
        assert_eq!(rig.trips(), [], "{degrees}");
        let last = &samples[100_000..];
        let worst = last.iter().map(|s| (s.q[1] - PI).abs()).fold(0.0, f64::max);
        let arm = last.iter().map(|s| s.q[0].abs()).fold(0.0, f64::max);
        println!(
            "{degrees}° with {limit} N·m: after 10 s within {:.3}° upright, arm {:.2}°",
            worst.to_degrees(),
            arm.to_degrees()
        );
        assert!(worst < 0.05 && arm < 1.0, "{worst} {arm}");
        assert!(rig.replayed > 599_000, "{}", rig.replayed);
    }
}

/// RMS of reference − true arm angle after the friction is known \[rad\].
fn tracking_error(feed: f32, factor: f64) -> (f64, f64) {
    let mut config = furuta();
    let drive = config.drive.as_mut().unwrap();
    drive.track.friction = feed;
    drive.track.stiffness = 0.5;
    drive.track.damping = 0.03;
    drive.motor.torque_limit = 0.3;
    config.stream.param_every = 10;
    let mut rig = Rig::new(&config, friction(factor), [0.0, 0.0], 0.0, 3);
    let signal = Signal {
        shape: Shape::Multisine,
        amplitude: 0.08,
        low_hz: 0.1,
        high_hz: 3.0,
        seed: 5,
        ..Signal::default()
    };
    rig.drive(Mode::Track, signal);
    let samples = rig.run(40.0);
    assert_eq!(rig.trips(), []);
    let (mut sum, mut n, mut reversals, mut before) = (0.0, 0, 0, 0.0f64);
    for (tick, p) in rig.params.iter().filter(|(tick, _)| *tick > 200_000) {
        let drive = p.drive.unwrap();
        let sample = &samples[*tick as usize];
        let off = f64::from(drive.reference) - sample.q[0];
        sum += off * off;
        n += 1;
        let u = f64::from(drive.u);
        reversals += i32::from(u * before < 0.0);
        before = u;
    }
    (sqrt_f64(sum / f64::from(n)), f64::from(reversals) / 20.0)
}

/// With ten times Table 3's friction, feeding the identified friction forward leaves at most a fifth of the error of PD with the model.
#[test]
fn identified_friction_makes_tracking_five_times_better() {
    let (plain, _) = tracking_error(0.0, 10.0);
    let (fed, calm) = tracking_error(1.0, 10.0);
    let (twice, restless) = tracking_error(2.0, 10.0);
    println!(
        "RMS error {:.3}° without, {:.3}° with identified friction, {:.3}° with twice that",
        plain.to_degrees(),
        fed.to_degrees(),
        twice.to_degrees()
    );
    println!(
        "reversals of the torque per second: {calm:.1}, with twice the friction {restless:.1}"
    );
    assert!(fed <= plain / 5.0, "{plain} {fed}");
    assert!(restless < 10.0 * calm.max(1.0), "{calm} {restless}");
}

/// A change of mode leaves no step in the torque.
#[test]
fn a_change_of_mode_is_bumpless() {
    let mut rig = Rig::new(&furuta(), friction(1.0), [0.3, 0.0], 0.0, 4);
    rig.drive(Mode::Excite, sine(0.05, 1.0));
    rig.run(0.2);
    let mut last = rig.device.output().unwrap().0;
    rig.drive(Mode::Track, Signal::default());
    for _ in 0..200 {
        rig.run(1e-4);
        let now = rig.device.output().unwrap().0;
        assert!((now - last).abs() < 60, "{last} {now}");
        last = now;
    }
    assert_eq!(rig.trips(), []);
}
