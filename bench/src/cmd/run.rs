//! `stribeck-bench run`: a firmware on the bench, for people and for the host's command line.
//!
//! ```text
//! stribeck-bench run firmware.elf --scenario swing.toml --pty /tmp/stribeck --realtime
//! stribeck-bench run --blank --probe 127.0.0.1:4242 --fast
//! ```
//!
//! stdout: the summary (text or `--json`). stderr: the firmware's log and what the bench does, with virtual times.

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;

use stribeck_bench::debug::server::Probe;
use stribeck_bench::elf::Program;
use stribeck_bench::machine::{Machine, Outcome};
use stribeck_bench::pty::Pty;
use stribeck_bench::report::Summary;
use stribeck_bench::rtt::{LogLine, Source};
use stribeck_bench::scenario::{Action, Scenario};
use stribeck_bench::time::{MS, from_secs, to_secs};
use stribeck_bench::usb::Reading;

#[derive(clap::Args)]
pub struct Args {
    /// The firmware, as `cargo fw` builds it
    #[arg(required_unless_present = "blank")]
    elf: Option<PathBuf>,
    /// Nothing in flash: for a program that a debug probe will bring
    #[arg(long, requires = "probe", conflicts_with = "elf")]
    blank: bool,
    /// Be a debug probe (Black Magic, over TCP) at this address: probe-rs … --probe 1d50:6018:ADDRESS; port 0 = any free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    probe: Option<SocketAddr>,
    /// Remote protocol of the probe; 0 = 0P [default: 4]
    #[arg(long, requires = "probe", value_parser = clap::value_parser!(u8).range(0..=4))]
    probe_version: Option<u8>,
    /// Scenario file (TOML); without one a plain swing
    #[arg(long)]
    scenario: Option<PathBuf>,
    /// Offer the USB port as a serial port through a link at this path
    #[arg(long)]
    pty: Option<PathBuf>,
    /// Virtual seconds to run; 0 = until interrupted [default: the scenario's, with --probe 0]
    #[arg(long)]
    seconds: Option<f64>,
    /// Keep pace with the wall clock [default with --pty or --probe]
    #[arg(long, conflicts_with = "fast")]
    realtime: bool,
    /// As fast as possible [default without --pty and --probe]
    #[arg(long)]
    fast: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Record the bytes the host receives
    #[arg(long, value_name = "FILE")]
    usb_out: Option<PathBuf>,
    /// Estimate processor cycles: caches, wait states, dual issue (slower)
    #[arg(long)]
    cycles: bool,
    /// Virtual time [s] at which a debugger detaches: from there on the cycle counter stands still in sleep
    #[arg(long, value_name = "SECONDS")]
    debugger_detaches: Option<f64>,
    /// Do not print the log
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: &Args) -> anyhow::Result<bool> {
    let program = Rc::new(match &args.elf {
        Some(elf) => Program::load(elf)?,
        None => Program::blank(),
    });
    let mut scenario = match &args.scenario {
        Some(path) => Scenario::load(path)?,
        None => Scenario::default(),
    };
    scenario.cycles |= args.cycles;
    let pty = args
        .pty
        .as_deref()
        .map(|p| Pty::open(Some(p)))
        .transpose()?;
    let mut record = args
        .usb_out
        .as_ref()
        .map(|p| File::create(p).with_context(|| format!("{}: cannot be written", p.display())))
        .transpose()?;
    let mut machine = Machine::new(program, &scenario)?;
    if let Some(at_s) = args.debugger_detaches {
        let pending = &mut machine.chip_mut().pending;
        pending.push(from_secs(at_s), Action::DebuggerDetaches);
    }
    if let (Some(p), Some(path)) = (&pty, &args.pty) {
        eprintln!(
            "serial port: {} -> {}",
            path.display(),
            p.device().display()
        );
        let host = &mut machine.chip_mut().host;
        host.reading = Reading::External;
        host.set_dtr(false);
    }
    let mut probe = open_probe(args, &mut machine)?;
    let seconds = match (args.seconds, &probe) {
        (Some(s), _) => s,
        (None, Some(_)) => 0.0,
        (None, None) => scenario.seconds,
    };
    let end = if seconds > 0.0 {
        from_secs(seconds)
    } else {
        u64::MAX
    };
    let pace = args.realtime || ((pty.is_some() || probe.is_some()) && !args.fast);
    let started = Instant::now();
    let mut outcome = Outcome::Time;
    let mut client = false;
    stop::on_signals();
    while machine.now() < end && outcome == Outcome::Time && !stop::requested() {
        let slice_time = probe.as_mut().map_or(MS, Probe::slice);
        let slice_time = if pty.is_some() {
            slice_time.min(MS)
        } else {
            slice_time
        };
        let slice = (machine.now() / slice_time + 1) * slice_time;
        outcome = machine.run_until(slice.min(end));
        if let Some(pty) = &pty {
            client = exchange(&mut machine, pty, client, &mut record)?;
        }
        let got = machine.chip_mut().host.take_delivered();
        if let Some(f) = &mut record {
            f.write_all(&got)?;
        }
        if !args.quiet {
            machine.take_log().iter().for_each(print_line);
        }
        let ahead = if pace {
            machine.seconds() - started.elapsed().as_secs_f64()
        } else if machine.stands() {
            // Nothing is executed: a person or a program thinks, in real time.
            to_secs(slice_time)
        } else {
            0.0
        };
        let ahead = Duration::from_secs_f64(ahead.max(0.0));
        match &mut probe {
            Some(probe) => probe.serve_for(&mut machine, ahead),
            None => std::thread::sleep(ahead),
        }
    }
    let mut summary = Summary::new(&machine);
    summary.wall_s = Some(started.elapsed().as_secs_f64());
    summary.processor_s = Some(processor_s());
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print!("{summary}");
    }
    Ok(matches!(outcome, Outcome::Time | Outcome::Exit(0)))
}

