//! Errors of the f64 functions on random arguments against 192-bit arithmetic (`astro-float`).

use astro_float::{BigFloat, Consts, RoundingMode};
use stribeck_core::number::math::*;

const BITS: usize = 192;
const ROUND: RoundingMode = RoundingMode::ToEven;

/// One row of the published f64 table.
pub struct Case64 {
    /// Row name.
    pub name: &'static str,
    /// Function under test.
    pub f: fn(f64) -> f64,
    /// The same in 192 bits.
    pub reference: fn(&BigFloat, &mut Consts) -> BigFloat,
    /// Arguments: sign·2^u with u uniform in this interval.
    pub log2_interval: [f64; 2],
    /// Whether negative arguments are drawn too.
    pub signed: bool,
    /// Published bound [ulp] over the samples.
    pub bound_ulp: f64,
}

/// All rows.
pub const CASES_64: [Case64; 7] = [
    Case64 {
        name: "sin",
        f: |x| sin_cos_f64(x).0,
        reference: |x, c| x.sin(BITS, ROUND, c),
        log2_interval: [-30.0, 40.0],
        signed: true,
        bound_ulp: 1.0,
    },
    Case64 {
        name: "cos",
        f: |x| sin_cos_f64(x).1,
        reference: |x, c| x.cos(BITS, ROUND, c),
        log2_interval: [-30.0, 40.0],
        signed: true,
        bound_ulp: 1.0,
    },
    Case64 {
        name: "exp",
        f: exp_f64,
        reference: |x, c| x.exp(BITS, ROUND, c),
        log2_interval: [-30.0, 9.46],
        signed: true,
        bound_ulp: 1.0,
    },
    Case64 {
        name: "tanh",
        f: tanh_f64,
        reference: |x, c| x.tanh(BITS, ROUND, c),
        log2_interval: [-30.0, 5.0],
        signed: true,
        bound_ulp: 2.5,
    },
    Case64 {
        name: "sqrt",
        f: sqrt_f64,
        reference: |x, _| x.sqrt(BITS, ROUND),
        log2_interval: [-1020.0, 1020.0],
        signed: false,
        bound_ulp: 0.5,
    },
    Case64 {
        name: "ln",
        f: ln_f64,
        reference: |x, c| x.ln(BITS, ROUND, c),
        log2_interval: [-60.0, 60.0],
        signed: false,
        bound_ulp: 1.0,
    },
    Case64 {
        name: "atan2(·, 1)",
        f: |x| atan2_f64(x, 1.0),
        reference: |x, c| x.atan(BITS, ROUND, c),
        log2_interval: [-30.0, 30.0],
        signed: true,
        bound_ulp: 1.0,
    },
];

/// Uniform bits: splitmix64.
pub struct Random(pub u64);

impl Random {
    /// Next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in 0 … 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Case64 {
    /// Largest error [ulp] over `samples` arguments, and where.
    pub fn measure(&self, samples: usize, seed: u64) -> (f64, f64) {
        let mut random = Random(seed);
        let mut constants = Consts::new().expect("constant cache");
        let [low, high] = self.log2_interval;
        let mut worst = (0.0, 0.0);
        for _ in 0..samples {
            let u = low + (high - low) * random.unit();
            let negative = self.signed && random.next() & 1 == 1;
            let x = exp_f64(u * core::f64::consts::LN_2) * if negative { -1.0 } else { 1.0 };
            let y = (self.f)(x);
            let exact = (self.reference)(&BigFloat::from_f64(x, BITS), &mut constants);
            let difference = BigFloat::from_f64(y, BITS).sub(&exact, BITS, ROUND).abs();
            let exponent = (y.to_bits() >> 52) as i64 & 0x7ff;
            let ulp =
                BigFloat::from_f64(f64::from_bits(((exponent - 52).max(1) as u64) << 52), BITS);
            let error: f64 = difference
                .div(&ulp, 64, ROUND)
                .to_string()
                .parse()
                .expect("a decimal number");
            if error > worst.0 {
                worst = (error, x);
            }
        }
        worst
    }
}
