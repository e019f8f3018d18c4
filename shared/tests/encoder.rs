//! Encoders: unwrapping is exact for any walk, faults are seen, and a healthy bench raises none.
//!
//! `cargo test -p stribeck-core --release --test encoder`

use stribeck_core::model::joint::Joint;
use stribeck_core::model::sim::{Encoder, REFERENCE_TICKS, Rng, Simulation};
use stribeck_core::observer::encoder::{self, Channel, Config, flag};

fn raw(count: i64, cfg: &Config, offset: u32) -> u32 {
    let signed = if cfg.reversed { -count } else { count };
    let wrapped = offset.wrapping_add(signed as u32);
    if cfg.counter_bits == 16 {
        wrapped & 0xffff
    } else {
        wrapped
    }
}

/// Random walks over many wraps in both directions, any width, sign and zero: differences are exact.
#[test]
fn any_walk_is_unwrapped_exactly() {
    let mut rng = Rng::new(1);
    for case in 0..400 {
        let bits = if case % 2 == 0 { 16 } else { 32 };
        let half_range = if bits == 16 { 32_767 } else { 1 << 30 };
        let cfg = Config {
            counter_bits: bits,
            reversed: rng.bits() & 1 == 1,
            zero: rng.bits() as i32 >> 8,
            ..Config::default()
        };
        let offset = rng.bits() as u32;
        let largest = rng.within(1.0, half_range as f64) as i64;
        let drift = rng.within(-1.0, 1.0);
        let mut channel = Channel::default();
        let mut walked = 0i64;
        let first = cfg.step(&mut channel, raw(0, &cfg, offset));
        for _ in 0..2_000 {
            let step = ((rng.within(-1.0, 1.0) + drift) * 0.5 * largest as f64) as i64;
            walked += step;
            let count = cfg.step(&mut channel, raw(walked, &cfg, offset));
            assert_eq!(count, first.wrapping_add(walked as i32), "case {case}");
            assert_eq!(channel.total().wrapping_sub(cfg.zero), count);
        }
    }
}

#[test]
fn sixteen_bit_wraps_both_ways() {
    let cfg = Config {
        counter_bits: 16,
        ..Config::default()
    };
    let mut c = Channel::default();
    let walk = [65_534u32, 65_535, 0, 1, 0, 65_535, 65_534, 65_530];
    let counts: Vec<i32> = walk.iter().map(|&r| cfg.step(&mut c, r)).collect();
    assert_eq!(counts, [-2, -1, 0, 1, 0, -1, -2, -6]);
    assert_eq!(c.faults.flags, 0);
    // Bits above the counter's width are ignored.
    assert_eq!(cfg.step(&mut c, 0xabcd_0000 | 65_529), -7);
}

#[test]
fn sign_zero_and_angle() {
    let cfg = Config {
        reversed: true,
        zero: 1_000,
        counts_per_rev: 4_096,
        ..Config::default()
    };
    let mut c = Channel::default();
    assert_eq!(cfg.step(&mut c, 0u32.wrapping_sub(1_000)), 0);
    assert_eq!(cfg.step(&mut c, 0u32.wrapping_sub(1_010)), 10);
    let quarter: f64 = cfg.place(Joint::Revolute, 1_024);
    let half_count = std::f64::consts::PI / 4_096.0;
    assert!((quarter - std::f64::consts::FRAC_PI_2 - half_count).abs() < 1e-12);
}

/// The reference run and its noisy versions, 32 and 16 bits, raise nothing.
#[test]
fn no_false_alarm_on_the_reference_run() {
    for (noise, bits) in [(0.0, 32u8), (5.0, 16), (20.0, 32), (20.0, 16)] {
        let mut bench = Simulation::reference(noise, 5);
        for e in &mut bench.encoders {
            e.counter_bits = bits;
            e.offset = 0xffff_fff0;
        }
        let cfg = Config::pair().map(|c| Config {
            counter_bits: bits,
            ..c
        });
        let mut channels = [Channel::default(); 2];
        for _ in 0..REFERENCE_TICKS {
            encoder::step(&cfg, &mut channels, bench.tick().counts, true);
        }
        for c in channels {
            assert_eq!(c.faults, Default::default(), "noise {noise}, {bits} bits");
        }
    }
}

/// Run the first five seconds of the reference swing with a fault put between counter and channel.
fn with_fault(fault: impl Fn(u32, [u32; 2]) -> [u32; 2]) -> [Channel; 2] {
    let mut bench = Simulation::reference(5.0, 6);
    let mut channels = [Channel::default(); 2];
    for tick in 0..50_000 {
        let counts = fault(tick, bench.tick().counts);
        encoder::step(&Config::pair(), &mut channels, counts, true);
    }
    channels
}

#[test]
fn a_jump_is_seen_once() {
    let [a, b] = with_fault(|t, [a, b]| [a, b.wrapping_add(if t >= 20_000 { 400 } else { 0 })]);
    assert_eq!((a.faults.jumps, b.faults.jumps), (0, 1));
    assert_eq!(b.faults.flags & flag::JUMP, flag::JUMP);
}

/// Twelve extra counts per tick for 20 ms: each single step looks harmless.
#[test]
fn an_impossible_acceleration_is_seen() {
    let [a, b] = with_fault(|t, [a, b]| {
        let run = t.saturating_sub(20_000).min(200) * 12;
        [a, b.wrapping_add(run)]
    });
    assert_eq!((a.faults.flags, b.faults.jumps), (0, 0));
    assert!(b.faults.accelerations >= 1);
}

