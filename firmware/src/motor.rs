//! The outputs to the motor's bridge: two PWM signals from TIM1, an enable line, and every way they are turned off.
//!
//! | duty         | IN1 (CH1)           | IN2 (CH2)           | the bridge                                  |
//! |--------------|---------------------|---------------------|---------------------------------------------|
//! | d ≥ 0        | high                | high for FULL − d   | drives forward for d, brakes for the rest   |
//! | d < 0        | high for FULL − |d| | high                | drives backward for |d|, brakes for the rest|
//! | none (off)   | low                 | low, enable low     | coasts, then sleeps                         |
//!
//! So the mean voltage is supply·d/FULL at any current, as `stribeck_core::model::motor` says.
//!
//! The timer reloads both compare registers together every fourth period, which is a tick of 10 kHz, at the time the tick is due:
//! what a tick decides acts from the next tick on, exactly. Turning off does not wait for that.
//!
//! Off without software: the break input (the bridge's fault line, limit switches, a cable that is not there) and a locked-up core
//! clear MOE in the timer; a debugger that halts the core disables the outputs (DBGMCU); a reset of any kind makes inputs of the
//! pins, and the pull-downs of the bridge board hold them low. The timer's protection is locked until reset.

use core::sync::atomic::{Ordering, compiler_fence};

use embassy_stm32::Peri;
use embassy_stm32::gpio::{AfType, Flex, Level, Output, OutputType, Pull, Speed};
use embassy_stm32::pac::timer::regs::{BdtrAdv, Ccr1ch, SrAdv};
use embassy_stm32::pac::timer::vals::{Bkp, Lock, OcmGp, Ossi, Ossr};
use embassy_stm32::pac::{DBGMCU, GPIOE, TIM1};
use embassy_stm32::peripherals::{self, PE9, PE11, PE13, PE15};
use embassy_stm32::time::Hertz;
use embassy_stm32::timer::low_level::Timer;
use stribeck_core::model::motor::Duty;

use crate::board::{TICK_HZ, TIMER_HZ};

/// Alternate function of TIM1 on PE9, PE11 and PE15.
const TIM1_AF: u8 = 1;
/// 200 MHz / 5,000 = 40 kHz.
pub const PWM_HZ: u32 = TIMER_HZ / Duty::FULL as u32;
/// Periods between two reloads: one tick.
const PERIODS: u32 = PWM_HZ / TICK_HZ;
const _: () = assert!(PWM_HZ.is_multiple_of(TICK_HZ) && PERIODS == 4);
/// Number of the enable line within port E.
const ENABLE: usize = 13;
/// Number of the break input within port E.
const BREAK: usize = 15;

/// The pins and the timer, configured. While it lives, the motor can be driven.
pub struct Motor {
    timer: Timer<'static, peripherals::TIM1>,
    _pins: [Flex<'static>; 3],
    _enable: Output<'static>,
}

/// What the protection register holds, with or without the main output.
#[inline(always)]
fn protection(on: bool) -> BdtrAdv {
    let mut w = BdtrAdv(0);
    // Once written, these bits stay until reset: no stray write can undo them.
    w.set_lock(Lock::LEVEL3);
    // Off means driven low, not floating.
    w.set_ossi(Ossi::IDLE_LEVEL);
    w.set_ossr(Ossr::IDLE_LEVEL);
    // Break input active low and without filter: it works without a clock, and a cable that is not there stops the motor.
    w.set_bke(0, true);
    w.set_bkp(0, Bkp::ACTIVE_LOW);
    w.set_moe(on);
    w
}

impl Motor {
    /// Outputs off. The counter starts with [`Motor::start`].
    pub fn new(
        timer: Peri<'static, peripherals::TIM1>,
        in1: Peri<'static, PE9>,
        in2: Peri<'static, PE11>,
        enable: Peri<'static, PE13>,
        stop: Peri<'static, PE15>,
    ) -> Self {
        let timer = Timer::new(timer);
        let registers = timer.regs_advanced();
        registers.psc().write_value(0);
        registers.arr().write(|w| w.set_arr(Duty::FULL as u16 - 1));
        registers.rcr().write(|w| w.set_rep(PERIODS as u16 - 1));
        registers.ccmr_output(0).write(|w| {
            for channel in 0..2 {
                w.set_ocm(channel, OcmGp::PWM_MODE1);
                w.set_ocpe(channel, true);
            }
        });
        for channel in 0..2 {
            registers
                .ccr(channel)
                .write_value(Ccr1ch(Duty::FULL as u32));
        }
        registers.ccer().write(|w| {
            w.set_cce(0, true);
            w.set_cce(1, true);
        });
        timer.generate_update_event();
        registers.bdtr().write_value(protection(false));
        DBGMCU.apb2fzr1().modify(|w| w.set_tim1(true));
        break_on_lockup();
        let stop = {
            let mut pin = Flex::new(stop);
            // Pulled low unless the bridge board pulls it up: without one nothing can be driven.
            pin.set_as_af_unchecked(TIM1_AF, AfType::input(Pull::Down));
            pin
        };
        // The timer drives its channels low before the pins become its outputs.
        let output = AfType::output(OutputType::PushPull, Speed::Low);
        let (mut in1, mut in2) = (Flex::new(in1), Flex::new(in2));
        in1.set_as_af_unchecked(TIM1_AF, output);
        in2.set_as_af_unchecked(TIM1_AF, output);
        Self {
            timer,
            _pins: [in1, in2, stop],
            _enable: Output::new(enable, Level::Low, Speed::Low),
        }
    }

