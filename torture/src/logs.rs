//! Damaged logs × every command that reads one: the right result, or an exit code that says otherwise, and all commands agree.

use std::fs;
use std::path::Path;

use serde_json::Value;
use stribeck_core::model::sim::Rng;

use crate::child::{self, Output};
use crate::commands::READ_A_LOG;
use crate::frames::{below, damage};
use crate::score::{Effort, Ending, Row};

pub fn run(effort: &Effort) -> anyhow::Result<Row> {
    let folder = tempfile::tempdir()?;
    let sound = folder.path().join("sound.mcap");
    let made = child::run(
        &["simulate", "--seconds", "7", "-o", "sound.mcap"],
        folder.path(),
    )?;
    anyhow::ensure!(
        made.code == Some(0),
        "cannot make a log: {}",
        made.last_words()
    );
    let bytes = fs::read(&sound)?;
    let truth = truth(&bytes)?;
    let mut row = Row::default();
    let mut rng = Rng::new(effort.seed);
    let (mut said, mut logs) = (0u64, 0u64);
    while effort.wants(logs, 24, 1000) {
        logs += 1;
        let (damaged, how) = hurt(&mut rng, &bytes);
        let outputs = all(&damaged)?;
        let anyone_complains = outputs.iter().any(|(o, _)| o.code != Some(0));
        said += u64::from(anyone_complains);
        for (i, (output, result)) in outputs.iter().enumerate() {
            let command = &READ_A_LOG[i];
            let name = command.name;
            let ending = match output.disaster() {
                Some(ending) => ending,
                None if output.code == Some(0)
                    && (anyone_complains && command.whole || !agrees(&truth[i], result)) =>
                {
                    Ending::SilentlyWrong
                }
                None => Ending::Good,
            };
            row.count(ending, || {
                let codes: Vec<_> = outputs.iter().map(|(o, _)| o.code).collect();
                format!(
                    "{name}, log {logs} of seed {}: {how}; {}; all codes {codes:?}",
                    effort.seed,
                    output.last_words()
                )
            });
        }
    }
    row.note = format!(
        "damaged logs × {} commands; {logs} logs, {said} of them noticed by exit code (the rest give the sound log's results)",
        READ_A_LOG.len()
    );
    Ok(row)
}

/// What each command says about these bytes, and the part of it that does not change from run to run.
fn all(bytes: &[u8]) -> anyhow::Result<Vec<(Output, Value)>> {
    std::thread::scope(|scope| {
        let jobs: Vec<_> = READ_A_LOG
            .iter()
            .map(|command| {
                // Each in a folder of its own: one of them writes the log again.
                scope.spawn(|| {
                    let folder = tempfile::tempdir()?;
                    fs::write(folder.path().join("run.mcap"), bytes)?;
                    one(command.args, command.file, folder.path())
                })
            })
            .collect();
        jobs.into_iter()
            .map(|job| {
                job.join()
                    .unwrap_or_else(|_| anyhow::bail!("a thread of this program panicked"))
            })
            .collect()
    })
}

fn one(args: &[&str], file: Option<&str>, folder: &Path) -> anyhow::Result<(Output, Value)> {
    let output = child::run(args, folder)?;
    let mut result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&output.stdout).into_owned()));
    if let Some(file) = file {
        let text = fs::read(folder.join(file)).unwrap_or_default();
        result = serde_json::json!([result, text.len(), checksum(&text)]);
    }
    Ok((output, result))
}

/// Results of the sound log; what differs between two runs of it (times the program took) is left open.
fn truth(bytes: &[u8]) -> anyhow::Result<Vec<Value>> {
    let (once, twice) = (all(bytes)?, all(bytes)?);
    let mut truth = Vec::new();
    for ((command, (output, a)), (_, b)) in READ_A_LOG.iter().zip(once).zip(&twice) {
        let name = command.name;
        anyhow::ensure!(
            output.code == Some(0),
            "{name} on the sound log: {}",
            output.last_words()
        );
        let (mut fixed, mut open) = (0, 0);
        let common = common(&a, b, &mut fixed, &mut open);
        anyhow::ensure!(
            fixed > 5 * open && fixed >= 1,
            "{name}: two runs on the sound log have little in common ({fixed} values equal, {open} not)"
        );
        truth.push(common);
    }
    Ok(truth)
}

/// `a` with null where `b` differs.
pub fn common(a: &Value, b: &Value, fixed: &mut usize, open: &mut usize) -> Value {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .map(|(key, value)| {
                let other = b.get(key).unwrap_or(&Value::Null);
                (key.clone(), common(value, other, fixed, open))
            })
            .collect(),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .map(|(a, b)| common(a, b, fixed, open))
            .collect(),
        _ if a == b => {
            *fixed += 1;
            a.clone()
        }
        _ => {
            *open += 1;
            Value::Null
        }
    }
}

/// Whether a result is the sound log's, where that is not left open.
pub fn agrees(truth: &Value, found: &Value) -> bool {
    match (truth, found) {
        (Value::Null, _) => true,
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|found| agrees(value, found)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(a, b))
        }
        _ => truth == found,
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    stribeck_core::wire::crc32(bytes)
}

/// One flip, a cut, a hole, or anything else.
fn hurt(rng: &mut Rng, sound: &[u8]) -> (Vec<u8>, String) {
    let mut bytes = sound.to_vec();
    let at = below(rng, bytes.len());
    match below(rng, 6) {
        0 | 1 => {
            let bit = below(rng, 8);
            bytes[at] ^= 1 << bit;
            (bytes, format!("bit {bit} of byte {at} flipped"))
        }
        // The closing record and the index stand at the end: half of what is interesting.
        2 => {
            let at = bytes.len() - 1 - below(rng, bytes.len().min(4000));
            bytes[at] ^= 1 << below(rng, 8);
            (bytes, format!("a bit of byte {at} flipped, near the end"))
        }
        3 => {
            bytes.truncate(at);
            (bytes, format!("cut at {at}"))
        }
        4 => {
            let end = (at + 1 + below(rng, 2000)).min(bytes.len());
            bytes[at..end].fill(0);
            (bytes, format!("zeros from {at} to {end}"))
        }
        _ => {
            let mut part = bytes[at..(at + 600).min(bytes.len())].to_vec();
            let end = at + part.len();
            damage(rng, &mut part, sound);
            bytes.splice(at..end, part);
            (bytes, format!("damaged between {at} and {end}"))
        }
    }
}
