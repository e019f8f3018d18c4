//! f32 elementary functions for the tick: straight-line f32 and u32 arithmetic in a fixed order.
//!
//! No f64, no fused multiply-add, no loop, no panic path; the only table (2/π, 8 words) is read with masked indices. Every function
//! reduces its argument to a short interval and evaluates a minimax polynomial there; the coefficients are best f32
//! coefficients (Sollya `fpminimax`), the bound beside each is the error of the polynomial alone. Errors of the finished functions and
//! instruction counts: table in [`super`].

/// 1.5·2²³: adding it to |v| < 2²² rounds v to an integer (ties to even), which then sits in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;

const SIGN: u32 = 0x8000_0000;

/// Nearest integer of `v`, as f32 and as the two's complement word. |v| < 2²².
#[inline(always)]
fn round(v: f32) -> (f32, u32) {
    let t = v + ROUND;
    (t - ROUND, t.to_bits().wrapping_sub(ROUND.to_bits()))
}

/// 2ⁿ for −126 ≤ n ≤ 127, `n` in two's complement. Outside: some f32, no panic.
#[inline(always)]
fn power_of_two(n: u32) -> f32 {
    f32::from_bits(n.wrapping_add(127) << 23)
}

/// Largest |x|, rad, reduced by subtraction of k·π/2; beyond it [`reduce_large`] takes over.
const SUBTRACT_MAX: f32 = 8192.0;

/// π/2 = PIO2_1 + PIO2_2 + PIO2_3 + PIO2_4 + O(2⁻⁶³). The first three have 11 bits, so that k·PIO2_i is exact for k < 2¹³.
const PIO2_1: f32 = f32::from_bits(0x3fc9_0000);
const PIO2_2: f32 = f32::from_bits(0x39fd_a000);
const PIO2_3: f32 = f32::from_bits(0x33a2_2000);
const PIO2_4: f32 = f32::from_bits(0x2c34_611a);

/// (sin x, cos x), x in rad, for every finite x; ±∞ and NaN give NaN.
///
/// |x| = k·π/2 + (r + e), |r| ≤ π/4, with e the part of the remainder that r could not hold.
#[inline]
pub fn sin_cos_f32(x: f32) -> (f32, f32) {
    let a = x.abs();
    let sign = x.to_bits() & SIGN;
    let (k, r, e) = if a <= SUBTRACT_MAX {
        reduce_small(a)
    } else if a < f32::INFINITY {
        reduce_large(a)
    } else {
        return (f32::NAN, f32::NAN);
    };
    let (s, c) = sin_cos_quarter(r, e);
    // sin |x| = s, c, −s, −c and cos |x| = c, −s, −c, s in the quadrants k = 0, 1, 2, 3 (mod 4)
    let (s, c) = if k & 1 == 0 { (s, c) } else { (c, s) };
    let s_sign = ((k & 2) << 30) ^ sign;
    let c_sign = (k.wrapping_add(1) & 2) << 30;
    (
        f32::from_bits(s.to_bits() ^ s_sign),
        f32::from_bits(c.to_bits() ^ c_sign),
    )
}

/// (sin(r + e), cos(r + e)) for |r| ≤ π/4 and e below half an ulp of r.
#[inline(always)]
fn sin_cos_quarter(r: f32, e: f32) -> (f32, f32) {
    const S3: f32 = f32::from_bits(0xbe2a_aaa3); // relative error of r + r³(S3 + …): 4.0e-9
    const S5: f32 = f32::from_bits(0x3c08_83bc);
    const S7: f32 = f32::from_bits(0xb94c_aa00);
    const C4: f32 = f32::from_bits(0x3d2a_aaa5); // absolute error of 1 − r²/2 + r⁴(C4 + …): 1.1e-10
    const C6: f32 = f32::from_bits(0xbab6_0618);
    const C8: f32 = f32::from_bits(0x37cc_f5d6);
    let z = r * r;
    let h = 0.5 * z;
    let w = 1.0 - h;
    // sin(r + e) = sin r + e·cos r
    let s = r + ((r * z) * (S3 + z * (S5 + z * S7)) + e * w);
    // cos(r + e) = cos r − e·sin r; (1 − w) − h is what the rounding of w lost
    let c = w + (((1.0 - w) - h) + ((z * z) * (C4 + z * (C6 + z * C8)) - r * e));
    (s, c)
}

/// Quadrant and remainder of 0 ≤ a ≤ [`SUBTRACT_MAX`].
#[inline(always)]
fn reduce_small(a: f32) -> (u32, f32, f32) {
    let (kf, k) = round(a * core::f32::consts::FRAC_2_PI);
    let d = (a - kf * PIO2_1) - kf * PIO2_2; // exact
    let t = kf * PIO2_3; // exact
    let r = d - t;
    let e = ((d - r) - t) - kf * PIO2_4;
    (k, r, e)
}

/// Bits of 2/π below the binary point, after 32 zero bits.
const TWO_OVER_PI: [u32; 8] = [
    0,
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
];

