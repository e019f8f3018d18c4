//! One value of every frame, every field different from its default.

use stribeck_core::device::config::{Blob, Config};
use stribeck_core::device::run::{Cause, Phase};
use stribeck_core::wire::block::{Order, Params, States};
use stribeck_core::wire::{
    Ask, Block, ClockSource, Command, ConfigOrigin, Drive, DriveHealth, Event, Frame, Health,
    Hello, Initial, Mode, Pattern, Plan, Refusal, Reply, ResetCause, Shape, Signal, Spread, Status,
    Trip, Verdict, Wear, What, text,
};

const INITIAL: Initial = Initial {
    tick: 12_000,
    counts: [-3, 13_333],
    q: [-4.712_389e-4, 2.094_342_5],
};

pub fn hello() -> Hello {
    Hello {
        protocol: 1,
        numerics: 1,
        schema: 0x1234_5678,
        build: text("0.1.0-g0123456"),
        board: text("NUCLEO-H743ZI2"),
        tick_hz: 10_000,
        boot: 7,
        uptime_ticks: 123_456_789_012,
        reset_cause: ResetCause::Watchdog,
        last_fault: text("panicked at src/main.rs:1"),
        config_origin: ConfigOrigin::Stored,
        phase: Phase::Swinging,
        initial: Some(INITIAL),
        zero: [-40_000, 17],
        config_since: 11_000,
        // Any bytes: the configuration has its own golden file.
        config: Blob::from_bytes(&[1, 2, 3]).unwrap(),
        clock: ClockSource::Internal,
    }
}

pub fn block() -> Block {
    let mut block = Block {
        seq: 300,
        first_tick: 29_999,
        skipped: 2,
        order: Order::Zero,
        phase: Phase::Armed,
        state_every: 2,
        param_every: 3,
        base: [u32::MAX, 13_333],
        ticks: 3,
        digest: 0xDEAD_BEEF,
        snapshot_words: 2,
        ..Block::EMPTY
    };
    for delta in [1, -1, 64, -65] {
        block.counts.push_zigzag(delta);
    }
    block.data.push_word(0x0102_0304);
    block.data.push_word(f32::to_bits(1.5));
    states().put(&mut block.data);
    params().put(&mut block.data);
    block
}

pub fn states() -> States {
    States {
        uas_q: [0.5, -1.0],
        uas_w: [2.0, 0.25],
        ekf_q: [0.5, -1.0],
        ekf_w: [-0.0, 1e-30],
    }
}

pub fn params() -> Params {
    Params {
        z: core::array::from_fn(|i| i as f32),
        k: 6.5,
        error: 0.125,
        p: core::array::from_fn(|i| 10.0 + i as f32),
        sigma: core::array::from_fn(|i| 20.0 + i as f32),
        stage: 2,
        identifiable: 0b01_1011,
        rig: core::array::from_fn(|i| 30.0 + i as f32),
        colour: 1.5,
        drift: [2.5, 3.5],
        verdict: Verdict::Inflated,
        drive: None,
    }
}

pub fn status() -> Status {
    let spread = |n| Spread {
        min: n,
        max: n + 20,
        mean: n as f32 + 5.5,
        sigma: 1.25,
    };
    Status {
        tick: 70_000,
        phase: Phase::AtRest,
        health: Health {
            tick_cycles: spread(9000),
            period_cycles: spread(39_990),
            clock_hz: 400_000_000,
            overruns: 1,
            missed_ticks: 2,
            queue_high: 3,
            queue_size: 12,
            write_timeouts: 4,
        },
        dropped_blocks: 5,
        dropped_notes: 6,
        encoder_faults: [7, 8],
        uas_restarts: 9,
        ekf_restarts: 10,
        bad_frames: 11,
        reset_cause: ResetCause::BrownOut,
        config_origin: ConfigOrigin::StoredWasBad,
        overloads: 12,
        wear: Wear {
            stores: 300,
            failures: 13,
        },
        uas_floored: 12,
        ekf_floored: 13,
        ekf_gated: 14,
        ekf_resumes: 15,
        ekf_verdict: Verdict::NotExplained,
        drive: DriveHealth {
            mode: Mode::Track,
            trips: 16,
            last: Trip::Lost,
            saturated: 17,
            late_plans: 18,
        },
    }
}

