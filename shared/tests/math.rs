//! `stribeck_core::number::math`: error bounds on a sample, behaviour at the edges, and frozen bits.
//!
//! The exhaustive version of the first part is `cargo run --release -p stribeck-core --example ulp_sweep`.

#[path = "../examples/ulp_sweep/cases.rs"]
mod cases;
#[path = "../examples/ulp_sweep/double.rs"]
mod double;

use cases::CASES;
use double::{CASES_64, Random};
use stribeck_core::number::math::*;

/// A prime, so that the sample walks through all residues of the low bits.
const STRIDE: usize = 10_007;

#[test]
fn f32_errors_stay_below_the_published_bounds() {
    for case in &CASES {
        let [first, end] = case.bits();
        let found = case.measure(first, end, STRIDE);
        assert!(found.arguments > 100_000, "{}", case.name);
        assert_eq!(
            found.faults, 0,
            "{}: symmetry or monotonicity broken",
            case.name
        );
        assert!(
            found.max_ulp <= case.bound_ulp,
            "{}: {} ulp at {:e}, published {}",
            case.name,
            found.max_ulp,
            found.at,
            case.bound_ulp
        );
        assert!(
            found.max_ulp > 0.45,
            "{}: the reference is not measured",
            case.name
        );
    }
}

#[test]
fn f32_errors_stay_below_the_bounds_around_the_hard_arguments() {
    // both sides of each multiple of π/4 (quadrant changes), of each switch of method, and of over- and underflow
    let seams = (1..=10_430)
        .map(|n| n as f32 * core::f32::consts::FRAC_PI_4)
        .chain([
            8192.0, 0.8, 9.011, 10.0, 88.72283, 87.33654, 103.97208, 104.0,
        ])
        .chain([
            1.0,
            core::f32::consts::FRAC_1_SQRT_2,
            core::f32::consts::SQRT_2,
            f32::MIN_POSITIVE,
        ]);
    for x in seams {
        for case in &CASES {
            if x < case.interval[0] || x > case.interval[1] {
                continue;
            }
            let near = case.measure(x.to_bits() - 8, x.to_bits() + 9, 1);
            assert!(
                near.faults == 0 && near.max_ulp <= case.bound_ulp,
                "{} near {x:e}",
                case.name
            );
        }
    }
}

#[test]
fn f64_errors_stay_below_the_published_bounds() {
    for case in &CASES_64 {
        let (ulp, at) = case.measure(2_000, 7);
        assert!(
            ulp <= case.bound_ulp,
            "{}: {ulp} ulp at {at:e}, published {}",
            case.name,
            case.bound_ulp
        );
        assert!(
            ulp > 0.45,
            "{}: {ulp} ulp, the reference is not measured",
            case.name
        );
    }
}

#[test]
fn special_arguments() {
    const INF: f32 = f32::INFINITY;
    for x in [INF, -INF, f32::NAN] {
        let (s, c) = sin_cos_f32(x);
        assert!(s.is_nan() && c.is_nan());
    }
    assert_eq!(sin_cos_f32(-0.0).0.to_bits(), (-0.0_f32).to_bits());
    assert_eq!(sin_cos_f32(0.0), (0.0, 1.0));

    assert_eq!(exp_f32(0.0), 1.0);
    assert_eq!(
        [
            exp_f32(INF),
            exp_f32(-INF),
            exp_f32(f32::MAX),
            exp_f32(f32::MIN)
        ],
        [INF, 0.0, INF, 0.0]
    );
    assert!(exp_f32(88.722_83).is_finite() && exp_f32(88.722_84) == INF);
    assert_eq!(exp_f32(-103.972), f32::from_bits(1));
    assert_eq!(exp_f32(-103.973), 0.0);
    assert!(exp_f32(f32::NAN).is_nan());

    assert_eq!([tanh_f32(INF), tanh_f32(-INF)], [1.0, -1.0]);
    assert_eq!(tanh_f32(-0.0).to_bits(), (-0.0_f32).to_bits());
    assert!(tanh_f32(f32::NAN).is_nan());

    for root in [sqrt_f32, sqrt_newton_f32] {
        assert_eq!(root(-0.0).to_bits(), (-0.0_f32).to_bits());
        assert_eq!([root(0.0), root(INF), root(2.25)], [0.0, INF, 1.5]);
        assert!(root(-1.0).is_nan() && root(-INF).is_nan() && root(f32::NAN).is_nan());
    }

    assert_eq!([ln_f32(1.0), ln_f32(0.0), ln_f32(INF)], [0.0, -INF, INF]);
    assert_eq!(ln_f32(-0.0), -INF);
    assert!(ln_f32(-1.0).is_nan() && ln_f32(-INF).is_nan() && ln_f32(f32::NAN).is_nan());
}

