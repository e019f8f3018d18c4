//! The peripherals of the STM32H743, one file each, register-accurate as far as used.
//!
//! `read` and `write` take the register offset (or the address, for the processor's own) and return `None` for a
//! register that is not modelled, which the bus reports with address, PC and function.

pub mod crs;
pub mod dbgmcu;
pub mod dwt;
pub mod exti;
pub mod flash;
pub mod gpio;
pub mod inert;
pub mod iwdg;
pub mod mpu;
pub mod nvic;
pub mod otg;
pub mod pwr;
pub mod rcc;
pub mod scb;
pub mod systick;
pub mod tim;
