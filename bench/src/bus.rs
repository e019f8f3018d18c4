//! The bus: which register of which peripheral an address is, and what an access must wake.
//!
//! An access to a register that is not modelled, or to a peripheral whose clock is off, is reported with address, PC and
//! function; it reads as 0 and has no other effect, as on the chip. So is one to a register that is kept but does nothing here.

use crate::chip::{Chip, MemoryChange};
use crate::diagnose::Why;
use crate::jumpers::JumperInput;
use crate::periph::gpio::Pin;
use crate::periph::inert;
use crate::time::Time;

const FLASH: u32 = 0x5200_2000;
const OTG_FS: u32 = 0x4008_0000;
const RCC: u32 = 0x5802_4400;
const PWR: u32 = 0x5802_4800;
const IWDG: u32 = 0x5800_4800;
const EXTI: u32 = 0x5800_0000;
const SYSCFG: u32 = 0x5800_0400;
const CRS: u32 = 0x4000_8400;
const GPIO: u32 = 0x5802_0000;

const STIR: u32 = 0xe000_ef00;
const CCR: u32 = 0xe000_ed14;
/// Cache maintenance: all or one line of code; one line of data by address; by set and way (taken as all).
const ICIALLU: u32 = 0xe000_ef50;
const ICIMVAU: u32 = 0xe000_ef58;
const DCIMVAC: u32 = 0xe000_ef5c;
const DCISW: u32 = 0xe000_ef60;
const DCCIMVAC: u32 = 0xe000_ef70;
const DCCISW: u32 = 0xe000_ef74;

/// Pins of timer channels 1 and 2: (timer, alternate function, channel 1, channel 2), NUCLEO-H743ZI2.
const ENCODER_PINS: [(&str, u32, &str, &str); 9] = [
    ("TIM2", 1, "PA0", "PA1"),
    ("TIM2", 1, "PA5", "PB3"),
    ("TIM2", 1, "PA15", "PB3"),
    ("TIM5", 2, "PA0", "PA1"),
    ("TIM5", 2, "PH10", "PH11"),
    ("TIM3", 2, "PA6", "PA7"),
    ("TIM3", 2, "PC6", "PC7"),
    ("TIM4", 2, "PB6", "PB7"),
    ("TIM4", 2, "PD12", "PD13"),
];

impl Chip {
    /// Reads the register at `address` (word-aligned) at time `now`.
    pub fn bus_read(&mut self, address: u32, now: Time) -> u32 {
        let (base, off) = (address & !0x3ff, address & 0x3ff);
        if let Some(gate) = self.gate_closed(address) {
            self.odd(address, false, now, Why::Gated(gate));
            return 0;
        }
        if let Some(i) = self.tims.iter().position(|t| t.kind.base == base) {
            self.feed_encoder(i, now);
            let value = self.tims[i].read(off, now);
            return self.known(value, address, now);
        }
        let value = match base {
            RCC => self.rcc.read(off, now),
            PWR => self.pwr.read(off),
            IWDG => self.iwdg.read(off, now),
            EXTI => self.exti.read(off),
            SYSCFG => self.exti.syscfg_read(off, self.rcc.csi_on()),
            CRS => self.crs.read(off),
            _ => match address {
                OTG_FS..=0x400b_ffff => self.otg.read(address - OTG_FS),
                0x5200_2000..=0x5200_2fff => {
                    self.skip_flash_wait();
                    self.flash.read(address - FLASH)
                }
                GPIO..=0x5802_2bff => self.gpio.read(((address - GPIO) / 0x400) as usize, off),
                0xe000_e010..=0xe000_e01f => self.systick.read(address, now),
                0xe000_e100..=0xe000_e4ff => self.nvic.read(address),
                0xe000_1000..=0xe000_1fff => self.dwt.read(address, now),
                0xe000_2000..=0xe000_2fff => self.debug.fpb.read(address & 0xfff),
                0xe000_ed30 | 0xe000_edf0..=0xe000_edfc => self.debug.program_read(address),
                0xe000_e000..=0xe000_efff => self.scb.read(address, &self.nvic),
                0x5c00_1000..=0x5c00_13ff | 0xe00e_1000..=0xe00e_13ff => self.dbgmcu.read(off),
                _ => None,
            },
        };
        self.known(value, address, now)
    }

    fn odd(&mut self, address: u32, write: bool, now: Time, why: Why) {
        let pc = self.access_pc;
        self.diagnostics.access(address, write, pc, now, why);
    }

    fn known(&mut self, value: Option<u32>, address: u32, now: Time) -> u32 {
        self.judged(value.is_some(), address, false, now);
        let value = value.unwrap_or(0);
        let pc = self.access_pc;
        self.diagnostics.spins.read(address, pc, value, now);
        value
    }

