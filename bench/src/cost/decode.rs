//! What an instruction needs of the pipeline: registers read and written, execution unit, latency.
//!
//! Thumb-2 with the single- and double-precision extension (ARMv7-M A5, A6), as far as timing needs it. What is not recognised reads and
//! writes everything and issues alone: never too cheap.
//!
//! Registers are bits: 0–15 the core's, 16 the flags, 17 the flags of the FPU, 32–63 S0–S31 (a D register is two of them).

mod float;

use super::branch::End;

pub const FLAGS: u64 = 1 << 16;
const FP_FLAGS: u64 = 1 << 17;
const ALL: u64 = !0;
const LR: u64 = 1 << 14;
const SP: u64 = 1 << 13;

/// Execution unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Integer,
    Multiply,
    Memory,
    Float,
    Branch,
    /// Issues alone and nothing starts before it is done.
    Alone,
}

/// Latency: cycles until a dependent instruction may start, as published in LLVM's scheduling model of the core (ARMScheduleM7.td) or
/// longer.
mod latency {
    pub const ALU: u32 = 1;
    pub const SHIFTED: u32 = 2;
    pub const MULTIPLY: u32 = 2;
    pub const DIVIDE: u32 = 12;
    /// Load of a word from tightly coupled memory or a cache hit; bytes and halfwords take one more.
    pub const LOAD: u32 = 2;
    pub const FLOAT: u32 = 3;
    /// Multiply-accumulate: two roundings.
    pub const FLOAT_MLA: u32 = 6;
    /// Its addend is needed only when the product is there (`ReadFPMAC`): a chain of them takes three cycles per link.
    pub const ADDEND: u32 = 3;
    /// Data to be stored is needed later than the address (`M7Read_EX2`, `M7Read_EX3`).
    pub const STORED: u32 = 1;
    pub const FLOAT_STORED: u32 = 2;
    pub const FLOAT_DIVIDE: u32 = 16;
    pub const DOUBLE: u32 = 7;
    pub const DOUBLE_DIVIDE: u32 = 31;
    /// Between the register files.
    pub const MOVE: u32 = 3;
    pub const SPECIAL: u32 = 4;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub reads: u64,
    pub writes: u64,
    /// Registers among those read that are needed only so many cycles after the start.
    pub late: (u64, u32),
    pub unit: Unit,
    /// Cycles until its results can be used.
    pub latency: u32,
    /// Cycles it keeps its issue slot.
    pub occupies: u32,
    /// Where it goes, for a branch.
    pub end: End,
    /// Instructions an IT makes conditional.
    pub conditions: u32,
}

impl Instruction {
    const fn new(unit: Unit, reads: u64, writes: u64, latency: u32) -> Self {
        Instruction {
            reads,
            writes,
            late: (0, 0),
            unit,
            latency,
            occupies: 1,
            end: End::Falls,
            conditions: 0,
        }
    }

    const fn alone(cycles: u32) -> Self {
        let mut i = Instruction::new(Unit::Alone, ALL, ALL, cycles);
        i.occupies = cycles;
        i
    }

    const fn branch(end: End, reads: u64, writes: u64) -> Self {
        let mut i = Instruction::new(Unit::Branch, reads, writes, latency::ALU);
        i.end = end;
        i
    }

    /// `words` transferred one per cycle.
    const fn multiple(reads: u64, writes: u64, words: u32) -> Self {
        let mut i = Instruction::new(Unit::Memory, reads, writes, latency::LOAD + words);
        i.occupies = words + 1;
        i
    }
}

const fn r(n: u32) -> u64 {
    1 << (n & 15)
}

fn alu(reads: u64, writes: u64) -> Instruction {
    Instruction::new(Unit::Integer, reads, writes, latency::ALU)
}

fn load(reads: u64, writes: u64) -> Instruction {
    let mut i = Instruction::new(Unit::Memory, reads, writes, latency::LOAD);
    if writes & r(15) != 0 {
        i.end = End::Indirect;
    }
    i
}

/// Load of a byte or halfword.
fn part(i: Instruction) -> Instruction {
    Instruction {
        latency: i.latency + 1,
        ..i
    }
}

/// Store of `data` at an address made of `address`.
fn store(address: u64, data: u64) -> Instruction {
    let mut i = Instruction::new(Unit::Memory, address | data, 0, latency::ALU);
    i.late = (data & !address, latency::STORED);
    i
}

/// The instruction whose halfwords are `h` and, if it has two, `h2`.
pub fn decode(h: u16, h2: u16) -> Instruction {
    if crate::cpu::thumb::length(h) == 2 {
        narrow(u32::from(h))
    } else {
        wide(u32::from(h), u32::from(h2))
    }
}

