//! Lagrange = Kane, three times over: identical canonical forms, agreement in a finite field, values at random states.

use crate::canonical::{Basis, Ring};
use crate::constraint::reduce;
use crate::error::{Error, Result};
use crate::expr::{Ex, Kind, Values};
use crate::field::{Agreement, agree, mix};
use crate::kane::Kane;
use crate::lagrange::Lagrange;
use crate::mechanism::Mechanism;

/// What the canonical forms say.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    /// Proved: the same form, term by term.
    Identical { basis: Basis, terms: usize },
    /// Disproved: the first quantity that differs.
    Different { quantity: String },
    /// Reciprocals and roots, or too many terms: the form decides nothing.
    Undecided { why: String },
}

#[derive(Clone, Debug)]
pub struct Proof {
    /// Quantities compared: the entries of H, B, G, D, Q, or of the equations in the generalized speeds.
    pub quantities: usize,
    pub identity: Identity,
    /// Nothing when a point was found where they differ.
    pub field: Option<Agreement>,
    /// Random states compared in f64, and the largest difference relative to the size of the quantity.
    pub states: usize,
    pub largest: f64,
}

impl Proof {
    pub fn holds(&self) -> bool {
        !matches!(self.identity, Identity::Different { .. })
            && self.field.is_some()
            && self.largest < 1e-9
    }
}

/// The quantities of both methods, with names.
pub fn quantities(
    m: &Mechanism,
    l: &Lagrange,
    k: &Kane,
) -> Result<(Vec<String>, Vec<Ex>, Vec<Ex>)> {
    let (n, names, a, b) = if m.is_free() {
        (
            m.dof(),
            &["B", "G", "D", "Q"][..],
            l.motion.all(),
            k.motion.all(),
        )
    } else {
        let (a, b) = (reduce(m, &l.motion)?, reduce(m, &k.motion)?);
        (a.speeds.len(), &["c", "Q"][..], a.all(), b.all())
    };
    let h = (0..n).flat_map(|i| (0..n).map(move |j| format!("H[{i}][{j}]")));
    let rest = names
        .iter()
        .flat_map(|name| (0..n).map(move |i| format!("{name}[{i}]")));
    Ok((h.chain(rest).collect(), a, b))
}

pub fn prove(m: &Mechanism, l: &Lagrange, k: &Kane) -> Result<Proof> {
    let (names, a, b) = quantities(m, l, k)?;
    let (states, largest) = (100, largest_difference(&a, &b, 100));
    Ok(Proof {
        quantities: a.len(),
        identity: identity(&names, &a, &b)?,
        field: agree(&a, &b, 4, 1),
        states,
        largest,
    })
}

/// Compare canonical forms in the basis that is short for most chains; another one decides no differently.
pub fn identity(names: &[String], a: &[Ex], b: &[Ex]) -> Result<Identity> {
    let polynomial = Ring::is_polynomial(a) && Ring::is_polynomial(b);
    let basis = Basis::Fourier;
    // Outside the ring a form can only prove, not disprove: worth little work.
    let mut ring = if polynomial {
        Ring::new(basis)
    } else {
        Ring::with_limit(basis, 500)
    };
    let mut terms = 0;
    for ((x, y), name) in a.iter().zip(b).zip(names) {
        let forms = ring.form(*x).and_then(|p| Ok((p, ring.form(*y)?)));
        match forms {
            Ok((p, q)) if p == q => terms += p.0.len(),
            Ok(_) if polynomial => {
                return Ok(Identity::Different {
                    quantity: name.clone(),
                });
            }
            Ok(_) => {
                return Ok(Identity::Undecided {
                    why: "reciprocals or roots".into(),
                });
            }
            Err(e @ Error::TooLarge { .. }) => {
                return Ok(Identity::Undecided { why: e.to_string() });
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Identity::Identical { basis, terms })
}

/// Deterministic value of a symbol in 0.2 … 2.2 (angles and rates ± that): the peer scripts compute the same.
pub fn sample(e: Ex, k: u64) -> f64 {
    let s = e.symbol().expect("only symbols have values");
    let h = s.name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, c| {
        (h ^ u64::from(c)).wrapping_mul(0x100_0000_01b3)
    });
    let z = mix(h.wrapping_add(0x9E37_79B9_7F4A_7C15u64.wrapping_mul(k)));
    let x = 0.2 + 2.0 * (z >> 11) as f64 / (1u64 << 53) as f64;
    // A wheel that leans beyond 90° has no lowest point: keep coordinates near upright.
    match s.kind {
        Kind::Coordinate => 0.25 * x,
        _ => x,
    }
}

fn largest_difference(a: &[Ex], b: &[Ex], states: u64) -> f64 {
    let mut worst: f64 = 0.0;
    for k in 0..states {
        let mut values = Values::new(|e| sample(e, k));
        for (x, y) in a.iter().zip(b) {
            let (u, v) = (values.of(*x), values.of(*y));
            let difference = (u - v).abs() / (1.0 + u.abs());
            worst = if difference.is_nan() {
                f64::INFINITY
            } else {
                worst.max(difference)
            };
        }
    }
    worst
}
