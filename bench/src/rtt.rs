//! RTT up channel 0 and the defmt frames in it.
//!
//! Reads the ring buffer out of RAM as a debug probe would, without stopping the processor.

use defmt_decoder::{DecodeError, Table};

use crate::cpu::Cpu;
use crate::elf::Program;
use crate::time::Time;

/// One line for people.
#[derive(Clone, Debug)]
pub struct LogLine {
    pub at: Time,
    pub from: Source,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The program's own log.
    Firmware,
    /// The bench.
    Bench,
}

impl LogLine {
    pub fn bench(at: Time, text: String) -> Self {
        LogLine {
            at,
            from: Source::Bench,
            text,
        }
    }
}

pub struct Rtt {
    /// Address of the control block.
    control: Option<u32>,
    table: Option<&'static Table>,
    decoder: Option<Box<dyn defmt_decoder::StreamDecoder>>,
}

impl Rtt {
    /// A program without RTT or defmt simply logs nothing.
    pub fn new(program: &Program) -> Result<Rtt, String> {
        let table = if program.bytes.is_empty() {
            None
        } else {
            Table::parse(&program.bytes).map_err(|e| e.to_string())?
        };
        // A decoder borrows its table for as long as it lives; there is one per program and process.
        let table: Option<&'static Table> = table.map(|t| &*Box::leak(Box::new(t)));
        Ok(Rtt {
            control: program.address_of("_SEGGER_RTT"),
            decoder: table.map(|t| t.new_stream_decoder() as Box<dyn defmt_decoder::StreamDecoder>),
            table,
        })
    }

    /// Takes what the program has written since the last call.
    pub fn drain(&mut self, cpu: &mut Cpu, now: Time) -> Vec<LogLine> {
        let Some(control) = self.control else {
            return Vec::new();
        };
        if cpu.read_bytes(control, 10).as_deref() != Some(b"SEGGER RTT") {
            return Vec::new();
        }
        let field = |i: u32| cpu.read_word(control + 24 + i).unwrap_or(0);
        let (buffer, size, write, read) = (field(4), field(8), field(12), field(16));
        if size == 0 || size > 0x10_0000 || write >= size || read >= size || write == read {
            return Vec::new();
        }
        let Some(ring) = cpu.read_bytes(buffer, size as usize) else {
            return Vec::new();
        };
        let (w, r) = (write as usize, read as usize);
        let bytes = if w > r {
            ring[r..w].to_vec()
        } else {
            [&ring[r..], &ring[..w]].concat()
        };
        cpu.write_bytes(control + 24 + 16, &write.to_le_bytes());
        self.decode(&bytes, now)
    }

    fn decode(&mut self, bytes: &[u8], now: Time) -> Vec<LogLine> {
        let Some(decoder) = &mut self.decoder else {
            return Vec::new();
        };
        decoder.received(bytes);
        let mut lines = Vec::new();
        loop {
            let text = match decoder.decode() {
                Ok(frame) => frame.display(false).to_string(),
                Err(DecodeError::UnexpectedEof) => return lines,
                Err(DecodeError::Malformed)
                    if self.table.is_some_and(|t| t.encoding().can_recover()) =>
                {
                    "(malformed defmt frame)".into()
                }
                Err(DecodeError::Malformed) => return lines,
            };
            lines.push(LogLine {
                at: now,
                from: Source::Firmware,
                text,
            });
        }
    }

    /// RAM was lost: half a frame may be waiting.
    pub fn restart(&mut self) {
        self.decoder = self
            .table
            .map(|t| t.new_stream_decoder() as Box<dyn defmt_decoder::StreamDecoder>);
    }
}
