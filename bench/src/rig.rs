//! The test rig: a simulated pendulum, its two encoders, and what can go wrong between them and the chip.
//!
//! The plant is the one of stribeck-core in f64 with its own step of 20 µs (a fifth of the firmware's). The count is that of
//! the exact time of the register read: the last step plus ω·Δt. Counts are ⌊(q − rest)·N⌋ + faults, N per revolution or per metre, in
//! quadrature edges (x4); rest is where the plant hangs at power-on.

use stribeck_core::JOINTS;
use stribeck_core::model::friction::Friction;
use stribeck_core::model::plant::{AnyPlant, driven};
use stribeck_core::model::rk4;

use crate::motor::{Levels, Motor};
use crate::rng::Rng;
use crate::scenario::{Channel, DriveSetup, PlantSetup};
use crate::time::{Time, US, from_secs, to_secs};

const STEP: Time = 20 * US;

/// How an encoder is connected at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// +1: as wired; −1: channels swapped.
    Whole(i64),
    /// Both channels dead: no edges.
    Dead,
    /// One channel dead: the other one's edges count up and down in turn.
    Half(Channel),
}

/// One encoder: true edges in, edges at the chip's pins out.
#[derive(Clone, Copy, Debug)]
struct Encoder {
    /// Edges per revolution or per metre, and what that is [rad or m].
    counts: f64,
    unit: f64,
    /// Coordinate at power-on [rad or m].
    rest: f64,
    link: Link,
    /// True edges and edges at the pins when `link` was last changed.
    anchor: (i64, i64),
    last_true: i64,
}

impl Encoder {
    fn at_pins(&self) -> i64 {
        let (then, out) = self.anchor;
        out + match self.link {
            Link::Whole(sign) => sign * (self.last_true - then),
            Link::Dead => 0,
            Link::Half(dead) => level(dead, self.last_true) - level(dead, then),
        }
    }

    fn relink(&mut self, link: Link) {
        self.anchor = (self.last_true, self.at_pins());
        self.link = link;
    }
}

/// Level of the channel that still works when `dead` does not, at edge number `edge`.
fn level(dead: Channel, edge: i64) -> i64 {
    let phase = edge.rem_euclid(4);
    let high = match dead {
        Channel::A => (1..3).contains(&phase),
        Channel::B | Channel::Both => (2..4).contains(&phase),
    };
    i64::from(high)
}

pub struct Rig {
    plant: AnyPlant<f64>,
    friction: [Friction<f64>; JOINTS],
    /// (q0, q1, ω0, ω1) at `time`.
    y: [f64; 4],
    /// Where it hangs.
    rest: [f64; JOINTS],
    time: Time,
    /// The operator's hand: (start of lift, end of lift, angles), then held until `release_at`.
    lift: (Time, Time, [f64; JOINTS]),
    release_at: Time,
    encoders: [Encoder; JOINTS],
    /// Bridge and motor, if there are any.
    motor: Option<Motor>,
    /// The driven joint is blocked until then.
    blocked_until: Time,
    /// Noise of the counts [counts RMS], and where it comes from.
    noise: f64,
    rng: Rng,
}

impl Rig {
    pub fn new(setup: &PlantSetup, drive: Option<&DriveSetup>) -> Self {
        let (joints, rest) = (
            setup.geometry.joints(),
            setup.geometry.rest().map(f64::from),
        );
        let encoder = |j: usize| Encoder {
            counts: f64::from(setup.counts_per_turn[j]),
            unit: joints[j].scale(),
            rest: rest[j],
            link: Link::Whole(1),
            anchor: (0, 0),
            last_true: 0,
        };
        let rotor = drive.map_or(0.0, |d| d.motor.reflected());
        let actuator = setup.geometry.actuator().map(f64::from);
        let mut rig = Rig {
            plant: setup.geometry.with_rotor(rotor).build(),
            friction: setup.friction.map(|f| f.0),
            y: [rest[0], rest[1], 0.0, 0.0],
            rest,
            time: 0,
            lift: (
                from_secs(setup.lift_s[0]),
                from_secs(setup.lift_s[1]),
                setup.angles,
            ),
            release_at: from_secs(setup.release_s),
            encoders: std::array::from_fn(encoder),
            motor: drive.map(|d| Motor::new(&d.motor, d.inductance, actuator)),
            blocked_until: 0,
            noise: setup.noise_counts,
            rng: Rng::new(setup.noise_seed),
        };
        rig.look(0);
        rig
    }

