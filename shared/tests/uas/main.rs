//! The UAS observer: paper mode is the paper, bench mode survives a bench.
//!
//! `cargo test -p stribeck-core --release --test uas`

// The standard library's functions are the independent reference here.
#![allow(clippy::disallowed_methods)]

mod bench;
mod guard;
mod nussbaum;
mod paper;

use stribeck_core::model::joint::Joint;
use stribeck_core::model::plant::PlantConfig;
use stribeck_core::number::scalar::Scalar;
use stribeck_core::observer::encoder;
use stribeck_core::observer::tracker;
use stribeck_core::observer::uas::{Config, Uas};

const DT: f64 = 1e-4;

fn observer<S: Scalar>(cfg: &Config) -> Uas<S> {
    Uas::new(
        &PlantConfig::Furuta(Default::default()),
        cfg,
        &tracker::Config::default(),
        S::lit(DT),
    )
}

/// Counters → angles, as the device does it.
fn angles<S: Scalar>(counts: [u32; 2]) -> [S; 2] {
    let cfg = encoder::Config::default();
    counts.map(|c| cfg.place(Joint::Revolute, c as i32))
}
