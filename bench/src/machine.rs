//! The machine: processor and chip run together in virtual time.
//!
//! ```text
//! loop: bring the chip to `now` → reset? → sleep until the next event? → take an exception? → run until the next event
//! ```
//!
//! Everything that happens depends on the program, the scenario and the bytes given with their virtual times; wall-clock
//! time is never looked at. Interrupts are taken between translated blocks (tens of instructions at most).

mod memory;

use std::collections::BTreeSet;
use std::rc::Rc;

use unicorn_engine::{RegisterARM as R, uc_error};

use crate::chip::{Chip, Stop};
use crate::cpu::Cpu;
use crate::cpu::core::hint;
use crate::cpu::exception::Lockup;
use crate::crash::Crash;
use crate::debug::core::Cause;
use crate::debug::halt::Breakpoints;
use crate::elf::Program;
use crate::events::{Pending, UnknownSymbol};
use crate::periph::flash::SECTOR;
use crate::periph::mpu::Access::{self, *};
use crate::periph::nvic::{BUS_FAULT, HARD_FAULT, MEM_MANAGE, SVCALL, USAGE_FAULT};
use crate::periph::rcc::ResetCause;
use crate::periph::scb;
use crate::report::SpinReport;
use crate::rtt::{LogLine, Rtt};
use crate::scenario::Scenario;
use crate::semihost::{self, Semihosting};
use crate::spin::{LIMIT, Spin};
use crate::stack::StackMark;
use crate::time::{NEVER, Time, from_secs, to_secs};

#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    #[error("the emulator cannot be set up: {0:?}")]
    Emulator(uc_error),
    #[error(transparent)]
    Symbol(#[from] UnknownSymbol),
    #[error("the program's defmt table cannot be read: {0}")]
    Defmt(String),
}

/// Why [`Machine::run_until`] returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The time asked for has come.
    Time,
    /// The program ended itself by semihosting, with this code.
    Exit(i32),
    /// The processor locked up (a fault inside a fault handler) and no watchdog runs that would reset it.
    Lockup,
    /// Virtual time stands still: a fault of the bench itself.
    Stuck,
}

pub struct Machine {
    pub cpu: Cpu,
    pub program: Rc<Program>,
    /// Sleeping: `true` = WFE.
    sleeping: Option<bool>,
    /// A fault inside a fault handler: the processor stands until the watchdog or a debugger resets or halts it.
    pub(crate) locked: bool,
    /// The debugger asked for one instruction.
    pub(crate) stepping: bool,
    pub(crate) breakpoints: Breakpoints,
    rtt: Rtt,
    pub semihosting: Semihosting,
    pub crashes: Vec<Crash>,
    /// Resets after power-on, with their time.
    pub resets: Vec<(Time, ResetCause)>,
    pub stack: StackMark,
    log: Vec<LogLine>,
}

impl Machine {
    /// A powered board with the program in flash; nothing has run yet.
    pub fn new(program: Rc<Program>, scenario: &Scenario) -> Result<Machine, MachineError> {
        let pending = Pending::new(&scenario.events, &program)?;
        let mut cpu = Cpu::new(Chip::new(scenario, pending)).map_err(MachineError::Emulator)?;
        let erased = cpu.chip().code.flash().to_vec();
        cpu.rewrite_flash(crate::elf::FLASH_BASE, &erased);
        for (address, data) in &program.segments {
            cpu.program(*address, data)
                .map_err(MachineError::Emulator)?;
        }
        let sectors: BTreeSet<u32> = program
            .segments
            .iter()
            .flat_map(|(at, data)| at / SECTOR..=(at + data.len() as u32 - 1) / SECTOR)
            .collect();
        cpu.watch_flash(|base| sectors.contains(&(base / SECTOR)))
            .map_err(MachineError::Emulator)?;
        let mut machine = Machine {
            sleeping: None,
            locked: false,
            stepping: false,
            breakpoints: Breakpoints::default(),
            rtt: Rtt::new(&program).map_err(MachineError::Defmt)?,
            semihosting: Semihosting::default(),
            crashes: Vec::new(),
            resets: Vec::new(),
            stack: StackMark::new(&program),
            log: Vec::new(),
            cpu,
            program,
        };
        machine.power_up();
        machine.cpu.reset();
        Ok(machine)
    }

