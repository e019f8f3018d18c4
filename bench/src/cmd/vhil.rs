//! `stribeck-bench vhil` (`cargo vhil`): builds the firmware's on-target tests and runs all of them here.
//!
//! The same ELF files run on a board with `cargo hil`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use super::test::{Options, run_files};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    options: Options,
}

const BUILD: [&str; 8] = [
    "test",
    "--no-run",
    "--profile=firmware",
    "--package=stribeck-firmware",
    "--target=thumbv7em-none-eabihf",
    "--test=*",
    "--message-format=json-render-diagnostics",
    "--quiet",
];

pub fn run(args: &Args) -> anyhow::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(BUILD)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be started; build the tests yourself and give the files to `stribeck-bench test`")?;
    if !output.status.success() {
        bail!(
            "the on-target tests do not build: cargo {}",
            BUILD.join(" ")
        );
    }
    let elfs: Vec<PathBuf> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(executable)
        .collect();
    run_files(&elfs, &args.options)
}

/// The path of a test program that a line of cargo's messages announces.
fn executable(line: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let is_test = message["profile"]["test"].as_bool() == Some(true)
        || message["target"]["kind"][0] == "test";
    Some(PathBuf::from(
        message["executable"].as_str().filter(|_| is_test)?,
    ))
}