fn narrow(h: u32) -> Instruction {
    let (d, n, m, high) = (r(h & 7), r(h >> 3 & 7), r(h >> 6 & 7), r(h >> 8 & 7));
    match h >> 11 {
        0b00000..=0b00010 => alu(n, d | FLAGS),
        0b00011 => alu(n | if h >> 10 & 1 == 0 { m } else { 0 }, d | FLAGS),
        0b00100 => alu(0, high | FLAGS),
        0b00101 => alu(high, FLAGS),
        0b00110 | 0b00111 => alu(high, high | FLAGS),
        0b01000 => high_or_processing(h),
        0b01001 => load(0, high),
        0b01010 | 0b01011 => {
            if h >> 9 & 7 < 3 {
                store(n | m, d)
            } else if h >> 9 & 7 == 4 {
                load(n | m, d)
            } else {
                part(load(n | m, d))
            }
        }
        0b01100 | 0b01110 | 0b10000 => store(n, d),
        0b01101 => load(n, d),
        0b01111 | 0b10001 => part(load(n, d)),
        0b10010 => store(SP, high),
        0b10011 => load(SP, high),
        0b10100 => alu(0, high),
        0b10101 => alu(SP, high),
        0b10110 | 0b10111 => miscellaneous(h),
        0b11000 => Instruction::multiple(high | u64::from(h & 0xff), high, (h & 0xff).count_ones()),
        0b11001 => Instruction::multiple(high, high | u64::from(h & 0xff), (h & 0xff).count_ones()),
        0b11010 | 0b11011 if h >> 8 & 15 < 14 => Instruction::branch(End::Conditional, FLAGS, 0),
        0b11100 => Instruction::branch(End::Direct, 0, 0),
        _ => Instruction::alone(latency::SPECIAL),
    }
}

/// 010000 data processing, 010001 high registers and branches to a register.
fn high_or_processing(h: u32) -> Instruction {
    let (d, m) = (r(h & 7), r(h >> 3 & 7));
    if h >> 10 & 1 == 0 {
        return match h >> 6 & 15 {
            8 | 10 | 11 => alu(d | m, FLAGS),
            13 => Instruction::new(Unit::Multiply, d | m, d | FLAGS, latency::MULTIPLY),
            9 | 15 => alu(m, d | FLAGS),
            _ => alu(d | m | FLAGS, d | FLAGS),
        };
    }
    let (d, m) = (r(h >> 4 & 8 | h & 7), r(h >> 3 & 15));
    match h >> 8 & 3 {
        0 => alu(d | m, d),
        1 => alu(d | m, FLAGS),
        2 => alu(m, d),
        _ if h >> 7 & 1 != 0 => Instruction::branch(End::Indirect, m, LR),
        _ => Instruction::branch(End::Indirect, m, 0),
    }
}

fn miscellaneous(h: u32) -> Instruction {
    let (d, m) = (r(h & 7), r(h >> 3 & 7));
    let list = u64::from(h & 0xff);
    let words = (h & 0x1ff).count_ones();
    match h >> 8 & 15 {
        0 => alu(SP, SP),
        1 | 3 | 9 | 11 => Instruction::branch(End::Conditional, d, 0),
        2 | 10 => alu(m, d),
        4 | 5 => Instruction::multiple(SP | list | LR, SP, words),
        12 | 13 => {
            let mut i = Instruction::multiple(SP, SP | list, words);
            if h >> 8 & 1 != 0 {
                i.end = End::Indirect;
            }
            i
        }
        15 if h & 15 != 0 => {
            let mut i = alu(FLAGS, 0);
            i.conditions = crate::cpu::thumb::it_length(h as u16);
            i
        }
        15 => alu(0, 0), // hints
        _ => Instruction::alone(latency::SPECIAL),
    }
}

