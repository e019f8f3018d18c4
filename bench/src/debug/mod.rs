//! The chip's debug side, and a debug probe on it that `probe-rs` can use over TCP.
//!
//! ```text
//! probe-rs ── TCP ──> server ── packets ──> protocol ┬─ accelerated ──────────> port ──> access ──┬─> memory, registers
//!                                                   └─ single SWD bits ─> swd ─> port          └─> halt: stop, step, run
//! ```
//!
//! | file | job |
//! |---|---|
//! | [`server`] | the TCP port: one client, never waits for it |
//! | [`protocol`] | text packets of the Black Magic remote protocol, versions 0P–4 |
//! | [`swd`] | the two-wire line, bit by bit, as the probe drives it before acceleration begins |
//! | [`port`] | debug port and access ports (ADIv5.2): IDCODE, CTRL/STAT, SELECT, RDBUFF, sticky errors |
//! | [`access`] | what an access port reaches: memory and registers, while the processor runs or not |
//! | [`rom`] | ROM tables and component identification |
//! | [`core`] | DHCSR, DCRSR, DCRDR, DEMCR, DFSR (ARMv7-M C1.6) |
//! | [`fpb`] | eight hardware breakpoints |
//! | [`halt`] | how the machine halts, steps and goes on |
//!
//! Time goes on while the processor is halted, as on the bench: USB host, pendulum and timers run, CYCCNT and SysTick stand
//! still, and so do watchdog and timers whose freeze bit is set (DBGMCU).
//!
//! Glossary: *debug port* (DP) the chip's end of the two wires; *access port* (AP) a bus master behind it; *halted* in Debug
//! state; *vector catch* halting on an exception's first instruction; *nRST* the reset pin.

pub mod access;
pub mod core;
pub mod fpb;
pub mod halt;
pub mod port;
pub mod protocol;
pub mod rom;
pub mod server;
pub mod swd;
