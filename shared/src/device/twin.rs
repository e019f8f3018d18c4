//! The native twin: tick side, thread side and their queues in one value. Everything but pins, clocks and USB is the
//! code that runs on the board.
//!
//! Bytes from the host wait in an inbox while there is no room for one more reply, as they wait in the USB peripheral of the
//! board.

use heapless::Deque;

use super::Setup;
use super::{Action, Engine, Identity, Input, Link, Note, Outbox, Request};
use crate::JOINTS;
use crate::device::config::Config;
use crate::model::motor::Duty;
use crate::wire::{Block, ConfigOrigin};

/// Blocks that may wait for [`Device::next_frame`].
const BLOCKS: usize = 16;

/// Bytes of commands that may wait; a longer burst loses replies, never commands.
const INBOX: usize = 8192;

/// A device without a board.
pub struct Device {
    engine: Engine,
    link: Link,
    queue: Waiting,
    inbox: Deque<u8, INBOX>,
    requests: Deque<Queued, 4>,
    /// What the queued [`Queued::Configure`] puts in force.
    spare: Setup,
    reset: bool,
}

/// On its way to the tick side.
enum Queued {
    Order(Request<'static>),
    Configure(u16),
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
        let setup = Setup::new(config);
        Device {
            engine: Engine::new(setup),
            link: Link::new(identity, *config, origin),
            queue: Waiting {
                filling: Block::EMPTY,
                blocks: Deque::new(),
                notes: Deque::new(),
                discarded: 0,
            },
            inbox: Deque::new(),
            requests: Deque::new(),
            spare: setup,
            reset: false,
        }
    }

    /// As [`Engine::guard`].
    pub fn guard(&mut self, limit_cycles: u32) {
        self.engine.guard(limit_cycles);
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
        self.listen();
        if let Some(queued) = self.requests.pop_front() {
            let request = match queued {
                Queued::Order(request) => request,
                Queued::Configure(id) => Request::Configure {
                    id,
                    setup: &mut self.spare,
                },
            };
            self.engine.apply(request, &mut self.queue);
        }
        self.engine.tick(input, &mut self.queue);
    }

    /// The duty from the next tick on; `None`: the bridge is off. Apply it to the rig from that tick to the one after.
    pub fn output(&self) -> Option<Duty> {
        self.engine.output()
    }

    /// Bytes from the host. Orders take effect before the next ticks, one per tick.
    pub fn command(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.inbox.is_full()
                && let Some(oldest) = self.inbox.pop_front()
            {
                self.receive(oldest);
            }
            let _ = self.inbox.push_back(byte);
        }
        self.listen();
    }

    /// Take in what waits, as long as it can be answered.
    fn listen(&mut self) {
        while self.link.is_ready()
            && let Some(byte) = self.inbox.pop_front()
        {
            self.receive(byte);
        }
    }

    fn receive(&mut self, byte: u8) {
        match self.link.receive(byte) {
            Some(Action::Apply(request)) => {
                if let Err(Queued::Order(request)) = self.requests.push_back(Queued::Order(request))
                {
                    self.link.refuse(&request);
                }
            }
            Some(Action::Configure) => self.configure(),
            Some(Action::Reset) => self.reset = true,
            Some(Action::Store(_)) | None => {}
        }
    }

    fn configure(&mut self) {
        let Some((id, config)) = self.link.offered() else {
            return;
        };
        if self.requests.is_full() {
            self.link.refuse_offered();
            return;
        }
        self.spare = Setup::new(config);
        let _ = self.requests.push_back(Queued::Configure(id));
    }

    /// Let the thread side hear what the tick side has to say, whether or not the host reads.
    pub fn take_notes(&mut self) {
        while let Some(note) = self.queue.notes.pop_front() {
            // Storing is the board's business.
            let _ = self.link.note(note);
        }
    }

    /// The next frame for the host, in wire bytes; 0: nothing waiting. `out` of [`crate::wire::MAX_FRAME`] bytes always
    /// suffices.
    pub fn next_frame(&mut self, out: &mut [u8]) -> usize {
        self.take_notes();
        self.listen();
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
