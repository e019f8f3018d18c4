//! Every way the motor is turned off, and that nothing else can drive it.

use stribeck_core::device::Input;
use stribeck_core::device::config::Config;
use stribeck_core::model::motor::Duty;
use stribeck_core::model::sim::Rng;
use stribeck_core::wire::{Ask, Mode, Phase, Plan, Refusal, Shape, Signal, Trip, WEIGHTS};

use crate::rig::{Rig, friction, furuta, sine};

/// A rig that is excited gently.
fn driving() -> Rig {
    let mut rig = Rig::new(&furuta(), friction(1.0), [0.0, 0.0], 0.0, 1);
    rig.drive(Mode::Excite, sine(0.02, 1.0));
    rig.run(0.1);
    assert!(rig.device.output().is_some());
    rig
}

#[test]
fn a_passive_configuration_cannot_drive() {
    let mut rig = Rig::new(&Config::default(), friction(1.0), [0.0, 0.0], 0.0, 1);
    rig.drive(Mode::Excite, sine(0.02, 1.0));
    rig.run(0.1);
    assert_eq!(rig.refusals, [Some(Refusal::NotDrivable)]);
    assert_eq!(rig.most, 0);
    assert!(rig.device.output().is_none());
}

#[test]
fn signals_that_cannot_be_played_are_refused() {
    let mut rig = Rig::new(&furuta(), friction(1.0), [0.0, 0.0], 0.0, 1);
    let wrong = [
        sine(f32::NAN, 1.0),
        sine(0.1, -1.0),
        sine(0.1, 5000.0),
        Signal {
            shape: Shape::Chirp,
            ..sine(0.1, 1.0)
        },
    ];
    for signal in wrong {
        rig.drive(Mode::Track, signal);
        rig.run(0.01);
    }
    assert_eq!(rig.refusals, vec![Some(Refusal::NotDrivable); 4]);
    assert!(rig.device.output().is_none());
}

#[test]
fn the_host_stops_it_and_falls_silent() {
    let mut rig = driving();
    rig.ask(Ask::Stop);
    rig.run(2e-4);
    assert!(rig.device.output().is_none());
    assert_eq!(rig.device.engine().phase(), Phase::Idle);

    let mut rig = driving();
    rig.beats = false;
    rig.run(0.35);
    assert!(rig.device.output().is_some());
    rig.run(0.2);
    assert!(rig.device.output().is_none());
    assert_eq!(rig.trips(), [Trip::Heartbeat]);
    rig.run(1.0);
    assert_eq!(rig.statuses.last().unwrap().drive.trips, 1);
    assert_eq!(rig.statuses.last().unwrap().drive.last, Trip::Heartbeat);
}

#[test]
fn bridge_button_and_missed_ticks_turn_it_off_in_the_same_tick() {
    let causes = [
        (
            Trip::Bridge,
            Input {
                bridge_fault: true,
                ..Input::default()
            },
        ),
        (
            Trip::Button,
            Input {
                button: true,
                ..Input::default()
            },
        ),
        (
            Trip::Overrun,
            Input {
                missed: 6,
                ..Input::default()
            },
        ),
    ];
    for (trip, input) in causes {
        let mut rig = driving();
        rig.tick(input);
        assert!(rig.device.output().is_none(), "{trip:?}");
        rig.run(0.05);
        assert_eq!(rig.trips(), [trip]);
        // The button's release arms nothing.
        assert_eq!(rig.device.engine().phase(), Phase::Idle, "{trip:?}");
    }
    let mut rig = driving();
    rig.tick(Input {
        missed: 5,
        ..Input::default()
    });
    assert!(
        rig.device.output().is_some(),
        "within what the configuration allows"
    );
}

#[test]
fn ranges_end_it() {
    let mut config = furuta();
    config.drive.as_mut().unwrap().limits.angle[0] = 0.2;
    let mut rig = Rig::new(&config, friction(1.0), [0.0, 0.0], 0.0, 1);
    rig.drive(
        Mode::Excite,
        Signal {
            offset: 0.1,
            ..Signal::default()
        },
    );
    let samples = rig.run(2.0);
    assert_eq!(rig.trips(), [Trip::Angle]);
    assert!(samples.iter().any(|s| s.q[0] > 0.2));

    let mut config = furuta();
    config.drive.as_mut().unwrap().limits.speed[0] = 1.0;
    config.drive.as_mut().unwrap().limits.angle[0] = 0.0;
    let mut rig = Rig::new(&config, friction(1.0), [0.0, 0.0], 0.0, 1);
    rig.drive(
        Mode::Excite,
        Signal {
            offset: 0.1,
            ..Signal::default()
        },
    );
    rig.run(2.0);
    assert_eq!(rig.trips(), [Trip::Speed]);
    assert_eq!(
        rig.device.engine().phase(),
        Phase::Swinging,
        "what moves swings on"
    );
}

