//! As much of the Thumb-2 instruction set (ARMv7-M, FPv5) as the checks need: lengths, branches, stack
//! adjustments, and a few instructions that must not occur.
//!
//! Encodings: ARM DDI 0403E (ARMv7-M Architecture Reference Manual), chapters A7.7 and A7.5.

/// What one instruction does, as far as the checks care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// bl: a call to a fixed address.
    Call(u32),
    /// b, b.w, conditional or not: to a fixed address, in or outside the function.
    Jump(u32),
    /// blx register: a call to an address computed at run time.
    IndirectCall,
    /// bx or mov pc or ldr pc, other than a return.
    IndirectJump,
    /// Takes this many bytes of stack.
    Stack(u32),
    /// Takes an amount of stack that is computed at run time.
    StackDynamic,
    /// vfma, vfms, vfnma, vfnms: rounds once where the host rounds twice.
    Fused,
    /// Arithmetic on f64 registers.
    Double,
    /// cpsid/cpsie or a write to PRIMASK, BASEPRI, FAULTMASK.
    Mask,
    /// udf: where the compiler put an abort.
    Trap,
    Other,
}

/// An instruction and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub op: Op,
    pub bytes: u32,
}

/// Decode the instruction at `address`; `second` is the halfword after `first` (0 at the end of the code).
pub fn decode(address: u32, first: u16, second: u16) -> Instruction {
    if first >> 11 >= 0b11101 {
        let op = wide(address, first as u32, second as u32);
        Instruction { op, bytes: 4 }
    } else {
        let op = narrow(address, first as u32);
        Instruction { op, bytes: 2 }
    }
}

fn narrow(address: u32, h: u32) -> Op {
    let pc = address.wrapping_add(4);
    let register = h >> 3 & 0xF;
    match h {
        // push {…, lr}
        _ if h & 0xFE00 == 0xB400 => Op::Stack(4 * (h & 0x1FF).count_ones()),
        // sub sp, #imm7·4
        _ if h & 0xFF80 == 0xB080 => Op::Stack(4 * (h & 0x7F)),
        // b<cond>; 14 is udf, 15 svc
        _ if h & 0xF000 == 0xD000 => match h >> 8 & 0xF {
            14 => Op::Trap,
            15 => Op::Other,
            _ => Op::Jump(pc.wrapping_add_signed(sign_extend(h & 0xFF, 8) * 2)),
        },
        _ if h & 0xF800 == 0xE000 => {
            Op::Jump(pc.wrapping_add_signed(sign_extend(h & 0x7FF, 11) * 2))
        }
        _ if h & 0xFF87 == 0x4780 => Op::IndirectCall,
        // bx; bx lr is a return
        _ if h & 0xFF87 == 0x4700 && register != 14 => Op::IndirectJump,
        // mov pc, register; mov pc, lr is a return
        _ if h & 0xFF87 == 0x4687 && register != 14 => Op::IndirectJump,
        // cps
        _ if h & 0xFFE8 == 0xB660 => Op::Mask,
        _ => Op::Other,
    }
}

fn wide(address: u32, a: u32, b: u32) -> Op {
    let pc = address.wrapping_add(4);
    match (a, b) {
        // bl
        _ if a & 0xF800 == 0xF000 && b & 0xD000 == 0xD000 => Op::Call(far(pc, a, b)),
        // b.w
        _ if a & 0xF800 == 0xF000 && b & 0xD000 == 0x9000 => Op::Jump(far(pc, a, b)),
        // udf.w
        _ if a & 0xFFF0 == 0xF7F0 && b & 0xF000 == 0xA000 => Op::Trap,
        // msr to PRIMASK, BASEPRI, BASEPRI_MAX, FAULTMASK
        _ if a & 0xFFE0 == 0xF380 && b & 0xFF00 == 0x8800 => match b & 0xFF {
            0x10..=0x13 => Op::Mask,
            _ => Op::Other,
        },
        // b<cond>.w
        _ if a & 0xF800 == 0xF000 && b & 0xD000 == 0x8000 && a >> 7 & 7 != 7 => {
            let imm = (a >> 10 & 1) << 19
                | (b >> 11 & 1) << 18
                | (b >> 13 & 1) << 17
                | (a & 0x3F) << 11
                | b & 0x7FF;
            Op::Jump(pc.wrapping_add_signed(sign_extend(imm, 20) * 2))
        }
        // push.w {…}
        (0xE92D, _) => Op::Stack(4 * b.count_ones()),
        // str register, [sp, #-4]!
        (0xF84D, _) if b & 0x0FFF == 0x0D04 => Op::Stack(4),
        // strd …, [sp, #-imm]!
        (0xE96D, _) => Op::Stack(4 * (b & 0xFF)),
        // vpush
        _ if a & 0xFFBF == 0xED2D && b & 0x0E00 == 0x0A00 => Op::Stack(4 * (b & 0xFF)),
        // sub.w sp, sp, #modified immediate; subw sp, sp, #imm12
        _ if a & 0xFBEF == 0xF1AD && b & 0x8F00 == 0x0D00 => Op::Stack(expand(imm12(a, b))),
        _ if a & 0xFBFF == 0xF2AD && b & 0x8F00 == 0x0D00 => Op::Stack(imm12(a, b)),
        // sub.w sp, sp, register
        (0xEBAD, _) if b & 0x0F00 == 0x0D00 => Op::StackDynamic,
        // ldr.w pc, …; a load from the stack is a return
        _ if a & 0xFF70 == 0xF850 && b >> 12 == 15 && a & 0xF != 13 => Op::IndirectJump,
        _ if a & 0xEF00 == 0xEE00 && b & 0x0E10 == 0x0A00 => float(a, b),
        _ => Op::Other,
    }
}