    fn advance(&mut self, now: Time) {
        if now < self.release_at {
            let (start, end, angles) = self.lift;
            if now >= start && self.time < end {
                // A smooth hand: s(x) = 3x² − 2x³.
                let x = (to_secs(now - start) / to_secs(end - start)).min(1.0);
                let s = x * x * (3.0 - 2.0 * x);
                let [r0, r1] = self.rest;
                let to = |from: f64, to: f64| from + (to - from) * s;
                self.y = [to(r0, angles[0]), to(r1, angles[1]), 0.0, 0.0];
            }
            self.time = now;
            return;
        }
        if self.time < self.lift.1 {
            self.y = [self.lift.2[0], self.lift.2[1], 0.0, 0.0];
        }
        self.time = self.time.max(self.release_at);
        while self.time + STEP <= now {
            self.step();
            self.time += STEP;
        }
    }

    /// One step; the motor's current is constant during it.
    fn step(&mut self) {
        let dt = to_secs(STEP);
        let (plant, friction) = (&self.plant, &self.friction);
        let Some(motor) = &mut self.motor else {
            self.y = rk4::step(&self.y, dt, |y| driven(plant, friction, y, [0.0; JOINTS]));
            return;
        };
        let tau = motor.step(dt, [self.y[2], self.y[3]]);
        if self.time >= self.blocked_until {
            self.y = rk4::step(&self.y, dt, |y| driven(plant, friction, y, tau));
            return;
        }
        // A blocked joint: the force that leaves it no acceleration (which is linear in the force).
        let j = motor.joint();
        self.y[2 + j] = 0.0;
        self.y = rk4::step(&self.y, dt, |y| {
            let free = driven(plant, friction, y, tau);
            let mut more = tau;
            more[j] += 1.0;
            let pushed = driven(plant, friction, y, more);
            let hold = -free[2 + j] / (pushed[2 + j] - free[2 + j]);
            std::array::from_fn(|i| free[i] + hold * (pushed[i] - free[i]))
        });
    }

    pub fn motor(&self) -> Option<&Motor> {
        self.motor.as_ref()
    }

    /// The bridge or its supply changes at `now`.
    pub fn change_motor(&mut self, now: Time, change: impl FnOnce(&mut Motor)) {
        self.advance(now);
        if let Some(motor) = &mut self.motor {
            change(motor);
        }
    }

    /// New levels at the bridge's inputs.
    pub fn drive(&mut self, levels: Levels, now: Time) {
        self.change_motor(now, |motor| motor.levels = levels);
    }

    /// Blocks the driven joint where it is.
    pub fn block(&mut self, now: Time, until: Time) {
        self.advance(now);
        self.blocked_until = until;
    }

    fn look(&mut self, now: Time) {
        self.advance(now);
        let [q0, q1, w0, w1] = self.y;
        let dt = to_secs(now.saturating_sub(self.time));
        for (e, q) in self.encoders.iter_mut().zip([q0 + w0 * dt, q1 + w1 * dt]) {
            e.last_true = ((q - e.rest) / e.unit * e.counts).floor() as i64;
        }
    }

    /// Edges at the pins of joint `joint` at `now`.
    pub fn edges(&mut self, joint: usize, now: Time) -> i64 {
        self.look(now);
        let edges = self.encoders[joint].at_pins();
        if self.noise > 0.0 && !matches!(self.encoders[joint].link, Link::Dead) {
            return edges + (self.noise * self.rng.normal()).round() as i64;
        }
        edges
    }

    /// True angles [rad] and velocities [rad/s] at the last step.
    pub fn state(&self) -> [f64; 4] {
        self.y
    }

    /// Holds the pendulum at its present angles until `until`.
    pub fn hold(&mut self, now: Time, until: Time) {
        self.advance(now);
        self.y[2] = 0.0;
        self.y[3] = 0.0;
        self.lift.1 = 0;
        self.release_at = until;
    }

    /// Adds `delta` [rad/s] to a velocity: a push.
    pub fn push(&mut self, joint: usize, delta: f64, now: Time) {
        self.advance(now);
        self.y[2 + joint] += delta;
    }

    /// Shifts a count for good: lost or extra edges.
    pub fn slip(&mut self, joint: usize, edges: i64) {
        self.encoders[joint].anchor.1 += edges;
    }

