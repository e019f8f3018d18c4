//! What is measured: every f32 function with its reference, interval and published error bound. Shared by the exhaustive sweep
//! (`ulp_sweep`) and by the sampled test (`tests/math.rs`).

use stribeck_core::number::math::*;

/// Symmetry that must hold to the last bit.
#[derive(Clone, Copy, PartialEq)]
pub enum Parity {
    /// f(−x) = −f(x); negative arguments are checked by this alone.
    Odd,
    /// f(−x) = f(x); negative arguments are checked by this alone.
    Even,
    /// No symmetry; negative arguments are measured.
    None,
}

/// One row of the published table.
pub struct Case {
    /// Row name.
    pub name: &'static str,
    /// Function under test.
    pub f: fn(f32) -> f32,
    /// Reference; its own error, some 1e-9 f32 ulp, does not matter.
    pub reference: fn(f64) -> f64,
    /// Interval of |x| (both signs are covered), both ends included.
    pub interval: [f32; 2],
    /// Symmetry.
    pub parity: Parity,
    /// Whether f must be non-decreasing over the interval.
    pub monotone: bool,
    /// Published bound [ulp]; the measurement must not exceed it.
    pub bound_ulp: f64,
}

/// All rows. The intervals reach every finite f32 that gives a finite result.
pub const CASES: [Case; 8] = [
    Case {
        name: "sin",
        f: |x| sin_cos_f32(x).0,
        reference: |x| sin_cos_f64(x).0,
        interval: [0.0, 8192.0],
        parity: Parity::Odd,
        monotone: false,
        bound_ulp: 0.85,
    },
    Case {
        name: "cos",
        f: |x| sin_cos_f32(x).1,
        reference: |x| sin_cos_f64(x).1,
        interval: [0.0, 8192.0],
        parity: Parity::Even,
        monotone: false,
        bound_ulp: 0.85,
    },
    Case {
        name: "sin, large",
        f: |x| sin_cos_f32(x).0,
        reference: |x| sin_cos_f64(x).0,
        interval: [8192.0, f32::MAX],
        parity: Parity::Odd,
        monotone: false,
        bound_ulp: 0.85,
    },
    Case {
        name: "cos, large",
        f: |x| sin_cos_f32(x).1,
        reference: |x| sin_cos_f64(x).1,
        interval: [8192.0, f32::MAX],
        parity: Parity::Even,
        monotone: false,
        bound_ulp: 0.85,
    },
    Case {
        name: "exp",
        f: exp_f32,
        reference: exp_f64,
        interval: [0.0, f32::MAX],
        parity: Parity::None,
        monotone: true,
        bound_ulp: 0.95,
    },
    Case {
        name: "tanh",
        f: tanh_f32,
        reference: tanh_f64,
        interval: [0.0, f32::MAX],
        parity: Parity::Odd,
        monotone: true,
        bound_ulp: 1.05,
    },
    Case {
        name: "sqrt",
        f: sqrt_newton_f32,
        reference: sqrt_f64,
        interval: [0.0, f32::MAX],
        parity: Parity::None,
        monotone: true,
        bound_ulp: 0.5,
    },
    Case {
        name: "ln",
        f: ln_f32,
        reference: ln_f64,
        interval: [f32::from_bits(1), f32::MAX],
        parity: Parity::None,
        monotone: true,
        bound_ulp: 0.85,
    },
];

/// Result of a sweep over part of a case.
#[derive(Clone, Copy)]
pub struct Finding {
    /// Arguments evaluated, both signs.
    pub arguments: u64,
    /// Largest error [ulp].
    pub max_ulp: f64,
    /// Where.
    pub at: f32,
    /// Broken requirements: symmetry, monotonicity, correct NaN or infinity.
    pub faults: u64,
}

impl Finding {
    /// Nothing evaluated yet.
    pub const EMPTY: Self = Self {
        arguments: 0,
        max_ulp: 0.0,
        at: 0.0,
        faults: 0,
    };
}

/// |y − exact| in units of the last place of an f32 near `exact`; an overflow to the right infinity and a NaN for a NaN count 0.
fn error_ulp(y: f32, exact: f64) -> f64 {
    if exact.is_nan() {
        return if y.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if y.is_infinite() || exact.is_infinite() {
        let same = y == exact as f32;
        return if same { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((exact.to_bits() >> 52) as i64 & 0x7ff) - 1023;
    let ulp = f64::from_bits(((exponent.max(-126) - 23 + 1023) as u64) << 52);
    (f64::from(y) - exact).abs() / ulp
}

impl Case {
    /// Bit patterns of the interval, the end excluded.
    pub fn bits(&self) -> [u32; 2] {
        [self.interval[0].to_bits(), self.interval[1].to_bits() + 1]
    }

    /// Measures ±x for the bit patterns of x from `first`, in steps of `stride`, below `end`.
    pub fn measure(&self, first: u32, end: u32, stride: usize) -> Finding {
        let mut found = Finding::EMPTY;
        let previous = first.checked_sub(1).map(f32::from_bits);
        let mut before = previous.map(|x| (self.f)(x));
        let mut before_negative = previous.map(|x| (self.f)(-x));
        for bits in (first..end).step_by(stride) {
            let x = f32::from_bits(bits);
            let y = (self.f)(x);
            let minus = (self.f)(-x);
            found.arguments += 2;
            self.see(&mut found, x, error_ulp(y, (self.reference)(f64::from(x))));
            let symmetric = match self.parity {
                Parity::Odd => (-y).to_bits() == minus.to_bits(),
                Parity::Even => y.to_bits() == minus.to_bits(),
                Parity::None => {
                    let exact = (self.reference)(f64::from(-x));
                    self.see(&mut found, -x, error_ulp(minus, exact));
                    true
                }
            };
            let falls = self.monotone
                && (before.is_some_and(|b| y < b) || before_negative.is_some_and(|b| minus > b));
            found.faults += u64::from(!symmetric) + u64::from(falls);
            before = Some(y);
            before_negative = Some(minus);
        }
        found
    }

    fn see(&self, found: &mut Finding, x: f32, ulp: f64) {
        if ulp > found.max_ulp {
            found.max_ulp = ulp;
            found.at = x;
        }
    }
}
