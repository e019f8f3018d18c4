//! What each hostile device does. To add one: a line in [`SCRIPTS`].

use std::collections::VecDeque;

use stribeck_core::device::config::{Blob, Config};
use stribeck_core::model::sim::Rng;
use stribeck_core::wire::{
    Command, Event, Frame, Hello, MAX_FRAME, Pattern, Refusal, Reply, ResetCause, Status, What,
    text,
};

/// For which commands exit 0 would be a lie.
#[derive(Clone, Copy)]
pub enum Harm {
    /// For none: odd, but harmless.
    None,
    /// The stream is damaged: `capture`.
    Stream,
    /// Commands are not answered truly: `capture --arm`, `config push`.
    Talk,
    /// The configuration cannot be trusted: `config pull` and `push`.
    Pull,
    /// It answers once: enough for `config pull`, for nothing else.
    OnlyHello,
    /// It is honest for half a second: enough for a question.
    Gone,
    Everything,
}

/// What a script remembers.
pub struct Memory {
    pub seconds: f64,
    rng: Rng,
    held: VecDeque<Frame>,
    hello: Option<Hello>,
    count: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            seconds: 0.0,
            rng: Rng::new(5),
            held: VecDeque::new(),
            hello: None,
            count: 0,
        }
    }
}

/// Honest frames and the host's commands in, bytes out; `false`: the port disappears.
type Act = fn(&mut Memory, Vec<Frame>, &[Command], &mut Vec<u8>) -> bool;

pub struct Script {
    /// Completes "a device that …".
    pub name: &'static str,
    pub harm: Harm,
    pub act: Act,
}

const fn script(name: &'static str, harm: Harm, act: Act) -> Script {
    Script { name, harm, act }
}

