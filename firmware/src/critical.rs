//! Critical sections that do not delay the tick.
//!
//! The usual single-core implementation masks every interrupt (PRIMASK), so each queue operation of
//! the USB driver or log line would be jitter of the 10 kHz tick. This one raises BASEPRI to mask
//! everything except priority 0, which belongs to the tick alone.
//!
//! Why that is sound: the tick uses no critical section and touches nothing that one protects. It
//! talks to the rest of the program through single-producer queues and atomics only (see `tick`).
//! `cargo elfcheck` proves it on the binary: the tick's call graph has no BASEPRI or PRIMASK access.

use cortex_m::register::{basepri, basepri_max};
use critical_section::{Impl, RawRestoreState, set_impl};

/// BASEPRI value that leaves only priority 0 unmasked. The STM32H7 implements the top 4 bits.
const MASK_ALL_BUT_TICK: u8 = 1 << 4;

struct BelowTick;
set_impl!(BelowTick);

// SAFETY: all code that uses critical sections runs at priority 1 or lower (`board` sets the
// priorities), so raising BASEPRI to 1 excludes all of it. One core.
unsafe impl Impl for BelowTick {
    // SAFETY: `critical_section::with` pairs it with `release`.
    unsafe fn acquire() -> RawRestoreState {
        let before = basepri::read();
        // basepri_max only ever raises: nesting is safe.
        basepri_max::write(MASK_ALL_BUT_TICK);
        cortex_m::asm::dsb();
        cortex_m::asm::isb();
        before
    }

    // SAFETY: `critical_section::with` calls it once for every `acquire`, with what that returned.
    unsafe fn release(before: RawRestoreState) {
        // SAFETY: `before` is what this section found on entry.
        unsafe { basepri::write(before) };
    }
}
