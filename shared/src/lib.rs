//! Everything that firmware and host must agree on, bit for bit.
//!
//! ```text
//! firmware/encoder → tick → observers (uas, ekf) → wire → firmware/stream → usb
//!                                                          ‖
//!            host/link → log → replay (bits equal?) / identify → report
//! ```
//!
//! `no_std`, no unsafe code, no clock, no globals: everything that affects a result is an argument
//! and is in the log. The model is written once, generic over its [`scalar::Scalar`].
#![no_std]
#![forbid(unsafe_code)]
// [s], [kg] and [Hz] in the documentation are units; rustdoc takes them for links.
#![allow(rustdoc::broken_intra_doc_links)]

#[cfg(test)]
extern crate std;

pub mod config;
pub mod device;
pub mod digest;
pub mod dual;
pub mod ekf;
pub mod encoder;
pub mod friction;
pub mod math;
pub mod nussbaum;
pub mod plant;
pub mod range;
pub mod rk4;
pub mod run;
pub mod scalar;
pub mod sim;
pub mod state;
pub mod stiffness;
pub mod tracker;
pub mod uas;
pub mod wire;
pub mod wiring;