pub const SCRIPTS: &[Script] = &[
    // Nothing that could be a device.
    script("says nothing", Harm::Everything, |_, _, _, _| true),
    script("vanishes at once", Harm::Everything, |_, _, _, _| false),
    script("sends zeros", Harm::Everything, |_, _, _, out| {
        fill(out, 0x00)
    }),
    script("sends ones", Harm::Everything, |_, _, _, out| {
        fill(out, 0xff)
    }),
    script("sends noise", Harm::Everything, |m, _, _, out| {
        out.extend((0..200).map(|_| m.rng.bits() as u8));
        true
    }),
    script(
        "greets like a modem",
        Harm::Everything,
        |_, _, heard, out| {
            if !heard.is_empty() {
                out.extend_from_slice(b"OK\r\nlogin: ");
            }
            true
        },
    ),
    script("echoes", Harm::Everything, |_, _, heard, out| {
        heard
            .iter()
            .for_each(|c| put(out, &Frame::Command(c.clone())));
        true
    }),
    script(
        "sends bytes without end of frame",
        Harm::Everything,
        |_, _, _, out| fill(out, 0x55),
    ),
    // A device that introduces itself and then …
    script("only greets", Harm::Stream, |_, frames, _, out| {
        only(frames, out, |f| matches!(f, Frame::Hello(_)))
    }),
    script(
        "greets once and dies",
        Harm::OnlyHello,
        |m, frames, _, out| {
            let hello = frames.into_iter().find(|f| matches!(f, Frame::Hello(_)));
            if let (Some(hello), 0) = (hello, m.count) {
                put(out, &hello);
                m.count = 1;
            }
            true
        },
    ),
    script(
        "greets a thousand times a second",
        Harm::None,
        |m, frames, _, out| {
            remember(m, &frames);
            let hello = m.hello.clone().map(Frame::Hello);
            frames.iter().for_each(|f| put(out, f));
            hello.iter().for_each(|h| put(out, h));
            true
        },
    ),
    script(
        "speaks another protocol",
        Harm::Everything,
        |_, f, _, out| hello(f, out, |h| h.protocol = 99),
    ),
    script("has other numerics", Harm::None, |_, f, _, out| {
        hello(f, out, |h| h.numerics = 999)
    }),
    script("has another schema", Harm::None, |_, f, _, out| {
        hello(f, out, |h| h.schema ^= 1)
    }),
    script(
        "claims zero ticks per second",
        Harm::Everything,
        |_, f, _, out| hello(f, out, |h| h.tick_hz = 0),
    ),
    script(
        "has a configuration that is cut",
        Harm::Pull,
        |_, f, _, out| hello(f, out, |h| h.config = blob(&h.config.as_bytes()[..20])),
    ),
    script(
        "has a configuration of another version",
        Harm::Pull,
        |_, f, _, out| {
            hello(f, out, |h| {
                let mut bytes = h.config.as_bytes().to_vec();
                bytes[0] = 99;
                h.config = blob(&bytes);
            })
        },
    ),
    script(
        "has a configuration with a NaN",
        Harm::Pull,
        |_, f, _, out| {
            hello(f, out, |h| {
                let mut config = Config::default();
                config.ekf.vt[0] = f32::NAN;
                h.config = Blob::seal(&config);
            })
        },
    ),
    script(
        "is named by terminal escapes",
        Harm::None,
        |_, f, _, out| hello(f, out, |h| h.board = text("\x1b[2J\x1b]0;owned\x07")),
    ),
    script(
        "crashed with terminal escapes",
        Harm::None,
        |_, f, _, out| {
            hello(f, out, |h| {
                h.last_fault = text("\x1b[31mpanic\x1b[0m\r\n\x07at \x1b[2J");
                h.reset_cause = ResetCause::Fault;
            })
        },
    ),
    script(
        "boots anew in every greeting",
        Harm::Stream,
        |m, f, _, out| {
            m.count += 1;
            let boot = m.count as u32;
            hello(f, out, |h| h.boot = boot)
        },
    ),
    script(
        "starts again after half a second",
        Harm::Stream,
        |m, f, _, out| {
            let late = m.seconds > 0.5;
            remember(m, &f);
            if late && m.count == 0 {
                m.count = 1;
                if let Some(mut h) = m.hello.clone() {
                    h.boot ^= 0x55;
                    h.reset_cause = ResetCause::Watchdog;
                    put(out, &Frame::Hello(h));
                }
            }
            f.iter().for_each(|frame| put(out, frame));
            true
        },
    ),
    // The stream.
    script(
        "flips a bit in every tenth frame",
        Harm::Stream,
        |m, f, _, out| {
            for frame in f {
                let from = out.len();
                put(out, &frame);
                m.count += 1;
                if m.count.is_multiple_of(10) && out.len() > from + 4 {
                    out[from + 3] ^= 0x10;
                }
            }
            true
        },
    ),
    script(
        "drops every twentieth block",
        Harm::Stream,
        |m, f, _, out| {
            for frame in f {
                m.count += u64::from(matches!(frame, Frame::Block(_)));
                if !matches!(frame, Frame::Block(_)) || !m.count.is_multiple_of(20) {
                    put(out, &frame);
                }
            }
            true
        },
    ),
    script("sends every block twice", Harm::Stream, |_, f, _, out| {
        for frame in f {
            put(out, &frame);
            if matches!(frame, Frame::Block(_)) {
                put(out, &frame);
            }
        }
        true
    }),
    script("swaps neighbouring blocks", Harm::None, |m, f, _, out| {
        for frame in f {
            match frame {
                Frame::Block(_) if m.held.is_empty() => m.held.push_back(frame),
                Frame::Block(_) => {
                    put(out, &frame);
                    m.held.drain(..).for_each(|held| put(out, &held));
                }
                _ => put(out, &frame),
            }
        }
        true
    }),
    script(
        "lets ticks jump under continuous numbers",
        Harm::Stream,
        |m, f, _, out| {
            block(m, f, out, |m, b| {
                b.first_tick += if m.count > 30 { 5000 } else { 0 }
            })
        },
    ),
    script(
        "lets ticks run back under continuous numbers",
        Harm::Stream,
        |m, f, _, out| {
            block(m, f, out, |m, b| {
                b.first_tick = if m.count > 30 {
                    b.first_tick.saturating_sub(2000)
                } else {
                    b.first_tick
                }
            })
        },
    ),
    script("lets block numbers jump", Harm::Stream, |m, f, _, out| {
        block(m, f, out, |m, b| b.seq += if m.count > 30 { 7 } else { 0 })
    }),
    script("computes other bits", Harm::Stream, |m, f, _, out| {
        block(m, f, out, |_, b| b.digest ^= 1)
    }),
    script(
        "sends blocks without ticks",
        Harm::Stream,
        |m, f, _, out| block(m, f, out, |_, b| b.ticks = 0),
    ),
    script(
        "claims snapshots it has not",
        Harm::Stream,
        |m, f, _, out| block(m, f, out, |_, b| b.snapshot_words = 60_000),
    ),
    script("sends records cut short", Harm::Stream, |m, f, _, out| {
        block(m, f, out, |_, b| b.data.clear())
    }),
    script(
        "stops in the middle of a frame",
        Harm::Stream,
        |m, f, _, out| {
            if m.seconds > 0.7 && m.count == 0 {
                m.count = 1;
                f.iter().for_each(|frame| put(out, frame));
                out.truncate(out.len() / 2);
            } else if m.count == 0 {
                f.iter().for_each(|frame| put(out, frame));
            }
            true
        },
    ),
    script("disappears in mid-run", Harm::Gone, |m, f, _, out| {
        f.iter().for_each(|frame| put(out, frame));
        m.seconds < 0.6
    }),
    script("trickles", Harm::Everything, |m, f, _, out| {
        m.held.extend(f);
        if let Some(frame) = m.held.front() {
            let mut bytes = Vec::new();
            put(&mut bytes, frame);
            out.extend(bytes.get(m.count as usize));
            m.count += 1;
            if m.count as usize >= bytes.len() {
                m.held.pop_front();
                m.count = 0;
            }
        }
        true
    }),
    // Conversation.
    script("never replies", Harm::Talk, |_, f, _, out| {
        only(f, out, |f| !matches!(f, Frame::Reply(_)))
    }),
    script("replies to somebody else", Harm::Talk, |_, f, _, out| {
        reply(f, out, |r| r.id = r.id.wrapping_add(77))
    }),
    script("refuses everything", Harm::Talk, |_, f, _, out| {
        reply(f, out, |r| r.refusal = Some(Refusal::Busy))
    }),
    script("replies twice", Harm::None, |_, f, _, out| {
        for frame in f {
            put(out, &frame);
            if matches!(frame, Frame::Reply(_)) {
                put(out, &frame);
            }
        }
        true
    }),
    script("accepts before it is asked", Harm::None, |m, f, _, out| {
        if m.count < 20 {
            put(
                out,
                &Frame::Reply(Reply {
                    id: m.count as u16,
                    tick: 0,
                    refusal: None,
                }),
            );
            m.count += 1;
        }
        f.iter().for_each(|frame| put(out, frame));
        true
    }),
    script(
        "refuses with terminal escapes",
        Harm::Talk,
        |_, f, _, out| {
            reply(f, out, |r| {
                r.refusal = Some(Refusal::OutOfRange {
                    field: text("\x1b[2Jfield\x07"),
                    value: f32::NAN,
                    min: 0.0,
                    max: 0.0,
                });
            })
        },
    ),
    // Floods.
    script("floods with events", Harm::None, |m, f, _, out| {
        remember(m, &f);
        f.iter().for_each(|frame| put(out, frame));
        for _ in 0..if m.hello.is_some() { 20 } else { 0 } {
            put(
                out,
                &Frame::Event(Event {
                    tick: 1,
                    what: What::EncoderFault {
                        joint: 1,
                        flags: 0xff,
                    },
                }),
            );
        }
        true
    }),
    script("floods with status", Harm::None, |m, f, _, out| {
        remember(m, &f);
        f.iter().for_each(|frame| put(out, frame));
        if m.hello.is_some() {
            put(out, &Frame::Status(Status::default()));
        }
        true
    }),
    script("measures NaN", Harm::None, |_, f, _, out| {
        for frame in f {
            match frame {
                Frame::Status(mut s) => {
                    s.health.tick_cycles.mean = f32::NAN;
                    s.health.period_cycles.sigma = f32::INFINITY;
                    put(out, &Frame::Status(s));
                }
                other => put(out, &other),
            }
        }
        true
    }),
    script("sends test patterns unasked", Harm::None, |m, f, _, out| {
        remember(m, &f);
        f.iter().for_each(|frame| put(out, frame));
        if m.hello.is_some() {
            put(out, &Frame::Pattern(Pattern::new(1, 9, 3, 100)));
        }
        true
    }),
    script("counts wildly", Harm::None, |m, f, _, out| {
        let noise = m.rng.bits() as u32;
        block(m, f, out, |_, b| b.base[1] ^= noise & 0x0100_0000)
    }),
    script("is honest", Harm::None, |_, f, _, out| {
        only(f, out, |_| true)
    }),
];

