//! Records from anywhere: CSV/TXT, Parquet, and the logs of this project.
//!
//! Text files: any of comma, semicolon, tab or blanks between columns; leading lines that do not fit the table (titles,
//! settings) are skipped or counted off with `header`; a line of names makes columns addressable by name. A file that
//! cannot be trusted is refused with the line and the reason.

mod log;
mod parquet;
mod text;

use std::path::Path;

use crate::error::{Error, Result};

use super::record::{Record, span};

pub use log::{Logged, read_log};

/// Unit of the angle columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Unit {
    #[default]
    Rad,
    Deg,
    /// Encoder counts; needs the counts per revolution
    Counts,
}

/// Where the angle is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Reference {
    /// Decide from where the record ends
    #[default]
    Auto,
    /// 0 = hanging
    Hanging,
    /// 0 = upright
    Up,
}

/// How to read a table.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Column of the time [s], by name or number from 1; none: `rate`.
    pub time: Option<String>,
    /// Columns of the angles, by name or number from 1.
    pub angle: Vec<String>,
    pub unit: Unit,
    pub counts_per_rev: Option<f64>,
    /// Sampling rate [Hz] of a file without time stamps.
    pub rate: Option<f64>,
    /// Lines to skip; none: found by itself.
    pub header: Option<usize>,
    /// Subtracted from the angle, in its unit.
    pub offset: f64,
    pub reference: Reference,
}

/// A table of numbers; `line[i]` is where row i stands in the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub names: Vec<String>,
    pub columns: Vec<Vec<f64>>,
    pub line: Vec<usize>,
}

impl Table {
    pub fn read(path: &Path, header: Option<usize>) -> Result<Table> {
        if path.is_dir() {
            return Err(Error::invalid(
                format!("{} is a directory", path.display()),
                format!("name the files in it, e.g. {}/*.csv", path.display()),
            ));
        }
        match path.extension().and_then(|e| e.to_str()) {
            Some("parquet") => parquet::read(path),
            _ => text::read(path, header),
        }
    }

    /// A column by name, or by number from 1.
    pub fn column(&self, path: &Path, key: &str) -> Result<&[f64]> {
        let by_name = self.names.iter().position(|n| n == key);
        let by_number = key.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        by_name
            .or(by_number)
            .and_then(|i| self.columns.get(i))
            .map(Vec::as_slice)
            .ok_or_else(|| {
                let known = if self.names.is_empty() {
                    format!("columns 1 to {}", self.columns.len())
                } else {
                    self.names.join(", ")
                };
                Error::invalid(
                    format!("{}: there is no column {key}", path.display()),
                    format!("the file has {known}"),
                )
            })
    }
}

