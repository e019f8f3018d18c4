//! What the integration tests share: the firmware's ELF, a host that talks the wire protocol in virtual time, and the replay.
#![allow(dead_code)] // each test program uses its part

pub mod probe;
pub mod verdicts;

use std::path::PathBuf;
use std::rc::Rc;

use stribeck_bench::{Bench, Outcome, Program, Scenario};
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Followed, Replay};
use stribeck_core::wire::{
    self, Ask, Block, Command, Decoder, Event, Frame, Hello, MAX_FRAME, Reply, Status, What,
};

/// The firmware that `cargo fw` builds, or the one STRIBECK_FIRMWARE_ELF names. Never skipped: without it the test fails.
pub fn firmware() -> Rc<Program> {
    let path = std::env::var_os("STRIBECK_FIRMWARE_ELF")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("../target/thumbv7em-none-eabihf/firmware/stribeck-firmware")
        });
    match Program::load(&path) {
        Ok(p) => Rc::new(p),
        Err(e) => {
            panic!("{e}\nbuild the firmware first: cargo fw   (or set STRIBECK_FIRMWARE_ELF)")
        }
    }
}

pub fn scenario(text: &str) -> Scenario {
    Scenario::parse("test", text).unwrap()
}

/// A scenario file of bench/scenarios.
pub fn scenario_file(name: &str) -> Scenario {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("scenarios")
        .join(name);
    Scenario::load(&path).unwrap()
}

/// A host on the virtual bench: sends commands, sorts what comes back.
pub struct Session {
    pub bench: Bench,
    decoder: Decoder,
    next_id: u16,
    pub frames: Vec<Frame>,
    pub bad_frames: u32,
    pub bytes: u64,
}

impl Session {
    pub fn new(scenario: &Scenario) -> Session {
        Session {
            bench: Bench::new(firmware(), scenario).unwrap(),
            decoder: Decoder::new(),
            next_id: 1,
            frames: Vec::new(),
            bad_frames: 0,
            bytes: 0,
        }
    }

    /// Powered, enumerated, greeted.
    pub fn connected(scenario: &Scenario) -> Session {
        let mut s = Session::new(scenario);
        assert!(
            s.bench.run_until_when(1.0, |b| b.usb_ready()),
            "not enumerated: {}",
            s.log()
        );
        s.ask(Ask::Hello);
        s
    }

    /// Connected, and armed before the operator lets go.
    pub fn armed(scenario: &Scenario) -> Session {
        let mut s = Session::connected(scenario);
        s.run_until(scenario.plant.lift_s[1] + 0.1);
        s.ask(Ask::Start);
        s.run_until(scenario.plant.release_s - 0.1);
        assert_eq!(s.phase(), Some(Phase::Armed), "{}", s.log());
        s
    }

    pub fn log(&self) -> String {
        self.bench
            .log()
            .iter()
            .map(|l| format!("\n{}", l.text))
            .collect()
    }

    pub fn ask(&mut self, ask: Ask) -> u16 {
        let id = self.next_id;
        self.next_id += 1;
        let mut buf = [0; MAX_FRAME];
        let n = wire::encode(&Command { id, ask }, &mut buf).unwrap();
        self.bench.send(&buf[..n]);
        id
    }

    pub fn run_until(&mut self, s: f64) {
        let outcome = self.bench.run_until(s);
        assert_eq!(outcome, Outcome::Time, "{}", self.log());
        self.collect();
    }

    pub fn run_for(&mut self, s: f64) {
        let end = self.bench.seconds() + s;
        self.run_until(end);
    }

    fn collect(&mut self) {
        let bytes = self.bench.take_received();
        self.bytes += bytes.len() as u64;
        let (frames, bad) = (&mut self.frames, &mut self.bad_frames);
        self.decoder
            .feed(&bytes, |raw| match raw.map(|r| r.decode()) {
                Ok(Ok(frame)) => frames.push(frame),
                _ => *bad += 1,
            });
    }

    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.frames.iter().filter_map(|f| {
            if let Frame::Block(b) = f {
                Some(b)
            } else {
                None
            }
        })
    }

    pub fn hellos(&self) -> impl Iterator<Item = &Hello> {
        self.frames.iter().filter_map(|f| {
            if let Frame::Hello(h) = f {
                Some(h)
            } else {
                None
            }
        })
    }

    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.frames.iter().filter_map(|f| {
            if let Frame::Event(e) = f {
                Some(e)
            } else {
                None
            }
        })
    }

    pub fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.frames.iter().filter_map(|f| {
            if let Frame::Reply(r) = f {
                Some(r)
            } else {
                None
            }
        })
    }

    pub fn status(&self) -> &Status {
        self.frames
            .iter()
            .rev()
            .find_map(|f| {
                if let Frame::Status(s) = f {
                    Some(s)
                } else {
                    None
                }
            })
            .expect("no Status frame yet")
    }

    /// The last phase a block or event told.
    pub fn phase(&self) -> Option<Phase> {
        self.frames.iter().rev().find_map(|f| match f {
            Frame::Block(b) => Some(b.phase),
            Frame::Event(Event {
                what: What::Run { to, .. },
                ..
            }) => Some(*to),
            _ => None,
        })
    }

    /// Flags of all encoder faults of a joint.
    pub fn encoder_flags(&self, joint: u8) -> u8 {
        self.events().fold(0, |all, e| match e.what {
            What::EncoderFault { joint: j, flags } if j == joint => all | flags,
            _ => all,
        })
    }

    /// Replays everything on this machine. Returns (ticks found equal, gaps in the stream); a differing bit is a failure.
    pub fn replay(&self) -> (u64, u32) {
        let config = self.hellos().next().expect("no Hello").config().unwrap();
        let mut replay = Replay::new(&config);
        let (mut gaps, mut next_seq) = (0, None);
        for f in &self.frames {
            match f {
                Frame::Hello(h) => replay.set_config(&h.config().unwrap(), h.config_since),
                Frame::Block(b) => {
                    if next_seq.is_some_and(|n| n != b.seq) {
                        gaps += 1;
                        replay.lose();
                    }
                    next_seq = Some(b.seq.wrapping_add(1));
                    match replay.block(b) {
                        Ok(Followed::Equal | Followed::Waiting) => {}
                        Err(m) => panic!("the chip and this machine differ: {m:?}"),
                    }
                }
                _ => {}
            }
        }
        (replay.equal_ticks, gaps)
    }
}
