//! The architecture as a test: who may use whom, read from the sources themselves.

use std::path::{Path, PathBuf};

/// A folder may use those before it (and itself). `error` and `file` stand below all.
const LAYERS: [&[&str]; 9] = [
    &["error", "number"],
    &["file"],
    &["config", "bond"],
    &["link"],
    &["log"],
    &["replay"],
    &["identify"],
    &["report", "paper"],
    &["campaign"],
];

/// Above all of them.
const TOP: &str = "cli";

/// Terminal libraries: only commands print.
const TERMINAL: [&str; 8] = [
    "println!",
    "print!(",
    "eprintln!",
    "eprint!(",
    "indicatif",
    "ratatui",
    "crossterm",
    "anyhow",
];

/// The same among the two on one level: the chapters of the paper use the report's charts.
const BESIDE: [(&str, &str); 1] = [("paper", "report")];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

fn level(module: &str) -> Option<usize> {
    if module == TOP {
        return Some(LAYERS.len());
    }
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// Modules named by `crate::…` in code (comments and documentation may point anywhere).
fn uses(text: &str) -> Vec<String> {
    let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
    code.flat_map(|line| {
        line.match_indices("crate::").map(|(at, found)| {
            let rest = &line[at + found.len()..];
            rest.chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect::<String>()
        })
    })
    .collect()
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 80, "{} sources found", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&src).unwrap();
        let folder = inside.iter().next().unwrap().to_str().unwrap();
        let own = folder.trim_end_matches(".rs");
        if matches!(own, "lib" | "main") {
            continue;
        }
        let Some(mine) = level(own) else {
            wrong.push(format!("{} belongs to no layer", inside.display()));
            continue;
        };
        let text = std::fs::read_to_string(&file).unwrap();
        for used in uses(&text) {
            let below = level(&used).is_some_and(|other| other < mine);
            // A name that is not a module of ours is a re-export of the root, which is for users of the library.
            if !(below || used == own || BESIDE.contains(&(own, used.as_str()))) {
                wrong.push(format!("{} uses crate::{used}", inside.display()));
            }
        }
        if own != TOP {
            for word in TERMINAL {
                let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
                if code.clone().any(|l| l.contains(word)) {
                    wrong.push(format!("{} knows the terminal: {word}", inside.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Which of our packages each may depend on; one that is not listed is a new end of the tree and may use all but the emulator.
const PACKAGES: [(&str, &[&str]); 7] = [
    ("stribeck-sqrt", &[]),
    ("stribeck-core", &["stribeck-sqrt"]),
    ("stribeck-derive", &[]),
    ("stribeck-firmware", &["stribeck-core"]),
    ("stribeck-elfcheck", &[]),
    ("stribeck", &["stribeck-core", "stribeck-derive"]),
    ("stribeck-bench", &["stribeck-core"]),
];

/// Links the GPL emulator.
const EMULATOR: &str = "stribeck-bench";

#[test]
fn packages_depend_one_way_and_none_on_the_emulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |folder: &Path| -> toml::Table {
        let path = folder.join("Cargo.toml");
        toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let members = read(&root)["workspace"]["members"]
        .as_array()
        .unwrap()
        .clone();
    let mut seen = 0;
    for member in &members {
        let manifest = read(&root.join(member.as_str().unwrap()));
        let name = manifest["package"]["name"].as_str().unwrap();
        let allowed = PACKAGES.iter().find(|(n, _)| *n == name).map(|(_, a)| *a);
        // What only tests use is not part of the program.
        let mut used: Vec<String> = Vec::new();
        let mut add = |table: Option<&toml::Value>| {
            let table = table.and_then(toml::Value::as_table);
            used.extend(table.into_iter().flat_map(toml::Table::keys).cloned());
        };
        add(manifest.get("dependencies"));
        add(manifest.get("build-dependencies"));
        for target in manifest
            .get("target")
            .and_then(toml::Value::as_table)
            .into_iter()
        {
            for special in target.values() {
                add(special.get("dependencies"));
            }
        }
        for package in used.into_iter().filter(|p| p.starts_with("stribeck")) {
            seen += 1;
            assert_ne!(package, EMULATOR, "{name} would be under the GPL");
            let fits = allowed.is_none_or(|a| a.contains(&package.as_str()));
            assert!(fits, "{name} depends on {package}");
        }
    }
    assert!(seen >= 7, "only {seen} arrows between packages seen");
}
