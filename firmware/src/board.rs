//! The NUCLEO-H743ZI2: every pin, clock, timer constant and interrupt priority, and nothing else.
//!
//! | signal            | pin        | peripheral         | connector (see docs/bench.md)    |
//! |-------------------|------------|--------------------|----------------------------------|
//! | encoder 0 A / B   | PA15 / PB3 | TIM2 CH1 / CH2     | CN7-9 / CN7-15                   |
//! | encoder 1 A / B   | PA0 / PA1  | TIM5 CH1 / CH2     | CN10-29 / CN11-30                |
//! | USB DM / DP       | PA11 / PA12| OTG_FS             | user USB connector               |
//! | button            | PC13       | GPIO, high=pressed | B1 USER                          |
//! | LEDs              | PB0 PE1 PB14 | GPIO             | LD1 green, LD2 yellow, LD3 red   |
//! | test outputs      | PC6 PB15 PC7 PB5 | GPIO         | CN7-1, 3, 11, 13 (tests only)    |

use embassy_stm32::gpio::{AnyPin, Input, Level, Output, Pull, Speed};
use embassy_stm32::interrupt::{self, InterruptExt, Priority};
use embassy_stm32::pac::timer::vals::Ckd;
use embassy_stm32::peripherals::{IWDG1, PA11, PA12, TIM2, TIM5, TIM7, USB_OTG_FS};
use embassy_stm32::time::Hertz;
use embassy_stm32::timer::low_level::{FilterValue, Timer};
use embassy_stm32::{Peri, pac};

use crate::encoder::Encoder;

/// Crystal clock from the ST-LINK (its MCO output drives OSC_IN): 8 MHz.
pub const HSE_HZ: u32 = 8_000_000;
/// HSE / 2 · 200 / 2 = 400 MHz (VCO 800 MHz). Also the rate of the DWT cycle counter.
pub const CPU_HZ: u32 = HSE_HZ / 2 * 200 / 2;
/// CPU / 2 = 200 MHz AHB, / 2 = 100 MHz APB1; timers run at twice a divided APB: 200 MHz.
pub const TIMER_HZ: u32 = CPU_HZ / 2 / 2 * 2;
/// Rate of the tick.
pub const TICK_HZ: u32 = 10_000;
/// 400 MHz / 10 kHz = 40,000 cycles: the budget of one tick and the period between two.
pub const CYCLES_PER_TICK: u32 = CPU_HZ / TICK_HZ;
/// Processor cycles per count of the tick timer: 400 MHz / 200 MHz = 2.
pub const CYCLES_PER_TIMER_COUNT: u32 = CPU_HZ / TIMER_HZ;
/// TIM7 counts 0..=19,999: 200 MHz / 20,000 = 10 kHz.
pub const TICK_RELOAD: u16 = (TIMER_HZ / TICK_HZ - 1) as u16;

/// Sampling clock of the encoder inputs: 200 MHz / 4 = 50 MHz.
pub const ENCODER_CLOCK_DIVISION: Ckd = Ckd::DIV4;
/// An input must be the same for 8 samples at 50 MHz / 8.
pub const ENCODER_FILTER: FilterValue = FilterValue::FDTS_DIV8_N8;
/// 8 · 8 / 50 MHz = 1,280 ns. Shorter pulses are ignored. One channel's edges are two counts apart,
/// so the fastest rate that still counts is 2 / 1.28 µs = 1.56 M counts/s (39 rev/s at 40,000
/// counts/rev).
pub const ENCODER_FILTER_NS: u32 = 8 * 8 * 1_000 / (TIMER_HZ / 4 / 1_000_000);

/// The tick alone has priority 0: no critical section masks it (see `critical`).
const TICK_PRIORITY: Priority = Priority::P0;
const TIME_PRIORITY: Priority = Priority::P5;
const USB_PRIORITY: Priority = Priority::P6;

/// What the program uses of the chip, initialised but not started.
pub struct Board {
    pub encoders: Encoders,
    pub tick: Peri<'static, TIM7>,
    pub leds: Leds,
    pub button: Input<'static>,
    pub usb: UsbPort,
    pub watchdog: Peri<'static, IWDG1>,
    pub test_outputs: TestOutputs,
}

