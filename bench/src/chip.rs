//! The chip without its processor: peripherals, virtual time, the USB host and the rig, and how they wake each other.
//!
//! The processor calls in at three points: every translated block advances time ([`Chip::block`]), every register access goes
//! through [`crate::bus`], and whenever time reaches [`Chip::next_event`] the machine calls [`Chip::sync`], which brings
//! everything up to date, lets scenario events happen and raises interrupt lines.

use crate::bus::Source;
use crate::cost::Cost;
use crate::cpu::code::Code;
use crate::debug::core::CoreDebug;
use crate::diagnose::Diagnostics;
use crate::elf::FLASH_BASE;
use crate::events::Pending;
use crate::outputs::Outputs;
use crate::periph::crs::Crs;
use crate::periph::dbgmcu::Dbgmcu;
use crate::periph::dwt::Dwt;
use crate::periph::exti::Exti;
use crate::periph::flash::Flash;
use crate::periph::gpio::Gpio;
use crate::periph::iwdg::Iwdg;
use crate::periph::nvic::{Nvic, SYSTICK};
use crate::periph::otg::Otg;
use crate::periph::pwr::Pwr;
use crate::periph::rcc::{Oscillators, Rcc, ResetCause};
use crate::periph::scb::Scb;
use crate::periph::systick::SysTick;
use crate::periph::tim::{TIMERS, Tim};
use crate::profile::Profile;
use crate::rig::Rig;
use crate::rng::Rng;
use crate::scenario::{Board, Reads, Scenario};
use crate::time::{Time, cycle};
use crate::usb::{Reading, UsbHost};

/// Why the processor stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    None,
    /// Time for [`Chip::sync`], or an interrupt may be taken.
    Event,
    /// WFE or WFI.
    Sleep {
        until_event: bool,
    },
    ExceptionReturn,
    /// Before an instruction inside a block: a breakpoint, or the end of a step.
    Inside {
        breakpoint: bool,
    },
    /// An exception of the emulated processor, by its number.
    Trap(u32),
}

/// The block being executed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    pub address: u32,
    pub size: u32,
    /// Time of its first instruction.
    pub start: Time,
    pub instructions: u32,
    /// Time of all of it.
    pub time: Time,
}

impl Block {
    /// Time of its first `n` instructions.
    fn time_of(&self, n: u32) -> Time {
        self.time * u64::from(n.min(self.instructions)) / u64::from(self.instructions.max(1))
    }
}

pub struct Chip {
    /// Time at the end of the block that runs, or now when the processor is stopped.
    pub now: Time,
    pub next_event: Time,
    /// Something may have become more urgent: stop at the next block.
    pub recheck: bool,
    /// An interrupt waits for PRIMASK or BASEPRI to be released.
    pub masked_wait: bool,
    pub stop: Stop,
    /// The event register of WFE and SEV.
    pub event_register: bool,
    pub block: Block,
    pub code: Code,
    pub instructions: u64,
    /// Virtual time of one instruction.
    pub instruction_time: Time,
    cycles_per_instruction: f64,
    /// The cost model, when cycles are estimated; else an instruction is a cycle.
    pub cost: Option<Box<Cost>>,
    /// Every instruction counted one by one, when asked for.
    pub exact: Option<crate::exact::Exact>,
    /// PC of the register access in progress.
    pub access_pc: u32,

    pub rcc: Rcc,
    pub pwr: Pwr,
    pub flash: Flash,
    pub gpio: Gpio,
    pub exti: Exti,
    pub tims: Vec<Tim>,
    pub iwdg: Iwdg,
    pub otg: Otg,
    pub dwt: Dwt,
    pub dbgmcu: Dbgmcu,
    pub debug: CoreDebug,
    pub systick: SysTick,
    pub nvic: Nvic,
    pub scb: Scb,
    pub crs: Crs,

    pub host: UsbHost,
    pub rig: Rig,
    /// What the pins to the bridge do.
    pub outputs: Outputs,
    /// A limit switch holds the fault line low.
    pub limit_switch_open: bool,
    /// The processor stands after a fault inside a fault handler.
    pub locked_up: bool,
    pub board: Board,
    /// What is connected to each timer's encoder inputs.
    pub sources: Vec<Option<Source>>,
    pub rng: Rng,
    pub pending: Pending,
    pub diagnostics: Diagnostics,
    pub profile: Profile,
    /// A reset is due.
    pub reset: Option<ResetCause>,
    /// Changes to make in memory, which only the machine can reach.
    pub memory: Vec<MemoryChange>,
    /// Level of each reported LED and how often it changed.
    pub leds: Vec<(bool, u64)>,
}

/// A change of memory contents from outside the processor.
#[derive(Clone, Debug)]
pub enum MemoryChange {
    Flash(crate::periph::flash::Change),
    FlipBit {
        address: u32,
        bit: u32,
    },
    /// The MPU was programmed.
    Protection,
}

