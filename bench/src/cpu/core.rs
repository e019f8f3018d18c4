//! Unicorn set up as the chip's processor: memory map, hooks, registers.
//!
//! Facts about Unicorn 2.1.5 this file relies on:
//! - `Mode::MCLASS` silently selects a Cortex-M33; `Mode::THUMB` plus the model gives the M7.
//! - A stop requested in a block hook takes effect before the block: the block is run (and hooked) again later, so it must
//!   not be counted yet. A stop requested in a register access would repeat the access, so it is never done there.
//! - The PC is exact only at block starts and in "protected memory" hooks. The peripheral regions are therefore mapped without
//!   access rights: the hook that fires learns the PC, grants the access, and the register callback follows. An ordinary memory hook
//!   would do the same but slows down every access to RAM.
//! - Learning the PC in such a hook also writes the IT state of that instruction to the registers, where the next block
//!   would find it and skip instructions: it is cleared again (the running block has it compiled in).
//! - WFE, WFI and SEV are not implemented: code hooks at every halfword of flash that looks like one (data is never executed).
//!   In RAM they arrive as invalid instructions and are recognised then ([`hint`]).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use unicorn_engine::{
    Arch, ArmCpuModel, HookType, Mode, Prot, RegisterARM as R, Unicorn, uc_error,
};

use crate::chip::{Chip, Stop};
use crate::elf::{FLASH_BASE, FLASH_SIZE};
use crate::periph::mpu::Access;
use crate::rng::Rng;

pub type Uc = Unicorn<'static, Chip>;

/// RAM regions: (address, size).
pub const RAM: [(u32, u32); 6] = [
    (0x0000_0000, 0x1_0000), // ITCM
    (0x2000_0000, 0x2_0000), // DTCM
    (0x2400_0000, 0x8_0000), // AXI SRAM
    (0x3000_0000, 0x4_8000), // SRAM1–3
    (0x3800_0000, 0x1_0000), // SRAM4
    (0x3880_0000, 0x1000),   // backup SRAM
];

/// System memory with the unique identifier.
const SYSTEM: (u32, u32) = (0x1ff0_0000, 0x2_0000);
const UID: u32 = 0x1ff1_e800;
const PERIPHERALS: (u64, u64) = (0x4000_0000, 0x2000_0000);
const PRIVATE: (u64, u64) = (0xe000_0000, 0x10_0000);

/// Memory behind the data cache: flash, and the SRAMs on the buses.
const CACHED: [(u64, u64); 2] = [(0x0800_0000, 0x081f_ffff), (0x2400_0000, 0x38ff_ffff)];

const WFE: u16 = 0xbf20;
const WFI: u16 = 0xbf30;
const SEV: u16 = 0xbf40;

const GENERAL: [R; 13] = [
    R::R0,
    R::R1,
    R::R2,
    R::R3,
    R::R4,
    R::R5,
    R::R6,
    R::R7,
    R::R8,
    R::R9,
    R::R10,
    R::R11,
    R::R12,
];

/// The processor and everything attached to it.
pub struct Cpu {
    pub uc: Uc,
    /// Addresses with a hook for hint instructions; the flash may have changed since.
    hinted: HashSet<u32>,
    /// Flash sectors read through the model of the array: `cpu::watch`.
    pub(super) watched: BTreeSet<u32>,
    /// Rights to pages of RAM that the MPU has changed since power-on.
    protected: BTreeMap<u32, Prot>,
}

