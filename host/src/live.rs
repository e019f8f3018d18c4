//! The live view: what arrives from a device, kept bounded ([`feed`]) and drawn on a terminal ([`screen`]).
//!
//! The command (`stribeck live`) moves bytes and keys; nothing here does I/O, so a test can draw any moment.

pub mod feed;
pub mod screen;
