//! Is the tick's code in ITCM, and does the processor refuse what it must not touch?
//!
//! A refused access ends the test run: the handler below compares its address with the one the test announced.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cortex_m::peripheral::SCB;
use cortex_m_rt::exception;
use defmt_rtt as _;

/// The address whose refusal is expected; `NOTHING`: none.
static EXPECTED: AtomicU32 = AtomicU32::new(NOTHING);
const NOTHING: u32 = u32::MAX;

#[exception]
fn MemoryManagement() -> ! {
    /// CFSR: data access violation, and MMFAR holds its address.
    const REFUSED: u32 = 1 << 1 | 1 << 7;
    // SAFETY: reading fault registers has no side effect.
    let scb = unsafe { &*SCB::PTR };
    let (status, address) = (scb.cfsr.read(), scb.mmfar.read());
    defmt::info!("refused: cfsr {:x} address {:x}", status, address);
    let right = status & REFUSED == REFUSED && address == EXPECTED.load(Relaxed);
    exit(if right { 0 } else { 1 });
}

/// End the test run: semihosting SYS_EXIT_EXTENDED.
fn exit(code: u32) -> ! {
    const APPLICATION_EXIT: u32 = 0x2_0026;
    let block = [APPLICATION_EXIT, code];
    // SAFETY: the runner reads the block and halts the processor.
    unsafe {
        core::arch::asm!("bkpt 0xAB", in("r0") 0x20, in("r1") block.as_ptr());
    }
    loop {
        cortex_m::asm::nop();
    }
}

#[embedded_test::tests]
mod tests {
    use super::EXPECTED;
    use core::ptr::{read_volatile, write_volatile};
    use core::sync::atomic::Ordering::Relaxed;
    use cortex_m::peripheral::SCB;
    use cortex_m::peripheral::scb::Exception;
    use stribeck_firmware::board;

    const FLASH: usize = 0x0800_0000;

    #[init]
    fn init() {
        let _ = board::init();
        // SAFETY: once, and nothing else of the core is used here.
        let mut core = unsafe { cortex_m::Peripherals::steal() };
        core.SCB.enable(Exception::MemoryManagement);
    }

    /// Address of the tick's handler, as the vector table at `table` has it.
    fn handler(table: usize) -> usize {
        const TIM7: usize = 16 + 55;
        // SAFETY: both tables are readable memory.
        unsafe { read_volatile((table + 4 * TIM7) as *const u32) as usize & !1 }
    }

    #[test]
    fn vectors_and_the_ticks_code_are_in_itcm() {
        // SAFETY: reading a register of the core.
        assert_eq!(unsafe { (*SCB::PTR).vtor.read() }, 0);
        assert_eq!(handler(0), handler(FLASH));
        assert!((0x400..0x1_0000).contains(&handler(0)));
    }

    #[test]
    fn external_memory_cannot_be_read() -> Result<(), &'static str> {
        const FMC: u32 = 0x6000_0000;
        EXPECTED.store(FMC, Relaxed);
        // SAFETY: is refused before it reaches the bus.
        unsafe { read_volatile(FMC as *const u32) };
        Err("nobody refused")
    }

    #[test]
    fn a_null_pointer_cannot_be_written() -> Result<(), &'static str> {
        EXPECTED.store(0, Relaxed);
        // SAFETY: is refused; else it destroys the initial stack pointer's copy, which nobody reads. Assembly, because the
        // compiler knows what a null pointer is.
        unsafe { core::arch::asm!("str {0}, [{0}]", in(reg) 0) };
        Err("nobody refused")
    }

    #[test]
    fn the_ticks_code_cannot_be_written() -> Result<(), &'static str> {
        let code = handler(0);
        EXPECTED.store(code as u32, Relaxed);
        // SAFETY: is refused; else it destroys code that this test does not run.
        unsafe { write_volatile(code as *mut u32, 0xDE00_DE00) };
        Err("nobody refused")
    }
}
