//! The other end of the cable: the twin, a simulated bench, and everything the device said.

use stribeck_core::device::config::Config;
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Device, Identity, Input};
use stribeck_core::model::sim::Simulation;
use stribeck_core::wire::{
    Ask, Block, Command, ConfigOrigin, Decoder, Event, Frame, Hello, MAX_FRAME, Pattern, Reply,
    Status, What, encode,
};

/// What arrived, by kind.
#[derive(Default)]
pub struct Heard {
    pub bytes: usize,
    pub block_bytes: usize,
    pub hellos: Vec<Hello>,
    pub blocks: Vec<Block>,
    pub statuses: Vec<Status>,
    pub events: Vec<Event>,
    pub replies: Vec<Reply>,
    pub patterns: Vec<Pattern>,
    /// How many Hellos had arrived when each block did.
    pub hellos_before: Vec<usize>,
}

pub struct Host {
    pub device: Device,
    pub bench: Simulation,
    pub heard: Heard,
    decoder: Decoder,
    next_id: u16,
}

impl Host {
    pub fn new(config: &Config, bench: Simulation) -> Self {
        config.validate().expect("a valid configuration");
        Host {
            device: Device::new(Identity::new("twin"), config, ConfigOrigin::Default),
            bench,
            heard: Heard::default(),
            decoder: Decoder::new(),
            next_id: 1,
        }
    }

    /// Default device at the reference bench, armed from the first tick.
    pub fn reference() -> Self {
        let mut config = Config::default();
        config.run.auto_arm = true;
        Self::new(&config, Simulation::reference(0.0, 1))
    }

    /// `ticks` ticks, reading everything.
    pub fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let counts = self.bench.tick().counts;
            self.device.tick(counts);
            self.read();
        }
    }

    /// One tick of the bench with button and missed ticks as given.
    pub fn run_input(&mut self, ticks: u32, input: Input) {
        for _ in 0..ticks {
            let counts = self.bench.tick().counts;
            self.device.tick_with(Input { counts, ..input });
            self.read();
        }
    }

    pub fn read(&mut self) {
        let mut buf = [0; MAX_FRAME];
        loop {
            let n = self.device.next_frame(&mut buf);
            if n == 0 {
                return;
            }
            let heard = &mut self.heard;
            heard.bytes += n;
            self.decoder.feed(&buf[..n], |raw| {
                match raw.expect("a whole frame").decode().expect("a known body") {
                    Frame::Hello(x) => heard.hellos.push(x),
                    Frame::Block(x) => {
                        heard.block_bytes += n;
                        heard.hellos_before.push(heard.hellos.len());
                        heard.blocks.push(x);
                    }
                    Frame::Status(x) => heard.statuses.push(x),
                    Frame::Event(x) => heard.events.push(x),
                    Frame::Reply(x) => heard.replies.push(x),
                    Frame::Pattern(x) => heard.patterns.push(x),
                    other => panic!("{other:?} from the device"),
                }
            });
        }
    }

    /// Send without waiting; returns the id.
    pub fn send(&mut self, ask: Ask) -> u16 {
        let id = self.next_id;
        self.next_id += 1;
        let mut buf = [0; MAX_FRAME];
        let n = encode(&Command { id, ask }, &mut buf).unwrap();
        self.device.command(&buf[..n]);
        id
    }

    /// Send, run a few ticks, return the one reply.
    pub fn ask(&mut self, ask: Ask) -> Reply {
        let id = self.send(ask);
        self.run(3);
        let mut replies = self.heard.replies.iter().filter(|r| r.id == id);
        let reply = replies.next().expect("a reply").clone();
        assert!(replies.next().is_none(), "one reply per command");
        reply
    }

    /// Run until the phase is reached.
    pub fn run_until(&mut self, phase: Phase, at_most: u32) {
        for _ in 0..at_most {
            if self.device.engine().phase() == phase {
                return;
            }
            self.run(1);
        }
        panic!("not {phase:?} within {at_most} ticks");
    }

    /// Every run transition so far.
    pub fn transitions(&self) -> Vec<(Phase, Phase)> {
        let of = |e: &Event| match e.what {
            What::Run { from, to, .. } => Some((from, to)),
            _ => None,
        };
        self.heard.events.iter().filter_map(of).collect()
    }
}
