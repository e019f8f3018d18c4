//! How the machine halts, steps, goes on, moves core registers, and is held in reset.
//!
//! A debugger acts between two slices of emulation, so the processor always stands between two instructions. Breakpoints are hooks on
//! their instruction; a step is one hook on what follows it. The emulator does not stop inside an IT block: one is stepped as a whole, and
//! a breakpoint inside stops behind it.

use unicorn_engine::{RegisterARM as R, UcHookId};

use super::core::{Cause, Request};
use crate::chip::{Chip, Stop};
use crate::cpu::{Cpu, thumb};
use crate::elf::{FLASH_BASE, FLASH_SIZE};
use crate::machine::{Machine, Outcome};
use crate::periph::rcc::ResetCause;
use crate::time::{Time, US};

/// Hooks on the instructions that the breakpoint unit watches.
#[derive(Default)]
pub struct Breakpoints(Vec<(u32, UcHookId)>);

/// Virtual time a debugger's single step may take.
const STEP_TIME: Time = US;

impl Machine {
    /// The processor does not execute: halted, held in reset or locked up.
    pub fn stands(&self) -> bool {
        let debug = &self.chip().debug;
        debug.halted || debug.held || self.locked
    }

    /// Enters Debug state now.
    pub fn halt(&mut self, cause: Cause) {
        self.wake();
        self.locked = false;
        let chip = self.chip_mut();
        chip.debug.halt(cause);
        let now = chip.now;
        chip.outputs.cause(now, "debugger halts the core");
        chip.freeze_outputs(true);
    }

    /// Time passes while the processor stands.
    pub(crate) fn stand_still(&mut self, end: Time) {
        let halted = self.chip().debug.halted;
        let chip = self.chip_mut();
        let from = chip.now;
        chip.now = chip.next_event.min(end).max(from);
        let to = chip.now;
        chip.dwt.slept(from, to, false);
        if halted {
            chip.systick.stand_still(to - from);
            if chip.dbgmcu.freezes_iwdg() {
                chip.iwdg.stand_still(to - from);
            }
            for t in &mut chip.tims {
                if chip.dbgmcu.freezes_timer(t.kind.apb2, t.kind.gate.1) {
                    t.stand_still(to - from);
                }
            }
            chip.plan();
        }
    }

    pub(super) fn carry_out(&mut self, request: Request) {
        match request {
            Request::Halt if self.chip().debug.held => {}
            Request::Halt => self.halt(Cause::Request),
            Request::Run => self.go_on(),
            Request::Step => self.step(),
            Request::Register { number, write } => self.move_register(number, write),
        }
    }

    /// Out of Debug state.
    pub fn go_on(&mut self) {
        self.chip_mut().debug.halted = false;
        self.chip_mut().freeze_outputs(false);
    }

    /// One instruction, or the entry of one exception, then halted again.
    fn step(&mut self) {
        self.chip_mut().debug.halted = false;
        self.stepping = true;
        let end = self.now() + STEP_TIME;
        let _ = self.run_until(end);
        self.stepping = false;
        if !self.chip().debug.halted && !self.locked {
            self.halt(Cause::Request);
        }
    }

    /// Executes the instruction at PC alone.
    pub(crate) fn execute_one(&mut self) -> Option<Outcome> {
        let pc = self.cpu.reg(R::PC) & !1;
        let length = self.cpu.instruction_length(pc);
        let hook = self.cpu.stop_in(pc + length, pc + length + 16);
        let chip = self.chip_mut();
        chip.next_event = chip.now + 1;
        let outcome = self.execute();
        if let Some(hook) = hook {
            let _ = self.cpu.uc.remove_hook(hook);
            let _ = self
                .cpu
                .uc
                .ctl_remove_cache(u64::from(pc), u64::from(pc + 32));
        }
        if outcome.is_none() && !self.chip().debug.halted && !self.locked {
            self.halt(Cause::Request);
        }
        outcome
    }

    /// The processor stopped at `pc` in the middle of a translated block, at a breakpoint or behind the instruction of a step.
    pub(crate) fn stopped_inside(&mut self, pc: u32, breakpoint: bool) {
        self.chip_mut().uncount_from(pc);
        if breakpoint {
            self.halt(Cause::Breakpoint);
        }
    }

    /// Hooks follow the comparators of the breakpoint unit.
    pub(super) fn follow_breakpoints(&mut self) {
        let wanted: Vec<u32> = self.chip().debug.fpb.addresses().collect();
        if self
            .breakpoints
            .0
            .iter()
            .map(|b| b.0)
            .eq(wanted.iter().copied())
        {
            return;
        }
        for (address, hook) in std::mem::take(&mut self.breakpoints.0) {
            if wanted.contains(&address) {
                self.breakpoints.0.push((address, hook));
            } else {
                let _ = self.cpu.uc.remove_hook(hook);
            }
        }
        for address in wanted {
            if self.breakpoints.0.iter().any(|b| b.0 == address) {
                continue;
            }
            if let Some(hook) = self.cpu.stop_at(address) {
                self.breakpoints.0.push((address, hook));
            }
        }
    }

    /// DCRSR: R0–R15, xPSR, MSP, PSP, the special registers, FPSCR, S0–S31.
    fn move_register(&mut self, number: u32, write: bool) {
        if !self.chip().debug.halted {
            return;
        }
        if write {
            let v = self.chip().debug.dcrdr;
            self.cpu.set_core_register(number, v);
        } else {
            let v = self.cpu.core_register(number);
            self.chip_mut().debug.dcrdr = v;
        }
    }

