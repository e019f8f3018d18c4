//! The virtual bench: an STM32H743 that executes the flashed ELF unchanged, on a simulated pendulum, behind a virtual USB port.
//!
//! ```text
//!  scenario.toml ──> rig (pendulum, encoders, faults) ──> TIM2/TIM5 ┐
//!                      ▲ motor (bridge) <── outputs <── TIM1 PWM   ┤
//!  firmware.elf  ──> cpu (Unicorn, Cortex-M7) <── bus ── peripherals ┤ chip, in virtual time
//!  PTY / test    <─> usb (host, 19 packets per ms) <──> OTG_FS       ┘
//! ```
//!
//! [`Bench`] is the library interface: deterministic, no wall clock, bytes in and out at virtual times. The command
//! `stribeck-bench` adds the PTY, pacing and the test runner. Own process because Unicorn is GPL-2.0: nothing that is shipped
//! links this crate.

pub mod bench;
pub mod bus;
pub mod chip;
pub mod cost;
pub mod cpu;
pub mod crash;
pub mod debug;
pub mod diagnose;
pub mod elf;
pub mod events;
pub mod exact;
pub mod hil;
pub mod inline;
pub mod jumpers;
pub mod machine;
pub mod motor;
pub mod outputs;
pub mod periph;
pub mod profile;
pub mod pty;
pub mod report;
pub mod rig;
pub mod rng;
pub mod rtt;
pub mod scenario;
pub mod semihost;
pub mod spin;
pub mod stack;
pub mod time;
pub mod usb;

pub use bench::Bench;
pub use elf::Program;
pub use machine::{Machine, Outcome};
pub use report::Summary;
pub use scenario::{Action, Scenario};