fn put(out: &mut Vec<u8>, frame: &Frame) {
    let mut bytes = [0; MAX_FRAME];
    if let Ok(n) = frame.encode(&mut bytes) {
        out.extend_from_slice(&bytes[..n]);
    }
}

fn fill(out: &mut Vec<u8>, byte: u8) -> bool {
    out.resize(out.len() + 200, byte);
    true
}

fn only(frames: Vec<Frame>, out: &mut Vec<u8>, keep: impl Fn(&Frame) -> bool) -> bool {
    frames.iter().filter(|f| keep(f)).for_each(|f| put(out, f));
    true
}

fn remember(memory: &mut Memory, frames: &[Frame]) {
    if let Some(Frame::Hello(h)) = frames.iter().find(|f| matches!(f, Frame::Hello(_))) {
        memory.hello = Some(h.clone());
    }
}

fn hello(frames: Vec<Frame>, out: &mut Vec<u8>, mut change: impl FnMut(&mut Hello)) -> bool {
    for mut frame in frames {
        if let Frame::Hello(hello) = &mut frame {
            change(hello);
        }
        put(out, &frame);
    }
    true
}

fn reply(frames: Vec<Frame>, out: &mut Vec<u8>, mut change: impl FnMut(&mut Reply)) -> bool {
    for mut frame in frames {
        if let Frame::Reply(reply) = &mut frame {
            change(reply);
        }
        put(out, &frame);
    }
    true
}

fn block(
    memory: &mut Memory,
    frames: Vec<Frame>,
    out: &mut Vec<u8>,
    mut change: impl FnMut(&mut Memory, &mut stribeck_core::wire::Block),
) -> bool {
    for mut frame in frames {
        if let Frame::Block(block) = &mut frame {
            memory.count += 1;
            change(memory, block);
        }
        put(out, &frame);
    }
    true
}

fn blob(bytes: &[u8]) -> Blob {
    Blob::from_bytes(bytes).unwrap_or_default()
}
