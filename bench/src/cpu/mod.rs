//! The processor: Unicorn's Cortex-M7, with the parts Unicorn leaves out.
//!
//! | file | job |
//! |---|---|
//! | [`core`] | memory map, hooks, register access |
//! | [`exception`] | entry, return, tail-chaining, faults |
//! | [`thumb`] | instruction lengths and counts |
//! | [`unwind`] | backtraces from `.debug_frame` |

pub mod core;
pub mod exception;
pub mod thumb;
pub mod unwind;

pub use core::Cpu;
