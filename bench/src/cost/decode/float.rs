//! The floating-point extension: arithmetic, loads and stores, moves between the register files.

use super::{ALL, FLAGS, FP_FLAGS, Instruction, Unit, latency, load, r, store};

/// Register `v` with its extra bit, single (`.1` = false) or double, as bits.
fn fp(v: u32, extra: u32, double: bool) -> u64 {
    if double {
        3 << (32 + 2 * ((extra << 4 | v & 15) & 15))
    } else {
        1 << (32 + ((v & 15) << 1 | extra & 1))
    }
}

/// An instruction of the coprocessor space.
pub fn decode(h: u32, h2: u32) -> Instruction {
    if h2 >> 9 & 7 != 5 {
        return Instruction::alone(latency::SPECIAL);
    }
    let double = h2 >> 8 & 1 != 0;
    let (d, n, m) = (
        fp(h2 >> 12, h >> 6 & 1, double),
        fp(h, h2 >> 7 & 1, double),
        fp(h2, h2 >> 5 & 1, double),
    );
    if h >> 8 & 0xe == 0xc {
        return fp_memory(h, h2, double);
    }
    if h2 >> 4 & 1 != 0 {
        return fp_transfer(h, h2);
    }
    let float = |reads: u64, writes: u64| {
        let cycles = if double {
            latency::DOUBLE
        } else {
            latency::FLOAT
        };
        Instruction::new(Unit::Float, reads, writes, cycles)
    };
    if h >> 12 == 15 {
        return float(d | n | m | FLAGS, d); // VSEL, VMAXNM, VRINT
    }
    let long = |i: Instruction| {
        let cycles = if double {
            latency::DOUBLE_DIVIDE
        } else {
            latency::FLOAT_DIVIDE
        };
        Instruction {
            latency: cycles,
            occupies: cycles,
            ..i
        }
    };
    match h >> 4 & 0xb {
        0 | 1 | 9 | 10 => Instruction {
            latency: if double {
                2 * latency::DOUBLE
            } else {
                latency::FLOAT_MLA
            },
            late: if double || (n | m) & d != 0 {
                (0, 0)
            } else {
                (d, latency::ADDEND)
            },
            ..float(d | n | m, d)
        },
        2 | 3 => float(n | m, d),
        8 => long(float(n | m, d)),
        _ => match (h & 15, h2 >> 6 & 3) {
            (_, 0 | 2) => float(0, d), // immediate
            (1, 3) => long(float(m, d)),
            (4 | 5, _) => float(d | m, FP_FLAGS),
            // Conversions may change the size: both interpretations of the registers.
            (7..=15, _) => {
                let both = |v: u32, extra: u32| fp(v, extra, false) | fp(v, extra, true);
                float(both(h2, h2 >> 5 & 1) | d, both(h2 >> 12, h >> 6 & 1))
            }
            _ => float(m, d),
        },
    }
}

fn fp_memory(h: u32, h2: u32, double: bool) -> Instruction {
    let n = r(h);
    let first = fp(h2 >> 12, h >> 6 & 1, double);
    let loads = h >> 4 & 1 != 0;
    if h & 0xffe0 == 0xec40 {
        let (core, both) = (r(h2 >> 12) | r(h), fp(h2, h2 >> 5 & 1, true));
        let (from, to) = if loads { (both, core) } else { (core, both) };
        // Two single registers may be any neighbours: block all of them.
        let floats = if double { 0 } else { ALL << 32 };
        return Instruction::new(Unit::Float, from | floats, to | floats, latency::MOVE);
    }
    let words = h2 & 0xff;
    if h >> 8 & 1 != 0 && h >> 5 & 1 == 0 {
        let words = 1 + u32::from(double);
        let i = if loads {
            load(n, first)
        } else {
            store_float(n, first)
        };
        return Instruction {
            occupies: words,
            latency: i.latency + words - 1,
            ..i
        };
    }
    let start = first.trailing_zeros();
    let list = (0..words.min(32)).fold(0, |l, i| l | 1u64.checked_shl(start + i).unwrap_or(0));
    if loads {
        Instruction::multiple(n, n | list, words)
    } else {
        Instruction::multiple(n | list, n, words)
    }
}

/// Store of floating-point `data`.
fn store_float(address: u64, data: u64) -> Instruction {
    let mut i = store(address, data);
    i.late.1 = latency::FLOAT_STORED;
    i
}

/// One register between the core and the FPU, or the FPU's flags.
fn fp_transfer(h: u32, h2: u32) -> Instruction {
    let t = r(h2 >> 12);
    let to_core = h >> 4 & 1 != 0;
    let single = fp(h, h2 >> 7 & 1, false);
    let (reads, writes) = match (h >> 5 & 7, to_core) {
        (0, true) => (single, t),
        (0, false) => (t, single),
        (7, true) if h2 >> 12 == 15 => (FP_FLAGS, FLAGS),
        _ => return Instruction::alone(latency::SPECIAL),
    };
    Instruction::new(Unit::Float, reads, writes, latency::MOVE)
}
