//! The SWD line bit by bit (ADIv5.2 B4): how a probe talks before acceleration, and what remote protocol version 0 is made of.
//!
//! ```text
//! request  start APnDP RnW A2 A3 parity stop park   (probe → chip)
//! response ack[0..3]                                (chip → probe), then 32 bits of data and parity either way
//! ```
//!
//! Turnaround clocks are the probe's business and not seen here. A request with a wrong parity, stop or park bit makes the port
//! deaf until the next line reset (50 ones); the switch sequence from JTAG is such a request.

use super::port::{Fault, Port};
use crate::machine::Machine;

const OK: u64 = 0b001;
const FAULT: u64 = 0b100;
/// Ones in a row that reset the line.
const LINE_RESET: u32 = 50;

#[derive(Clone, Copy, Debug)]
struct Request {
    access_port: bool,
    read: bool,
    address: u8,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Waits for a line reset.
    #[default]
    Deaf,
    Idle,
    /// Request bits so far.
    Request {
        bits: u32,
        count: u32,
    },
    /// Bits to give to the probe.
    Respond {
        bits: u64,
        left: u32,
        write: Option<Request>,
    },
    /// Data bits of a write so far.
    Data {
        bits: u64,
        count: u32,
        to: Request,
    },
}

#[derive(Debug, Default)]
pub struct Line {
    state: State,
    /// Ones in a row.
    ones: u32,
}

impl Line {
    /// The probe drives `count` bits, the lowest first.
    pub fn output(&mut self, value: u64, count: u32, port: &mut Port, machine: &mut Machine) {
        for i in 0..count {
            self.bit(value >> i & 1 != 0, port, machine);
        }
    }

    /// The probe reads `count` bits, the lowest first; nobody driving reads as one.
    pub fn input(&mut self, count: u32) -> u64 {
        self.ones = 0;
        (0..count).fold(0, |value, i| value | u64::from(self.driven()) << i)
    }

    fn driven(&mut self) -> bool {
        let State::Respond { bits, left, write } = self.state else {
            return true;
        };
        self.state = match (left, write) {
            (1, Some(to)) => State::Data {
                bits: 0,
                count: 0,
                to,
            },
            (1, None) => State::Idle,
            _ => State::Respond {
                bits: bits >> 1,
                left: left - 1,
                write,
            },
        };
        bits & 1 != 0
    }

    fn bit(&mut self, one: bool, port: &mut Port, machine: &mut Machine) {
        self.ones = if one { self.ones + 1 } else { 0 };
        let bit = u32::from(one);
        self.state = match self.state {
            _ if self.ones >= LINE_RESET => State::Idle,
            State::Deaf => State::Deaf,
            // The probe did not want the rest.
            State::Idle | State::Respond { .. } if one => State::Request { bits: 1, count: 1 },
            State::Idle | State::Respond { .. } => State::Idle,
            State::Request { bits, count } => {
                let (bits, count) = (bits | bit << count, count + 1);
                if count < 8 {
                    State::Request { bits, count }
                } else {
                    match Request::parse(bits) {
                        Some(request) => request.respond(port, machine),
                        None => State::Deaf,
                    }
                }
            }
            State::Data { bits, count, to } => {
                let (bits, count) = (bits | u64::from(bit) << count, count + 1);
                if count < 33 {
                    State::Data { bits, count, to }
                } else {
                    let value = bits as u32;
                    let parity_ok = value.count_ones() & 1 == (bits >> 32) as u32;
                    port.swd_write(
                        to.access_port,
                        to.address,
                        parity_ok.then_some(value),
                        machine,
                    );
                    State::Idle
                }
            }
        };
    }
}

impl Request {
    fn parse(bits: u32) -> Option<Request> {
        let field = bits >> 1 & 0xf;
        let parity_ok = field.count_ones() & 1 == bits >> 5 & 1;
        let framed = bits & 0b1100_0001 == 0b1000_0001;
        (parity_ok && framed).then_some(Request {
            access_port: field & 1 != 0,
            read: field & 2 != 0,
            address: (field & 0xc) as u8,
        })
    }

    fn respond(self, port: &mut Port, machine: &mut Machine) -> State {
        if !self.read {
            let ack = if port.refuses(self.access_port, self.address, false) {
                FAULT
            } else {
                OK
            };
            return State::Respond {
                bits: ack,
                left: 3,
                write: Some(self),
            };
        }
        let (ack, value) = match port.swd_read(self.access_port, self.address, machine) {
            Ok(value) => (OK, value),
            Err(Fault) => (FAULT, 0),
        };
        let parity = u64::from(value.count_ones() & 1);
        State::Respond {
            bits: ack | u64::from(value) << 3 | parity << 35,
            left: 36,
            write: None,
        }
    }
}
