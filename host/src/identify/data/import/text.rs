//! Text tables: separators, decimal commas and header lines found by themselves, and what was found said.

use std::path::Path;

use crate::error::{Error, Result};

use super::Table;

/// Lines looked at to find the form of a table.
const LOOK: usize = 60;

/// How cells are separated and numbers written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Form {
    /// None: blanks.
    separator: Option<u8>,
    decimal_comma: bool,
}

/// Forms in the order they are tried.
const FORMS: [Form; 7] = [
    form(Some(b'\t'), false),
    form(Some(b'\t'), true),
    form(Some(b';'), false),
    form(Some(b';'), true),
    form(Some(b','), false),
    form(None, false),
    form(None, true),
];

const fn form(separator: Option<u8>, decimal_comma: bool) -> Form {
    Form {
        separator,
        decimal_comma,
    }
}

impl Form {
    /// Cells of one line.
    fn cells(self, line: &str) -> Vec<String> {
        let Some(separator) = self.separator else {
            return line.split_whitespace().map(String::from).collect();
        };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(line.as_bytes());
        let mut record = csv::StringRecord::new();
        let mut cells: Vec<String> = match reader.read_record(&mut record) {
            Ok(true) => record.iter().map(String::from).collect(),
            _ => Vec::new(),
        };
        // A separator at the end of the line separates nothing.
        if cells.len() > 1 && cells.last().is_some_and(String::is_empty) {
            cells.pop();
        }
        cells
    }

    fn number(self, cell: &str) -> Option<f64> {
        let cell = cell.trim_matches(['"', '\'']);
        if self.decimal_comma && cell.contains(',') && !cell.contains('.') {
            return cell.replacen(',', ".", 1).parse().ok();
        }
        cell.parse().ok()
    }

    /// Lines of this many cells and numbers in them, over a sample of the table.
    fn score(self, lines: &[&str]) -> (usize, usize) {
        let width = lines
            .get(lines.len() / 2)
            .map_or(0, |l| self.cells(l).len());
        let mut numbers = 0;
        for l in lines {
            let cells = self.cells(l);
            if cells.len() != width {
                return (0, 0);
            }
            numbers += cells.iter().filter(|c| self.number(c).is_some()).count();
        }
        (width, numbers)
    }
}

/// A comma-separated cell such as `0523` is the second half of 0,0523.
fn halved(cell: &str) -> bool {
    let digits = cell.len() > 1 && cell.bytes().all(|b| b.is_ascii_digit());
    digits && cell.starts_with('0')
}

/// The form in which most of the sampled lines are numbers.
fn find_form(path: &Path, lines: &[(usize, &str)]) -> Result<Form> {
    let from = lines.len() / 2;
    let sample: Vec<&str> = lines[from..].iter().take(LOOK).map(|(_, l)| *l).collect();
    // Nothing but numbers first, then more of them; the earlier form among equals.
    let rank = |(width, numbers): (usize, usize)| (numbers == width * sample.len(), numbers);
    let mut best: Option<(Form, (usize, usize))> = None;
    for f in FORMS {
        let score = f.score(&sample);
        if score.1 > 0 && best.is_none_or(|b| rank(score) > rank(b.1)) {
            best = Some((f, score));
        }
    }
    let form = best.map_or(FORMS[5], |b| b.0);
    let split = |l: &&str| form.cells(l).iter().any(|c| halved(c));
    if form.separator == Some(b',') && sample.iter().filter(|l| split(l)).count() * 4 > sample.len()
    {
        return Err(Error::invalid(
            format!(
                "{}: a comma is both the decimal mark and the separator",
                path.display()
            ),
            "write the table with semicolons or tabs between the columns, or with decimal points",
        ));
    }
    Ok(form)
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
    let form = find_form(path, &lines)?;
    // The table's width is that of the line in the middle of the file.
    let width = lines
        .get(lines.len() / 2)
        .map_or(0, |(_, l)| form.cells(l).len());
    let numeric = |l: &str| {
        let c = form.cells(l);
        c.len() == width && c.iter().any(|c| form.number(c).is_some())
    };
    let first = match header {
        Some(n) => lines.iter().position(|(i, _)| *i > n),
        None => lines.iter().position(|(_, l)| numeric(l)),
    };
    let nothing = || {
        Error::invalid(
            format!("{}: no line of numbers", path.display()),
            "the file must be a table of numbers, one sample per line",
        )
    };
    let first = first.filter(|_| width > 0).ok_or_else(nothing)?;
    let names = lines[..first]
        .iter()
        .rev()
        .map(|(_, l)| form.cells(l))
        .find(|c| c.len() == width && c.iter().any(|c| form.number(c).is_none()))
        .unwrap_or_default();
    let mut table = Table {
        names,
        columns: vec![Vec::new(); width],
        ..Table::default()
    };
    if form.decimal_comma {
        table
            .notes
            .push("commas are taken for decimal marks".into());
    }
    for (line, content) in &lines[first..] {
        let cells = form.cells(content);
        if cells.len() != width {
            return Err(Error::invalid(
                format!(
                    "{}:{line}: {} columns, expected {width}",
                    path.display(),
                    cells.len()
                ),
                "repair the line or cut the file there",
            ));
        }
        for (i, cell) in cells.iter().enumerate() {
            let value = form.number(cell);
            if value.is_none() && !table.bad.iter().any(|b| b.0 == i) {
                table.bad.push((i, *line, cell.clone()));
            }
            table.columns[i].push(value.unwrap_or(f64::NAN));
        }
        table.line.push(*line);
    }
    // A column without any number is text; the others must be numbers where they are used.
    if table.columns.iter().all(|c| c.iter().all(|x| x.is_nan())) {
        return Err(nothing());
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Table> {
        let f = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(f.path(), text).unwrap();
        read(f.path(), None)
    }

    #[test]
    fn decimal_commas_are_read_or_refused_never_split() {
        let semicolons = of("t;x\n0,01;1,5\n0,02;1,25\n0,03;-1,125\n").unwrap();
        assert_eq!(
            semicolons.columns,
            [[0.01, 0.02, 0.03], [1.5, 1.25, -1.125]]
        );
        assert!(semicolons.notes[0].contains("decimal"));
        let blanks = of("0,01 1,5\n0,02 1,25\n0,03 -1,125\n").unwrap();
        assert_eq!(blanks.columns[1], [1.5, 1.25, -1.125]);
        let both = of("0,01,1,05\n0,02,1,025\n0,03,-1,125\n").unwrap_err();
        assert!(both.to_string().contains("decimal mark"), "{both}");
        let plain = of("t,x\n0.01,1.5\n0.02,1\n0.03,2\n").unwrap();
        assert_eq!(plain.columns[1], [1.5, 1.0, 2.0]);
    }

    #[test]
    fn quotes_and_empty_cells_of_other_columns_do_no_harm() {
        let t = of("t,\"note, or not\",x\n1,\"a, b\",0.5\n2,,0.6\n3,c,0.7\n").unwrap();
        assert_eq!(t.names, ["t", "note, or not", "x"]);
        assert_eq!(t.column(Path::new("f"), "x").unwrap(), [0.5, 0.6, 0.7]);
        let e = t.column(Path::new("f"), "2").unwrap_err().to_string();
        assert!(e.contains("f:2: \"a, b\" is not a number"), "{e}");
    }
}
