//! A log as a table: CSV or Parquet, column by column, a bounded number of rows in memory.
//!
//! | table | one row per | columns |
//! |---|---|---|
//! | ticks | tick | raw counters, unwrapped counts, coordinates |
//! | states | state record | coordinates and velocities of both observers |
//! | parameters | parameter record | UAS ẑ, k, error; EKF p, σ, stage, identifiable |
//! | events | event | what happened |
//!
//! Numbers leave as they came: integers as integers, f32 as f32 (CSV: the shortest text that reads back to the same
//! bits). `theta0` \[rad\] and `omega0` [rad/s] of a joint that slides are `x0` \[m\] and `v0` [m/s]. Lost ticks are absent
//! rows; `segment` counts connections and resets. Units, configuration and origin go along: `about`.

pub(crate) mod about;
#[cfg(feature = "parquet")]
pub(crate) mod checksum;
pub(crate) mod csv;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;

use std::path::{Path, PathBuf};

use stribeck_core::JOINTS;
use stribeck_core::model::parameter::{self, Parameter};
use stribeck_core::wire::block::{Params, Record, States};

use crate::config::axes::Axes;
use crate::error::{Error, Result};
use crate::file::{self, Replacement};
use crate::link::order::Losses;
use crate::link::session::SessionEvent;
use crate::link::wording;
use crate::log::angles::Angles;
use crate::log::damage::Damage;
use crate::log::metadata::Metadata;
use crate::log::pass::Log;
use about::About;

/// Rows kept in memory before they are written.
const ROWS: usize = 1 << 19;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    Ticks,
    States,
    Parameters,
    Events,
    /// What the motor was told, from the parameter records of a driven rig
    Drive,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    U8(Vec<u8>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Text(Vec<String>),
}

/// A column with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    /// Unit, or what the number counts.
    pub unit: String,
    pub data: Data,
}

impl Column {
    /// Every value as a number; a text has none.
    #[cfg(feature = "parquet")]
    fn numbers(&self, mut each: impl FnMut(f64)) {
        match &self.data {
            Data::U8(v) => v.iter().for_each(|x| each(f64::from(*x))),
            Data::U32(v) => v.iter().for_each(|x| each(f64::from(*x))),
            Data::I32(v) => v.iter().for_each(|x| each(f64::from(*x))),
            Data::U64(v) => v.iter().for_each(|x| each(*x as f64)),
            Data::F32(v) => v.iter().for_each(|x| each(f64::from(*x))),
            Data::F64(v) => v.iter().for_each(|x| each(*x)),
            Data::Text(_) => {}
        }
    }
}

/// Rows waiting to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: usize,
}

/// Where rows go.
pub trait Sink {
    /// Write the rows; the table is emptied by the caller.
    fn write(&mut self, table: &Table) -> Result<()>;
    /// No more rows; where they come from.
    fn finish(self: Box<Self>, table: &Table, about: &About) -> Result<()>;
}

/// What was exported.
#[derive(Clone, Debug)]
pub struct Exported {
    pub rows: u64,
    pub losses: Losses,
    pub damage: Vec<Damage>,
    /// What was said about the recording.
    pub recording: Metadata,
}

/// The files an export to `to` writes: itself, and what stands beside a CSV.
pub fn files(to: &Path) -> Vec<PathBuf> {
    let mut files = vec![to.to_owned()];
    if to.extension().is_some_and(|e| e == "csv") && !file::is_special(to) {
        files.push(about::beside(to));
    }
    files
}

/// Write one table of the log at `from` to `to`; the ending of `to` decides the format.
pub fn export(
    from: &Path,
    to: &Path,
    kind: Kind,
    progress: &mut dyn FnMut(f64),
) -> Result<Exported> {
    let format = Format::of(to)?;
    let log = Log::open(from)?;
    // Columns and their units are the plant's, and the first Hello tells it.
    let mut table = Table::new(kind, &Axes::default());
    let mut sink: Option<Box<dyn Sink>> = None;
    let mut fill = Fill::new(kind);
    let mut rows = 0;
    let pass = log.for_each(progress, |event| {
        if let SessionEvent::Hello { hello, .. } = event {
            let axes = wording::axes(hello);
            match &sink {
                None => {
                    table = Table::new(kind, &axes);
                    sink = Some(format.sink(to, &table)?);
                    fill.axes = axes;
                }
                Some(_) => fill.same(&axes, hello.config_since)?,
            }
        }
        fill.take(event, &mut table)?;
        if table.rows >= ROWS
            && let Some(sink) = &mut sink
        {
            rows += table.rows as u64;
            sink.write(&table)?;
            table.clear();
        }
        Ok(())
    })?;
    rows += table.rows as u64;
    let mut sink = match sink {
        Some(sink) => sink,
        None => format.sink(to, &table)?,
    };
    sink.write(&table)?;
    sink.finish(&table, &About::new(from, kind, &pass))?;
    Ok(Exported {
        rows,
        recording: pass.recording,
        losses: pass.session.losses().clone(),
        damage: pass.damage,
    })
}