    fn power_up(&mut self) {
        let mut rng = self.cpu.chip().rng.clone();
        self.cpu.fill_ram(&mut rng);
        self.cpu.chip_mut().rng = rng;
        self.stack.paint(&self.cpu);
    }

    pub fn chip(&self) -> &Chip {
        self.cpu.chip()
    }

    pub fn chip_mut(&mut self) -> &mut Chip {
        self.cpu.chip_mut()
    }

    pub fn now(&self) -> Time {
        self.chip().now
    }

    /// Decoded log lines and notes since the last call, by time.
    pub fn take_log(&mut self) -> Vec<LogLine> {
        let mut lines = std::mem::take(&mut self.log);
        let notes = self.chip_mut().diagnostics.take_notes();
        lines.extend(notes.into_iter().map(|(at, text)| LogLine::bench(at, text)));
        let spins = self.chip_mut().diagnostics.spins.take_new();
        lines.extend(spins.iter().map(|s| self.tell(s)));
        lines.sort_by_key(|l| l.at);
        lines
    }

    fn tell(&self, s: &Spin) -> LogLine {
        let at = from_secs(s.from_s) + LIMIT;
        LogLine::bench(at, SpinReport::new(s, &self.program).to_string())
    }

    /// Runs until virtual time `end`, or until the program ends.
    pub fn run_until(&mut self, end: Time) -> Outcome {
        let outcome = self.run(end);
        self.drain_rtt();
        self.stack.look(&self.cpu);
        outcome
    }

    fn run(&mut self, end: Time) -> Outcome {
        let (mut rounds, mut since) = (0, self.now());
        loop {
            if self.now() != since {
                (rounds, since) = (0, self.now());
            }
            rounds += 1;
            if rounds > 10_000 {
                return self.stuck();
            }
            self.chip_mut().recheck = false;
            self.chip_mut().masked_wait = false;
            self.chip_mut().sync();
            self.apply_memory_changes();
            if let Some(cause) = self.chip_mut().reset.take() {
                self.reset(cause);
                continue;
            }
            if self.now() >= end {
                return Outcome::Time;
            }
            if self.stands() {
                self.stand_still(end);
                continue;
            }
            if !self.awake(end) {
                continue;
            }
            if self.take_exception().is_err() {
                match self.locked_up() {
                    Some(outcome) => return outcome,
                    None => continue,
                }
            }
            if self.stepping {
                if let Some(outcome) = self.execute_one() {
                    return outcome;
                }
                continue;
            }
            let chip = self.chip_mut();
            chip.next_event = chip.next_event.min(end).max(chip.now + 1);
            if let Some(outcome) = self.execute() {
                return outcome;
            }
        }
    }

    /// False: still asleep, time was moved to the next event.
    fn awake(&mut self, end: Time) -> bool {
        let Some(until_event) = self.sleeping else {
            return true;
        };
        let chip = self.cpu.chip();
        let waiting = chip
            .nvic
            .next()
            .filter(|n| n.1 < chip.nvic.running_priority());
        let wakes = match waiting {
            Some((_, priority)) => {
                !until_event || chip.scb.sev_on_pend() || self.cpu.unmasked(priority)
            }
            None => false,
        };
        let chip = self.cpu.chip_mut();
        if wakes || (until_event && std::mem::take(&mut chip.event_register)) {
            self.sleeping = None;
            return true;
        }
        let to = chip.next_event.min(end).max(chip.now);
        chip.dwt.slept(chip.now, to, chip.dbgmcu.clocked_in_sleep());
        chip.now = to;
        false
    }

    fn take_exception(&mut self) -> Result<(), Lockup> {
        let chip = self.cpu.chip();
        let Some((exception, priority)) = chip.nvic.next() else {
            return Ok(());
        };
        if priority >= chip.nvic.running_priority() || chip.debug.masks(exception) {
            return Ok(());
        }
        if !self.cpu.unmasked(priority) {
            self.chip_mut().masked_wait = true;
            return Ok(());
        }
        self.cpu.enter_exception(exception)
    }

