//! Numbers: what every other folder computes with. Knows no physics.

pub mod compensated;
pub mod dual;
pub mod math;
pub(crate) mod numbered;
pub mod range;
pub mod scalar;
pub mod verdict;
pub mod words;