/// One table of the log at `from`, whole and in memory, and the state of the log.
pub fn table(from: &Path, kind: Kind) -> Result<(Table, Losses, Vec<Damage>)> {
    let mut table: Option<Table> = None;
    let mut fill = Fill::new(kind);
    let pass = Log::open(from)?.for_each(
        |_| {},
        |event| {
            if let SessionEvent::Hello { hello, .. } = event {
                let axes = wording::axes(hello);
                if table.is_none() {
                    table = Some(Table::new(kind, &axes));
                    fill.axes = axes;
                } else {
                    fill.same(&axes, hello.config_since)?;
                }
            }
            let table = table.get_or_insert_with(|| Table::new(kind, &Axes::default()));
            fill.take(event, table)
        },
    )?;
    let table = table.unwrap_or_else(|| Table::new(kind, &Axes::default()));
    Ok((table, pass.session.losses().clone(), pass.damage))
}

/// What the ending of the output asks for.
#[derive(Clone, Copy)]
enum Format {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    fn of(to: &Path) -> Result<Self> {
        match to.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Format::Csv),
            #[cfg(feature = "parquet")]
            Some("parquet") => Ok(Format::Parquet),
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => Err(Error::left_out(to, "parquet", "run.csv")),
            _ => Err(Error::invalid(
                format!("{} ends neither in .csv nor in .parquet", to.display()),
                "name the output run.csv or run.parquet",
            )),
        }
    }

    fn sink(self, to: &Path, table: &Table) -> Result<Box<dyn Sink>> {
        let file = Replacement::create(to)?;
        Ok(match self {
            Format::Csv => Box::new(csv::Csv::new(file, table, to)?),
            #[cfg(feature = "parquet")]
            Format::Parquet => Box::new(parquet::Parquet::new(file, table, to)?),
        })
    }
}

/// Turns events into rows.
struct Fill {
    kind: Kind,
    axes: Axes,
    angles: Option<Angles>,
    segment: u32,
    tick_hz: f64,
}

impl Fill {
    fn new(kind: Kind) -> Self {
        Fill {
            kind,
            axes: Axes::default(),
            angles: None,
            segment: 0,
            tick_hz: 10_000.0,
        }
    }

    /// A column has one unit: joints of another kind do not fit into it.
    fn same(&self, axes: &Axes, since: u64) -> Result<()> {
        if axes.joints == self.axes.joints {
            return Ok(());
        }
        Err(Error::invalid(
            format!(
                "the plant changes at tick {since}, and its joints move in {} instead of {}: one table cannot hold both",
                axes.all(|u| u.coordinate),
                self.axes.all(|u| u.coordinate)
            ),
            "record each plant into a log of its own; `stribeck report` and `stribeck replay` read this one as it is",
        ))
    }

