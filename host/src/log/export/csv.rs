//! Rows as comma-separated text: a line with the names, then the rows. Units and origin stand beside it ([`about`]).

use std::io::Write;
use std::path::{Path, PathBuf};

use super::about::{self, About};
use super::{Data, Sink, Table};
use crate::error::{Error, Result};
use crate::file::{self, Replacement};

pub struct Csv {
    out: Replacement,
    path: PathBuf,
}

impl Csv {
    pub fn new(mut out: Replacement, table: &Table, path: &Path) -> Result<Self> {
        let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        writeln!(out, "{}", names.join(",")).map_err(|e| Error::write(path, e))?;
        Ok(Csv {
            out,
            path: path.into(),
        })
    }

    fn row(&mut self, table: &Table, i: usize) -> std::io::Result<()> {
        for (n, column) in table.columns.iter().enumerate() {
            if n > 0 {
                self.out.write_all(b",")?;
            }
            // Rust prints floats with the fewest digits that read back to the same bits.
            match &column.data {
                Data::U8(v) => write!(self.out, "{}", v[i])?,
                Data::U32(v) => write!(self.out, "{}", v[i])?,
                Data::I32(v) => write!(self.out, "{}", v[i])?,
                Data::U64(v) => write!(self.out, "{}", v[i])?,
                Data::F32(v) => write!(self.out, "{:?}", v[i])?,
                Data::F64(v) => write!(self.out, "{:?}", v[i])?,
                Data::Text(v) => write!(self.out, "\"{}\"", v[i].replace('"', "\"\""))?,
            }
        }
        self.out.write_all(b"\n")
    }
}

impl Sink for Csv {
    fn write(&mut self, table: &Table) -> Result<()> {
        for i in 0..table.rows {
            self.row(table, i)
                .map_err(|e| Error::write(&self.path, e))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, table: &Table, about: &About) -> Result<()> {
        let path = self.path;
        self.out.commit()?;
        if file::is_special(&path) {
            return Ok(());
        }
        let text = format!("{:#}\n", about::csv(&path, table, about));
        file::replace(&about::beside(&path), text)
    }
}