/// Quadrant and remainder of [`SUBTRACT_MAX`] < a < ∞ (Payne–Hanek): a·2/π modulo 4 in fixed point.
///
/// a = m·2^q with integer m < 2²⁴. Bits of 2/π whose product with m·2^q is a multiple of 4 cannot matter: the 96-bit window begins just
/// below them, and its end is 2⁻⁷⁰ of a quadrant, far below the closest approach of any f32 to a multiple of π/2.
#[cold]
#[inline(never)]
fn reduce_large(a: f32) -> (u32, f32, f32) {
    const PIO2_Q63: u64 = 0xc90f_daa2_2168_c235; // π/2·2⁶³
    let bits = a.to_bits();
    let m = u64::from((bits & 0x007f_ffff) | 0x0080_0000);
    // q = exponent − 150 and the window starts at bit q + 30 of the table: 20 … 134
    let start = (bits >> 23).wrapping_sub(120);
    let word = (start >> 5) as usize;
    let shift = start & 31;
    let at = |i: usize| {
        let pair = (u64::from(TWO_OVER_PI[word.wrapping_add(i) & 7]) << 32)
            | u64::from(TWO_OVER_PI[word.wrapping_add(i + 1) & 7]);
        (pair << shift) >> 32
    };
    // upper 64 of 96 bits of m·window: 2 bits of quadrant, 62 bits of fraction
    let turns = (m.wrapping_mul(at(0)) << 32)
        .wrapping_add(m.wrapping_mul(at(1)))
        .wrapping_add(m.wrapping_mul(at(2)) >> 32);
    let k = (turns.wrapping_add(1 << 61) >> 62) as u32;
    let fraction = turns.wrapping_sub(u64::from(k) << 62); // two's complement, |fraction| ≤ 2⁶¹
    let sign = (fraction >> 32) as u32 & SIGN;
    let magnitude = if sign == 0 {
        fraction
    } else {
        fraction.wrapping_neg()
    } | 1;
    let zeros = magnitude.leading_zeros();
    let normal = magnitude << zeros;
    // remainder = product·2^(−61 − zeros), 2⁶² ≤ product < 2⁶⁴: 24 bits go to r, the next 32 to e
    let product = ((u128::from(normal) * u128::from(PIO2_Q63)) >> 64) as u64;
    let r = (product >> 40) as u32 as f32 * power_of_two((-21_i32 as u32).wrapping_sub(zeros));
    let e = (product >> 8) as u32 as f32 * power_of_two((-53_i32 as u32).wrapping_sub(zeros));
    (
        k,
        f32::from_bits(r.to_bits() | sign),
        f32::from_bits(e.to_bits() | sign),
    )
}

/// ln 2 = LN2_HI + LN2_LO; LN2_HI has 15 bits, so that k·LN2_HI is exact for |k| ≤ 2⁹.
const LN2_HI: f32 = f32::from_bits(0x3f31_7200);
const LN2_LO: f32 = f32::from_bits(0x35bf_be8e);

/// (p, k) with eˣ = p·2ᵏ, 0.7 < p < 1.42. |x| < 2²⁰.
#[inline(always)]
fn exp_parts(x: f32) -> (f32, u32) {
    const E2: f32 = f32::from_bits(0x3eff_ffff); // absolute error of 1 + r + r²(E2 + …): 3.6e-9
    const E3: f32 = f32::from_bits(0x3e2a_aa47);
    const E4: f32 = f32::from_bits(0x3d2a_ab2c);
    const E5: f32 = f32::from_bits(0x3c09_1dff);
    const E6: f32 = f32::from_bits(0x3ab6_29ca);
    let (kf, k) = round(x * core::f32::consts::LOG2_E);
    let d = x - kf * LN2_HI; // exact
    let t = kf * LN2_LO;
    let r = d - t;
    let e = (d - r) - t;
    let z = r * r;
    let p = 1.0 + (r + (e + z * ((E2 + r * E3) + z * ((E4 + r * E5) + z * E6))));
    (p, k)
}

/// eˣ. Overflows to ∞ above 88.72283, is subnormal below −87.33654, zero below −103.97208.
#[inline]
pub fn exp_f32(x: f32) -> f32 {
    // both ends lie beyond overflow and underflow; comparisons, not min/max, let NaN through
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -105.0 { -105.0 } else { x };
    let (p, k) = exp_parts(x);
    // 2ᵏ may be no f32 of its own: the first product is exact, the second rounds once
    let half = ((k as i32) >> 1) as u32;
    (p * power_of_two(half)) * power_of_two(k.wrapping_sub(half))
}