    /// Lists an access to a register that is not here, or that does nothing here.
    fn judged(&mut self, known: bool, address: u32, write: bool, now: Time) {
        if !known {
            self.odd(address, write, now, Why::Unmodelled);
        } else if let Some(effect) = inert::effect(address) {
            self.odd(address, write, now, Why::WithoutEffect(effect));
        }
    }

    /// Writes the register at `address` (word-aligned) at time `now`.
    pub fn bus_write(&mut self, address: u32, v: u32, now: Time) {
        let (base, off) = (address & !0x3ff, address & 0x3ff);
        if let Some(gate) = self.gate_closed(address) {
            self.odd(address, true, now, Why::Gated(gate));
            return;
        }
        if let Some(i) = self.tims.iter().position(|t| t.kind.base == base) {
            self.feed_encoder(i, now);
            let done = self.tims[i].write(off, v, now);
            if self.tims[i].kind.name == "TIM1" {
                self.follow_outputs(now);
            }
            self.timer_lines(i);
            self.next_event = self.next_event.min(self.tims[i].next());
            self.written(done, address, now);
            return self.after_access();
        }
        let done = match base {
            RCC => self.rcc.write(off, v, now).map(|changed| {
                if changed {
                    self.clocks_changed(now);
                    self.recheck = true;
                }
                self.peripheral_resets(off, v);
            }),
            PWR => self.pwr.write(off, v),
            IWDG => self.iwdg.write(off, v, now).map(|early| {
                if early {
                    self.reset = Some(crate::periph::rcc::ResetCause::Watchdog);
                }
                self.next_event = self.next_event.min(self.iwdg.expires_at());
            }),
            EXTI => self.exti.write(off, v),
            SYSCFG => self.exti.syscfg_write(off, v),
            CRS => self.crs.write(off, v).map(|()| self.usb_clock()),
            _ => match address {
                OTG_FS..=0x400b_ffff => self.otg.write(address - OTG_FS, v),
                0x5200_2000..=0x5200_2fff => {
                    let done = self.flash.write(address - FLASH, v, now);
                    if let Some(cost) = &mut self.cost {
                        cost.set_wait_states(self.flash.wait_states());
                    }
                    self.next_event = self.next_event.min(self.flash.next());
                    self.recheck |= self.flash.running().is_some();
                    done
                }
                GPIO..=0x5802_2bff => self.write_pins(address, off, v, now),
                0x5c00_1000..=0x5c00_13ff | 0xe00e_1000..=0xe00e_13ff => self.dbgmcu.write(off, v),
                0xe000_e010..=0xe000_e01f => {
                    let done = self.systick.write(address, v, now);
                    self.next_event = self.next_event.min(self.systick.next());
                    done
                }
                0xe000_e100..=0xe000_e4ff => self.nvic.write(address, v, now),
                0xe000_1000..=0xe000_1fff => self.dwt.write(address, v, now),
                0xe000_2000..=0xe000_2fff => self.debug.fpb.write(address & 0xfff, v),
                0xe000_ed30 | 0xe000_edf0..=0xe000_edfc => {
                    let done = self.debug.program_write(address, v);
                    self.dwt.enable(self.debug.demcr(), now);
                    done
                }
                STIR => {
                    self.nvic.trigger(v & 0x1ff, now);
                    Some(())
                }
                0xe000_e000..=0xe000_efff => {
                    let done = self.scb.write(address, v, &mut self.nvic);
                    self.cache_control(address, v);
                    if self.scb.mpu.take_changed() {
                        self.memory.push(MemoryChange::Protection);
                        self.recheck = true;
                    }
                    done
                }
                _ => None,
            },
        };
        self.written(done, address, now);
        self.lines();
        self.after_access();
    }

    /// RCC's reset registers: a peripheral whose bit is set is as after power-on.
    fn peripheral_resets(&mut self, off: u32, v: u32) {
        const FROM_ENABLE: u32 = 0xd8 - 0x80; // each enable register lies this far behind its reset register
        for t in &mut self.tims {
            let (register, bit) = t.kind.gate;
            if off + FROM_ENABLE == register && v >> bit & 1 != 0 {
                t.reset();
            }
        }
        match off {
            0x80 if v >> 27 & 1 != 0 => self.otg.reset(),
            0x94 if v >> 1 & 1 != 0 => self.crs.reset(),
            _ => {}
        }
    }

    /// The caches' registers: on, off, forget.
    fn cache_control(&mut self, address: u32, v: u32) {
        let array = &mut self.flash.array;
        match address {
            CCR => array.cache(v >> 16 & 1 != 0),
            DCIMVAC | DCCIMVAC => array.invalidate(v),
            DCISW | DCCISW => array.invalidate_all(),
            _ => {}
        }
        let Some(cost) = &mut self.cost else { return };
        match address {
            CCR => cost.enable(v >> 17 & 1 != 0, v >> 16 & 1 != 0),
            ICIALLU | ICIMVAU => cost.code_cache.invalidate(),
            DCIMVAC | DCCIMVAC => cost.data_cache.invalidate_line(v),
            DCISW | DCCISW => cost.data_cache.invalidate(),
            _ => {}
        }
    }

