//! One test per fault of the scenario list: counted, flagged, recovered as documented.

mod harness;

use harness::{Session, scenario, scenario_file};
use stribeck_bench::Action;
use stribeck_bench::scenario::Channel;
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::run::{Cause, Phase};
use stribeck_core::observer::encoder::flag;
use stribeck_core::wire::{Ask, ConfigOrigin, Health, ResetCause, What};

/// Blocks of the last second arrive without a gap: the stream is alive.
fn alive(s: &mut Session) {
    let before = s.blocks().count();
    s.run_for(1.0);
    let new: Vec<u32> = s.blocks().skip(before).map(|b| b.seq).collect();
    assert!(
        new.len() >= 95,
        "{} blocks in a second {}",
        new.len(),
        s.log()
    );
    assert!(
        new.windows(2).skip(5).all(|w| w[1] == w[0] + 1),
        "gaps in {new:?}"
    );
}

#[test]
fn lost_counts_are_flagged_and_the_stream_goes_on() {
    let mut s = Session::armed(&scenario_file("lost-counts.toml"));
    s.run_until(3.0);
    assert_ne!(s.encoder_flags(1) & flag::JUMP, 0, "{}", s.log());
    assert!(s.status().encoder_faults[1] >= 1);
    alive(&mut s);
    let (equal, gaps) = s.replay();
    assert!(equal > 30_000 && gaps == 0);
}

#[test]
fn short_noise_is_stopped_by_the_input_filter() {
    let mut s = Session::armed(&scenario_file("noise-short.toml"));
    s.run_until(3.0);
    let summary = s.bench.summary();
    assert_eq!(
        (summary.noise_edges_passed, summary.noise_edges_filtered),
        (0, 500)
    );
    assert_eq!(s.status().encoder_faults, [0, 0]);
}

/// Between 320 ns, the filter without its clock division, and 1,280 ns, the filter with it.
#[test]
fn noise_between_the_divided_and_the_undivided_filter_is_stopped() {
    let mut s = Session::armed(&scenario_file("noise-filtered.toml"));
    s.run_until(3.0);
    let summary = s.bench.summary();
    assert_eq!(
        (summary.noise_edges_passed, summary.noise_edges_filtered),
        (0, 300)
    );
    assert_eq!(s.status().encoder_faults, [0, 0]);
}

#[test]
fn noise_just_longer_than_the_filter_is_seen() {
    let mut s = Session::armed(&scenario_file("noise-passes.toml"));
    s.run_until(3.0);
    assert_eq!(s.bench.summary().noise_edges_passed, 100);
}

#[test]
fn long_noise_edges_reach_the_counter_and_hurt_nothing() {
    let mut s = Session::armed(&scenario_file("noise-long.toml"));
    s.run_until(3.0);
    assert_eq!(s.bench.summary().noise_edges_passed, 200);
    assert_eq!(s.status().ekf_restarts, 0);
    alive(&mut s);
    assert_eq!(s.replay().1, 0);
}

#[test]
fn swapped_channels_are_reported_as_reversed() {
    let mut s = Session::armed(&scenario_file("swapped-channels.toml"));
    s.run_until(4.0);
    assert_ne!(s.encoder_flags(1) & flag::REVERSED, 0, "{}", s.log());
    assert!(s.status().encoder_faults[1] >= 1);
    alive(&mut s);
}

#[test]
fn a_cut_cable_is_reported_as_stuck() {
    let mut s = Session::armed(&scenario_file("cable-cut.toml"));
    s.run_until(6.0);
    assert_ne!(s.encoder_flags(1) & flag::STUCK, 0, "{}", s.log());
    alive(&mut s);
}

#[test]
fn one_cut_wire_is_reported_as_stuck() {
    let mut s = Session::armed(&scenario(
        "[[event]]\nat_s = 1.5\ndo = \"cut\"\njoint = 1\nchannel = \"a\"\n",
    ));
    assert_eq!(Channel::default(), Channel::Both);
    s.run_until(6.0);
    assert_ne!(s.encoder_flags(1) & flag::STUCK, 0, "{}", s.log());
}

