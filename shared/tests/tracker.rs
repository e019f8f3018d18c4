//! The tracker: what it follows exactly, how far it lags, how much noise it passes — as its header claims.
//!
//! `cargo test -p stribeck-core --release --test tracker`

use stribeck_core::model::sim::Rng;
use stribeck_core::observer::tracker::{Config, Gains, Tracker};

const DT: f64 = 1e-4;

fn pole(cfg: &Config) -> f64 {
    2.0 * std::f64::consts::PI * cfg.bandwidth_hz as f64
}

/// Follow q(t) for one second; the tracker then.
fn follow(cfg: &Config, q: impl Fn(f64) -> f64) -> Tracker<f64> {
    let gains = Gains::new(cfg, DT);
    let mut t = Tracker::start(q(0.0));
    for n in 1..=10_000 {
        gains.step(&mut t, q(n as f64 * DT));
    }
    t
}

#[test]
fn constant_acceleration_is_followed_without_error() {
    let t = follow(&Config::default(), |t| 0.3 + 2.0 * t + 15.0 * t * t);
    assert!((t.q - 17.3).abs() < 1e-9, "{}", t.q);
    assert!((t.w - 32.0).abs() < 1e-7, "{}", t.w);
    assert!((t.a - 30.0).abs() < 1e-5, "{}", t.a);
}

#[test]
fn changing_acceleration_lags_as_stated() {
    let cfg = Config::default();
    let jerk = 100.0;
    let t = follow(&cfg, |t| jerk * t * t * t / 6.0);
    let (lag, stated) = (jerk / 2.0 - t.w, 3.0 * jerk / (pole(&cfg) * pole(&cfg)));
    assert!((lag / stated - 1.0).abs() < 0.02, "{lag} {stated}");
}

#[test]
fn noise_on_the_velocity_is_as_stated() {
    for bandwidth_hz in [10.0, 30.0, 60.0] {
        let cfg = Config { bandwidth_hz };
        let gains = Gains::new(&cfg, DT);
        let sigma = 5.0 * 2.0 * std::f64::consts::PI / 40_000.0;
        let mut rng = Rng::new(4);
        let mut t = Tracker::start(0.0);
        let (mut square, n) = (0.0, 2_000_000);
        for _ in 0..n {
            gains.step(&mut t, sigma * rng.normal());
            square += t.w * t.w;
        }
        let p = pole(&cfg);
        let (rms2, stated2) = (square / n as f64, 1.75 * sigma * sigma * DT * p * p * p);
        println!("{bandwidth_hz} Hz: {rms2:.3e} (rad/s)², stated {stated2:.3e}");
        assert!((rms2 / stated2 - 1.0).abs() < 0.1, "{rms2:e} {stated2:e}");
    }
}

#[test]
fn f32_follows_f64() {
    let cfg = Config::default();
    let (single, double) = (Gains::new(&cfg, DT as f32), Gains::new(&cfg, DT));
    let (mut a, mut b) = (Tracker::start(0.0f32), Tracker::start(0.0f64));
    let mut rng = Rng::new(5);
    let quantum = 2.0 * std::f64::consts::PI / 40_000.0;
    let mut place = 0.0;
    for n in 0..600_000 {
        let speed = if n % 20_000 < 10_000 { 4.0 } else { -4.0 };
        place += speed * DT / quantum;
        let q = (place + 5.0 * rng.normal()) as i64 as f64 * quantum;
        single.step(&mut a, q as f32);
        double.step(&mut b, q);
        assert!((a.q as f64 - b.q).abs() < 0.1 * quantum, "tick {n}");
        assert!((a.w as f64 - b.w).abs() < 5e-3, "tick {n}");
    }
}
