//! What the small programs share: clocks as on a NUCLEO-H743ZI2, how a program ends, and a panic that ends it badly.
//!
//! A program ends by semihosting with an exit code: 0 = what it checked was right. Everything else the bench checks from outside
//! (`bench/tests/programs.rs`).
#![no_std]

use core::panic::PanicInfo;

use defmt_rtt as _;
use embassy_stm32::time::Hertz;

/// 400 MHz from the ST-LINK's 8 MHz, USB on 48 MHz from the same.
pub fn clocks() -> embassy_stm32::Config {
    use embassy_stm32::rcc::*;
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = Some(Hse {
        freq: Hertz(8_000_000),
        mode: HseMode::Bypass,
    });
    let pll = |mul, divp, divq| Pll {
        source: PllSource::HSE,
        prediv: PllPreDiv::DIV2,
        mul,
        fracn: None,
        divp: Some(divp),
        divq: Some(divq),
        divr: None,
    };
    config.rcc.pll1 = Some(pll(PllMul::MUL200, PllDiv::DIV2, PllDiv::DIV4));
    config.rcc.pll3 = Some(pll(PllMul::MUL96, PllDiv::DIV8, PllDiv::DIV8));
    config.rcc.sys = Sysclk::PLL1_P;
    config.rcc.ahb_pre = AHBPrescaler::DIV2;
    config.rcc.apb1_pre = APBPrescaler::DIV2;
    config.rcc.apb2_pre = APBPrescaler::DIV2;
    config.rcc.apb3_pre = APBPrescaler::DIV2;
    config.rcc.apb4_pre = APBPrescaler::DIV2;
    config.rcc.voltage_scale = VoltageScale::Scale1;
    config.rcc.mux.usbsel = mux::Usbsel::PLL3_Q;
    config
}

/// Ends the program: semihosting SYS_EXIT_EXTENDED.
pub fn exit(code: u32) -> ! {
    const APPLICATION_EXIT: u32 = 0x2_0026;
    let block = [APPLICATION_EXIT, code];
    loop {
        // SAFETY: the runner reads the block and ends the program.
        unsafe { core::arch::asm!("bkpt 0xAB", in("r0") 0x20, in("r1") block.as_ptr()) };
    }
}

// The workspace's memory.x puts library functions into ITCM and constants into DTCM: start copies them there, as in the firmware.
core::arch::global_asm!(include_str!("../../../firmware/src/start.s"), options(raw));

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    exit(101)
}
