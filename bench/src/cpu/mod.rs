//! The processor: Unicorn's Cortex-M7, with the parts Unicorn leaves out.
//!
//! | file | job |
//! |---|---|
//! | [`code`] | what flash and RAM hold, instructions per block |
//! | [`core`] | memory map, hooks, register access |
//! | [`exception`] | entry, return, tail-chaining, faults |
//! | [`thumb`] | instruction lengths and counts |
//! | [`watch`] | loads from flash where data is stored |
//! | [`unwind`] | backtraces from `.debug_frame` |

pub mod code;
pub mod core;
pub mod exception;
pub mod thumb;
pub mod unwind;
pub mod watch;

pub use core::Cpu;