/// Read a table of angles.
pub fn read(path: &Path, options: &Options) -> Result<Record> {
    if let Some(rate) = options.rate.filter(|r| !(*r > 0.0 && r.is_finite())) {
        return Err(Error::invalid(
            format!("a sampling rate of {rate} Hz is no rate"),
            "give --rate HZ with a positive number, or --time COLUMN",
        ));
    }
    let table = Table::read(path, options.header)?;
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |n| n.to_string_lossy().into(),
    );
    let refuse = |row: usize, what: String, help: &str| {
        let line = table
            .line
            .get(row)
            .map_or(String::new(), |l| format!(":{l}"));
        Error::invalid(format!("{}{line}: {what}", path.display()), help)
    };
    let (time, angles) = choose(&table, path, options)?;
    let rows = angles[0].len();
    let t: Vec<f64> = match (&time, options.rate) {
        (_, Some(rate)) => (0..rows).map(|i| i as f64 / rate).collect(),
        (Some(t), _) => t.to_vec(),
        (None, _) => {
            return Err(Error::invalid(
                format!("{}: no column of times", path.display()),
                "give --time COLUMN, or --rate HZ if the samples are evenly spaced",
            ));
        }
    };
    if let Some(i) = t.iter().position(|t| !t.is_finite()) {
        return Err(refuse(
            i,
            "the time is not a number".into(),
            "remove the line",
        ));
    }
    if let Some(i) = t.windows(2).position(|w| w[1] <= w[0]) {
        return Err(refuse(
            i + 1,
            format!("time goes back from {} s to {} s", t[i], t[i + 1]),
            "sort the file, or give --rate HZ to ignore its time stamps",
        ));
    }
    let factor = match (options.unit, options.counts_per_rev) {
        (Unit::Rad, _) => 1.0,
        (Unit::Deg, _) => std::f64::consts::PI / 180.0,
        (Unit::Counts, Some(n)) if n > 0.0 => std::f64::consts::TAU / n,
        (Unit::Counts, _) => {
            return Err(Error::invalid(
                "the angle is in counts, but a count's size is not known",
                "give --counts-per-rev N",
            ));
        }
    };
    let mut q = vec![[0.0; 2]; rows];
    for (j, column) in angles.iter().take(2).enumerate() {
        if let Some(i) = column.iter().position(|x| !x.is_finite()) {
            return Err(refuse(
                i,
                "the angle is not a number".into(),
                "remove the line",
            ));
        }
        if let Some(i) = clipped(column) {
            return Err(refuse(
                i,
                format!("the angle is clipped at {}", column[i]),
                "record again with a range that holds the whole swing",
            ));
        }
        let mut x: Vec<f64> = column
            .iter()
            .map(|x| (x - options.offset) * factor)
            .collect();
        unwrap(&mut x);
        reference(&mut x, options.reference);
        let end = mean_end(&x);
        if angles.len() == 1 && end.abs() > std::f64::consts::FRAC_PI_2 {
            return Err(Error::invalid(
                format!(
                    "{}: with 0 {} the record ends {end:.2} rad from hanging, and a free pendulum hangs at the end",
                    path.display(),
                    if options.reference == Reference::Up {
                        "upright"
                    } else {
                        "hanging"
                    },
                ),
                "leave --reference out, or check --unit and --offset",
            ));
        }
        for (q, x) in q.iter_mut().zip(x) {
            q[j] = x;
        }
    }
    let quantum = options
        .counts_per_rev
        .map_or(0.0, |n| std::f64::consts::TAU / n);
    let t0 = t[0];
    let record = Record {
        name,
        t: t.iter().map(|t| t - t0).collect(),
        q,
        joints: angles.len().min(2),
        quantum: [quantum; 2],
    };
    record.check()?;
    Ok(record)
}

type Columns<'a> = (Option<&'a [f64]>, Vec<&'a [f64]>);

/// The time and angle columns: as asked for, else the first is the time and the second the angle.
fn choose<'a>(table: &'a Table, path: &Path, options: &Options) -> Result<Columns<'a>> {
    let time = match (&options.time, options.rate) {
        (Some(key), _) => Some(table.column(path, key)?),
        (None, Some(_)) => None,
        (None, None) if table.columns.len() > 1 => Some(table.columns[0].as_slice()),
        (None, None) => None,
    };
    let angles = if options.angle.is_empty() {
        let i = usize::from(time.is_some()).min(table.columns.len() - 1);
        vec![table.columns[i].as_slice()]
    } else {
        options
            .angle
            .iter()
            .map(|k| table.column(path, k))
            .collect::<Result<_>>()?
    };
    Ok((time, angles))
}

/// Undo jumps of whole turns.
fn unwrap(x: &mut [f64]) {
    let mut turns = 0.0;
    for i in 1..x.len() {
        let jump = ((x[i] + turns - x[i - 1]) / std::f64::consts::TAU).round();
        turns -= jump * std::f64::consts::TAU;
        x[i] += turns;
    }
}

/// Mean of the last twentieth.
fn mean_end(x: &[f64]) -> f64 {
    let tail = (x.len() / 20).max(1);
    x[x.len() - tail..].iter().sum::<f64>() / tail as f64
}

