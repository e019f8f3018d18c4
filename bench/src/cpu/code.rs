//! Code as the processor sees it: the flash, and a copy of what runs from RAM, with the instruction count of every block.
//!
//! The flash contents are given (`flash`); code in RAM (ITCM, or a debugger's flash loader) is copied when a block of it first runs and
//! forgotten at a reset or when somebody else writes there ([`Code::forget_ram`]). The same block always has the same count.

use super::thumb;
use crate::elf::{FLASH_BASE, FLASH_SIZE};

/// RAM that code may run from: (address, size).
const RAM: [(u32, u32); 3] = [
    (0x0000_0000, 0x1_0000), // ITCM
    (0x2000_0000, 0x2_0000), // DTCM
    (0x2400_0000, 0x8_0000), // AXI SRAM
];

/// Size and instructions of the block that starts at a halfword.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    size: u16,
    instructions: u16,
}

/// One memory; the vectors of RAM stay empty until code runs there.
struct Region {
    base: u32,
    size: u32,
    bytes: Vec<u8>,
    known: Vec<Known>,
}

impl Region {
    fn new(base: u32, size: u32) -> Self {
        Region {
            base,
            size,
            bytes: Vec::new(),
            known: Vec::new(),
        }
    }

    fn holds(&self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.size
    }

    fn fill(&mut self) {
        if self.bytes.is_empty() {
            self.bytes = vec![0xff; self.size as usize];
            self.known = vec![Known::default(); self.size as usize / 2];
        }
    }

    fn slice(&self, from: u32, to: u32) -> Option<&[u8]> {
        let at = from.wrapping_sub(self.base) as usize;
        let end = to.wrapping_sub(self.base) as usize;
        self.bytes.get(at..end)
    }
}

pub struct Code {
    flash: Region,
    ram: [Region; RAM.len()],
}

impl Default for Code {
    fn default() -> Self {
        let mut flash = Region::new(FLASH_BASE, FLASH_SIZE);
        flash.fill();
        Code {
            flash,
            ram: RAM.map(|(base, size)| Region::new(base, size)),
        }
    }
}

impl Code {
    /// True contents of the flash.
    pub fn flash(&self) -> &[u8] {
        &self.flash.bytes
    }

    /// The flash changes.
    pub fn write_flash(&mut self, address: u32, data: &[u8]) {
        let at = (address - FLASH_BASE) as usize;
        self.flash.bytes[at..at + data.len()].copy_from_slice(data);
        let (from, to) = (at / 2, (at + data.len()).div_ceil(2));
        // A block may begin before the change.
        self.flash.known[from.saturating_sub(2048)..to].fill(Known::default());
    }

    fn region(&self, address: u32) -> Option<&Region> {
        if self.flash.holds(address) {
            return Some(&self.flash);
        }
        self.ram.iter().find(|r| r.holds(address))
    }

    /// Bytes in [from, to), if they are known.
    pub fn bytes(&self, from: u32, to: u32) -> Option<&[u8]> {
        self.region(from)?.slice(from, to)
    }

    /// The halfword at `address`.
    pub fn half(&self, address: u32) -> Option<u16> {
        let b = self.bytes(address, address.wrapping_add(2))?;
        Some(u16::from_le_bytes([b[0], b[1]]))
    }

    /// Instructions in [from, to).
    pub fn instructions(&self, from: u32, to: u32) -> u32 {
        self.bytes(from, to).map_or(0, thumb::count)
    }

    /// Whether the block's instructions are known; if not, [`Code::learn`] them first.
    #[inline(always)]
    pub fn knows(&self, address: u32, size: u32) -> bool {
        self.flash.holds(address)
            || self.itcm(address, size).is_some()
            || self.ram_knows(address, size)
    }

    /// Instructions of a known block in ITCM, where a fast program spends its time.
    #[inline(always)]
    fn itcm(&self, address: u32, size: u32) -> Option<u32> {
        let known = self.ram[0].known.get(address as usize / 2)?;
        (u32::from(known.size) == size).then_some(u32::from(known.instructions))
    }

    fn ram_knows(&self, address: u32, size: u32) -> bool {
        self.ram.iter().find(|r| r.holds(address)).is_none_or(|r| {
            let at = address.wrapping_sub(r.base) as usize / 2;
            r.known.get(at).is_some_and(|k| u32::from(k.size) == size)
        })
    }

