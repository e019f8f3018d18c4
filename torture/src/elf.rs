//! Configurations to the flashed program on the virtual bench: none of them hangs, resets or overruns the board.
//!
//! The bench is a program of its own (`stribeck-bench configurations`): it gets one sealed configuration per line and answers
//! with one verdict per line. Without it, or without the firmware, the row says so and counts nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use stribeck_core::device::config::Blob;
use stribeck_core::model::sim::Rng;

use crate::configs;
use crate::score::{Effort, Ending, Row};

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let mut row = Row::default();
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target");
    let elf = std::env::var_os("STRIBECK_FIRMWARE_ELF").map_or_else(
        || target.join("thumbv7em-none-eabihf/firmware/stribeck-firmware"),
        PathBuf::from,
    );
    let bench = std::env::current_exe()?.with_file_name("stribeck-bench");
    if !effort.full && effort.until.is_none() {
        row.note = "only with --full or --seconds: bench/tests/hold.rs is the short form".into();
        return Ok(row);
    }
    if !bench.is_file() || !elf.is_file() {
        row.note =
            "NOT RUN: build `cargo build --release -p stribeck-bench` and `cargo fw` first".into();
        anyhow::ensure!(!effort.full, "{}", row.note);
        return Ok(row);
    }
    let bases: Vec<Value> = configs::bases()?
        .iter()
        .map(serde_json::to_value)
        .collect::<serde_json::Result<_>>()?;
    let mut rng = Rng::new(effort.seed ^ 0xE1F);
    let mut child = Command::new(&bench)
        .arg("configurations")
        .arg(&elf)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        anyhow::bail!("no pipes to the bench");
    };
    let mut answers = BufReader::new(from).lines();
    let (mut accepted, mut refused) = (0u64, 0u64);
    while effort.wants(row.inputs, 0, 60) {
        let (value, config) = configs::changed(&mut rng, &bases);
        let Ok(config) = config else { continue };
        let hex: String = Blob::seal(&config)
            .as_bytes()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        let answer = match writeln!(to, "{hex}").and_then(|()| to.flush()) {
            Ok(()) => answers.next().and_then(Result::ok),
            Err(_) => None,
        };
        let ending = match answer.as_deref() {
            Some("accepted") => {
                accepted += 1;
                Ending::Good
            }
            Some("refused") => {
                refused += 1;
                Ending::Good
            }
            Some(text) if text.starts_with("hang") => Ending::Hang,
            Some(_) => Ending::SilentlyWrong,
            None => Ending::Panic,
        };
        let lost = answer.is_none();
        row.count(ending, || {
            format!(
                "{}: configuration {value}",
                answer.unwrap_or("the bench ended".into())
            )
        });
        if lost {
            break;
        }
    }
    drop(to);
    child.wait()?;
    row.note = format!(
        "configurations on the flashed ELF; {accepted} accepted, armed and run, {refused} refused"
    );
    Ok(row)
}
