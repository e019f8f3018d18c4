//! The wire format: exact bytes of every frame, growth rule, schema, damage.
//!
//! `STRIBECK_BLESS=1 cargo test -p stribeck-core --test wire` rewrites the golden files and the schema. Do that only for
//! a new frame or an appended field (with its `rev` raised): a changed byte of an old one makes old logs unreadable.

mod damage;
mod evolution;
mod golden;
mod samples;
mod schema;

use std::path::{Path, PathBuf};

fn shared(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compare `text` with the file, or write it when blessing.
fn same_as_file(path: &str, text: &str) {
    let file = shared(path);
    if std::env::var_os("STRIBECK_BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    if let Some((n, (a, b))) = (1..)
        .zip(expected.lines().zip(text.lines()))
        .find(|(_, (a, b))| a != b)
    {
        panic!("{path}:{n}: expected\n  {a}\nfound\n  {b}\n(STRIBECK_BLESS=1 rewrites the file)");
    }
    assert!(
        expected == text,
        "{path}: {} lines expected, {} found (STRIBECK_BLESS=1 rewrites the file)",
        expected.lines().count(),
        text.lines().count()
    );
}