impl Chip {
    pub fn new(scenario: &Scenario, pending: Pending) -> Self {
        let oscillators = Oscillators {
            hse_hz: scenario.board.hse_hz,
            hsi_ppm: scenario.board.hsi_error_ppm,
        };
        let rcc = Rcc::new(oscillators, ResetCause::PowerOn);
        let cpu = cycle(rcc.clocks.cpu);
        let reading = match scenario.host.reads {
            Reads::Fast => Reading::Fast,
            Reads::Never => Reading::Stopped,
            Reads::Slow(rate) => Reading::Slow(rate),
        };
        let mut chip = Chip {
            now: 0,
            next_event: 0,
            recheck: false,
            masked_wait: false,
            stop: Stop::None,
            event_register: false,
            block: Block::default(),
            code: Code::default(),
            instructions: 0,
            instruction_time: cpu,
            cycles_per_instruction: scenario.cycles_per_instruction,
            cost: scenario.cycles.then(Box::default),
            exact: None,
            access_pc: 0,
            tims: timers(&rcc),
            rcc,
            pwr: Pwr::default(),
            flash: Flash::default(),
            gpio: Gpio::default(),
            exti: Exti::default(),
            iwdg: Iwdg::default(),
            otg: Otg::new(scenario.board.vbus_wired),
            dwt: Dwt::new(cpu),
            dbgmcu: Dbgmcu::default(),
            debug: CoreDebug::default(),
            systick: SysTick::new(cpu),
            nvic: Nvic::new(),
            scb: Scb::new(FLASH_BASE),
            crs: Crs::new(scenario.board.hsi48_error_ppm),
            host: UsbHost::new(reading),
            rig: Rig::new(&scenario.plant, scenario.drive.as_ref()),
            outputs: Outputs::default(),
            limit_switch_open: false,
            locked_up: false,
            board: scenario.board.clone(),
            sources: vec![None; TIMERS.len()],
            rng: Rng::new(scenario.seed),
            pending,
            diagnostics: Diagnostics::default(),
            profile: Profile::new(scenario.cycles),
            reset: None,
            memory: Vec::new(),
            leds: vec![(false, 0); scenario.board.leds.len()],
        };
        chip.gpio.drive(chip.board.button.0, Some(false));
        if scenario.host.plugged {
            chip.host.plug(&mut chip.otg);
        }
        chip.clocks_changed(0);
        chip
    }

    /// Everything but the reset causes, the outside world and the statistics returns to its reset state.
    pub fn reset_registers(&mut self, cause: ResetCause) -> Vec<crate::periph::flash::Torn> {
        self.rcc.reset(cause);
        let cpu = cycle(self.rcc.clocks.cpu);
        self.tims = timers(&self.rcc);
        self.pwr = Pwr::default();
        let torn = self.flash.reset(&mut self.rng);
        self.flash.array.cache(false);
        self.gpio.reset();
        self.exti = Exti::default();
        self.iwdg = Iwdg::default();
        self.otg.reset();
        self.dwt = Dwt::new(cpu);
        if cause.loses_ram() {
            self.dbgmcu = Dbgmcu::default();
        }
        self.debug.reset(cause.loses_ram());
        self.dwt.enable(self.debug.demcr(), self.now);
        self.systick = SysTick::new(cpu);
        self.nvic = Nvic::new();
        self.scb = Scb::new(FLASH_BASE);
        self.code.forget_ram();
        if let Some(cost) = &mut self.cost {
            cost.reset();
        }
        self.crs.reset();
        self.event_register = false;
        self.masked_wait = false;
        self.recheck = false;
        self.reset = None;
        self.profile.restart();
        self.sources = vec![None; TIMERS.len()];
        self.clocks_changed(self.now);
        self.locked_up = false;
        self.follow_outputs(self.now);
        torn
    }

    /// A block is about to run; true = stop before it.
    #[inline(always)]
    pub fn block(&mut self, address: u32, size: u32) -> bool {
        if self.now >= self.next_event || self.recheck {
            self.stop = Stop::Event;
            return true;
        }
        let n = self.code.count(address, size);
        let cycles = match &mut self.cost {
            None => n,
            Some(cost) => cost.block(address, size, &self.code),
        };
        let time = u64::from(cycles) * self.instruction_time;
        self.block = Block {
            address,
            size,
            start: self.now,
            instructions: n,
            time,
        };
        self.instructions += u64::from(n);
        self.now += time;
        self.profile.block(address, size, n, cycles);
        false
    }

    /// The block ended early at `pc` (a fault): what was not executed is not counted.
    pub fn uncount_from(&mut self, pc: u32) {
        let Block {
            address,
            size,
            instructions,
            ..
        } = self.block;
        if !(address..address + size).contains(&pc) {
            return;
        }
        let done = self.instructions_before(pc);
        let left = instructions.saturating_sub(done);
        self.instructions -= u64::from(left);
        let time = self.block.time_of(done);
        self.now -= self.block.time - time;
        self.block.instructions = done;
        self.block.time = time;
    }

    fn instructions_before(&self, pc: u32) -> u32 {
        self.code.instructions(self.block.address, pc)
    }

