//! What the processor reads of the flash array, as opposed to what is in it.
//!
//! Two things stand between them on the chip (RM0433 §4.3.8, AN4839), and a program that does not know them works only on an emulator:
//! - a word whose programming was interrupted, or that was programmed twice, has no valid error correction code: reading it is a bus fault;
//! - the data cache keeps a line that was read before, whatever is programmed or erased since, until the program invalidates it.
//!
//! Lines are taken to stay in the cache until they are invalidated: a program must not rely on their being replaced. Only sectors without a
//! part of the program are watched (`cpu::watch`). Uncorrectable words are healed by an erase only.

use std::collections::{BTreeSet, HashMap};

use super::WORD;
use crate::elf::FLASH_BASE;

#[derive(Default)]
pub struct Array {
    uncorrectable: BTreeSet<u32>,
    /// The data cache is on.
    caching: bool,
    /// Lines it holds, as they were when they were read.
    cached: HashMap<u32, [u8; WORD as usize]>,
}

/// First address of the word, which is also a cache line.
fn word(address: u32) -> u32 {
    address & !(WORD - 1)
}

impl Array {
    /// The processor loads `bytes` at `address`; `flash` is what the array holds. False = a word cannot be corrected.
    pub fn load(&mut self, address: u32, bytes: u32, flash: &[u8]) -> bool {
        for line in [word(address), word(address + bytes - 1)] {
            if self.cached.contains_key(&line) {
                continue;
            }
            if self.uncorrectable.contains(&line) {
                return false;
            }
            let at = (line - FLASH_BASE) as usize;
            if self.caching
                && let Some(Ok(copy)) = flash.get(at..at + WORD as usize).map(TryInto::try_into)
            {
                self.cached.insert(line, copy);
            }
        }
        true
    }

    /// What the processor sees at `address`.
    pub fn seen(&self, address: u32, flash: &[u8]) -> u8 {
        match self.cached.get(&word(address)) {
            Some(line) => line[(address % WORD) as usize],
            None => *flash.get((address - FLASH_BASE) as usize).unwrap_or(&0xff),
        }
    }

    /// The words of [address, address + len) are good again: erased.
    pub fn erased(&mut self, address: u32, len: u32) {
        self.uncorrectable
            .retain(|w| !(address..address + len).contains(w));
    }

    /// The word has no valid code any more.
    pub fn torn(&mut self, address: u32) {
        self.uncorrectable.insert(word(address));
    }

    /// The cache forgets the line at `address`.
    pub fn invalidate(&mut self, address: u32) {
        self.cached.remove(&word(address));
    }

    /// The cache forgets everything.
    pub fn invalidate_all(&mut self) {
        self.cached.clear();
    }

    /// The data cache is switched on or off; off, everything comes from the array.
    pub fn cache(&mut self, on: bool) {
        self.caching = on;
        if !on {
            self.invalidate_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u32 = FLASH_BASE + 64;

    #[test]
    fn a_line_read_before_stays_as_it_was_until_invalidated() {
        let (mut a, erased, programmed) = (Array::default(), [0xff; 256], [0x5a; 256]);
        a.cache(true);
        assert!(a.load(AT + 4, 4, &erased));
        assert_eq!(a.seen(AT + 7, &programmed), 0xff, "from the cache");
        assert_eq!(
            a.seen(AT + 32, &programmed),
            0x5a,
            "nobody has read that line"
        );
        a.invalidate(AT + 8);
        assert_eq!(a.seen(AT + 7, &programmed), 0x5a);
    }

    #[test]
    fn without_the_cache_every_change_is_seen() {
        let (mut a, erased, programmed) = (Array::default(), [0xff; 256], [0x5a; 256]);
        a.load(AT, 4, &erased);
        assert_eq!(a.seen(AT, &programmed), 0x5a);
        a.cache(true);
        a.load(AT, 4, &erased);
        assert_eq!(a.seen(AT, &programmed), 0xff);
        a.cache(false);
        assert_eq!(a.seen(AT, &programmed), 0x5a);
    }

    #[test]
    fn a_torn_word_cannot_be_read_until_it_is_erased() {
        let (mut a, flash) = (Array::default(), [0xff; 256]);
        a.torn(AT + 12);
        assert!(!a.load(AT, 4, &flash) && !a.load(AT - 4, 8, &flash));
        assert!(a.load(AT + 32, 4, &flash));
        a.erased(FLASH_BASE, 0x2_0000);
        assert!(a.load(AT, 4, &flash));
    }
}
