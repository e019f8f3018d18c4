//! FLASH: the two-bank embedded flash with program and sector erase (RM0433 §4).
//!
//! Programming works on flash words of 32 bytes: the eighth word written starts it. Program and erase take their
//! data-sheet time for the chosen parallelism (DS12110 table 51, typical); a reset before the end leaves a
//! torn word or sector, whose bits come from the scenario's random stream. The array itself lives in the processor's
//! memory map; this file returns [`Change`]s for it, and [`array`] says what the processor sees of it. Not modelled: option bytes,
//! corrected single errors, protection, bank swap.

pub mod array;

use crate::elf::{FLASH_BASE, FLASH_SIZE};
use crate::rng::Rng;
use crate::time::{MS, NEVER, Time, US};

/// Bytes programmed at once, and bytes erased at once.
pub const WORD: u32 = 32;
pub const SECTOR: u32 = 0x2_0000;
const BANK: u32 = FLASH_SIZE / 2;

const LOCK: u32 = 1;
const PG: u32 = 1 << 1;
const SER: u32 = 1 << 2;
const BER: u32 = 1 << 3;
const START: u32 = 1 << 7;
const BSY: u32 = 1;
const WBNE: u32 = 1 << 1;
const QW: u32 = 1 << 2;
const EOP: u32 = 1 << 16;
const PGSERR: u32 = 1 << 18;
const INCERR: u32 = 1 << 21;
const DBECCERR: u32 = 1 << 26;

/// What happens to the array when an operation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Program: new contents = old AND these bytes.
    Program {
        address: u32,
        bytes: [u8; WORD as usize],
    },
    /// Erase: everything becomes 0xff.
    Erase { address: u32, len: u32 },
}

/// What a reset in the middle of an operation leaves behind.
pub enum Torn {
    Program {
        address: u32,
        bytes: [u8; WORD as usize],
    },
    /// Bytes [address, address + len): each either erased or as before, by the stream's next bit.
    Erase { address: u32, len: u32 },
}

#[derive(Default)]
struct Bank {
    cr: u32,
    sr: u32,
    key_step: u8,
    /// Word of the last uncorrectable error.
    fail: u32,
    buffer: Vec<u8>,
    buffer_at: u32,
    running: Option<(Change, Time)>,
}

pub struct Flash {
    acr: u32,
    banks: [Bank; 2],
    /// Words programmed and sectors erased since power-on.
    pub programmed: u64,
    pub erased: u64,
    pub array: array::Array,
}

impl Default for Flash {
    fn default() -> Self {
        let bank = || Bank {
            cr: LOCK | 3 << 4,
            ..Bank::default()
        };
        Flash {
            acr: 0x37,
            banks: [bank(), bank()],
            programmed: 0,
            erased: 0,
            array: array::Array::default(),
        }
    }
}

impl Flash {
    /// Wait states of a read (ACR.LATENCY).
    pub fn wait_states(&self) -> u32 {
        self.acr & 15
    }

    pub fn read(&self, off: u32) -> Option<u32> {
        let (bank, reg) = ((off >> 8) as usize, off & 0xff);
        let b = self.banks.get(bank)?;
        Some(match reg {
            0x00 => self.acr,
            0x04 | 0x08 => 0,
            0x0c => b.cr,
            0x10 => {
                b.sr | if b.running.is_some() { BSY | QW } else { 0 }
                    | if b.buffer.is_empty() { 0 } else { WBNE }
            }
            0x14 => 0,
            0x18 => 1,                  // OPTCR: option bytes locked
            0x1c | 0x20 => 0x0406_aaf0, // OPTSR: factory settings
            0x60 => b.fail,
            _ => return None,
        })
    }

    pub fn write(&mut self, off: u32, v: u32, now: Time) -> Option<()> {
        let (bank, reg) = ((off >> 8) as usize, off & 0xff);
        if bank > 1 {
            return None;
        }
        match reg {
            0x00 => self.acr = v,
            0x04 => self.banks[bank].key(v),
            0x0c => self.control(bank, v, now),
            0x10 => {} // read-only: flags are cleared through CCR
            0x14 => self.banks[bank].sr &= !(v & 0x0eef_0000),
            0x08 | 0x18..=0x20 => {}
            _ => return None,
        }
        Some(())
    }

