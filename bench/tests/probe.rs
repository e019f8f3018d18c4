//! The debug probe as a client sees it: what it says, what it refuses, and that no client can stop the emulation.
//!
//! The same with the real tool: `tests/probe_rs.rs`.

mod harness;

use std::time::{Duration, Instant};

use harness::probe::{Client, ProbeBench, firmware_path};

const CPUID: u32 = 0xe000_ed00;
const DHCSR: u32 = 0xe000_edf0;
/// Counter of TIM3, the firmware's clock [µs].
const TIM3_CNT: u32 = 0x4000_0424;

fn running() -> ProbeBench {
    let mut bench = ProbeBench::start(&[firmware_path().to_str().unwrap(), "--fast"]);
    bench.wait_for("usb: configured");
    bench
}

/// The program still runs: its clock moves.
fn assert_alive(bench: &ProbeBench) {
    let mut c = bench.connect();
    c.power_up();
    let (first, begun) = (c.read(TIM3_CNT), Instant::now());
    while c.read(TIM3_CNT) == first {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", bench.log());
    }
}

#[test]
fn a_word_is_read_in_every_protocol_version() {
    for (version, packet) in [
        ("0", "HM0000000000e000ed0000000004"),
        ("1", "HM000000000000e000ed0000000004"),
        ("2", "HM000000000000e000ed0000000004"),
        ("3", "Am000000000000e000ed0000000004"),
        ("4", "Am00000000000000000000e000ed0000000004"),
    ] {
        let bench = ProbeBench::start(&["--blank", "--fast", "--probe-version", version]);
        let mut c = bench.connect();
        assert_eq!(c.ask("HC"), format!("K{version}"));
        let power = match version {
            "0" => "HL00000450000000",
            "1" | "2" => "HL0000000450000000",
            _ => "AR0000000450000000",
        };
        assert_eq!(
            c.ask(packet),
            "E4",
            "version {version}: not without debug power"
        );
        assert_eq!(c.ask(power), "K0", "version {version}");
        assert_eq!(
            c.ask(packet),
            "K71c21f41",
            "version {version}: Cortex-M7 r1p1"
        );
    }
}

#[test]
fn the_line_works_bit_by_bit() {
    let bench = ProbeBench::start(&["--blank", "--fast"]);
    let mut c = bench.connect();
    let request = |c: &mut Client, bits: u32| assert_eq!(c.ask(&format!("So08{bits:x}")), "K0");
    assert_eq!(c.ask("SS"), "K0");
    request(&mut c, 0xa5);
    assert_eq!(c.ask("Si03"), "K7", "deaf before a line reset");
    c.ask("So20ffffffff");
    c.ask("So14fffff");
    c.ask("So10e79e");
    c.ask("So20ffffffff");
    c.ask("So14fffff");
    c.ask("So020");
    request(&mut c, 0xa5); // read DPIDR
    assert_eq!(c.ask("Si03"), "K1");
    assert_eq!(c.ask("SI20"), "K6ba02477");
    request(&mut c, 0x9f); // read an access port: no debug power yet
    assert_eq!(c.ask("Si03"), "K4", "refused");
    c.ask("Si21");
    request(&mut c, 0xa9); // write CTRL/STAT
    assert_eq!(c.ask("Si03"), "K1");
    c.ask("SO2050000000");
    request(&mut c, 0x8d); // read it
    assert_eq!(c.ask("Si03"), "K1");
    assert_eq!(c.ask("SI20"), "Kf0000040");
    request(&mut c, 0xb1); // SELECT: access port 2, last bank
    assert_eq!(c.ask("Si03"), "K1");
    c.ask("SO20020000f0");
    request(&mut c, 0x9f); // its IDR, told by the next read
    c.ask("Si03");
    c.ask("SI20");
    request(&mut c, 0xbd); // RDBUFF
    assert_eq!(c.ask("Si03"), "K1");
    assert_eq!(c.ask("SI20"), "K54770002");
}

