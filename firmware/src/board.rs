//! The NUCLEO-H743ZI2: every pin, clock, timer constant and interrupt priority, and nothing else.
//!
//! | signal            | pin        | peripheral         | connector (see docs/bench.md)    |
//! |-------------------|------------|--------------------|----------------------------------|
//! | encoder 0 A / B   | PA15 / PB3 | TIM2 CH1 / CH2     | CN7-9 / CN7-15                   |
//! | encoder 1 A / B   | PA0 / PA1  | TIM5 CH1 / CH2     | CN10-29 / CN11-30                |
//! | USB DM / DP       | PA11 / PA12| OTG_FS             | user USB connector               |
//! | USB 5 V           | PA9        | OTG_FS VBUS sense  | user USB connector               |
//! | button            | PC13       | GPIO, high=pressed | B1 USER                          |
//! | LEDs              | PB0 PE1 PB14 | GPIO             | LD1 green, LD2 yellow, LD3 red   |
//! | bridge IN1 / IN2  | PE9 / PE11 | TIM1 CH1 / CH2     | CN10-4 / CN10-6                  |
//! | bridge enable     | PE13       | GPIO, high=enabled | CN10-10                          |
//! | bridge fault      | PE15       | TIM1 BKIN, low=off | CN10-30                          |
//! | test outputs      | PC6 PB15 PC7 PB5 | GPIO         | CN7-1, 3, 11, 13 (tests only)    |

use embassy_stm32::gpio::{AnyPin, Input, Level, Output, Pull, Speed};
use embassy_stm32::interrupt::{self, InterruptExt, Priority};
use embassy_stm32::pac::timer::vals::Ckd;
use embassy_stm32::peripherals::{PA11, PA12, TIM2, TIM4, TIM5, TIM7, USB_OTG_FS};
use embassy_stm32::time::Hertz;
use embassy_stm32::timer::low_level::{FilterValue, Timer};
use embassy_stm32::{Peri, pac};
use stribeck_core::wire::ClockSource;

use crate::encoder::Encoder;
use crate::memory;
use crate::motor::Motor;
use crate::watchdog::TIMEOUT_US;

/// Crystal clock from the ST-LINK (its MCO output drives OSC_IN): 8 MHz.
pub const HSE_HZ: u32 = 8_000_000;
/// Internal oscillator, for a board whose ST-LINK gives no clock: 64 MHz, good to about 1 %.
const HSI_HZ: u32 = 64_000_000;
/// Input of the PLLs: HSE / 2 = HSI / 16 = 4 MHz.
const PLL_HZ: u32 = HSE_HZ / 2;
const _: () = assert!(HSI_HZ / 16 == PLL_HZ);
/// 4 MHz · 200 / 2 = 400 MHz (VCO 800 MHz). Also the rate of the DWT cycle counter.
pub const CPU_HZ: u32 = PLL_HZ * 200 / 2;
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

/// TIM4 runs free at 100 kHz and numbers the ticks. It wraps after 655 ms, which is longer than the
/// watchdog (500 ms, its clock slow by up to 5 %) lets ticks stay away.
const TIMELINE_HZ: u32 = 100_000;
const _: () = assert!(65_536 * (1_000_000 / TIMELINE_HZ) > TIMEOUT_US / 20 * 21);
/// 100 kHz / 10 kHz = 10.
pub const TIMELINE_PER_TICK: u16 = (TIMELINE_HZ / TICK_HZ) as u16;
/// Counts of the tick timer per count of TIM4: 200 MHz / 100 kHz = 2,000.
pub const TIMER_PER_TIMELINE: u16 = (TIMER_HZ / TIMELINE_HZ) as u16;

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
/// Below every other interrupt, above thread mode.
const SERVICE_PRIORITY: Priority = Priority::P7;

/// What the program uses of the chip, initialised but not started.
pub struct Board {
    pub clock: ClockSource,
    pub encoders: Encoders,
    pub tick: TickTimers,
    pub motor: Motor,
    pub leds: Leds,
    pub button: Input<'static>,
    pub usb: UsbPort,
    pub test_outputs: TestOutputs,
}

/// The timer that makes the tick, and the one that numbers it.
pub struct TickTimers {
    period: Peri<'static, TIM7>,
    timeline: Peri<'static, TIM4>,
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
    let clock = if crystal_starts() {
        ClockSource::Crystal
    } else {
        ClockSource::Internal
    };
    let p = embassy_stm32::init(clocks(clock));
    if clock == ClockSource::Internal {
        trim_usb_clock();
    }
    start_core();
    interrupt::TIM7.set_priority(TICK_PRIORITY);
    interrupt::TIM3.set_priority(TIME_PRIORITY);
    interrupt::OTG_FS.set_priority(USB_PRIORITY);
    let led = |pin: Peri<'static, AnyPin>| Output::new(pin, Level::Low, Speed::Low);
    Board {
        clock,
        encoders: Encoders {
            base: Encoder::new(p.TIM2, p.PA15, p.PB3),
            pendulum: Encoder::new(p.TIM5, p.PA0, p.PA1),
        },
        tick: TickTimers {
            period: p.TIM7,
            timeline: p.TIM4,
        },
        motor: Motor::new(p.TIM1, p.PE9, p.PE11, p.PE13, p.PE15),
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
        test_outputs: TestOutputs {
            base: [p.PC6.into(), p.PB15.into()],
            pendulum: [p.PC7.into(), p.PB5.into()],
        },
    }
}