/// Data processing of the FPU.
fn float(a: u32, b: u32) -> Op {
    let conditional_set = a & 0xFF00 == 0xEE00;
    let operation = a >> 4 & 0b1011;
    let double = b & 0x0100 != 0;
    match operation {
        0b1001 | 0b1010 if conditional_set => Op::Fused,
        // vcvt between f32 and f64, either way
        0b1011 if conditional_set && a & 0xF == 7 && b & 0xC0 == 0xC0 => Op::Double,
        // vmov between registers and vmov immediate are no arithmetic
        0b1011 if conditional_set && a & 0xF == 0 && b & 0xC0 == 0x40 => Op::Other,
        0b1011 if conditional_set && b & 0x40 == 0 => Op::Other,
        _ if double => Op::Double,
        _ => Op::Other,
    }
}

/// Target of bl and b.w.
fn far(pc: u32, a: u32, b: u32) -> u32 {
    let s = a >> 10 & 1;
    let i1 = !(b >> 13 ^ s) & 1;
    let i2 = !(b >> 11 ^ s) & 1;
    let imm = s << 23 | i1 << 22 | i2 << 21 | (a & 0x3FF) << 11 | b & 0x7FF;
    pc.wrapping_add_signed(sign_extend(imm, 24) * 2)
}

fn imm12(a: u32, b: u32) -> u32 {
    (a >> 10 & 1) << 11 | (b >> 12 & 7) << 8 | b & 0xFF
}

/// Thumb modified immediate.
fn expand(imm: u32) -> u32 {
    let byte = imm & 0xFF;
    match imm >> 8 {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte << 24 | byte << 16 | byte << 8 | byte,
        _ => (0x80 | byte & 0x7F).rotate_right(imm >> 7),
    }
}