    fn written(&mut self, done: Option<()>, address: u32, now: Time) {
        self.judged(done.is_some(), address, true, now);
    }

    fn write_pins(&mut self, address: u32, off: u32, v: u32, now: Time) -> Option<()> {
        let done = self.gpio.write(((address - GPIO) / 0x400) as usize, off, v);
        if matches!(off, 0x00 | 0x20 | 0x24) {
            self.connect_encoders(now);
        }
        self.follow_outputs(now);
        for (source, tim) in self.sources.iter_mut().zip(&self.tims) {
            if let Some(Source::Jumpers(j)) = source {
                j.look(&self.gpio, tim.filter_times(), now);
            }
        }
        for (led, (lit, changes)) in self.board.leds.iter().zip(&mut self.leds) {
            let level = self.gpio.output(led.0).unwrap_or(false);
            *changes += u64::from(level != *lit);
            *lit = level;
        }
        done
    }

    /// The name of the clock gate that is closed for this address, if it is.
    fn gate_closed(&self, address: u32) -> Option<&'static str> {
        let base = address & !0x3ff;
        let (name, (register, bit)) = match base {
            GPIO..=0x5802_2bff => ("GPIOxEN", (0xe0, (base - GPIO) / 0x400)),
            SYSCFG => ("SYSCFGEN", (0xf4, 1)),
            CRS => ("CRSEN", (0xec, 1)),
            OTG_FS..=0x400b_ffff => ("USB2OTGFSEN", (0xd8, 27)),
            _ => {
                let t = self.tims.iter().find(|t| t.kind.base == base)?;
                (t.kind.name, t.kind.gate)
            }
        };
        (!self.rcc.enabled(register, bit)).then_some(name)
    }

    /// The timer whose inputs are connected to the encoder of `joint`.
    pub fn encoder_timer(&self, joint: usize) -> Option<usize> {
        self.sources
            .iter()
            .position(|s| matches!(s, Some(Source::Encoder(j, _)) if *j == joint))
    }

    /// Follows the pins again after their mode or alternate function changed.
    pub fn connect_encoders(&mut self, now: Time) {
        for i in 0..self.tims.len() {
            self.sources[i] = self
                .encoder_pins(i)
                .and_then(|pins| self.source_of(i, pins, now));
        }
    }

    /// Pins that are switched to channels 1 and 2 of timer `i`.
    fn encoder_pins(&self, i: usize) -> Option<[Pin; 2]> {
        let name = self.tims[i].kind.name;
        ENCODER_PINS
            .iter()
            .filter(|row| row.0 == name)
            .find_map(|(_, af, a, b)| {
                let pins: [Pin; 2] = [a.parse().ok()?, b.parse().ok()?];
                pins.iter()
                    .all(|&p| self.gpio.alternate(p) == Some(*af))
                    .then_some(pins)
            })
    }

    /// What drives these pins of timer `i`: jumpers before encoders.
    fn source_of(&self, i: usize, pins: [Pin; 2], now: Time) -> Option<Source> {
        if let Some(old @ Source::Jumpers(j)) = self.sources[i]
            && j.pins() == pins
        {
            return Some(old);
        }
        if let Some(j) = JumperInput::new(pins, &self.board.jumpers, &self.gpio, now) {
            return Some(Source::Jumpers(j));
        }
        self.board
            .encoders
            .iter()
            .enumerate()
            .find_map(|(joint, [a, b])| {
                let wires = [a.0, b.0];
                if pins == wires {
                    Some(Source::Encoder(joint, 1))
                } else if pins == [wires[1], wires[0]] {
                    Some(Source::Encoder(joint, -1))
                } else {
                    None
                }
            })
    }

    /// Gives an encoder timer the edges its pins have seen until now.
    fn feed_encoder(&mut self, i: usize, now: Time) {
        let tim = &mut self.tims[i];
        if !tim.encoder_mode() {
            return;
        }
        let edges = match &mut self.sources[i] {
            Some(Source::Encoder(joint, sense)) => *sense * self.rig.edges(*joint, now),
            Some(Source::Jumpers(j)) => j.edges(tim.filter_times(), now),
            None => return,
        };
        tim.encoder_input(edges, now);
    }
}

/// What is connected to the inputs of an encoder timer.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Encoder of a joint, and the sense (−1: channels exchanged).
    Encoder(usize, i64),
    Jumpers(JumperInput),
}
