//! A driven rig: the twin, a simulated plant with its motor, and a replay that follows every block.

use stribeck_core::control;
use stribeck_core::device::config::Config;
use stribeck_core::device::{Device, Identity, Input, Replay};
use stribeck_core::model::friction::Friction;
use stribeck_core::model::motor::{Applied, Bridge, Duty};
use stribeck_core::model::plant::{PlantConfig, furuta};
use stribeck_core::model::sim::{Encoder, REFERENCE_FRICTION, Sample, Simulation, Truth};
use stribeck_core::wire::block::Params;
use stribeck_core::wire::{
    Ask, Command, ConfigOrigin, Decoder, Drive, Event, Frame, MAX_FRAME, Mode, Refusal, Shape,
    Signal, Status, Trip, What, encode,
};

/// The Furuta pendulum with a vertical axis and a motor of 0.1 N·m on the arm.
pub fn furuta() -> Config {
    Config {
        plant: PlantConfig::Furuta(furuta::Config {
            tilt: 0.0,
            ..furuta::Config::default()
        }),
        drive: Some(control::Config::default()),
        ..Config::default()
    }
}

/// Table 3's friction, every torque multiplied.
pub fn friction(factor: f64) -> [Friction<f64>; 2] {
    REFERENCE_FRICTION
        .map(|[d, s, v, t, n]| Friction::brown_mcphee([d * factor, s * factor, v * factor, t, n]))
}

pub struct Rig {
    pub device: Device,
    pub sim: Simulation,
    bridge: Bridge<f64>,
    replay: Replay,
    decoder: Decoder,
    next_id: u16,
    pub beats: bool,
    ticks: u64,
    /// What the device said.
    pub events: Vec<Event>,
    pub refusals: Vec<Option<Refusal>>,
    pub statuses: Vec<Status>,
    pub params: Vec<(u64, Params)>,
    pub replayed: u64,
    /// Largest |duty| seen at the bridge.
    pub most: i16,
    /// What the counter of a cut encoder shows, and whether one wire still dithers.
    pub cut: [Option<(u32, bool)>; 2],
    last_counts: [u32; 2],
}

impl Rig {
    pub fn new(
        config: &Config,
        friction: [Friction<f64>; 2],
        q: [f64; 2],
        noise: f64,
        seed: u64,
    ) -> Self {
        config.validate().expect("a valid configuration");
        let truth = Truth::new(&config.moved_plant(), friction, q, 1e-4, 2);
        let encoder = Encoder {
            noise_counts: noise,
            ..Encoder::default()
        };
        let motor = config.drive.unwrap_or_default().motor;
        Rig {
            device: Device::new(Identity::new("twin"), config, ConfigOrigin::Default),
            sim: Simulation::new(truth, [encoder; 2], seed),
            bridge: Bridge::new(&motor, &config.plant),
            replay: Replay::new(config),
            decoder: Decoder::new(),
            next_id: 1,
            beats: true,
            ticks: 0,
            events: Vec::new(),
            refusals: Vec::new(),
            statuses: Vec::new(),
            params: Vec::new(),
            replayed: 0,
            most: 0,
            cut: [None; 2],
            last_counts: [0; 2],
        }
    }

    pub fn ask(&mut self, ask: Ask) {
        let mut buf = [0; MAX_FRAME];
        let n = encode(
            &Command {
                id: self.next_id,
                ask,
            },
            &mut buf,
        )
        .unwrap();
        self.next_id = self.next_id.wrapping_add(1);
        self.device.command(&buf[..n]);
    }

    pub fn drive(&mut self, mode: Mode, signal: Signal) {
        self.ask(Ask::Drive(Drive { mode, signal }));
    }

    /// One tick with these inputs beside the counts.
    pub fn tick(&mut self, input: Input) -> Sample {
        if self.beats && self.ticks.is_multiple_of(1000) {
            self.ask(Ask::Beat);
        }
        self.ticks += 1;
        let duty = self.device.output();
        self.most = self.most.max(duty.map_or(0, |Duty(d)| d.abs()));
        let applied = duty.map_or(Applied::NONE, |duty| self.bridge.apply(duty));
        let sample = self.sim.tick_driven(&applied);
        let mut counts = sample.counts;
        for (count, cut) in counts.iter_mut().zip(self.cut) {
            if let Some((stands, dithers)) = cut {
                *count = stands + (*count & u32::from(dithers));
            }
        }
        self.last_counts = counts;
        self.device.tick_with(Input { counts, ..input });
        self.read();
        sample
    }

    /// The encoder of a joint is cut: one wire, or both.
    pub fn cut(&mut self, joint: usize, one_wire: bool) {
        self.cut[joint] = Some((self.last_counts[joint], one_wire));
    }

    pub fn run(&mut self, seconds: f64) -> Vec<Sample> {
        (0..(seconds * 1e4) as u32)
            .map(|_| self.tick(Input::default()))
            .collect()
    }

    fn read(&mut self) {
        let mut buf = [0; MAX_FRAME];
        loop {
            let n = self.device.next_frame(&mut buf);
            if n == 0 {
                break;
            }
            let mut frames = Vec::new();
            self.decoder
                .feed(&buf[..n], |raw| frames.push(raw.unwrap().decode().unwrap()));
            for frame in frames {
                match frame {
                    Frame::Block(block) => {
                        for (tick, record) in block.records() {
                            if let stribeck_core::wire::block::Record::Params(p) = record {
                                self.params.push((tick, p));
                            }
                        }
                        self.replay
                            .block(&block)
                            .unwrap_or_else(|m| panic!("replay: {m:?}"));
                        self.replayed = self.replay.equal_ticks;
                    }
                    Frame::Event(event) => self.events.push(event),
                    Frame::Reply(reply) => self.refusals.push(reply.refusal),
                    Frame::Status(status) => self.statuses.push(status),
                    _ => {}
                }
            }
        }
    }

    /// The trips, in order.
    pub fn trips(&self) -> Vec<Trip> {
        let trip = |e: &Event| match e.what {
            What::Drive {
                mode: Mode::Off,
                trip,
            } => Some(trip),
            _ => None,
        };
        self.events.iter().filter_map(trip).collect()
    }
}

pub fn sine(amplitude: f32, hz: f32) -> Signal {
    Signal {
        shape: Shape::Sine,
        amplitude,
        low_hz: hz,
        ..Signal::default()
    }
}
