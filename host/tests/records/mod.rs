//! Real records, where they are at hand: the folder named by STRIBECK_DATA, else ../shared/data beside the repository.
//!
//! A test that has none of its records says `skipped:` once on standard error, past the test runner's capture; `./test` counts it so.
#![allow(dead_code)] // Each test program uses its own part.

use std::io::Write;
use std::path::PathBuf;

fn path(file: &str) -> PathBuf {
    let root = std::env::var_os("STRIBECK_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    root.join(file)
}

/// Written past the runner's capture, on a line of its own.
fn say(word: &str, why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").to_string();
    let _ = writeln!(std::io::stderr(), "\n{word}: {test}: {why}");
}

/// The record, or none: the test is skipped.
pub fn find(file: &str) -> Option<PathBuf> {
    let found = find_all([(file, ())]);
    found.into_iter().next().map(|(path, ())| path)
}

/// Those of the records that are there, each with what belongs to it. None: the test is skipped.
pub fn find_all<T, const N: usize>(files: [(&str, T); N]) -> Vec<(PathBuf, T)> {
    let mut found = Vec::new();
    let mut absent = Vec::new();
    for (file, with) in files {
        match path(file) {
            path if path.exists() => found.push((path, with)),
            path => absent.push(path.display().to_string()),
        }
    }
    if found.is_empty() {
        say("skipped", &format!("{} not there", absent.join(", ")));
    } else if !absent.is_empty() {
        say("without", &absent.join(", "));
    }
    found
}
