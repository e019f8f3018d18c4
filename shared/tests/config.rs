//! Configurations: the defaults pass, every bad one is refused with field, value and range.

use stribeck_core::config::{Blob, Config, ConfigError, Stream, VERSION};
use stribeck_core::plant::{PlantConfig, furuta, pendulum};
use stribeck_core::uas;

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
    assert!(expected.to_string().contains("version 8"));
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
