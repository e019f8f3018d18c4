//! Elementary functions: the only ones that may be called on the observer path.
//!
//! `f32::sin` and its like call the platform's library and differ between chip and host; clippy (`shared/clippy.toml`) refuses them.
//! These are free functions in plain IEEE arithmetic with a fixed order and no fused multiply-add, so the chip, the host, and every
//! optimisation level give the same bits (NaN payloads excepted).
//!
//! Error bounds: `cargo run --release -p stribeck-core --example ulp_sweep` (every f32; also symmetry and monotonicity).
mod double;
mod single;

pub use double::{atan2_f64, exp_f64, ln_f64, sin_cos_f64, sqrt_f64, tanh_f64};
pub use single::{exp_f32, ln_f32, sin_cos_f32, sqrt_newton_f32, tanh_f32};

/// √x, correctly rounded. Negative x gives NaN, −0 gives −0.
///
/// On ARM this is [`sqrt_newton_f32`]: stable Rust reaches `vsqrt.f32` only through `unsafe`, which this crate forbids. Elsewhere it is
/// the processor's instruction; correct rounding leaves no freedom, so the bits are the same.
#[inline]
pub fn sqrt_f32(x: f32) -> f32 {
    if cfg!(target_arch = "arm") {
        sqrt_newton_f32(x)
    } else {
        libm::sqrtf(x)
    }
}
