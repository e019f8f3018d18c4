//! What disturbs the EKF is left out, survived and counted: slips, glitches, values that are no numbers, friction too stiff for the step.
//!
//! `cargo test --release -p stribeck-core --test ekf_faults`

mod truths;

use stribeck_core::number::words::{Path, Words as _};
use stribeck_core::observer::ekf::{self, Ekf, STAGE_JOINT, State};
use truths::{COUNT, Case, encode};

fn filter(case: &Case, config: &ekf::Config) -> Ekf<f32> {
    Ekf::new(&case.plant, config, case.dt_s as f32, [COUNT as f32; 2])
}

/// Every word of the state that is a number is finite; the integers of the state are those whose names say so.
fn assert_finite(s: &State<f32>) {
    let integers = [
        "held", "turn", "phase", "stage", "ticks", "streak", "counters", "windows", "running",
        "cycles", "taken", "sliding", ".n",
    ];
    let mut names = Vec::new();
    State::<f32>::names(&Path::Root, &mut |path| names.push(path.to_string()));
    let mut names = names.into_iter();
    let mut numbers = 0;
    s.save(&mut |word| {
        let name = names.next().expect("a name for every word");
        let integer = integers.iter().any(|i| name.contains(i));
        if !integer {
            numbers += 1;
            assert!(
                f32::from_bits(word).is_finite(),
                "{name} is {}",
                f32::from_bits(word)
            );
        }
    });
    assert!(numbers > 250, "{numbers} numbers");
}

#[test]
fn the_finite_check_sees_a_nan() {
    let case = Case::reference();
    let filter = filter(&case, &ekf::Config::default());
    let mut s = filter.start([0.0, 1.0]);
    assert_finite(&s);
    s.w[1] = f32::NAN;
    assert!(std::panic::catch_unwind(|| assert_finite(&s)).is_err());
}

#[test]
fn what_is_no_number_restarts_and_is_counted() {
    let case = Case::reference();
    let filter = filter(&case, &ekf::Config::default());
    let mut s = filter.start([0.0, 1.0]);
    for i in 0..200 {
        filter.step(&mut s, [0.0, if i == 105 { f32::NAN } else { 1.0 }]);
    }
    assert_eq!(s.counters.restarts, 1);
    assert_finite(&s);
    assert!((s.q[1] - 1.0).abs() < 0.1, "{:?}", s.q);
}

/// The reference run up to `ticks`, with `disturb` applied to the measured angles from tick `at` on.
fn disturbed(
    ticks: usize,
    at: usize,
    disturb: impl Fn(usize, &mut [f64; 2]),
) -> (Ekf<f32>, State<f32>, ekf::Estimate<f32>) {
    let case = Case {
        ticks,
        ..Case::reference()
    };
    let filter = filter(&case, &ekf::Config::default());
    let mut measured = encode(&case.angles(), 0.0, 1);
    for (i, q) in measured.iter_mut().enumerate().skip(at) {
        disturb(i - at, q);
    }
    let mut s = filter.start(measured[0].map(|x| x as f32));
    let mut before = filter.estimate(&s);
    for (i, q) in measured.iter().enumerate() {
        if i == at {
            before = filter.estimate(&s);
        }
        filter.step(&mut s, q.map(|x| x as f32));
    }
    (filter, s, before)
}

/// A disc that slips by 500 counts: one jump counted, the friction kept, the new zero found.
#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn a_slip_is_gated_and_the_friction_survives() {
    let slip = 500.0 * COUNT;
    let (filter, s, before) = disturbed(200_000, 100_000, |_, q| q[1] += slip);
    assert_eq!(before.stage, STAGE_JOINT);
    let after = filter.estimate(&s);
    assert_eq!(after.stage, STAGE_JOINT, "not thrown back to the balance");
    assert_eq!(
        (s.counters.restarts, s.counters.resumes),
        (0, 1),
        "{:?}",
        s.counters
    );
    assert!(s.counters.gated >= 2, "{:?}", s.counters);
    for k in [0, 3, 4] {
        let moved = (after.p[k] - before.p[k]).abs();
        assert!(
            moved < 3.0 * before.sigma[k],
            "parameter {k}: {before:?} {after:?}"
        );
    }
    let zero = f64::from(after.rig[1]) / slip;
    assert!(
        (zero - 1.0).abs() < 0.02,
        "{zero} of the slip found as the new zero"
    );
    assert_finite(&s);
}

