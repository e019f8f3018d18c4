//! From the estimate to what the motor does: a sibling of the observers, its state in digest and snapshot, so replay covers it.
//!
//! ```text
//! counts ─► observers(q, applied) ─► control.step(estimate) ─► Duty ─► bridge, and the observers at the next tick
//! ```
//!
//! A duty decided at tick n is applied from tick n+1 to n+2; the observers are told the *quantised* one. Control acts on the estimate for
//! tick n+1, which is what the EKF holds after its step, so the delay costs no phase.
//!
//! | mode | torque | file |
//! |---|---|---|
//! | off | none: the bridge is off, the motor coasts | – |
//! | excite | the signal, for identification | `signal.rs` |
//! | track | feedback on the reference, model and identified friction fed forward | `track.rs` |
//! | balance | linear-quadratic regulator about an equilibrium | `balance.rs` |
//! | plan | Σ basis·weights of the plans it is sent | `plan.rs` |
//!
//! A change of mode is bumpless: the difference to the torque before decays within [`BLEND_S`]. Every doubt turns the motor off, with a
//! counted cause ([`Trip`], `limits.rs`). A rig without a drive section has no control at all.
//!
//! Inputs: [`Input`], in SI units. Output: a [`Duty`] within ±[`limits::Limits::duty`], zero unless driving. No panic path, no f64 in the tick.

pub mod balance;
pub mod limits;
pub mod plan;
pub mod predict;
pub mod sight;
pub mod signal;
pub mod track;

use serde::{Deserialize, Serialize};

use crate::JOINTS;
use crate::model::motor::{Applied, Bridge, Duty, Motor};
use crate::model::plant::{AnyPlant, PlantConfig};
use crate::number::range::{OutOfRange, check};
use crate::number::words::Intermediate;
pub use crate::wire::{Drive, Driven, Mode, Plan, Shape, Signal, Trip};
use balance::Regulator;
use sight::Sight;
use track::Known;

/// Time constant of the blend between two modes \[s\].
pub const BLEND_S: f32 = 0.005;
/// A reference that does not begin where the joint is approaches with this time constant \[s\].
const APPROACH_S: f32 = 0.3;
/// The identified friction is read again after so many ticks.
const FRICTION_TICKS: u16 = 100;
/// A joint that has moved less than this is stalled \[rad\].
const STALL_TRAVEL: f32 = 0.005;

/// The drive of a rig.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Config {
    pub motor: Motor,
    pub limits: limits::Limits,
    pub track: track::Config,
    pub balance: balance::Config,
    pub plan: plan::Config,
}

impl Config {
    /// The first field outside its allowed range, if any.
    pub fn validate(&self, plant: &PlantConfig) -> Result<(), OutOfRange> {
        let places = plant.actuator().iter().filter(|a| **a != 0.0).count();
        check(
            "drive.motor (joints the plant lets it drive)",
            places as f32,
            1.0,
            1.0,
        )?;
        self.motor.validate(plant)?;
        self.limits.validate()?;
        self.track.validate()?;
        self.balance.validate()?;
        self.plan.validate()?;
        let gain = Regulator::new(&plant.with_rotor(self.motor.reflected()), &self.balance).gain;
        let largest = gain.iter().fold(0.0f32, |a, k| {
            if k.is_finite() {
                a.max(k.abs())
            } else {
                f32::INFINITY
            }
        });
        check("drive.balance (largest gain)", largest, 0.0, 1e6)
    }
}

/// [`Config`] built: constants computed once, in thread mode.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    plant: AnyPlant<f32>,
    bridge: Bridge<f32>,
    limits: limits::Limits,
    track: track::Config,
    regulator: Regulator,
    plan: plan::Config,
    sight: Sight,
    joint: usize,
    dt: f32,
    blend: f32,
    approach: f32,
    /// Largest |duty| \[steps\].
    most: f32,
    plan_ticks: u32,
    stall_ticks: u32,
    pub heartbeat_ticks: u32,
    pub missed: u32,
}

