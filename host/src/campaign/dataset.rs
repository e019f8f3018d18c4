//! Chunks into one Parquet dataset: `results/method=NAME/part-00000.parquet`, zstd, every column nullable but the run.
//!
//! A part covers a fixed range of runs, so that its bytes depend on the plan alone. It is written once, under way in the
//! folder above, so that readers of `results` never see a part of a part.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use crate::error::{Error, Result};
use crate::file::Replacement;

use super::Summary;
use super::chunk;
use super::plan::Plan;
use super::result::{RunResult, Status};
use super::table::{self, Column, Values};

/// Chunks of one part, and of one of its row groups.
const PART_CHUNKS: u64 = 1000;
const GROUP_CHUNKS: u64 = 100;

/// Chunks that nobody has computed yet.
pub fn missing(plan: &Plan) -> Vec<u64> {
    (0..plan.chunks()).filter(|c| !plan.is_done(*c)).collect()
}

/// Write the dataset from the chunks; what is there already stays as it is.
pub fn merge(plan: &Plan) -> Result<Summary> {
    let missing = missing(plan);
    if !missing.is_empty() {
        let some: Vec<String> = missing.iter().take(5).map(u64::to_string).collect();
        return Err(Error::refused(
            format!(
                "{} of {} chunks are missing ({}{})",
                missing.len(),
                plan.chunks(),
                some.join(", "),
                if missing.len() > 5 { ", …" } else { "" }
            ),
            "`stribeck campaign run` computes what is missing; so does every shard that is started again",
        ));
    }
    let numeric = table::numeric(plan);
    let mut summary = Summary {
        runs: plan.frozen.runs,
        ..Summary::default()
    };
    for part in 0..plan.chunks().div_ceil(PART_CHUNKS) {
        let chunks = part * PART_CHUNKS..((part + 1) * PART_CHUNKS).min(plan.chunks());
        write_part(plan, part, chunks, &numeric, &mut summary)?;
    }
    Ok(summary)
}

/// One part of every method, in one pass over its chunks.
fn write_part(
    plan: &Plan,
    part: u64,
    chunks: std::ops::Range<u64>,
    numeric: &[bool],
    summary: &mut Summary,
) -> Result<()> {
    let mut parts: Vec<Part> = Vec::new();
    for method in &plan.spec.identify.methods {
        parts.push(Part::new(plan, method, part, numeric)?);
    }
    let mut from = chunks.start;
    while from < chunks.end {
        let to = (from + GROUP_CHUNKS).min(chunks.end);
        let mut results = Vec::new();
        for index in from..to {
            results.extend(chunk::read(plan, index)?);
        }
        count(&results, summary);
        for p in &mut parts {
            let columns = table::columns(plan, &results, p.method, numeric);
            summary.rows += rows(&columns);
            p.write(&columns)?;
        }
        from = to;
    }
    parts.into_iter().try_for_each(Part::finish)
}

fn count(results: &[RunResult], summary: &mut Summary) {
    for r in results {
        let has = |s| r.judgements.iter().any(|j| j.status == s);
        match () {
            () if has(Status::Ok) => summary.ok += 1,
            () if has(Status::Duplicate) => summary.duplicates += 1,
            () => summary.failed += 1,
        }
    }
}

fn rows(columns: &[Column]) -> u64 {
    match columns.first().map(|c| &c.values) {
        Some(Values::Integer(v)) => v.len() as u64,
        _ => 0,
    }
}

/// A file of the dataset under way; none where it is there already.
struct Part<'a> {
    method: &'a str,
    path: std::path::PathBuf,
    writer: Option<SerializedFileWriter<Replacement>>,
}

impl<'a> Part<'a> {
    fn new(plan: &Plan, method: &'a str, part: u64, numeric: &[bool]) -> Result<Part<'a>> {
        let folder = plan.folder.join("results").join(format!("method={method}"));
        let path = folder.join(format!("part-{part:05}.parquet"));
        if path.is_file() {
            return Ok(Part {
                method,
                path,
                writer: None,
            });
        }
        std::fs::create_dir_all(&folder).map_err(|e| Error::write(&folder, e))?;
        let out = Replacement::create_in(&plan.folder, &path)?;
        let make = || {
            let schema = schema(&table::columns(plan, &[], method, numeric));
            let schema = Arc::new(parse_message_type(&schema)?);
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_created_by(concat!("stribeck ", env!("CARGO_PKG_VERSION")).into())
                .build();
            SerializedFileWriter::new(out, schema, Arc::new(properties))
        };
        let writer = make().map_err(|e| fail(&path, e))?;
        Ok(Part {
            method,
            path,
            writer: Some(writer),
        })
    }

    fn write(&mut self, columns: &[Column]) -> Result<()> {
        let Some(writer) = self.writer.as_mut().filter(|_| rows(columns) > 0) else {
            return Ok(());
        };
        let mut put = || {
            let mut group = writer.next_row_group()?;
            for column in columns {
                if let Some(mut out) = group.next_column()? {
                    write_column(&mut out, &column.values)?;
                    out.close()?;
                }
            }
            group.close().map(drop)
        };
        put().map_err(|e| fail(&self.path, e))
    }

    fn finish(self) -> Result<()> {
        let Some(writer) = self.writer else {
            return Ok(());
        };
        let out = writer.into_inner().map_err(|e| fail(&self.path, e))?;
        out.commit_synced()
    }
}

fn schema(columns: &[Column]) -> String {
    let field = |c: &Column| {
        let (physical, logical) = match c.values {
            Values::Integer(_) => ("INT64", ""),
            Values::Number(_) => ("DOUBLE", ""),
            Values::Flag(_) => ("BOOLEAN", ""),
            Values::Text(_) => ("BYTE_ARRAY", " (STRING)"),
        };
        format!("OPTIONAL {physical} {}{logical};", c.name)
    };
    let fields: Vec<String> = columns.iter().map(field).collect();
    format!("message stribeck {{ {} }}", fields.join(" "))
}

fn write_column(
    out: &mut SerializedColumnWriter<'_>,
    values: &Values,
) -> parquet::errors::Result<()> {
    fn split<T: Clone>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
        let there = values.iter().map(|v| i16::from(v.is_some())).collect();
        (values.iter().flatten().cloned().collect(), there)
    }
    match values {
        Values::Integer(v) => {
            let (v, there) = split(v);
            out.typed::<Int64Type>()
                .write_batch(&v, Some(&there), None)?;
        }
        Values::Number(v) => {
            let (v, there) = split(v);
            out.typed::<DoubleType>()
                .write_batch(&v, Some(&there), None)?;
        }
        Values::Flag(v) => {
            let (v, there) = split(v);
            out.typed::<BoolType>()
                .write_batch(&v, Some(&there), None)?;
        }
        Values::Text(v) => {
            let (v, there) = split(v);
            let v: Vec<ByteArray> = v.iter().map(|s| ByteArray::from(s.as_str())).collect();
            out.typed::<ByteArrayType>()
                .write_batch(&v, Some(&there), None)?;
        }
    }
    Ok(())
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