#[test]
fn unplug_and_replug_resume_the_stream_and_ticks_go_on() {
    let mut s = Session::connected(&scenario_file("usb-unplug.toml"));
    s.run_until(4.0);
    let status = s.status();
    assert_eq!((status.health.overruns, status.health.missed_ticks), (0, 0));
    assert!(s.hellos().count() >= 2, "a new Hello after the replug");
    assert!(status.tick >= 30_000, "ticks went on: {}", status.tick);
    alive(&mut s);
    assert_eq!(s.bench.summary().usb.enumerations, 2);
}

#[test]
fn a_bus_reset_with_a_packet_armed_recovers() {
    let mut s = Session::connected(&scenario_file("usb-reset.toml"));
    s.run_until(4.0);
    alive(&mut s);
    assert_eq!(s.status().health.overruns, 0);
    assert!(s.bench.summary().usb.enumerations >= 4);
}

#[test]
fn suspend_and_resume() {
    let mut s = Session::connected(&scenario_file("usb-suspend.toml"));
    s.run_until(4.0);
    alive(&mut s);
    assert_eq!(s.status().health.missed_ticks, 0);
}

#[test]
fn a_host_that_does_not_read_costs_blocks_but_no_tick() {
    let mut s = Session::connected(&scenario_file("host-stops.toml"));
    s.run_until(5.0);
    let status = s.status();
    assert!(status.dropped_blocks > 50, "{}", status.dropped_blocks);
    assert_eq!((status.health.overruns, status.health.missed_ticks), (0, 0));
    alive(&mut s);
    let (equal, gaps) = s.replay();
    assert!(gaps >= 1, "the loss must be visible");
    assert!(equal > 15_000, "replay goes on after the gap: {equal}");
}

#[test]
fn a_host_that_pauses_for_a_moment_loses_nothing() {
    let mut s = Session::armed(&scenario(
        "[[event]]\nat_s = 2.0\ndo = \"host-stops\"\n[[event]]\nat_s = 2.38\ndo = \"host-reads\"\n",
    ));
    s.run_until(4.0);
    let Health {
        queue_high,
        queue_size,
        ..
    } = s.status().health;
    assert!(queue_high > queue_size / 2, "{queue_high} of {queue_size}");
    assert_eq!(s.status().dropped_blocks, 0);
    assert_eq!(s.replay().1, 0, "no gap");
    alive(&mut s);
}

#[test]
fn a_slow_host_gets_what_fits_with_visible_gaps() {
    let mut s = Session::connected(&scenario_file("host-slow.toml"));
    s.run_until(5.0);
    let status = s.status();
    assert!(status.dropped_blocks > 10);
    assert_eq!(status.health.missed_ticks, 0);
    assert!(s.replay().1 >= 1);
    assert_eq!(s.bad_frames, 0, "whole frames only");
}

#[test]
fn the_button_arms() {
    let mut s = Session::connected(&scenario_file("button.toml"));
    s.run_until(1.5);
    let by_button = s.events().any(|e| {
        matches!(
            e.what,
            What::Run {
                to: Phase::Armed,
                cause: Cause::Button,
                ..
            }
        )
    });
    assert!(by_button, "{:?}", s.events().collect::<Vec<_>>());
}

#[test]
fn a_reset_is_reported_and_the_device_comes_back() {
    let mut s = Session::connected(&scenario_file("reset.toml"));
    s.run_until(2.5);
    s.ask(Ask::Hello);
    s.run_until(3.0);
    let boots: Vec<_> = s.hellos().map(|h| (h.boot, h.reset_cause)).collect();
    let (first, last) = (boots[0], boots[boots.len() - 1]);
    assert_eq!((first.1, last.1), (ResetCause::PowerOn, ResetCause::Pin));
    assert_ne!(first.0, last.0, "another boot number");
    alive(&mut s);
}

#[test]
fn a_brown_out_is_reported() {
    let mut s = Session::connected(&scenario_file("brown-out.toml"));
    s.run_until(2.5);
    s.ask(Ask::Hello);
    s.run_until(3.0);
    assert_eq!(s.hellos().last().unwrap().reset_cause, ResetCause::BrownOut);
    alive(&mut s);
}

#[test]
fn a_software_reset_by_command() {
    let mut s = Session::connected(&scenario(""));
    s.run_until(0.5);
    s.ask(Ask::Reset);
    s.run_until(2.0);
    s.ask(Ask::Hello);
    s.run_until(2.5);
    assert_eq!(s.hellos().last().unwrap().reset_cause, ResetCause::Software);
    assert_eq!(s.bench.summary().resets.len(), 1);
}

