//! Why the processor started, and how often it has.
//!
//! Flags stay set until cleared, and most resets also pull the reset pin, so the order of the tests
//! matters (RM0433, "reset source identification").

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use embassy_stm32::pac::RCC;
use stribeck_core::wire::ResetCause;

/// Counts starts while power is on. Not initialised: after power-on it is whatever RAM holds, which is
/// as good a number for this boot as any.
// SAFETY: the section is plain RAM; any bit pattern is an AtomicU32.
#[unsafe(link_section = ".uninit.boots")]
static BOOTS: AtomicU32 = AtomicU32::new(0);

/// Number of this boot, different from the one before. Once per start.
pub fn boot_number() -> u32 {
    let number = BOOTS.load(Relaxed).wrapping_add(1);
    BOOTS.store(number, Relaxed);
    number
}

/// Read the cause and clear the flags, once per start. `crashed`: the previous program left a fault
/// text, so the software reset was not asked for.
pub fn take_cause(crashed: bool) -> ResetCause {
    let flags = RCC.rsr().read();
    RCC.rsr().modify(|w| w.set_rmvf(true));
    if flags.porrstf() {
        ResetCause::PowerOn
    } else if flags.borrstf() {
        ResetCause::BrownOut
    } else if flags.iwdg1rstf() || flags.wwdg1rstf() {
        ResetCause::Watchdog
    } else if flags.sftrstf() && crashed {
        ResetCause::Fault
    } else if flags.sftrstf() {
        ResetCause::Software
    } else if flags.pinrstf() {
        ResetCause::Pin
    } else {
        ResetCause::Unknown
    }
}
