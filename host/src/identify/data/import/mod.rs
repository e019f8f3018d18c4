//! Records from anywhere: CSV/TXT, Parquet, MATLAB, and the logs of this project.
//!
//! Text files: any of comma, semicolon, tab or blanks between columns; leading lines that do not fit the table (titles,
//! settings) are skipped or counted off with `header`; a line of names makes columns addressable by name. A file that
//! cannot be trusted is refused with the line and the reason.

mod log;
mod mat;
#[cfg(feature = "parquet")]
mod parquet;
mod text;

use std::path::Path;

use stribeck_core::JOINTS;
use stribeck_core::model::joint::Joint;

use crate::config::axes::Axes;
use crate::error::{Error, Result};
use crate::number;

use crate::identify::data::record::{MIN_SAMPLES, Record, span};

pub use log::{Logged, read_log};

/// Unit of the angle columns.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    #[default]
    Rad,
    Deg,
    /// Encoder counts; needs the counts per revolution
    Counts,
}

/// Where the angle is zero.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Reference {
    /// Decide from where the record ends
    #[default]
    Auto,
    /// 0 = hanging
    Hanging,
    /// 0 = upright
    Up,
}

/// Unit of the time column.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    S,
    Ms,
    Us,
    Ns,
}

impl TimeUnit {
    const ALL: [TimeUnit; 4] = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns];

    fn seconds(self) -> f64 {
        match self {
            TimeUnit::S => 1.0,
            TimeUnit::Ms => 1e-3,
            TimeUnit::Us => 1e-6,
            TimeUnit::Ns => 1e-9,
        }
    }

    fn word(self) -> &'static str {
        match self {
            TimeUnit::S => "seconds",
            TimeUnit::Ms => "milliseconds",
            TimeUnit::Us => "microseconds",
            TimeUnit::Ns => "nanoseconds",
        }
    }
}

/// How to read a table.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Column of the time, by name or number from 1; none: `rate`.
    pub time: Option<String>,
    /// Unit of the time; none: found by itself.
    pub time_unit: Option<TimeUnit>,
    /// Columns of the angles, by name or number from 1.
    pub angle: Vec<String>,
    pub unit: Unit,
    pub counts_per_rev: Option<f64>,
    /// The same of a joint that slides.
    pub counts_per_metre: Option<f64>,
    /// The plant's joints: what slides is in metres, never unwrapped, and has no hanging position.
    #[serde(skip)]
    pub axes: Axes,
    /// What the plant calls hanging \[rad\].
    #[serde(skip)]
    pub rest: [f64; JOINTS],
    /// Sampling rate \[Hz\] of a file without time stamps.
    pub rate: Option<f64>,
    /// Lines to skip; none: found by itself.
    pub header: Option<usize>,
    /// Subtracted from the angle of each joint, in its unit; one for all, or one each.
    pub offset: Vec<f64>,
    /// Joints, from 0, whose angle runs the other way.
    #[serde(rename = "invert")]
    pub inverted: Vec<usize>,
    pub reference: Reference,
}

/// Rates [Hz] at which somebody records a swing.
const RATES: std::ops::RangeInclusive<f64> = 0.5..=1e6;
/// The slowest swing [s].
const SLOWEST: f64 = 60.0;