fn open_probe(args: &Args, machine: &mut Machine) -> anyhow::Result<Option<Probe>> {
    let Some(address) = args.probe else {
        return Ok(None);
    };
    let probe = Probe::listen(address, args.probe_version)
        .with_context(|| format!("no debug probe at {address}; is another bench running there?"))?;
    let debug = &mut machine.chip_mut().debug;
    debug.probe_fitted = true;
    if args.fast {
        debug.status_lead = 20 * MS;
    }
    eprintln!("debug probe: 1d50:6018:{}", probe.address()?);
    Ok(Some(probe))
}

/// Processor time of this process [s].
fn processor_s() -> f64 {
    // SAFETY: plain data, filled in by the call.
    let mut t: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Moves bytes between the port's client and the host; a client that comes or goes opens or closes the port.
fn exchange(
    machine: &mut Machine,
    pty: &Pty,
    had_client: bool,
    record: &mut Option<File>,
) -> anyhow::Result<bool> {
    let client = pty.has_client();
    let host = &mut machine.chip_mut().host;
    if client != had_client {
        eprintln!("serial port: {}", if client { "opened" } else { "closed" });
        host.set_dtr(client);
        if !client {
            pty.flush();
        }
    }
    if client {
        host.send(&pty.read());
        let taken = pty.write(host.buffered());
        let bytes = host.take_buffered(taken);
        if let Some(f) = record {
            f.write_all(&bytes)?;
        }
    }
    Ok(client)
}

fn print_line(l: &LogLine) {
    let from = match l.from {
        Source::Firmware => "",
        Source::Bench => "[bench] ",
    };
    eprintln!("{:>11.6} {from}{}", to_secs(l.at), l.text);
}

/// Interrupt and termination signals end the run with its summary and remove the link.
mod stop {
    use std::sync::atomic::{AtomicBool, Ordering};

    static REQUESTED: AtomicBool = AtomicBool::new(false);

    extern "C" fn note(_: libc::c_int) {
        REQUESTED.store(true, Ordering::Relaxed);
    }

    pub fn on_signals() {
        let handler: extern "C" fn(libc::c_int) = note;
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the handler only stores to an atomic.
            unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
        }
    }

    pub fn requested() -> bool {
        REQUESTED.load(Ordering::Relaxed)
    }
}
