//! `stribeck doctor`: why is my board not found? Measures, then says what to do.

mod listen;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use serde_json::{Value, json};
use stribeck_core::wire::{self, Ask, ClockSource, ConfigOrigin, Frame, Hello};

use crate::cli::exit::Exit;
use crate::link::command;
use crate::link::frames::{Content, Frames};
use crate::link::port::Port;
use crate::link::readings::Readings;
use crate::link::session::refusal;
use crate::link::source::{Arrival, Source};
use crate::link::usb::{self, Match, PRODUCT, PRODUCT_NAME, VENDOR};
use crate::link::wording;

/// Find out why a board is not found or not understood
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  $ stribeck doctor
  ok    this build: stribeck 0.1.0, protocol 1, numerics 2
  ok    serial ports: 1 /dev/ttyS0
  FAIL  board: no port is a \"stribeck pendulum observer\" (c0de:cafe)
        do: connect the board's user USB connector (not the ST-LINK's) with a data cable; …
  $ stribeck doctor --port /dev/ttyACM0
  ok    this build: stribeck 0.1.0, protocol 1, numerics 2
  ok    port opens: /dev/ttyACM0
  ok    firmware answers: 0.1.0 d55bc0f on NUCLEO-H743ZI2, up 3.0 s, idle
  ok    versions: protocol 1, numerics 2
  ok    configuration: valid, defaults of the firmware
  ok    last reset: power on
  ok    stream: 199 blocks in 2 s, 0 missing, 0 damaged frames
  ok    tick rate: 10000 Hz +0.0 % by this computer's clock
  ok    processor: 0 overruns, 0 ticks missed, 0 blocks discarded since its reset
  ok    encoder 0: no fault since the board's reset
  ok    encoder 1: no fault since the board's reset

Checks in order: ports, USB identity, permission, driver, answer of the firmware, versions, configuration, last reset;
then it listens for two seconds: loss, tick rate, overruns, encoder faults (a jump, a stuck or a reversed channel).
The exit code is 0 when all of it is well.")]
pub struct Args {
    /// Examine this port instead of searching
    #[arg(long, value_name = "PORT")]
    port: Option<String>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Write what the board says about itself as JSON, to send or to keep (docs/first-power-on.md)
    #[arg(long, value_name = "FILE")]
    bench_report: Option<PathBuf>,
    /// Seconds to listen for the bench report
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 15,
        requires = "bench_report"
    )]
    listen: u16,
}

/// One measured fact.
struct Finding {
    what: &'static str,
    ok: bool,
    found: String,
    /// What to do about it.
    advice: Option<String>,
}

impl Finding {
    fn json(&self) -> Value {
        json!({ "what": self.what, "ok": self.ok, "found": self.found, "advice": self.advice })
    }
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn ok(&mut self, what: &'static str, found: impl Into<String>) {
        self.0.push(Finding {
            what,
            ok: true,
            found: found.into(),
            advice: None,
        });
    }

    fn fail(&mut self, what: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Finding {
            what,
            ok: false,
            found: found.into(),
            advice: Some(advice.into()),
        });
    }
}

pub fn run(args: Args) -> anyhow::Result<Exit> {
    let mut findings = Findings::default();
    findings.ok(
        "this build",
        format!(
            "stribeck {}, protocol {}, numerics {}",
            env!("CARGO_PKG_VERSION"),
            wire::PROTOCOL,
            wire::NUMERICS
        ),
    );
    let path = args.port.or_else(|| search(&mut findings));
    if let Some(path) = path
        && let Some(port) = examine(&path, &mut findings)
        && let Some(file) = &args.bench_report
    {
        let time = Duration::from_secs(args.listen.into());
        report(port, time, file, &mut findings)?;
    }
    let healthy = findings.0.iter().all(|f| f.ok);
    if args.json {
        let list: Vec<Value> = findings.0.iter().map(Finding::json).collect();
        println!("{}", json!({ "healthy": healthy, "findings": list }));
    } else {
        for f in &findings.0 {
            println!(
                "{}  {}: {}",
                if f.ok { "ok  " } else { "FAIL" },
                f.what,
                f.found
            );
            if let Some(advice) = &f.advice {
                println!("      do: {advice}");
            }
        }
    }
    Ok(if healthy {
        Exit::Success
    } else {
        Exit::NoSource
    })
}

