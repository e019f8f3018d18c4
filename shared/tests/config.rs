//! Configurations: the defaults pass, every bad one is refused with field, value and range.

use stribeck_core::control;
use stribeck_core::device::config::{Blob, Config, ConfigError, Stream, VERSION};
use stribeck_core::model::plant::{PlantConfig, furuta, pendulum};
use stribeck_core::observer::uas;

/// The field the configuration is refused for, after checking that value and range are told and disagree.
fn refused(change: impl FnOnce(&mut Config)) -> &'static str {
    let mut config = Config::default();
    change(&mut config);
    match config.validate() {
        Err(ConfigError::OutOfRange(e)) => {
            assert!(
                !(e.value >= e.min && e.value <= e.max) && e.min <= e.max,
                "{e}"
            );
            let text = ConfigError::OutOfRange(e).to_string();
            assert!(text.contains(e.field) && text.contains("outside"), "{text}");
            e.field
        }
        other => panic!("{other:?}"),
    }
}

fn furuta(change: impl FnOnce(&mut furuta::Config)) -> &'static str {
    refused(|c| {
        let mut plant = furuta::Config::default();
        change(&mut plant);
        c.plant = PlantConfig::Furuta(plant);
    })
}

#[test]
fn defaults_are_the_papers_rig_and_valid() {
    let config = Config::default();
    assert_eq!(config.validate(), Ok(()));
    assert_eq!(config.tick_hz, 10_000);
    assert_eq!(config.uas.mode, uas::Mode::Bench);
    assert_eq!(config.plant, PlantConfig::Furuta(furuta::Config::default()));
    for encoder in config.encoders {
        assert_eq!((encoder.counts_per_rev, encoder.counter_bits), (40_000, 32));
    }
    let full = Config {
        stream: Stream::FULL_RATE,
        ..config
    };
    assert_eq!(full.validate(), Ok(()));
}

#[test]
fn other_plants_and_modes_are_valid() {
    let pendulum = Config {
        plant: PlantConfig::Pendulum(pendulum::Config::default()),
        ..Config::default()
    };
    assert_eq!(pendulum.validate(), Ok(()));
    let paper = Config {
        uas: uas::Config::paper(),
        ..Config::default()
    };
    assert_eq!(paper.validate(), Ok(()));
}

#[test]
fn bad_values_are_named() {
    assert_eq!(furuta(|p| p.m2 = 0.0), "plant.furuta.m2");
    assert_eq!(furuta(|p| p.m1 = f32::NAN), "plant.furuta.m1");
    assert_eq!(furuta(|p| p.j2x = -5e-3), "plant.furuta.j2x");
    assert_eq!(
        furuta(|p| p.gravity = f32::INFINITY),
        "plant.furuta.gravity"
    );
    assert_eq!(refused(|c| c.tick_hz = 0), "tick_hz");
    assert_eq!(
        refused(|c| c.encoders[1].counter_bits = 8),
        "encoders[1].counter_bits"
    );
    assert_eq!(
        refused(|c| c.encoders[0].counts_per_rev = 0),
        "encoders[0].counts_per_rev"
    );
    assert_eq!(
        refused(|c| c.tracker.bandwidth_hz = f32::NAN),
        "tracker.bandwidth_hz"
    );
    assert_eq!(refused(|c| c.uas.k0 = 0.0), "uas.k0");
    assert_eq!(refused(|c| c.ekf.vt[1] = -0.01), "ekf.vt[1]");
    assert_eq!(refused(|c| c.run.motion_counts = 0), "run.motion_counts");
    assert_eq!(refused(|c| c.run.rest_ms = 0), "run.rest_ms");
    assert_eq!(
        refused(|c| c.stream.block_ticks = 101),
        "stream.block_ticks"
    );
    assert_eq!(refused(|c| c.stream.block_ticks = 0), "stream.block_ticks");
    assert_eq!(refused(|c| c.stream.param_every = 5), "stream.param_every");
    assert_eq!(
        refused(|c| c.stream.snapshot_every = 0),
        "stream.snapshot_every"
    );
}

#[test]
fn a_transition_velocity_too_stiff_for_the_step_is_refused_with_the_smallest_that_would_do() {
    let mut config = Config::default();
    config.uas.bounds[8].initial = 1e-4;
    let Err(ConfigError::OutOfRange(e)) = config.validate() else {
        panic!("accepted");
    };
    assert_eq!((e.field, e.value), ("uas.bounds[8].initial", 1e-4));
    config.uas.bounds[8].initial = e.min;
    assert_eq!(config.validate(), Ok(()), "the suggested value passes");
    // The same friction at a tenth of the tick rate is ten times as stiff for its step.
    let slow = Config {
        tick_hz: 1000,
        ..Config::default()
    };
    assert!(matches!(
        slow.validate(),
        Err(ConfigError::OutOfRange(e)) if e.field.starts_with("uas.bounds")
    ));
    // Where the parameters drift to counts as much as where they start.
    assert_eq!(
        refused(|c| c.uas.bounds[3].upper = 1e-6),
        "uas.bounds[3] fixed point"
    );
}