/// A table of numbers; `line[i]` is where row i stands in the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub names: Vec<String>,
    pub columns: Vec<Vec<f64>>,
    pub line: Vec<usize>,
    /// First cell of a column that is no number: column, line, text.
    pub bad: Vec<(usize, usize, String)>,
    /// What was assumed.
    pub notes: Vec<String>,
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
            #[cfg(feature = "parquet")]
            Some("parquet") => parquet::read(path),
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => Err(Error::left_out(path, "parquet", "a .csv table")),
            Some("mat") => mat::read(path),
            _ => text::read(path, header),
        }
    }

    /// Name of a column for a reader.
    fn title(&self, i: usize) -> String {
        self.names
            .get(i)
            .map_or_else(|| (i + 1).to_string(), |n| format!("{n:?}"))
    }

    /// Place of a column given by name, or by number from 1.
    fn place(&self, path: &Path, key: &str) -> Result<usize> {
        let by_name = self.names.iter().position(|n| n == key);
        let by_number = key.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let known = || {
            if self.names.is_empty() {
                format!("columns 1 to {}", self.columns.len())
            } else {
                self.names.join(", ")
            }
        };
        by_name
            .or(by_number)
            .filter(|i| *i < self.columns.len())
            .ok_or_else(|| {
                Error::invalid(
                    format!("{}: there is no column {key}", path.display()),
                    format!("the file has {}", known()),
                )
            })
    }

    /// A column by name, or by number from 1; every cell must be a number.
    pub fn column(&self, path: &Path, key: &str) -> Result<&[f64]> {
        self.place(path, key).and_then(|i| self.numbers(path, i))
    }

    fn numbers(&self, path: &Path, i: usize) -> Result<&[f64]> {
        match self.bad.iter().find(|b| b.0 == i) {
            Some((_, line, text)) => Err(Error::invalid(
                format!("{}:{line}: {text:?} is not a number", path.display()),
                "repair the line, or give --header N if it belongs to the header",
            )),
            None => Ok(&self.columns[i]),
        }
    }
}

/// A record and what was assumed to read it.
#[derive(Clone, Debug)]
pub struct Imported {
    pub record: Record,
    pub notes: Vec<String>,
}