/// The board among the ports.
fn search(findings: &mut Findings) -> Option<String> {
    let ports = match usb::ports() {
        Ok(ports) => ports,
        Err(e) => {
            findings.fail("serial ports", e.to_string(), e.help().unwrap_or_default());
            return None;
        }
    };
    let names: Vec<String> = ports
        .iter()
        .map(|p| match (p.vendor, p.product) {
            (Some(v), Some(d)) => format!(
                "{} ({v:04x}:{d:04x} {})",
                p.path,
                p.product_name.as_deref().unwrap_or("?")
            ),
            _ => p.path.clone(),
        })
        .collect();
    findings.ok(
        "serial ports",
        format!("{} {}", ports.len(), names.join(", "))
            .trim()
            .to_owned(),
    );
    let best = ports.first().map_or(Match::Other, |p| p.matches);
    match best {
        Match::Name => {
            findings.ok("board", names[0].clone());
            Some(ports[0].path.clone())
        }
        Match::Number => {
            findings.fail(
                "board",
                format!("{} has the board's numbers but another name", names[0]),
                "flash the stribeck firmware (`cargo fw-flash`), or name the port: stribeck doctor --port …",
            );
            Some(ports[0].path.clone())
        }
        Match::Other => {
            findings.fail(
                "board",
                format!("no port is a \"{PRODUCT_NAME}\" ({VENDOR:04x}:{PRODUCT:04x})"),
                "connect the board's user USB connector (not the ST-LINK's) with a data cable; if it is connected, flash the firmware and press reset",
            );
            kernel(findings);
            None
        }
    }
}

/// Is the device on the bus without a driver? (Linux shows it in /sys.)
fn kernel(findings: &mut Findings) {
    let Ok(devices) = std::fs::read_dir("/sys/bus/usb/devices") else {
        return;
    };
    let number = |dir: &Path, file: &str| {
        let text = std::fs::read_to_string(dir.join(file)).ok()?;
        u16::from_str_radix(text.trim(), 16).ok()
    };
    for device in devices.flatten() {
        let dir = device.path();
        if number(&dir, "idVendor") == Some(VENDOR) && number(&dir, "idProduct") == Some(PRODUCT) {
            findings.fail(
                "driver",
                format!("the board is on the bus at {} but has no serial port", dir.display()),
                "load the driver: sudo modprobe cdc_acm; in a virtual machine or container pass the device through",
            );
        }
    }
}

/// Permission, answer, versions, health.
fn examine(path: &str, findings: &mut Findings) -> Option<Port> {
    let mut port = match Port::path(Path::new(path)) {
        Ok(port) => port,
        Err(e) => {
            let mut advice = e.help().unwrap_or_default().to_owned();
            if let Some(owner) = owner(path) {
                advice += &format!(" ({path}: {owner})");
            }
            findings.fail("port opens", e.to_string(), advice);
            return None;
        }
    };
    findings.ok("port opens", path);
    let (hello, heard) = greet(&mut port);
    match hello {
        Some(hello) => {
            judge(&hello, findings);
            if let Err(e) = listen::examine(&mut port, findings) {
                findings.fail("stream", e.to_string(), e.help().unwrap_or_default());
            }
            return Some(port);
        }
        None => findings.fail(
            "firmware answers",
            format!("no Hello within 3 s, {heard} bytes heard"),
            match heard {
                0 => "press reset; if it stays silent flash the firmware (`cargo fw-flash`); is another program reading the port (ModemManager)?",
                _ => "something else is talking on this port: choose another with --port, or flash the stribeck firmware",
            },
        ),
    }
    None
}

