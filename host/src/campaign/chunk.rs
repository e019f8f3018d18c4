//! The file of one chunk: a line per run, a checksum at its end; whole or absent.

use std::io::Write;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::file::Replacement;

use super::plan::Plan;
use super::result::RunResult;

impl Plan {
    /// Where a chunk's results lie; a thousand per folder, for the file system's sake.
    pub fn chunk_path(&self, index: u64) -> PathBuf {
        let folder = self.folder.join("chunks");
        folder
            .join(format!("{:03}", index / 1000))
            .join(format!("{index:06}.jsonl"))
    }

    pub fn is_done(&self, index: u64) -> bool {
        self.chunk_path(index).is_file()
    }
}

/// Write a chunk's results. Another process may do the same: the bytes are the same.
pub fn write(plan: &Plan, index: u64, results: &[RunResult]) -> Result<()> {
    let path = plan.chunk_path(index);
    let fail = |e| Error::write(&path, e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut text = String::new();
    for result in results {
        let line = serde_json::to_string(result).map_err(|e| fail(e.into()))?;
        text.push_str(&line);
        text.push('\n');
    }
    let check = format!("{:08x}\n", crc32fast::hash(text.as_bytes()));
    let mut file = Replacement::create(&path)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    file.write_all(check.as_bytes()).map_err(fail)?;
    file.commit_synced()
}

/// Read a chunk's results; damage is an error that says what to do.
pub fn read(plan: &Plan, index: u64) -> Result<Vec<RunResult>> {
    let path = plan.chunk_path(index);
    let damaged = |what: &str| {
        Error::invalid(
            format!("{}: {what}", path.display()),
            "delete this file and run the campaign again: it is computed anew",
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|e| Error::read(&path, e))?;
    let (body, check) = text
        .strip_suffix('\n')
        .and_then(|t| t.rsplit_once('\n'))
        .ok_or_else(|| damaged("the file is cut short"))?;
    let body = &text[..body.len() + 1];
    if u32::from_str_radix(check, 16) != Ok(crc32fast::hash(body.as_bytes())) {
        return Err(damaged("the checksum does not match"));
    }
    let mut out: Vec<RunResult> = Vec::new();
    for line in body.lines() {
        let result = serde_json::from_str(line);
        out.push(result.map_err(|e| damaged(&format!("a line is no result: {e}")))?);
    }
    if !out.iter().map(|r| r.run).eq(plan.chunk(index)) {
        return Err(damaged("it holds other runs than it should"));
    }
    Ok(out)
}