    fn control(&mut self, bank: usize, v: u32, now: Time) {
        let b = &mut self.banks[bank];
        if b.cr & LOCK != 0 {
            return;
        }
        b.cr = v & !START;
        if v & PG == 0 {
            b.buffer.clear();
        }
        if v & START == 0 || b.running.is_some() || v & (SER | BER) == 0 {
            return;
        }
        let base = FLASH_BASE + bank as u32 * BANK;
        let (address, len) = if v & BER != 0 {
            (base, BANK)
        } else {
            (base + (v >> 8 & 7) * SECTOR, SECTOR)
        };
        let sectors = Time::from(len / SECTOR);
        let per_sector = [2000 * MS, 1800 * MS, 1100 * MS, 1000 * MS][(v >> 4 & 3) as usize];
        b.running = Some((Change::Erase { address, len }, now + sectors * per_sector));
    }

    /// A store of the processor to the array; `Err` says why nothing will be programmed.
    pub fn store(
        &mut self,
        address: u32,
        size: u32,
        value: u32,
        now: Time,
    ) -> Result<(), &'static str> {
        let b = &mut self.banks[((address - FLASH_BASE) / BANK) as usize];
        if b.cr & LOCK != 0 || b.cr & PG == 0 || b.running.is_some() {
            b.sr |= PGSERR;
            return Err("store to flash without PG set");
        }
        if b.buffer.is_empty() {
            if !address.is_multiple_of(WORD) {
                b.sr |= INCERR;
                return Err("flash word does not start on a 32-byte boundary");
            }
            b.buffer_at = address;
        }
        if address != b.buffer_at + b.buffer.len() as u32 {
            b.sr |= INCERR;
            b.buffer.clear();
            return Err("flash word written out of order");
        }
        b.buffer.extend(&value.to_le_bytes()[..size as usize]);
        if let Ok(bytes) = <[u8; WORD as usize]>::try_from(&b.buffer[..]) {
            let time = [290 * US, 180 * US, 130 * US, 100 * US][(b.cr >> 4 & 3) as usize];
            let change = Change::Program {
                address: b.buffer_at,
                bytes,
            };
            b.running = Some((change, now + time));
            b.buffer.clear();
        }
        Ok(())
    }

    /// A word at `address` was read that cannot be corrected.
    pub fn uncorrectable(&mut self, address: u32) {
        let b = &mut self.banks[((address - FLASH_BASE) / BANK) as usize];
        b.sr |= DBECCERR;
        b.fail = (address & (BANK - 1)) / WORD;
    }

    /// When the running operation ends.
    pub fn next(&self) -> Time {
        let end = |b: &Bank| b.running.as_ref().map_or(NEVER, |r| r.1);
        self.banks.iter().map(end).min().unwrap_or(NEVER)
    }

    /// What is being programmed or erased now, if anything.
    pub fn running(&self) -> Option<&Change> {
        self.banks.iter().find_map(|b| Some(&b.running.as_ref()?.0))
    }

    /// Operations that have ended by `now`.
    pub fn finish(&mut self, now: Time) -> Vec<Change> {
        let mut done = Vec::new();
        for b in &mut self.banks {
            if let Some((change, _)) = b.running.take_if(|r| r.1 <= now) {
                match change {
                    Change::Program { .. } => self.programmed += 1,
                    Change::Erase { .. } => self.erased += 1,
                }
                b.sr |= EOP;
                done.push(change);
            }
        }
        done
    }

    /// Interrupt line (EOPIE).
    pub fn irq(&self) -> bool {
        self.banks.iter().any(|b| b.cr & b.sr & EOP != 0)
    }

    /// A reset: registers return to their reset values and running operations are torn.
    pub fn reset(&mut self, rng: &mut Rng) -> Vec<Torn> {
        let mut torn = Vec::new();
        for b in &mut self.banks {
            match b.running.take() {
                Some((Change::Program { address, mut bytes }, _)) => {
                    // Cells go from 1 to 0 one by one: some of them have not made it.
                    bytes.iter_mut().for_each(|x| *x |= rng.next_u32() as u8);
                    torn.push(Torn::Program { address, bytes });
                }
                Some((Change::Erase { address, len }, _)) => {
                    torn.push(Torn::Erase { address, len })
                }
                None => {}
            }
        }
        *self = Flash {
            programmed: self.programmed,
            erased: self.erased,
            array: std::mem::take(&mut self.array),
            ..Flash::default()
        };
        torn
    }
}

