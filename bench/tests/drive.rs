//! The motor on the flashed program: what the pins to the bridge do, and every way they go off, by the bench's own measurement.

mod harness;

use harness::{Session, scenario};
use stribeck_bench::outputs::Off;
use stribeck_bench::scenario::DriveSetup;
use stribeck_bench::time::to_secs;
use stribeck_bench::{Action, Outcome, Scenario};
use stribeck_core::control;
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::run::Phase;
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::wire::{Ask, Drive, Mode, Refusal, Shape, Signal, Trip, What};
use unicorn_engine::RegisterARM;

/// A Furuta pendulum with a vertical axis and a motor of 0.1 N·m on the arm.
fn config() -> Config {
    Config {
        plant: PlantConfig::Furuta(furuta::Config {
            tilt: 0.0,
            ..furuta::Config::default()
        }),
        drive: Some(control::Config::default()),
        ..Config::default()
    }
}

/// The rig of [`config`], hanging, with an inductance of 276 µH (69 µs).
fn bench() -> Scenario {
    let mut s = scenario("[plant]\nlift_s = [0.01, 0.02]\nrelease_s = 0.03\n");
    s.plant.geometry = config().plant;
    s.plant.angles = [0.0; 2];
    s.drive = Some(DriveSetup {
        inductance: 276e-6,
        ..DriveSetup::default()
    });
    s
}

fn sine(amplitude: f32, hz: f32) -> Signal {
    Signal {
        shape: Shape::Sine,
        amplitude,
        low_hz: hz,
        ..Signal::default()
    }
}

struct Driven {
    s: Session,
    beats: bool,
}

impl Driven {
    /// Connected and configured, nothing armed.
    fn configured(config: &Config, scenario: &Scenario) -> Self {
        let mut s = Session::connected(scenario);
        s.run_for(0.05);
        s.ask(Ask::SetConfig {
            store: false,
            config: Blob::seal(config),
        });
        s.run_for(0.05);
        assert!(s.replies().all(|r| r.refusal.is_none()), "{}", s.log());
        Driven { s, beats: true }
    }

    fn drive(&mut self, mode: Mode, signal: Signal) {
        self.s.ask(Ask::Drive(Drive { mode, signal }));
    }

    /// Excited gently for a while.
    fn excited() -> Self {
        let mut d = Self::configured(&config(), &bench());
        d.drive(Mode::Excite, sine(0.02, 1.0));
        d.run(0.2);
        assert!(d.on(), "{}", d.s.log());
        d
    }

    fn run(&mut self, seconds: f64) {
        let (start, pieces) = (self.s.bench.seconds(), (seconds / 0.1).ceil());
        for piece in 1..=pieces as u32 {
            if self.beats {
                self.s.ask(Ask::Beat);
            }
            self.s
                .run_until(start + seconds * f64::from(piece) / pieces);
        }
    }

    fn on(&self) -> bool {
        self.s.bench.machine.chip().outputs.levels().on()
    }

    fn offs(&self) -> &[Off] {
        &self.s.bench.machine.chip().outputs.offs
    }

    fn trips(&self) -> Vec<Trip> {
        let trip = |what: What| match what {
            What::Drive {
                mode: Mode::Off,
                trip,
            } => Some(trip),
            _ => None,
        };
        self.s.events().filter_map(|e| trip(e.what)).collect()
    }

    /// What happens 10 ms from now ends with the outputs off, within `limit_s` and for `trip`.
    fn stops(mut self, action: Action, limit_s: f64, trip: Trip) -> Self {
        let what = format!("{action:?}");
        let at = self.s.bench.seconds() + 0.0101;
        self.s.bench.schedule(at, action);
        self.run(limit_s + 0.05);
        assert!(!self.on(), "{what}: still on");
        let off = self.offs().last().unwrap();
        let after = off.after_s.unwrap();
        println!("{what}: pins off after {:.1} µs, {trip:?}", 1e6 * after);
        assert!(after <= limit_s, "{what}: {after} s");
        assert_eq!(self.trips(), [trip], "{what}");
        // Nothing comes back by itself.
        self.run(0.1);
        assert!(!self.on() && self.offs().len() == 1, "{what}");
        let (equal, gaps) = self.s.replay();
        assert!(equal > 2_000 && gaps == 0);
        self
    }
}

