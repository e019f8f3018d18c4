//! Real records, where they are at hand: the folder named by STRIBECK_DATA, else ../shared/data beside the repository.
//!
//! A test whose record is absent says `skipped:` on standard error, past the test runner's capture; `./test` counts it so.

use std::io::Write;
use std::path::PathBuf;

/// The record, or none, said.
pub fn find(file: &str) -> Option<PathBuf> {
    let root = std::env::var_os("STRIBECK_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    let path = root.join(file);
    if path.exists() {
        return Some(path);
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").to_string();
    // Written past the runner's capture, on a line of its own.
    let _ = writeln!(
        std::io::stderr(),
        "\nskipped: {test}: {} is not there",
        path.display()
    );
    None
}
