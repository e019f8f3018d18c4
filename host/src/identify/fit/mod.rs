//! Nonlinear and linear least squares, with uncertainty.

pub(crate) mod balance;
pub(crate) mod condense;
pub(crate) mod damping;
pub mod fitted;
pub(crate) mod profile;
pub(crate) mod search;
pub(crate) mod shooting;
pub(crate) mod triangle;
pub(crate) mod uncertainty;
