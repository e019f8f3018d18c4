//! An encoder that sees nothing while the motor drives, and joints that rest in their friction, which are no fault.

use stribeck_core::device::config::Config;
use stribeck_core::wire::{Mode, Shape, Signal, Trip};

use crate::rig::{Rig, friction, furuta, sine};

const PI: f64 = std::f64::consts::PI;

fn tracker(limit: f32) -> Config {
    let mut config = furuta();
    let drive = config.drive.as_mut().unwrap();
    drive.motor.torque_limit = limit;
    config
}

/// Seconds from the cut of the arm's encoder to the motor being off, and the arm's speed then \[rad/s\].
fn time_to_trip(seconds: f64, noise: f64, one_wire: bool) -> (f64, f64, Trip) {
    let mut rig = Rig::new(&tracker(0.1), friction(1.0), [0.0, 0.0], noise, 1);
    rig.drive(Mode::Track, sine(0.15, 0.5));
    rig.run(seconds);
    assert_eq!(rig.trips(), [], "{seconds} {noise}");
    rig.cut(0, one_wire);
    for n in 1..20_000 {
        rig.run(1e-4);
        if rig.device.output().is_none() {
            let speed = rig.sim.truth.w[0].abs();
            return (f64::from(n) * 1e-4, speed, rig.trips()[0]);
        }
    }
    panic!("no trip in 2 s after a cut at {seconds} s");
}

/// At every phase of the reference. Where it turns, the arm stands, and nothing can be seen before it ought to move again; it never
/// gets faster than it was meant to.
#[test]
fn a_cut_arm_encoder_is_found_within_tens_of_milliseconds() {
    let (mut moving, mut turning, mut fastest) = (0.0f64, 0.0f64, 0.0f64);
    for step in 0..16 {
        let seconds = 3.0 + f64::from(step) / 8.0;
        for (noise, one_wire) in [(0.0, false), (5.0, false), (0.0, true)] {
            let (after, speed, trip) = time_to_trip(seconds, noise, one_wire);
            println!(
                "{seconds:.3} s, {noise} counts, one wire {one_wire}: {trip:?} after {:.1} ms, {speed:.2} rad/s",
                1e3 * after
            );
            // The reference's speed is that of a cosine.
            if step % 4 == 0 && step % 8 != 0 {
                turning = turning.max(after);
            } else {
                moving = moving.max(after);
            }
            fastest = fastest.max(speed);
        }
    }
    println!(
        "at most {:.1} ms while it moves, {:.1} ms where it turns, {fastest:.2} rad/s",
        1e3 * moving,
        1e3 * turning
    );
    assert!(moving < 0.08 && turning < 0.16, "{moving} {turning}");
    assert!(
        fastest < 0.55,
        "0.47 rad/s is what it was meant to do at most"
    );
}

/// Slow reversals in stiction, a reference that stands, ten times the friction, noise, an excited and a balanced rig: no trip.
#[test]
fn rest_in_friction_is_no_fault() {
    let slow = Signal {
        shape: Shape::Multisine,
        amplitude: 0.05,
        low_hz: 0.02,
        high_hz: 0.5,
        seed: 5,
        ..Signal::default()
    };
    let still = Signal {
        offset: 0.1,
        ..Signal::default()
    };
    for factor in [0.3, 1.0, 3.0, 10.0] {
        for noise in [0.0, 1.0] {
            for (mode, signal, q1) in [
                (Mode::Track, sine(0.15, 0.5), 0.0),
                (Mode::Track, slow, 0.0),
                (Mode::Track, still, 0.0),
                (Mode::Excite, sine(0.01, 2.0), 0.0),
                (Mode::Balance, Signal::default(), PI + 0.03),
            ] {
                // Ten times the friction does not let it balance, which is no fault of an encoder.
                if mode == Mode::Balance && factor > 3.0 {
                    continue;
                }
                let limit = if factor > 3.0 { 0.3 } else { 0.1 };
                let mut rig = Rig::new(&tracker(limit), friction(factor), [0.0, q1], noise, 3);
                rig.drive(mode, signal);
                rig.run(10.0);
                assert_eq!(rig.trips(), [], "{factor} {noise} {mode:?} {signal:?}");
            }
        }
    }
}

/// The other encoder, while the motor holds the pendulum up: nearly at rest there, it tells little, and the motor does little.
#[test]
fn a_cut_pendulum_encoder_ends_balancing() {
    for (noise, seed) in [(0.0, 1), (5.0, 2), (5.0, 3), (1.0, 4)] {
        let mut rig = Rig::new(&tracker(0.1), friction(1.0), [0.0, PI + 0.05], noise, seed);
        rig.drive(Mode::Balance, Signal::default());
        rig.run(3.0);
        assert_eq!(rig.trips(), []);
        rig.cut(1, false);
        let mut ticks = 0;
        while rig.device.output().is_some() && ticks < 20_000 {
            rig.run(1e-4);
            ticks += 1;
        }
        println!(
            "{noise} counts: {:?} after {:.1} ms, {:.2} rad/s",
            rig.trips(),
            f64::from(ticks) / 10.0,
            rig.sim.truth.w[0]
        );
        assert_eq!(rig.trips().len(), 1);
        assert!(ticks < 10_000 && rig.sim.truth.w[0].abs() < 5.0, "{ticks}");
    }
}