    fn take(&mut self, event: &SessionEvent<'_>, table: &mut Table) -> Result<()> {
        match event {
            SessionEvent::Hello { hello, begins } => {
                let config = hello.config().map_err(|e| {
                    Error::invalid(
                        format!("the device's configuration cannot be read: {e}"),
                        "export with the stribeck version that wrote the log",
                    )
                })?;
                self.tick_hz = f64::from(hello.tick_hz);
                self.segment += u32::from(*begins);
                match &mut self.angles {
                    Some(angles) if !begins => angles.set_config(&config, hello.config_since),
                    slot => *slot = Some(Angles::new(&config)),
                }
            }
            SessionEvent::Block { block, .. } if self.kind == Kind::Ticks => {
                let (segment, hz) = (self.segment, self.tick_hz);
                if let Some(angles) = &mut self.angles {
                    let mut ticks = Vec::with_capacity(block.ticks.into());
                    angles.block(block, |counted, q| ticks.push((counted, q)));
                    for (c, [q0, q1]) in ticks {
                        let mut row = table.row(segment, c.tick, hz);
                        row.u32(c.raw[0]).u32(c.raw[1]);
                        row.i32(c.counts[0]).i32(c.counts[1]);
                        row.f64(q0).f64(q1);
                    }
                }
            }
            SessionEvent::Block { block, .. } => {
                for (tick, record) in block.records() {
                    match record {
                        Record::States(s) if self.kind == Kind::States => {
                            put_states(&mut table.row(self.segment, tick, self.tick_hz), &s);
                        }
                        Record::Params(p) if self.kind == Kind::Parameters => {
                            put_params(&mut table.row(self.segment, tick, self.tick_hz), &p);
                        }
                        Record::Params(Params { drive: Some(d), .. })
                            if self.kind == Kind::Drive =>
                        {
                            let mut row = table.row(self.segment, tick, self.tick_hz);
                            row.u8(d.mode as u8).u8(d.saturated.into());
                            row.i32(d.duty.into()).f32(d.u).f32(d.reference);
                        }
                        _ => {}
                    }
                }
            }
            SessionEvent::Event(event) if self.kind == Kind::Events => {
                table
                    .row(self.segment, event.tick, self.tick_hz)
                    .text(wording::event(event, &self.axes));
            }
            _ => {}
        }
        Ok(())
    }
}

fn put_states(row: &mut Row<'_>, s: &States) {
    for x in [s.uas_q, s.uas_w, s.ekf_q, s.ekf_w].iter().flatten() {
        row.f32(*x);
    }
}

fn put_params(row: &mut Row<'_>, p: &Params) {
    p.z.iter().for_each(|x| {
        row.f32(*x);
    });
    row.f32(p.k).f32(p.error);
    for x in p.p.iter().chain(&p.sigma) {
        row.f32(*x);
    }
    row.u8(p.stage).u8(p.identifiable);
}

/// Appends one row, column after column.
struct Row<'a> {
    columns: std::slice::IterMut<'a, Column>,
}

macro_rules! put {
    ($name:ident, $variant:ident, $type:ty) => {
        fn $name(&mut self, value: $type) -> &mut Self {
            if let Some(Column {
                data: Data::$variant(values),
                ..
            }) = self.columns.next()
            {
                values.push(value);
            }
            self
        }
    };
}

impl Row<'_> {
    put!(u8, U8, u8);
    put!(u32, U32, u32);
    put!(i32, I32, i32);
    put!(u64, U64, u64);
    put!(f32, F32, f32);
    put!(f64, F64, f64);
    put!(text, Text, String);
}

impl Table {
    /// An empty table for a plant with these joints.
    pub fn new(kind: Kind, axes: &Axes) -> Self {
        let mut columns = vec![
            column("segment", "1", Data::U32(Vec::new())),
            column("tick", "1", Data::U64(Vec::new())),
            column("time", "s", Data::F64(Vec::new())),
        ];
        let floats = |columns: &mut Vec<Column>, names: Vec<(String, String)>| {
            for (name, unit) in names {
                columns.push(column(&name, &unit, Data::F32(Vec::new())));
            }
        };
        match kind {
            Kind::Ticks => {
                for name in ["raw0", "raw1"] {
                    columns.push(column(
                        name,
                        "counts, as the hardware shows them",
                        Data::U32(Vec::new()),
                    ));
                }
                for name in ["count0", "count1"] {
                    columns.push(column(
                        name,
                        "counts, unwrapped, zeroed",
                        Data::I32(Vec::new()),
                    ));
                }
                for j in 0..JOINTS {
                    let (name, unit) = (axes.column(j), axes.units(j).coordinate);
                    columns.push(column(&name, unit, Data::F64(Vec::new())));
                }
            }
            Kind::States => floats(&mut columns, state_columns(axes)),
            Kind::Parameters => {
                floats(&mut columns, param_columns(axes));
                columns.push(column("ekf_stage", "1", Data::U8(Vec::new())));
                columns.push(column(
                    "ekf_identifiable",
                    "bit mask of mu_d0, mu_v0, d0, mu_d1, mu_v1, d1",
                    Data::U8(Vec::new()),
                ));
            }
            Kind::Events => columns.push(column("event", "text", Data::Text(Vec::new()))),
            Kind::Drive => {
                let modes = "0 off, 1 excite, 2 track, 3 balance, 4 plan";
                columns.push(column("mode", modes, Data::U8(Vec::new())));
                columns.push(column("saturated", "0 or 1", Data::U8(Vec::new())));
                columns.push(column("duty", "steps of 5000", Data::I32(Vec::new())));
                let names = [
                    ("u", "N·m, or N on a slide"),
                    ("reference", "rad, or m on a slide"),
                ];
                let owned = names.map(|(name, unit)| (name.to_owned(), unit.to_owned()));
                floats(&mut columns, owned.to_vec());
            }
        }
        Table { columns, rows: 0 }
    }

