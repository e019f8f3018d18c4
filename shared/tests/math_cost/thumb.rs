//! Not a part of the crate: compiled by `main.rs` for the board, one symbol per function.
#![no_std]

#[path = "../../src/number/math/single.rs"]
mod single;

#[inline(never)]
pub fn sin_cos_f32(x: f32) -> (f32, f32) {
    single::sin_cos_f32(x)
}

#[inline(never)]
pub fn exp_f32(x: f32) -> f32 {
    single::exp_f32(x)
}

#[inline(never)]
pub fn tanh_f32(x: f32) -> f32 {
    single::tanh_f32(x)
}

#[inline(never)]
pub fn sqrt_newton_f32(x: f32) -> f32 {
    single::sqrt_newton_f32(x)
}

#[inline(never)]
pub fn ln_f32(x: f32) -> f32 {
    single::ln_f32(x)
}