fn wide(h: u32, h2: u32) -> Instruction {
    let (n, d, m, t) = (r(h), r(h2 >> 8), r(h2), r(h2 >> 12));
    if h >> 10 & 3 == 3 {
        return float::decode(h, h2);
    }
    match h >> 9 & 15 {
        0b0100 if h >> 6 & 1 == 0 => many(h, h2),
        0b0100 => doubles_and_tables(h, h2),
        0b0101 => {
            let reads = if h & 15 == 15 { m } else { n | m };
            let (flags, carry) = (
                h >> 4 & 1,
                FLAGS * u64::from(matches!(h >> 5 & 15, 10 | 11)),
            );
            let shifted = h2 & 0x70c0 != 0;
            let mut i = alu(reads | carry, result(h2 >> 8, flags));
            i.latency = if shifted {
                latency::SHIFTED
            } else {
                latency::ALU
            };
            i
        }
        _ if h >> 11 & 3 == 2 => immediate_or_branch(h, h2),
        // Single loads and stores.
        0b1100 => {
            let register = h2 >> 11 & 1 == 0 && h >> 7 & 1 == 0;
            let back = if h >> 7 & 1 == 0 && h2 & 0x900 == 0x900 {
                n
            } else {
                0
            };
            let base = if h & 15 == 15 { 0 } else { n } | if register { m } else { 0 };
            if h >> 4 & 1 == 0 {
                let mut i = store(base, t);
                i.writes = back;
                i
            } else {
                let word = h >> 5 & 3 == 2;
                let hint = h2 >> 12 == 15 && !word;
                let i = load(base, if hint { back } else { t | back });
                if word { i } else { part(i) }
            }
        }
        0b1101 if h >> 8 & 1 == 0 => alu(n | m, d | (FLAGS * u64::from(h >> 4 & 1))),
        0b1101 if h >> 7 & 1 == 0 => {
            let a = if h2 >> 12 == 15 { 0 } else { t };
            Instruction::new(Unit::Multiply, n | m | a, d, latency::MULTIPLY)
        }
        0b1101 if h2 >> 4 & 15 == 15 => {
            let mut i = Instruction::new(Unit::Multiply, n | m, d, latency::DIVIDE);
            i.occupies = latency::DIVIDE;
            i
        }
        0b1101 => Instruction::new(Unit::Multiply, n | m | t | d, t | d, latency::MULTIPLY),
        _ => Instruction::alone(latency::SPECIAL),
    }
}

/// Destination `d`, or the flags alone when it is 15.
fn result(d: u32, flags: u32) -> u64 {
    let to = if d & 15 == 15 { 0 } else { r(d) };
    to | (FLAGS * u64::from(flags))
}

fn many(h: u32, h2: u32) -> Instruction {
    let (n, list, words) = (r(h), u64::from(h2 & 0xffff), (h2 & 0xffff).count_ones());
    if h >> 4 & 1 == 0 {
        return Instruction::multiple(n | list, n, words);
    }
    let mut i = Instruction::multiple(n, n | list & !r(15), words);
    if h2 >> 15 & 1 != 0 {
        i.end = End::Indirect;
    }
    i
}

fn doubles_and_tables(h: u32, h2: u32) -> Instruction {
    let (n, t, t2) = (r(h), r(h2 >> 12), r(h2 >> 8));
    let indexed = h >> 8 & 1 != 0 || h >> 5 & 1 != 0;
    if indexed {
        let back = if h >> 5 & 1 != 0 { n } else { 0 };
        return if h >> 4 & 1 != 0 {
            Instruction::multiple(n, t | t2 | back, 2)
        } else {
            Instruction::multiple(n | t | t2, back, 2)
        };
    }
    if h & 0xfff0 == 0xe8d0 && h2 & 0xffe0 == 0xf000 {
        let mut i = load(n | r(h2), 0);
        i.end = End::Indirect;
        return i;
    }
    Instruction::alone(latency::SPECIAL) // exclusive access
}

fn immediate_or_branch(h: u32, h2: u32) -> Instruction {
    let (n, d) = (r(h), r(h2 >> 8));
    if h2 >> 15 & 1 == 0 {
        if h >> 9 & 1 != 0 {
            // Plain immediates: MOVW, ADDW, bit fields; those that keep part of the destination read it.
            let reads = if h & 15 == 15 { 0 } else { n };
            let keeps = if matches!(h >> 4 & 31, 12 | 22) { d } else { 0 };
            return match h >> 4 & 31 {
                4 => alu(0, d), // MOVW: the field is part of the immediate
                12 => alu(d, d),
                _ => alu(reads | keeps, d),
            };
        }
        let reads = if h & 15 == 15 { 0 } else { n };
        let carry = FLAGS * u64::from(matches!(h >> 5 & 15, 10 | 11));
        return alu(reads | carry, result(h2 >> 8, h >> 4 & 1));
    }
    match h2 >> 12 & 5 {
        0 if h >> 7 & 7 != 7 => Instruction::branch(End::Conditional, FLAGS, 0),
        0 => Instruction::alone(latency::SPECIAL),
        1 => Instruction::branch(End::Direct, 0, 0),
        _ => Instruction::branch(End::Direct, 0, LR),
    }
}

#[cfg(test)]
mod tests;
