//! Rows as Parquet: one row group per batch, zstd; units (`unit.<column>`), a checksum of every column of numbers
//! (`crc32.<column>`: the format's own are not written by the crate), configuration and origin in the file's key–value
//! metadata.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::about::About;
use super::checksum::{self, Checksum};
use super::{Column, Data, Sink, Table};
use crate::error::{Error, Result};
use crate::file::Replacement;

pub struct Parquet {
    writer: SerializedFileWriter<Replacement>,
    /// One per column.
    checksums: Vec<Checksum>,
    path: PathBuf,
}

impl Parquet {
    pub fn new(out: Replacement, table: &Table, path: &Path) -> Result<Self> {
        let make = || {
            let schema = Arc::new(parse_message_type(&schema(table))?);
            SerializedFileWriter::new(out, schema, Arc::new(properties(table)?))
        };
        let writer = make().map_err(|e| fail(path, e))?;
        Ok(Parquet {
            writer,
            checksums: vec![Checksum::default(); table.columns.len()],
            path: path.into(),
        })
    }
}

impl Sink for Parquet {
    fn write(&mut self, table: &Table) -> Result<()> {
        let writer = &mut self.writer;
        if table.rows == 0 {
            return Ok(());
        }
        for (checksum, column) in self.checksums.iter_mut().zip(&table.columns) {
            column.numbers(|x| checksum.add(x));
        }
        let mut put = || {
            let mut group = writer.next_row_group()?;
            for column in &table.columns {
                if let Some(mut out) = group.next_column()? {
                    write_column(&mut out, column)?;
                    out.close()?;
                }
            }
            group.close().map(drop)
        };
        put().map_err(|e| fail(&self.path, e))
    }

    fn finish(mut self: Box<Self>, table: &Table, about: &About) -> Result<()> {
        for (checksum, column) in self.checksums.iter().zip(&table.columns) {
            if !matches!(column.data, Data::Text(_)) {
                let field = KeyValue::new(checksum::key(&column.name), checksum.text());
                self.writer.append_key_value_metadata(field);
            }
        }
        for (name, text) in &about.0 {
            let field = KeyValue::new(name.clone(), text.clone());
            self.writer.append_key_value_metadata(field);
        }
        let out = self.writer.into_inner();
        out.map_err(|e| fail(&self.path, e))?.commit()
    }
}

fn write_column(
    out: &mut SerializedColumnWriter<'_>,
    column: &Column,
) -> parquet::errors::Result<()> {
    match &column.data {
        Data::U8(v) => {
            let v: Vec<i32> = v.iter().map(|&x| i32::from(x)).collect();
            out.typed::<Int32Type>().write_batch(&v, None, None)?;
        }
        Data::U32(v) => {
            let v: Vec<i32> = v.iter().map(|&x| x as i32).collect();
            out.typed::<Int32Type>().write_batch(&v, None, None)?;
        }
        Data::I32(v) => {
            out.typed::<Int32Type>().write_batch(v, None, None)?;
        }
        Data::U64(v) => {
            let v: Vec<i64> = v.iter().map(|&x| x as i64).collect();
            out.typed::<Int64Type>().write_batch(&v, None, None)?;
        }
        Data::F32(v) => {
            out.typed::<FloatType>().write_batch(v, None, None)?;
        }
        Data::F64(v) => {
            out.typed::<DoubleType>().write_batch(v, None, None)?;
        }
        Data::Text(v) => {
            let v: Vec<ByteArray> = v.iter().map(|s| ByteArray::from(s.as_str())).collect();
            out.typed::<ByteArrayType>().write_batch(&v, None, None)?;
        }
    }
    Ok(())
}

fn schema(table: &Table) -> String {
    let fields: Vec<String> = table
        .columns
        .iter()
        .map(|c| {
            let (physical, logical) = match c.data {
                Data::U8(_) => ("INT32", " (INTEGER(8,false))"),
                Data::U32(_) => ("INT32", " (INTEGER(32,false))"),
                Data::I32(_) => ("INT32", ""),
                Data::U64(_) => ("INT64", " (INTEGER(64,false))"),
                Data::F32(_) => ("FLOAT", ""),
                Data::F64(_) => ("DOUBLE", ""),
                Data::Text(_) => ("BYTE_ARRAY", " (STRING)"),
            };
            format!("REQUIRED {physical} {}{logical};", c.name)
        })
        .collect();
    format!("message stribeck {{ {} }}", fields.join(" "))
}

fn properties(table: &Table) -> parquet::errors::Result<WriterProperties> {
    let mut units = Vec::new();
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_enabled(false);
    for column in &table.columns {
        units.push(KeyValue::new(
            format!("unit.{}", column.name),
            column.unit.to_string(),
        ));
        let encoding = match column.data {
            Data::F32(_) | Data::F64(_) => Encoding::BYTE_STREAM_SPLIT,
            Data::Text(_) => Encoding::PLAIN,
            _ => Encoding::DELTA_BINARY_PACKED,
        };
        builder = builder.set_column_encoding(ColumnPath::from(column.name.as_str()), encoding);
    }
    Ok(builder.set_key_value_metadata(Some(units)).build())
}

fn fail(path: &Path, error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(e) => match e.downcast::<io::Error>() {
            Ok(e) => *e,
            Err(e) => io::Error::other(e),
        },
        other => io::Error::other(other),
    };
    Error::write(path, source)
}
