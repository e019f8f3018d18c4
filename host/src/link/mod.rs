//! The link to a device: ports and the twin, bytes to frames, blocks into their order, commands and replies.
//!
//! ```text
//! source (usb, pty, sim, file) → pump → frames → order → compare (bits equal?) → session → whoever listens
//! ```

pub mod client;
pub mod command;
pub(crate) mod compare;
pub mod driver;
pub mod frames;
pub(crate) mod operator;
pub mod order;
pub mod port;
pub mod pump;
pub(crate) mod readings;
pub mod scenario;
pub mod session;
pub mod source;
pub mod twin;
pub(crate) mod usb;
pub(crate) mod wording;
