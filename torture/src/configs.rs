//! Configurations of every shape to the device's own code: each is accepted and then in force, or refused with a reason.
//!
//! An accepted one is armed and swung; the host's view of the stream must stay whole.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::{Device, Identity};
use stribeck_core::model::sim::{Rng, Simulation};
use stribeck_core::wire::{Ask, ConfigOrigin, Decoder, Frame, MAX_FRAME};

use crate::frames::{below, command};
use crate::score::{Effort, Ending, Row};

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let plain = serde_json::to_value(Config::default())?;
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let (mut accepted, mut refused) = (0u64, 0u64);
    while effort.wants(row.inputs, 200, 1000) {
        let mut value = plain.clone();
        for _ in 0..1 + below(&mut rng, 3) {
            change(&mut rng, &mut value);
        }
        // What no configuration of this layout can be is refused on the host already.
        let Ok(config) = serde_json::from_value::<Config>(value.clone()) else {
            row.count(Ending::Good, String::new);
            refused += 1;
            continue;
        };
        let judged = catch_unwind(AssertUnwindSafe(|| tried(&config, rng.bits())));
        let ending = match judged {
            Err(_) => Ending::Panic,
            Ok(Verdict::Refused) => {
                refused += 1;
                Ending::Good
            }
            Ok(Verdict::InForce) => {
                accepted += 1;
                Ending::Good
            }
            Ok(Verdict::Wrong) => Ending::SilentlyWrong,
        };
        row.count(ending, || format!("configuration {value}"));
    }
    row.note =
        format!("configurations on the twin; {accepted} accepted and swung, {refused} refused");
    Ok(row)
}

enum Verdict {
    Refused,
    InForce,
    /// Accepted without being in force, in force without being accepted, no answer, or a damaged stream.
    Wrong,
}

fn tried(config: &Config, seed: u64) -> Verdict {
    let blob = Blob::seal(config);
    let mut device = Device::new(
        Identity::new("twin"),
        &Config::default(),
        ConfigOrigin::Default,
    );
    device.command(&command(
        7,
        Ask::SetConfig {
            store: false,
            config: blob,
        },
    ));
    let mut decoder: Decoder = Decoder::new();
    let mut frame = [0; MAX_FRAME];
    let (mut reply, mut hello, mut bad, mut next_seq) = (None, None, false, None::<u32>);
    let mut armed = false;
    for sample in Simulation::reference(0.0, seed).take(3000) {
        device.tick(sample.counts);
        while let n @ 1.. = device.next_frame(&mut frame) {
            decoder.feed(&frame[..n], |raw| match raw.map(|raw| raw.decode()) {
                Ok(Ok(Frame::Reply(r))) if r.id == 7 => reply = Some(r.refusal.is_none()),
                Ok(Ok(Frame::Hello(h))) => hello = Some(h),
                Ok(Ok(Frame::Block(b))) => {
                    bad |= next_seq.is_some_and(|seq| seq != b.seq);
                    next_seq = Some(b.seq + 1);
                }
                Ok(Ok(_)) => {}
                _ => bad = true,
            });
        }
        if reply.is_some() && !armed {
            armed = true;
            device.command(&command(8, Ask::Hello));
            device.command(&command(9, Ask::Start));
        }
    }
    let in_force = hello.is_some_and(|h| h.config().is_ok_and(|c| same(&c, config)));
    match (reply, in_force, bad) {
        (Some(true), true, false) => Verdict::InForce,
        // The default itself may come out of the changes: in force although nothing was put in force.
        (Some(false), found, false) if !found || same(config, &Config::default()) => {
            Verdict::Refused
        }
        _ => Verdict::Wrong,
    }
}

/// Bit for bit: NaN is equal to itself here.
fn same(a: &Config, b: &Config) -> bool {
    Blob::seal(a) == Blob::seal(b)
}

/// Change one leaf somewhere.
fn change(rng: &mut Rng, value: &mut Value) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let at = below(rng, map.len());
            if let Some(inner) = map.values_mut().nth(at) {
                change(rng, inner);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let at = below(rng, list.len());
            change(rng, &mut list[at]);
        }
        Value::Bool(b) => *b = !*b,
        Value::Number(n) => {
            *value = number(rng, n.as_f64().unwrap_or(0.0), n.is_u64() || n.is_i64())
        }
        other => *other = json!(null),
    }
}

fn number(rng: &mut Rng, x: f64, integer: bool) -> Value {
    let pick = below(rng, 8);
    if integer {
        let n = x as i64;
        return match pick {
            0 => json!(0),
            1 => json!(1),
            2 => json!(u16::MAX),
            3 => json!(u32::MAX),
            4 => json!(n * 10),
            5 => json!(n / 10),
            6 => json!(n + 1 + below(rng, 40) as i64),
            _ => json!(rng.bits() >> below(rng, 64)),
        };
    }
    match pick {
        0 => json!(0.0),
        1 => json!(-x),
        2 => json!(1e-30),
        3 => json!(3e38),
        4 => json!(x * 10.0),
        5 => json!(x / 10.0),
        6 => json!(x * (1.0 + 0.5 * rng.normal())),
        _ => json!(rng.normal() * 10f64.powf(rng.within(-8.0, 8.0))),
    }
}
