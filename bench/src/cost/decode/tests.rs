//! Tests of `decode`, on what the compiler emits for the observers (checked against objdump).

use super::*;

fn s(n: u32) -> u64 {
    1 << (32 + n)
}

fn check(h: u16, h2: u16, unit: Unit, reads: u64, writes: u64) {
    let i = decode(h, h2);
    assert_eq!(i.unit, unit, "{h:04x} {h2:04x}");
    assert_eq!(i.reads, reads, "{h:04x} {h2:04x} reads");
    assert_eq!(i.writes, writes, "{h:04x} {h2:04x} writes");
}

#[test]
fn narrow_instructions() {
    check(0x1888, 0, Unit::Integer, r(1) | r(2), r(0) | FLAGS); // adds r0, r1, r2
    check(0x2a05, 0, Unit::Integer, r(2), FLAGS); // cmp r2, #5
    check(0x4348, 0, Unit::Multiply, r(0) | r(1), r(0) | FLAGS); // muls r0, r1
    check(0x4680, 0, Unit::Integer, r(0), r(8)); // mov r8, r0
    check(0x4b02, 0, Unit::Memory, 0, r(3)); // ldr r3, [pc, #8]
    check(0x6848, 0, Unit::Memory, r(1), r(0)); // ldr r0, [r1, #4]
    assert_eq!(
        (decode(0x6848, 0).latency, decode(0x7848, 0).latency),
        (2, 3)
    ); // a byte takes longer
    check(0x5088, 0, Unit::Memory, r(0) | r(1) | r(2), 0); // str r0, [r1, r2]
    check(0xb2c8, 0, Unit::Integer, r(1), r(0)); // uxtb r0, r1
    check(0xb118, 0, Unit::Branch, r(0), 0); // cbz r0
    check(0xd0fe, 0, Unit::Branch, FLAGS, 0); // beq
    assert_eq!(decode(0xe7fe, 0).end, End::Direct);
    assert_eq!(decode(0x4770, 0).end, End::Indirect); // bx lr
    let pop = decode(0xbdf0, 0); // pop {r4-r7, pc}
    assert_eq!((pop.end, pop.occupies), (End::Indirect, 6));
    assert_eq!(decode(0xbf0c, 0).conditions, 2); // ite eq
}

#[test]
fn wide_instructions() {
    check(0xeb01, 0x0082, Unit::Integer, r(1) | r(2), r(0)); // add.w r0, r1, r2, lsl #2
    assert_eq!(decode(0xeb01, 0x0082).latency, 2);
    check(0xea4f, 0x0001, Unit::Integer, r(1), r(0)); // mov.w r0, r1
    check(0xebb1, 0x0f02, Unit::Integer, r(1) | r(2), FLAGS); // cmp.w r1, r2
    check(0xf101, 0x0001, Unit::Integer, r(1), r(0)); // add.w r0, r1, #1
    check(0xf241, 0x2034, Unit::Integer, 0, r(0)); // movw r0, #0x1234
    check(0xf2c1, 0x2034, Unit::Integer, r(0), r(0)); // movt r0, #0x1234
    check(0xf8d1, 0x0004, Unit::Memory, r(1), r(0)); // ldr.w r0, [r1, #4]
    check(0xf851, 0x0022, Unit::Memory, r(1) | r(2), r(0)); // ldr.w r0, [r1, r2, lsl #2]
    check(0xf8c1, 0x0004, Unit::Memory, r(1) | r(0), 0); // str.w r0, [r1, #4]
    check(0xf841, 0x0d04, Unit::Memory, r(1) | r(0), r(1)); // str.w r0, [r1, #-4]!
    check(0xfb01, 0xf002, Unit::Multiply, r(1) | r(2), r(0)); // mul r0, r1, r2
    check(
        0xfba1,
        0x0203,
        Unit::Multiply,
        r(0) | r(1) | r(2) | r(3),
        r(0) | r(2),
    ); // umull r0, r2, r1, r3
    let divide = decode(0xfbb1, 0xf0f2); // udiv r0, r1, r2
    assert_eq!(
        (divide.reads, divide.writes, divide.occupies),
        (r(1) | r(2), r(0), 12)
    );
    assert_eq!(decode(0xf000, 0xf800).end, End::Direct); // bl
    assert_eq!(decode(0xf000, 0x8000).end, End::Conditional); // beq.w
    assert_eq!(decode(0xe8bd, 0x8ff0).end, End::Indirect); // pop.w {…, pc}
    assert_eq!(decode(0xe9d1, 0x2304).writes, r(2) | r(3)); // ldrd r2, r3, [r1, #16]
    assert_eq!(decode(0xf3bf, 0x8f4f).unit, Unit::Alone); // dsb
}

#[test]
fn floating_point() {
    check(0xee30, 0x0a81, Unit::Float, s(1) | s(2), s(0)); // vadd.f32 s0, s1, s2
    check(0xee21, 0x0a02, Unit::Float, s(2) | s(4), s(0)); // vmul.f32 s0, s2, s4
    check(0xee00, 0x0a81, Unit::Float, s(0) | s(1) | s(2), s(0)); // vmla.f32 s0, s1, s2
    check(0xeeb0, 0x0a60, Unit::Float, s(1), s(0)); // vmov.f32 s0, s1
    check(0xeeb7, 0x0a00, Unit::Float, 0, s(0)); // vmov.f32 s0, #1.0
    check(0xeeb4, 0x0a60, Unit::Float, s(0) | s(1), 1 << 17); // vcmp.f32 s0, s1
    check(0xeef1, 0xfa10, Unit::Float, 1 << 17, FLAGS); // vmrs APSR_nzcv
    check(0xee10, 0x0a10, Unit::Float, s(0), r(0)); // vmov r0, s0
    check(0xed91, 0x0a01, Unit::Memory, r(1), s(0)); // vldr s0, [r1, #4]
    check(0xed81, 0x0a01, Unit::Memory, r(1) | s(0), 0); // vstr s0, [r1, #4]
    check(0xed2d, 0x8b02, Unit::Memory, SP | s(16) | s(17), SP); // vpush {d8}
    let divide = decode(0xee80, 0x0a81); // vdiv.f32 s0, s1, s2
    assert_eq!(
        (divide.reads, divide.writes, divide.occupies),
        (s(1) | s(2), s(0), 16)
    );
    let root = decode(0xeeb1, 0x0ae0); // vsqrt.f32 s0, s1
    assert_eq!((root.reads, root.writes, root.latency), (s(1), s(0), 16));
    let double = decode(0xee31, 0x0b02); // vadd.f64 d0, d1, d2
    assert_eq!(double.reads, s(2) | s(3) | s(4) | s(5));
    assert_eq!((double.writes, double.latency), (s(0) | s(1), 7));
}
