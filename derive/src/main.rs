//! Writes the generated plants: `cargo run -p stribeck-derive -- bless`. A test compares them byte for byte.
//!
//! A program and not an example, so that it builds without the core crate that its files are part of.

use std::path::Path;

use stribeck_derive::catalogue::{PLANTS, find};
use stribeck_derive::code::{plant, rustfmt};
use stribeck_derive::mechanism::Mechanism;
use stribeck_derive::{kane, lagrange};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() != Some("bless") {
        return Err(
            "usage: cargo run -p stribeck-derive -- bless (writes the generated plants)".into(),
        );
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, path) in PLANTS {
        let entry = find(name).ok_or("a plant has a description")?;
        let m = Mechanism::read(entry.toml)?;
        let source = plant(&m, &lagrange::derive(&m)?, &kane::derive(&m)?)?;
        let file = root.join(path);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&file, rustfmt(&source.text)?)?;
        let c = source.count;
        println!(
            "{path}: {} operations ({} additions, {} products), {} constants",
            c.total, c.add, c.mul, source.constants
        );
    }
    Ok(())
}
