//! Commands to the device as bytes.

use stribeck_core::wire::{self, Ask, Command, MAX_FRAME};

/// The frame of a command; its `id` comes back in the reply.
pub fn frame(id: u16, ask: Ask) -> Vec<u8> {
    let mut bytes = vec![0; MAX_FRAME];
    let n = wire::encode(&Command { id, ask }, &mut bytes).unwrap_or(0);
    bytes.truncate(n);
    // A leading delimiter ends whatever half command the device may still hold.
    bytes.insert(0, 0);
    bytes
}
