//! Elementary functions: the only ones that may be called on the observer path.
//!
//! `f32::sin` and its like call the platform's library and differ between chip and host; clippy (`shared/clippy.toml`) refuses them.
//! These are free functions in plain IEEE arithmetic with a fixed order and no fused multiply-add, so the chip, the host, and every
//! optimisation level give the same bits (NaN payloads excepted).
//!
//! # f32: measured on every argument
//!
//! Instructions: Cortex-M7, longest way through the function, call overhead and constant loads included.
//!
//! | function | arguments | max error, ulp | at x | exact properties | instructions |
//! |---|---|---|---|---|---|
//! | [`sin_cos_f32`] sin | \|x\| ≤ 8192 rad | 0.7933 | 24.34865 | odd | 71 (both) |
//! | [`sin_cos_f32`] cos | \|x\| ≤ 8192 rad | 0.7999 | 0.7855211 | even | – |
//! | [`sin_cos_f32`] sin | all larger finite x | 0.8234 | 5.379895e23 | odd | 71 + 104 (both) |
//! | [`sin_cos_f32`] cos | all larger finite x | 0.8272 | 1.0803786e33 | even | – |
//! | [`exp_f32`] | all finite x | 0.9267 | 4.5059776 | monotone | 49 |
//! | [`tanh_f32`] | all finite x | 1.0425 | 0.86778826 | odd, monotone, ≤ 1 | 53 |
//! | [`sqrt_newton_f32`] | all finite x ≥ 0 | 0.5 | – | correctly rounded | 46 (the instruction in [`sqrt_f32`]: 1) |
//! | [`ln_f32`] | all finite x > 0 | 0.8399 | 1.4133185 | monotone | 57 |
//!
//! # f64: measured on 200,000 random arguments each, against 192-bit arithmetic
//!
//! | function | arguments | max error seen, ulp |
//! |---|---|---|
//! | [`sin_cos_f64`] sin, cos | 2⁻³⁰ ≤ \|x\| ≤ 2⁴⁰ | 0.7655, 0.7663 |
//! | [`exp_f64`] | 2⁻³⁰ ≤ \|x\| ≤ 704 | 0.8211 |
//! | [`tanh_f64`] | 2⁻³⁰ ≤ \|x\| ≤ 32 | 2.0949 |
//! | [`sqrt_f64`] | 2⁻¹⁰²⁰ ≤ x ≤ 2¹⁰²⁰ | 0.5 |
//! | [`ln_f64`] | 2⁻⁶⁰ ≤ x ≤ 2⁶⁰ | 0.7529 |
//! | [`atan2_f64`] of (x, 1) | 2⁻³⁰ ≤ \|x\| ≤ 2³⁰ | 0.7650 |
//!
//! Both tables come from `cargo run --release -p stribeck-core --example ulp_sweep` (12 minutes of processor time), which fails if a
//! bound is exceeded; the instruction counts from `cargo test -p stribeck-core --test math_cost -- --nocapture`. The normal tests
//! repeat the sweep on a sample and compare a hash of a million results per function, which is the same on x86-64 and ARM.
//!
//! Not here: functions nobody on the observer path calls (tan, asin, powf …).
mod double;
mod single;

pub use double::{atan2_f64, exp_f64, ln_f64, sin_cos_f64, sqrt_f64, tanh_f64};
pub use single::{exp_f32, ln_f32, sin_cos_f32, sqrt_newton_f32, tanh_f32};

/// √x, correctly rounded. Negative x gives NaN, −0 gives −0.
///
/// The processor's instruction where there is one; on other 32-bit ARM [`sqrt_newton_f32`]. Correct rounding leaves no freedom, so the
/// bits are the same.
#[inline]
pub fn sqrt_f32(x: f32) -> f32 {
    #[cfg(all(target_arch = "arm", target_os = "none"))]
    return stribeck_sqrt::sqrt_f32(x);
    #[cfg(all(target_arch = "arm", not(target_os = "none")))]
    return sqrt_newton_f32(x);
    #[cfg(not(target_arch = "arm"))]
    return libm::sqrtf(x);
}
