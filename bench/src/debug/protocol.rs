//! Black Magic remote protocol: the packets of a debug probe, as probe-rs 0.32 sends them.
//!
//! ```text
//! !<command>#   from the debugger, at most 1,024 characters, numbers in hexadecimal
//! &K<value>#    done     &E<code># failed     &P# bad argument     &N# not offered
//! ```
//!
//! | packet | meaning |
//! |---|---|
//! | `GA` `HC` `HA` | name, protocol version, accelerators |
//! | `GV` `GF` `Gf` `GE` `GP` `Gp` `GZ` `Gz` | voltage, clock, clock output, power, reset pin |
//! | `SS` `Si` `SI` `So` `SO` | the SWD line: initialise, bits in and out, with and without parity |
//! | `Ad` `Aa` `AA` `AR` `Am` `AM` | debug port, access port, raw access, memory (versions 3 and 4) |
//! | `Hd` `Ha` `HA` `HL` `HM` `Hm` | the same in versions 0P (no device index) to 2 |
//!
//! Values of registers travel as four bytes, lowest first, in both directions, except that versions below 3 write them
//! as a number. Driving the reset pin low enables halting debug: probe-rs 0.32 sets the vector catch under reset, which the processor
//! ignores without it, and the enable only afterwards, so that it depends on the probe to do this. JTAG (`J…`) is not offered: the board's
//! connector has SWD.

use super::access::Size;
use super::port::{Fault, Port};
use super::swd::Line;
use crate::machine::Machine;

/// Longest packet, both ways.
pub const LONGEST: usize = 1024;
/// Highest protocol version offered; 0 stands for 0P.
pub const NEWEST: u8 = 4;
/// Accelerators of version 4: ADIv5.
const ADIV5: u64 = 1;

/// Error codes of `&E`.
const FAULT: u64 = 4;
const WRONG_LENGTH: u64 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Done(u64),
    Text(String),
    Bytes(Vec<u8>),
    Failed(u64),
    BadArgument,
    /// No such command.
    NotOffered,
}

impl Reply {
    pub const TOO_LONG: Reply = Reply::Failed(WRONG_LENGTH);

    /// The packet that says so.
    pub fn packet(&self) -> String {
        match self {
            Reply::Done(v) => format!("&K{v:x}#"),
            Reply::Text(t) => format!("&K{t}#"),
            Reply::Bytes(b) => {
                let hex: String = b.iter().map(|b| format!("{b:02x}")).collect();
                format!("&K{hex}#")
            }
            Reply::Failed(code) => format!("&E{code:x}#"),
            Reply::BadArgument => "&P#".into(),
            Reply::NotOffered => "&N#".into(),
        }
    }
}

/// The fields of a packet, taken from the left.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn take(&mut self, digits: usize) -> Option<&'a str> {
        let (head, tail) = self.0.split_at_checked(digits)?;
        self.0 = tail;
        Some(head)
    }

    fn number(&mut self, digits: usize) -> Option<u64> {
        let text = self.take(digits)?;
        let plain = text.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u64::from_str_radix(text, 16).ok())?
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.number(2)? as u8)
    }

    fn word(&mut self) -> Option<u32> {
        Some(self.number(8)? as u32)
    }

    /// Everything that is left, as a number.
    fn rest(&mut self) -> Option<u64> {
        let digits = self.0.len();
        (1..=16).contains(&digits).then(|| self.number(digits))?
    }
}

/// The probe: what it remembers between packets.
pub struct Remote {
    version: u8,
    port: Port,
    line: Line,
    clock_hz: u64,
}

impl Remote {
    /// A probe that speaks protocol `version` (0 = 0P, … 4).
    pub fn new(version: u8) -> Self {
        Remote {
            version: version.min(NEWEST),
            port: Port::default(),
            line: Line::default(),
            clock_hz: 4_000_000,
        }
    }

    /// Does what a packet (without `!` and `#`) asks.
    pub fn answer(&mut self, packet: &str, machine: &mut Machine) -> Reply {
        let Some((command, fields)) = packet.split_at_checked(2) else {
            return Reply::NotOffered;
        };
        let mut fields = Fields(fields);
        let done = match command.as_bytes() {
            [b'G', c] => self.general(*c, &mut fields, machine),
            [b'S', c] => self.swd(*c, &mut fields, machine),
            [b'H', b'C'] => Some(Reply::Done(u64::from(self.version))),
            [b'H', b'A'] if fields.0.is_empty() => Some(Reply::Done(ADIV5)),
            [b'A', c] if self.version >= 3 => self.access(*c, &mut fields, machine),
            // The old letters for memory access are the other way round.
            [b'H', c] if self.version < 3 => match c {
                b'L' => self.access(b'R', &mut fields, machine),
                b'M' => self.access(b'm', &mut fields, machine),
                b'm' => self.access(b'M', &mut fields, machine),
                c => self.access(*c, &mut fields, machine),
            },
            _ => return Reply::NotOffered,
        };
        done.unwrap_or(Reply::BadArgument)
    }

