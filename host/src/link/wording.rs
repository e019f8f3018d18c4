//! What the device says, in words.

use stribeck_core::encoder::flag;
use stribeck_core::run::{Cause, Phase};
use stribeck_core::wire::{Event, ResetCause, What};

pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Armed => "armed",
        Phase::Swinging => "swinging",
        Phase::AtRest => "at rest",
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

/// One line per event, without its tick.
pub fn event(event: &Event) -> String {
    match event.what {
        What::Run {
            from,
            to,
            cause: why,
            initial,
        } => {
            let mut text = format!("{} → {} ({})", phase(from), phase(to), cause(why));
            if let Some(start) = initial {
                let [a, b] = start.q.map(f32::to_degrees);
                text += &format!(", started at {a:.2}°, {b:.2}°");
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
        What::Overrun { missed } => format!("overrun: {missed} ticks never happened"),
        What::EncoderFault { joint, flags } => {
            format!("encoder {joint}: {}", encoder_flags(flags))
        }
        What::UasRestart { total } => format!("UAS observer restarted ({total} times so far)"),
        What::EkfRestart { total } => format!("Kalman filter restarted ({total} times so far)"),
    }
}