    pub(crate) fn execute(&mut self) -> Option<Outcome> {
        self.chip_mut().stop = Stop::None;
        let pc = self.cpu.reg(R::PC);
        let result = self.cpu.uc.emu_start(u64::from(pc | 1), 0x1000_0000, 0, 0);
        let pc = self.cpu.reg(R::PC);
        let returned = match (self.chip().stop, result) {
            (Stop::ExceptionReturn, _) => self.cpu.return_from_exception(pc | 1),
            _ if pc >= 0xff00_0000 => self.cpu.return_from_exception(pc | 1),
            (Stop::Sleep { until_event }, _) => {
                self.cpu.set_reg(R::PC, (pc + 2) | 1);
                self.sleeping = Some(until_event);
                Ok(())
            }
            (Stop::Inside { breakpoint }, _) => {
                self.stopped_inside(pc, breakpoint);
                Ok(())
            }
            (Stop::Trap(number), _) => return self.trap(number, pc),
            (_, Err(e)) => self.fault_from(e, pc),
            (Stop::None | Stop::Event, Ok(())) => Ok(()),
        };
        returned.err().and_then(|_| self.locked_up())
    }

    /// An exception of the emulated processor: semihosting, SVC, undefined instruction.
    fn trap(&mut self, number: u32, pc: u32) -> Option<Outcome> {
        const SWI: u32 = 2;
        let instruction = self.cpu.read_bytes(pc & !1, 2).unwrap_or_default();
        let breakpoint = instruction.get(1) == Some(&0xbe);
        if breakpoint && self.chip().debug.enabled() {
            self.halt(Cause::Breakpoint);
            return None;
        }
        if breakpoint && self.chip().debug.probe_fitted {
            self.chip_mut().scb.hfsr |= scb::DEBUGEVT;
            return self
                .fault(HARD_FAULT, 0, pc)
                .err()
                .and_then(|_| self.locked_up());
        }
        if instruction == [0xab, 0xbe] {
            let exit = semihost::call(&mut self.cpu, &mut self.semihosting);
            self.cpu.set_reg(R::PC, (pc + 2) | 1);
            return exit.map(Outcome::Exit);
        }
        if number == SWI {
            self.chip_mut().nvic.pend_system(SVCALL);
            return None;
        }
        let state = if number == 18 {
            scb::INVSTATE
        } else {
            scb::UNDEFINSTR
        };
        self.fault(USAGE_FAULT, state, pc)
            .err()
            .and_then(|_| self.locked_up())
    }

    fn fault_from(&mut self, e: uc_error, pc: u32) -> Result<(), Lockup> {
        if let Some(stop) = self.hint_in_ram(e, pc) {
            self.cpu.set_reg(R::PC, (pc + 2) | 1);
            match stop {
                Stop::Sleep { until_event } => self.sleeping = Some(until_event),
                _ => self.chip_mut().event_register = true,
            }
            return Ok(());
        }
        match e {
            uc_error::INSN_INVALID | uc_error::EXCEPTION => {
                self.fault(USAGE_FAULT, scb::UNDEFINSTR, pc)
            }
            uc_error::FETCH_PROT if self.cpu.watches(pc) && self.cpu.unwatch(pc).is_ok() => Ok(()),
            uc_error::FETCH_UNMAPPED | uc_error::FETCH_PROT if self.forbidden(pc, Execute) => {
                self.fault(MEM_MANAGE, scb::IACCVIOL, pc)
            }
            uc_error::FETCH_UNMAPPED | uc_error::FETCH_PROT => {
                self.fault(BUS_FAULT, scb::IBUSERR, pc)
            }
            _ => {
                let store = matches!(e, uc_error::WRITE_PROT | uc_error::WRITE_UNMAPPED);
                let address = self.chip().diagnostics.bad_access;
                if self.forbidden(address, if store { Write } else { Read }) {
                    self.chip_mut().scb.data_access_violation(address);
                    return self.fault(MEM_MANAGE, 0, pc);
                }
                let chip = self.chip_mut();
                chip.scb.data_bus_fault(chip.diagnostics.bad_access);
                self.fault(BUS_FAULT, 0, pc)
            }
        }
    }