fn sign_extend(value: u32, bits: u32) -> i32 {
    ((value << (32 - bits)) as i32) >> (32 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings as llvm-mc -triple=thumbv7em -mcpu=cortex-m7 prints them, little-endian bytes.
    fn at(address: u32, bytes: &[u8]) -> Op {
        let half = |i: usize| match bytes.get(2 * i..2 * i + 2) {
            Some(h) => u16::from_le_bytes([h[0], h[1]]),
            None => 0,
        };
        let found = decode(address, half(0), half(1));
        assert_eq!(found.bytes as usize, bytes.len());
        found.op
    }

    #[test]
    fn branches_reach_their_targets() {
        // bl .+4+0x1000; bl .+4−0x1000 and the like, all at 0x0800_0000
        assert_eq!(
            at(0x0800_0000, &[0x01, 0xF0, 0x00, 0xF8]),
            Op::Call(0x0800_1004)
        );
        assert_eq!(
            at(0x0800_0000, &[0xFE, 0xF7, 0xFE, 0xFF]),
            Op::Call(0x07FF_F000)
        );
        assert_eq!(
            at(0x0800_0000, &[0x00, 0xF0, 0x00, 0xB8]),
            Op::Jump(0x0800_0004)
        );
        assert_eq!(at(0x0800_0000, &[0xFE, 0xE7]), Op::Jump(0x0800_0000));
        assert_eq!(at(0x0800_0000, &[0xFE, 0xD0]), Op::Jump(0x0800_0000));
        // beq.w .−0x1000+4
        assert_eq!(
            at(0x0800_0000, &[0x3F, 0xF4, 0x00, 0xA8]),
            Op::Jump(0x07FF_F004)
        );
        assert_eq!(at(0, &[0x98, 0x47]), Op::IndirectCall);
        assert_eq!(at(0, &[0x18, 0x47]), Op::IndirectJump);
        assert_eq!(at(0, &[0x70, 0x47]), Op::Other);
    }

    #[test]
    fn stack_adjustments_are_counted() {
        assert_eq!(at(0, &[0xF0, 0xB5]), Op::Stack(20)); // push {r4-r7, lr}
        assert_eq!(at(0, &[0x2D, 0xE9, 0x00, 0x0F]), Op::Stack(16)); // push.w {r8-r11}
        assert_eq!(at(0, &[0x84, 0xB0]), Op::Stack(16)); // sub sp, #16
        assert_eq!(at(0, &[0xAD, 0xF2, 0x4C, 0x5D]), Op::Stack(1356)); // subw sp, sp, #1356
        assert_eq!(at(0, &[0xAD, 0xF5, 0x80, 0x5D]), Op::Stack(4096)); // sub.w sp, sp, #4096
        assert_eq!(at(0, &[0x2D, 0xED, 0x10, 0x8B]), Op::Stack(64)); // vpush {d8-d15}
        assert_eq!(at(0, &[0x4D, 0xF8, 0x04, 0xBD]), Op::Stack(4)); // str r11, [sp, #-4]!
        assert_eq!(at(0, &[0xAD, 0xEB, 0x01, 0x0D]), Op::StackDynamic); // sub.w sp, sp, r1
    }

    #[test]
    fn fused_and_double_arithmetic_is_told_from_plain() {
        assert_eq!(at(0, &[0xA0, 0xEE, 0x81, 0x0A]), Op::Fused); // vfma.f32 s0, s1, s2
        assert_eq!(at(0, &[0xA0, 0xEE, 0xC1, 0x0A]), Op::Fused); // vfms.f32 s0, s1, s2
        assert_eq!(at(0, &[0x90, 0xEE, 0x81, 0x0A]), Op::Fused); // vfnms.f32 s0, s1, s2
        assert_eq!(at(0, &[0xA1, 0xEE, 0x02, 0x0B]), Op::Fused); // vfma.f64 d0, d1, d2
        assert_eq!(at(0, &[0x00, 0xEE, 0x81, 0x0A]), Op::Other); // vmla.f32 s0, s1, s2
        assert_eq!(at(0, &[0x20, 0xEE, 0x81, 0x0A]), Op::Other); // vmul.f32 s0, s1, s2
        assert_eq!(at(0, &[0x31, 0xEE, 0x02, 0x0B]), Op::Double); // vadd.f64 d0, d1, d2
        assert_eq!(at(0, &[0xB0, 0xEE, 0x41, 0x0B]), Op::Other); // vmov.f64 d0, d1
        assert_eq!(at(0, &[0xB7, 0xEE, 0xC0, 0x0A]), Op::Double); // vcvt.f64.f32 d0, s0
        assert_eq!(at(0, &[0xB7, 0xEE, 0x00, 0x0A]), Op::Other); // vmov.f32 s0, #1.0
        assert_eq!(at(0, &[0xB1, 0xEE, 0xE0, 0x0A]), Op::Other); // vsqrt.f32 s0, s1
        assert_eq!(at(0, &[0x81, 0xFE, 0x02, 0x0B]), Op::Double); // vmaxnm.f64 d0, d1, d2
        assert_eq!(at(0, &[0x10, 0xEE, 0x10, 0x0A]), Op::Other); // vmov r0, s0
    }

    #[test]
    fn masks_and_traps_are_seen() {
        assert_eq!(at(0, &[0x72, 0xB6]), Op::Mask); // cpsid i
        assert_eq!(at(0, &[0x80, 0xF3, 0x11, 0x88]), Op::Mask); // msr basepri, r0
        assert_eq!(at(0, &[0x80, 0xF3, 0x08, 0x88]), Op::Other); // msr msp, r0
        assert_eq!(at(0, &[0xFE, 0xDE]), Op::Trap); // udf #254
    }
}
