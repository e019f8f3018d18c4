//! Parquet tables: every numeric column as f64.

use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::error::{Error, Result};

use super::Table;

pub fn read(path: &Path) -> Result<Table> {
    let broken = |e: &dyn std::fmt::Display| {
        Error::invalid(
            format!("{}: not a readable Parquet file: {e}", path.display()),
            "write it again; compression must be none or zstd",
        )
    };
    let file = File::open(path).map_err(|e| Error::read(path, e))?;
    let reader = SerializedFileReader::new(file).map_err(|e| broken(&e))?;
    let mut table = Table::default();
    for (row, content) in reader
        .get_row_iter(None)
        .map_err(|e| broken(&e))?
        .enumerate()
    {
        let content = content.map_err(|e| broken(&e))?;
        if row == 0 {
            table.names = content.get_column_iter().map(|(n, _)| n.clone()).collect();
            table.columns = vec![Vec::new(); table.names.len()];
        }
        for (column, (_, field)) in table.columns.iter_mut().zip(content.get_column_iter()) {
            column.push(value(field));
        }
        table.line.push(row + 1);
    }
    if table.line.is_empty() {
        return Err(Error::invalid(
            format!("{}: no rows", path.display()),
            "choose another file",
        ));
    }
    Ok(table)
}

/// A field as a number; text and nulls are not numbers.
fn value(field: &Field) -> f64 {
    match *field {
        Field::Bool(x) => f64::from(u8::from(x)),
        Field::Byte(x) => f64::from(x),
        Field::Short(x) => f64::from(x),
        Field::Int(x) => f64::from(x),
        Field::Long(x) => x as f64,
        Field::UByte(x) => f64::from(x),
        Field::UShort(x) => f64::from(x),
        Field::UInt(x) => f64::from(x),
        Field::ULong(x) => x as f64,
        Field::Float(x) => f64::from(x),
        Field::Double(x) => x,
        _ => f64::NAN,
    }
}
