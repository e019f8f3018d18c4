//! `stribeck-bench run`: a firmware on the bench, for people and for the host's command line.
//!
//! ```text
//! stribeck-bench run firmware.elf --scenario swing.toml --pty /tmp/stribeck --realtime
//! ```
//!
//! stdout: the summary (text or `--json`). stderr: the firmware's log and what the bench does, with virtual times.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;

use stribeck_bench::elf::Program;
use stribeck_bench::machine::{Machine, Outcome};
use stribeck_bench::pty::Pty;
use stribeck_bench::report::Summary;
use stribeck_bench::rtt::{LogLine, Source};
use stribeck_bench::scenario::Scenario;
use stribeck_bench::time::{MS, from_secs, to_secs};
use stribeck_bench::usb::Reading;

#[derive(clap::Args)]
pub struct Args {
    /// The firmware, as `cargo fw` builds it
    elf: PathBuf,
    /// Scenario file (TOML); without one a plain swing
    #[arg(long)]
    scenario: Option<PathBuf>,
    /// Offer the USB port as a serial port through a link at this path
    #[arg(long)]
    pty: Option<PathBuf>,
    /// Virtual seconds to run; 0 = until interrupted [default: the scenario's]
    #[arg(long)]
    seconds: Option<f64>,
    /// Keep pace with the wall clock [default with --pty]
    #[arg(long, conflicts_with = "fast")]
    realtime: bool,
    /// As fast as possible [default without --pty]
    #[arg(long)]
    fast: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Record the bytes the host receives
    #[arg(long, value_name = "FILE")]
    usb_out: Option<PathBuf>,
    /// Do not print the log
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: &Args) -> anyhow::Result<bool> {
    let program = Rc::new(Program::load(&args.elf)?);
    let scenario = match &args.scenario {
        Some(path) => Scenario::load(path)?,
        None => Scenario::default(),
    };
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
    let seconds = args.seconds.unwrap_or(scenario.seconds);
    let end = if seconds > 0.0 {
        from_secs(seconds)
    } else {
        u64::MAX
    };
    let pace = args.realtime || (pty.is_some() && !args.fast);
    let started = Instant::now();
    let mut outcome = Outcome::Time;
    let mut client = false;
    stop::on_signals();
    while machine.now() < end && outcome == Outcome::Time && !stop::requested() {
        let slice = (machine.now() / MS + 1) * MS;
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
        if pace {
            let ahead = machine.seconds() - started.elapsed().as_secs_f64();
            if ahead > 0.0 {
                std::thread::sleep(Duration::from_secs_f64(ahead));
            }
        }
    }
    let mut summary = Summary::new(&machine);
    summary.wall_s = Some(started.elapsed().as_secs_f64());
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print!("{summary}");
    }
    Ok(matches!(outcome, Outcome::Time | Outcome::Exit(0)))
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
