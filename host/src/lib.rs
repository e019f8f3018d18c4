//! The host side of stribeck, as a library: commands print, everything else returns data.
//!
//! ```text
//! source (usb, pty, sim, file) → frames → log (MCAP) → replay (bits equal?) / identify → report
//! ```
//!
//! What is named here is the interface. It reads like the flow of the data:
//!
//! | to | use |
//! |---|---|
//! | speak with a device | [`Client`] over a [`Source`]: a board, a log, or the native [`Twin`] of a [`Scenario`] |
//! | make a log | [`capture`] into a [`Recorder`] as a [`Plan`] says, or [`simulate`] |
//! | read a log | [`Log::for_each`] gives every [`SessionEvent`]; [`contents`] gives its [`Summary`]; [`read_log`] its longest swing |
//! | run it again | [`replay`] gives [`Replayed`] with a [`Verdict`] that knows no tolerance |
//! | find friction | [`identify`] gives the [`Outcome`] of a [`Method`] on a [`Dataset`]; [`free_run`] moves a [`Model`] |
//! | file it | [`report`] gives a [`Report`], and [`Report::html`] its page |
//!
//! Everything fails with [`Error`], which names the cause and the way out. Types of the device (its [`Config`], frames,
//! friction law, plants) are those of [`stribeck_core`]; symbolic mechanics is in [`stribeck_derive`].
//!
//! ```
//! use stribeck::{Config, IdentifyOptions, ReplayOptions, Scenario};
//!
//! let folder = tempfile::tempdir()?;
//! let log = folder.path().join("run.mcap");
//! stribeck::simulate(&log, &Config::default(), &Scenario::default(), 6.0)?;
//!
//! let replayed = stribeck::replay(&log, &ReplayOptions::default(), |_| {})?;
//! assert_eq!(replayed.verdict.differing_bits, 0);
//!
//! let swing = stribeck::read_log(&log)?.dataset();
//! let found = stribeck::identify("energy", &swing, &IdentifyOptions::default())?;
//! assert!(found.estimate("μv1").is_some_and(|e| e.value > 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folders are the layers (`docs/architecture.md`). They are hidden here and may change: the program, our own tests and
//! tools reach into them, and what nobody outside needs is private to the crate.
#![forbid(unsafe_code)]
// Tests make their signals with the platform's mathematics.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

#[doc(hidden)]
pub mod bond;
#[cfg(feature = "campaign")]
#[doc(hidden)]
pub mod campaign;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod error;
pub(crate) mod file;
#[doc(hidden)]
pub mod identify;
#[doc(hidden)]
pub mod link;
#[doc(hidden)]
pub mod log;
pub(crate) mod number;
#[doc(hidden)]
pub mod paper;
#[doc(hidden)]
pub mod replay;
#[doc(hidden)]
pub mod report;

pub use stribeck_core;
pub use stribeck_core::device::config::Config;
pub use stribeck_derive;

// The types a user begins with, and the functions that go from one to the next.
pub use error::Error;
pub use identify::data::dataset::Dataset;
pub use identify::data::import::read_log;
pub use identify::identify;
pub use identify::method::{METHODS, Method};
pub use identify::model::motion::free_run;
pub use identify::model::parametric::Model;
pub use identify::outcome::Outcome;
pub use link::client::Client;
pub use link::scenario::Scenario;
pub use link::source::Source;
pub use link::twin::Twin;
pub use log::capture::run as capture;
pub use log::contents::read as contents;
pub use log::pass::Log;
pub use log::recorder::Recorder;
pub use log::simulate::simulate;
pub use log::summary::Summary;
pub use replay::{Replayed, replay};
pub use report::{Report, build as report};

// What these are made of and how they are asked.
pub use identify::data::dataset::{Channel, Quantity};
pub use identify::data::import::Logged;
pub use identify::method::Options as IdentifyOptions;
pub use identify::model::parametric::Rig;
pub use identify::outcome::Estimate;
pub use link::compare::Verdict;
pub use link::order::Losses;
pub use link::session::{Session, SessionEvent};
pub use link::source::Arrival;
pub use log::capture::Plan;
pub use log::contents::Contents;
pub use log::damage::Damage;
pub use log::metadata::Metadata;
pub use log::pass::Pass;
pub use log::recorder::Wall;
pub use log::runs::Run;
pub use replay::Options as ReplayOptions;
pub use report::Options as ReportOptions;
