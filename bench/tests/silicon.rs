//! What a real board does and a friendly emulator does not: each test fails when the firmware's countermeasure is taken out.

mod harness;

use harness::{Session, scenario, scenario_file};
use stribeck_bench::Action;
use stribeck_bench::periph::mpu::Access;
use stribeck_core::device::config::{Blob, Config};
use stribeck_core::wire::{Ask, ClockSource, ConfigOrigin, ResetCause};
use unicorn_engine::RegisterARM as R;

/// Ticks of the last Status against virtual time: the numbers must follow the clock on the wall.
fn ticks_follow_time(s: &Session) {
    let status = s.status();
    let (ticks, due) = (status.tick as f64, s.bench.seconds() * 10_000.0);
    // Status comes once a second; the tick starts some milliseconds after power-on.
    assert!(
        (due - 11_500.0..=due).contains(&ticks),
        "tick {ticks} at {due} tick times: {status:?}"
    );
    assert_eq!(status.health.missed_ticks, 0, "{status:?}");
}

#[test]
fn ticks_keep_their_numbers_when_a_debugger_detaches() {
    let mut s = Session::armed(&scenario_file("debugger-detaches.toml"));
    s.run_until(4.0);
    ticks_follow_time(&s);
    let (equal, gaps) = s.replay();
    assert!(equal > 30_000 && gaps == 0, "{equal} ticks, {gaps} gaps");
}

#[test]
fn without_the_st_link_s_clock_the_device_runs_on_its_own() {
    let mut s = Session::connected(&scenario_file("no-external-clock.toml"));
    s.run_until(3.0);
    ticks_follow_time(&s);
    assert!(s.bench.summary().resets.is_empty());
    assert_eq!(s.hellos().last().unwrap().clock, ClockSource::Internal);
}

/// The internal 48 MHz oscillator is 1 % off: USB works if it is trimmed to the right port, or not used.
#[test]
fn an_untrimmed_usb_oscillator_does_not_keep_the_host_away() {
    for ppm in [-10_000, 10_000] {
        let text = format!("[board]\nhsi48_error_ppm = {ppm}\n");
        let s = Session::connected(&scenario(&text));
        assert_eq!(s.bench.summary().usb.failed_enumerations, 0, "{ppm} ppm");
    }
}

/// A self-powered device must not pull a data line up when nobody supplies 5 V.
#[test]
fn no_pull_up_without_a_host() {
    let mut s = Session::connected(&scenario_file("usb-unplug.toml"));
    s.run_until(4.0);
    let usb = s.bench.summary().usb;
    assert!(usb.pullup_without_vbus_ms <= 2, "{usb:?}");
    assert_eq!(usb.enumerations, 2, "the device came back");
}

/// The host stops reading, so that a packet stays armed, and then the bus is reset, the cable pulled, or the port closed: what was
/// armed belongs to the connection before and must neither block nor reach the next.
#[test]
fn an_armed_packet_does_not_outlive_its_connection() {
    let mut s = Session::connected(&scenario("seconds = 60\n"));
    for round in 0..12 {
        let from = s.bench.seconds() + 0.05 + 0.000_137 * f64::from(round);
        let (gone, back) = match round % 3 {
            0 => (Action::UsbReset, None),
            1 => (Action::UsbUnplug, Some(Action::UsbReplug)),
            _ => (Action::Dtr { on: false }, Some(Action::Dtr { on: true })),
        };
        s.bench.schedule(from, Action::HostStops);
        s.bench.schedule(from + 0.1, gone);
        s.bench.schedule(from + 0.15, Action::HostReads);
        if let Some(back) = back {
            s.bench.schedule(from + 0.2, back);
        }
        let before = s.blocks().count();
        s.run_for(0.8);
        let new = s.blocks().count() - before;
        assert!(new > 30, "{new} blocks in round {round} {}", s.log());
    }
    assert_eq!(s.bench.summary().resets.len(), 0);
    assert!(
        s.bad_frames <= 12,
        "one frame per round may be cut: {}",
        s.bad_frames
    );
}

