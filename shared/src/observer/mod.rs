//! From counts to states and friction: encoders, the velocity tracker, the wiring check and the two observers.

pub mod ekf;
pub mod encoder;
pub mod tracker;
pub mod uas;
pub mod wiring;
