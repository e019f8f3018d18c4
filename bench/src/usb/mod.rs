//! The virtual USB host: notices the device, enumerates it as Linux does, and moves bulk data of its CDC-ACM function.

pub mod control;
pub mod host;

pub use host::{Reading, UsbHost, UsbStats};
