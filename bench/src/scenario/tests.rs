//! Tests of `scenario`.

use super::*;

#[test]
fn an_empty_file_is_the_default_swing() {
    let s = Scenario::parse("s.toml", "").unwrap();
    assert_eq!(
        (s.seconds, s.plant.release_s, s.events.len()),
        (20.0, 1.0, 0)
    );
}

#[test]
fn events_are_sorted_and_typed() {
    let s = Scenario::parse(
        "s.toml",
        "[[event]]\nat_s = 2.0\ndo = \"cut\"\njoint = 1\nchannel = \"a\"\n[[event]]\nat_s = 1\ndo = \"usb-unplug\"\n",
    )
    .unwrap();
    assert_eq!(s.events[0].action, Action::UsbUnplug);
    assert_eq!(
        s.events[1].action,
        Action::Cut {
            joint: 1,
            channel: Channel::A
        }
    );
}

#[test]
fn mistakes_name_the_key() {
    for (text, key) in [
        ("secnds = 3", "secnds"),
        ("seconds = -1", "seconds"),
        (
            "[[event]]\nat_s = 1\ndo = \"cut\"\njoint = 2",
            "event[0].joint",
        ),
        ("[[event]]\nat_s = 1\ndo = \"explode\"", "explode"),
        (
            "[[event]]\nat_s = 1\ndo = \"send\"\nhex = \"0\"",
            "event[0].hex",
        ),
        (
            "[[event]]\nat_s = 1\ndo = \"bit-flip\"\nbit = 3",
            "event[0].address",
        ),
        ("[plant]\nlift_s = [1.0, 0.5]", "plant.lift_s"),
        ("[board]\nbutton = \"X1\"", "X1"),
    ] {
        let e = Scenario::parse("s.toml", text).unwrap_err().to_string();
        assert!(e.contains(key), "{text}: {e}");
    }
}

#[test]
fn hexadecimal() {
    assert_eq!(unhex("00 ffA5"), Some(vec![0, 0xff, 0xa5]));
    assert_eq!(unhex("0g"), None);
}
