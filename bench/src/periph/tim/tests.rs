//! Tests of `tim`.

use super::*;
use crate::time::{US, cycle};

fn timer(name: &str) -> Tim {
    let kind = TIMERS.into_iter().find(|k| k.name == name).unwrap();
    Tim::new(kind, cycle(200_000_000))
}

#[test]
fn ten_kilohertz_update_every_100_us() {
    let mut t = timer("TIM7");
    t.write(0x2c, 19_999, 0);
    t.write(0x0c, 1, 0);
    t.write(0x00, CEN, 0);
    for n in 1..=5 {
        assert_eq!(t.next(), n * 100 * US);
        t.sync(n * 100 * US);
        assert_eq!((t.irqs().0, t.update_at), (true, n * 100 * US));
        t.write(0x10, !UIF, n * 100 * US + 7);
        assert!(!t.irqs().0);
    }
}

#[test]
fn prescaler_takes_effect_at_the_update_event() {
    let mut t = timer("TIM3");
    t.write(0x00, CEN, 0);
    t.write(0x28, 199, 0); // 1 MHz, not yet
    assert_eq!(t.read(0x24, US), Some(200));
    t.write(0x14, 1, US);
    assert_eq!(t.read(0x24, 11 * US), Some(10));
}

#[test]
fn update_generation_with_urs_sets_no_flag() {
    let mut t = timer("TIM3");
    t.write(0x00, URS, 0);
    t.write(0x14, 1, 0);
    assert_eq!(t.read(0x10, 0), Some(0));
    t.write(0x00, 0, 0);
    t.write(0x14, 1, 0);
    assert_eq!(t.read(0x10, 0), Some(UIF));
}

#[test]
fn compare_flag_rises_at_its_value() {
    let mut t = timer("TIM3");
    t.write(0x28, 199, 0);
    t.write(0x14, 1, 0);
    t.write(0x10, 0, 0);
    t.write(0x34, 50, 0);
    t.write(0x0c, 2, 0);
    t.write(0x00, CEN, 0);
    assert_eq!(t.next(), 50 * US);
    t.sync(49 * US);
    assert!(!t.irqs().1);
    t.sync(50 * US);
    assert!(t.irqs().1);
}

#[test]
fn one_pulse_stops_by_itself() {
    let mut t = timer("TIM6");
    t.write(0x2c, 199, 0);
    t.write(0x00, CEN | OPM, 0);
    assert_eq!(t.read(0x00, 2 * US).unwrap() & CEN, 0);
}

#[test]
fn encoder_counts_both_ways_and_wraps_at_arr() {
    let mut t = timer("TIM2");
    t.write(0x08, 3, 0);
    t.write(0x00, CEN, 0);
    t.encoder_input(5, 0);
    assert_eq!(t.read(0x24, 0), Some(5));
    t.encoder_input(-3, 0);
    assert_eq!(t.read(0x24, 0), Some(0xffff_fffd));
    assert_eq!(t.read(0x00, 0).unwrap() & DIR, DIR);
    t.write(0x2c, 999, 0);
    t.write(0x24, 998, 0);
    t.write(0x10, 0, 0);
    t.encoder_input(1, 0);
    assert_eq!(t.read(0x24, 0), Some(2));
    assert_eq!(t.read(0x10, 0), Some(UIF));
    t.encoder_input(-2, 0);
    assert_eq!(t.read(0x24, 0), Some(999));
}

#[test]
fn encoder_polarity_and_half_resolution() {
    let mut t = timer("TIM5");
    t.write(0x08, 3, 0);
    t.write(0x20, 1 << 1, 0);
    t.write(0x00, CEN, 0);
    t.encoder_input(4, 0);
    assert_eq!(t.read(0x24, 0), Some((-4i32) as u32));
    t.write(0x20, 0, 0);
    t.write(0x08, 1, 0);
    t.write(0x24, 0, 0);
    t.encoder_input(12, 0);
    assert_eq!(t.read(0x24, 0), Some(4));
}

#[test]
fn a_stopped_encoder_keeps_its_count() {
    let mut t = timer("TIM2");
    t.write(0x08, 3, 0);
    t.encoder_input(100, 0);
    t.write(0x00, CEN, 0);
    t.encoder_input(101, 0);
    assert_eq!(t.read(0x24, 0), Some(1));
}

#[test]
fn input_filters_follow_ccmr_and_the_clock_division() {
    let mut t = timer("TIM2");
    let clock = cycle(200_000_000);
    assert_eq!(t.filter_times(), [0, 0]);
    t.write(0x18, 3 << 4, 0); // IC1F: timer clock, N = 8: 40 ns
    assert_eq!(t.filter_times(), [8 * clock, 0]);
    t.write(0x18, 9 << 4 | 9 << 12, 0); // both: dead-time clock / 8, N = 8: 320 ns
    assert_eq!(t.filter_times(), [64 * clock; 2]);
    t.write(0x00, 2 << 8, 0); // CKD: a quarter: 1,280 ns
    assert_eq!(t.filter_times(), [256 * clock; 2]);
    t.write(0x18, 3 << 4 | 9 << 12, 0);
    assert_eq!(
        t.filter_times(),
        [8 * clock, 256 * clock],
        "the timer's own clock is not divided"
    );
}

#[test]
fn a_clock_change_keeps_the_counter() {
    let mut t = timer("TIM5");
    t.write(0x00, CEN, 0);
    t.set_clock(cycle(100_000_000), US);
    assert_eq!(t.read(0x24, 2 * US), Some(300));
}