/// Switch the crystal clock on; true: it runs. The wait has a limit, so that a board whose ST-LINK is not
/// powered still starts.
fn crystal_starts() -> bool {
    /// 1,000 · 10 µs at the 64 MHz after reset. The clock counts as ready after 512 periods, 64 µs.
    const POLLS: usize = 1_000;
    pac::RCC.cr().modify(|w| w.set_hsebyp(true));
    pac::RCC.cr().modify(|w| w.set_hseon(true));
    let runs = (0..POLLS).any(|_| {
        cortex_m::asm::delay(HSI_HZ / 100_000);
        pac::RCC.cr().read().hserdy()
    });
    if !runs {
        pac::RCC.cr().modify(|w| w.set_hseon(false));
    }
    runs
}

/// 400 MHz from either source. 48 MHz for USB, which must be right within 0.25 %, from the crystal, or
/// from the internal 48 MHz oscillator trimmed to the host's start-of-frame packets ([`trim_usb_clock`]).
fn clocks(source: ClockSource) -> embassy_stm32::Config {
    use embassy_stm32::rcc::*;
    let crystal = source == ClockSource::Crystal;
    let (input, prediv) = if crystal {
        (PllSource::HSE, PllPreDiv::DIV2)
    } else {
        (PllSource::HSI, PllPreDiv::DIV16)
    };
    let pll = |mul: PllMul, divp: Option<PllDiv>, divq: PllDiv| Pll {
        source: input,
        prediv,
        mul,
        fracn: None,
        divp,
        divq: Some(divq),
        divr: None,
    };
    let mut config = embassy_stm32::Config::default();
    config.rcc.pll1 = Some(pll(PllMul::MUL200, Some(PllDiv::DIV2), PllDiv::DIV4));
    config.rcc.sys = Sysclk::PLL1_P;
    config.rcc.ahb_pre = AHBPrescaler::DIV2;
    config.rcc.apb1_pre = APBPrescaler::DIV2;
    config.rcc.apb2_pre = APBPrescaler::DIV2;
    config.rcc.apb3_pre = APBPrescaler::DIV2;
    config.rcc.apb4_pre = APBPrescaler::DIV2;
    config.rcc.voltage_scale = VoltageScale::Scale1;
    if crystal {
        config.rcc.hse = Some(Hse {
            freq: Hertz(HSE_HZ),
            mode: HseMode::Bypass,
        });
        // 4 MHz · 96 / 8 = 48 MHz (VCO 384 MHz).
        config.rcc.pll3 = Some(pll(PllMul::MUL96, None, PllDiv::DIV8));
        config.rcc.hsi48 = None;
        config.rcc.mux.usbsel = mux::Usbsel::PLL3_Q;
    } else {
        config.rcc.hsi48 = Some(Hsi48Config::new());
        config.rcc.mux.usbsel = mux::Usbsel::HSI48;
    }
    config
}

/// Let the clock recovery system trim the 48 MHz oscillator to the start-of-frame packets of *our* port:
/// USB2 (OTG_FS). embassy's own setting listens to USB1 (OTG_HS). [RM0433, CRS_CFGR]
fn trim_usb_clock() {
    use pac::crs::vals::Syncsrc;
    /// A value of SYNCSRC that the chip crate does not name.
    const USB2: u8 = 3;
    pac::RCC.apb1henr().modify(|w| w.set_crsen(true));
    // The source can be changed only while the counter is off.
    pac::CRS.cr().modify(|w| w.set_cen(false));
    pac::CRS
        .cfgr()
        .modify(|w| w.set_syncsrc(Syncsrc::from_bits(USB2)));
    pac::CRS.cr().modify(|w| {
        w.set_autotrimen(true);
        w.set_cen(true);
    });
}

/// Memory protection, caches and cycle counter.
fn start_core() {
    // SAFETY: called once, from `init`, before interrupts of ours are enabled.
    let mut core = unsafe { cortex_m::Peripherals::steal() };
    memory::protect(&mut core.MPU);
    core.SCB.enable_icache();
    // Nothing uses DMA; what is not in tightly coupled memory comes from flash.
    core.SCB.enable_dcache(&mut core.CPUID);
    core.DCB.enable_trace();
    cortex_m::peripheral::DWT::unlock();
    core.DWT.enable_cycle_counter();
}

/// Start the tick timer with its interrupt, the motor's timer in step with it, and the timer that numbers ticks. The handler is in
/// `tick`.
pub fn start_tick(timers: TickTimers, motor: Motor) {
    let timeline = Timer::new(timers.timeline);
    defmt::assert_eq!(timeline.get_clock_frequency(), Hertz(TIMER_HZ));
    let registers = timeline.regs_basic();
    registers.psc().write_value(TIMER_PER_TIMELINE - 1);
    registers.arr().write(|w| w.set_arr(u16::MAX));
    timeline.generate_update_event();
    timeline.start();
    let period = Timer::new(timers.period);
    defmt::assert_eq!(period.get_clock_frequency(), Hertz(TIMER_HZ));
    let registers = period.regs_basic();
    registers.psc().write_value(0);
    registers.arr().write(|w| w.set_arr(TICK_RELOAD));
    period.generate_update_event();
    period.clear_update_interrupt();
    period.enable_update_interrupt(true);
    motor.start();
    period.start();
    // The timers must outlive this function: their drop would stop the clock.
    core::mem::forget((timeline, period));
    // SAFETY: `tick::install` ran before (it is what the handler works on; without it the handler
    // only counts).
    unsafe { interrupt::TIM7.enable() };
}

/// The interrupt in which `service` runs.
pub fn prepare_service() {
    interrupt::UART4.set_priority(SERVICE_PRIORITY);
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