    fn general(&mut self, c: u8, fields: &mut Fields, machine: &mut Machine) -> Option<Reply> {
        Some(match c {
            b'A' => Reply::Text(format!(
                "stribeck virtual bench {}",
                env!("CARGO_PKG_VERSION")
            )),
            b'V' => Reply::Text("3.30V".into()),
            b'F' => {
                self.clock_hz = u64::from(fields.word()?);
                Reply::Done(0)
            }
            b'f' => Reply::Done(self.clock_hz),
            b'E' | b'P' => Reply::Done(0),
            b'p' => Reply::Done(1),
            b'Z' => {
                let low = fields.take(1)? == "1";
                machine.hold_reset(low);
                if low {
                    machine.chip_mut().debug.enable();
                }
                Reply::Done(0)
            }
            b'z' => Reply::Done(u64::from(machine.chip().debug.held)),
            _ => Reply::NotOffered,
        })
    }

    fn swd(&mut self, c: u8, fields: &mut Fields, machine: &mut Machine) -> Option<Reply> {
        if c == b'S' {
            self.line = Line::default();
            return Some(Reply::Done(0));
        }
        let count = u32::from(fields.byte()?);
        if count > 32 {
            return None;
        }
        let Remote { line, port, .. } = self;
        Some(match c {
            b'i' => Reply::Done(line.input(count)),
            b'I' => {
                let value = line.input(count);
                let wrong = u64::from(value.count_ones() & 1) != line.input(1);
                if wrong {
                    Reply::Failed(value)
                } else {
                    Reply::Done(value)
                }
            }
            b'o' => {
                line.output(fields.rest()?, count, port, machine);
                Reply::Done(0)
            }
            b'O' => {
                let value = fields.rest()?;
                line.output(value, count, port, machine);
                line.output(u64::from(value.count_ones() & 1), 1, port, machine);
                Reply::Done(0)
            }
            _ => Reply::NotOffered,
        })
    }

    fn access(&mut self, c: u8, fields: &mut Fields, machine: &mut Machine) -> Option<Reply> {
        if self.version > 0 {
            fields.byte()?; // device index: there is one
        }
        if c == b'R' {
            return self.raw(fields, machine);
        }
        if !matches!(c, b'd' | b'a' | b'A' | b'm' | b'M') {
            return Some(Reply::NotOffered);
        }
        let ap = fields.byte()?;
        let reply = match c {
            b'd' => Ok(register(self.port.dp_read(fields.number(4)? as u8))),
            b'a' => {
                let address = fields.number(4)? as u8;
                self.port.ap_read(ap, address, machine).map(register)
            }
            b'A' => {
                let (address, value) = (fields.number(4)? as u8, fields.word()?);
                let value = if self.version >= 3 {
                    value.swap_bytes()
                } else {
                    value
                };
                let done = self.port.ap_write(ap, address, value, machine);
                done.map(|()| Reply::Done(0))
            }
            b'm' => {
                fields.word()?; // CSW: protection and cache attributes, which nothing here looks at
                let (address, len) = (self.address(fields)?, fields.word()? as usize);
                if 2 * len + 4 > LONGEST {
                    return None;
                }
                let done = self.port.memory_read(ap, address, len, machine);
                done.map(Reply::Bytes)
            }
            _ => {
                fields.word()?;
                let size = Size::from_csw(u32::from(fields.byte()?));
                let (address, len) = (self.address(fields)?, fields.word()? as usize);
                if fields.0.len() != 2 * len {
                    return None;
                }
                let data: Option<Vec<u8>> = (0..len).map(|_| fields.byte()).collect();
                let done = self.port.memory_write(ap, address, &data?, size, machine);
                done.map(|()| Reply::Done(0))
            }
        };
        Some(self.told(reply))
    }

    fn raw(&mut self, fields: &mut Fields, machine: &mut Machine) -> Option<Reply> {
        let (read, address, value) = (fields.byte()?, fields.number(4)?, fields.word()?);
        let (access_port, address) = (address & 0x100 != 0, address as u8);
        let reply = if read != 0 {
            let done = self.port.swd_read(access_port, address & 0xc, machine);
            done.map(register)
        } else {
            self.port
                .swd_write(access_port, address & 0xc, Some(value), machine);
            Ok(Reply::Done(0))
        };
        Some(self.told(reply))
    }

    /// 64-bit addresses from version 4 on; there is nothing above 4 GiB.
    fn address(&self, fields: &mut Fields) -> Option<u32> {
        let digits = if self.version >= 4 { 16 } else { 8 };
        u32::try_from(fields.number(digits)?).ok()
    }

    /// A failed access is reported, and the port made usable again.
    fn told(&mut self, reply: Result<Reply, Fault>) -> Reply {
        reply.unwrap_or_else(|Fault| {
            self.port.clear_errors();
            Reply::Failed(FAULT)
        })
    }
}

fn register(value: u32) -> Reply {
    Reply::Bytes(value.to_le_bytes().to_vec())
}