/// tanh x: exactly odd, monotone, |tanh x| ≤ 1.
#[inline]
pub fn tanh_f32(x: f32) -> f32 {
    const SERIES_MAX: f32 = 0.8;
    const T3: f32 = f32::from_bits(0xbeaa_aa9f); // relative error of x + x³(T3 + …) to SERIES_MAX: 3.7e-9
    const T5: f32 = f32::from_bits(0x3e08_85ac);
    const T7: f32 = f32::from_bits(0xbd5c_9596);
    const T9: f32 = f32::from_bits(0x3cae_8afa);
    const T11: f32 = f32::from_bits(0xbbf2_f232);
    const T13: f32 = f32::from_bits(0x3ad0_0338);
    let a = x.abs();
    let y = if a < SERIES_MAX {
        let z = a * a;
        a + (a * z) * (T3 + z * (T5 + z * (T7 + z * (T9 + z * (T11 + z * T13)))))
    } else {
        // tanh a = 1 − 2/(e²ᵃ + 1), which is 1 in f32 from 9.011 on
        let a = if a > 10.0 { 10.0 } else { a };
        let (p, k) = exp_parts(a + a);
        1.0 - 2.0 / (p * power_of_two(k) + 1.0)
    };
    f32::from_bits(y.to_bits() | (x.to_bits() & SIGN))
}

/// √x, correctly rounded, by Newton steps and an exact integer test: the same bits as a square-root instruction.
#[inline]
pub fn sqrt_newton_f32(x: f32) -> f32 {
    if x.to_bits().wrapping_sub(NORMAL) >= f32::INFINITY.to_bits() - NORMAL {
        return sqrt_special(x);
    }
    sqrt_normal(x)
}

/// Bits of the smallest normal f32, and the implicit bit of a mantissa.
const NORMAL: u32 = 0x0080_0000;

/// √x of a positive normal number.
#[inline(always)]
fn sqrt_normal(x: f32) -> f32 {
    let bits = x.to_bits();
    // y → 1/√x (3.4 %, 1.8e-3, 4.7e-6), then s → √x within one ulp
    let h = 0.5 * x;
    let y = f32::from_bits(0x5f37_59df_u32.wrapping_sub(bits >> 1));
    let y = y * (1.5 - (h * y) * y);
    let y = y * (1.5 - (h * y) * y);
    let s = x * y;
    let s = s + y * (h - (0.5 * s) * s);
    // x = m·4ⁿ, 1 ≤ m < 4, `odd` = 1 for m ≥ 2. With root = s/2ⁿ·2²³ as an integer, remainder = m·2⁴⁶ − root² fits 32 bits;
    // the nearest root has −root < remainder ≤ root.
    let two_n = ((bits >> 1) + 0x1fc0_0000) & 0xff80_0000; // bits of 2ⁿ
    let odd = ((bits >> 23) + 1) & 1;
    let square = ((bits & 0x007f_ffff) | NORMAL) << 23 << odd;
    let root = s.to_bits().wrapping_sub(two_n).wrapping_add(NORMAL);
    let remainder = square.wrapping_sub(root.wrapping_mul(root)) as i32;
    let up = u32::from(remainder > root as i32);
    let down = u32::from(remainder <= (root as i32).wrapping_neg());
    f32::from_bits(s.to_bits().wrapping_add(up).wrapping_sub(down))
}

/// √x of everything that is not a positive normal number.
#[cold]
#[inline(never)]
fn sqrt_special(x: f32) -> f32 {
    if x > 0.0 && x < f32::MIN_POSITIVE {
        sqrt_normal(x * 16_777_216.0) * (1.0 / 4096.0) // 2²⁴ in, 2⁻¹² out, both exact
    } else if x >= 0.0 {
        x // ±0, ∞
    } else {
        f32::NAN
    }
}

/// Natural logarithm. ln 0 = −∞, negative x gives NaN.
#[inline]
pub fn ln_f32(x: f32) -> f32 {
    const L2: f32 = f32::from_bits(0x3f2a_aabd); // absolute error of s²(L2 + …): 1.6e-9
    const L4: f32 = f32::from_bits(0x3ecc_af62);
    const L6: f32 = f32::from_bits(0x3e98_f1d8);
    const MIN_NORMAL: f32 = f32::MIN_POSITIVE;
    const HALF_SQRT2: u32 = 0x3f35_04f3;
    if !(x > 0.0 && x < f32::INFINITY) {
        return if x == 0.0 {
            f32::NEG_INFINITY
        } else if x > 0.0 {
            x
        } else {
            f32::NAN
        };
    }
    let (x, lift) = if x < MIN_NORMAL {
        (x * 16_777_216.0, 24.0)
    } else {
        (x, 0.0)
    };
    // x = 2ᵏ·(1 + f), √½ ≤ 1 + f < √2
    let offset = x.to_bits().wrapping_sub(HALF_SQRT2);
    let k = (offset as i32 >> 23) as f32 - lift;
    let f = f32::from_bits((offset & 0x007f_ffff).wrapping_add(HALF_SQRT2)) - 1.0;
    // ln(1 + f) = f − f²/2 + s(f²/2 + R(s²)), s = f/(2 + f)
    let s = f / (2.0 + f);
    let z = s * s;
    let h = 0.5 * f * f;
    let r = z * (L2 + z * (L4 + z * L6));
    (((s * (h + r) + k * LN2_LO) - h) + f) + k * LN2_HI
}
