//! What an access port reaches: memory and registers at the processor's addresses, while it runs or is halted.
//!
//! Inputs: address, data, access size. Outputs: bytes, or [`Fault`] where nothing answers. A write that asks something of the
//! processor (halt, step, run, reset) has had its effect when the function returns. Access ports 1 and 2 see the same
//! addresses here as port 0: probe-rs 0.32 sends every accelerated memory access to port 0, whichever it was asked for.

use std::time::{Duration, Instant};

use super::core::{DCRDR, DCRSR, DEMCR, DFSR, DHCSR, State};
use super::port::Fault;
use super::rom;
use crate::cpu::core::RAM;
use crate::elf::{FLASH_BASE, FLASH_SIZE};
use crate::machine::Machine;
use crate::time::US;

/// Width of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Byte,
    Half,
    Word,
}

impl Size {
    /// CSW.Size; what is larger than a word is done in words.
    pub fn from_csw(csw: u32) -> Size {
        match csw & 7 {
            0 => Size::Byte,
            1 => Size::Half,
            _ => Size::Word,
        }
    }

    pub fn bytes(self) -> u32 {
        match self {
            Size::Byte => 1,
            Size::Half => 2,
            Size::Word => 4,
        }
    }
}

/// Peripherals and the processor's own registers, as opposed to memory.
fn is_register(address: u32) -> bool {
    matches!(address, 0x4000_0000..=0x5fff_ffff | 0xe000_0000..=0xe00f_ffff)
}

fn is_flash(address: u32) -> bool {
    (FLASH_BASE..FLASH_BASE + FLASH_SIZE).contains(&address)
}

impl Machine {
    /// Bytes from `address` on.
    pub fn debug_read(&mut self, address: u32, len: usize) -> Result<Vec<u8>, Fault> {
        let end = u64::from(address) + len as u64;
        if end > 1 << 32 {
            return Err(Fault);
        }
        if !is_register(address) {
            return self.cpu.read_bytes(address, len).ok_or(Fault);
        }
        let mut bytes = Vec::with_capacity(len + 4);
        let skip = (address & 3) as usize;
        let mut at = address & !3;
        while bytes.len() < skip + len {
            bytes.extend(self.register_read(at).to_le_bytes());
            at = at.wrapping_add(4);
        }
        Ok(bytes[skip..skip + len].to_vec())
    }

    /// Writes `data` in accesses of `size`.
    pub fn debug_write(&mut self, address: u32, data: &[u8], size: Size) -> Result<(), Fault> {
        if is_register(address) || is_flash(address) {
            let step = size.bytes();
            for (i, chunk) in data.chunks(step as usize).enumerate() {
                let mut word = [0; 4];
                word[..chunk.len()].copy_from_slice(chunk);
                let at = address.wrapping_add(i as u32 * step);
                self.one_write(at, u32::from_le_bytes(word), chunk.len() as u32)?;
            }
            return Ok(());
        }
        let end = u64::from(address) + data.len() as u64;
        let inside = |r: &(u32, u32)| address >= r.0 && end <= u64::from(r.0) + u64::from(r.1);
        if !RAM.iter().any(inside) {
            return Err(Fault);
        }
        self.cpu.write_bytes(address, data);
        // It may be code: the flash algorithm is.
        let code = &mut self.chip_mut().code;
        code.forget_in_ram(address, data.len() as u32);
        let _ = self.cpu.uc.ctl_remove_cache(u64::from(address), end);
        Ok(())
    }

    /// One access through DRW: the bytes lie in the lanes of the address.
    pub fn debug_read_one(&mut self, address: u32, size: Size) -> Result<u32, Fault> {
        let bytes = self.debug_read(address, size.bytes() as usize)?;
        let value = bytes.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b));
        Ok(value << (8 * (address & 3)))
    }

    pub fn debug_write_one(&mut self, address: u32, v: u32, size: Size) -> Result<(), Fault> {
        let bytes = (v >> (8 * (address & 3))).to_le_bytes();
        self.debug_write(address, &bytes[..size.bytes() as usize], size)
    }

    fn one_write(&mut self, address: u32, v: u32, bytes: u32) -> Result<(), Fault> {
        let now = self.now();
        if is_flash(address) {
            let chip = self.chip_mut();
            let stored = chip.flash.store(address, bytes, v, now);
            chip.next_event = chip.next_event.min(chip.flash.next());
            return stored.map_err(|_| Fault);
        }
        let aligned = address & !3;
        let shift = 8 * (address & 3);
        let mask = (u32::MAX >> (32 - 8 * bytes)) << shift;
        let value = if bytes == 4 {
            v
        } else {
            self.register_read(aligned) & !mask | v << shift & mask
        };
        self.register_write(aligned, value);
        Ok(())
    }

    fn register_read(&mut self, address: u32) -> u32 {
        if matches!(address, DFSR | DHCSR..=DEMCR) {
            if address == DHCSR {
                self.run_ahead();
            }
            let state = State {
                asleep: self.asleep(),
                locked_up: self.locked,
            };
            return self.chip_mut().debug.read(address, state).unwrap_or(0);
        }
        if let Some(word) = rom::read(address) {
            return word;
        }
        let now = self.now();
        let chip = self.chip_mut();
        chip.access_pc = 0;
        chip.bus_read(address, now)
    }

    /// The processor runs on before its state is told (see [`super::core::CoreDebug::status_lead`]), but never long in wall time.
    fn run_ahead(&mut self) {
        const PATIENCE: Duration = Duration::from_millis(20);
        let (end, begun) = (self.now() + self.chip().debug.status_lead, Instant::now());
        while self.now() < end && !self.stands() && begun.elapsed() < PATIENCE {
            if self.chip().debug.reset_untold() {
                return;
            }
            let _ = self.run_until(end.min(self.now() + 500 * US));
        }
    }

    fn register_write(&mut self, address: u32, v: u32) {
        if matches!(address, DHCSR | DCRSR | DCRDR) {
            if let Some(request) = self.chip_mut().debug.write(address, v) {
                self.carry_out(request);
            }
            return;
        }
        let now = self.now();
        let chip = self.chip_mut();
        chip.access_pc = 0;
        chip.bus_write(address, v, now);
        self.follow_breakpoints();
        self.reset_if_asked();
    }
}
