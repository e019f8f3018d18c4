//! f64 elementary functions for off-line work: the pure-Rust `libm` crate, pinned to one version.
//!
//! Why this is platform-independent: the functions used here are ports of musl/FreeBSD code in plain f64 and integer arithmetic, with no
//! fused multiply-add, no call into a system library and no code path chosen by the target (32-bit x86 without SSE2 excepted).
//! The crate's `arch` feature, which is on, touches one of them: √ becomes the instruction where there is one, and both ways
//! round correctly.

/// (sin x, cos x), x in rad.
#[inline]
pub fn sin_cos_f64(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// eˣ.
#[inline]
pub fn exp_f64(x: f64) -> f64 {
    libm::exp(x)
}

/// tanh x.
#[inline]
pub fn tanh_f64(x: f64) -> f64 {
    libm::tanh(x)
}

/// √x, correctly rounded.
#[inline]
pub fn sqrt_f64(x: f64) -> f64 {
    libm::sqrt(x)
}

/// Natural logarithm.
#[inline]
pub fn ln_f64(x: f64) -> f64 {
    libm::log(x)
}

/// Angle of the point (x, y) in rad, −π … π.
#[inline]
pub fn atan2_f64(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}