/// Bits of RAM flip all over the statics: whatever happens, the device streams again afterwards.
#[test]
fn single_bit_flips_in_ram_end_in_a_living_device() {
    let low = harness::firmware()
        .address_of("__sdata")
        .unwrap_or(0x2000_4000);
    let high = harness::firmware()
        .address_of("__ebss")
        .unwrap_or(low + 0x8000);
    let mut s = Session::connected(&scenario(""));
    s.run_until(0.5);
    for k in 0..12u32 {
        let address = low + (high - low) / 12 * k + 5;
        let flip = Action::BitFlip {
            address: Some(address),
            symbol: None,
            offset: 0,
            bit: k % 8,
        };
        let now = s.bench.seconds();
        s.bench.schedule(now + 0.01, flip);
        s.run_for(0.25);
    }
    s.run_for(6.0);
    s.ask(Ask::Hello);
    alive(&mut s);
}

/// Sets and stores a configuration that can be told from the default.
fn store_config(s: &mut Session) {
    let mut config = Config::default();
    config.encoders[0].max_jump = 300;
    let ask = Ask::SetConfig {
        store: true,
        config: Blob::seal(&config),
    };
    s.ask(ask);
}

#[test]
fn a_stored_configuration_survives_a_reset() {
    let mut s = Session::connected(&scenario("[[event]]\nat_s = 6.0\ndo = \"reset\"\n"));
    s.run_until(0.5);
    store_config(&mut s);
    s.run_until(7.0);
    s.ask(Ask::Hello);
    s.run_until(7.5);
    let hello = s.hellos().last().unwrap();
    assert_eq!(hello.config_origin, ConfigOrigin::Stored);
    assert_eq!(hello.config().unwrap().encoders[0].max_jump, 300);
    assert!(s.bench.summary().flash_words_programmed > 0);
}

#[test]
fn a_write_torn_by_a_reset_falls_back() {
    let mut s = Session::connected(&scenario_file("torn-write.toml"));
    s.run_until(0.5);
    store_config(&mut s);
    s.run_until(8.0);
    s.ask(Ask::Hello);
    s.run_until(8.5);
    assert_eq!(s.bench.summary().resets.len(), 1, "{}", s.log());
    let hello = s.hellos().last().unwrap();
    assert_ne!(
        hello.config_origin,
        ConfigOrigin::Stored,
        "half a configuration must not be used"
    );
    assert_eq!(hello.config().unwrap(), Config::default());
    alive(&mut s);
}

/// The processor is made to jump into nowhere: a crash dump here, the reason in the next Hello, and the stream again.
#[test]
fn a_hard_fault_is_dumped_recorded_and_survived() {
    let mut s = Session::connected(&scenario(""));
    s.run_until(0.5);
    s.bench
        .machine
        .cpu
        .set_reg(unicorn_engine::RegisterARM::PC, 0x6000_0001);
    s.run_until(2.5);
    s.ask(Ask::Hello);
    s.run_until(3.0);
    let summary = s.bench.summary();
    let crash = summary.crashes.first().expect("a crash dump");
    assert!(crash.cause().contains("forbidden region"), "{crash}");
    assert!(crash.to_string().contains("pc 60000000"), "{crash}");
    let hello = s.hellos().last().unwrap();
    assert_eq!(hello.reset_cause, ResetCause::Fault);
    assert!(!hello.last_fault.is_empty());
    alive(&mut s);
}

/// Ticks that could not happen are counted and told, the others keep their numbers, and replay stays exact.
#[test]
fn overruns_are_counted_and_visible() {
    let mut s = Session::armed(&scenario_file("stall.toml"));
    s.run_until(4.0);
    let told: u32 = s
        .events()
        .map(|e| match e.what {
            What::Overrun { missed } => missed,
            _ => 0,
        })
        .sum();
    let status = s.status();
    assert!(
        (12..=15).contains(&status.health.missed_ticks),
        "{status:?}"
    );
    assert!(status.health.overruns >= 2);
    assert_eq!(told, status.health.missed_ticks);
    let skipped: u32 = s.blocks().map(|b| b.skipped).sum();
    assert_eq!(skipped, told, "the gap is visible in the blocks");
    let (equal, gaps) = s.replay();
    assert!(equal > 39_000 && gaps == 0, "{equal} ticks, {gaps} gaps");
}
