//! Debug registers of the processor (ARMv7-M C1.6): DHCSR, DCRSR, DCRDR, DEMCR, DFSR.
//!
//! Inputs: writes of the debugger (through an access port) and of the program (which may only touch DEMCR and DFSR).
//! Output of a write: the [`Request`] the machine must carry out. A reset of the processor leaves debug enable, vector catch
//! and breakpoints alone; only power-on clears them.

use super::fpb::Fpb;
use crate::periph::nvic::{BUS_FAULT, HARD_FAULT, MEM_MANAGE, PENDSV, USAGE_FAULT};
use crate::time::Time;

pub const DFSR: u32 = 0xe000_ed30;
pub const DHCSR: u32 = 0xe000_edf0;
pub const DCRSR: u32 = 0xe000_edf4;
pub const DCRDR: u32 = 0xe000_edf8;
pub const DEMCR: u32 = 0xe000_edfc;

const KEY: u32 = 0xa05f;
const C_DEBUGEN: u32 = 1;
const C_HALT: u32 = 1 << 1;
const C_STEP: u32 = 1 << 2;
const C_MASKINTS: u32 = 1 << 3;
const S_REGRDY: u32 = 1 << 16;
const S_HALT: u32 = 1 << 17;
const S_SLEEP: u32 = 1 << 18;
const S_LOCKUP: u32 = 1 << 19;
const S_RETIRE_ST: u32 = 1 << 24;
const S_RESET_ST: u32 = 1 << 25;

const VC_CORERESET: u32 = 1;
/// MON_EN … MON_REQ: the part of DEMCR that every reset clears.
const MONITOR: u32 = 0xf << 16;
const DEMCR_BITS: u32 = 1 << 24 | MONITOR | 0x7f1;

/// Why the processor halted, as DFSR tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The debugger's request, or the end of a step.
    Request = 1,
    /// A BKPT instruction or a breakpoint of the FPB.
    Breakpoint = 1 << 1,
    VectorCatch = 1 << 3,
}

/// What a debugger's write asks of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Halt,
    Run,
    Step,
    /// DCRSR: move a core register to DCRDR, or back.
    Register {
        number: u32,
        write: bool,
    },
}

/// Where the processor stands when DHCSR is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    pub asleep: bool,
    pub locked_up: bool,
}

#[derive(Clone, Debug, Default)]
pub struct CoreDebug {
    control: u32,
    demcr: u32,
    dfsr: u32,
    pub dcrdr: u32,
    pub fpb: Fpb,
    /// In Debug state.
    pub halted: bool,
    reset_seen: bool,
    /// nRST is held low.
    pub held: bool,
    /// A probe is fitted: BKPT is for a debugger, and a fault without one.
    pub probe_fitted: bool,
    /// Somebody uses the probe: the log in RAM is theirs.
    pub client: bool,
    /// How long the processor runs on before its state is told: the time a question takes with a probe on USB. A debugger that
    /// asks ten times a second then sees a short test end at its first question.
    pub status_lead: Time,
}

impl CoreDebug {
    /// Halting debug is on (C_DEBUGEN).
    pub fn enabled(&self) -> bool {
        self.control & C_DEBUGEN != 0
    }

    /// There was a reset that the debugger has not been told of.
    pub fn reset_untold(&self) -> bool {
        self.reset_seen
    }

    /// The probe turns halting debug on.
    pub fn enable(&mut self) {
        self.control |= C_DEBUGEN;
    }

    /// C_MASKINTS: PendSV, SysTick and interrupts wait.
    pub fn masks(&self, exception: u32) -> bool {
        self.control & C_MASKINTS != 0 && exception >= PENDSV
    }

    /// Enters Debug state.
    pub fn halt(&mut self, cause: Cause) {
        self.halted = true;
        self.control |= C_HALT;
        self.dfsr |= cause as u32;
    }

    /// Whether entering this exception halts the processor.
    pub fn catches(&self, exception: u32) -> bool {
        let bit = match exception {
            HARD_FAULT => 10,
            BUS_FAULT => 8,
            USAGE_FAULT => 7,
            MEM_MANAGE => 4,
            _ => return false,
        };
        self.enabled() && self.demcr >> bit & 1 != 0
    }

    /// Whether a breakpoint stops the processor before the instruction at `address`.
    pub fn breaks_at(&self, address: u32) -> bool {
        self.enabled() && self.fpb.hits(address)
    }

    /// The processor was reset; `cold` = power had gone.
    pub fn reset(&mut self, cold: bool) {
        if cold {
            *self = CoreDebug {
                held: self.held,
                probe_fitted: self.probe_fitted,
                client: self.client,
                status_lead: self.status_lead,
                ..CoreDebug::default()
            };
        }
        self.control &= C_DEBUGEN;
        self.demcr &= !MONITOR;
        self.halted = false;
        self.reset_seen = true;
    }

