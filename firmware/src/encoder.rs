//! A quadrature encoder on a 32-bit timer.
//!
//! In:  two signals A and B, 90° apart. Out: a free-running 32-bit count, 4 per encoder line.
//! The hardware counts; nothing is missed while the processor is busy, and the counter may wrap
//! (`stribeck_core::observer::encoder` unwraps it). Sign, zero and counts per revolution are configuration of
//! the core, not of this file. embassy's own `Qei` truncates to 16 bits and has no input filter.

use embassy_stm32::Peri;
use embassy_stm32::gpio::{AfType, Flex, Pull};
use embassy_stm32::timer::low_level::{InputCaptureMode, InputTISelection, SlaveMode, Timer};
use embassy_stm32::timer::{Ch1, Ch2, Channel, GeneralInstance32bit4Channel, TimerPin};

use crate::board;

/// Owns the timer and its two pins: while it lives, the counter counts.
pub struct Encoder<'d, T: GeneralInstance32bit4Channel> {
    timer: Timer<'d, T>,
    _a: Flex<'d>,
    _b: Flex<'d>,
}

impl<'d, T: GeneralInstance32bit4Channel> Encoder<'d, T> {
    /// Start counting from 0. A line that is open (cable cut) is pulled high and stays still.
    pub fn new(
        timer: Peri<'d, T>,
        a: Peri<'d, impl TimerPin<T, Ch1>>,
        b: Peri<'d, impl TimerPin<T, Ch2>>,
    ) -> Self {
        let (af_a, af_b) = (a.af_num(), b.af_num());
        let (mut a, mut b) = (Flex::new(a), Flex::new(b));
        a.set_as_af_unchecked(af_a, AfType::input(Pull::Up));
        b.set_as_af_unchecked(af_b, AfType::input(Pull::Up));
        let timer = Timer::new(timer);
        timer.set_clock_division(board::ENCODER_CLOCK_DIVISION);
        for channel in [Channel::Ch1, Channel::Ch2] {
            timer.set_input_ti_selection(channel, InputTISelection::Normal);
            timer.set_input_capture_filter(channel, board::ENCODER_FILTER);
            timer.set_input_capture_mode(channel, InputCaptureMode::Rising);
            timer.enable_channel(channel, true);
        }
        // Mode 3: both edges of both signals count.
        timer.set_slave_mode(SlaveMode::ENCODER_MODE_3);
        let registers = timer.regs_gp32();
        registers.arr().write_value(u32::MAX);
        registers.cnt().write_value(0);
        timer.start();
        Self {
            timer,
            _a: a,
            _b: b,
        }
    }

    /// The counter now.
    pub fn count(&self) -> u32 {
        self.timer.regs_gp32().cnt().read()
    }

    /// Set the counter, for tests of its wrap.
    pub fn preset(&self, count: u32) {
        self.timer.regs_gp32().cnt().write_value(count);
    }
}
