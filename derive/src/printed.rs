//! A paper's printed formulas against the derived ones, exactly.
//!
//! Paper 002 prints 39 formulas of three mechanisms: positions, velocities, energies, equations of motion. Each is compared with
//! the derivation in canonical form, after its units were checked.

use crate::canonical::{Basis, Ring};
use crate::catalogue;
use crate::error::{Error, Result};
use crate::expr::{Ex, Mixed, Unit, V3, mv, unit_of};
use crate::formula;
use crate::kane::{self, Kane};
use crate::lagrange::{self, Lagrange};
use crate::mechanism::Mechanism;
use crate::motion::Step;

/// The list for paper 002; its head explains the columns.
const PAPER_002: &str = include_str!("../papers/002.txt");

/// A formula as printed.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    pub place: &'static str,
    pub mechanism: &'static str,
    pub quantity: &'static str,
    pub printed: &'static str,
    /// Empty when the printed formula is expected to be right.
    pub correct: &'static str,
    pub why: &'static str,
}

/// What the comparison says.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub printed: Ex,
    pub derived: Ex,
    /// Printed = derived, as an identity.
    pub right: bool,
    /// Corrected = derived; nothing when no correction is stated.
    pub correction_right: Option<bool>,
    /// The printed formula adds different units.
    pub mixed_units: Option<Mixed>,
}

pub fn paper_002() -> Vec<Printed> {
    let rows = PAPER_002
        .lines()
        .filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    rows.map(|line| {
        let mut f = line.split('|').map(str::trim);
        let mut next = || f.next().unwrap_or_default();
        Printed {
            place: next(),
            mechanism: next(),
            quantity: next(),
            printed: next(),
            correct: next(),
            why: next(),
        }
    })
    .collect()
}

/// One mechanism, derived both ways.
pub struct Derived {
    pub mechanism: Mechanism,
    pub lagrange: Lagrange,
    pub kane: Kane,
}

impl Derived {
    pub fn new(name: &str) -> Result<Derived> {
        let entry = catalogue::find(name)
            .ok_or_else(|| Error::Unsupported(format!("there is no mechanism `{name}`")))?;
        let mechanism = Mechanism::read(entry.toml)?;
        Ok(Derived {
            lagrange: lagrange::derive(&mechanism)?,
            kane: kane::derive(&mechanism)?,
            mechanism,
        })
    }

    pub fn check(&self, p: &Printed) -> Result<Verdict> {
        let derived = self.quantity(p.quantity)?;
        let printed = self.parse(p.printed)?;
        let mut ring = Ring::new(Basis::Cosines);
        Ok(Verdict {
            printed,
            derived,
            right: ring.equal(printed, derived)?,
            correction_right: match p.correct {
                "" => None,
                text => Some(ring.equal(self.parse(text)?, derived)?),
            },
            mixed_units: unit_of(printed).err(),
        })
    }

    /// A printed formula may name a symbol of another mechanism: the paper's nomenclature tells its unit.
    fn parse(&self, text: &str) -> Result<Ex> {
        for name in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            let unit = match name.as_bytes() {
                [b'm', b'_', ..] => Unit::KG,
                [b'l'] | [b'l', b'_', ..] => Unit::M,
                [b'I', b'_', ..] => Unit::INERTIA,
                [b'g'] => Unit::GRAVITY,
                _ => continue,
            };
            self.mechanism.scope.parameter(name, unit);
        }
        formula::parse(text, self.mechanism.scope).map_err(Error::Unsupported)
    }

    fn quantity(&self, what: &str) -> Result<Ex> {
        let m = &self.mechanism;
        let motion = &self.lagrange.motion;
        let unknown =
            || Error::Unsupported(format!("there is no quantity `{what}` of `{}`", m.name));
        match what {
            "T" => return Ok(self.lagrange.kinetic),
            "V" => return Ok(self.lagrange.potential),
            "eq1" => return Ok(motion.left(0, &m.a) - motion.effort[0]),
            "eq2" => return Ok(motion.left(1, &m.a) - motion.effort[1]),
            _ => {}
        }
        let (quantity, body) = what.split_once(':').ok_or_else(unknown)?;
        let turn = m
            .bodies
            .iter()
            .find(|b| b.name == body)
            .ok_or_else(unknown)?
            .turn;
        let vector = |steps: &[Step], symbol: &str| -> Option<V3> {
            let s = steps.iter().find(|s| s.symbol == symbol && s.of == body)?;
            s.value.clone().try_into().ok()
        };
        let kane = |symbol: &str| vector(&self.kane.motion.steps, symbol).ok_or_else(unknown);
        let before = |v: V3| mv(&turn, v);
        match quantity {
            "x" => Ok(vector(&motion.steps, "r").ok_or_else(unknown)?[0]),
            "y" => Ok(vector(&motion.steps, "r").ok_or_else(unknown)?[1]),
            "omz" => Ok(kane("ω")?[2]),
            "alz" => Ok(kane("α")?[2]),
            "vx" => Ok(kane("v")?[0]),
            "ax" => Ok(kane("a")?[0]),
            "ay" => Ok(kane("a")?[1]),
            "vx^" => Ok(before(kane("v")?)[0]),
            "ay^" => Ok(before(kane("a")?)[1]),
            "mz" => Ok(kane("M")?[2]),
            _ => Err(unknown()),
        }
    }
}
