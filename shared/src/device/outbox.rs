//! Between the two halves: what passes, and the queues it passes through.
//!
//! Blocks travel by reference: a fixed set of them circulates between a `free` and a `full` queue, so handing
//! one over costs a pointer. When no free block is left the tick side reuses the one it just filled: that
//! block is lost, counted, and its missing sequence number shows the gap. The thread side keeps this from happening
//! by discarding the oldest full block first ([`ThreadEnd::make_room`]).

use heapless::spsc::{Consumer, Producer, Queue};

use super::Setup;
use crate::plant::JOINTS;
use crate::run::Cause;
use crate::wire::{Block, Event};

/// From the thread to the tick side; already validated.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Request {
    Arm {
        id: u16,
        cause: Cause,
    },
    Stop {
        id: u16,
        cause: Cause,
    },
    Zero {
        id: u16,
        cause: Cause,
    },
    Configure {
        id: u16,
        setup: Setup,
    },
    /// Let the next block start with a snapshot. No reply.
    Snapshot,
}

/// From the tick side to the thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    Event(Event),
    /// Request `id` was applied before `tick`.
    Accepted {
        id: u16,
        tick: u64,
    },
    /// Request `id` is not possible while swinging; nothing changed.
    Refused {
        id: u16,
        tick: u64,
    },
    /// Once per second: what a Status needs from this side.
    Vitals(Vitals),
}

/// Counters of the tick side, since reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vitals {
    pub tick: u64,
    pub lost_blocks: u32,
    pub lost_notes: u32,
    pub encoder_faults: [u32; JOINTS],
    pub uas_restarts: u32,
    pub ekf_restarts: u32,
}

impl Request {
    /// The command it came from, if that wants a reply.
    pub fn id(&self) -> Option<u16> {
        match self {
            Request::Arm { id, .. }
            | Request::Stop { id, .. }
            | Request::Zero { id, .. }
            | Request::Configure { id, .. } => Some(*id),
            Request::Snapshot => None,
        }
    }
}

/// Where the engine puts what it produces.
pub trait Outbox {
    /// The block being filled.
    fn block(&mut self) -> &mut Block;
    /// Hand over the filled block and offer another (content arbitrary); false: it was lost.
    fn submit(&mut self) -> bool;
    /// Hand over a note; false: it was lost.
    fn note(&mut self, note: Note) -> bool;
}

/// Storage of the queues; `BLOCKS` is one more than the blocks in circulation besides the one being filled.
pub struct Queues<'a, const BLOCKS: usize> {
    full: Queue<&'a mut Block, BLOCKS>,
    free: Queue<&'a mut Block, BLOCKS>,
    notes: Queue<Note, 32>,
    requests: Queue<Request, 4>,
}

impl<const BLOCKS: usize> Default for Queues<'_, BLOCKS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, const BLOCKS: usize> Queues<'a, BLOCKS> {
    pub const fn new() -> Self {
        Queues {
            full: Queue::new(),
            free: Queue::new(),
            notes: Queue::new(),
            requests: Queue::new(),
        }
    }

    /// The two ends, with `blocks` (exactly `BLOCKS`) in circulation.
    pub fn split(&'a mut self, blocks: &'a mut [Block; BLOCKS]) -> (TickEnd<'a>, ThreadEnd<'a>) {
        const { assert!(BLOCKS >= 3) };
        let (first, rest) = blocks.split_first_mut().expect("BLOCKS ≥ 3");
        for block in rest {
            // A Queue of BLOCKS holds BLOCKS − 1: exactly the rest.
            let _ = self.free.enqueue(block);
        }
        let (full_in, full_out) = self.full.split();
        let (free_in, free_out) = self.free.split();
        let (notes_in, notes_out) = self.notes.split();
        let (requests_in, requests_out) = self.requests.split();
        let tick = TickEnd {
            filling: first,
            full: full_in,
            free: free_out,
            notes: notes_in,
            requests: requests_out,
        };
        let thread = ThreadEnd {
            full: full_out,
            free: free_in,
            notes: notes_out,
            requests: requests_in,
        };
        (tick, thread)
    }
}

/// The interrupt's end.
pub struct TickEnd<'a> {
    filling: &'a mut Block,
    full: Producer<'a, &'a mut Block>,
    free: Consumer<'a, &'a mut Block>,
    notes: Producer<'a, Note>,
    requests: Consumer<'a, Request>,
}

impl TickEnd<'_> {
    /// The next request, for [`super::Engine::apply`]: take at most one per tick.
    #[inline(always)]
    pub fn request(&mut self) -> Option<Request> {
        not_empty_ring(self.requests.capacity())?;
        self.requests.dequeue()
    }
}

/// Always `Some`. heapless computes positions modulo the ring's length, which it only knows at run time; this
/// tells the compiler that the length (capacity + 1) is not zero, so that no panic path is left in the tick.
#[inline(always)]
fn not_empty_ring(capacity: usize) -> Option<()> {
    (capacity != usize::MAX).then_some(())
}

impl Outbox for TickEnd<'_> {
    #[inline(always)]
    fn block(&mut self) -> &mut Block {
        self.filling
    }

    #[inline(always)]
    fn submit(&mut self) -> bool {
        let Some(next) = not_empty_ring(self.free.capacity()).and_then(|()| self.free.dequeue())
        else {
            return false;
        };
        let filled = ::core::mem::replace(&mut self.filling, next);
        not_empty_ring(self.full.capacity()).is_some() && self.full.enqueue(filled).is_ok()
    }

    #[inline(always)]
    fn note(&mut self, note: Note) -> bool {
        not_empty_ring(self.notes.capacity()).is_some() && self.notes.enqueue(note).is_ok()
    }
}

/// The thread's end.
pub struct ThreadEnd<'a> {
    full: Consumer<'a, &'a mut Block>,
    free: Producer<'a, &'a mut Block>,
    notes: Consumer<'a, Note>,
    requests: Producer<'a, Request>,
}

impl ThreadEnd<'_> {
    /// Send a request; false: the queue is full ([`super::Link::refuse`]).
    pub fn request(&mut self, request: Request) -> bool {
        self.requests.enqueue(request).is_ok()
    }

    pub fn note(&mut self) -> Option<Note> {
        self.notes.dequeue()
    }

    /// Blocks waiting.
    pub fn waiting(&self) -> usize {
        self.full.len()
    }

    /// Every block is where it can be found again. Not so after damage to the queues (a flipped bit in RAM): they cannot
    /// be repaired, only built anew.
    pub fn is_whole(&self) -> bool {
        // In this order: a block that the tick hands over meanwhile is counted twice, never missed.
        self.free.len() + self.full.len() >= self.free.capacity()
    }

    /// Use the oldest block and give it back to the tick side.
    pub fn with_block<R>(&mut self, f: impl FnOnce(&Block) -> R) -> Option<R> {
        let block = self.full.dequeue()?;
        let result = f(block);
        let _ = self.free.enqueue(block);
        Some(result)
    }

    /// Discard the oldest blocks until at most `keep` wait; returns how many were discarded.
    pub fn make_room(&mut self, keep: usize) -> u32 {
        let mut discarded = 0;
        while self.waiting() > keep && self.with_block(|_| ()).is_some() {
            discarded += 1;
        }
        discarded
    }
}
