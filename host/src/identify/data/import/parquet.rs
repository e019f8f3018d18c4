//! Parquet tables: every numeric column as f64; where a checksum of it is kept (our own exports), it must agree.

use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::error::{Error, Result};
use crate::log::export::checksum::{self, Checksum};

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
        for (i, (_, field)) in content.get_column_iter().enumerate() {
            let x = value(field);
            let null_or_text = x.is_none() && !table.bad.iter().any(|b| b.0 == i);
            if null_or_text {
                table.bad.push((i, row + 1, field.to_string()));
            }
            table.columns[i].push(x.unwrap_or(f64::NAN));
        }
        table.line.push(row + 1);
    }
    let said = reader.metadata().file_metadata().key_value_metadata();
    for (name, column) in table.names.iter().zip(&table.columns) {
        let key = checksum::key(name);
        let kept = said.and_then(|s| s.iter().find(|kv| kv.key == key));
        let mut found = Checksum::default();
        column.iter().for_each(|x| found.add(*x));
        if kept.is_some_and(|kv| kv.value.as_deref() != Some(&found.text())) {
            return Err(Error::invalid(
                format!(
                    "{}: column {name} is damaged: its checksum differs",
                    path.display()
                ),
                "export it again from the log",
            ));
        }
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
fn value(field: &Field) -> Option<f64> {
    Some(match *field {
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
        _ => return None,
    })
}