#[test]
fn both_square_roots_are_the_same() {
    for bits in (0..f32::INFINITY.to_bits()).step_by(997) {
        let x = f32::from_bits(bits);
        assert_eq!(
            sqrt_f32(x).to_bits(),
            sqrt_newton_f32(x).to_bits(),
            "√{x:e}"
        );
    }
}

/// Arguments of the frozen hashes: half of them any bit pattern, half uniform in −20 … 20.
const HASHED: usize = 1_000_000;

/// FNV-1a over result words. NaN is left out: its bits are not defined.
struct Hash(u64);

impl Hash {
    fn add_f32(&mut self, y: f32) {
        if !y.is_nan() {
            self.add(&y.to_bits().to_le_bytes());
        }
    }

    fn add_f64(&mut self, y: f64) {
        if !y.is_nan() {
            self.add(&y.to_bits().to_le_bytes());
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn hash_f32(f: impl Fn(f32, &mut Hash)) -> u64 {
    let mut random = Random(2);
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for _ in 0..HASHED / 2 {
        let word = random.next();
        f(f32::from_bits(word as u32), &mut hash);
        f(
            (word >> 40) as f32 * (40.0 / 16_777_216.0) - 20.0,
            &mut hash,
        );
    }
    hash.0
}

fn hash_f64(f: impl Fn(f64, &mut Hash)) -> u64 {
    let mut random = Random(3);
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for _ in 0..HASHED / 2 {
        f(f64::from_bits(random.next()), &mut hash);
        let unit = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        f(unit * 40.0 - 20.0, &mut hash);
    }
    hash.0
}

/// A change here changes the bits of every observer: bump the numerics version with it.
#[test]
fn bits_are_frozen() {
    let seen = [
        (
            "sin_cos_f32",
            hash_f32(|x, h| {
                let (s, c) = sin_cos_f32(x);
                h.add_f32(s);
                h.add_f32(c);
            }),
        ),
        ("exp_f32", hash_f32(|x, h| h.add_f32(exp_f32(x)))),
        ("tanh_f32", hash_f32(|x, h| h.add_f32(tanh_f32(x)))),
        ("sqrt_f32", hash_f32(|x, h| h.add_f32(sqrt_f32(x)))),
        ("ln_f32", hash_f32(|x, h| h.add_f32(ln_f32(x)))),
        (
            "sin_cos_f64",
            hash_f64(|x, h| {
                let (s, c) = sin_cos_f64(x);
                h.add_f64(s);
                h.add_f64(c);
            }),
        ),
        ("exp_f64", hash_f64(|x, h| h.add_f64(exp_f64(x)))),
        ("tanh_f64", hash_f64(|x, h| h.add_f64(tanh_f64(x)))),
        ("sqrt_f64", hash_f64(|x, h| h.add_f64(sqrt_f64(x)))),
        ("ln_f64", hash_f64(|x, h| h.add_f64(ln_f64(x)))),
        (
            "atan2_f64",
            hash_f64(|x, h| h.add_f64(atan2_f64(x, 3.0 - x))),
        ),
    ];
    let frozen = [
        ("sin_cos_f32", 0xe673_6efa_dc64_1e7d),
        ("exp_f32", 0x7ef9_9b25_8a95_4264),
        ("tanh_f32", 0x1d11_0f32_ec84_8f7f),
        ("sqrt_f32", 0x4d5b_0300_138b_9aee),
        ("ln_f32", 0x34d5_f3c2_14c8_7f32),
        ("sin_cos_f64", 0xe61f_abe2_39b1_6f95),
        ("exp_f64", 0xa144_52a1_efd6_4764),
        ("tanh_f64", 0xee0f_0980_aba3_47bc),
        ("sqrt_f64", 0xa359_bffa_f643_3058),
        ("ln_f64", 0x0c4e_d08d_4ae3_7661),
        ("atan2_f64", 0x1bd2_f163_679f_7925),
    ];
    assert_eq!(seen, frozen, "seen: {seen:#x?}");
}
