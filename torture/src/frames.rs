//! Sound frames to damage: a short stream of the native device, and damage itself.

use stribeck_core::device::config::Config;
use stribeck_core::device::{Device, Identity};
use stribeck_core::model::sim::{Rng, Simulation};
use stribeck_core::wire::{Ask, Command, ConfigOrigin, MAX_FRAME, encode};

pub fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.bits() % n.max(1) as u64) as usize
}

/// A command as bytes.
pub fn command(id: u16, ask: Ask) -> Vec<u8> {
    let mut bytes = vec![0; MAX_FRAME];
    let n = encode(&Command { id, ask }, &mut bytes).unwrap_or(0);
    bytes.truncate(n);
    bytes
}

/// What a device says in `ticks` ticks of the reference swing, armed at once; one element per frame, delimiter included.
pub fn stream(config: &Config, ticks: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut device = Device::new(Identity::new("twin"), config, ConfigOrigin::Default);
    device.command(&command(1, Ask::Hello));
    device.command(&command(2, Ask::Start));
    let mut out = Vec::new();
    let mut frame = [0; MAX_FRAME];
    for sample in Simulation::reference(0.0, seed).take(ticks) {
        device.tick(sample.counts);
        while let n @ 1.. = device.next_frame(&mut frame) {
            out.push(frame[..n].to_vec());
        }
    }
    out
}

/// Damage these bytes somehow; never leaves them as they were unless they are empty.
pub fn damage(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let before = bytes.clone();
    while *bytes == before {
        let at = below(rng, bytes.len());
        let len = 1 + below(rng, (bytes.len() - at).min(24));
        match below(rng, 7) {
            0 => {
                for _ in 0..1 + below(rng, 4) {
                    let at = below(rng, bytes.len());
                    bytes[at] ^= 1 << below(rng, 8);
                }
            }
            1 => drop(bytes.drain(at..at + len)),
            2 => {
                let part = bytes[at..at + len].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let cut = below(rng, other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[cut..]);
            }
            4 => bytes.truncate(at),
            5 => bytes[at..at + len].fill(rng.bits() as u8),
            _ => bytes.insert(at, rng.bits() as u8),
        }
        if bytes.is_empty() {
            return;
        }
    }
}
