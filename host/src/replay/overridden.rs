//! The observers run again on logged counts with another configuration: what would the device have found?
//!
//! In: blocks in order. Out: the estimates at the end. Starts where the device's first snapshot is and follows the same
//! orders; after a gap it starts again at the next snapshot.

use stribeck_core::device::config::Config;
use stribeck_core::device::{Observers, Setup};
use stribeck_core::wire::Block;

pub struct Overridden {
    setup: Setup,
    observers: Option<Observers>,
    pub ticks: u64,
}

impl Overridden {
    pub fn new(config: &Config) -> Self {
        Overridden {
            setup: Setup::new(config),
            observers: None,
            ticks: 0,
        }
    }

    /// Ticks are missing.
    pub fn gap(&mut self) {
        self.observers = None;
    }

    pub fn block(&mut self, block: &Block) {
        match &mut self.observers {
            None => {
                let words = block.snapshot();
                self.observers = words.and_then(|w| Observers::from_words(self.setup, w));
            }
            Some(own) => own.obey(block, self.setup),
        }
        if let Some(own) = &mut self.observers {
            let Ok(()) = own.follow(block, |_, _| Ok::<_, std::convert::Infallible>(()));
            self.ticks += u64::from(block.ticks);
        }
    }

    /// The observers after the last block.
    pub fn observers(&self) -> Option<&Observers> {
        self.observers.as_ref()
    }
}
