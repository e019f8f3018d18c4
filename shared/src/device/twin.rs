//! The native twin: tick side, thread side and their queues in one value. Everything but pins, clocks and USB is the
//! code that runs on the board.

use heapless::Deque;

use super::Setup;
use super::{Action, Engine, Identity, Input, Link, Note, Outbox, Request};
use crate::config::Config;
use crate::plant::JOINTS;
use crate::wire::{Block, ConfigOrigin};

/// Blocks that may wait for [`Device::next_frame`].
const BLOCKS: usize = 16;

/// A device without a board.
pub struct Device {
    engine: Engine,
    link: Link,
    queue: Waiting,
    requests: Deque<Request, 4>,
    reset: bool,
}

/// What the tick side has produced.
struct Waiting {
    filling: Block,
    blocks: Deque<Block, BLOCKS>,
    notes: Deque<Note, 32>,
    /// Oldest blocks overwritten.
    discarded: u32,
}

impl Outbox for Waiting {
    fn block(&mut self) -> &mut Block {
        &mut self.filling
    }

    fn submit(&mut self) -> bool {
        if self.blocks.is_full() {
            self.blocks.pop_front();
            self.discarded += 1;
        }
        self.blocks.push_back(self.filling.clone()).is_ok()
    }

    fn note(&mut self, note: Note) -> bool {
        self.notes.push_back(note).is_ok()
    }
}

impl Device {
    /// Of a validated configuration.
    pub fn new(identity: Identity, config: &Config, origin: ConfigOrigin) -> Self {
        Device {
            engine: Engine::new(Setup::new(config)),
            link: Link::new(identity, *config, origin),
            queue: Waiting {
                filling: Block::EMPTY,
                blocks: Deque::new(),
                notes: Deque::new(),
                discarded: 0,
            },
            requests: Deque::new(),
            reset: false,
        }
    }

    /// One tick with these counter values.
    pub fn tick(&mut self, counts: [u32; JOINTS]) {
        self.tick_with(Input {
            counts,
            ..Input::default()
        });
    }

    /// One tick with everything the hardware can say.
    pub fn tick_with(&mut self, input: Input) {
        if let Some(request) = self.requests.pop_front() {
            self.engine.apply(request, &mut self.queue);
        }
        self.engine.tick(input, &mut self.queue);
    }

    /// Bytes from the host. Orders take effect before the next ticks, one per tick.
    pub fn command(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match self.link.receive(byte) {
                Some(Action::Apply(request)) => {
                    if let Err(request) = self.requests.push_back(request) {
                        self.link.refuse(&request);
                    }
                }
                Some(Action::Reset) => self.reset = true,
                Some(Action::Store(_)) | None => {}
            }
        }
    }

    /// The next frame for the host, in wire bytes; 0: nothing waiting. `out` of [`crate::wire::MAX_FRAME`] bytes always
    /// suffices.
    pub fn next_frame(&mut self, out: &mut [u8]) -> usize {
        while let Some(note) = self.queue.notes.pop_front() {
            // Storing is the board's business.
            let _ = self.link.note(note);
        }
        self.link
            .discarded(core::mem::take(&mut self.queue.discarded));
        match self.link.next_frame(out) {
            0 => self
                .queue
                .blocks
                .pop_front()
                .map_or(0, |block| self.link.block(&block, out)),
            n => n,
        }
    }

    /// The host asked for a reset.
    pub fn reset_requested(&self) -> bool {
        self.reset
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn link(&mut self) -> &mut Link {
        &mut self.link
    }
}
