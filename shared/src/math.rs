//! Transcendental functions (interim: the `libm` crate).
pub fn sin_cos_f32(x: f32) -> (f32, f32) {
    (libm::sinf(x), libm::cosf(x))
}
pub fn exp_f32(x: f32) -> f32 {
    libm::expf(x)
}
pub fn tanh_f32(x: f32) -> f32 {
    libm::tanhf(x)
}
pub fn sqrt_f32(x: f32) -> f32 {
    libm::sqrtf(x)
}
pub fn ln_f32(x: f32) -> f32 {
    libm::logf(x)
}
pub fn sin_cos_f64(x: f64) -> (f64, f64) {
    (libm::sin(x), libm::cos(x))
}
pub fn exp_f64(x: f64) -> f64 {
    libm::exp(x)
}
pub fn tanh_f64(x: f64) -> f64 {
    libm::tanh(x)
}
pub fn sqrt_f64(x: f64) -> f64 {
    libm::sqrt(x)
}
pub fn ln_f64(x: f64) -> f64 {
    libm::log(x)
}
pub fn atan2_f64(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}
