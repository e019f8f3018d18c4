//! Raw counter values back to unwrapped counts and angles, as the device counts them.
//!
//! In: configuration and blocks in order. Out: per tick the raw and the unwrapped counts (sign and zero
//! applied). Every snapshot brings the device's own totals, so joining in the middle of a run is exact.

use std::collections::VecDeque;

use stribeck_core::JOINTS;
use stribeck_core::device::config::Config;
use stribeck_core::device::{Observers, Setup};
use stribeck_core::model::joint::Joint;
use stribeck_core::observer::encoder::{self, Channel};
use stribeck_core::wire::Block;

/// One tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub tick: u64,
    /// What the hardware counters showed.
    pub raw: [u32; JOINTS],
    /// Unwrapped, sign and zero applied.
    pub counts: [i32; JOINTS],
}

pub struct Angles {
    setup: Setup,
    /// Configurations that come into force at a tick.
    next: VecDeque<(u64, Config)>,
    encoders: [encoder::Config; JOINTS],
    joints: [Joint; JOINTS],
    channels: [Channel; JOINTS],
}

impl Angles {
    pub fn new(config: &Config) -> Self {
        Angles {
            setup: Setup::new(config),
            next: VecDeque::new(),
            encoders: config.encoders,
            joints: config.plant.joints(),
            channels: [Channel::default(); JOINTS],
        }
    }

    /// A further Hello of the same device: a new zero, perhaps other encoders, from tick `since` on.
    pub fn set_config(&mut self, config: &Config, since: u64) {
        self.next.push_back((since, *config));
    }

    /// Every tick of the next block, and its coordinates \[rad or m\].
    pub fn block(&mut self, block: &Block, mut each: impl FnMut(Counted, [f64; JOINTS])) {
        while let Some((_, config)) = self
            .next
            .pop_front_if(|(since, _)| *since <= block.first_tick)
        {
            self.setup = Setup::new(&config);
            self.encoders = config.encoders;
            self.joints = config.plant.joints();
        }
        if let Some(words) = block.snapshot()
            && let Some(device) = Observers::from_words(self.setup, words)
        {
            self.channels = device.state.encoders;
            for (encoder, zero) in self.encoders.iter_mut().zip(device.state.zero) {
                encoder.zero = zero;
            }
        }
        for (tick, raw) in (block.first_tick..).zip(block.counts()) {
            let mut counts = [0; JOINTS];
            for joint in 0..JOINTS {
                counts[joint] = self.encoders[joint].step(&mut self.channels[joint], raw[joint]);
            }
            each(Counted { tick, raw, counts }, self.places(counts));
        }
    }

    /// Counts as coordinates \[rad or m\].
    pub fn places(&self, counts: [i32; JOINTS]) -> [f64; JOINTS] {
        std::array::from_fn(|j| self.encoders[j].place::<f64>(self.joints[j], counts[j]))
    }
}