impl Bank {
    fn key(&mut self, v: u32) {
        self.key_step = match (self.key_step, v) {
            (0, 0x4567_0123) => 1,
            (1, 0xcdef_89ab) => {
                self.cr &= !LOCK;
                0
            }
            _ => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: u32 = 0x081e_0000;

    fn unlocked() -> Flash {
        let mut f = Flash::default();
        f.write(0x104, 0x4567_0123, 0);
        f.write(0x104, 0xcdef_89ab, 0);
        f
    }

    fn program(f: &mut Flash, at: u32, now: Time) {
        f.write(0x10c, PG | 2 << 4, now);
        for i in 0..8 {
            f.store(at + 4 * i, 4, i, now).unwrap();
        }
    }

    #[test]
    fn locked_flash_ignores_everything() {
        let mut f = Flash::default();
        f.write(0x10c, PG, 0);
        assert!(f.store(CONFIG, 4, 0, 0).is_err());
        assert_eq!(f.read(0x110).unwrap() & PGSERR, PGSERR);
    }

    #[test]
    fn eighth_word_starts_programming_and_it_takes_its_time() {
        let mut f = unlocked();
        program(&mut f, CONFIG, 0);
        assert_eq!(f.read(0x110).unwrap() & (BSY | QW), BSY | QW);
        assert!(f.finish(129 * US).is_empty());
        assert_eq!(f.next(), 130 * US);
        let done = f.finish(130 * US);
        assert!(matches!(
            done[..],
            [Change::Program {
                address: CONFIG,
                ..
            }]
        ));
        assert_eq!(f.read(0x110).unwrap() & (BSY | EOP), EOP);
    }

    #[test]
    fn out_of_order_words_are_an_inconsistency_error() {
        let mut f = unlocked();
        f.write(0x10c, PG, 0);
        f.store(CONFIG, 4, 0, 0).unwrap();
        assert!(f.store(CONFIG + 8, 4, 0, 0).is_err());
        assert_eq!(f.read(0x110).unwrap() & INCERR, INCERR);
        f.write(0x114, INCERR, 0);
        assert_eq!(f.read(0x110).unwrap() & INCERR, 0);
    }

    #[test]
    fn erase_covers_the_numbered_sector_of_its_bank() {
        let mut f = unlocked();
        f.write(0x10c, SER | 7 << 8 | 2 << 4, 0);
        f.write(0x10c, SER | 7 << 8 | 2 << 4 | START, 0);
        let done = f.finish(1100 * MS);
        assert_eq!(
            done,
            [Change::Erase {
                address: CONFIG,
                len: SECTOR
            }]
        );
    }

    #[test]
    fn a_reset_tears_the_word_being_programmed() {
        let mut f = unlocked();
        program(&mut f, CONFIG, 0);
        let torn = f.reset(&mut Rng::new(1));
        let [
            Torn::Program {
                address: CONFIG,
                bytes,
            },
        ] = &torn[..]
        else {
            panic!("one torn word expected");
        };
        let full: Vec<u8> = (0..8u32).flat_map(u32::to_le_bytes).collect();
        assert_ne!(
            bytes[..],
            full[..],
            "some bits must not have been programmed"
        );
        assert_eq!(f.next(), NEVER);
        assert_eq!(f.read(0x10c).unwrap() & LOCK, LOCK);
    }
}