#[test]
fn a_stuck_channel_is_seen_and_the_moving_one_is_not_blamed() {
    for dither in [0, 1] {
        let [a, b] = with_fault(|t, [a, b]| {
            let stuck = 77 + if dither == 1 { t & 1 } else { 0 };
            [if t < 10_000 { a } else { stuck }, b]
        });
        assert!(a.faults.stuck >= 1, "{:?}", a.faults);
        assert_eq!(b.faults.flags, 0);
    }
    let [a, b] = with_fault(|_, [a, _]| [a, 5]);
    assert!(b.faults.stuck >= 1 && a.faults.flags == 0);
}

/// A and B swap roles in the middle of the swing: from then on the counter runs backwards.
#[test]
fn a_channel_that_reverses_while_moving_is_seen() {
    let mut bench = Simulation::reference(5.0, 7);
    let mut channels = [Channel::default(); 2];
    let (mut last, mut shown) = (0u32, 0u32);
    let mut reversed_at = None;
    for tick in 0..50_000u32 {
        let s = bench.tick();
        let step = s.counts[1].wrapping_sub(last);
        last = s.counts[1];
        if reversed_at.is_none() && tick > 5_000 && s.w[1].abs() > 4.0 {
            reversed_at = Some(tick);
        }
        shown = if reversed_at.is_some() {
            shown.wrapping_sub(step)
        } else {
            shown.wrapping_add(step)
        };
        encoder::step(
            &[Config::default(); 2],
            &mut channels,
            [s.counts[0], shown],
            true,
        );
    }
    assert!(reversed_at.is_some());
    assert_eq!(channels[0].faults.flags, 0);
    // Counted per window: the one that contains the flip is followed by two mirrored ones.
    let seen = channels[1].faults.reversals;
    assert!((1..=2).contains(&seen), "{:?}", channels[1].faults);
    channels[1].clear_flags();
    assert_eq!(channels[1].faults.flags, 0);
}

#[test]
fn restart_forgets_the_place_but_not_the_faults() {
    let cfg = Config::default();
    let mut c = Channel::default();
    cfg.step(&mut c, 0);
    cfg.step(&mut c, 1_000);
    assert_eq!(c.faults.jumps, 1);
    c.restart();
    assert_eq!(cfg.step(&mut c, 500_000), 500_000);
    assert_eq!(c.faults.jumps, 1);
}

#[test]
fn bad_configurations_name_the_field() {
    let bad = |c: Config| c.validate().unwrap_err().field;
    let d = Config::default();
    assert_eq!(d.validate(), Ok(()));
    assert_eq!(
        bad(Config {
            counter_bits: 24,
            ..d
        }),
        "encoder.counter_bits"
    );
    assert_eq!(
        bad(Config {
            counts_per_rev: 0,
            ..d
        }),
        "encoder.counts_per_rev"
    );
    assert_eq!(bad(Config { max_jump: 0, ..d }), "encoder.max_jump");
    assert_eq!(
        bad(Config {
            max_jump: 40_000,
            counter_bits: 16,
            ..d
        }),
        "encoder.max_jump"
    );
    assert_eq!(
        bad(Config {
            max_acceleration: 0,
            ..d
        }),
        "encoder.max_acceleration"
    );
}

#[test]
fn the_simulated_encoder_rounds_down_and_wraps() {
    let e = Encoder {
        counts_per_rev: 4,
        counter_bits: 16,
        ..Encoder::default()
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    assert_eq!(e.read(1.5 * quarter, 0.0), 1);
    assert_eq!(e.read(-0.5 * quarter, 0.0), 0xffff);
    let r = Encoder {
        reversed: true,
        ..e
    };
    assert_eq!(r.read(1.5 * quarter, 0.0), 0xffff);
}

#[test]
fn lifting_the_pendulum_while_holding_the_arm_is_no_fault() {
    let mut bench = Simulation::reference(0.0, 1);
    bench.hold([0.0, 0.0], 1);
    let mut channels = [Channel::default(); 2];
    bench.carry([0.0, 2.0], 20_000);
    for _ in 0..20_000 {
        encoder::step(&Config::pair(), &mut channels, bench.tick().counts, false);
    }
    assert_eq!(channels.map(|c| c.faults.flags), [0, 0]);
}

/// Counts per metre: a joint that slides is read in metres, by the device and by the simulated encoder alike.
#[test]
fn a_sliding_joint_is_read_in_metres() {
    let cfg = Config {
        counts_per_rev: 20_000,
        ..Config::default()
    };
    assert_eq!(cfg.quantum::<f64>(Joint::Prismatic), 5e-5);
    let middle: f64 = cfg.place(Joint::Prismatic, 1_000);
    assert!((middle - 0.050_025).abs() < 1e-12, "{middle}");
    assert_eq!(cfg.counts_at(Joint::Prismatic, -0.25), -5_000);
    assert_eq!(
        cfg.counts_at(Joint::Revolute, core::f32::consts::PI),
        10_000
    );
    let e = stribeck_core::model::sim::Encoder {
        joint: Joint::Prismatic,
        counts_per_rev: 20_000,
        ..Default::default()
    };
    assert_eq!(e.read(0.050_025, 0.0), 1_000);
}