    /// The MPU refuses the access. Fault handlers run without it (MPU_CTRL.HFNMIENA is not modelled).
    fn forbidden(&self, address: u32, access: Access) -> bool {
        let chip = self.chip();
        chip.nvic.running_priority() >= 0 && chip.scb.mpu.forbids(address, access)
    }

    fn hint_in_ram(&self, e: uc_error, pc: u32) -> Option<Stop> {
        let b = self.cpu.read_bytes(pc & !1, 2)?;
        let hint = hint(u16::from_le_bytes([b[0], b[1]]));
        hint.filter(|_| e == uc_error::INSN_INVALID)
    }

    fn fault(&mut self, exception: u32, status: u32, pc: u32) -> Result<(), Lockup> {
        let chip = self.chip_mut();
        chip.uncount_from(pc);
        chip.scb.cfsr |= status;
        let crash = Crash::record(&self.cpu, &self.program, exception);
        let at = self.now();
        self.log.push(LogLine::bench(at, crash.to_string()));
        self.crashes.push(crash);
        let entered = self.cpu.fault(exception)?;
        if self.chip().debug.catches(entered) {
            self.halt(Cause::VectorCatch);
        }
        Ok(())
    }

    /// `None`: the processor stands until the watchdog resets the chip, or a debug probe looks. Without both the run is over.
    fn locked_up(&mut self) -> Option<Outcome> {
        let crash = Crash::record(&self.cpu, &self.program, 0);
        let at = self.now();
        self.log
            .push(LogLine::bench(at, format!("lock-up: {crash}")));
        self.crashes.push(crash);
        let watched = self.chip().iwdg.expires_at() != NEVER;
        self.locked = watched || self.chip().debug.probe_fitted;
        let chip = self.chip_mut();
        chip.locked_up = true;
        chip.outputs.cause(at, "lock-up");
        chip.follow_outputs(at);
        (!self.locked).then_some(Outcome::Lockup)
    }

    pub(crate) fn asleep(&self) -> bool {
        self.sleeping.is_some()
    }

    pub(crate) fn wake(&mut self) {
        self.sleeping = None;
    }

    fn stuck(&mut self) -> Outcome {
        let at = self.now();
        let (stop, next) = (self.chip().stop, self.chip().next_event);
        let crash = Crash::record(&self.cpu, &self.program, 0);
        let why = format!(
            "virtual time stands still ({stop:?}, asleep {:?}, next event in {}): {crash}",
            self.sleeping,
            next.wrapping_sub(at)
        );
        self.log.push(LogLine::bench(at, why));
        self.crashes.push(crash);
        Outcome::Stuck
    }

    /// Resets the chip.
    pub fn reset(&mut self, cause: ResetCause) {
        self.drain_rtt();
        self.stack.look(&self.cpu);
        let now = self.now();
        self.log
            .push(LogLine::bench(now, format!("reset: {cause:?}")));
        let what = format!("reset: {cause:?}");
        self.chip_mut().outputs.cause(now, &what);
        self.resets.push((now, cause));
        let torn = self.chip_mut().reset_registers(cause);
        for t in torn {
            self.tear(t);
        }
        if cause.loses_ram() {
            self.power_up();
            self.rtt.restart();
        }
        self.sleeping = None;
        self.locked = false;
        self.cpu.protect();
        self.cpu.reset();
        if !self.chip().debug.held {
            self.chip_mut().debug.start();
        }
    }

    /// The log in RAM is the debugger's while there is one.
    fn drain_rtt(&mut self) {
        if self.chip().debug.client {
            return;
        }
        let now = self.now();
        let lines = self.rtt.drain(&mut self.cpu, now);
        self.log.extend(lines);
    }

    /// Virtual time [s].
    pub fn seconds(&self) -> f64 {
        to_secs(self.now())
    }
}
