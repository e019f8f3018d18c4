//! Memory that changes behind the processor's back: flash operations that end or are torn, bits that flip.

use super::Machine;
use crate::chip::MemoryChange;
use crate::elf::FLASH_BASE;
use crate::periph::flash::{Change, Torn, WORD};
use crate::rtt::LogLine;

impl Machine {
    /// An interrupted operation leaves words without a valid error correction code.
    pub(super) fn tear(&mut self, torn: Torn) {
        match torn {
            Torn::Program { address, bytes } => {
                self.change_flash(Change::Program { address, bytes });
                self.chip_mut().flash.array.torn(address);
            }
            Torn::Erase { address, len } => {
                let mut data = self.flash_contents(address, len);
                let chip = self.chip_mut();
                for (i, word) in data.chunks_mut(WORD as usize).enumerate() {
                    word.iter_mut()
                        .for_each(|b| *b |= chip.rng.next_u32() as u8);
                    chip.flash.array.torn(address + i as u32 * WORD);
                }
                self.cpu.rewrite_flash(address, &data);
            }
        }
        self.log.push(LogLine::bench(
            self.now(),
            "flash: the running operation was torn".into(),
        ));
    }

    fn flash_contents(&self, address: u32, len: u32) -> Vec<u8> {
        let at = (address - FLASH_BASE) as usize;
        self.chip().code.flash()[at..at + len as usize].to_vec()
    }

    fn change_flash(&mut self, change: Change) {
        match change {
            Change::Program { address, bytes } => {
                let mut data = self.flash_contents(address, WORD);
                if data.iter().any(|&b| b != 0xff) {
                    let note = format!("flash: {address:#010x} programmed without being erased");
                    self.log.push(LogLine::bench(self.now(), note));
                    self.chip_mut().flash.array.torn(address);
                }
                for (d, b) in data.iter_mut().zip(bytes) {
                    *d &= b;
                }
                self.cpu.rewrite_flash(address, &data);
            }
            Change::Erase { address, len } => {
                self.chip_mut().flash.array.erased(address, len);
                self.cpu.rewrite_flash(address, &vec![0xff; len as usize]);
            }
        }
    }

    /// Does what the chip asked for since the last time.
    pub(super) fn apply_memory_changes(&mut self) {
        if self.chip().memory.is_empty() {
            return;
        }
        for change in std::mem::take(&mut self.chip_mut().memory) {
            match change {
                MemoryChange::Flash(change) => self.change_flash(change),
                MemoryChange::Protection => self.cpu.protect(),
                MemoryChange::FlipBit { address, bit } => {
                    if let Some(byte) = self.cpu.read_bytes(address, 1) {
                        self.cpu.write_bytes(address, &[byte[0] ^ 1 << bit]);
                    }
                }
            }
        }
    }
}