    /// The processor is about to start from its reset vector.
    pub fn start(&mut self) {
        if self.enabled() && self.demcr & VC_CORERESET != 0 {
            self.halt(Cause::VectorCatch);
        }
    }

    pub fn demcr(&self) -> u32 {
        self.demcr
    }

    /// A read of the program.
    pub fn program_read(&self, address: u32) -> Option<u32> {
        Some(match address {
            DFSR => self.dfsr,
            DHCSR => self.control | S_RETIRE_ST,
            DCRSR => 0,
            DCRDR => self.dcrdr,
            DEMCR => self.demcr,
            _ => return None,
        })
    }

    /// A write of the program: DHCSR is the debugger's alone.
    pub fn program_write(&mut self, address: u32, v: u32) -> Option<()> {
        match address {
            DFSR => self.dfsr &= !v,
            DEMCR => self.demcr = v & DEMCR_BITS,
            DHCSR | DCRSR => {}
            DCRDR => self.dcrdr = v,
            _ => return None,
        }
        Some(())
    }

    /// A read of the debugger; the "since the last read" bits of DHCSR are cleared by it.
    pub fn read(&mut self, address: u32, state: State) -> Option<u32> {
        if address != DHCSR {
            return self.program_read(address);
        }
        let bit = |on: bool, b: u32| if on { b } else { 0 };
        let running = !self.halted && !self.held;
        Some(
            self.control
                | S_REGRDY
                | bit(self.halted, S_HALT)
                | bit(running && state.asleep, S_SLEEP)
                | bit(running && state.locked_up, S_LOCKUP)
                | bit(running && !state.asleep, S_RETIRE_ST)
                | bit(
                    std::mem::take(&mut self.reset_seen) || self.held,
                    S_RESET_ST,
                ),
        )
    }

    /// A write of the debugger.
    pub fn write(&mut self, address: u32, v: u32) -> Option<Request> {
        match address {
            DHCSR if v >> 16 == KEY => self.control_written(v),
            DCRSR => Some(Request::Register {
                number: v & 0x7f,
                write: v >> 16 & 1 != 0,
            }),
            _ => {
                self.program_write(address, v);
                None
            }
        }
    }

    fn control_written(&mut self, v: u32) -> Option<Request> {
        self.control = if v & C_DEBUGEN != 0 { v & 0x2f } else { 0 };
        match (self.halted, self.control & C_HALT != 0) {
            (false, true) => Some(Request::Halt),
            (true, false) if self.control & C_STEP != 0 => Some(Request::Step),
            (true, false) => Some(Request::Run),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached() -> CoreDebug {
        let mut d = CoreDebug::default();
        assert_eq!(d.write(DHCSR, 0xa05f_0001), None);
        d
    }

    #[test]
    fn halting_needs_the_key_and_debug_enable() {
        let mut d = CoreDebug::default();
        assert_eq!(d.write(DHCSR, 3), None);
        assert!(!d.enabled());
        assert_eq!(d.write(DHCSR, 0xa05f_0003), Some(Request::Halt));
        d.halt(Cause::Request);
        assert_eq!(d.read(DHCSR, State::default()).unwrap() & S_HALT, S_HALT);
        assert_eq!(d.read(DFSR, State::default()), Some(1));
        assert_eq!(d.write(DHCSR, 0xa05f_000d), Some(Request::Step));
        assert_eq!(d.write(DHCSR, 0xa05f_0001), Some(Request::Run));
    }

    #[test]
    fn a_reset_is_caught_and_told_once() {
        let mut d = attached();
        d.write(DEMCR, 1 << 24 | VC_CORERESET);
        d.reset(false);
        d.start();
        assert!(d.halted, "vector catch");
        let told = |d: &mut CoreDebug| d.read(DHCSR, State::default()).unwrap() & S_RESET_ST != 0;
        assert!(told(&mut d) && !told(&mut d));
        d.reset(true);
        d.start();
        assert!(!d.halted && !d.enabled(), "power-on forgets the debugger");
    }

    #[test]
    fn the_program_can_give_up_the_vector_catch_but_not_halt_itself() {
        let mut d = attached();
        d.write(DEMCR, VC_CORERESET);
        d.program_write(DHCSR, 0xa05f_0003);
        assert!(!d.halted);
        d.program_write(DEMCR, 0);
        d.reset(false);
        d.start();
        assert!(!d.halted);
    }

    #[test]
    fn masked_interrupts_are_those_from_pendsv_on() {
        let mut d = attached();
        d.write(DHCSR, 0xa05f_0009);
        assert!(d.masks(14) && d.masks(71) && !d.masks(HARD_FAULT));
    }
}
