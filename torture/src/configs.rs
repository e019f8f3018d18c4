//! Configurations of every shape to the device's own code: each is accepted and then in force, or refused with a reason.
//!
//! An accepted one is armed and swung, or driven by orders in any sequence; the host's view of the stream must stay whole,
//! and whatever came before, the motor is off after a Stop and after the silence its configuration allows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use stribeck_core::control;
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Device, Identity};
use stribeck_core::model::plant::PlantConfig;
use stribeck_core::model::sim::{Rng, Simulation};
use stribeck_core::wire::{
    Ask, ConfigOrigin, Decoder, Drive, Frame, MAX_FRAME, Mode, Plan, Shape, Signal,
};

use crate::frames::{below, command};
use crate::score::{Effort, Ending, Row};

/// What is changed: the default, every plant, and the plants with a motor.
pub fn bases() -> anyhow::Result<Vec<Config>> {
    let plants = ["Furuta", "Pendulum", "Cartpole", "Acrobot", "Reactionwheel"];
    let mut bases = vec![Config::default()];
    for plant in plants {
        let passive = stribeck::config::from_toml(&format!("[plant.{plant}]\n"))?;
        let mut driven = Config {
            drive: Some(control::Config::default()),
            ..passive
        };
        if let PlantConfig::Furuta(rig) = &mut driven.plant {
            rig.tilt = 0.0;
        }
        bases.push(passive);
        if driven.validate().is_ok() {
            bases.push(driven);
        }
    }
    Ok(bases)
}

/// A configuration with a few fields changed, as JSON; `Err`: no configuration of this layout.
pub fn changed(rng: &mut Rng, bases: &[Value]) -> (Value, serde_json::Result<Config>) {
    let mut value = bases[below(rng, bases.len())].clone();
    for _ in 0..1 + below(rng, 3) {
        change(rng, &mut value);
    }
    let config = serde_json::from_value::<Config>(value.clone());
    (value, config)
}

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let bases: Vec<Value> = bases()?
        .iter()
        .map(serde_json::to_value)
        .collect::<serde_json::Result<_>>()?;
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let (mut accepted, mut refused, mut driven) = (0u64, 0u64, 0u64);
    while effort.wants(row.inputs, 200, 1000) {
        let (value, config) = changed(&mut rng, &bases);
        // What no configuration of this layout can be is refused on the host already.
        let Ok(config) = config else {
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
            Ok(Verdict::InForce { drove }) => {
                accepted += 1;
                driven += u64::from(drove);
                Ending::Good
            }
            Ok(Verdict::Wrong(_)) => Ending::SilentlyWrong,
        };
        row.count(ending, || match judged {
            Ok(Verdict::Wrong(why)) => format!("{why}: configuration {value}"),
            _ => format!("configuration {value}"),
        });
    }
    row.note = format!(
        "configurations of {} rigs on the twin; {accepted} accepted and moved ({driven} drove their motor), {refused} refused",
        bases.len()
    );
    Ok(row)
}

enum Verdict {
    Refused,
    InForce {
        drove: bool,
    },
    /// Accepted without being in force, in force without being accepted, no answer, a damaged stream, or a motor left on.
    Wrong(&'static str),
}

/// Ticks of orders, then of none.
const ORDERS: usize = 3000;

fn tried(config: &Config, seed: u64) -> Verdict {
    let mut rng = Rng::new(seed);
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
    let (mut started, mut drove, mut on_outside) = (false, false, false);
    let mut in_force = None;
    for (tick, sample) in Simulation::reference(0.0, seed).take(ORDERS).enumerate() {
        device.tick(sample.counts);
        on_outside |= device.output().is_some() && device.engine().phase() != Phase::Driving;
        drove |= device.output().is_some();
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
        if reply.is_some() && !started {
            started = true;
            device.command(&command(8, Ask::Hello));
            device.command(&command(9, Ask::Start));
        }
        // In force or not is known before other orders come.
        if tick == ORDERS / 2 {
            let told = hello.as_ref().and_then(|h| h.config().ok());
            in_force = Some(told.is_some_and(|c| same(&c, config)));
        }
        if tick > ORDERS / 2 && tick.is_multiple_of(50) {
            device.command(&command(100, order(&mut rng, tick as u64)));
        }
    }
    let silence = match config.drive.map(|d| d.limits.heartbeat_ms) {
        Some(ms @ 1..=300) => usize::from(ms) * config.tick_hz as usize / 1000 + 100,
        _ => {
            device.command(&command(101, Ask::Stop));
            100
        }
    };
    for sample in Simulation::reference(0.0, seed).take(silence) {
        device.tick(sample.counts);
    }
    match (reply, in_force.unwrap_or(false), bad) {
        _ if device.output().is_some() => Verdict::Wrong("the motor is left on"),
        _ if on_outside => Verdict::Wrong("the motor is on while nothing drives"),
        (None, ..) => Verdict::Wrong("no answer"),
        (_, _, true) => Verdict::Wrong("a damaged stream"),
        (Some(true), true, _) => Verdict::InForce { drove },
        (Some(true), false, _) => Verdict::Wrong("accepted and not in force"),
        // The default itself may come out of the changes: in force although nothing was put in force.
        (Some(false), found, _) if !found || same(config, &Config::default()) => Verdict::Refused,
        (Some(false), ..) => Verdict::Wrong("refused and in force"),
    }
}

/// Any order, in any state.
fn order(rng: &mut Rng, tick: u64) -> Ask {
    let modes = [Mode::Excite, Mode::Track, Mode::Balance, Mode::Plan];
    match below(rng, 9) {
        0 => Ask::Start,
        1 => Ask::Stop,
        2 => Ask::Zero,
        3 => Ask::Beat,
        4 => Ask::Plan(Plan {
            from_tick: tick.wrapping_add(rng.bits() % 2000).saturating_sub(500),
            weights: std::array::from_fn(|_| rng.normal() as f32),
        }),
        _ => Ask::Drive(Drive {
            mode: modes[below(rng, modes.len())],
            signal: Signal {
                shape: [Shape::Constant, Shape::Sine][below(rng, 2)],
                offset: 0.05 * rng.normal() as f32,
                amplitude: 0.05 * rng.normal() as f32,
                low_hz: rng.within(0.1, 5.0) as f32,
                ..Signal::default()
            },
        }),
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
