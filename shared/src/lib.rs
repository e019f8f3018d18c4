//! Everything that firmware and host must agree on, bit for bit.
#![no_std]
#![forbid(unsafe_code)]
