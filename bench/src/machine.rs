//! The machine: processor and chip run together in virtual time.
//!
//! ```text
//! loop: bring the chip to `now` → reset? → sleep until the next event? → take an exception? → run until the next event
//! ```
//!
//! Everything that happens depends on the program, the scenario and the bytes given with their virtual times; wall-clock
//! time is never looked at. Interrupts are taken between translated blocks (tens of instructions at most).

use std::rc::Rc;

use unicorn_engine::{RegisterARM as R, uc_error};

use crate::chip::{Chip, MemoryChange, Stop};
use crate::cpu::Cpu;
use crate::cpu::exception::Lockup;
use crate::crash::Crash;
use crate::elf::Program;
use crate::events::{Pending, UnknownSymbol};
use crate::periph::flash::{Change, Torn};
use crate::periph::nvic::{BUS_FAULT, SVCALL, USAGE_FAULT};
use crate::periph::rcc::ResetCause;
use crate::periph::scb;
use crate::rtt::{LogLine, Rtt};
use crate::scenario::Scenario;
use crate::semihost::{self, Semihosting};
use crate::stack::StackMark;
use crate::time::{Time, to_secs};

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
    /// The processor locked up: a fault inside a fault handler.
    Lockup,
    /// Virtual time stands still: a fault of the bench itself.
    Stuck,
}

pub struct Machine {
    pub cpu: Cpu,
    pub program: Rc<Program>,
    /// Sleeping: `true` = WFE.
    sleeping: Option<bool>,
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
        let erased = cpu.chip().image.clone();
        cpu.rewrite_flash(crate::elf::FLASH_BASE, &erased);
        for (address, data) in &program.segments {
            cpu.program(*address, data)
                .map_err(MachineError::Emulator)?;
        }
        let mut machine = Machine {
            sleeping: None,
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
        lines.sort_by_key(|l| l.at);
        lines
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
            if !self.awake(end) {
                continue;
            }
            if self.take_exception().is_err() {
                return self.locked_up();
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
        chip.dwt.slept(chip.now, to);
        chip.now = to;
        false
    }

    fn take_exception(&mut self) -> Result<(), Lockup> {
        let chip = self.cpu.chip();
        let Some((exception, priority)) = chip.nvic.next() else {
            return Ok(());
        };
        if priority >= chip.nvic.running_priority() {
            return Ok(());
        }
        if !self.cpu.unmasked(priority) {
            self.chip_mut().masked_wait = true;
            return Ok(());
        }
        self.cpu.enter_exception(exception)
    }

    fn execute(&mut self) -> Option<Outcome> {
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
            (Stop::Trap(number), _) => return self.trap(number, pc),
            (_, Err(e)) => self.fault_from(e, pc),
            (Stop::None | Stop::Event, Ok(())) => Ok(()),
        };
        returned.is_err().then(|| self.locked_up())
    }

    /// An exception of the emulated processor: semihosting, SVC, undefined instruction.
    fn trap(&mut self, number: u32, pc: u32) -> Option<Outcome> {
        const SWI: u32 = 2;
        let instruction = self.cpu.read_bytes(pc & !1, 2).unwrap_or_default();
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
            .is_err()
            .then(|| self.locked_up())
    }

    fn fault_from(&mut self, e: uc_error, pc: u32) -> Result<(), Lockup> {
        match e {
            uc_error::INSN_INVALID | uc_error::EXCEPTION => {
                self.fault(USAGE_FAULT, scb::UNDEFINSTR, pc)
            }
            uc_error::FETCH_UNMAPPED | uc_error::FETCH_PROT => {
                self.fault(BUS_FAULT, scb::IBUSERR, pc)
            }
            _ => {
                let address = self.chip().diagnostics.bad_access;
                self.chip_mut().scb.bfar = address;
                self.fault(BUS_FAULT, scb::PRECISERR | scb::BFARVALID, pc)
            }
        }
    }

    fn fault(&mut self, exception: u32, status: u32, pc: u32) -> Result<(), Lockup> {
        let chip = self.chip_mut();
        chip.uncount_from(pc);
        chip.scb.cfsr |= status;
        let crash = Crash::record(&self.cpu, &self.program, exception);
        let at = self.now();
        self.log.push(LogLine::bench(at, crash.to_string()));
        self.crashes.push(crash);
        self.cpu.fault(exception).map(drop)
    }

    fn locked_up(&mut self) -> Outcome {
        let crash = Crash::record(&self.cpu, &self.program, 0);
        let at = self.now();
        self.log
            .push(LogLine::bench(at, format!("lock-up: {crash}")));
        self.crashes.push(crash);
        Outcome::Lockup
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
        self.cpu.reset();
    }

    fn tear(&mut self, torn: Torn) {
        match torn {
            Torn::Program { address, bytes } => {
                self.change_flash(Change::Program { address, bytes })
            }
            Torn::Erase { address, len } => {
                let mut old = self
                    .cpu
                    .read_bytes(address, len as usize)
                    .unwrap_or_default();
                let rng = &mut self.cpu.chip_mut().rng;
                for b in old.iter_mut() {
                    *b |= rng.next_u32() as u8;
                }
                self.cpu.rewrite_flash(address, &old);
            }
        }
        self.log.push(LogLine::bench(
            self.now(),
            "flash: the running operation was torn".into(),
        ));
    }

    fn change_flash(&mut self, change: Change) {
        match change {
            Change::Program { address, bytes } => {
                let mut data = self
                    .cpu
                    .read_bytes(address, bytes.len())
                    .unwrap_or_default();
                if data.iter().any(|&b| b != 0xff) {
                    let note = format!("flash: {address:#010x} programmed without being erased");
                    self.log.push(LogLine::bench(self.now(), note));
                }
                for (d, b) in data.iter_mut().zip(bytes) {
                    *d &= b;
                }
                self.cpu.rewrite_flash(address, &data);
            }
            Change::Erase { address, len } => {
                self.cpu.rewrite_flash(address, &vec![0xff; len as usize])
            }
        }
    }

    fn apply_memory_changes(&mut self) {
        if self.chip().memory.is_empty() {
            return;
        }
        for change in std::mem::take(&mut self.chip_mut().memory) {
            match change {
                MemoryChange::Flash(change) => self.change_flash(change),
                MemoryChange::FlipBit { address, bit } => {
                    if let Some(byte) = self.cpu.read_bytes(address, 1) {
                        self.cpu.write_bytes(address, &[byte[0] ^ 1 << bit]);
                    }
                }
            }
        }
    }

    fn drain_rtt(&mut self) {
        let now = self.now();
        let lines = self.rtt.drain(&mut self.cpu, now);
        self.log.extend(lines);
    }

    /// Virtual time [s].
    pub fn seconds(&self) -> f64 {
        to_secs(self.now())
    }
}
