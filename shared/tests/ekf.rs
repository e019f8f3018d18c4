//! The EKF identifies friction from counts alone: reference run, coverage, noise level, other plants and rates, guards.
//!
//! `cargo test --release -p stribeck-core --test ekf`; without optimisation only the short tests run.

mod truths;

use stribeck_core::model::friction::Friction;
use stribeck_core::model::mismatch::NONE;
use stribeck_core::model::plant::{PlantConfig, pendulum};
use stribeck_core::number::words::Words as _;
use stribeck_core::observer::ekf::{self, Ekf, STAGE_JOINT};
use truths::{COUNT, Case, encode, identify, score};

const SHOWN: [usize; 4] = [0, 1, 3, 4];

fn with_vt(vt: f32) -> ekf::Config {
    ekf::Config {
        vt: [vt; 2],
        ..Default::default()
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn reference_run_within_one_percent() {
    let case = Case::reference();
    for (vt, least_fit) in [(0.02, 99.95), (0.005, 99.99)] {
        let s = score::<f32>(&case, &with_vt(vt), 0.0, 1);
        for k in [0, 3, 4] {
            assert!((s.ratio[k] - 1.0).abs() < 0.01, "vt {vt}: {s:?}");
        }
        assert!(s.covers(1), "vt {vt}: {s:?}");
        assert!(
            s.fit[0] >= least_fit && s.fit[1] >= least_fit,
            "vt {vt}: {s:?}"
        );
    }
}

/// A small version of `examples/study.rs`: every other truth with 5 counts RMS of noise.
#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn intervals_cover_random_truths() {
    let runs = 12;
    let half = |first: u64, noise: f64| {
        move || {
            (first..=runs)
                .step_by(2)
                .map(|seed| score::<f32>(&Case::random(seed), &with_vt(0.02), noise, seed))
                .collect::<Vec<_>>()
        }
    };
    let list: Vec<_> = std::thread::scope(|scope| {
        let (a, b) = (scope.spawn(half(1, 0.0)), scope.spawn(half(2, 5.0)));
        let mut list = a.join().unwrap();
        list.extend(b.join().unwrap());
        list
    });
    for k in SHOWN {
        let covered = list.iter().filter(|s| s.covers(k)).count();
        assert!(covered >= 11, "parameter {k}: {covered} of 12");
    }
    for (k, limit) in [(0, 0.05), (3, 0.05), (4, 0.10)] {
        let mut width: Vec<f64> = list.iter().map(|s| s.record_half_width[k]).collect();
        width.sort_by(f64::total_cmp);
        assert!(width[6] <= limit, "parameter {k}: {width:?}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn f32_and_f64_agree() {
    let case = Case {
        ticks: 600_000,
        ..Case::reference()
    };
    let config = ekf::Config::default();
    let measured = encode(&case.angles(), 0.0, 1);
    let short = Ekf::<f32>::new(&case.plant, &config, 1e-4, [COUNT as f32; 2]);
    let long = Ekf::<f64>::new(&case.plant, &config, 1e-4, [COUNT; 2]);
    let mut a = short.start(measured[0].map(|x| x as f32));
    let mut b = long.start(measured[0]);
    let mut worst = 0f64;
    for q in &measured {
        short.step(&mut a, q.map(|x| x as f32));
        long.step(&mut b, *q);
        for j in 0..2 {
            worst = worst.max((f64::from(a.q[j]) - b.q[j]).abs() / COUNT);
        }
    }
    assert!(worst < 0.5, "angles differ by up to {worst} counts in 60 s");
    let (a, b) = (short.estimate(&a), long.estimate(&b));
    assert_eq!(a.stage, STAGE_JOINT);
    for k in SHOWN {
        let apart = (f64::from(a.p[k]) - b.p[k]).abs();
        assert!(apart < 0.2 * b.sigma[k], "parameter {k}: {a:?} {b:?}");
        let width = f64::from(a.sigma[k]) / b.sigma[k];
        assert!((width - 1.0).abs() < 0.02, "parameter {k}: σ ratio {width}");
    }
}

#[test]
fn noise_level_is_measured() {
    let case = Case {
        ticks: 20_000,
        ..Case::reference()
    };
    let angles = case.angles();
    let filter = Ekf::<f32>::new(&case.plant, &Default::default(), 1e-4, [COUNT as f32; 2]);
    for noise in [5.0, 20.0] {
        let measured = encode(&angles, noise, 3);
        let mut s = filter.start(measured[0].map(|x| x as f32));
        for q in &measured {
            filter.step(&mut s, q.map(|x| x as f32));
        }
        for found in filter.noise(&s) {
            let counts = f64::from(found) / COUNT;
            assert!((counts / noise - 1.0).abs() < 0.05, "{counts} for {noise}");
        }
    }
}

/// One joint, quadratic drag, at the rates of recorded decays as well as the chip's.
#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn one_joint_with_drag_at_any_rate() {
    for (rate_hz, cycle, substeps) in [(10_000.0, 10, 1), (1_000.0, 1, 2), (150.0, 1, 10)] {
        let case = Case {
            plant: PlantConfig::Pendulum(pendulum::Config::default()),
            friction: [
                Friction {
                    drag: 8e-5,
                    ..Friction::brown_mcphee([1e-3, 1.2e-3, 2e-4, 5e-3, 1e-2])
                },
                Friction::NONE,
            ],
            q0: [2.6, 0.0],
            dt_s: 1.0 / rate_hz,
            ticks: (40.0 * rate_hz) as usize,
            mismatch: NONE,
        };
        let config = ekf::Config {
            drag: true,
            cycle,
            substeps,
            ..Default::default()
        };
        let s = score::<f32>(&case, &config, 0.0, 1);
        for k in 0..3 {
            assert!(s.covers(k), "{rate_hz} Hz, parameter {k}: {s:?}");
            assert!(s.half_width[k] < 0.25, "{rate_hz} Hz, parameter {k}: {s:?}");
        }
        assert!(s.fit[0] > 99.9, "{rate_hz} Hz: {s:?}");
        assert_eq!(s.identifiable & !7, 0, "an inert joint has no friction");
    }
}

#[test]
fn a_joint_that_never_moves_is_not_identifiable() {
    let case = Case {
        ticks: 60_000,
        ..Case::reference()
    };
    let config = ekf::Config {
        start_s: 1.0,
        start_max_s: 2.0,
        ..Default::default()
    };
    // Nothing swings: the pendulum hangs, the arm stays.
    let measured = vec![[0.5 * COUNT; 2]; case.ticks];
    let found = identify::<f32>(&case, &config, &measured);
    let e = &found.estimate;
    assert!(found.start_s <= 2.1, "{}", found.start_s);
    assert_eq!(e.identifiable, 0, "{e:?}");
    assert!(e.sigma[0] > 0.0 && e.p.iter().all(|p| *p >= 0.0));
}

#[test]
fn a_state_continues_from_its_words() {
    let case = Case {
        ticks: 4_000,
        ..Case::reference()
    };
    let config = ekf::Config {
        start_s: 0.2,
        start_max_s: 0.2,
        window_s: 0.01,
        ..Default::default()
    };
    let filter = Ekf::<f32>::new(&case.plant, &config, 1e-4, [COUNT as f32; 2]);
    let words = |s: &ekf::State<f32>| {
        let mut list = Vec::new();
        s.save(&mut |w| list.push(w));
        list
    };
    let mut s = filter.start([0.0, 2.0]);
    let mut copy = s;
    for (i, q) in encode(&case.angles(), 0.0, 1).iter().enumerate() {
        if i == 3_333 {
            let mut saved = words(&s).into_iter();
            copy = ekf::State::load(&mut || saved.next().unwrap());
            assert_eq!(saved.next(), None);
        }
        filter.step(&mut s, q.map(|x| x as f32));
        filter.step(&mut copy, q.map(|x| x as f32));
        assert_eq!(words(&s), words(&copy), "tick {i}");
    }
    assert_eq!(filter.stage(&s), STAGE_JOINT);
}
