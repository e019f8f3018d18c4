//! Symbolic mechanics: a description of a mechanism in, equations of motion by two methods, proved equal, and code out.
//!
//! ```text
//! description ─► mechanism ─┬─► lagrange (positions, energies)          ─┐
//! (TOML or     (units and   └─► kane (two-point theorems, F + F* = 0)   ─┴─► proof: canonical forms, finite field, states
//!  builder)     names checked)        │ constraint (rolling, generalized speeds)      │
//!                                     └► reaction (joint forces), linear (A, B)        └─► print (text, LaTeX, MathML)
//! ```
//!
//! Exact throughout: rationals of 128 bits, overflow is an error. Nothing of this runs on the chip.
//!
//! Words: *coordinate* q of a joint; *rate* q̇; *speed* u of Kane, linear in the rates; *effort* force or torque of an actuator; *form* an
//! expanded expression in a basis where equal means identical; *basis* Fourier, sines or cosines.

pub mod canonical;
pub mod catalogue;
pub mod code;
pub mod constraint;
mod error;
pub mod expr;
pub mod field;
mod formula;
mod hash;
pub mod kane;
pub mod lagrange;
pub mod linear;
pub mod mechanism;
pub mod motion;
pub mod page;
pub mod print;
pub mod printed;
pub mod proof;
pub mod reaction;

pub use error::{Error, Result};
