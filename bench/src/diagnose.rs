//! What the bench noticed: accesses nobody models, registers without effect, closed clock gates, busy waits, notes with their time.

use std::collections::BTreeMap;

use crate::spin::Spins;
use crate::time::{Time, to_secs};

/// One kind of odd access: counted, with the first place it came from.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Access {
    pub address: u32,
    pub write: bool,
    pub pc: u32,
    pub first_s: f64,
    pub count: u64,
    pub why: Why,
}

/// What is odd about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No such register here.
    Unmodelled,
    /// The clock gate of this name was closed.
    Gated(&'static str),
    /// The register is kept, and what it would do on the chip is not done.
    WithoutEffect(&'static str),
}

#[derive(Default)]
pub struct Diagnostics {
    accesses: BTreeMap<(u32, bool), Access>,
    pub spins: Spins,
    notes: Vec<(Time, String)>,
    /// Address of the last access to unmapped memory.
    pub bad_access: u32,
    pub noise_passed: u64,
    pub noise_filtered: u64,
}

impl Diagnostics {
    pub fn access(&mut self, address: u32, write: bool, pc: u32, now: Time, why: Why) {
        let entry = self.accesses.entry((address, write)).or_insert(Access {
            address,
            write,
            pc,
            first_s: to_secs(now),
            count: 0,
            why,
        });
        entry.count += 1;
    }

    /// Odd accesses by address.
    pub fn accesses(&self) -> Vec<Access> {
        self.accesses.values().cloned().collect()
    }

    pub fn note(&mut self, now: Time, text: String) {
        self.notes.push((now, text));
    }

    /// Notes since the last call.
    pub fn take_notes(&mut self) -> Vec<(Time, String)> {
        std::mem::take(&mut self.notes)
    }
}
