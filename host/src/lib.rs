//! The host side of stribeck, as a library: commands print, everything else returns data.
//!
//! ```text
//! source (usb, pty, sim, file) → frames → log (MCAP) → replay (bits equal?) / identify → report
//! ```
//!
//! The `stribeck` program is a thin shell around [`command`]; tests and other tools use the modules
//! below it directly.
#![forbid(unsafe_code)]
// [s], [rad] and [Hz] in the documentation are units; rustdoc takes them for links.
#![allow(rustdoc::broken_intra_doc_links)]

pub mod accounts;
pub mod angles;
pub mod ask;
pub mod capture;
pub mod chart;
pub mod check;
pub mod command;
pub mod config;
pub mod describe;
pub mod error;
pub mod exit;
pub mod export;
pub mod frames;
pub mod identify;
pub mod ledger;
pub mod live;
pub mod log;
pub mod paper;
pub mod recorder;
pub mod report;
pub mod rerun;
pub mod session;
pub mod simulation;
pub mod source;
pub mod survey;

pub use error::Error;