/// One tick: the cause is found by the next one at the latest, which takes less than one to turn the outputs off.
const TICK: f64 = 100e-6;

#[test]
fn pins_are_off_from_power_on_and_follow_the_command_exactly() {
    let mut d = Driven::configured(&config(), &bench());
    assert_eq!(d.s.bench.machine.chip().outputs.most, 0.0);
    assert!(!d.on() && d.offs().is_empty());
    // 0.05 N·m at rest: 0.05·4/0.1 V of 24 V.
    d.drive(
        Mode::Excite,
        Signal {
            offset: 0.05,
            ..Signal::default()
        },
    );
    d.run(0.003);
    // The torque is blended in within 5 ms; the arm has hardly moved.
    d.run(0.03);
    let duty = d.s.bench.machine.chip().outputs.levels().duty();
    assert!((0.08..0.1).contains(&duty), "{duty}");
    d.s.ask(Ask::Stop);
    d.run(0.05);
    assert!(!d.on());
    assert_eq!(d.s.phase(), Some(Phase::Idle));
    assert_eq!(d.trips(), []);
    let [arm, ..] = d.s.bench.machine.chip().rig.state();
    assert!(
        arm > 0.0,
        "positive torque turns it to positive angles: {arm}"
    );
    assert!(d.s.replay().0 > 1_000);
}

#[test]
fn a_passive_configuration_cannot_drive() {
    let passive = Config {
        drive: None,
        ..config()
    };
    let mut d = Driven::configured(&passive, &bench());
    d.drive(Mode::Excite, sine(0.05, 1.0));
    d.run(0.3);
    let refused = d.s.replies().last().unwrap().refusal.clone();
    assert_eq!(refused, Some(Refusal::NotDrivable));
    assert_eq!(d.s.bench.machine.chip().outputs.most, 0.0);
    assert!(d.offs().is_empty());
}

/// The fault line is pulled down on the board: a bridge that is not there stops the motor.
#[test]
fn without_a_bridge_nothing_is_driven() {
    let mut s = bench();
    s.drive = None;
    let mut d = Driven::configured(&config(), &s);
    d.drive(Mode::Excite, sine(0.05, 1.0));
    d.run(0.3);
    assert_eq!(d.trips(), [Trip::Bridge]);
    assert_eq!(d.s.bench.machine.chip().outputs.most, 0.0);
}

#[test]
fn the_bridges_fault_line_turns_the_pins_off_without_software() {
    let mut d = Driven::excited().stops(Action::BridgeFault { hold_s: 0.01 }, 1e-6, Trip::Bridge);
    d.run(1.0);
    assert_eq!(
        (d.s.status().drive.trips, d.s.status().drive.last),
        (1, Trip::Bridge)
    );
}

#[test]
fn a_fault_shorter_than_a_tick_ends_driving_all_the_same() {
    Driven::excited().stops(Action::BridgeFault { hold_s: 5e-6 }, 1e-6, Trip::Bridge);
}

#[test]
fn a_limit_switch_turns_the_pins_off_without_software() {
    Driven::excited().stops(Action::LimitSwitch { hold_s: 0.5 }, 1e-6, Trip::Bridge);
}

#[test]
fn a_supply_below_the_bridges_lockout_turns_the_pins_off() {
    let sag = Action::SupplySag {
        volts: 3.0,
        hold_s: 0.2,
    };
    Driven::excited().stops(sag, 1e-6, Trip::Bridge);
}

#[test]
fn the_button_turns_the_pins_off_within_a_tick() {
    Driven::excited().stops(Action::Button { hold_s: 0.2 }, 2.0 * TICK, Trip::Button);
}