#[test]
fn a_cut_encoder_a_stall_and_a_stale_plan_end_it() {
    // The pendulum's counter stands still while it is balanced.
    let mut rig = Rig::new(&furuta(), friction(1.0), [0.0, 3.2], 5.0, 1);
    rig.drive(Mode::Balance, Signal::default());
    rig.run(1.0);
    let stuck = rig.tick(Input::default()).counts[1];
    rig.sim.encoders[1].counts_per_rev = 4;
    rig.sim.encoders[1].noise_counts = 0.0;
    rig.sim.encoders[1].offset = stuck.wrapping_sub(2);
    rig.run(2.0);
    println!("cut encoder: {:?}", rig.trips());
    assert_eq!(rig.trips().len(), 1);
    assert!(rig.device.output().is_none());

    // A hand holds the arm against the motor.
    let mut rig = driving();
    rig.sim.hold(rig.sim.truth.q, 40_000);
    rig.drive(
        Mode::Excite,
        Signal {
            offset: 0.08,
            ..Signal::default()
        },
    );
    rig.run(1.3);
    assert!(
        matches!(
            rig.trips()[..],
            [Trip::Stalled | Trip::Lost | Trip::Encoder]
        ),
        "{:?}",
        rig.trips()
    );

    let mut rig = driving();
    rig.drive(Mode::Plan, Signal::default());
    rig.run(0.01);
    let tick = rig.device.engine().next_tick();
    let mut weights = [0.0; WEIGHTS];
    weights[..3].copy_from_slice(&[0.1, -0.2, 0.1]);
    rig.ask(Ask::Plan(Plan {
        from_tick: tick + 500,
        weights,
    }));
    rig.run(0.2);
    assert_eq!(rig.trips(), []);
    rig.ask(Ask::Plan(Plan {
        from_tick: 5,
        weights,
    }));
    rig.run(0.3);
    assert_eq!(rig.trips(), [Trip::StalePlan]);
    rig.run(1.0);
    assert_eq!(rig.statuses.last().unwrap().drive.late_plans, 1);
}

/// Random commands, noise, faults and gaps: the duty stays within its limit and is nothing unless the device says that it drives. Ten
/// million ticks with `STRIBECK_TICKS=10000000`.
#[test]
fn random_commands_never_exceed_the_limit() {
    let ticks: u32 = std::env::var("STRIBECK_TICKS").map_or(300_000, |n| n.parse().unwrap());
    let mut config = furuta();
    config.drive.as_mut().unwrap().limits.duty = 0.1;
    let limit = (0.1 * f32::from(Duty::FULL)) as i16;
    let mut rng = Rng::new(99);
    let mut rig = Rig::new(&config, friction(1.0), [0.0, 3.1], 5.0, 8);
    let (mut driven, mut armed) = (0u32, false);
    for _ in 0..ticks {
        let chance = rng.bits() % 4000;
        let any = |rng: &mut Rng, x: f64| rng.within(-x, x) as f32;
        match chance {
            0 | 1 => {
                let mode = Mode::ALL[(rng.bits() % 5) as usize];
                let signal = Signal {
                    shape: Shape::ALL[(rng.bits() % 5) as usize],
                    offset: any(&mut rng, 0.5),
                    amplitude: any(&mut rng, 1.0),
                    low_hz: rng.within(-0.5, 20.0) as f32,
                    high_hz: rng.within(0.0, 50.0) as f32,
                    seconds: rng.within(0.0, 5.0) as f32,
                    seed: rng.bits() as u32,
                };
                rig.drive(mode, signal);
            }
            2 => rig.ask(Ask::Stop),
            3 => {
                let from_tick = rig.device.engine().next_tick() + rng.bits() % 100;
                let weights = core::array::from_fn(|_| any(&mut rng, 3.0));
                rig.ask(Ask::Plan(Plan { from_tick, weights }));
            }
            4 => rig.beats = !rig.beats,
            5 => {
                let q = [rng.within(-1.0, 1.0), rng.within(2.8, 3.5)];
                rig.sim.hold(q, 10);
            }
            _ => {}
        }
        let input = Input {
            bridge_fault: chance == 6,
            button: chance == 7,
            missed: if chance == 8 {
                (rng.bits() % 9) as u32
            } else {
                0
            },
            ..Input::default()
        };
        rig.tick(input);
        let output = rig.device.output();
        let drives = rig.device.engine().phase() == Phase::Driving;
        armed |= drives;
        assert!(
            output.is_none() || drives,
            "on while {:?}",
            rig.device.engine().phase()
        );
        if let Some(Duty(duty)) = output {
            driven += 1;
            assert!(duty.abs() <= limit, "{duty}");
        }
        rig.params.clear();
        rig.events.clear();
        rig.refusals.clear();
        rig.statuses.clear();
    }
    println!(
        "{ticks} ticks, {driven} of them driven, largest duty {} of {limit}",
        rig.most
    );
    assert!(armed && driven > ticks / 20 && rig.most == limit);
}