    /// nRST driven low (`true`) or released.
    pub fn hold_reset(&mut self, low: bool) {
        if low == self.chip().debug.held {
            return;
        }
        self.chip_mut().debug.held = low;
        if low {
            self.reset(ResetCause::Pin);
        } else {
            self.chip_mut().debug.start();
        }
    }

    /// A debugger's write may have asked for a reset.
    pub(super) fn reset_if_asked(&mut self) {
        let chip = self.chip_mut();
        if std::mem::take(&mut chip.scb.reset_requested) {
            chip.reset = Some(ResetCause::Software);
        }
        if let Some(cause) = chip.reset.take() {
            self.reset(cause);
        }
    }
}

impl Chip {
    /// Timers that DBGMCU stops with the core have no outputs meanwhile.
    fn freeze_outputs(&mut self, halted: bool) {
        for t in &mut self.tims {
            let stops = self.dbgmcu.freezes_timer(t.kind.apb2, t.kind.gate.1);
            t.freeze_outputs(halted && stops);
        }
        self.follow_outputs(self.now);
    }

    /// A debugger's flash algorithm, which runs from RAM, does nothing while the flash is busy but ask whether it still is: the time until
    /// something happens is skipped.
    pub fn skip_flash_wait(&mut self) {
        let in_flash = (FLASH_BASE..FLASH_BASE + FLASH_SIZE).contains(&self.access_pc);
        let working = self.debug.enabled() && !self.debug.halted;
        if working && !in_flash && self.flash.running().is_some() {
            self.now = self.now.max(self.next_event.min(self.flash.next()));
        }
    }
}

const GENERAL: [R; 15] = [
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
    R::SP,
    R::LR,
];

impl Cpu {
    fn instruction_length(&self, pc: u32) -> u32 {
        let first = self.read_bytes(pc, 2).unwrap_or_else(|| vec![0, 0]);
        thumb::length(u16::from_le_bytes([first[0], first[1]])) as u32
    }

    /// Stops before any instruction in `from..to`.
    fn stop_in(&mut self, from: u32, to: u32) -> Option<UcHookId> {
        let (begin, end) = (u64::from(from), u64::from(to));
        let _ = self.uc.ctl_remove_cache(begin.saturating_sub(4), end);
        let stop = |uc: &mut unicorn_engine::Unicorn<Chip>, _, _| {
            uc.get_data_mut().stop = Stop::Inside { breakpoint: false };
            let _ = uc.emu_stop();
        };
        self.uc.add_code_hook(begin, end - 1, stop).ok()
    }

    /// Stops before the instruction at `address` whenever the breakpoint unit says so.
    fn stop_at(&mut self, address: u32) -> Option<UcHookId> {
        let at = u64::from(self.behind_it_block(address));
        let _ = self.uc.ctl_remove_cache(at, at + 2);
        let stop = move |uc: &mut unicorn_engine::Unicorn<Chip>, _, _| {
            let chip = uc.get_data_mut();
            if chip.debug.breaks_at(address) {
                chip.stop = Stop::Inside { breakpoint: true };
                let _ = uc.emu_stop();
            }
        };
        self.uc.add_code_hook(at, at, stop).ok()
    }

    /// `address`, or what follows the IT block that contains it.
    fn behind_it_block(&self, address: u32) -> u32 {
        let half = |at: u32| {
            let b = self.read_bytes(at, 2).unwrap_or_else(|| vec![0, 0]);
            u16::from_le_bytes([b[0], b[1]])
        };
        // Three instructions of four bytes may lie between IT and the last it governs.
        for it in (1..=7).filter_map(|n| address.checked_sub(2 * n)) {
            let mut at = it + 2;
            let mut inside = false;
            for _ in 0..thumb::it_length(half(it)) {
                inside |= at == address;
                at += thumb::length(half(at)) as u32;
            }
            if inside {
                return at;
            }
        }
        address
    }

    fn core_register(&self, number: u32) -> u32 {
        match number {
            0..=14 => self.reg(GENERAL[number as usize]),
            15 => self.reg(R::PC) & !1,
            16 => self.reg(R::XPSR),
            17 => self.reg(R::MSP),
            18 => self.reg(R::PSP),
            20 => {
                let byte = |r: R| self.reg(r) & 0xff;
                byte(R::CONTROL) << 24
                    | byte(R::FAULTMASK) << 16
                    | byte(R::BASEPRI) << 8
                    | byte(R::PRIMASK)
            }
            33 => self.reg(R::FPSCR),
            0x40..=0x5f => self
                .uc
                .reg_read(R::S0 as i32 + (number - 0x40) as i32)
                .unwrap_or(0) as u32,
            _ => 0,
        }
    }

    fn set_core_register(&mut self, number: u32, v: u32) {
        match number {
            0..=14 => self.set_reg(GENERAL[number as usize], v),
            15 => self.set_reg(R::PC, v | 1),
            16 => self.set_xpsr(v),
            17 => self.set_reg(R::MSP, v),
            18 => self.set_reg(R::PSP, v),
            20 => {
                for (r, shift) in [
                    (R::CONTROL, 24),
                    (R::FAULTMASK, 16),
                    (R::BASEPRI, 8),
                    (R::PRIMASK, 0),
                ] {
                    self.set_reg(r, v >> shift & 0xff);
                }
            }
            33 => self.set_reg(R::FPSCR, v),
            0x40..=0x5f => {
                let s = R::S0 as i32 + (number - 0x40) as i32;
                let _ = self.uc.reg_write(s, u64::from(v));
            }
            _ => {}
        }
    }
}