/// Everything control remembers.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub mode: Mode,
    /// What is applied from the next tick on \[steps\].
    duty: i32,
    /// Torque of the last tick, and what is left of a jump \[N·m\].
    torque: f32,
    jump: f32,
    /// The mode has just changed.
    fresh: bool,
    /// Distance of the joint from its reference when it began, decaying.
    shift: f32,
    reference: f32,
    saturated: bool,
    known: Known,
    known_age: u16,
    /// Where the driven joint was when the motor began to push, and for how many ticks.
    stall_from: f32,
    stall: u32,
    /// Restarts and resumes of the observers when driving began.
    losses: u32,
    /// Upper end of the identified Coulomb friction \[m\]; 0: not identified.
    coulomb: sight::Coulomb,
    seen: [sight::Joint; JOINTS],
    pub trips: u32,
    pub last: Trip,
    pub saturated_ticks: u32,
    pub plan: plan::State,
    drive: Intermediate<Drive>,
    signal: Intermediate<signal::State>,
}
crate::impl_words!(State {
    mode,
    duty,
    torque,
    jump,
    fresh,
    shift,
    reference,
    saturated,
    known,
    known_age,
    stall_from,
    stall,
    losses,
    coulomb,
    seen,
    trips,
    last,
    saturated_ticks,
    plan,
    drive,
    signal
});
crate::impl_words!(Known { coulomb, viscous });

/// What control knows at a tick.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub tick: u64,
    /// Measured angles \[rad\].
    pub measured: [f32; JOINTS],
    /// Estimated angles \[rad\] and speeds \[rad/s\] at the next tick: of the rig, and as the encoders will show them.
    pub q: [f32; JOINTS],
    pub shown: [f32; JOINTS],
    pub w: [f32; JOINTS],
    /// Fault flags of both encoders.
    pub flags: u8,
    /// Times the observers have lost the motion, since reset.
    pub losses: u32,
}

impl Default for State {
    fn default() -> Self {
        Self::OFF
    }
}

impl State {
    pub const OFF: Self = State {
        mode: Mode::Off,
        duty: 0,
        torque: 0.0,
        jump: 0.0,
        fresh: false,
        shift: 0.0,
        reference: 0.0,
        saturated: false,
        known: Known {
            coulomb: 0.0,
            viscous: 0.0,
        },
        known_age: 0,
        stall_from: 0.0,
        stall: 0,
        losses: 0,
        coulomb: [0.0; JOINTS],
        seen: [sight::Joint::NEW; JOINTS],
        trips: 0,
        last: Trip::None,
        saturated_ticks: 0,
        plan: plan::State::NONE,
        drive: Intermediate(Drive {
            mode: Mode::Off,
            signal: Signal {
                shape: Shape::Constant,
                offset: 0.0,
                amplitude: 0.0,
                low_hz: 0.0,
                high_hz: 0.0,
                seconds: 0.0,
                seed: 0,
            },
        }),
        signal: Intermediate(signal::State::NONE),
    };

    /// The duty from the next tick on; `None`: the bridge is off.
    #[inline(always)]
    pub fn output(&self) -> Option<Duty> {
        (self.mode != Mode::Off).then_some(Duty(self.duty as i16))
    }

    /// The command in force.
    pub fn command(&self) -> Drive {
        self.drive.0
    }

    /// The bridge off; counters stay.
    pub fn off(&mut self) {
        self.mode = Mode::Off;
        self.duty = 0;
        self.torque = 0.0;
        self.jump = 0.0;
        self.fresh = false;
        self.saturated = false;
        self.stall = 0;
        self.coulomb = [0.0; JOINTS];
        self.seen = [sight::Joint::NEW; JOINTS];
        self.plan.forget();
    }
}

/// `x` within ±`most`; unlike `clamp` without a way to panic.
#[inline(always)]
fn within(x: f32, most: f32) -> f32 {
    if x > most {
        most
    } else if x < -most {
        -most
    } else {
        x
    }
}

