//! What the bench noticed: accesses nobody models, closed clock gates, notes with their time.

use std::collections::BTreeMap;

use crate::time::{Time, to_secs};

/// One kind of odd access: counted, with the first place it came from.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Access {
    pub address: u32,
    pub write: bool,
    pub pc: u32,
    pub first_s: f64,
    pub count: u64,
    /// The clock gate that was closed; none = the register is not modelled.
    pub gate: Option<&'static str>,
}

#[derive(Default)]
pub struct Diagnostics {
    accesses: BTreeMap<(u32, bool), Access>,
    notes: Vec<(Time, String)>,
    /// Address of the last access to unmapped memory.
    pub bad_access: u32,
    pub noise_passed: u64,
    pub noise_filtered: u64,
}

impl Diagnostics {
    pub fn unmodelled(&mut self, address: u32, write: bool, pc: u32, now: Time) {
        self.access(address, write, pc, now, None);
    }

    pub fn gated(&mut self, address: u32, write: bool, pc: u32, now: Time, gate: &'static str) {
        self.access(address, write, pc, now, Some(gate));
    }

    fn access(
        &mut self,
        address: u32,
        write: bool,
        pc: u32,
        now: Time,
        gate: Option<&'static str>,
    ) {
        let entry = self.accesses.entry((address, write)).or_insert(Access {
            address,
            write,
            pc,
            first_s: to_secs(now),
            count: 0,
            gate,
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
