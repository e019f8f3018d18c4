//! Raw counter values back to unwrapped counts and angles, as the device counts them.
//!
//! In: configuration and blocks in order. Out: per tick the raw and the unwrapped counts (sign and zero
//! applied). Every snapshot brings the device's own totals, so joining in the middle of a run is exact.

use stribeck_core::config::Config;
use stribeck_core::device::{Observers, Setup};
use stribeck_core::encoder::{self, Channel};
use stribeck_core::plant::JOINTS;
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
    /// A configuration that comes into force at a tick.
    next: Option<(u64, Config)>,
    encoders: [encoder::Config; JOINTS],
    channels: [Channel; JOINTS],
}

impl Angles {
    pub fn new(config: &Config) -> Self {
        Angles {
            setup: Setup::new(config),
            next: None,
            encoders: config.encoders,
            channels: [Channel::default(); JOINTS],
        }
    }

    /// A further Hello of the same device: a new zero, perhaps other encoders, from tick `since` on.
    pub fn set_config(&mut self, config: &Config, since: u64) {
        self.next = Some((since, *config));
    }

    /// Every tick of the next block.
    pub fn block(&mut self, block: &Block, mut each: impl FnMut(Counted)) {
        if let Some((_, config)) = self.next.take_if(|(since, _)| *since <= block.first_tick) {
            self.setup = Setup::new(&config);
            self.encoders = config.encoders;
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
                counts[joint] = self.channels[joint].update(&self.encoders[joint], raw[joint]);
            }
            each(Counted { tick, raw, counts });
        }
    }

    /// Counts as angles [rad].
    pub fn radians(&self, counts: [i32; JOINTS]) -> [f64; JOINTS] {
        std::array::from_fn(|j| self.encoders[j].angle::<f64>(counts[j]))
    }
}