impl Cpu {
    pub fn new(chip: Chip) -> Result<Cpu, uc_error> {
        let mut uc = Unicorn::new_with_data(Arch::ARM, Mode::THUMB, chip)?;
        uc.ctl_set_cpu_model(ArmCpuModel::CORTEX_M7 as i32)?;
        uc.mem_map(
            u64::from(FLASH_BASE),
            u64::from(FLASH_SIZE),
            Prot::READ | Prot::EXEC,
        )?;
        uc.mem_map(u64::from(SYSTEM.0), u64::from(SYSTEM.1), Prot::READ)?;
        uc.mem_write(u64::from(UID), b"stribeck-uid")?;
        for (address, size) in RAM {
            uc.mem_map(u64::from(address), u64::from(size), Prot::ALL)?;
        }
        for (base, size) in [PERIPHERALS, PRIVATE] {
            uc.mmio_map(
                base,
                size,
                Some(move |uc: &mut Unicorn<Chip>, off: u64, bytes: usize| {
                    register_read(uc, base + off, bytes)
                }),
                Some(
                    move |uc: &mut Unicorn<Chip>, off: u64, bytes: usize, v: u64| {
                        register_write(uc, base + off, bytes, v)
                    },
                ),
            )?;
            uc.mem_protect(base, size, Prot::NONE)?;
            uc.add_mem_hook(
                HookType::MEM_READ_PROT | HookType::MEM_WRITE_PROT,
                base,
                base + size - 1,
                |uc, _, _, _, _| {
                    uc.get_data_mut().access_pc = uc.reg_read(R::PC).unwrap_or(0) as u32;
                    leave_it_block(uc);
                    true
                },
            )?;
        }
        let flash_end = u64::from(FLASH_BASE + FLASH_SIZE - 1);
        uc.add_mem_hook(
            HookType::MEM_WRITE_PROT,
            u64::from(FLASH_BASE),
            flash_end,
            flash_store,
        )?;
        // Only what the MPU closed is protected in RAM.
        let refused = HookType::MEM_READ_PROT | HookType::MEM_WRITE_PROT;
        for (address, size) in RAM {
            let (from, to) = (u64::from(address), u64::from(address + size - 1));
            uc.add_mem_hook(refused, from, to, |uc, _, address, _, _| {
                uc.get_data_mut().diagnostics.bad_access = address as u32;
                false
            })?;
        }
        uc.add_mem_hook(HookType::MEM_UNMAPPED, 1, 0, |uc, _, address, _, _| {
            uc.get_data_mut().diagnostics.bad_access = address as u32;
            false
        })?;
        uc.add_block_hook(1, 0, |uc, address, size| {
            let chip = uc.get_data_mut();
            if chip.masked_wait && !chip.recheck && chip.now < chip.next_event {
                // All three: stopping while one still masks would find the same exception waiting, for ever.
                let free = [R::PRIMASK, R::BASEPRI, R::FAULTMASK]
                    .into_iter()
                    .all(|mask| uc.reg_read(mask).unwrap_or(0) == 0);
                uc.get_data_mut().recheck = free;
            }
            if !uc.get_data().code.knows(address as u32, size) {
                let bytes = uc.mem_read_as_vec(address, size as usize);
                let code = &mut uc.get_data_mut().code;
                code.learn(address as u32, &bytes.unwrap_or_default());
            }
            if uc.get_data_mut().block(address as u32, size) {
                let _ = uc.emu_stop();
            }
        })?;
        // Loads and stores outside the tightly coupled memories have a cost; hooking them slows down every access, so only when asked.
        if uc.get_data().cost.is_some() {
            for (from, to) in CACHED {
                let kinds = HookType::MEM_READ | HookType::MEM_WRITE;
                uc.add_mem_hook(kinds, from, to, |uc, _, address, _, _| {
                    uc.get_data_mut().data_accessed(address as u32);
                    true
                })?;
            }
        }
        uc.add_intr_hook(|uc, number| {
            uc.get_data_mut().stop = if number == 8 {
                Stop::ExceptionReturn
            } else {
                Stop::Trap(number)
            };
            let _ = uc.emu_stop();
        })?;
        Ok(Cpu {
            uc,
            hinted: HashSet::new(),
            watched: BTreeSet::new(),
            protected: BTreeMap::new(),
        })
    }

    /// Places code or data in flash and hooks its hint instructions.
    pub fn program(&mut self, address: u32, data: &[u8]) -> Result<(), uc_error> {
        self.uc.mem_write(u64::from(address), data)?;
        self.chip_mut().code.write_flash(address, data);
        self.hook_hints(address, data)
    }

