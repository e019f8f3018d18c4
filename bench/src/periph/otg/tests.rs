//! Tests of `otg`.

use super::*;

const EP1: u32 = 0x900 + 0x20;

fn armed(len: u32) -> Otg {
    let mut o = Otg::default();
    o.write(EP1, 64 | USBAEP | SNAK);
    o.write(EP1 + 0x10, 1 << 19 | len);
    o.write(EP1, 64 | USBAEP | EPENA | CNAK);
    o
}

#[test]
fn setup_reaches_the_driver_in_the_order_of_the_core() {
    let mut o = Otg::default();
    o.bus_setup(&[0x80, 6, 0, 1, 0, 0, 64, 0]);
    assert_eq!(o.read(0x014).unwrap() >> 4 & 1, 1, "RXFLVL");
    let status = o.read(0x020).unwrap();
    assert_eq!((status >> 17 & 15, status >> 4 & 0x7ff), (SETUP_DATA, 8));
    assert_eq!(o.read(0x1000), Some(0x0100_0680));
    assert_eq!(o.read(0x1000), Some(0x0040_0000));
    assert_eq!(o.read(0xb08), Some(0), "STUP only after the done entry");
    o.read(0x020);
    assert_eq!(o.read(0xb08), Some(STUP));
}

#[test]
fn in_packet_goes_out_when_the_fifo_holds_all_of_it() {
    let mut o = armed(6);
    assert_eq!(o.bus_in(1), Answer::Nak);
    o.write(0x2000, 0x0403_0201);
    o.write(0x2000, 0x0000_0605);
    assert_eq!(o.bus_in(1), Answer::Data(vec![1, 2, 3, 4, 5, 6]));
    assert_eq!(o.read(EP1).unwrap() & EPENA, 0);
    assert_eq!(o.read(EP1 + 8).unwrap() & XFRC, XFRC);
    assert_eq!(o.bus_in(1), Answer::Nak);
}

#[test]
fn zero_length_packet() {
    let mut o = armed(0);
    assert_eq!(o.bus_in(1), Answer::Data(vec![]));
}

#[test]
fn bus_reset_leaves_epena_and_a_flushed_packet_never_completes() {
    let mut o = armed(4);
    o.write(0x2000, 7);
    o.bus_reset();
    let ctl = o.read(EP1).unwrap();
    assert_eq!((ctl & EPENA, ctl & USBAEP), (EPENA, 0));
    o.write(0x010, 1 << 5 | 16 << 6);
    o.write(EP1, 64 | USBAEP | CNAK);
    assert_eq!(o.bus_in(1), Answer::Nak);
    o.write(EP1, 64 | USBAEP | EPDIS | SNAK);
    let ctl = o.read(EP1).unwrap();
    assert_eq!(ctl & EPENA, 0, "disabling it recovers");
}

#[test]
fn out_packet_waits_for_nak_release() {
    let mut o = Otg::default();
    let ep = 0xb00 + 0x20;
    o.write(ep, 64 | USBAEP | SNAK);
    assert_eq!(o.bus_out(1, b"hi"), Answer::Nak);
    o.write(ep, 64 | USBAEP | CNAK | EPENA);
    assert_eq!(o.bus_out(1, b"hi"), Answer::Data(vec![]));
    assert_eq!(o.bus_out(1, b"hi"), Answer::Nak);
    assert_eq!(o.read(0x020).unwrap() >> 4 & 0x7ff, 2);
    assert_eq!(o.read(0x1000), Some(u32::from_le_bytes(*b"hi\0\0")));
}

#[test]
fn stall_answers_both_directions_and_ends_with_the_next_setup() {
    let mut o = Otg::default();
    o.write(0x900, STALL);
    o.write(0xb00, STALL);
    assert_eq!(
        (o.bus_in(0), o.bus_out(0, &[])),
        (Answer::Stall, Answer::Stall)
    );
    o.bus_setup(&[0; 8]);
    assert_eq!(o.bus_in(0), Answer::Nak);
}

#[test]
fn fifo_size_is_enforced() {
    let mut o = Otg::default();
    o.write(0x104, 16 << 16);
    for w in 0..17 {
        o.write(0x2000, w);
    }
    assert_eq!(o.fifo_overflows, 1);
    assert_eq!(o.read(EP1 + 0x18), Some(0));
}

#[test]
fn interrupt_line_needs_mask_and_global_enable() {
    let mut o = Otg::default();
    o.raise(USBRST);
    assert!(!o.irq());
    o.write(0x018, USBRST);
    o.write(0x008, 1);
    assert!(o.irq());
    o.write(0x014, USBRST);
    assert!(!o.irq());
}
