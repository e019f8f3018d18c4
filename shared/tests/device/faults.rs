//! Hostile counts: whatever the encoders say, no state word becomes a NaN, faults are counted, and replay still holds.

use stribeck_core::device::config::Config;
use stribeck_core::device::run::Phase;
use stribeck_core::device::{Followed, Input, Observers, Replay};
use stribeck_core::model::plant::{PlantConfig, pendulum};
use stribeck_core::model::sim::{Rng, Simulation};
use stribeck_core::number::words::Words as _;
use stribeck_core::wire::What;

use crate::host::Host;

/// Which words of the state are floats: all but the known integers.
fn floats() -> Vec<bool> {
    let mut floats = Vec::new();
    Observers::names(&mut |path| {
        let name = path.to_string();
        let integer = ["encoders", "zero", "run"]
            .iter()
            .any(|root| name.starts_with(root))
            || [
                "restarts",
                "floored",
                "phase",
                "stage",
                "ticks",
                ".n",
                "windows",
                "sliding[0]",
                "sliding[1]",
            ]
            .iter()
            .any(|leaf| name.ends_with(leaf));
        floats.push(!integer);
    });
    floats
}

fn assert_finite(host: &Host, floats: &[bool]) {
    let mut i = 0;
    host.device.engine().observers().state.save(&mut |w| {
        assert!(
            !floats[i] || f32::from_bits(w).is_finite(),
            "word {i} is {} at tick {}",
            f32::from_bits(w),
            host.device.engine().next_tick()
        );
        i += 1;
    });
}

fn replays(host: &mut Host) {
    let mut replay = Replay::new(host.device.link().config());
    for block in &host.heard.blocks {
        assert_eq!(replay.block(block), Ok(Followed::Equal));
    }
    assert!(replay.equal_ticks > 1000);
}

#[test]
fn random_jumps_of_every_size() {
    let floats = floats();
    let mut rng = Rng::new(11);
    for size in [10u32, 1000, 30_000, 1_000_000, u32::MAX] {
        let mut host = Host::reference();
        host.run_until(Phase::Swinging, 1000);
        for _ in 0..20_000 {
            let mut counts = host.bench.tick().counts;
            if rng.bits().is_multiple_of(50) {
                counts = counts.map(|c| c.wrapping_add((rng.bits() % size as u64) as u32));
            }
            host.device.tick(counts);
            host.read();
            assert_finite(&host, &floats);
        }
        replays(&mut host);
    }
}

#[test]
fn a_counter_that_runs_away_and_one_that_jumps_for_good() {
    let floats = floats();
    let mut host = Host::reference();
    host.run_until(Phase::Swinging, 1000);
    host.run(40_000);
    for i in 0..40_000u32 {
        let [a, b] = host.bench.tick().counts;
        host.device
            .tick([a.wrapping_add(i * i / 100), b.wrapping_add(20_000)]);
        host.read();
        assert_finite(&host, &floats);
    }
    let status = host.heard.statuses.last().unwrap();
    println!("{status:?}");
    assert!(status.encoder_faults[0] > 0 && status.encoder_faults[1] > 0);
    assert!(status.ekf_resumes > 0, "the filter lost its pendulum");
    let fault = |e: &&stribeck_core::wire::Event| matches!(e.what, What::EncoderFault { .. });
    assert!(host.heard.events.iter().filter(fault).count() >= 2);
    replays(&mut host);
}

#[test]
fn a_dead_encoder_and_a_pendulum_turning_for_minutes() {
    let floats = floats();
    let mut config = Config::default();
    config.run.auto_arm = true;
    let mut host = Host::new(&config, Simulation::reference(0.0, 1));
    host.run(5000);
    let stuck = host.bench.tick().counts[0];
    // Full circles at 20 rad/s: half a million counts and more.
    for i in 0..100_000u32 {
        host.device.tick([stuck, 13 * i]);
        host.read();
        if i % 100 == 0 {
            assert_finite(&host, &floats);
        }
    }
    replays(&mut host);
}

#[test]
fn a_one_joint_plant_ignores_the_second_counter() {
    let mut config = Config::default();
    config.run.auto_arm = true;
    config.plant = PlantConfig::Pendulum(pendulum::Config::default());
    let mut host = Host::new(&config, Simulation::reference(0.0, 1));
    // Joint 0 hangs still, the open input of joint 1 counts noise.
    let mut rng = Rng::new(6);
    for _ in 0..20_000 {
        host.device.tick([0, rng.bits() as u32]);
        host.read();
    }
    assert_eq!(host.device.engine().phase(), Phase::Armed);
}

/// The processor was busy for `missed` ticks; the pendulum went on.
fn busy(host: &mut Host, missed: u32) {
    for _ in 0..missed {
        host.bench.tick();
    }
    let missed = Input {
        missed,
        ..Input::default()
    };
    host.run_input(1, missed);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "long: run with --release")]
fn estimates_stay_within_their_intervals_across_missed_ticks() {
    let mut host = Host::reference();
    for missed in [
        1, 3, 150, 17, 1, 60, 2, 5, 190, 30, 1, 8, 100, 4, 1, 12, 2, 7,
    ] {
        host.run(10_000);
        busy(&mut host, missed);
    }
    host.run(20_000);
    let observers = host.device.engine().observers();
    assert_eq!(observers.encoder_faults(), [0, 0]);
    assert_eq!(observers.state.ekf.counters.restarts, 0);
    let found = observers.params();
    let truth = [5e-4, 2.5e-4, 0.0, 6e-4, 2.5e-4, 0.0];
    for k in [0, 1, 3, 4] {
        let (p, sigma) = (found.p[k], found.sigma[k]);
        println!(
            "parameter {k}: {p:.4e} ± {:.1e}, true {:.4e}",
            1.96 * sigma,
            truth[k]
        );
        assert!((p - truth[k]).abs() < 1.96 * sigma, "parameter {k}");
        assert!((p / truth[k] - 1.0).abs() < 0.15, "parameter {k}");
    }
    replays(&mut host);
}

#[test]
fn a_long_stall_starts_the_observers_again_and_is_no_encoder_fault() {
    let mut host = Host::reference();
    host.run(10_000);
    busy(&mut host, 5_000);
    host.run(20_000);
    let observers = host.device.engine().observers();
    assert_eq!(observers.encoder_faults(), [0, 0]);
    let restarts = (
        observers.state.uas.restarts,
        observers.state.ekf.counters.restarts,
    );
    assert_eq!(restarts, (1, 1));
    let told = |what: What| host.heard.events.iter().any(|e| e.what == what);
    assert!(told(What::Overrun { missed: 5_000 }));
    assert!(told(What::UasRestart { total: 1 }) && told(What::EkfRestart { total: 1 }));
    replays(&mut host);
}

#[test]
fn a_button_pressed_during_missed_ticks_is_seen_after_them() {
    let mut host = Host::reference();
    host.run(10_000);
    let down = Input {
        button: true,
        ..Input::default()
    };
    host.run_input(500, down);
    busy(&mut host, 9);
    host.run(1_000);
    assert_eq!(host.device.engine().phase(), Phase::Idle);
    replays(&mut host);
}