/// Times [s] of the rows, from their column or a rate.
fn times(
    table: &Table,
    path: &Path,
    (column, angle): (Option<&[f64]>, &[f64]),
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Vec<f64>> {
    if let Some(rate) = options.rate {
        if !RATES.contains(&rate) {
            return Err(Error::invalid(
                format!("a sampling rate of {rate} Hz is no rate"),
                format!(
                    "give --rate HZ between {} and {}, or --time COLUMN",
                    RATES.start(),
                    RATES.end()
                ),
            ));
        }
        return Ok((0..table.line.len()).map(|i| i as f64 / rate).collect());
    }
    let Some(t) = column else {
        return Err(Error::invalid(
            format!("{}: no column of times", path.display()),
            "give --time COLUMN, or --rate HZ if the samples are evenly spaced",
        ));
    };
    let at = |i: usize, what: String, help: &str| {
        Error::invalid(
            format!("{}:{}: {what}", path.display(), table.line[i]),
            help,
        )
    };
    if let Some(i) = t.iter().position(|t| !t.is_finite()) {
        return Err(at(i, "the time is not a number".into(), "remove the line"));
    }
    if let Some(i) = t.windows(2).position(|w| w[1] <= w[0]) {
        return Err(at(
            i + 1,
            format!("time goes back from {} s to {} s", t[i], t[i + 1]),
            "sort the file, or give --rate HZ to ignore its time stamps",
        ));
    }
    let unit = match options.time_unit {
        Some(unit) => unit,
        None => {
            let unit = time_unit(path, t, angle)?;
            if unit != TimeUnit::S {
                notes.push(format!(
                    "times are taken for {}; --time-unit says otherwise",
                    unit.word()
                ));
            }
            unit
        }
    };
    let scale = unit.seconds();
    Ok(t.iter().map(|x| (x - t[0]) * scale).collect())
}

/// Times \[s\] of a table that is no swing: seconds unless said otherwise.
pub fn stage_times(table: &Table, path: &Path, options: &Options) -> Result<Vec<f64>> {
    let options = Options {
        time_unit: options.time_unit.or(Some(TimeUnit::S)),
        ..options.clone()
    };
    let column = table.column(path, options.time.as_deref().unwrap_or("1"))?;
    times(
        table,
        path,
        (Some(column), column),
        &options,
        &mut Vec::new(),
    )
}

/// Samples of a whole swing, from how often the angle passes its middle, with a fifth of its range as hysteresis.
fn samples_per_swing(x: &[f64]) -> f64 {
    let range = span(x.iter().copied());
    let middle = crate::identify::data::record::median(&mut x.to_vec());
    let mut passages = 0;
    let mut above = None;
    for v in x {
        let side = match v - middle {
            d if d > 0.1 * range => true,
            d if d < -0.1 * range => false,
            _ => continue,
        };
        passages += usize::from(above.is_some_and(|a| a != side));
        above = Some(side);
    }
    2.0 * x.len() as f64 / f64::from(passages.max(1) as u32)
}

/// The unit that makes a swing last about a second; seconds unless a swing would take a minute.
fn time_unit(path: &Path, t: &[f64], angle: &[f64]) -> Result<TimeUnit> {
    let mut steps: Vec<f64> = t.windows(2).map(|w| w[1] - w[0]).collect();
    let step = crate::identify::data::record::median(&mut steps);
    let swing = step * samples_per_swing(angle);
    if swing <= SLOWEST || t.len() < MIN_SAMPLES {
        return Ok(TimeUnit::S);
    }
    let from_a_second = |u: &TimeUnit| number::ln(swing * u.seconds()).abs();
    let best = TimeUnit::ALL
        .into_iter()
        .min_by(|a, b| from_a_second(a).total_cmp(&from_a_second(b)))
        .filter(|u| swing * u.seconds() <= SLOWEST);
    best.ok_or_else(|| {
        Error::invalid(
            format!(
                "{}: rows are {step} apart and a swing lasts {swing}: no unit of time makes that a pendulum's",
                path.display()
            ),
            "check --time, give --time-unit s|ms|us|ns, or --rate HZ to ignore the time stamps",
        )
    })
}

/// Read a table of angles.
pub fn read(path: &Path, options: &Options) -> Result<Imported> {
    let table = Table::read(path, options.header)?;
    let mut notes = table.notes.clone();
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
    let (time, angles) = choose(&table, path, options, &mut notes)?;
    let t = times(&table, path, (time, angles[0]), options, &mut notes)?;
    let mut q = vec![[0.0; 2]; t.len()];
    for (j, column) in angles.iter().take(2).enumerate() {
        let slides = options.axes.joints[j] == Joint::Prismatic;
        let factor = factor(options, j)?;
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
        // A counter is rounded down: the middle of the count is the best guess, as in logs.
        let whole = options.unit == Unit::Counts && column.iter().all(|x| x.fract() == 0.0);
        let middle = if whole { 0.5 } else { 0.0 };
        let sign = if options.inverted.contains(&j) {
            -1.0
        } else {
            1.0
        };
        let offset = match options.offset[..] {
            [] => 0.0,
            [all] => all,
            ref each => each.get(j).copied().unwrap_or(0.0),
        };
        let mut x: Vec<f64> = column
            .iter()
            .map(|x| sign * (x + middle - offset) * factor)
            .collect();
        if !slides {
            unwrap(&mut x);
            reference(&mut x, options.reference);
            x.iter_mut().for_each(|x| *x += options.rest[j]);
        }
        let end = mean_end(&x) - options.rest[j];
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
    let quantum = std::array::from_fn(|j| quantum(options, j).unwrap_or(0.0));
    let record = Record {
        name,
        t,
        q,
        joints: angles.len().min(2),
        quantum,
    };
    record.check()?;
    Ok(Imported { record, notes })
}

/// One count of a joint \[rad or m\], if it is known.
fn quantum(options: &Options, j: usize) -> Option<f64> {
    let joint = options.axes.joints[j];
    let counts = match joint {
        Joint::Revolute => options.counts_per_rev,
        Joint::Prismatic => options.counts_per_metre,
    };
    counts
        .filter(|n| *n > 0.0)
        .map(|n| joint.scale::<f64>() / n)
}

/// What a number of the joint's column is multiplied by \[rad or m\].
fn factor(options: &Options, j: usize) -> Result<f64> {
    match (options.unit, options.axes.joints[j]) {
        (Unit::Rad, _) | (Unit::Deg, Joint::Prismatic) => Ok(1.0),
        (Unit::Deg, Joint::Revolute) => Ok(std::f64::consts::PI / 180.0),
        (Unit::Counts, joint) => quantum(options, j).ok_or_else(|| {
            let option = joint.units().encoder_scale.replace('_', "-");
            Error::invalid(
                format!("joint {j} is in counts, but a count's size is not known"),
                format!("give --{option} N"),
            )
        }),
    }
}

type Columns<'a> = (Option<&'a [f64]>, Vec<&'a [f64]>);

/// The time and angle columns: as asked for, else found by their names or by looking at them.
fn choose<'a>(
    table: &'a Table,
    path: &Path,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Columns<'a>> {
    let named = |names: &[&str]| table.names.iter().position(|n| names.contains(&n.as_str()));
    let usable = |i: usize| !table.bad.iter().any(|b| b.0 == i);
    let time = match (&options.time, options.rate) {
        (Some(key), _) => Some(table.place(path, key)?),
        (None, Some(_)) => None,
        (None, None) if table.columns.len() > 1 => {
            named(&["time", "t", "__time", "time_s"]).or(Some(0))
        }
        (None, None) => None,
    };
    let angles = if !options.angle.is_empty() {
        let places = options.angle.iter().map(|k| table.place(path, k));
        places.collect::<Result<Vec<_>>>()?
    } else if let [Some(a), Some(b)] = [0, 1].map(|j| named(&[&options.axes.column(j)])) {
        vec![a, b]
    } else {
        let moves = |i: &usize| {
            let x = &table.columns[*i];
            let goes_on = x.windows(2).all(|w| w[1] > w[0]);
            Some(*i) != time && usable(*i) && !goes_on && span(x.iter().copied()) > 0.0
        };
        let first = usize::from(time.is_some()).min(table.columns.len() - 1);
        vec![(0..table.columns.len()).find(moves).unwrap_or(first)]
    };
    if table.columns.len() > 2
        && (options.angle.is_empty() || (options.time.is_none() && time.is_some()))
    {
        let angle: Vec<String> = angles.iter().map(|&i| table.title(i)).collect();
        let time = time.map_or(String::new(), |i| {
            format!("time from column {}, ", table.title(i))
        });
        notes.push(format!(
            "{time}angle from column {}; --time and --angle choose others",
            angle.join(" and ")
        ));
    }
    let time = time.map(|i| table.numbers(path, i)).transpose()?;
    let angles = angles.into_iter().map(|i| table.numbers(path, i));
    Ok((time, angles.collect::<Result<_>>()?))
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
        let r = read(f.path(), &options).unwrap().record;
        assert_eq!(r.t.len(), 400);
        assert!((r.q[0][0] - 30f64.to_radians()).abs() < 1e-12);
    }

    /// The same swing with its times in any unit.
    #[test]
    fn the_unit_of_the_time_is_found_and_said() {
        for (scale, word) in [(1e3, "milli"), (1e6, "micro"), (1e9, "nano")] {
            let rows = (0..400).map(|i| {
                let t = f64::from(i) * 0.01;
                format!("{:.0},{}\n", 1.6e9 * scale + scale * t, (5.0 * t).cos())
            });
            let f = file(&("t,x\n".to_string() + &rows.collect::<String>()));
            let read = read(f.path(), &Options::default()).unwrap();
            assert!((read.record.duration() - 3.99).abs() < 1e-3, "{scale}");
            assert!(
                read.notes.iter().any(|n| n.contains(word)),
                "{:?}",
                read.notes
            );
        }
        let f = file(&swing(400));
        assert!(
            read(f.path(), &Options::default())
                .unwrap()
                .notes
                .is_empty()
        );
        for rate in [1e-300, 0.0, -1.0, f64::NAN, 1e300] {
            let options = Options {
                rate: Some(rate),
                angle: vec!["2".into()],
                ..Options::default()
            };
            let e = read(f.path(), &options).unwrap_err().to_string();
            assert!(e.contains("is no rate"), "{e}");
        }
        let years =
            (0..400).map(|i| format!("{},{}\n", f64::from(i) * 1e13, (0.05 * f64::from(i)).cos()));
        let f = file(&years.collect::<String>());
        let e = read(f.path(), &Options::default()).unwrap_err();
        assert!(e.help().unwrap().contains("--time-unit"), "{e}");
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
