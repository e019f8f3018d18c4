//! Between the two halves: what passes, and the queues it passes through.
//!
//! Blocks travel by reference: a fixed set of them circulates between a `free` and a `full` queue, so handing
//! one over costs a pointer. When no free block is left the tick side reuses the one it just filled: that
//! block is lost, counted, and its missing sequence number shows the gap. The thread side keeps this from happening
//! by discarding the oldest full block first ([`ThreadEnd::make_room`]).
//!
//! A new configuration travels the same way: the thread builds it in the one spare [`Setup`], the tick side swaps it with
//! the one in force and gives that back. So the interrupt copies no observers, and the queue holds no large values.

use heapless::spsc::{Consumer, Producer, Queue};

use super::Setup;
use crate::JOINTS;
use crate::device::config::Config;
use crate::device::run::Cause;
use crate::number::verdict::Verdict;
use crate::observer::ekf;
use crate::wire::{Block, Drive, DriveHealth, Event, Plan};

/// From the thread to the tick side; already validated.
#[derive(Debug)]
pub enum Request<'a> {
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
    /// `setup` is put in force; [`super::Engine::apply`] gives back the one that was.
    Configure {
        id: u16,
        setup: &'a mut Setup,
    },
    /// Arm the motor in a mode, or change it.
    Drive {
        id: u16,
        drive: Drive,
    },
    Plan {
        id: u16,
        plan: Plan,
    },
    /// The host is alive. No reply.
    Beat,
    /// Let the next block start with a snapshot. No reply.
    Snapshot,
}

/// From the tick side to the thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    Event(Event),
    /// Order `id` was applied before `tick`.
    Accepted {
        id: u16,
        tick: u64,
    },
    /// Order `id` is not possible while swinging; nothing changed.
    Refused {
        id: u16,
        tick: u64,
    },
    /// The configuration of command `id` is in force from `tick` on. Notes of its own, because the host may give an order
    /// the same id.
    Configured {
        id: u16,
        tick: u64,
    },
    /// No configuration is taken while swinging; nothing changed.
    NotConfigured {
        id: u16,
        tick: u64,
    },
    /// The rig has no drive, or the signal cannot be played; nothing changed.
    NotDrivable {
        id: u16,
        tick: u64,
    },
    /// Control does not play plans now; nothing changed.
    NotPlanning {
        id: u16,
        tick: u64,
    },
    /// Not possible while driving; nothing changed.
    IsDriving {
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
    pub overloads: u32,
    /// First tick the configuration in force was in force for.
    pub config_since: u64,
    pub uas_floored: u32,
    pub ekf: ekf::Counters,
    pub ekf_verdict: Verdict,
    pub drive: DriveHealth,
}

impl Request<'_> {
    /// The command it came from, if that wants a reply.
    pub fn id(&self) -> Option<u16> {
        match self {
            Request::Arm { id, .. }
            | Request::Stop { id, .. }
            | Request::Zero { id, .. }
            | Request::Drive { id, .. }
            | Request::Plan { id, .. }
            | Request::Configure { id, .. } => Some(*id),
            Request::Snapshot | Request::Beat => None,
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
    requests: Queue<Request<'a>, 4>,
    spare: Queue<&'a mut Setup, 2>,
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
            spare: Queue::new(),
        }
    }

    /// The two ends, with `blocks` (exactly `BLOCKS`) and the spare `setup` (content arbitrary) in circulation.
    pub fn split(
        &'a mut self,
        blocks: &'a mut [Block; BLOCKS],
        setup: &'a mut Setup,
    ) -> (TickEnd<'a>, ThreadEnd<'a>) {
        const { assert!(BLOCKS >= 3) };
        let (first, rest) = blocks.split_first_mut().expect("BLOCKS ≥ 3");
        for block in rest {
            // A Queue of BLOCKS holds BLOCKS − 1: exactly the rest.
            let _ = self.free.enqueue(block);
        }
        let _ = self.spare.enqueue(setup);
        let (full_in, full_out) = self.full.split();
        let (free_in, free_out) = self.free.split();
        let (notes_in, notes_out) = self.notes.split();
        let (requests_in, requests_out) = self.requests.split();
        let (spare_in, spare_out) = self.spare.split();
        let tick = TickEnd {
            filling: first,
            full: full_in,
            free: free_out,
            notes: notes_in,
            requests: requests_out,
            spare: spare_in,
        };
        let thread = ThreadEnd {
            full: full_out,
            free: free_in,
            notes: notes_out,
            requests: requests_in,
            spare: spare_out,
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
    requests: Consumer<'a, Request<'a>>,
    spare: Producer<'a, &'a mut Setup>,
}

impl<'a> TickEnd<'a> {
    /// The next request, for [`super::Engine::apply`]: take at most one per tick. It ends a block, so it waits until one is
    /// free for it and one for the tick: a burst of orders loses none.
    #[inline(always)]
    pub fn request(&mut self) -> Option<Request<'a>> {
        not_empty_ring(self.free.capacity())?;
        if self.free.len() < 2 {
            return None;
        }
        not_empty_ring(self.requests.capacity())?;
        self.requests.dequeue()
    }

    /// The setup that [`super::Engine::apply`] gave back becomes the thread's spare.
    #[inline(always)]
    pub fn give_back(&mut self, setup: &'a mut Setup) {
        if not_empty_ring(self.spare.capacity()).is_some() {
            let _ = self.spare.enqueue(setup);
        }
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
    requests: Producer<'a, Request<'a>>,
    spare: Consumer<'a, &'a mut Setup>,
}

impl<'a> ThreadEnd<'a> {
    /// Send a request; given back: the queue is full ([`super::Link::refuse`]).
    pub fn request(&mut self, request: Request<'a>) -> Result<(), Request<'a>> {
        self.requests.enqueue(request)
    }

    /// Build `config` and send it; false: the queue is full, or an earlier configuration is still on its way.
    pub fn configure(&mut self, id: u16, config: &Config) -> bool {
        if !self.requests.ready() {
            return false;
        }
        let Some(setup) = self.spare.dequeue() else {
            return false;
        };
        *setup = Setup::new(config);
        self.requests
            .enqueue(Request::Configure { id, setup })
            .is_ok()
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