impl Control {
    /// Of a validated configuration at ticks of `tick_hz`, with encoder counts of `count` \[rad\]. The plant is that of the file,
    /// without rotor.
    pub fn new(config: &Config, plant: &PlantConfig, tick_hz: u32, count: [f32; JOINTS]) -> Self {
        let dt = 1.0 / tick_hz as f32;
        let ticks = |ms: u16| (u32::from(ms) * tick_hz / 1000).max(1);
        let never = |ms: u16| if ms == 0 { u32::MAX } else { ticks(ms) };
        let whole = plant.with_rotor(config.motor.reflected());
        let joint = track::driven_joint(plant.actuator());
        Control {
            plant: whole.build(),
            bridge: Bridge::new(&config.motor, plant),
            limits: config.limits,
            track: config.track,
            regulator: Regulator::new(&whole, &config.balance),
            plan: config.plan,
            sight: Sight::new(config.motor.torque_limit, joint, count, dt),
            joint,
            dt,
            blend: 1.0 - dt / BLEND_S,
            approach: 1.0 - dt / APPROACH_S,
            most: config.limits.duty * Duty::FULL as f32,
            plan_ticks: ticks(config.plan.hold_ms),
            stall_ticks: never(config.limits.stall_ms),
            heartbeat_ticks: never(config.limits.heartbeat_ms),
            missed: u32::from(config.limits.missed),
        }
    }

    pub fn bridge(&self) -> &Bridge<f32> {
        &self.bridge
    }

    /// What acts on the rig from this tick to the next.
    #[inline(always)]
    pub fn applied(&self, s: &State) -> Applied<f32> {
        match s.output() {
            Some(duty) => self.bridge.apply(duty),
            None => Applied::NONE,
        }
    }

    /// Arm in a mode, or change it; `losses` as in [`Input`].
    pub fn order(&self, s: &mut State, drive: &Drive, losses: u32) {
        if drive.mode == Mode::Off {
            s.off();
            return;
        }
        if s.mode == Mode::Off {
            s.off();
            s.losses = losses;
            s.known_age = FRICTION_TICKS;
        }
        s.mode = drive.mode;
        s.fresh = true;
        s.stall = 0;
        s.drive = Intermediate(*drive);
        s.signal = Intermediate(signal::State::start(&drive.signal, self.dt));
    }

    /// Whether a signal can be played: finite, and below half the tick rate.
    pub fn accepts(&self, drive: &Drive) -> bool {
        let s = &drive.signal;
        let most = 0.1 / self.dt;
        let level = s.offset.abs() + s.amplitude.abs();
        let timed = !matches!(s.shape, Shape::Chirp | Shape::Steps) || s.seconds >= self.dt;
        let paced = (0.0..=most).contains(&s.low_hz) && (0.0..=most).contains(&s.high_hz);
        level.is_finite() && paced && timed && s.seconds.is_finite()
    }

    /// The identified friction is due.
    #[inline(always)]
    pub fn wants_friction(&self, s: &State) -> bool {
        s.known_age >= FRICTION_TICKS
    }

    /// The friction of both joints with its σ, in the order of the EKF's estimate.
    #[inline(never)]
    pub fn learn(&self, s: &mut State, p: &[f32; 6], sigma: &[f32; 6]) {
        let i = 3 * self.joint.min(1);
        s.known = Known::new([p[i], p[i + 1]], [sigma[i], sigma[i + 1]]);
        s.known_age = 0;
        for j in 0..JOINTS {
            let (value, sigma) = (p[3 * j], sigma[3 * j]);
            // Known to within its own size; a joint that has not moved yet has none.
            s.coulomb[j] = if sigma > 0.0 && sigma < value {
                value + 2.0 * sigma
            } else {
                0.0
            };
        }
    }

    /// One tick; the cause if control turned the motor off.
    #[inline(never)]
    pub fn step(&self, s: &mut State, input: &Input) -> Option<Trip> {
        if s.mode == Mode::Off {
            return None;
        }
        let trip = self.doubt(s, input);
        let torque = if trip.is_none() {
            self.torque(s, input)
        } else {
            Err(Trip::None)
        };
        match (trip, torque) {
            (None, Ok(torque)) => {
                self.drive(s, torque, input.w);
                None
            }
            (Some(trip), _) | (None, Err(trip)) => {
                s.off();
                s.trips = s.trips.wrapping_add(1);
                s.last = trip;
                Some(trip)
            }
        }
    }

