//! Text tables: separators and header lines found by themselves.

use std::path::Path;

use crate::error::{Error, Result};

use super::Table;

/// Split at commas, semicolons, tabs, or blanks.
fn cells(line: &str) -> Vec<&str> {
    let separator = [',', ';', '\t'].into_iter().find(|c| line.contains(*c));
    match separator {
        Some(c) => line.trim_end_matches(c).split(c).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

fn number(cell: &str) -> Option<f64> {
    cell.trim_matches('"').parse().ok()
}

pub fn read(path: &Path, header: Option<usize>) -> Result<Table> {
    let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(i, l)| (i + 1, l.trim().trim_start_matches('\u{feff}')))
        .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
        .collect();
    // The table's width is that of the line in the middle of the file.
    let width = lines
        .get(lines.len() / 2)
        .map_or(0, |(_, l)| cells(l).len());
    let numeric = |l: &str| {
        let c = cells(l);
        c.len() == width && c.iter().all(|c| number(c).is_some())
    };
    let first = match header {
        Some(n) => lines
            .iter()
            .position(|(i, _)| *i > n)
            .unwrap_or(lines.len()),
        None => lines
            .iter()
            .position(|(_, l)| numeric(l))
            .unwrap_or(lines.len()),
    };
    if width == 0 || first >= lines.len() {
        return Err(Error::invalid(
            format!("{}: no line of numbers", path.display()),
            "the file must be a table of numbers, one sample per line",
        ));
    }
    let names = lines[..first]
        .iter()
        .rev()
        .map(|(_, l)| cells(l))
        .find(|c| c.len() == width && c.iter().any(|c| number(c).is_none()))
        .map(|c| c.iter().map(|c| c.trim_matches('"').to_string()).collect())
        .unwrap_or_default();
    let mut table = Table {
        names,
        columns: vec![Vec::new(); width],
        line: Vec::new(),
    };
    for (line, content) in &lines[first..] {
        let c = cells(content);
        if c.len() != width {
            return Err(Error::invalid(
                format!(
                    "{}:{line}: {} columns, expected {width}",
                    path.display(),
                    c.len()
                ),
                "repair the line or cut the file there",
            ));
        }
        for (column, cell) in table.columns.iter_mut().zip(&c) {
            let value = number(cell).ok_or_else(|| {
                Error::invalid(
                    format!("{}:{line}: {cell:?} is not a number", path.display()),
                    "repair the line, or give --header N if it belongs to the header",
                )
            })?;
            column.push(value);
        }
        table.line.push(*line);
    }
    Ok(table)
}
