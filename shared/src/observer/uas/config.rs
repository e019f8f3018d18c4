//! Configuration of the UAS observer: mode, gain, and the prior of the ten parameters.
//!
//! f32 only, as stored and sent. Two presets: [`Config::paper`], the tables of paper 000 as printed, and the default, which a bench
//! can run for ever.

use serde::{Deserialize, Serialize};

use super::PARAMETERS;
use crate::number::range::{OutOfRange, check};
use crate::observer::uas::nussbaum;

/// As printed, or able to run on a bench; see the module header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    Paper,
    Bench,
}

/// Prior of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// ẑ(0).
    pub initial: f32,
    /// zl and zu.
    pub lower: f32,
    pub upper: f32,
    /// Confidence in either bound, λl and λu [1/rad].
    pub lambda_lower: f32,
    pub lambda_upper: f32,
}

impl Bound {
    /// Table 2's row for one parameter: zl = 2.22e-16, λl = 50, λu = 1.
    const fn table2(initial: f32, upper: f32) -> Self {
        Bound {
            initial,
            lower: 2.22e-16,
            upper,
            lambda_lower: 50.0,
            lambda_upper: 1.0,
        }
    }
}

/// Names of every field of every bound, for errors.
const BOUND_FIELDS: [[&str; 5]; PARAMETERS] = {
    macro_rules! names {
        ($($n:literal)*) => { [$([
            concat!("uas.bounds[", $n, "].initial"),
            concat!("uas.bounds[", $n, "].lower"),
            concat!("uas.bounds[", $n, "].upper"),
            concat!("uas.bounds[", $n, "].lambda_lower"),
            concat!("uas.bounds[", $n, "].lambda_upper"),
        ]),*] };
    }
    names!(0 1 2 3 4 5 6 7 8 9)
};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub mode: Mode,
    /// Which N(k).
    pub nussbaum: nussbaum::Kind,
    /// λ of the Mittag-Leffler function.
    pub lambda: f32,
    /// k(0).
    pub k0: f32,
    /// γ; one number for parameters of different units, as printed.
    pub gamma: f32,
    /// Dead zone ε of bench mode [rad/s].
    pub dead_zone: f32,
    /// Angle correction β of bench mode [1/s].
    pub angle_rate: f32,
    /// |N(k)| beyond this restarts the observer [1/s].
    pub gain_max: f32,
    /// Prior of (μd, μs, μv, vt, Fnt) of joint 0, then of joint 1.
    pub bounds: [Bound; PARAMETERS],
}

impl Config {
    /// Paper 000: Table 2's bounds, Table 4's initial guesses, λ = 1, γ = .00533. k0 is not printed; .1 is ours.
    pub const fn paper() -> Self {
        Config {
            mode: Mode::Paper,
            nussbaum: nussbaum::Kind::MittagLeffler,
            lambda: 1.0,
            k0: 0.1,
            gamma: 0.00533,
            dead_zone: 0.0,
            angle_rate: 0.0,
            gain_max: 1000.0,
            bounds: [
                Bound::table2(1.090e-2, 0.075),
                Bound::table2(8.239e-3, 0.075),
                Bound::table2(4.971e-3, 0.01),
                Bound::table2(2.726e-3, 0.01),
                Bound::table2(1.297e-2, 0.1),
                Bound::table2(1.957e-2, 0.15),
                Bound::table2(1.796e-2, 0.151),
                Bound::table2(1.607e-2, 0.01),
                Bound::table2(1.342e-2, 0.01),
                Bound::table2(9.213e-3, 0.1),
            ],
        }
    }

    /// (γ + λu·zu + λl·zl)/(λu + λl): where the parameters end on every record.
    pub fn fixed_point(&self) -> [f32; PARAMETERS] {
        self.bounds.map(|b| {
            (self.gamma + b.lambda_upper * b.upper + b.lambda_lower * b.lower)
                / (b.lambda_upper + b.lambda_lower)
        })
    }

    /// The first field outside its allowed range, if any.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        check("uas.lambda", self.lambda, 1e-6, 1e6)?;
        check("uas.k0", self.k0, 1e-6, 50.0)?;
        check("uas.gamma", self.gamma, 0.0, 1e3)?;
        check("uas.dead_zone", self.dead_zone, 0.0, 1e3)?;
        check("uas.angle_rate", self.angle_rate, 0.0, 1e3)?;
        check("uas.gain_max", self.gain_max, 1e-3, 1e4)?;
        for (b, [initial, lower, upper, lambda_lower, lambda_upper]) in
            self.bounds.iter().zip(BOUND_FIELDS)
        {
            check(initial, b.initial, 1e-12, 1e6)?;
            check(lower, b.lower, 0.0, 1e6)?;
            check(upper, b.upper, 1e-12, 1e6)?;
            check(lambda_lower, b.lambda_lower, 1e-6, 1e6)?;
            check(lambda_upper, b.lambda_upper, 1e-6, 1e6)?;
        }
        Ok(())
    }
}

impl Default for Config {
    /// Bench mode. k starts in the first positive lobe after the sign search (N(7) = 21.5/s) and the gain is stopped below
    /// the top of that lobe (29.6/s), so its sign never turns; vt is held where a 10 kHz step can follow it. Everything
    /// else as [`Config::paper`].
    fn default() -> Self {
        let paper = Self::paper();
        let mut bounds = paper.bounds;
        for (n, b) in bounds.iter_mut().enumerate() {
            if n % 5 == 3 {
                *b = Bound::table2(1e-2, 0.5);
            }
        }
        Config {
            mode: Mode::Bench,
            k0: 7.0,
            dead_zone: 0.2,
            angle_rate: 100.0,
            gain_max: 28.0,
            bounds,
            ..paper
        }
    }
}
