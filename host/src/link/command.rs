//! Commands to the device: their bytes, their numbers, and which of them still wait for a reply.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stribeck_core::wire::{self, Ask, Command, MAX_FRAME, Reply};

/// The frame of a command; its `id` comes back in the reply.
pub fn frame(id: u16, ask: Ask) -> Vec<u8> {
    let mut bytes = vec![0; MAX_FRAME];
    let n = wire::encode(&Command { id, ask }, &mut bytes).unwrap_or(0);
    bytes.truncate(n);
    // A leading delimiter ends whatever half command the device may still hold.
    bytes.insert(0, 0);
    bytes
}

/// What a command asks for, in words.
pub fn name(ask: &Ask) -> &'static str {
    match ask {
        Ask::Hello => "to introduce itself",
        Ask::Start => "to arm",
        Ask::Stop => "to stop",
        Ask::Zero => "to set zero",
        Ask::SetConfig { .. } => "to take a configuration",
        Ask::GetConfig => "for its configuration",
        Ask::SelfTest { .. } => "for a test pattern",
        Ask::Reset => "to reset",
        Ask::Drive(_) => "to drive",
        Ask::Plan(_) => "to take a plan",
        Ask::Beat => "to know that the host lives",
    }
}

/// Numbers every command differently and knows which of them were answered.
#[derive(Debug)]
pub struct Commands {
    next: u16,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    id: u16,
    what: &'static str,
    since: Instant,
}

impl Default for Commands {
    /// Begins somewhere: replies to a program that ended a moment ago must not pass for ours.
    fn default() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = now.map_or(0, |d| d.subsec_nanos());
        Commands {
            next: (nanos ^ std::process::id()) as u16,
            waiting: Vec::new(),
        }
    }
}

impl Commands {
    /// The next number and the bytes of the command.
    pub fn frame(&mut self, ask: Ask) -> (u16, Vec<u8>) {
        self.next = self.next.wrapping_add(1);
        self.waiting.push(Waiting {
            id: self.next,
            what: name(&ask),
            since: Instant::now(),
        });
        (self.next, frame(self.next, ask))
    }

    /// The bytes of a request to be introduced: asked again and again, its answer is the Hello itself.
    pub fn greeting(&mut self) -> Vec<u8> {
        self.next = self.next.wrapping_add(1);
        frame(self.next, Ask::Hello)
    }

    /// Which of our commands this answers, in words; `None`: none of ours.
    pub fn answered(&mut self, reply: &Reply) -> Option<&'static str> {
        let at = self.waiting.iter().position(|w| w.id == reply.id)?;
        Some(self.waiting.swap_remove(at).what)
    }

    /// A command that has had no reply for so long; it is not waited for any more.
    pub fn unanswered(&mut self, patience: Duration) -> Option<&'static str> {
        let late = |w: &Waiting| w.since.elapsed() >= patience;
        let at = self.waiting.iter().position(late)?;
        Some(self.waiting.swap_remove(at).what)
    }

    /// The connection broke: nothing will be answered.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }
}
