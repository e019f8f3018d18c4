//! Everything that firmware and host must agree on, bit for bit.
//!
//! ```text
//! firmware/encoder → tick → observers (uas, ekf) → control → firmware/pwm
//!                              └→ wire → firmware/stream → usb
//!                                                          ‖
//!            host/link → log → replay (bits equal?) / identify → report
//! ```
//!
//! `no_std`, no unsafe code, no clock, no globals: everything that affects a result is an argument
//! and is in the log. The model is written once, generic over its [`number::scalar::Scalar`].
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod control;
pub mod device;
pub mod model;
pub mod number;
pub mod observer;
pub mod wire;

/// Joints carried by observers, encoders and wire.
pub const JOINTS: usize = 2;