fn events() -> Vec<(&'static str, What)> {
    let cause = Cause::Motion;
    vec![
        (
            "event_run",
            What::Run {
                from: Phase::Armed,
                to: Phase::Swinging,
                cause,
                initial: Some(INITIAL),
            },
        ),
        (
            "event_zeroed",
            What::Zeroed {
                cause: Cause::Button,
                zero: [-40_000, 17],
            },
        ),
        ("event_configured", What::Configured),
        ("event_overrun", What::Overrun { missed: 3 }),
        (
            "event_encoder_fault",
            What::EncoderFault { joint: 1, flags: 9 },
        ),
        (
            "event_drive",
            What::Drive {
                mode: Mode::Off,
                trip: Trip::Heartbeat,
            },
        ),
        ("event_uas_restart", What::UasRestart { total: 2 }),
        ("event_ekf_restart", What::EkfRestart { total: 3 }),
        (
            "event_overloaded",
            What::Overloaded {
                cycles: 41_000,
                limit: 30_000,
            },
        ),
    ]
}

fn refusals() -> Vec<(&'static str, Option<Refusal>)> {
    vec![
        ("reply_ack", None),
        ("reply_swinging", Some(Refusal::Swinging)),
        ("reply_busy", Some(Refusal::Busy)),
        ("reply_not_understood", Some(Refusal::NotUnderstood)),
        (
            "reply_out_of_range",
            Some(Refusal::OutOfRange {
                field: text("plant.furuta.m2"),
                value: 0.0,
                min: 1e-4,
                max: 1e3,
            }),
        ),
        (
            "reply_config_version",
            Some(Refusal::ConfigVersion { found: 9, known: 1 }),
        ),
        ("reply_config_unreadable", Some(Refusal::ConfigUnreadable)),
        ("reply_not_drivable", Some(Refusal::NotDrivable)),
        ("reply_driving", Some(Refusal::Driving)),
        ("reply_not_planning", Some(Refusal::NotPlanning)),
    ]
}

fn asks() -> Vec<(&'static str, Ask)> {
    vec![
        ("command_hello", Ask::Hello),
        ("command_start", Ask::Start),
        ("command_stop", Ask::Stop),
        ("command_zero", Ask::Zero),
        (
            "command_set_config",
            Ask::SetConfig {
                store: true,
                config: Blob::from_bytes(&[1, 2, 3]).unwrap(),
            },
        ),
        ("command_get_config", Ask::GetConfig),
        (
            "command_self_test",
            Ask::SelfTest {
                seed: 99,
                frames: 3,
                bytes: 300,
            },
        ),
        ("command_reset", Ask::Reset),
        ("command_drive", Ask::Drive(drive())),
        (
            "command_plan",
            Ask::Plan(Plan {
                from_tick: 70_100,
                weights: core::array::from_fn(|i| i as f32),
            }),
        ),
        ("command_beat", Ask::Beat),
    ]
}

/// Every frame, every variant, by name.
pub fn frames() -> Vec<(&'static str, Frame)> {
    let mut all = vec![
        ("hello", Frame::Hello(hello())),
        ("block", Frame::Block(block())),
        ("status", Frame::Status(status())),
        ("pattern", Frame::Pattern(Pattern::new(42, 1, 3, 16))),
    ];
    all.extend(
        events()
            .into_iter()
            .map(|(name, what)| (name, Frame::Event(Event { tick: 12_395, what }))),
    );
    all.extend(refusals().into_iter().map(|(name, refusal)| {
        let (id, tick) = (513, 12_395);
        (name, Frame::Reply(Reply { id, tick, refusal }))
    }));
    all.extend(
        asks()
            .into_iter()
            .map(|(name, ask)| (name, Frame::Command(Command { id: 513, ask }))),
    );
    all
}

/// The default configuration as stored and sent.
pub fn config() -> Blob {
    Blob::seal(&Config::default())
}

fn drive() -> Drive {
    Drive {
        mode: Mode::Track,
        signal: Signal {
            shape: Shape::Chirp,
            offset: 0.5,
            amplitude: 0.25,
            low_hz: 0.125,
            high_hz: 8.0,
            seconds: 20.0,
            seed: 300,
        },
    }
}
