//! Exceptions as ARMv7-M defines them (B1.5): stacking, EXC_RETURN, tail-chaining, fault escalation.
//!
//! Unicorn has no exception model for this profile. Floating point state is stacked at once instead of lazily: the frame
//! has the same size and contents. Entry and return take 12 cycles, tail-chaining 6 (Cortex-M7 without wait states); with the cost model
//! also the fetch of the vector, and a cycle for each word of floating point state.

use unicorn_engine::RegisterARM as R;

use super::core::Cpu;
use crate::periph::nvic::HARD_FAULT;

const ENTRY_CYCLES: u64 = 12;
const CHAIN_CYCLES: u64 = 6;
const FRAME: [R; 6] = [R::R0, R::R1, R::R2, R::R3, R::R12, R::LR];
/// Words of floating point state in a frame.
const FP_WORDS: u64 = 18;
const FPCA: u32 = 1 << 2;
const SPSEL: u32 = 1 << 1;

/// Code from here on faults when it is fetched; an erased vector points here.
const NEVER_EXECUTED: u32 = 0xe000_0000;

/// The processor cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lockup;

impl Cpu {
    fn charge(&mut self, cycles: u64) {
        let chip = self.chip_mut();
        chip.now += cycles * crate::time::cycle(chip.rcc.clocks.cpu);
        chip.event_register = true;
    }

