//! Tests of `host`.

use super::*;

/// A device side that is always configured and keeps endpoint 1 IN armed with 64 bytes.
fn streaming() -> (UsbHost, Otg) {
    let mut otg = Otg::new(true);
    otg.vbus = true;
    otg.clock_error_ppm = Some(0);
    otg.write(0x038, 1 << 16 | 1 << 21); // PHY on, 5 V sensed
    otg.write(0x008, 1);
    otg.write(0x804, 0);
    let mut host = UsbHost::new(Reading::Fast);
    host.state = State::Running;
    host.configured = true;
    host.identity.bulk_in = 1;
    host.identity.bulk_out = 1;
    (host, otg)
}

fn arm(otg: &mut Otg) {
    if otg.read(0x920).unwrap() >> 31 == 0 {
        otg.write(0x930, 1 << 19 | 64);
        otg.write(0x920, 1 << 31 | 1 << 26 | 1 << 15 | 64);
        for w in 0..16 {
            otg.write(0x2000, w);
        }
    }
}

fn run(host: &mut UsbHost, otg: &mut Otg, until: Time) {
    while host.next() < until {
        arm(otg);
        let now = host.next();
        host.poll(otg, now);
    }
}

#[test]
fn at_most_19_packets_per_frame() {
    let (mut host, mut otg) = streaming();
    run(&mut host, &mut otg, 100 * MS);
    let per_frame = host.stats.packets_in as f64 / 100.0;
    assert!((18.5..=19.0).contains(&per_frame), "{per_frame}");
    assert!(host.stats.most_packets_in_a_frame <= 19);
}

#[test]
fn a_port_nobody_reads_fills_its_buffer_and_then_stops() {
    let (mut host, mut otg) = streaming();
    host.reading = Reading::Stopped;
    run(&mut host, &mut otg, 100 * MS);
    assert_eq!(host.stats.bytes_in, BUFFER as u64);
    host.reading = Reading::Fast;
    run(&mut host, &mut otg, 200 * MS);
    assert!(host.stats.bytes_in > 10 * BUFFER as u64);
    assert_eq!(
        host.take_delivered().len() as u64 + host.buffer.len() as u64,
        host.stats.bytes_in
    );
}

#[test]
fn a_slow_reader_gets_its_rate() {
    let (mut host, mut otg) = streaming();
    host.reading = Reading::Slow(10_000);
    run(&mut host, &mut otg, 1000 * MS);
    let got = host.take_delivered().len();
    assert!((9_900..=10_100).contains(&got), "{got}");
}

#[test]
fn a_silent_device_is_reset_and_counted() {
    let (mut host, mut otg) = streaming();
    host.configured = false;
    host.control = Transfer::enumeration(true).into();
    host.deadline = 500 * MS;
    run(&mut host, &mut otg, 600 * MS);
    assert_eq!(host.stats.failed_enumerations, 1);
    assert!(host.take_log().iter().any(|l| l.contains("DeviceStart")));
}

#[test]
fn unplug_tells_the_device_and_drops_what_was_queued() {
    let (mut host, mut otg) = streaming();
    host.send(b"late");
    host.unplug(&mut otg);
    assert!(otg.is_raised(otg::USBSUSP) && otg.suspended && !otg.vbus);
    assert!(!host.ready());
    assert_eq!(host.unsent(), 0);
    host.plug(&mut otg);
    run(&mut host, &mut otg, 5 * MS);
    assert!(otg.is_raised(otg::USBRST), "a new bus reset follows");
}
