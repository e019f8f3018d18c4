//! Who may use whom: every `crate::…` in the sources points to its own folder or to one further in.
//!
//! ```text
//! number ◄─ wire ◄─ control
//! number ◄─ model ◄─ observer ◄─ control ◄─ device ─► wire
//! ```

use std::fs;
use std::path::{Path, PathBuf};

/// A folder of `src/` and those it may use besides itself.
const LAYERS: [(&str, &[&str]); 6] = [
    ("number", &[]),
    ("wire", &["number"]),
    ("model", &["number"]),
    ("observer", &["number", "model"]),
    ("control", &["number", "model", "observer", "wire"]),
    (
        "device",
        &["number", "model", "observer", "control", "wire"],
    ),
];

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The folders of `src/` that a line of code names: `crate::x`, `$crate::x`, and each of `crate::{x, y}`.
fn named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or("");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            found.extend(list.split(',').map(first_word));
        } else {
            found.push(first_word(rest));
        }
    }
    found
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn arrows_point_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (layer, may_use) in LAYERS {
        let folder = src.join(layer);
        let mut files = Vec::new();
        sources(&folder, &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            // One statement per line, so that a list that was wrapped is seen whole.
            let text = unwrapped(&text);
            for line in text.lines() {
                for name in named(line) {
                    let is_layer = LAYERS.iter().any(|(l, _)| *l == name);
                    checked += is_layer as u32;
                    if is_layer && name != layer && !may_use.contains(&name) {
                        wrong.push(format!("{}: {}", file.display(), line.trim()));
                    }
                }
                assert!(
                    !line.contains("super::super"),
                    "{}: say crate::… instead of super::super",
                    file.display()
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        checked > 100,
        "only {checked} paths seen: the reader is broken"
    );
}

/// `use crate::{` with its list on the following lines, as one line.
fn unwrapped(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0i32;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or("");
        if depth > 0 || line.trim_start().starts_with("use ") {
            depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
        }
        out.push_str(line);
        out.push(if depth > 0 { ' ' } else { '\n' });
    }
    out
}

/// What is directly in `src/` is the list of folders and nothing that could hide a way around them.
#[test]
fn the_root_holds_only_the_folders() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(&src).unwrap() {
        let name = entry.unwrap().file_name();
        let name = name.to_str().unwrap();
        let known = name == "lib.rs" || LAYERS.iter().any(|(layer, _)| *layer == name);
        assert!(known, "src/{name}: which layer is this?");
    }
}
