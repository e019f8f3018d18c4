//! Growth: frames of newer and older revisions, unknown kinds, other configuration versions.

use serde::Serialize;
use stribeck_core::device::config::{Blob, Config, ConfigError, VERSION};
use stribeck_core::device::run::Phase;
use stribeck_core::wire::{Body, ClockSource, Decoder, Frame, Hello, Status, Verdict, Wear, crc32};

use crate::samples;

/// A frame from its parts, without the code under test.
fn frame(kind: u8, rev: u8, body: &[u8]) -> Vec<u8> {
    let mut plain = vec![kind, rev];
    plain.extend_from_slice(body);
    let crc = crc32(&plain);
    plain.extend_from_slice(&crc.to_le_bytes());
    let mut out = Vec::new();
    let mut rest = &plain[..];
    loop {
        let run = rest.iter().take(254).take_while(|b| **b != 0).count();
        out.push(run as u8 + 1);
        out.extend_from_slice(&rest[..run]);
        match (run, rest.len()) {
            (_, n) if n == run => break,
            (254, _) => rest = &rest[254..],
            _ => rest = &rest[run + 1..],
        }
    }
    out.push(0);
    out
}

fn read(bytes: &[u8]) -> Frame {
    let mut decoder: Decoder = Decoder::new();
    let mut found = None;
    decoder.feed(bytes, |raw| found = Some(raw.unwrap().decode().unwrap()));
    found.expect("one frame")
}

fn body(value: &impl Serialize) -> Vec<u8> {
    let mut buf = [0; 4096];
    postcard::to_slice(value, &mut buf).unwrap().to_vec()
}

#[test]
fn a_newer_revision_is_read_without_its_new_fields() {
    let mut future = body(&samples::hello());
    future.extend_from_slice(b"fields of the future");
    assert_eq!(read(&frame(1, 77, &future)), Frame::Hello(samples::hello()));
}

#[test]
fn an_older_revision_is_read_with_unknown_fields_zero() {
    // Status as it might have been before its last eight fields: a prefix of today's.
    #[derive(Serialize)]
    struct Older {
        tick: u64,
        phase: Phase,
    }
    let older = body(&Older {
        tick: 70_000,
        phase: Phase::AtRest,
    });
    let expected = Status {
        tick: 70_000,
        phase: Phase::AtRest,
        ..Status::default()
    };
    assert_eq!(read(&frame(3, 0, &older)), Frame::Status(expected));
}

/// The bytes of a Status as they were sent before overloads and wear were appended.
#[test]
fn a_status_of_revision_1_is_read() {
    let hex = "0b0301f0a20403a846bc4604b60c46010da03fb6b802cab802803b1c47011aa0\
               3f8088debe010102030c0405060708090a0b030364e0f1bc00";
    let bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
        .collect();
    let expected = Status {
        overloads: 0,
        wear: Wear::default(),
        uas_floored: 0,
        ekf_floored: 0,
        ekf_gated: 0,
        ekf_resumes: 0,
        ekf_verdict: Verdict::NotConverged,
        drive: Default::default(),
        ..samples::status()
    };
    assert_eq!(read(&bytes), Frame::Status(expected));
}

#[test]
fn a_short_body_of_the_present_revision_is_an_error() {
    let whole = body(&samples::status());
    let mut decoder: Decoder = Decoder::new();
    decoder.feed(&frame(3, Status::REV, &whole[..whole.len() - 1]), |raw| {
        assert!(raw.unwrap().decode().is_err());
    });
}

#[test]
fn an_older_hello_keeps_what_it_had() {
    // Hello is read by every later version: each cut of it yields the fields before the cut.
    let whole = body(&samples::hello());
    let cut = whole.len() - samples::hello().config.as_bytes().len() - 2;
    let Frame::Hello(hello) = read(&frame(1, 0, &whole[..cut])) else {
        panic!("not a Hello");
    };
    let expected = Hello {
        config: Blob::default(),
        clock: ClockSource::Unknown,
        ..samples::hello()
    };
    assert_eq!(hello, expected);
    assert_eq!(hello.config(), Err(ConfigError::Unreadable));
}

#[test]
fn a_hello_of_revision_1_does_not_know_its_clock() {
    let whole = body(&samples::hello());
    let expected = Hello {
        clock: ClockSource::Unknown,
        ..samples::hello()
    };
    let read = read(&frame(1, 1, &whole[..whole.len() - 1]));
    assert_eq!(read, Frame::Hello(expected));
}

#[test]
fn an_unknown_kind_is_named_not_refused() {
    assert_eq!(
        read(&frame(200, 3, b"whatever")),
        Frame::Unknown { kind: 200, rev: 3 }
    );
}

#[test]
fn another_configuration_version_is_refused_by_name() {
    let config = Config {
        version: VERSION + 1,
        ..Config::default()
    };
    let error = Err(ConfigError::Version {
        found: VERSION + 1,
        known: VERSION,
    });
    assert_eq!(Blob::seal(&config).open(), error);
    assert_eq!(config.validate(), error.map(|_: Config| ()));
}
