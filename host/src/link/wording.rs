//! What the device says, in words.

use stribeck_core::device::run::{Cause, Phase};
use stribeck_core::observer::encoder::flag;
use stribeck_core::wire::{ConfigOrigin, Event, Hello, Mode, ResetCause, Trip, What};

use crate::config::axes::Axes;

/// The joints of the device that says it; two that turn if its configuration cannot be read.
pub fn axes(hello: &Hello) -> Axes {
    hello
        .config()
        .map_or_else(|_| Axes::default(), |c| Axes::of(&c.plant))
}

pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Armed => "armed",
        Phase::Swinging => "swinging",
        Phase::AtRest => "at rest",
        Phase::Driving => "driving",
    }
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Device => "by itself",
        Cause::Host => "ordered by the host",
        Cause::Button => "button",
        Cause::Motion => "the links moved",
        Cause::Rest => "the links stopped",
    }
}

pub fn reset_cause(cause: ResetCause) -> &'static str {
    match cause {
        ResetCause::Unknown => "unknown",
        ResetCause::PowerOn => "power on",
        ResetCause::Pin => "reset pin",
        ResetCause::BrownOut => "supply dipped",
        ResetCause::Software => "reset command",
        ResetCause::Watchdog => "watchdog",
        ResetCause::Fault => "panic or hard fault",
    }
}

pub fn config_origin(origin: ConfigOrigin) -> &'static str {
    match origin {
        ConfigOrigin::Default => "defaults of the firmware",
        ConfigOrigin::Stored => "stored on the device",
        ConfigOrigin::Host => "sent by the host",
        ConfigOrigin::StoredWasBad => "defaults: the stored one was damaged",
    }
}

/// Why a device started, and what its previous program left behind.
pub fn reset(hello: &Hello) -> String {
    let cause = reset_cause(hello.reset_cause);
    match hello.last_fault.is_empty() {
        true => cause.into(),
        false => format!("{cause} ({})", printable(&hello.last_fault)),
    }
}

/// Text from a device or a log for a terminal: control characters are shown, never executed.
pub fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c.is_control() {
            true => c.escape_default().collect::<Vec<_>>(),
            false => vec![c],
        })
        .collect()
}

/// Encoder fault flags by name.
pub fn encoder_flags(flags: u8) -> String {
    let names = [
        (flag::JUMP, "impossible jump"),
        (flag::ACCELERATION, "impossible acceleration"),
        (flag::REVERSED, "reversed"),
        (flag::STUCK, "stuck"),
    ];
    let set = names.iter().filter(|(bit, _)| flags & bit != 0);
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// What control does with the motor.
pub fn drive_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off",
        Mode::Excite => "excite",
        Mode::Track => "track",
        Mode::Balance => "balance",
        Mode::Plan => "plan",
    }
}

/// One line per event, without its tick; coordinates in the units of the plant's joints.
pub fn event(event: &Event, axes: &Axes) -> String {
    match event.what {
        What::Run {
            from,
            to,
            cause: why,
            initial,
        } => {
            let mut text = format!("{} → {} ({})", phase(from), phase(to), cause(why));
            if let Some(start) = initial {
                let places: Vec<String> = start
                    .q
                    .iter()
                    .enumerate()
                    .map(|(j, q)| axes.place(j, f64::from(*q)))
                    .collect();
                text += &format!(", started at {}", places.join(", "));
            }
            text
        }
        What::Zeroed { cause: why, zero } => {
            format!(
                "zero set at counts {}, {} ({})",
                zero[0],
                zero[1],
                cause(why)
            )
        }
        What::Configured => "new configuration in force".into(),
        What::Overloaded { cycles, limit } => {
            format!("overload: ticks took {cycles} cycles, limit {limit}; the run was stopped")
        }
        What::Overrun { missed } => format!("overrun: {missed} ticks never happened"),
        What::EncoderFault { joint, flags } => {
            format!("encoder {joint}: {}", encoder_flags(flags))
        }
        What::Drive { mode, trip } => match trip {
            Trip::None => format!("the motor is armed: {}", drive_mode(mode)),
            trip => format!("the motor was turned off: {}", trip.text()),
        },
        What::UasRestart { total } => format!("UAS observer restarted ({total} times so far)"),
        What::EkfRestart { total } => format!("Kalman filter restarted ({total} times so far)"),
    }
}
