//! Counting every instruction one by one: slow, and the proof of the fast count.
//!
//! A code hook on flash and ITCM sees each executed instruction. Instructions that an IT block skips are issued (and take time) but not
//! hooked, so an IT block is counted as a whole when its IT instruction is seen.

use unicorn_engine::Unicorn;

use crate::chip::Chip;
use crate::cpu::Cpu;
use crate::cpu::code::Code;
use crate::cpu::thumb;
use crate::elf::{FLASH_BASE, FLASH_SIZE};

#[derive(Clone, Copy, Debug, Default)]
pub struct Exact {
    pub instructions: u64,
    /// Addresses of the IT block already counted.
    counted: (u32, u32),
}

impl Exact {
    /// One executed instruction.
    pub fn see(&mut self, address: u32, code: &Code) {
        if (self.counted.0..self.counted.1).contains(&address) {
            return;
        }
        self.counted = (0, 0);
        self.instructions += 1;
        let half = |a: u32| code.half(a).unwrap_or(0);
        let conditional = thumb::it_length(half(address));
        if conditional > 0 {
            self.instructions += u64::from(conditional);
            let mut end = address + 2;
            for _ in 0..conditional {
                end += thumb::length(half(end)) as u32;
            }
            self.counted = (address + 2, end);
        }
    }
}

impl Cpu {
    /// From now on every instruction is counted in [`crate::chip::Chip::exact`] as well.
    pub fn count_exactly(&mut self) {
        self.chip_mut().exact = Some(Exact::default());
        let flash = (FLASH_BASE, FLASH_BASE + FLASH_SIZE - 1);
        for (from, to) in [flash, (0, 0xffff)] {
            let hook = |uc: &mut Unicorn<Chip>, address: u64, _: u32| {
                let chip = uc.get_data_mut();
                if let Some(e) = &mut chip.exact {
                    e.see(address as u32, &chip.code);
                }
            };
            let _ = self.uc.add_code_hook(from.into(), to.into(), hook);
        }
        let _ = self.uc.ctl_flush_tb();
    }
}
