//! The board side of the stribeck device: everything that needs pins, clocks, USB or flash.
//!
//! ```text
//! encoder ─► tick (10 kHz interrupt) ─► blocks, notes ─► stream ─► usb ─► host
//!              ▲ engine of stribeck-core                  │ link of stribeck-core
//!              └───────────── requests ◄──────────────────┘
//! ```
//!
//! No physics, no wire format, no run logic: those are `stribeck_core::device`, the same code that
//! the native twin runs. A library so that on-target tests (`tests/`) use the very parts that are flashed.
#![no_std]
#![deny(clippy::undocumented_unsafe_blocks)]

pub mod board;
mod critical;
pub mod device;
pub mod encoder;
pub mod fault;
pub mod flash;
pub mod memory;
pub mod motor;
pub mod reset;
pub mod service;
pub mod store;
pub mod stream;
pub mod tick;
pub mod timing;
pub mod ui;
pub mod usb;
pub mod watchdog;
