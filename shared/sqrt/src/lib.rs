//! √x by the FPU's own instruction, on a Cortex-M with one.
//!
//! Why a crate: `stribeck-core` forbids unsafe code, and stable Rust reaches `vsqrt.f32` without std only through assembly. IEEE 754
//! demands the correctly rounded root, so the bits are those of every other correct square root (the core's Newton steps, x86-64's
//! `sqrtss`); `firmware/tests/bits.rs` compares them on the chip. 14 cycles on a Cortex-M7 instead of 46 instructions.
//!
//! Empty on every other target.
#![no_std]

/// √x, correctly rounded. Negative x gives NaN, −0 gives −0.
#[cfg(all(target_arch = "arm", target_os = "none"))]
#[inline(always)]
pub fn sqrt_f32(x: f32) -> f32 {
    let root;
    // SAFETY: reads one register and writes another; of everything else it touches only the cumulative exception flags of the FPU,
    // which nobody reads.
    unsafe {
        core::arch::asm!("vsqrt.f32 {}, {}", out(sreg) root, in(sreg) x, options(pure, nomem, nostack, preserves_flags))
    };
    root
}