    /// Code in RAM, as it is now.
    pub fn learn(&mut self, address: u32, bytes: &[u8]) {
        if let Some(r) = self.ram.iter_mut().find(|r| r.holds(address)) {
            r.fill();
            let at = (address - r.base) as usize;
            let n = bytes.len().min(r.bytes.len() - at);
            r.bytes[at..at + n].copy_from_slice(&bytes[..n]);
        }
    }

    /// Instructions of the block at `address`. Code nobody knows is estimated at 3 bytes each.
    #[inline(always)]
    pub fn count(&mut self, address: u32, size: u32) -> u32 {
        if let Some(n) = self.itcm(address, size) {
            return n;
        }
        let at = address.wrapping_sub(FLASH_BASE) as usize / 2;
        if let Some(k) = self.flash.known.get(at)
            && u32::from(k.size) == size
        {
            return u32::from(k.instructions);
        }
        let ram = self.ram.iter().find(|r| r.holds(address));
        match ram.and_then(|r| r.known.get((address - r.base) as usize / 2)) {
            Some(k) if u32::from(k.size) == size => u32::from(k.instructions),
            _ => self.count_anew(address, size),
        }
    }

    fn count_anew(&mut self, address: u32, size: u32) -> u32 {
        let n = match self.bytes(address, address.wrapping_add(size)) {
            Some(code) => thumb::count(code),
            None => return (size / 3).max(1),
        };
        let region = if self.flash.holds(address) {
            &mut self.flash
        } else {
            match self.ram.iter_mut().find(|r| r.holds(address)) {
                Some(r) => r,
                None => return n,
            }
        };
        let at = address.wrapping_sub(region.base) as usize / 2;
        if let Some(k) = region.known.get_mut(at) {
            *k = Known {
                size: size as u16,
                instructions: n as u16,
            };
        }
        n
    }

    /// Somebody else wrote to RAM there.
    pub fn forget_in_ram(&mut self, address: u32, len: u32) {
        if let Some(r) = self.ram.iter_mut().find(|r| r.holds(address)) {
            let at = (address - r.base) as usize;
            let (from, to) = (at / 2, (at + len as usize).div_ceil(2).min(r.known.len()));
            if let Some(known) = r.known.get_mut(from.saturating_sub(2048)..to) {
                known.fill(Known::default());
            }
        }
    }

    /// RAM may hold other code now.
    pub fn forget_ram(&mut self) {
        self.ram = RAM.map(|(base, size)| Region::new(base, size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // push {r7, lr}; ldr.w r0, [r1]; bl; nop
    fn sample() -> Vec<u8> {
        [0xb580u16, 0xf8d1, 0x0000, 0xf000, 0xf800, 0xbf00]
            .iter()
            .flat_map(|h| h.to_le_bytes())
            .collect()
    }

    #[test]
    fn flash_is_counted_and_recounted_after_a_change() {
        let mut code = Code::default();
        code.write_flash(FLASH_BASE, &sample());
        assert_eq!(code.count(FLASH_BASE, 12), 4);
        assert_eq!(code.count(FLASH_BASE + 2, 4), 1);
        assert_eq!(code.instructions(FLASH_BASE, FLASH_BASE + 6), 2);
        code.write_flash(FLASH_BASE + 2, &[0x00, 0xbf, 0x00, 0xbf]);
        assert_eq!(code.count(FLASH_BASE, 12), 5);
    }

    #[test]
    fn code_in_ram_is_learnt_when_it_runs() {
        let mut code = Code::default();
        assert!(!code.knows(0x40, 12));
        assert_eq!(code.count(0x40, 12), 4, "estimated: 3 bytes each");
        code.learn(0x40, &[0x00, 0xbf].repeat(6));
        assert_eq!(code.count(0x40, 12), 6);
        assert!(code.knows(0x40, 12));
        assert_eq!(code.half(0x4a), Some(0xbf00));
        code.forget_ram();
        assert!(!code.knows(0x40, 12));
        assert!(
            code.knows(0x6000_0000, 4),
            "no code at all: nothing to learn"
        );
    }
}