#[test]
fn a_host_that_falls_silent_turns_the_pins_off() {
    for action in [Action::UsbUnplug, Action::Dtr { on: false }] {
        let mut d = Driven::excited();
        d.beats = false;
        d.run(0.3);
        assert!(d.on(), "half a second of patience");
        let at = d.s.bench.seconds() + 0.0101;
        d.s.bench.schedule(at, action.clone());
        d.run(0.4);
        let off = d.offs().last().unwrap();
        println!("{action:?}: pins off after {:.4} s", off.after_s.unwrap());
        assert!(!d.on() && off.after_s.unwrap() < 0.5);
    }
}

#[test]
fn missed_ticks_turn_the_pins_off_in_the_first_tick_after_them() {
    let stall = Action::Stall {
        duration_us: 1_500.0,
    };
    Driven::excited().stops(stall, 1_500e-6 + 2.0 * TICK, Trip::Overrun);
}

#[test]
fn a_reset_turns_the_pins_off_at_once_and_nothing_comes_back() {
    for action in [Action::Reset, Action::BrownOut] {
        let mut d = Driven::excited();
        let at = d.s.bench.seconds() + 0.0101;
        d.s.bench.schedule(at, action.clone());
        d.run(1.0);
        let off = d.offs().last().unwrap();
        assert!(off.at_s - at < 1e-6, "{action:?}: {off:?}");
        assert!(!d.on() && d.offs().len() == 1, "{action:?}");
    }
}

#[test]
fn a_halted_core_has_no_outputs_and_ends_driving_when_it_goes_on() {
    let mut d = Driven::excited();
    d.s.bench
        .machine
        .halt(stribeck_bench::debug::core::Cause::Request);
    assert!(!d.on(), "in the instruction in which it halts");
    let at = d.s.bench.seconds();
    assert_eq!(d.s.bench.run_for(0.05), Outcome::Time);
    assert!(!d.on());
    d.s.bench.machine.go_on();
    d.run(0.3);
    assert!(!d.on(), "{:?}", d.offs());
    assert!(d.trips().contains(&Trip::Overrun), "{:?}", d.trips());
    assert_eq!(d.offs()[0].after_s, Some(0.0));
    let again = d.offs().last().unwrap().at_s;
    assert!(again - at < 0.05 + 2.0 * TICK, "{:?}", d.offs());
}

/// A jump to nowhere is a hard fault; a stack outside of RAM is a fault inside it, and the core locks up.
#[test]
fn a_fault_of_the_program_turns_the_pins_off_before_the_reset() {
    for (register, value) in [
        (RegisterARM::PC, 0x6000_0001),
        (RegisterARM::SP, 0x1000_0000),
    ] {
        let mut d = Driven::excited();
        d.s.bench.machine.cpu.set_reg(register, value);
        let at = d.s.bench.seconds();
        assert_eq!(d.s.bench.run_for(1.0), Outcome::Time);
        let off = &d.offs()[0];
        let after = off.at_s - at;
        println!(
            "{register:?}: pins off after {:.1} µs, {:?}",
            1e6 * after,
            off.cause
        );
        assert!(after < 2.0 * TICK, "{off:?}");
        let reset = d.s.bench.machine.resets[0].0;
        assert!(off.at_s < to_secs(reset), "before the reset");
        assert!(!d.on() && d.offs().len() == 1);
    }
}

#[test]
fn a_stalled_motor_is_turned_off() {
    let mut d = Driven::configured(&config(), &bench());
    d.drive(Mode::Excite, sine(0.08, 1.0));
    d.run(0.5);
    let at = d.s.bench.seconds() + 0.0101;
    d.s.bench.schedule(at, Action::MotorStalls { hold_s: 5.0 });
    d.run(2.0);
    println!("stall: {:?} {:?}", d.trips(), d.offs());
    assert!(!d.on());
}