    fn row(&mut self, segment: u32, tick: u64, tick_hz: f64) -> Row<'_> {
        self.rows += 1;
        let mut row = Row {
            columns: self.columns.iter_mut(),
        };
        row.u32(segment).u64(tick).f64(tick as f64 / tick_hz);
        row
    }

    /// Forget the rows, keep the memory.
    pub fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            match &mut column.data {
                Data::U8(v) => v.clear(),
                Data::U32(v) => v.clear(),
                Data::I32(v) => v.clear(),
                Data::U64(v) => v.clear(),
                Data::F32(v) => v.clear(),
                Data::F64(v) => v.clear(),
                Data::Text(v) => v.clear(),
            }
        }
    }
}

fn column(name: &str, unit: &str, data: Data) -> Column {
    Column {
        name: name.into(),
        unit: unit.into(),
        data,
    }
}

pub(crate) fn state_columns(axes: &Axes) -> Vec<(String, String)> {
    let mut columns = Vec::new();
    for observer in ["uas", "ekf"] {
        columns.extend((0..JOINTS).map(|j| {
            let name = format!("{observer}_{}", axes.column(j));
            (name, axes.units(j).coordinate.to_string())
        }));
        columns.extend((0..JOINTS).map(|j| {
            let name = format!("{observer}_{}", axes.speed_column(j));
            (name, axes.units(j).velocity.to_string())
        }));
    }
    columns
}

pub(crate) fn param_columns(axes: &Axes) -> Vec<(String, String)> {
    let of = |stem: &'static str, list: &'static [Parameter]| {
        let joint = move |i: usize| axes.joints[JOINTS * i / list.len()];
        list.iter()
            .enumerate()
            .map(move |(i, p)| (format!("{stem}_{}", p.id), p.ascii_unit_at(joint(i)).into()))
    };
    let mut columns: Vec<_> = of("uas", &parameter::UAS).collect();
    columns.push(("uas_k".into(), "1".into()));
    columns.push(("uas_error".into(), axes.all(|u| u.velocity)));
    columns.extend(of("ekf", &parameter::EKF));
    columns.extend(of("ekf_sigma", &parameter::EKF));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use stribeck_core::model::plant::PlantConfig;

    /// What readers of our files rely on, for joints that turn and for a cart.
    #[test]
    fn columns_are_called_what_they_are_called() {
        let of = |name: &str| {
            let axes = Axes::of(&PlantConfig::named(name).unwrap());
            let columns = [state_columns(&axes), param_columns(&axes)].concat();
            let text = columns
                .iter()
                .map(|(name, unit)| format!("{name} [{unit}]"));
            text.collect::<Vec<_>>()
        };
        let (turns, slides) = (of("Furuta"), of("Cartpole"));
        assert_eq!((turns.len(), slides.len()), (32, 32));
        let places = [0, 2, 5, 8, 10, 11, 19, 20, 22, 24, 27, 31];
        assert_eq!(
            places.map(|i| turns[i].as_str()),
            [
                "uas_theta0 [rad]",
                "uas_omega0 [rad/s]",
                "ekf_theta1 [rad]",
                "uas_mu_d0 [m]",
                "uas_mu_v0 [N m s]",
                "uas_vt0 [rad/s]",
                "uas_error [rad/s]",
                "ekf_mu_d0 [m]",
                "ekf_d0 [N m s^2]",
                "ekf_mu_v1 [N m s]",
                "ekf_sigma_mu_v0 [N m s]",
                "ekf_sigma_d1 [N m s^2]",
            ]
        );
        assert_eq!(
            places.map(|i| slides[i].as_str()),
            [
                "uas_x0 [m]",
                "uas_v0 [m/s]",
                "ekf_theta1 [rad]",
                "uas_mu_d0 [1]",
                "uas_mu_v0 [N s/m]",
                "uas_vt0 [m/s]",
                "uas_error [m/s, rad/s]",
                "ekf_mu_d0 [1]",
                "ekf_d0 [N s^2/m^2]",
                "ekf_mu_v1 [N m s]",
                "ekf_sigma_mu_v0 [N s/m]",
                "ekf_sigma_d1 [N m s^2]",
            ]
        );
    }
}
