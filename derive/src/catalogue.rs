//! The descriptions of the repository, and chains of any length.

use crate::error::Result;
use crate::mechanism::{BodyText, Description};

/// A description of the repository.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub name: &'static str,
    pub title: &'static str,
    pub toml: &'static str,
}

macro_rules! catalogue {
    ($($name:literal: $title:literal,)+) => {
        /// All of them, the plants first.
        pub const ALL: &[Entry] = &[$(Entry {
            name: $name,
            title: $title,
            toml: include_str!(concat!("../mechanisms/", $name, ".toml")),
        }),+];
    };
}

catalogue! {
    "pendulum": "simple pendulum in a tilted plane",
    "furuta": "tilted Furuta pendulum (paper 000)",
    "cartpole": "cart-pole (paper 002)",
    "acrobot": "acrobot (paper 002)",
    "reactionwheel": "reaction wheel pendulum (paper 002)",
    "twomass": "two masses with springs and dampers",
    "doublependulum": "double pendulum, absolute angles",
    "chaospendulum": "chaos pendulum",
    "rollingdisc": "rolling disc",
    "car": "car on two rolling wheels",
    "bicycle": "benchmark bicycle (2007)",
}

pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|e| e.name == name)
}

/// SymPy's n-link pendulum on a cart: point masses, angles from the vertical, a force on the cart.
pub fn n_link_on_cart(n: usize) -> Result<Description> {
    chain(n, true)
}

/// The same with the angle of each link measured from the link before it.
pub fn n_link_on_cart_relative(n: usize) -> Result<Description> {
    chain(n, false)
}

fn chain(n: usize, absolute: bool) -> Result<Description> {
    let mut d = Description::new(&format!("{n}-link pendulum on a cart"))
        .gravity(["0", "-g", "0"])
        .parameter("g", "m/s^2", 9.81)
        .parameter("m0", "kg", 1.0)
        .body(BodyText::prismatic("P0", "q0", "x").mass("m0", ["0", "0", "0"]));
    for i in 1..=n {
        let (l, m) = (format!("l{}", i - 1), format!("m{i}"));
        let before = if i == 1 {
            "0".to_string()
        } else {
            format!("l{}", i - 2)
        };
        d = d.parameter(&l, "m", 0.5).parameter(&m, "kg", 0.2);
        let body = BodyText::revolute(&format!("P{i}"), &format!("q{i}"), "z")
            .on(&format!("P{}", i - 1), ["0", &before, "0"])
            .mass(&m, ["0", &l, "0"]);
        d = d.body(if absolute { body.turns_in("N") } else { body });
    }
    Ok(d.actuator("P0", "F"))
}

/// Generated plants: description and file, from this crate's folder. The last two are hand-written in the core; theirs are
/// generated for comparison.
pub const PLANTS: &[(&str, &str)] = &[
    ("cartpole", "../shared/src/model/plant/cartpole.rs"),
    ("acrobot", "../shared/src/model/plant/acrobot.rs"),
    (
        "reactionwheel",
        "../shared/src/model/plant/reactionwheel.rs",
    ),
    ("furuta", "tests/generated/furuta.rs"),
    ("pendulum", "tests/generated/pendulum.rs"),
];
