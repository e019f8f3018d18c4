//! A log as a source: the bytes of the wire in the order they came, as fast as they are asked for.

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};
use crate::link::source::{Arrival, Source};
use crate::log::read::LogReader;

pub struct LogSource {
    reader: LogReader<File>,
}

impl LogSource {
    pub fn open(path: &Path) -> Result<Self> {
        Ok(LogSource {
            reader: LogReader::open(path)?,
        })
    }
}

impl Source for LogSource {
    fn name(&self) -> String {
        self.reader.path().display().to_string()
    }

    fn read(&mut self, into: &mut Vec<u8>) -> Result<Arrival> {
        while let Some(item) = self.reader.read_next()? {
            if item.topic.is_wire() {
                into.extend_from_slice(item.data);
                return Ok(Arrival::Bytes);
            }
        }
        Ok(Arrival::End)
    }

    fn write(&mut self, _: &[u8]) -> Result<()> {
        Err(Error::source(
            format!("{} is a log: it takes no commands", self.name()),
            "use --from usb or --from sim",
        ))
    }

    fn takes_commands(&self) -> bool {
        false
    }

    fn is_live(&self) -> bool {
        false
    }
}