    /// The time of the instruction at `pc` in the running block.
    pub fn time_at(&self, pc: u32) -> Time {
        self.block.start + self.block.time_of(self.instructions_before(pc))
    }

    /// A register access at `now` is done; with the cost model it takes its time, and what follows in the block is later.
    pub fn register_accessed(&mut self, address: u32, write: bool) {
        if let Some(cost) = &self.cost {
            self.delay(cost.register(address, write));
        }
    }

    /// A load or store of memory that may be cached.
    pub fn data_accessed(&mut self, address: u32) {
        if let Some(cost) = &mut self.cost {
            let cycles = cost.data(address);
            self.delay(cycles);
        }
    }

    fn delay(&mut self, cycles: u32) {
        let time = u64::from(cycles) * self.instruction_time;
        self.block.start += time;
        self.now += time;
        self.profile.delayed(cycles);
    }

    /// Clock tree changed: everything that counts continues at its new rate.
    pub fn clocks_changed(&mut self, now: Time) {
        let clocks = self.rcc.clocks;
        let cpu = cycle(clocks.cpu);
        self.instruction_time = (cpu as f64 * self.cycles_per_instruction).round().max(1.0) as Time;
        for t in &mut self.tims {
            let hz = if t.kind.apb2 {
                clocks.tim_apb2
            } else {
                clocks.tim_apb1
            };
            t.set_clock(cycle(hz), now);
        }
        self.dwt.set_clock(cpu, now);
        self.systick.set_clock(cpu, now);
        if let Some(cost) = &mut self.cost {
            cost.set_clocks(clocks.cpu, clocks.hclk);
        }
        self.usb_clock();
    }

    /// The USB core's clock may have changed: its error decides whether the core understands its host.
    pub fn usb_clock(&mut self) {
        let hz = self.rcc.clocks.usb as i64;
        let trim = if self.rcc.usb_on_hsi48() {
            self.crs.error_ppm()
        } else {
            0
        };
        self.otg.clock_error_ppm = (hz > 0).then_some((hz - 48_000_000) / 48 + trim);
    }

    /// Brings everything to `self.now`: host, scenario, flash, watchdog, timers; raises interrupt lines; plans the next event.
    pub fn sync(&mut self) {
        self.run_events();
        let now = self.now;
        if now >= self.host.next() {
            if self.host.poll(&mut self.otg, now) {
                self.crs.start_of_frame();
                self.usb_clock();
            }
            for line in self.host.take_log() {
                self.diagnostics.note(now, format!("usb: {line}"));
            }
        }
        if now >= self.flash.next() {
            let done = self.flash.finish(now);
            self.memory
                .extend(done.into_iter().map(MemoryChange::Flash));
        }
        if now >= self.iwdg.expires_at() {
            self.reset = Some(ResetCause::Watchdog);
        }
        if self.scb.reset_requested {
            self.reset = Some(ResetCause::Software);
        }
        if self.systick.sync(now) {
            self.nvic.pend_system(SYSTICK);
        }
        for i in 0..self.tims.len() {
            self.tims[i].sync(now);
            self.timer_lines(i);
        }
        self.follow_outputs(now);
        if self.exti.sample(&self.gpio) {
            self.event_register = true;
        }
        self.lines();
        self.plan();
    }

    /// Interrupt lines of one timer.
    pub fn timer_lines(&mut self, i: usize) {
        let t = &self.tims[i];
        let (update, compare) = t.irqs();
        let (irq, compare_irq, since) = (t.kind.irq, t.kind.compare_irq, t.update_at);
        self.nvic.line(irq, update, since);
        self.nvic.line(compare_irq, compare, self.now);
    }

    /// Interrupt lines of everything but the timers.
    pub fn lines(&mut self) {
        let now = self.now;
        self.nvic.line(101, self.otg.irq(), now);
        self.nvic.line(4, self.flash.irq(), now);
        for (irq, high) in self.exti.irqs() {
            self.nvic.line(irq, high, now);
        }
    }

    /// An access changed something: stop early if an exception can now be taken, or an event moved closer.
    pub fn after_access(&mut self) {
        let running = self.nvic.running_priority();
        if self.nvic.next().is_some_and(|(_, p)| p < running)
            || self.scb.reset_requested
            || self.reset.is_some()
        {
            self.recheck = true;
        }
    }

    /// Earliest time at which [`Chip::sync`] has something to do.
    pub fn plan(&mut self) {
        let timers = self
            .tims
            .iter()
            .map(Tim::next)
            .min()
            .unwrap_or(crate::time::NEVER);
        self.next_event = timers
            .min(self.host.next())
            .min(self.flash.next())
            .min(self.iwdg.expires_at())
            .min(self.systick.next())
            .min(self.pending.next());
    }
}

fn timers(rcc: &Rcc) -> Vec<Tim> {
    let clock = |apb2: bool| {
        cycle(if apb2 {
            rcc.clocks.tim_apb2
        } else {
            rcc.clocks.tim_apb1
        })
    };
    TIMERS.iter().map(|&k| Tim::new(k, clock(k.apb2))).collect()
}