#[test]
fn access_ports_are_those_of_the_chip() {
    let bench = ProbeBench::start(&["--blank", "--fast"]);
    let mut c = bench.connect();
    c.power_up();
    let idr: Vec<String> = (0..4)
        .map(|ap| c.ask(&format!("Aa00{ap:02x}01fc")))
        .collect();
    assert_eq!(idr, ["K01007784", "K01007784", "K02007754", "K00000000"]);
    assert_eq!(c.ask("Aa000001f8"), "K03e00fe0", "base of the ROM table");
    // A block through TAR and DRW, with increment.
    c.ask("AA00000100520000a3"); // CSW: words, increment
    c.ask("AA0000010400000024"); // TAR: 0x24000000
    for v in ["11111111", "22222222"] {
        assert_eq!(c.ask(&format!("AA0000010c{v}")), "K0");
    }
    assert_eq!(
        (c.read(0x2400_0000), c.read(0x2400_0004)),
        (0x1111_1111, 0x2222_2222)
    );
    assert_eq!(
        c.ask("Am0000000000000000000090000000" /* nothing there */),
        "P"
    );
    assert_eq!(c.ask("Am000000000000000000009000000000000004"), "E4");
    assert_eq!(
        c.read(CPUID),
        0x411f_c271,
        "the error is not sticky for the next"
    );
}

#[test]
fn garbage_half_packets_and_long_ones_do_no_harm() {
    let mut bench = running();
    let mut c = bench.connect();
    c.power_up();
    c.send(&(0..=255).cycle().take(5000).collect::<Vec<u8>>());
    c.send(b"\n!Am0000"); // half a packet, and a new one
    c.send(b"!HC#");
    let mut last = String::new();
    while last != "K4" {
        last = c.reply();
        assert!(!last.contains("closed"), "{}", bench.log());
    }
    assert_eq!(c.ask(&"A".repeat(3000)), "E2", "too long");
    assert_eq!(c.ask("Xy"), "N");
    assert_eq!(c.ask("AM00000000000002"), "P");
    assert_eq!(c.ask("Am00000000000000000000000000000000ffff"), "P");
    assert_eq!(c.ask("Siff"), "P");
    assert_eq!(c.ask(""), "N");
    assert_eq!(c.ask("\u{fc}\u{fc}"), "N", "not even letters");
    bench.wait_for("command 'Xy' is not known");
    bench.wait_for("more than 1024 characters");
    drop(c);
    bench.wait_for("bytes were no packet");
    assert_alive(&bench);
}

#[test]
fn a_client_that_never_reads_is_left_alone() {
    let bench = running();
    let mut deaf = bench.connect();
    deaf.0
        .set_write_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    let question = b"!Am0000000000000000000008000000000001f0#".repeat(500);
    // Ends when we are cut off, or when nobody takes our questions any more.
    use std::io::Write;
    while deaf.0.write_all(&question).is_ok() {}
    drop(deaf);
    assert_alive(&bench);
}

#[test]
fn a_client_lost_in_the_middle_of_flash_and_reset_leaves_a_board_that_can_be_used() {
    let mut bench = running();
    let mut c = bench.connect();
    c.power_up();
    c.write(DHCSR, 0xa05f_0003);
    // Bank 2: unlock, program, half a flash word.
    for key in [0x4567_0123, 0xcdef_89ab] {
        c.write(0x5200_2104, key);
    }
    c.write(0x5200_210c, 0x32);
    c.write(0x081e_0000, 0);
    c.write(0x081e_0004, 0);
    assert_eq!(c.ask("GZ1"), "K0");
    c.send(b"!AM00000000000002");
    drop(c);
    bench.wait_for("in the middle of one");
    // The pin was let go, the reset has undone the rest.
    let mut c = bench.connect();
    c.power_up();
    assert_eq!(c.ask("Gz"), "K0");
    assert_eq!(c.read(0x5200_210c) & 1, 1, "locked again");
    drop(c);
    assert_alive(&bench);
    assert_eq!(bench.finish().matches("Pin").count(), 1);
}

#[test]
fn a_second_client_is_refused_while_the_first_works() {
    let mut bench = running();
    let mut first = bench.connect();
    first.power_up();
    let mut second = bench.connect();
    second.send(b"+#!GA#");
    let answer = second.reply();
    assert!(answer == "E0" || answer.ends_with("(closed)"), "{answer}");
    bench.wait_for("refused");
    assert_eq!(first.read(CPUID), 0x411f_c271);
    drop(first);
    bench.wait_for("left after");
    assert_alive(&bench);
}

#[test]
fn the_scenario_file_of_the_on_target_tests_is_the_board_of_the_fast_runner() {
    let file = harness::scenario_file("on-target-tests.toml");
    let pins = |s: &stribeck_bench::Scenario| format!("{:?}", s.board.jumpers);
    assert_eq!(pins(&file), pins(&stribeck_bench::hil::board()));
}
