//! Watched flash: sectors that hold no part of the program are read through the model of the array.
//!
//! Unicorn serves loads from plain memory without telling anybody. A sector where data is stored is therefore mapped like a register: every
//! load passes [`load`], which knows uncorrectable words and the data cache (`periph::flash::array`). Code cannot run from there; when the
//! processor tries, the sector becomes plain memory again ([`Cpu::unwatch`]).

use unicorn_engine::{HookType, MemType, Prot, RegisterARM as R, Unicorn, uc_error};

use super::core::{Cpu, leave_it_block};
use crate::chip::Chip;
use crate::elf::{FLASH_BASE, FLASH_SIZE};
use crate::periph::flash::SECTOR;

/// Base of the sector of an address.
fn sector(address: u32) -> u32 {
    address & !(SECTOR - 1)
}

impl Cpu {
    /// Watches every sector that is not `occupied` by the program.
    pub fn watch_flash(&mut self, occupied: impl Fn(u32) -> bool) -> Result<(), uc_error> {
        let end = u64::from(FLASH_BASE + FLASH_SIZE - 1);
        let reads = HookType::MEM_READ_PROT;
        self.uc.add_mem_hook(reads, FLASH_BASE.into(), end, load)?;
        for base in (FLASH_BASE..FLASH_BASE + FLASH_SIZE).step_by(SECTOR as usize) {
            if !occupied(base) {
                self.watch(base)?;
            }
        }
        Ok(())
    }

    fn watch(&mut self, base: u32) -> Result<(), uc_error> {
        let (at, size) = (u64::from(base), u64::from(SECTOR));
        self.uc.mem_unmap(at, size)?;
        let read = move |uc: &mut Unicorn<Chip>, off: u64, bytes: usize| {
            let chip = uc.get_data();
            let byte = |i: usize| {
                let address = base + off as u32 + i as u32;
                u64::from(chip.flash.array.seen(address, chip.code.flash())) << (8 * i)
            };
            (0..bytes).map(byte).sum()
        };
        // Stores have been taken as programming requests by their hook.
        let write = |_: &mut Unicorn<Chip>, _: u64, _: usize, _: u64| {};
        self.uc.mmio_map(at, size, Some(read), Some(write))?;
        self.uc.mem_protect(at, size, Prot::NONE)?;
        self.watched.insert(base);
        Ok(())
    }

    /// Whether `address` lies in a watched sector.
    pub fn watches(&self, address: u32) -> bool {
        self.watched.contains(&sector(address))
    }

    /// Code is to run there: plain memory from now on.
    pub fn unwatch(&mut self, address: u32) -> Result<(), uc_error> {
        let base = sector(address);
        let at = (base - FLASH_BASE) as usize;
        let contents = self.chip().code.flash()[at..at + SECTOR as usize].to_vec();
        self.watched.remove(&base);
        self.uc.mem_unmap(base.into(), SECTOR.into())?;
        self.uc
            .mem_map(base.into(), SECTOR.into(), Prot::READ | Prot::EXEC)?;
        self.program(base, &contents)
    }
}

/// A load from a watched sector; false = a bus fault.
fn load(uc: &mut Unicorn<Chip>, _: MemType, address: u64, bytes: usize, _: i64) -> bool {
    leave_it_block(uc);
    let masked = uc.reg_read(R::FAULTMASK).unwrap_or(0) & 1 != 0;
    let chip = uc.get_data_mut();
    let address = address as u32;
    let flash = chip.code.flash();
    if chip.flash.array.load(address, bytes as u32, flash) {
        return true;
    }
    chip.flash.uncorrectable(address);
    chip.diagnostics.bad_access = address;
    let urgent = masked || chip.nvic.running_priority() < 0;
    let ignored = urgent && chip.scb.ignores_bus_faults();
    if ignored {
        chip.scb.data_bus_fault(address);
    }
    ignored
}