    /// Let the counter run, just before the tick's timer: reloads then come at the time ticks are due.
    pub fn start(self) {
        defmt::assert_eq!(self.timer.get_clock_frequency(), Hertz(TIMER_HZ));
        self.timer.generate_update_event();
        self.timer.start();
        // For ever: dropping it would stop the clock.
        core::mem::forget(self);
    }
}

/// A locked-up core acts like the break input.
fn break_on_lockup() {
    /// SYSCFG_CFGR, which the chip crate does not name [RM0433 §13.3.6].
    const CFGR: *mut u32 = 0x5800_0418 as *mut u32;
    const CM7L: u32 = 1 << 6;
    // SAFETY: a register of SYSCFG, whose clock embassy's start-up code enables; its bits can only be set.
    unsafe { CFGR.write_volatile(CM7L) };
}

/// Compare values of both channels for a duty.
#[inline(always)]
const fn compares(Duty(duty): Duty) -> [u32; 2] {
    let (full, duty) = (Duty::FULL as i32, duty as i32);
    if duty >= 0 {
        [full as u32, brake_for(full - duty)]
    } else {
        [brake_for(full + duty), full as u32]
    }
}

/// Never below 0.
#[inline(always)]
const fn brake_for(part: i32) -> u32 {
    if part < 0 { 0 } else { part as u32 }
}

/// SR: the break input, the second one, or the chip itself (lock-up) has cleared MOE.
const BROKEN: u32 = 1 << 7 | 1 << 8 | 1 << 13;

/// The hardware has turned the outputs off since they were last off by software, or would.
#[inline(always)]
pub fn fault() -> bool {
    TIM1.sr().read().0 & BROKEN != 0 || GPIOE.idr().read().0 >> BREAK & 1 == 0
}

/// For the tick: what acts from the next one on; `None`: off, at once.
#[inline(always)]
pub fn apply(duty: Option<Duty>) {
    let Some(duty) = duty else {
        off();
        // The engine was told. The timer sets it again if the cause lasts.
        TIM1.sr().write_value(SrAdv(!BROKEN));
        return;
    };
    let [in1, in2] = compares(duty);
    TIM1.ccr(0).write_value(Ccr1ch(in1));
    TIM1.ccr(1).write_value(Ccr1ch(in2));
    if !TIM1.bdtr().read().moe() {
        // Refused by the timer while the break input is active.
        TIM1.bdtr().write_value(protection(true));
        GPIOE.bsrr().write(|w| w.set_bs(ENABLE, true));
    }
}

/// Outputs off at once, from anywhere. Never fails.
#[inline(always)]
pub fn off() {
    TIM1.bdtr().write_value(protection(false));
    GPIOE.bsrr().write(|w| w.set_br(ENABLE, true));
    // Brake, once something is driven again, until its first duty is reloaded.
    TIM1.ccr(0).write_value(Ccr1ch(Duty::FULL as u32));
    TIM1.ccr(1).write_value(Ccr1ch(Duty::FULL as u32));
    compiler_fence(Ordering::SeqCst);
}
