//! What the two runners of the on-target tests print, read back as verdicts.

use std::collections::BTreeMap;

/// Verdicts by "file test".
pub type Verdicts = BTreeMap<String, String>;

/// Of `cargo hil`, which prints a test's log between its name and its verdict.
pub fn hil_verdicts(text: &str) -> Verdicts {
    let (mut file, mut open) = (String::new(), None::<String>);
    let mut verdicts = Verdicts::new();
    for line in text.lines() {
        if let Some(path) = line.trim().strip_prefix("Running tests/") {
            file = path.split(".rs").next().unwrap_or_default().to_string();
        }
        if let Some((name, rest)) = line
            .strip_prefix("test ")
            .and_then(|l| l.split_once(" ..."))
        {
            let name = name.trim().trim_start_matches("tests::");
            open = Some(format!("{file} {name}"));
            if verdict(rest).is_none() {
                continue;
            }
        }
        if let (Some(v), Some(name)) = (verdict(line), &open) {
            verdicts.insert(name.clone(), v.to_string());
            open = None;
        }
    }
    verdicts
}

/// Of `cargo vhil`.
pub fn vhil_verdicts(text: &str) -> Verdicts {
    let mut file = String::new();
    let mut verdicts = Verdicts::new();
    for line in text.lines() {
        if let Some((_, name)) = line.split_once(" tests of ") {
            file = name.split('-').next().unwrap_or_default().to_string();
        }
        if let Some((name, rest)) = line
            .strip_prefix("test ")
            .and_then(|l| l.split_once(" ... "))
        {
            let word = rest.split(&[' ', ':'][..]).next().unwrap_or_default();
            verdicts.insert(format!("{file} {name}"), word.to_string());
        }
    }
    verdicts
}

fn verdict(line: &str) -> Option<&str> {
    let word = line.split_whitespace().last()?;
    ["ok", "FAILED", "ignored"].into_iter().find(|&v| v == word)
}