/// Make the hanging position 0. A decay ends near it, so the end decides between 0 and π when nothing is given, and
/// how many whole turns the pendulum made.
fn reference(x: &mut [f64], reference: Reference) {
    use std::f64::consts::{PI, TAU};
    let end = mean_end(x);
    let up = match reference {
        Reference::Hanging => 0.0,
        Reference::Up => PI,
        Reference::Auto => {
            let turn = end.rem_euclid(TAU);
            if (turn - PI).abs() < PI / 2.0 {
                PI
            } else {
                0.0
            }
        }
    };
    let shift = up + ((end - up) / TAU).round() * TAU;
    for x in x.iter_mut() {
        *x -= shift;
    }
}

/// First sample of a clipped record: the same extreme value reached in three or more separate swings, each time for
/// four samples or more. Peaks of a decay are never equal.
fn clipped(x: &[f64]) -> Option<usize> {
    let range = span(x.iter().copied());
    for sign in [1.0, -1.0] {
        let top = x.iter().map(|x| sign * x).fold(f64::NEG_INFINITY, f64::max);
        let mut visits = 0;
        let mut first = None;
        let mut run = 0;
        let mut left = true;
        for (i, v) in x.iter().enumerate() {
            if sign * v == top {
                run += 1;
                if run == 4 && left {
                    visits += 1;
                    left = false;
                    first = first.or(Some(i - 3));
                }
            } else {
                run = 0;
                left |= top - sign * v > 0.2 * range;
            }
        }
        if visits >= 3 {
            return first;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let f = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        std::fs::write(f.path(), text).unwrap();
        f
    }

    fn swing(rows: usize) -> String {
        let mut s = String::from("t,angle\n");
        for i in 0..rows {
            let t = i as f64 * 0.01;
            s += &format!("{t},{}\n", 30.0 * (-0.1 * t).exp() * (5.0 * t).cos());
        }
        s
    }

    #[test]
    fn a_swing_in_degrees_is_read() {
        let f = file(&swing(400));
        let options = Options {
            unit: Unit::Deg,
            ..Options::default()
        };
        let r = read(f.path(), &options).unwrap();
        assert_eq!(r.t.len(), 400);
        assert!((r.q[0][0] - 30f64.to_radians()).abs() < 1e-12);
    }

    #[test]
    fn bad_files_are_refused_with_line_and_reason() {
        let check = |text: String, needle: &str| {
            let f = file(&text);
            let e = read(f.path(), &Options::default()).unwrap_err().to_string();
            assert!(e.contains(needle), "{e}");
        };
        check(swing(10), "10 samples");
        check(
            swing(400).replace("\n0.5,", "\n0.05,"),
            ":52: time goes back",
        );
        check(swing(400).replace("\n0.07,", "\n0.07,NaN #"), ":9");
        check(
            "t,x\n".to_string() + &(0..100).map(|i| format!("{i},1.0\n")).collect::<String>(),
            "no motion",
        );
        let clip: String = (0..600)
            .map(|i| {
                format!(
                    "{},{}\n",
                    i as f64 * 0.01,
                    (3.0 * (i as f64 * 0.05).sin()).clamp(-1.0, 1.0)
                )
            })
            .collect();
        check(clip, "clipped at");
        let f = file(&swing(400));
        let options = Options {
            angle: vec!["velocity".into()],
            ..Options::default()
        };
        assert!(
            read(f.path(), &options)
                .unwrap_err()
                .to_string()
                .contains("no column velocity")
        );
    }

    #[test]
    fn whole_turns_and_the_upright_zero_are_undone() {
        let mut x = vec![3.0, -3.2, -3.4];
        unwrap(&mut x);
        assert!((x[2] - (std::f64::consts::TAU - 3.4)).abs() < 1e-12);
        let mut y = vec![5.0; 40];
        y.extend([std::f64::consts::PI + 0.01; 40]);
        reference(&mut y, Reference::Auto);
        assert!((y[79] - 0.01).abs() < 1e-12);
    }
}
