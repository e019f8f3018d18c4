//! Damaged Parquet tables to `identify`: an error, or the numbers of the sound file.

use std::fs;
use std::path::Path;

use serde_json::Value;
use stribeck_core::model::sim::Rng;

use crate::child::{self, Output};
use crate::frames::{below, damage};
use crate::logs::{agrees, common};
use crate::score::{Effort, Ending, Row};

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    fs::write(at.join("rig.toml"), "[plant.Furuta]\n")?;
    for args in [
        &["simulate", "--seconds", "6", "-o", "run.mcap"][..],
        &["export", "run.mcap", "-o", "sound.parquet"],
    ] {
        let made = child::run(args, at)?;
        anyhow::ensure!(
            made.code == Some(0),
            "cannot make a table: {}",
            made.last_words()
        );
    }
    let sound = fs::read(at.join("sound.parquet"))?;
    let (once, twice) = (identified(at, &sound)?, identified(at, &sound)?);
    anyhow::ensure!(
        once.0.code == Some(0),
        "the sound table is not identified: {}",
        once.0.last_words()
    );
    let (mut fixed, mut open) = (0, 0);
    let truth = common(&once.1, &twice.1, &mut fixed, &mut open);
    anyhow::ensure!(
        fixed > 5 * open,
        "two runs on the sound table have little in common"
    );
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let mut same = 0u64;
    while effort.wants(row.inputs, 40, 500) {
        let (bytes, how) = hurt(&mut rng, &sound);
        let (output, found) = identified(at, &bytes)?;
        let ending = match output.disaster() {
            Some(ending) => ending,
            None if output.code == Some(0) && !agrees(&truth, &found) => Ending::SilentlyWrong,
            None => Ending::Good,
        };
        same += u64::from(output.code == Some(0) && ending == Ending::Good);
        row.count(ending, || {
            format!("{how} of seed {}; {}", effort.seed, output.last_words())
        });
    }
    row.note =
        format!("damaged Parquet tables; {same} gave the sound table's numbers, the rest an error");
    Ok(row)
}

fn identified(folder: &Path, bytes: &[u8]) -> anyhow::Result<(Output, Value)> {
    fs::write(folder.join("table.parquet"), bytes)?;
    let args = [
        "identify",
        "table.parquet",
        "--rig",
        "rig.toml",
        "--method",
        "energy",
        "--json",
    ];
    let output = child::run(&args, folder)?;
    let found = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Ok((output, found))
}

/// Half of the damage goes to the footer: it says where everything is.
fn hurt(rng: &mut Rng, sound: &[u8]) -> (Vec<u8>, String) {
    let mut bytes = sound.to_vec();
    let n = bytes.len();
    let at = match below(rng, 2) {
        0 => below(rng, n),
        _ => n - 1 - below(rng, n.min(6000)),
    };
    match below(rng, 4) {
        0 | 1 => {
            let bit = below(rng, 8);
            bytes[at] ^= 1 << bit;
            (bytes, format!("bit {bit} of byte {at} of {n} flipped"))
        }
        2 => {
            bytes.truncate(at);
            (bytes, format!("cut at {at} of {n}"))
        }
        _ => {
            let end = (at + 300).min(n);
            let mut part = bytes[at..end].to_vec();
            damage(rng, &mut part, sound);
            bytes.splice(at..end, part);
            (bytes, format!("damaged between {at} and {end} of {n}"))
        }
    }
}
