//! The papers' tables and figures, regenerated: printed value, printed formulas, corrected formulas.
//!
//! | module | paper |
//! |---|---|
//! | [`observer`], `printed`, `tables`, `figures` | 000: UAS observer on the tilted Furuta pendulum, Tables 3–5, figures 4–12 |
//! | [`predictive`] | 003: friction estimation, predictive pole placement, figures 5 and 7–10, and the swing-up |
//! | [`decrement`] | 004: extended logarithmic decrement, Table 1 |
//!
//! Only numbers of the papers are kept here. What is wrong in them, and how that was checked, is in docs/errata.md.

pub mod decrement;
pub(crate) mod figures;
pub mod observer;
pub mod predictive;
pub(crate) mod printed;
pub(crate) mod tables;