    /// Hooks every halfword that looks like a hint and is not hooked yet.
    fn hook_hints(&mut self, address: u32, data: &[u8]) -> Result<(), uc_error> {
        for (i, c) in data.chunks_exact(2).enumerate() {
            let at = address + 2 * i as u32;
            if is_hint(u16::from_le_bytes([c[0], c[1]])) && self.hinted.insert(at) {
                let at = u64::from(at);
                self.uc
                    .add_code_hook(at, at, |uc, pc, _| hint_executed(uc, pc as u32))?;
            }
        }
        Ok(())
    }

    /// Changes flash contents behind the processor's back.
    pub fn rewrite_flash(&mut self, address: u32, data: &[u8]) {
        self.chip_mut().code.write_flash(address, data);
        if self.watches(address) {
            return;
        }
        let _ = self.uc.mem_write(u64::from(address), data);
        let _ = self.hook_hints(address, data);
        let _ = self
            .uc
            .ctl_remove_cache(u64::from(address), u64::from(address) + data.len() as u64);
    }

    /// RAM as the MPU lets the program use it, page by page.
    pub fn protect(&mut self) {
        const PAGE: u32 = 0x1000;
        for page in RAM
            .iter()
            .flat_map(|&(at, size)| (at..at + size).step_by(PAGE as usize))
        {
            let mpu = &self.chip().scb.mpu;
            let open = [
                (Access::Read, Prot::READ),
                (Access::Write, Prot::WRITE),
                (Access::Execute, Prot::EXEC),
            ];
            let allowed = open
                .into_iter()
                .filter(|(access, _)| !mpu.forbids(page, *access))
                .fold(Prot::NONE, |all, (_, right)| all | right);
            if self.protected.get(&page).copied().unwrap_or(Prot::ALL) != allowed {
                self.protected.insert(page, allowed);
                let _ = self.uc.mem_protect(page.into(), PAGE.into(), allowed);
            }
        }
    }

    /// Power-on: RAM holds anything.
    pub fn fill_ram(&mut self, rng: &mut Rng) {
        for (address, size) in RAM {
            let bytes: Vec<u8> = (0..size / 4)
                .flat_map(|_| rng.next_u32().to_le_bytes())
                .collect();
            let _ = self.uc.mem_write(u64::from(address), &bytes);
        }
    }

    pub fn chip(&self) -> &Chip {
        self.uc.get_data()
    }

    pub fn chip_mut(&mut self) -> &mut Chip {
        self.uc.get_data_mut()
    }

    pub fn reg(&self, r: R) -> u32 {
        self.uc.reg_read(r).unwrap_or(0) as u32
    }

    pub fn set_reg(&mut self, r: R, v: u32) {
        let _ = self.uc.reg_write(r, u64::from(v));
    }

    /// R0–R12, SP, LR, PC.
    pub fn registers(&self) -> [u32; 16] {
        let mut values = [0; 16];
        let registers = GENERAL.into_iter().chain([R::SP, R::LR, R::PC]);
        for (value, r) in values.iter_mut().zip(registers) {
            *value = self.reg(r);
        }
        values
    }

    pub fn read_bytes(&self, address: u32, len: usize) -> Option<Vec<u8>> {
        if self.watches(address) {
            let chip = self.chip();
            let seen = |at: u32| chip.flash.array.seen(at, chip.code.flash());
            return Some((address..address + len as u32).map(seen).collect());
        }
        self.uc.mem_read_as_vec(u64::from(address), len).ok()
    }

