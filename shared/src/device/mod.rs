//! The whole device as a sans-IO state machine, in two halves that share only bounded queues.
//!
//! ```text
//!            tick side (10 kHz interrupt)                thread side (USB task)
//! counts ─►  Engine::tick ──────────── Block ─────────►  Link::block ──────► bytes out
//! button     │  └ Observers: encoders, run, tracker, UAS, EKF  Link::next_frame ─► bytes out
//!            └──────────────────────── Note ──────────►  Link::note
//!            Engine::apply  ◄────────── Request ───────  Link::receive ◄──── bytes in
//! ```
//!
//! - [`Engine`] (tick side): no panic path, no f64, no serde, no formatting, no allocation, bounded work. It fills
//!   the block its [`Outbox`] offers, in place; nothing large is ever copied.
//! - [`Link`] (thread side): framing, validation and building of configurations ([`Setup`]), Hello, Status, replies.
//! - [`Device`]: both halves and their queues in one value: the native twin, for tests, simulation and host.
//! - [`Replay`]: the same [`Observers`] fed from logged blocks, comparing every bit the device sent about itself.
//!
//! Firmware implements [`Outbox`] over its queues, calls [`Engine::apply`] at most once per tick, then
//! [`Engine::tick`]; and in its USB task: `receive` every byte, `note` every note, send `next_frame` until it returns
//! 0, then `block`. [`Action`]s are the few things only firmware can do (flash, reset).
//!
//! The twin, complete:
//!
//! ```
//! use stribeck_core::device::config::Config;
//! use stribeck_core::device::{Device, Identity};
//! use stribeck_core::model::sim::Simulation;
//! use stribeck_core::wire::{ConfigOrigin, MAX_FRAME};
//!
//! let mut device = Device::new(Identity::new("twin"), &Config::default(), ConfigOrigin::Default);
//! let mut bytes = Vec::new();
//! let mut frame = [0; MAX_FRAME];
//! for sample in Simulation::reference(0.0, 1).take(1000) {
//!     device.tick(sample.counts);
//!     while let n @ 1.. = device.next_frame(&mut frame) {
//!         bytes.extend_from_slice(&frame[..n]);
//!     }
//! }
//! assert!(bytes.len() > 2000); // a Hello and ten blocks
//! ```

mod backlog;
mod button;
pub mod config;
mod config_v1;
mod config_v2;
pub mod cost;
pub mod digest;
mod engine;
mod guard;
mod link;
mod observers;
mod outbox;
mod replay;
mod rig;
pub mod run;
mod twin;

pub use backlog::Backlog;
pub use engine::{Engine, Input};
pub use guard::Guard;
pub use link::{Action, Identity, Link};
pub use observers::{Observers, Setup, State};
pub use outbox::{Note, Outbox, Queues, Request, ThreadEnd, TickEnd, Vitals};
pub use replay::{Followed, Mismatch, Replay};
pub use twin::Device;
