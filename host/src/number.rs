//! Functions of real numbers that give the same digits on every platform.
//!
//! The standard library takes sine, exponential and the like from the platform's C library, and those of Linux, Windows and
//! macOS differ in the last bit; an optimiser turns that into other digits. These come from one pure Rust implementation, the
//! one the shared core uses for its f64. `host/clippy.toml` refuses the standard library's functions in this crate. Square
//! root and the four operations are exact everywhere and stay as they are.

pub use libm::{
    atan2, cos, exp, hypot, log as ln, log10, pow as powf, sin, sincos as sin_cos, tan, tanh,
};

/// The same number with what a few last bits can change taken off: twelve significant digits. For results of libraries that
/// use the platform's functions (quantiles), before anything is computed with them.
pub fn rounded(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    // Decimal text and back is correctly rounded on every platform.
    format!("{x:.11e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_fixed() {
        // Frozen: another implementation, or another platform's, shows here.
        let x = 0.7391;
        let bits = [
            sin(x),
            cos(x),
            tan(x),
            exp(x),
            ln(x),
            log10(x),
            powf(x, 2.3),
            hypot(x, 1.2),
            atan2(x, -0.4),
            tanh(x),
        ]
        .map(f64::to_bits);
        assert_eq!(bits, FROZEN);
        assert_eq!(sin_cos(x), (sin(x), cos(x)));
    }

    #[test]
    fn last_bits_are_taken_off() {
        let x: f64 = 1.959_963_984_540_054;
        for neighbour in [x, x.next_up(), x.next_down()] {
            assert_eq!(rounded(neighbour).to_bits(), rounded(x).to_bits());
        }
        assert!((rounded(x) - x).abs() < 1e-11 * x);
        assert_eq!(rounded(0.0), 0.0);
        assert!(rounded(f64::NAN).is_nan());
    }

    const FROZEN: [u64; 10] = [
        0x3fe58e51db714b56,
        0x3fe7a680dd01b9ad,
        0x3fed2a8553e0e142,
        0x4000c09d4c278d6c,
        0xbfd3593e9488b976,
        0xbfc0ce555e24404d,
        0x3fdfee0cded1c728,
        0x3ff68cb31a0cea15,
        0x400088ec730fbbca,
        0x3fe41d800b07c73c,
    ];
}
