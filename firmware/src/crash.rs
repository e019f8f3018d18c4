//! Panic and hard-fault handlers of the flashed program: the motor off, record why, then reset at once.
//!
//! The device comes back streaming within a second and reports the text in Hello. Not part of the
//! library: on-target tests bring their own panic handler.

use core::panic::PanicInfo;

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};
use stribeck_firmware::{fault, motor};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    motor::off();
    match info.location() {
        // Name and line first: they must survive the cut.
        Some(at) => {
            let file = at.file();
            let name = file.bytes().rposition(|b| b == b'/').map_or(0, |i| i + 1);
            let file = file.get(name..).unwrap_or(file);
            fault::record(format_args!("{file}:{}: {}", at.line(), info.message()));
        }
        None => fault::record(format_args!("panic: {}", info.message())),
    }
    SCB::sys_reset()
}

/// Stacked registers and fault status as hex: enough for `addr2line`.
// SAFETY: called by the hardware only, with a frame on the stack; records, resets and never returns.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    motor::off();
    /// CFSR: the address register of a memory-protection or bus fault holds an address.
    const MMARVALID: u32 = 1 << 7;
    const BFARVALID: u32 = 1 << 15;
    // SAFETY: reading the fault status registers has no side effect.
    let scb = unsafe { &*SCB::PTR };
    let (pc, lr, cfsr) = (frame.pc(), frame.lr(), scb.cfsr.read());
    if cfsr & (MMARVALID | BFARVALID) == 0 {
        fault::record(format_args!("fault pc {pc:x} lr {lr:x} cfsr {cfsr:x}"));
    } else {
        let at = if cfsr & BFARVALID != 0 {
            scb.bfar.read()
        } else {
            scb.mmfar.read()
        };
        fault::record(format_args!(
            "fault pc {pc:x} lr {lr:x} cfsr {cfsr:x} at {at:x}"
        ));
    }
    SCB::sys_reset()
}