/// Everything the board says in this time, with what was found so far, as one new file.
fn report(
    mut port: Port,
    time: Duration,
    file: &Path,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let out = File::create_new(file).with_context(|| {
        format!(
            "{}: cannot be created; a file that exists is not overwritten",
            file.display()
        )
    })?;
    eprintln!("listening for {} s", time.as_secs());
    let readings = Readings::take(&mut port, time)?;
    let whole = json!({
        "stribeck": env!("CARGO_PKG_VERSION"),
        "host": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "unix_time": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()),
        "port": port.name(),
        "findings": findings.0.iter().map(Finding::json).collect::<Vec<_>>(),
        "readings": readings,
    });
    serde_json::to_writer_pretty(out, &whole)?;
    findings.ok(
        "bench report",
        format!(
            "{}: {} blocks, {} missing, rate {} ppm",
            file.display(),
            readings.blocks,
            readings.blocks_missing,
            readings.rate_ppm.map_or("?".into(), |r| format!("{r:+.0}"))
        ),
    );
    Ok(())
}

/// Mode and group of a port.
#[cfg(unix)]
fn owner(path: &str) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).ok()?;
    Some(format!(
        "mode {:o}, uid {}, gid {}",
        meta.mode() & 0o777,
        meta.uid(),
        meta.gid()
    ))
}

#[cfg(not(unix))]
fn owner(_: &str) -> Option<String> {
    None
}

/// Ask for a Hello; also how many bytes came.
fn greet(port: &mut Port) -> (Option<Hello>, usize) {
    let mut frames = Frames::joining();
    let mut heard = 0;
    let begun = Instant::now();
    let mut asked: Option<Instant> = None;
    while begun.elapsed() < Duration::from_secs(3) {
        if asked.is_none_or(|at| at.elapsed() > Duration::from_millis(300)) {
            asked = Some(Instant::now());
            if port.write(&command::frame(1, Ask::Hello)).is_err() {
                break;
            }
        }
        let mut bytes = Vec::new();
        match port.read(&mut bytes) {
            Ok(Arrival::Bytes | Arrival::Quiet) => {}
            _ => break,
        }
        heard += bytes.len();
        let mut hello = None;
        let _ = frames.push::<()>(&bytes, |piece| {
            if let Content::Frame(Frame::Hello(h)) = piece.content {
                hello = Some(h);
            }
            Ok(())
        });
        if hello.is_some() {
            return (hello, heard);
        }
    }
    (None, heard)
}

fn judge(hello: &Hello, findings: &mut Findings) {
    findings.ok(
        "firmware answers",
        format!(
            "{} on {}, up {:.1} s, {}",
            wording::printable(&hello.build),
            wording::printable(&hello.board),
            hello.uptime_ticks as f64 / f64::from(hello.tick_hz.max(1)),
            wording::phase(hello.phase)
        ),
    );
    match refusal(hello) {
        None => findings.ok(
            "versions",
            format!("protocol {}, numerics {}", hello.protocol, hello.numerics),
        ),
        Some(why) => findings.fail(
            "versions",
            why,
            "flash the firmware of this version (`cargo fw-flash`)",
        ),
    }
    if hello.schema != wire::SCHEMA_HASH {
        findings.ok(
            "fields",
            "firmware and host know different fields; the growth rule makes them compatible",
        );
    }
    match hello.config() {
        Ok(config) => match config.validate() {
            Ok(()) if hello.config_origin == ConfigOrigin::StoredWasBad => findings.fail(
                "configuration",
                wording::config_origin(hello.config_origin),
                "push yours again: stribeck config push rig.toml --store",
            ),
            Ok(()) => findings.ok(
                "configuration",
                format!("valid, {}", wording::config_origin(hello.config_origin)),
            ),
            Err(e) => findings.fail(
                "configuration",
                e.to_string(),
                "push a valid one: stribeck config push rig.toml",
            ),
        },
        Err(e) => findings.fail(
            "configuration",
            e.to_string(),
            "flash the firmware of this version",
        ),
    }
    match hello.clock {
        ClockSource::Crystal => findings.ok("clock", "crystal"),
        ClockSource::Unknown => {}
        ClockSource::Internal => findings.fail(
            "clock",
            "internal oscillator: every rate, and so every friction, is off by up to 1 %",
            "power the board through CN1, so that the ST-LINK gives it the crystal's clock",
        ),
    }
    let cause = wording::reset_cause(hello.reset_cause);
    if hello.last_fault.is_empty() {
        findings.ok("last reset", cause);
    } else {
        findings.fail(
            "last reset",
            format!("{cause}: {}", wording::printable(&hello.last_fault)),
            "report this text; it is gone after the next power cycle",
        );
    }
}