    pub fn swap_channels(&mut self, joint: usize, now: Time) {
        self.look(now);
        let sign = if self.encoders[joint].link == Link::Whole(-1) {
            1
        } else {
            -1
        };
        self.encoders[joint].relink(Link::Whole(sign));
    }

    pub fn cut(&mut self, joint: usize, channel: Channel, now: Time) {
        self.look(now);
        let link = match channel {
            Channel::Both => Link::Dead,
            one => Link::Half(one),
        };
        self.encoders[joint].relink(link);
    }

    pub fn reconnect(&mut self, joint: usize, now: Time) {
        self.look(now);
        self.encoders[joint].relink(Link::Whole(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{MS, SECOND};

    fn rig() -> Rig {
        let setup = PlantSetup {
            lift_s: [0.02, 0.05],
            release_s: 0.1,
            ..PlantSetup::default()
        };
        Rig::new(&setup, None)
    }

    #[test]
    fn held_until_release_then_falls() {
        let mut r = rig();
        assert_eq!(r.edges(1, 10 * MS), 0, "power-on: hanging");
        let top = 13_333;
        assert_eq!(r.edges(1, 60 * MS), top, "lifted to 120 degrees");
        assert_eq!(r.edges(1, 100 * MS - 1), top);
        assert!(r.edges(1, 300 * MS) < top - 1000);
    }

    #[test]
    fn reading_between_steps_uses_the_exact_time() {
        let (mut a, mut b) = (rig(), rig());
        for t in 0..4000 {
            a.edges(1, 300 * MS + t * US);
        }
        let fine = a.edges(1, 304 * MS);
        assert_eq!(
            b.edges(1, 304 * MS),
            fine,
            "how often it is read does not matter"
        );
        let speed = a.state()[3] / std::f64::consts::TAU * 40_000.0;
        let moved = a.edges(1, 304 * MS + 15 * US) - fine;
        assert!((moved as f64 - speed * 15e-6).abs() <= 1.0);
    }

    #[test]
    fn friction_brings_it_to_rest() {
        let mut r = rig();
        r.edges(0, 60 * SECOND);
        assert!(
            r.state()[2].abs() < 0.05 && r.state()[3].abs() < 0.05,
            "{:?}",
            r.state()
        );
    }

    #[test]
    fn a_blocked_arm_stands_and_its_pendulum_swings_on() {
        let setup = PlantSetup {
            lift_s: [0.02, 0.05],
            release_s: 0.1,
            ..PlantSetup::default()
        };
        let mut r = Rig::new(&setup, Some(&DriveSetup::default()));
        r.edges(0, 300 * MS);
        let arm = r.state()[0];
        r.block(300 * MS, 500 * MS);
        r.drive(
            Levels {
                high: [1.0, 0.8],
                enable: true,
            },
            300 * MS,
        );
        let pendulum = r.edges(1, 320 * MS);
        assert!((r.edges(1, 499 * MS) - pendulum).abs() > 500);
        assert_eq!(r.state()[0], arm);
        r.edges(0, 700 * MS);
        assert!(
            (r.state()[0] - arm).abs() > 0.1,
            "pushed when it is free again"
        );
    }

    #[test]
    fn swapped_channels_count_backwards_from_there() {
        let (mut good, mut bad) = (rig(), rig());
        let at = 300 * MS;
        let before = bad.edges(1, at);
        bad.swap_channels(1, at);
        let (g, b) = (good.edges(1, 350 * MS), bad.edges(1, 350 * MS));
        assert_eq!(b - before, -(g - before));
    }

    #[test]
    fn a_cut_cable_freezes_and_a_cut_wire_dithers() {
        let mut r = rig();
        let before = r.edges(1, 300 * MS);
        r.cut(1, Channel::Both, 300 * MS);
        assert_eq!(r.edges(1, 350 * MS), before);
        r.cut(1, Channel::A, 350 * MS);
        let seen: std::collections::BTreeSet<i64> = (0..500)
            .map(|k| r.edges(1, 350 * MS + k * 100 * US) - before)
            .collect();
        assert_eq!(seen.len(), 2, "{seen:?}");
        r.reconnect(1, 400 * MS);
        r.slip(1, -7);
        assert_ne!(r.edges(1, 500 * MS), before);
    }
}