#[test]
fn an_unknown_version_is_refused_before_anything_else() {
    let config = Config {
        version: VERSION + 7,
        tick_hz: 0,
        ..Config::default()
    };
    let expected = ConfigError::Version {
        found: VERSION + 7,
        known: VERSION,
    };
    assert_eq!(config.validate(), Err(expected));
    assert_eq!(Blob::seal(&config).open(), Err(expected));
    assert!(
        expected
            .to_string()
            .contains(&format!("version {}", VERSION + 7))
    );
}

#[test]
fn damaged_blobs_are_unreadable_or_differ_but_never_panic() {
    let good = Blob::seal(&Config::default());
    for len in 0..good.as_bytes().len() {
        let cut = Blob::from_bytes(&good.as_bytes()[..len]).unwrap();
        assert_eq!(cut.open(), Err(ConfigError::Unreadable));
    }
    let longer = [good.as_bytes(), &[0]].concat();
    let longer = Blob::from_bytes(&longer).unwrap();
    assert_eq!(longer.open(), Err(ConfigError::Unreadable));
    for at in 0..good.as_bytes().len() {
        for bit in 0..8 {
            let mut bytes = good.as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            if let Ok(config) = Blob::from_bytes(&bytes).unwrap().open() {
                // Whatever it says now, validation comes to a verdict.
                let _ = config.validate();
            }
        }
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Every plant of the list: its default configuration is valid, survives its bytes, and keeps its number on the wire.
#[test]
fn every_plant_can_be_configured() {
    for (number, name) in PlantConfig::NAMES.iter().enumerate() {
        let plant = PlantConfig::named(name).unwrap();
        let config = Config::of_plant(plant);
        assert_eq!((plant.name(), config.validate()), (*name, Ok(())));
        let blob = Blob::seal(&config);
        assert_eq!(blob.open(), Ok(config), "{name}");
        // Version, tick rate as a varint of two bytes, number of the plant.
        assert_eq!(usize::from(blob.as_bytes()[3]), number, "{name}");
        // At power-on, counters at 0, it hangs.
        for ((encoder, joint), rest) in config.encoders.iter().zip(plant.joints()).zip(plant.rest())
        {
            let q: f32 = encoder.place(joint, -encoder.zero);
            assert!(
                (q - rest).abs() <= encoder.quantum::<f32>(joint),
                "{name}: {q} for {rest}"
            );
        }
    }
    assert_eq!(PlantConfig::named("Unicycle"), None);
    assert_eq!(
        PlantConfig::NAMES,
        ["Furuta", "Pendulum", "Cartpole", "Acrobot", "Reactionwheel"],
        "new ones only at the end: old logs hold the numbers"
    );
}

/// A configuration sealed by version 2, before there were more plants than two.
#[test]
fn a_configuration_of_version_2_is_read() {
    let bytes = hex(include_str!("golden/config_v2.txt"));
    assert_eq!(bytes[0], 2, "its first field");
    assert_eq!(
        Blob::from_bytes(&bytes).unwrap().open(),
        Ok(Config::default())
    );
}

/// A configuration sealed by version 1 is read: what it had as it was, what is new at its default.
#[test]
fn a_configuration_of_version_1_is_read() {
    let bytes = hex(include_str!("golden/config_v1.txt"));
    assert_eq!(bytes[0], 1, "its first field");
    let old = Blob::from_bytes(&bytes).unwrap().open();
    let mut expected = Config::default();
    // The one default that has changed since.
    expected.ekf.torque_noise = 1e-11;
    assert_eq!(old, Ok(expected));
    let cut = Blob::from_bytes(&bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(cut.open(), Err(ConfigError::Unreadable));
}

#[test]
fn a_drive_is_checked_with_its_plant() {
    let driven = |change: fn(&mut control::Config)| {
        refused(|c| {
            let mut drive = control::Config::default();
            change(&mut drive);
            c.drive = Some(drive);
        })
    };
    let good = Config {
        drive: Some(control::Config::default()),
        ..Config::default()
    };
    assert_eq!(good.validate(), Ok(()));
    assert_eq!(
        driven(|d| d.motor.resistance = 0.0),
        "drive.motor.resistance"
    );
    assert_eq!(driven(|d| d.motor.gear = 0.0), "drive.motor.gear");
    assert_eq!(driven(|d| d.limits.duty = 1.1), "drive.limits.duty");
    assert_eq!(driven(|d| d.balance.effort = 0.0), "drive.balance.effort");
    assert_eq!(driven(|d| d.plan.count = 17), "drive.plan.count");
    assert_eq!(driven(|d| d.track.smooth = f32::NAN), "drive.track.smooth");
}