    /// Stacks the interrupted state and starts the handler.
    pub fn enter_exception(&mut self, exception: u32) -> Result<(), Lockup> {
        let control = self.reg(R::CONTROL);
        let in_handler = !self.chip().nvic.stack.is_empty();
        let fp = control & FPCA != 0;
        let sp = self.reg(R::SP);
        let mut at = sp.wrapping_sub(if fp { 26 * 4 } else { 8 * 4 });
        let padded = at & 4 != 0;
        at -= if padded { 4 } else { 0 };
        let xpsr = self.reg(R::XPSR) & !(1 << 9) | u32::from(padded) << 9;
        let mut words: Vec<u32> = FRAME.iter().map(|&r| self.reg(r)).collect();
        words.push(self.reg(R::PC));
        words.push(xpsr);
        if fp {
            for i in 0..8 {
                let d = self.uc.reg_read(R::D0 as i32 + i).unwrap_or(0);
                words.extend([d as u32, (d >> 32) as u32]);
            }
            words.extend([self.reg(R::FPSCR), 0]);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.uc
            .mem_write(u64::from(at), &bytes)
            .map_err(|_| Lockup)?;
        self.set_reg(R::SP, at);
        let process_stack = !in_handler && control & SPSEL != 0;
        let mut exc_return = if in_handler {
            0xffff_fff1
        } else if process_stack {
            0xffff_fffd
        } else {
            0xffff_fff9
        };
        if fp {
            exc_return &= !0x10u32;
        }
        self.set_reg(R::CONTROL, control & !FPCA & !SPSEL);
        self.start_handler(exception, exc_return, ENTRY_CYCLES)
    }

    fn start_handler(
        &mut self,
        exception: u32,
        exc_return: u32,
        cycles: u64,
    ) -> Result<(), Lockup> {
        self.set_reg(R::LR, exc_return);
        self.set_xpsr(exception | 1 << 24);
        let since = self.chip_mut().nvic.enter(exception);
        let vector = self.chip().scb.vtor + 4 * exception;
        let state = if exc_return & 0x10 == 0 { FP_WORDS } else { 0 };
        let fetch = self.chip_mut().cost.as_mut().map_or(0, |cost| {
            cost.redirected();
            state + u64::from(cost.vector(vector))
        });
        self.charge(cycles + fetch);
        let chip = self.chip_mut();
        let now = chip.now;
        let counters = chip.cost.as_ref().map(|c| c.counters());
        chip.profile.enter(exception, now, since, counters);
        let handler = self
            .read_word(vector)
            .filter(|h| h & 1 == 1 && *h < NEVER_EXECUTED)
            .ok_or(Lockup)?;
        self.set_reg(R::PC, handler);
        Ok(())
    }

    /// The handler returned with `exc_return`: chains to a waiting exception or unstacks.
    pub fn return_from_exception(&mut self, exc_return: u32) -> Result<(), Lockup> {
        let chip = self.chip_mut();
        chip.nvic.leave().ok_or(Lockup)?;
        let now = chip.now;
        let counters = chip.cost.as_mut().map(|c| {
            c.redirected();
            c.counters()
        });
        chip.profile.leave(now, counters);
        // Lines that stayed high while their handler ran ask again now.
        for i in 0..chip.tims.len() {
            chip.timer_lines(i);
        }
        chip.lines();
        let running = chip.nvic.running_priority();
        let waiting = chip
            .nvic
            .next()
            .filter(|n| n.1 < running && !chip.debug.masks(n.0));
        if let Some((exception, priority)) = waiting
            && self.unmasked(priority)
        {
            return self.start_handler(exception, exc_return, CHAIN_CYCLES);
        }
        self.unstack(exc_return)
    }

    fn unstack(&mut self, exc_return: u32) -> Result<(), Lockup> {
        let fp = exc_return & 0x10 == 0;
        let process_stack = exc_return & 0xf == 0xd;
        let sp = self.reg(if process_stack { R::PSP } else { R::SP });
        let len = if fp { 26 * 4 } else { 8 * 4 };
        let bytes = self.read_bytes(sp, len).ok_or(Lockup)?;
        let w: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        if fp {
            for i in 0..8usize {
                let d = u64::from(w[8 + 2 * i]) | u64::from(w[9 + 2 * i]) << 32;
                let _ = self.uc.reg_write(R::D0 as i32 + i as i32, d);
            }
            self.set_reg(R::FPSCR, w[24]);
        }
        let control = self.reg(R::CONTROL) & !FPCA & !SPSEL;
        let selected = if process_stack { SPSEL } else { 0 };
        // Thread or handler mode first: it decides which stack pointer SP is.
        self.set_xpsr(w[7] & !(1 << 9));
        self.set_reg(R::CONTROL, control | selected | if fp { FPCA } else { 0 });
        self.set_reg(
            R::SP,
            sp + len as u32 + if w[7] >> 9 & 1 != 0 { 4 } else { 0 },
        );
        for (r, v) in FRAME.into_iter().zip(&w) {
            self.set_reg(r, *v);
        }
        self.set_reg(R::PC, w[6] | 1);
        self.charge(ENTRY_CYCLES);
        Ok(())
    }

    /// Whether PRIMASK, BASEPRI and FAULTMASK let an exception of this priority through.
    pub fn unmasked(&self, priority: i32) -> bool {
        let basepri = self.reg(R::BASEPRI) as i32;
        let faultmask = self.reg(R::FAULTMASK) & 1 != 0;
        if priority < 0 {
            return !(faultmask && priority >= -1);
        }
        self.reg(R::PRIMASK) & 1 == 0 && !faultmask && (basepri == 0 || priority < basepri)
    }

    /// A synchronous fault of kind `exception`: its own handler if enabled and urgent enough, else HardFault, else lock-up.
    pub fn fault(&mut self, exception: u32) -> Result<u32, Lockup> {
        let chip = self.chip();
        let running = chip.nvic.running_priority();
        let priority = chip.nvic.priority_of(exception);
        if chip.scb.fault_enabled(exception) && priority < running && self.unmasked(priority) {
            self.enter_exception(exception)?;
            return Ok(exception);
        }
        if running <= -1 {
            return Err(Lockup);
        }
        self.chip_mut().scb.hfsr |= 1 << 30;
        self.enter_exception(HARD_FAULT)?;
        Ok(HARD_FAULT)
    }
}
