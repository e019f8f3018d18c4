//! What the host may ask of the motor, and what the device says about it.

use serde::{Deserialize, Serialize};

use crate::number::numbered::numbered;
use crate::number::words::{Path, Put, Words};

/// Weights of a plan.
pub const WEIGHTS: usize = 16;

numbered! {
    /// What control does with the motor. New variants only at the end.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Mode {
        /// The bridge is off.
        #[default]
        Off,
        /// The signal is the torque \[N·m\]: excitation for identification.
        Excite,
        /// The driven joint follows the signal \[rad\].
        Track,
        /// Both joints are held at the configured place.
        Balance,
        /// Plays the plans it is sent.
        Plan,
    }
}

numbered! {
    /// Course of a signal. New variants only at the end.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Shape {
        /// Offset alone.
        #[default]
        Constant,
        /// Offset + amplitude·sin, at `low_hz`.
        Sine,
        /// The same with a frequency that goes from `low_hz` to `high_hz` within `seconds`, and again.
        Chirp,
        /// Eight sines from `low_hz` to `high_hz` with the phases of `seed`, together of the same power as one sine.
        Multisine,
        /// Offset ± amplitude, at `low_hz`.
        Steps,
    }
}

numbered! {
    /// Why control turned the motor off by itself. New variants only at the end.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Trip {
        /// It did not.
        #[default]
        None,
        /// A joint left its range.
        Angle,
        /// A joint was too fast.
        Speed,
        /// An encoder showed what no joint can do, or stood still while its joint must have moved.
        Encoder,
        /// A number was not finite.
        NotFinite,
        /// The estimate was lost: the counts do not follow from the model and the torque.
        Lost,
        /// The motor pushed and nothing moved.
        Stalled,
        /// The last plan was too old.
        StalePlan,
        /// The host was silent for too long.
        Heartbeat,
        /// The bridge reported a fault, or a limit switch opened: the hardware had already turned it off.
        Bridge,
        /// Ticks were missed, or took too long.
        Overrun,
        /// The user button.
        Button,
    }
}

impl Trip {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Trip::None => "none",
            Trip::Angle => "a joint left its range",
            Trip::Speed => "a joint was too fast",
            Trip::Encoder => {
                "an encoder fault: no joint can do what it shows, or stand where it stands"
            }
            Trip::NotFinite => "a number was not finite",
            Trip::Lost => {
                "the estimate was lost (encoder, rig file or motor are not as configured)"
            }
            Trip::Stalled => "the motor pushed and nothing moved",
            Trip::StalePlan => "no new plan in time",
            Trip::Heartbeat => "no heartbeat from the host",
            Trip::Bridge => "the bridge's fault line or a limit switch",
            Trip::Overrun => "missed or overlong ticks",
            Trip::Button => "the user button",
        }
    }
}

macro_rules! numbered_words {
    ($($t:ident)+) => {$(
        impl Words for $t {
            #[inline(always)]
            fn save(&self, put: &mut impl Put) {
                put.word(*self as u32);
            }
            #[inline(always)]
            fn load(get: &mut impl FnMut() -> u32) -> Self {
                $t::from_number(get()).unwrap_or_default()
            }
            fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
                visit(path);
            }
        }
    )+};
}
numbered_words!(Mode Shape Trip);

/// A reference \[rad\] or a torque \[N·m\] over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    pub shape: Shape,
    pub offset: f32,
    pub amplitude: f32,
    pub low_hz: f32,
    pub high_hz: f32,
    pub seconds: f32,
    pub seed: u32,
}
crate::impl_words!(Signal {
    shape,
    offset,
    amplitude,
    low_hz,
    high_hz,
    seconds,
    seed
});

/// Arm the motor in this mode, or change the mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    pub mode: Mode,
    pub signal: Signal,
}
crate::impl_words!(Drive { mode, signal });

/// u(τ) = limit·tanh(Σ basis·weights) from a tick on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub from_tick: u64,
    pub weights: [f32; WEIGHTS],
}
crate::impl_words!(Plan { from_tick, weights });

/// The drive in a parameter record: what is applied from this tick to the next but one is decided here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Driven {
    pub mode: Mode,
    /// The torque asked for exceeded the motor's or the bridge's limit.
    pub saturated: bool,
    /// Steps of `model::motor::Duty`.
    pub duty: i16,
    /// Torque that this duty gives at the estimated speed \[N·m\].
    pub u: f32,
    /// Reference of the driven joint \[rad\]; 0 where there is none.
    pub reference: f32,
}

/// The drive in a Status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveHealth {
    pub mode: Mode,
    /// Times the motor was turned off by the device itself, since reset, and why last.
    pub trips: u32,
    pub last: Trip,
    /// Ticks in which the torque asked for was more than allowed.
    pub saturated: u32,
    /// Plans that came too late.
    pub late_plans: u32,
}
