//! Growth: frames of newer and older revisions, unknown kinds, other configuration versions.

use serde::Serialize;
use stribeck_core::config::{Blob, Config, ConfigError, VERSION};
use stribeck_core::run::Phase;
use stribeck_core::wire::{Decoder, Frame, Hello, Status, crc32};

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

#[test]
fn a_short_body_of_the_present_revision_is_an_error() {
    let whole = body(&samples::status());
    let mut decoder: Decoder = Decoder::new();
    decoder.feed(&frame(3, 1, &whole[..whole.len() - 1]), |raw| {
        assert!(raw.unwrap().decode().is_err());
    });
}

#[test]
fn an_older_hello_keeps_what_it_had() {
    // Hello is read by every later version: each cut of it yields the fields before the cut.
    let whole = body(&samples::hello());
    let cut = whole.len() - samples::hello().config.as_bytes().len() - 1;
    let Frame::Hello(hello) = read(&frame(1, 0, &whole[..cut])) else {
        panic!("not a Hello");
    };
    let expected = Hello {
        config: Blob::default(),
        ..samples::hello()
    };
    assert_eq!(hello, expected);
    assert_eq!(hello.config(), Err(ConfigError::Unreadable));
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