/// Pins that on-target tests wire to A and B of an encoder input. The device does not use them.
pub struct TestOutputs {
    pub base: [Peri<'static, AnyPin>; 2],
    pub pendulum: [Peri<'static, AnyPin>; 2],
}

/// Both encoders, counting.
pub struct Encoders {
    pub base: Encoder<'static, TIM2>,
    pub pendulum: Encoder<'static, TIM5>,
}

/// High = on.
pub struct Leds {
    pub green: Output<'static>,
    pub yellow: Output<'static>,
    pub red: Output<'static>,
}

pub struct UsbPort {
    pub peripheral: Peri<'static, USB_OTG_FS>,
    pub dp: Peri<'static, PA12>,
    pub dm: Peri<'static, PA11>,
}

/// Clocks, caches, cycle counter, priorities, pins. Call once, first.
pub fn init() -> Board {
    let p = embassy_stm32::init(clocks());
    start_core();
    interrupt::TIM7.set_priority(TICK_PRIORITY);
    interrupt::TIM3.set_priority(TIME_PRIORITY);
    interrupt::OTG_FS.set_priority(USB_PRIORITY);
    let led = |pin: Peri<'static, AnyPin>| Output::new(pin, Level::Low, Speed::Low);
    Board {
        encoders: Encoders {
            base: Encoder::new(p.TIM2, p.PA15, p.PB3),
            pendulum: Encoder::new(p.TIM5, p.PA0, p.PA1),
        },
        tick: p.TIM7,
        leds: Leds {
            green: led(p.PB0.into()),
            yellow: led(p.PE1.into()),
            red: led(p.PB14.into()),
        },
        // The board has its own pull-down; ours keeps an open solder bridge quiet.
        button: Input::new(p.PC13, Pull::Down),
        usb: UsbPort {
            peripheral: p.USB_OTG_FS,
            dp: p.PA12,
            dm: p.PA11,
        },
        watchdog: p.IWDG1,
        test_outputs: TestOutputs {
            base: [p.PC6.into(), p.PB15.into()],
            pendulum: [p.PC7.into(), p.PB5.into()],
        },
    }
}

fn clocks() -> embassy_stm32::Config {
    use embassy_stm32::rcc::*;
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = Some(Hse {
        freq: Hertz(HSE_HZ),
        mode: HseMode::Bypass,
    });
    // USB runs on the internal 48 MHz oscillator, trimmed to the host's start-of-frame packets.
    config.rcc.hsi48 = Some(Hsi48Config {
        sync_from_usb: true,
    });
    config.rcc.pll1 = Some(Pll {
        source: PllSource::HSE,
        prediv: PllPreDiv::DIV2,
        mul: PllMul::MUL200,
        fracn: None,
        divp: Some(PllDiv::DIV2),
        divq: Some(PllDiv::DIV4),
        divr: None,
    });
    config.rcc.sys = Sysclk::PLL1_P;
    config.rcc.ahb_pre = AHBPrescaler::DIV2;
    config.rcc.apb1_pre = APBPrescaler::DIV2;
    config.rcc.apb2_pre = APBPrescaler::DIV2;
    config.rcc.apb3_pre = APBPrescaler::DIV2;
    config.rcc.apb4_pre = APBPrescaler::DIV2;
    config.rcc.voltage_scale = VoltageScale::Scale1;
    config.rcc.mux.usbsel = mux::Usbsel::HSI48;
    config
}

/// Caches, cycle counter, and a watchdog that stands still while a debugger halts the core.
fn start_core() {
    // SAFETY: called once, from `init`, before interrupts of ours are enabled.
    let mut core = unsafe { cortex_m::Peripherals::steal() };
    core.SCB.enable_icache();
    // Nothing uses DMA; constants and literals come from flash, stack and state from DTCM.
    core.SCB.enable_dcache(&mut core.CPUID);
    core.DCB.enable_trace();
    cortex_m::peripheral::DWT::unlock();
    core.DWT.enable_cycle_counter();
    pac::DBGMCU.apb4fzr1().modify(|w| w.set_iwdg1(true));
}

/// Start the tick timer with its interrupt. The handler is in `tick`.
pub fn start_tick(timer: Peri<'static, TIM7>) {
    let timer = Timer::new(timer);
    defmt::assert_eq!(timer.get_clock_frequency(), Hertz(TIMER_HZ));
    let registers = timer.regs_basic();
    registers.psc().write_value(0);
    registers.arr().write(|w| w.set_arr(TICK_RELOAD));
    timer.generate_update_event();
    timer.clear_update_interrupt();
    timer.enable_update_interrupt(true);
    timer.start();
    // The timer must outlive this function: its drop would stop the clock.
    core::mem::forget(timer);
    // SAFETY: `tick::install` ran before (it is what the handler works on; without it the handler
    // only counts).
    unsafe { interrupt::TIM7.enable() };
}

/// Stop it again, for tests.
pub fn stop_tick() {
    interrupt::TIM7.disable();
}

/// Read the user button in one instruction, for the tick.
#[inline(always)]
pub fn button_pressed() -> bool {
    pac::GPIOC.idr().read().idr(13) == pac::gpio::vals::Idr::HIGH
}
