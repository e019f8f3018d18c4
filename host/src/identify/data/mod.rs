//! What a method works on: datasets read from anywhere, checked, cut and smoothed.

pub mod dataset;
pub(crate) mod free_motion;
pub mod graphed;
pub mod import;
pub(crate) mod onset;
pub(crate) mod passive;
pub(crate) mod polynomial;
pub(crate) mod prepare;
pub mod reading;
pub mod record;
pub(crate) mod smooth;