    pub fn read_word(&self, address: u32) -> Option<u32> {
        let b = self.read_bytes(address, 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    pub fn write_bytes(&mut self, address: u32, bytes: &[u8]) {
        let _ = self.uc.mem_write(u64::from(address), bytes);
    }

    /// Registers as after reset, PC and SP from the vector table.
    pub fn reset(&mut self) {
        for r in GENERAL {
            self.set_reg(r, 0);
        }
        for r in [R::CONTROL, R::PRIMASK, R::BASEPRI, R::FAULTMASK, R::FPSCR] {
            self.set_reg(r, 0);
        }
        self.set_reg(R::LR, 0xffff_ffff);
        self.set_xpsr(1 << 24);
        let vector = |cpu: &Cpu, i: u32| cpu.read_word(FLASH_BASE + 4 * i).unwrap_or(0);
        let (sp, pc) = (vector(self, 0), vector(self, 1));
        self.set_reg(R::SP, sp);
        self.set_reg(R::PC, pc);
    }

    /// Writes all of xPSR and makes Unicorn notice a change between thread and handler mode.
    pub fn set_xpsr(&mut self, v: u32) {
        self.set_reg(R::XPSR_NZCVQG, v);
        let flags = self.reg(R::APSR_NZCV);
        self.set_reg(R::APSR_NZCV, flags);
    }
}

/// See the module header. Nothing else of xPSR changes.
pub(super) fn leave_it_block(uc: &mut Unicorn<Chip>) {
    const IT: u64 = 0x0600_fc00;
    let xpsr = uc.reg_read(R::XPSR).unwrap_or(0);
    if xpsr & IT != 0 {
        let _ = uc.reg_write(R::XPSR_NZCVQG, xpsr & !IT);
    }
}

fn lanes(address: u64, bytes: usize) -> (u32, u32) {
    let shift = (address as u32 & 3) * 8;
    let mask = if bytes >= 4 {
        u32::MAX
    } else {
        (1u32 << (8 * bytes)) - 1
    };
    (shift, mask)
}

fn register_read(uc: &mut Unicorn<Chip>, address: u64, bytes: usize) -> u64 {
    let chip = uc.get_data_mut();
    let now = chip.time_at(chip.access_pc);
    let word = chip.bus_read(address as u32 & !3, now);
    chip.register_accessed(address as u32, false);
    let (shift, mask) = lanes(address, bytes);
    u64::from(word >> shift & mask)
}

fn register_write(uc: &mut Unicorn<Chip>, address: u64, bytes: usize, v: u64) {
    let chip = uc.get_data_mut();
    let now = chip.time_at(chip.access_pc);
    let aligned = address as u32 & !3;
    let (shift, mask) = lanes(address, bytes);
    let value = if bytes >= 4 {
        v as u32
    } else {
        chip.bus_read(aligned, now) & !(mask << shift) | (v as u32 & mask) << shift
    };
    chip.bus_write(aligned, value, now);
    chip.register_accessed(aligned, true);
}

/// A store to flash is a programming request; the array itself changes later, if at all.
fn flash_store(
    uc: &mut Unicorn<Chip>,
    _: unicorn_engine::MemType,
    address: u64,
    bytes: usize,
    v: i64,
) -> bool {
    let pc = uc.reg_read(R::PC).unwrap_or(0) as u32;
    let chip = uc.get_data_mut();
    let now = chip.time_at(pc);
    if let Err(why) = chip
        .flash
        .store(address as u32, bytes as u32, v as u32, now)
    {
        chip.diagnostics.note(
            now,
            format!("flash: {why} (address {address:#010x}, pc {pc:#010x})"),
        );
    }
    chip.next_event = chip.next_event.min(chip.flash.next());
    chip.recheck |= chip.flash.running().is_some();
    true
}

fn is_hint(halfword: u16) -> bool {
    hint(halfword).is_some()
}

/// What an instruction that Unicorn does not know does, if it is one of the hints.
pub fn hint(halfword: u16) -> Option<Stop> {
    match halfword {
        WFE | WFI => Some(Stop::Sleep {
            until_event: halfword == WFE,
        }),
        SEV => Some(Stop::None),
        _ => None,
    }
}

fn hint_executed(uc: &mut Unicorn<Chip>, pc: u32) {
    let chip = uc.get_data_mut();
    // The flash may have been programmed since.
    let Some(hint) = chip.code.half(pc).filter(|&h| is_hint(h)) else {
        return;
    };
    if hint == SEV {
        chip.event_register = true;
        return;
    }
    chip.stop = Stop::Sleep {
        until_event: hint == WFE,
    };
    // A stop ends the list of hooks: the exact counter, if any, would not see this instruction.
    if let Some(exact) = &mut chip.exact {
        exact.see(pc, &chip.code);
    }
    let _ = uc.emu_stop();
}