/// Two milliseconds of nonsense on one channel: left out, nothing else happens.
#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn a_glitch_is_left_out() {
    let glitch = |i: usize, q: &mut [f64; 2]| {
        if i < 20 {
            q[0] += 300.0 * COUNT;
        }
    };
    let (filter, s, before) = disturbed(120_000, 100_000, glitch);
    assert_eq!(
        (s.counters.restarts, s.counters.resumes),
        (0, 0),
        "{:?}",
        s.counters
    );
    assert!((2..=3).contains(&s.counters.gated), "{:?}", s.counters);
    let after = filter.estimate(&s);
    for k in [0, 1, 3, 4] {
        let moved = (after.p[k] - before.p[k]).abs();
        assert!(
            moved < before.sigma[k],
            "parameter {k}: {before:?} {after:?}"
        );
    }
}

/// A jump beyond `lost`: (θ, ω) start again at the measured angles at once.
#[test]
fn a_jump_resumes_at_the_measured_angles() {
    let case = Case::reference();
    let filter = filter(&case, &ekf::Config::default());
    let mut s = filter.start([0.0, 1.0]);
    for i in 0..400 {
        filter.step(&mut s, [0.0, if i < 200 { 1.0 } else { 3.0 }]);
    }
    assert_eq!((s.counters.restarts, s.counters.resumes), (0, 1));
    assert!((s.q[1] - 3.0).abs() < 0.1, "{:?}", s.q);
    assert_finite(&s);
}

/// Nothing is left out of an undisturbed run, whatever the noise.
#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn clean_runs_pass_the_gate() {
    for (seed, noise) in [(1, 0.0), (2, 5.0), (3, 20.0)] {
        let case = Case::random(seed);
        let found = truths::identify::<f32>(
            &case,
            &Default::default(),
            &encode(&case.angles(), noise, seed),
        );
        assert_eq!(
            found.counters,
            ekf::Counters::default(),
            "seed {seed}, {noise} counts"
        );
    }
}

/// vt far below what a step can follow is raised, and that is counted; a vt that suits is not.
#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn a_raised_transition_velocity_is_counted() {
    let case = Case {
        ticks: 60_000,
        ..Case::reference()
    };
    let measured = encode(&case.angles(), 0.0, 1);
    let floored = |vt: f32| {
        let config = ekf::Config {
            vt: [vt; 2],
            ..Default::default()
        };
        truths::identify::<f32>(&case, &config, &measured)
            .counters
            .floored
    };
    assert_eq!(floored(0.02), 0);
    let ticks = floored(1e-4);
    assert!(ticks > 5_000, "{ticks} ticks counted");
}

/// However the friction is pushed below zero, no parameter stays there: a joint whose truth has almost none.
#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn no_parameter_is_ever_negative() {
    for seed in 1..4 {
        let mut case = Case {
            ticks: 120_000,
            ..Case::random(seed)
        };
        case.friction[0].mu_v = 1e-9;
        case.friction[1].mu_v = 1e-9;
        let filter = filter(&case, &ekf::Config::default());
        let measured = encode(&case.angles(), 5.0, seed);
        let mut s = filter.start(measured[0].map(|x| x as f32));
        let mut at_zero = 0;
        for (i, q) in measured.iter().enumerate() {
            filter.step(&mut s, q.map(|x| x as f32));
            let p = filter.estimate(&s).p;
            assert!(p.iter().all(|p| *p >= 0.0), "seed {seed} tick {i}: {p:?}");
            at_zero += usize::from(p[1] == 0.0 || p[4] == 0.0);
        }
        assert!(at_zero > 0, "seed {seed}: the floor was never needed");
    }
}
