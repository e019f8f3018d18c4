//! The documents as a test: what they list is what the sources have.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file of ours that a program is made of or that runs one.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            // Built, fetched or none of ours.
            if name != "target" && !name.starts_with('.') {
                sources(&path, into);
            }
        } else if name.ends_with(".rs") || name.ends_with(".py") || !name.contains('.') {
            into.push(path);
        }
    }
}

/// `STRIBECK_…` names of a text.
fn variables(text: &str) -> BTreeSet<String> {
    let name = |at: usize| {
        let rest = text[at..].chars();
        rest.take_while(|c| c.is_ascii_uppercase() || *c == '_')
            .collect::<String>()
    };
    let found = text.match_indices(concat!("STRIBECK", "_"));
    let long = |v: &String| v.len() > concat!("STRIBECK", "_").len();
    found.map(|(at, _)| name(at)).filter(long).collect()
}

#[test]
fn the_table_of_variables_is_complete() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    assert!(files.len() > 300, "{} sources found", files.len());
    let read = |file: &PathBuf| std::fs::read_to_string(file).unwrap_or_default();
    let used: BTreeSet<String> = files.iter().flat_map(|f| variables(&read(f))).collect();
    let table = std::fs::read_to_string(root().join("docs/development.md")).unwrap();
    let rows = table.lines().filter(|l| l.starts_with("| `STRIBECK"));
    let listed: BTreeSet<String> = rows.flat_map(variables).collect();
    let missing: Vec<_> = used.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "not in docs/development.md: {missing:?}"
    );
    let stale: Vec<_> = listed.difference(&used).collect();
    assert!(stale.is_empty(), "nobody reads {stale:?}");
}

/// A message that is quoted must be one that a program prints.
#[test]
fn quoted_messages_exist() {
    let mut files = Vec::new();
    for folder in ["shared/src", "host/src", "firmware/src"] {
        sources(&root().join(folder), &mut files);
    }
    // As the compiler reads them: a text may go on in the next line.
    let read = |file: &PathBuf| std::fs::read_to_string(file).unwrap_or_default();
    let all: String = files.iter().map(read).collect();
    let page = std::fs::read_to_string(root().join("docs/troubleshooting.md")).unwrap();
    let mut quoted = 0;
    for row in page.lines().filter(|l| l.starts_with("| ")) {
        let seen = row.split(" | ").next().unwrap_or_default();
        for text in seen.split('`').skip(1).step_by(2) {
            // The script beside the sources.
            if text != "./test" {
                assert!(all.contains(text), "no program says `{text}`: {row}");
                quoted += 1;
            }
        }
    }
    assert!(quoted > 10, "only {quoted} quotations seen");
}