    #[inline(always)]
    fn doubt(&self, s: &mut State, input: &Input) -> Option<Trip> {
        if let Some(trip) = self.limits.left_by(input.measured, input.w) {
            return Some(trip);
        }
        if !(input.q[0] + input.q[1]).is_finite() {
            return Some(Trip::NotFinite);
        }
        if input.flags != 0 {
            return Some(Trip::Encoder);
        }
        if input.losses != s.losses {
            return Some(Trip::Lost);
        }
        if self.sight.see(&mut s.seen, input.measured, input.w) {
            let tau = self.applied(s).at(input.w);
            let (q, w) = (input.q, input.w);
            if self
                .sight
                .blind(&mut s.seen, &self.plant, q, w, tau, &s.coulomb)
            {
                return Some(Trip::Encoder);
            }
        }
        let at = input.measured[self.joint.min(1)];
        let still = (at - s.stall_from).abs() < STALL_TRAVEL;
        if still && s.torque.abs() > 0.5 * self.bridge.limit() {
            s.stall += 1;
            if s.stall >= self.stall_ticks {
                return Some(Trip::Stalled);
            }
        } else {
            s.stall = 0;
            s.stall_from = at;
        }
        None
    }

    /// The torque the mode asks for \[N·m\].
    #[inline(always)]
    fn torque(&self, s: &mut State, input: &Input) -> Result<f32, Trip> {
        s.known_age = s.known_age.saturating_add(1);
        let j = self.joint.min(1);
        let torque = match s.mode {
            Mode::Off => 0.0,
            Mode::Excite => {
                let course = s.signal.0.step(&s.drive.0.signal, self.dt);
                s.reference = 0.0;
                course.value
            }
            Mode::Track => {
                let mut course = s.signal.0.step(&s.drive.0.signal, self.dt);
                if s.fresh {
                    s.shift = input.shown[j] - course.value;
                }
                s.shift *= self.approach;
                course.value += s.shift;
                s.reference = course.value;
                // The reference is one of the encoder's angle, whatever its zero is estimated to be.
                course.value += input.q[j] - input.shown[j];
                track::torque(
                    &self.track,
                    &self.plant,
                    j,
                    input.q,
                    input.w,
                    &course,
                    &s.known,
                )
            }
            Mode::Balance => {
                let r = &self.regulator;
                let other = 1 - j;
                if (input.q[other] - r.at[other]).abs() > r.window {
                    return Err(Trip::Angle);
                }
                s.reference = r.at[j];
                r.torque(input.q, input.w)
            }
            Mode::Plan => {
                s.reference = 0.0;
                let part = s
                    .plan
                    .play(&self.plan, input.tick, self.dt, self.plan_ticks);
                part.ok_or(Trip::StalePlan)? * self.bridge.limit()
            }
        };
        if !torque.is_finite() {
            return Err(Trip::NotFinite);
        }
        if s.fresh {
            s.fresh = false;
            s.jump = s.torque - within(torque, self.bridge.limit());
        }
        s.jump *= self.blend;
        Ok(torque + s.jump)
    }

    /// Saturate, quantise, remember.
    #[inline(always)]
    fn drive(&self, s: &mut State, wanted: f32, w: [f32; JOINTS]) {
        let limit = self.bridge.limit();
        let torque = within(wanted, limit);
        let steps = self.bridge.steps(torque, w);
        let limited = within(steps, self.most);
        s.saturated = torque != wanted || limited != steps;
        s.saturated_ticks = s.saturated_ticks.wrapping_add(u32::from(s.saturated));
        s.torque = torque;
        // Toward zero: never beyond the limit.
        s.duty = limited as i32;
    }

    /// For a parameter record.
    #[inline(always)]
    pub fn record(&self, s: &State, w: [f32; JOINTS]) -> Driven {
        let [a, b] = self.applied(s).at(w);
        Driven {
            mode: s.mode,
            saturated: s.saturated,
            duty: s.duty as i16,
            u: if self.joint == 0 { a } else { b },
            reference: s.reference,
        }
    }
}