/// Sets and stores a configuration that can be told from the default.
fn store_config(s: &mut Session) {
    let mut config = Config::default();
    config.encoders[0].max_jump = 300;
    s.ask(Ask::SetConfig {
        store: true,
        config: Blob::seal(&config),
    });
}

/// A torn word is a bus fault. The firmware reads it all the same, and a later crash must not name its address.
#[test]
fn a_torn_word_is_survived_and_leaves_no_false_trace() {
    let mut s = Session::connected(&scenario_file("torn-write.toml"));
    s.run_until(0.5);
    store_config(&mut s);
    s.run_until(8.0);
    let summary = s.bench.summary();
    assert_eq!(
        summary.resets.len(),
        1,
        "the reset that tore it: {}",
        s.log()
    );
    assert!(summary.crashes.is_empty(), "{}", s.log());
    let cpu = &s.bench.machine.cpu;
    assert_eq!(cpu.chip().scb.cfsr, 0, "fault status must be clean again");
    s.ask(Ask::Hello);
    s.run_until(8.3);
    let origin = s.hellos().last().unwrap().config_origin;
    assert_ne!(origin, ConfigOrigin::Stored);
}

/// A fault inside a fault locks the processor up; the watchdog brings the device back.
#[test]
fn a_lock_up_ends_in_a_watchdog_reset() {
    let mut s = Session::connected(&scenario(""));
    s.run_until(0.5);
    s.bench.machine.cpu.set_reg(R::SP, 0x6000_1000);
    s.run_until(3.0);
    s.ask(Ask::Hello);
    s.run_until(3.5);
    let summary = s.bench.summary();
    assert_eq!(summary.resets.len(), 1, "{}", s.log());
    assert!((0.5..1.2).contains(&summary.resets[0].0), "{summary}");
    let hello = s.hellos().last().unwrap();
    assert_eq!(hello.reset_cause, ResetCause::Watchdog);
}

/// A program that waits for a bit that never comes is named with the place it waits at, and ignored registers are listed.
#[test]
fn a_busy_wait_is_named_and_nothing_is_swallowed() {
    let mut s = Session::connected(&scenario_file("no-external-clock.toml"));
    s.run_until(0.5);
    let summary = s.bench.summary();
    let spin = summary.spins.first().expect("the wait for HSERDY");
    assert_eq!(spin.spin.address, 0x5802_4400, "{spin}");
    assert!(spin.line.is_some() && spin.function != "?", "{spin}");
    assert!(
        s.log().contains("spinning on register 0x58024400"),
        "{}",
        s.log()
    );
    assert!(!summary.without_effect.is_empty());
    assert!(
        summary.odd_accesses.is_empty(),
        "{:?}",
        summary.odd_accesses
    );
}

/// The memory protection unit closes external memory (no speculative read may reach it) and ITCM (null pointers) to stores.
#[test]
fn null_pointers_and_external_memory_are_closed() {
    const STORE: [u8; 2] = [0x08, 0x60]; // str r0, [r1]
    const LOAD: [u8; 2] = [0x08, 0x68]; // ldr r0, [r1]
    for (instruction, address) in [(STORE, 0x500), (LOAD, 0x6000_0000), (LOAD, 0xd000_0000)] {
        let mut s = Session::connected(&scenario(""));
        s.run_until(0.3);
        let mpu = &s.bench.machine.chip().scb.mpu;
        let access = if instruction == STORE {
            Access::Write
        } else {
            Access::Read
        };
        assert!(mpu.forbids(address, access), "{address:#x}");
        let cpu = &mut s.bench.machine.cpu;
        cpu.write_bytes(0x2001_fff0, &instruction);
        cpu.set_reg(R::R1, address);
        cpu.set_reg(R::PC, 0x2001_fff1);
        s.run_until(0.4);
        let crashes = s.bench.summary().crashes;
        let crash = crashes.first().expect("a fault");
        assert!(crash.cause().contains("forbidden region"), "{crash}");
        assert_eq!(crash.mmfar, address);
    }
}
