//! The scoreboard: how many inputs, and how many of them ended badly in which way.

use std::time::Instant;

/// How much a row does.
pub struct Effort {
    pub full: bool,
    /// With `--seconds`: go on until then.
    pub until: Option<Instant>,
    pub seed: u64,
}

impl Effort {
    /// Whether input number `done` is still wanted, of `short` in the short form and `full` in the full one.
    pub fn wants(&self, done: u64, short: u64, full: u64) -> bool {
        match self.until {
            Some(until) => Instant::now() < until,
            None => done < if self.full { full } else { short },
        }
    }
}

/// How an input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Good,
    Panic,
    Hang,
    /// Something is wrong and nothing was said: exit code 0, or accepted.
    SilentlyWrong,
}

/// Findings that are printed; the rest is only counted.
const KEPT: usize = 30;

#[derive(Default)]
pub struct Row {
    pub inputs: u64,
    pub panics: u64,
    pub hangs: u64,
    pub wrong: u64,
    /// The first findings, each with what reproduces it.
    pub findings: Vec<String>,
    /// What the row did besides, in words.
    pub note: String,
}

impl Row {
    pub fn count(&mut self, ending: Ending, what: impl FnOnce() -> String) {
        self.inputs += 1;
        match ending {
            Ending::Good => return,
            Ending::Panic => self.panics += 1,
            Ending::Hang => self.hangs += 1,
            Ending::SilentlyWrong => self.wrong += 1,
        }
        if self.findings.len() < KEPT {
            self.findings.push(format!("{ending:?}: {}", what()));
        }
    }

    pub fn is_clean(&self) -> bool {
        self.panics == 0 && self.hangs == 0 && self.wrong == 0
    }
}

pub fn table(rows: &[(&str, Row)]) -> String {
    let mut text = format!(
        "{:<16}{:>13}{:>8}{:>7}{:>19}  {}\n",
        "row", "inputs", "panics", "hangs", "wrong with exit 0", "what"
    );
    for (name, row) in rows {
        text += &format!(
            "{name:<16}{:>13}{:>8}{:>7}{:>19}  {}\n",
            row.inputs, row.panics, row.hangs, row.wrong, row.note
        );
    }
    text
}

pub fn json(rows: &[(&str, Row)]) -> serde_json::Value {
    rows.iter()
        .map(|(name, row)| {
            serde_json::json!({
                "row": name, "inputs": row.inputs, "panics": row.panics, "hangs": row.hangs,
                "wrong_with_exit_0": row.wrong, "findings": row.findings, "what": row.note,
            })
        })
        .collect()
}
